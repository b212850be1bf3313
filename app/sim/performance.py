"""Plays a script on a node: the pods that are there, then what happens, step after step.

The same code drives the node that is served over gRPC (``node.py``) and the one under a virtual
clock (``virtual.py``); only what makes the agenda's time pass differs.
"""

from collections.abc import Iterator
from functools import partial

from app.sim.agenda import Agenda, Appointment
from app.sim.pods import PodSpec
from app.sim.script import (
    Action,
    AddPod,
    DeletePod,
    EndContainer,
    EndSandbox,
    FailProbe,
    ReplacePod,
    ResizeInPlace,
    Script,
    Step,
)
from app.sim.units import seconds
from app.sim.workers import PodWorkers

LOOK_AGAIN_NS = seconds(1)
"""How often a controller looks whether a pod that it replaces is gone."""


class Performance:
    """One script on one node; once only, as a script is written while it is read.

    The script knows nothing of pods that were replaced: what it has in store for one befalls the
    pod that stands in its place.
    """

    def __init__(self, agenda: Agenda, workers: PodWorkers, script: Script) -> None:
        self._agenda = agenda
        self._workers = workers
        self._script = script
        self._next: Appointment | None = None
        self._instead: dict[str, str] = {}
        """UID of the pod that was put in the place of one."""
        self._unwanted: set[str] = set()
        """UIDs of pods that were deleted before they came."""

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
                self._delete(self._now(action.uid))
            case ReplacePod():
                self._replace(self._now(action.uid), action.pod)
            case EndContainer():
                uid = self._now(action.uid)
                self._workers.end_container(uid, action.container, action.ending)
            case EndSandbox():
                self._workers.end_sandbox(self._now(action.uid))
            case FailProbe():
                self._workers.fail_probe(self._now(action.uid), action.containers, action.probe)
            case ResizeInPlace():
                uid = self._now(action.uid)
                self._workers.resize(uid, action.container, action.resources)
            case _:
                raise TypeError(f"an action that nobody carries out: {action!r}")

    def _now(self, uid: str) -> str:
        """The pod that stands in the place of this one now."""
        while uid in self._instead:
            uid = self._instead[uid]
        return uid

    def _delete(self, uid: str) -> None:
        if uid in self._instead.values() and not self._is_there(uid):
            self._unwanted.add(uid)
        self._workers.delete(uid)

    def _replace(self, uid: str, pod: PodSpec) -> None:
        self._instead[uid] = pod.uid
        old = next((one for one in self._workers.pods if one.uid == uid), None)
        self._workers.delete(uid)
        if old is not None and (old.namespace, old.name) == (pod.namespace, pod.name):
            self._agenda.after(LOOK_AGAIN_NS, partial(self._add_when_gone, uid, pod))
        else:
            self._workers.add(pod)

    def _add_when_gone(self, uid: str, pod: PodSpec) -> None:
        if self._is_there(uid):
            self._agenda.after(LOOK_AGAIN_NS, partial(self._add_when_gone, uid, pod))
        elif pod.uid not in self._unwanted:
            self._workers.add(pod)

    def _is_there(self, uid: str) -> bool:
        return any(one.uid == uid for one in self._workers.pods)
