"""Plays a script on a node: the pods that are there, then what happens, step after step.

The same code drives the node that is served over gRPC (``node.py``) and the one under a virtual
clock (``virtual.py``); only what makes the agenda's time pass differs.
"""

from collections.abc import Iterator

from app.sim.agenda import Agenda, Appointment
from app.sim.script import (
    Action,
    AddPod,
    DeletePod,
    EndContainer,
    FailProbe,
    ResizeInPlace,
    Script,
    Step,
)
from app.sim.workers import PodWorkers


class Performance:
    """One script on one node; once only, as a script is written while it is read."""

    def __init__(self, agenda: Agenda, workers: PodWorkers, script: Script) -> None:
        self._agenda = agenda
        self._workers = workers
        self._script = script
        self._next: Appointment | None = None

    def set_the_stage(self) -> None:
        """Put the script's residents on the node; they have been there for a while."""
        for resident in self._script.residents:
            self._workers.adopt(resident.pod, resident.age_ns)

    def begin(self, lead_ns: int = 0) -> None:
        """The script begins ``lead_ns`` from now."""
        self._enter(self._script.steps(), self._agenda.clock.mono() + lead_ns)

    def end(self) -> None:
        """Nothing more of the script happens."""
        if self._next is not None:
            self._next.cancel()

    def _enter(self, steps: Iterator[Step], origin: int) -> None:
        """Put the next step into the agenda; each step puts in the one after it."""
        step = next(steps, None)
        if step is None:
            return

        def act() -> None:
            self._enter(steps, origin)
            self.act(step.action)

        self._next = self._agenda.at(origin + step.t, act)

    def act(self, action: Action) -> None:
        """Carry out one action now, as the script does.

        Raises:
            TypeError: nobody knows how to.
        """
        match action:
            case AddPod():
                self._workers.add(action.pod)
            case DeletePod():
                self._workers.delete(action.uid)
            case EndContainer():
                self._workers.end_container(action.uid, action.container, action.ending)
            case FailProbe():
                self._workers.fail_probe(action.uid, action.containers, action.probe)
            case ResizeInPlace():
                self._workers.resize(action.uid, action.container, action.resources)
            case _:
                raise TypeError(f"an action that nobody carries out: {action!r}")
