"""What happens on the node and when, decided beforehand: an endless script of (time, action).

The script knows nothing of what the runtime, the PLEG or the workers make of it. So the same seed
gives the same script, whatever the speed of the clock that plays it, and a virtual clock can play
it ahead. It is written by workloads, each a process of its own on a private agenda: they wait in
script time and put down what shall happen.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Protocol

import msgspec

from app.sim.agenda import Agenda, Steps, VirtualClock
from app.sim.chance import generator
from app.sim.pods import Ending, PodSpec, ProbeKind, Resources


class Action(msgspec.Struct, frozen=True, tag_field="action"):
    """Something that is done to the node from outside, or that befalls it."""


class AddPod(Action, frozen=True, tag="add"):
    """The scheduler assigns a pod to this node."""

    pod: PodSpec


class DeletePod(Action, frozen=True, tag="delete"):
    """The pod is deleted."""

    uid: str


class ReplacePod(Action, frozen=True, tag="replace"):
    """The pod is deleted, and its controller puts ``pod`` in its place: at once, or, when it is to
    have the same name, once the old one is gone."""

    uid: str
    pod: PodSpec


class EndContainer(Action, frozen=True, tag="end"):
    """A container's process ends; nothing happens if it does not run then."""

    uid: str
    container: str
    ending: Ending


class EndSandbox(Action, frozen=True, tag="end-sandbox"):
    """The process of a pod's sandbox ends, and its containers run on; nothing happens if there is
    no sandbox that is ready then."""

    uid: str


class FailProbe(Action, frozen=True, tag="probe"):
    """Probes of a pod's containers fail at the same time, so often that the kubelet acts."""

    uid: str
    containers: tuple[str, ...]
    probe: ProbeKind = "liveness"


class ResizeInPlace(Action, frozen=True, tag="resize-in-place"):
    """A container is to have other resources, without being restarted; nothing happens if there is
    no such pod or container."""

    uid: str
    container: str
    resources: Resources


class Step(msgspec.Struct, frozen=True):
    """One line of the script; ``t`` in ns from its beginning."""

    t: int
    action: Action


class Resident(msgspec.Struct, frozen=True):
    """A pod that has been there for ``age_ns`` when the script begins."""

    pod: PodSpec
    age_ns: int


class Workload(Protocol):
    """Something that puts pods on the node and lets things happen to them."""

    @property
    def key(self) -> str:
        """Unique among the workloads: what its chance is drawn from."""
        ...

    def begin(self, stage: "Stage", rng: Random) -> None:
        """Place the pods that are there from the start; start processes for what follows."""
        ...


class Stage:
    """Where a workload writes its part of the script."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self.residents: list[Resident] = []
        self.written: list[Step] = []

    def place(self, pod: PodSpec, age_ns: int) -> None:
        """The pod is there when the script begins."""
        self.residents.append(Resident(pod, age_ns))

    def do(self, action: Action) -> None:
        """This happens now, in script time."""
        self.written.append(Step(self._agenda.clock.mono(), action))

    def start(self, steps: Steps[None]) -> None:
        """Begin a process of the workload."""
        self._agenda.start(steps)


class Script:
    """The script of one seed: ``residents``, and ``steps``.

    Raises:
        ValueError: two workloads have the same key.
    """

    def __init__(self, seed: int, workloads: Sequence[Workload]) -> None:
        keys = [workload.key for workload in workloads]
        if len(set(keys)) != len(keys):
            raise ValueError(f"workloads must have keys of their own, not {keys}")
        self._clock = VirtualClock(0)
        self._agenda = Agenda(self._clock)
        self._stage = Stage(self._agenda)
        for workload in workloads:
            workload.begin(self._stage, generator(seed, "workload", workload.key))
        self.residents = tuple(self._stage.residents)

    def steps(self) -> Iterator[Step]:
        """What happens, in order of time, without end; it is written while it is read, once."""
        stage = self._stage
        while (t := self._agenda.next_time()) is not None:
            self._clock.advance_to(t)
            self._agenda.run_due()
            written, stage.written = stage.written, []
            yield from written
