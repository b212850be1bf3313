"""SyncPod: makes the runtime hold what the pod's order says (kuberuntime SyncPod).

In this order: stop a pod whose sandbox has died, stop containers that failed their probe, make a
sandbox, start containers. Starting may have to wait for the crash loop back-off; SyncPod does not
wait but fails, and says when to come back. What the runtime refuses makes it fail as well.
"""

from collections.abc import Callable
from contextlib import suppress

import msgspec

from app.engine.model import PodStatus
from app.sim.agenda import Agenda, Steps
from app.sim.availability import Availability
from app.sim.backoff import CrashLoopBackoff
from app.sim.pods import PodSpec, container_config, sandbox_config
from app.sim.processes import Processes
from app.sim.syncplan import StartPlan, SyncPlan, plan_sync
from app.sim.timings import Pace, Span, Timings
from app.sim.world import World, WorldError


class SyncResult(msgspec.Struct):
    """How a SyncPod ended.

    ``did_work``: something was asked of the runtime. ``failed``: some of it was refused or has to
    wait. ``terminal``: the pod is done. ``retry_wall``: when a back-off ends (wall ns).
    """

    did_work: bool = False
    failed: bool = False
    terminal: bool = False
    retry_wall: int | None = None


class PodSync:
    """Carries SyncPod and the two syncs of a pod's end out, in the world, step by step.

    Each method is a process's steps: it takes simulated time and may be cancelled at any wait.
    """

    def __init__(
        self,
        agenda: Agenda,
        world: World,
        processes: Processes,
        backoff: CrashLoopBackoff,
        *,
        timings: Timings,
        availability: Availability,
    ) -> None:
        self._agenda = agenda
        self._world = world
        self._processes = processes
        self._backoff = backoff
        self._timings = timings
        self._availability = availability
        self.held_up: Callable[[PodSpec], Steps[None]] | None = None
        """What a SyncPod has to wait for before it does anything; a fault brings it."""

    def sync(
        self, pod: PodSpec, status: PodStatus, unhealthy: frozenset[str], pace: Pace
    ) -> Steps[SyncResult]:
        """SyncPod. ``unhealthy``: ids of containers that failed their liveness probe."""
        yield pace.of(self._timings.look)
        if self.held_up is not None:
            yield from self.held_up(pod)
        plan = plan_sync(pod, status, unhealthy)
        result = SyncResult(terminal=plan.terminal)
        try:
            yield from self._work(pod, status, plan, pace, result)
        except WorldError:
            result.did_work = result.failed = True
        return result

    def terminate(self, pod: PodSpec, pace: Pace) -> Steps[None]:
        """SyncTerminatingPod: stop all containers at once with grace, then the sandboxes.

        Raises:
            WorldError: the runtime refuses; what was not done is to be tried again.
        """
        yield from self._availability.reach()
        running = [one for one in self._world.pod_containers(pod.uid) if one.state == "running"]
        yield from [self._processes.terminate(one.id, pod.grace_ns) for one in running]
        for sandbox in self._world.pod_sandboxes(pod.uid):
            if sandbox.state == "ready" or sandbox.ip:
                yield from self._call(self._timings.stop_sandbox, pace)
                self._world.stop_sandbox(sandbox.id, self._now)
        yield pace.of(self._timings.unmount)

    def collect(self, pod: PodSpec, pace: Pace) -> Steps[None]:
        """Garbage collection of a pod that was deleted: its containers, then its sandboxes.

        Raises:
            WorldError: the runtime refuses; what was not done is to be tried again.
        """
        yield pace.of(self._timings.collect)
        for container in self._world.pod_containers(pod.uid):
            yield from self._call(self._timings.remove, pace)
            self._world.remove_container(container.id, self._now)
        for sandbox in self._world.pod_sandboxes(pod.uid):
            yield from self._call(self._timings.remove, pace)
            self._world.remove_sandbox(sandbox.id, self._now)

    def remove(self, container_ids: tuple[str, ...], pace: Pace) -> Steps[None]:
        """The container deletor: removes dead instances one after another.

        What the runtime refuses stays until another instance has died.
        """
        with suppress(WorldError):
            for container_id in container_ids:
                yield from self._call(self._timings.remove, pace)
                self._world.remove_container(container_id, self._now)

    def _call(self, span: Span, pace: Pace) -> Steps[None]:
        """One call to the runtime: it takes its time, and the runtime must be there to answer."""
        yield pace.of(span)
        yield from self._availability.reach()

    @property
    def _now(self) -> int:
        return self._agenda.clock.wall()

    def _work(
        self, pod: PodSpec, status: PodStatus, plan: SyncPlan, pace: Pace, result: SyncResult
    ) -> Steps[None]:
        if plan.kill_pod:
            result.did_work = True
            yield from self._stop_old(pod, pace)
        if plan.kill:
            yield from self._availability.reach()
        for ended in [self._processes.terminate(one, pod.grace_ns) for one in plan.kill]:
            result.did_work = True
            yield ended
        sandbox_id = status.sandboxes[0].id if status.sandboxes else ""
        if plan.sandbox_attempt is not None and plan.start:
            result.did_work = True
            yield pace.of(self._timings.prepare)
            yield from self._call(self._timings.run_sandbox, pace)
            config = sandbox_config(pod, plan.sandbox_attempt)
            sandbox_id = self._world.run_sandbox(config, self._now).id
        for start in plan.start:
            yield from self._start(pod, sandbox_id, start, pace, result)

    def _stop_old(self, pod: PodSpec, pace: Pace) -> Steps[None]:
        """KillPod: whatever still runs in a sandbox that has died."""
        yield from self._availability.reach()
        running = [one for one in self._world.pod_containers(pod.uid) if one.state == "running"]
        yield from [self._processes.terminate(one.id, pod.grace_ns) for one in running]
        for sandbox in self._world.pod_sandboxes(pod.uid):
            yield from self._call(self._timings.stop_sandbox, pace)
            self._world.stop_sandbox(sandbox.id, self._now)

    def _start(
        self, pod: PodSpec, sandbox_id: str, start: StartPlan, pace: Pace, result: SyncResult
    ) -> Steps[None]:
        spec = start.container
        if start.finished_at is not None:
            due = self._backoff.until(pod.uid, spec.name, start.finished_at, self._now)
            if due is not None:
                result.failed = True
                result.retry_wall = min(due, result.retry_wall or due)
                return
            self._backoff.restarted(pod.uid, spec.name, start.finished_at, self._now)
        result.did_work = True
        yield from self._call(self._timings.create, pace)
        config = container_config(pod, spec, start.attempt)
        container = self._world.create_container(sandbox_id, config, self._now)
        yield from self._call(self._timings.start, pace)
        started = self._world.start_container(container.id, self._now)
        self._processes.begin(started, spec, pod.uid)
