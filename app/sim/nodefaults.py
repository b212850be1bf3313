"""Faults of the kubelet and of the node's processes, carried out at the pod workers.

In virtual time and in real time alike: both players have the same workers on an agenda. Whatever
waits here goes on as soon as its fault is over.
"""

from functools import partial
from typing import Any

from app.engine.inputs import EventsTaken
from app.sim.agenda import Agenda, Steps
from app.sim.chance import between
from app.sim.faultplan import ActiveFault, FaultPlan
from app.sim.faults import ShortLivedPods, SyncLoopStalls, SyncPodsSlow, TerminationStorm
from app.sim.flavour import SECOND
from app.sim.pods import COMPLETED, ContainerSpec, Lifetime, PodSpec
from app.sim.workers import PodWorkers
from app.sim.workloadparts import ENDINGS
from app.sim.workloads import new_uid, suffix

NAMESPACE = "blink"
IMAGE = "registry.example/batch/blink:1"

MOST_ALIVE = 200
"""Short-lived pods at the same time; while there are so many, no more come."""

RESYNC = (60 * SECOND, 90 * SECOND)
"""kubelet.go: each pod is synced again after syncFrequency (1 min) and up to half as much more,
whatever happened to its events."""


class NodeFaults:
    """Carries them out. ``channel``: places of the lifecycle event channel (None: no end)."""

    def __init__(
        self, agenda: Agenda, plan: FaultPlan, workers: PodWorkers, *, channel: int | None
    ) -> None:
        self._agenda = agenda
        self._plan = plan
        self._workers = workers
        self._channel = channel
        self._alive = 0
        plan.on_begin.append(self._begins)
        plan.on_end.append(self._ends)
        workers.pod_sync.held_up = self._hold_up

    def _begins(self, active: ActiveFault[Any]) -> None:
        fault = active.fault
        if isinstance(fault, SyncLoopStalls):
            self._workers.stall()
            self._occupy(fault, 1)
        elif isinstance(fault, ShortLivedPods):
            self._agenda.start(self._come_and_go(active))
        elif isinstance(fault, TerminationStorm):
            self._storm(active)

    def _ends(self, active: ActiveFault[Any]) -> None:
        fault = active.fault
        if isinstance(fault, SyncLoopStalls):
            self._occupy(fault, -1)
            if not self._plan.at_work(SyncLoopStalls):
                active.hits += self._workers.resume()
                for pod in self._workers.pods:
                    again = partial(self._workers.sync_again, pod.uid)
                    self._agenda.after(between(active.rng, RESYNC), again)

    def _occupy(self, fault: SyncLoopStalls, sign: int) -> None:
        """The channel holds events of others, so that only ``room`` places are free."""
        if self._channel is not None and fault.room is not None:
            clock = self._agenda.clock
            taken = max(0, self._channel - fault.room)
            self._workers.feed(EventsTaken(t=clock.mono(), wall=clock.wall(), count=-sign * taken))

    def _hold_up(self, pod: PodSpec) -> Steps[None]:
        """A SyncPod of this pod has begun: wait as long as it must."""
        active = self._plan.hit_pod(SyncPodsSlow, pod.namespace, pod.name)
        if active is None:
            return
        deadline = self._agenda.clock.mono() + between(active.rng, active.fault.by)
        while active.ended_t is None and self._agenda.clock.mono() < deadline:
            either = self._agenda.signal()
            alarm = self._agenda.at(deadline, either.fire)
            self._plan.on_change(either.fire)
            yield either
            alarm.cancel()

    def _come_and_go(self, active: ActiveFault[ShortLivedPods]) -> Steps[None]:
        fault, rng = active.fault, active.rng
        container = ContainerSpec(
            name="blink", image=IMAGE, lifetime=Lifetime(fault.runs, (COMPLETED,))
        )
        while active.ended_t is None:
            uid, name, ttl = new_uid(rng), f"blink-{suffix(rng)}", between(rng, fault.ttl)
            if self._alive < MOST_ALIVE:
                active.hits += 1
                self._alive += 1
                self._workers.add(
                    PodSpec(
                        uid=uid,
                        name=name,
                        namespace=NAMESPACE,
                        containers=(container,),
                        restart_policy="Never",
                    )
                )
                self._agenda.after(ttl, partial(self._goes, uid))
            yield between(rng, fault.every)

    def _goes(self, uid: str) -> None:
        self._alive -= 1
        self._workers.delete(uid)

    def _storm(self, active: ActiveFault[TerminationStorm]) -> None:
        fault, ending = active.fault, ENDINGS[active.fault.ending]
        for pod in self._workers.pods:
            if fault.concerns(pod.namespace, pod.name) and active.strikes(fault.share):
                for container in pod.containers:
                    end = partial(self._workers.end_container, pod.uid, container.name, ending)
                    self._agenda.after(between(active.rng, (0, fault.within)), end)
