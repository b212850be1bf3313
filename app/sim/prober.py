"""The kubelet's probes, as far as they fail: liveness and startup.

A container whose specification says so is given up some time after each of its starts. What counts
as failed often enough is the probe manager's business and is not played: here a probe succeeds, or
it has failed.
"""

from collections.abc import Callable

from app.sim.agenda import Agenda
from app.sim.chance import between, generator
from app.sim.pods import ContainerSpec, ProbeKind

Failed = Callable[[str, str, ProbeKind], None]
"""Takes the pod's UID, the container's id, and which probe; a container that has ended meanwhile is
no news."""


class Prober:
    """Watches containers from their start on."""

    def __init__(self, agenda: Agenda, seed: int, failed: Failed) -> None:
        self._agenda = agenda
        self._seed = seed
        self._failed = failed

    def begin(self, uid: str, spec: ContainerSpec, container_id: str, *, old: bool = False) -> None:
        """A container was started; ``old``: it runs since long ago, so it has started up."""
        probe = spec.probe
        if probe is None or (old and probe.kind == "startup"):
            return
        after = between(generator(self._seed, "probe", container_id), probe.after)
        self._agenda.after(after, lambda: self._failed(uid, container_id, probe.kind))
