"""SyncPod: makes the runtime hold what the pod's order says (kuberuntime SyncPod).

In this order: stop a pod whose sandbox has died, stop containers that failed their probe, make a
sandbox, resize running containers, start containers. Starting may have to wait for the crash loop
back-off; SyncPod does not wait but fails, and says when to come back. What the runtime refuses
makes it fail as well. All of it, and the syncs of a pod's end, goes by the pod's cached status.
"""

from collections.abc import Callable
from contextlib import suppress

import msgspec

from app.engine.model import PodStatus
from app.sim.agenda import Agenda, Steps
from app.sim.availability import Availability
from app.sim.backoff import CrashLoopBackoff
from app.sim.objects import Sandbox
from app.sim.pods import PodSpec, container_config, sandbox_config
from app.sim.processes import Processes
from app.sim.sizes import Sizes
from app.sim.syncplan import StartPlan, SyncPlan, plan_sync
from app.sim.timings import Pace, Span, Timings
from app.sim.world import NotFoundError, World, WorldError


class SyncResult(msgspec.Struct):
    """How a SyncPod ended.

    ``did_work``: something was asked of the runtime. ``failed``: some of it was refused or has to
    wait. ``terminal``: the pod is done. ``retry_wall``: when a back-off ends (wall ns).
    ``started``: (name, id) of the containers it started.
    """

    did_work: bool = False
    failed: bool = False
    terminal: bool = False
    retry_wall: int | None = None
    started: list[tuple[str, str]] = msgspec.field(default_factory=list)


class SyncOrder(msgspec.Struct, frozen=True):
    """What SyncPod is called with. ``status``: the pod cache's entry. ``unhealthy``: ids of
    containers that failed their liveness or startup probe. ``sizes`` is written to."""

    pod: PodSpec
    status: PodStatus
    unhealthy: frozenset[str]
    sizes: Sizes
    pace: Pace


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
        self.timings = timings
        self._availability = availability
        self.on_resized: Callable[[str], None] = _nobody_cares
        """Called with the UID of a pod whose containers were just resized: inspect it again."""
        self.held_up: Callable[[PodSpec], Steps[None]] | None = None
        """What a SyncPod has to wait for before it does anything; a fault brings it."""

    def sync(self, order: SyncOrder) -> Steps[SyncResult]:
        """SyncPod."""
        yield order.pace.of(self.timings.look)
        if self.held_up is not None:
            yield from self.held_up(order.pod)
        plan = plan_sync(order.pod, order.status, order.unhealthy, order.sizes.due())
        result = SyncResult(terminal=plan.terminal)
        try:
            yield from self._work(order, plan, result)
        except WorldError:
            result.did_work = result.failed = True
        if result.did_work:
            yield order.pace.of(self.timings.answer)
        return result

    def terminate(self, pod: PodSpec, status: PodStatus, pace: Pace) -> Steps[None]:
        """SyncTerminatingPod: stop all containers at once with grace, then the sandboxes.

        What the cache does not show is not stopped; so it asks the runtime in the end whether
        nothing runs any more (kubelet.go SyncTerminatingPod).

        Raises:
            WorldError: the runtime refuses, or something runs on; it is to be tried again.
        """
        yield from self._stop(pod, status, pace)
        if any(one.state == "running" for one in self._world.pod_containers(pod.uid)):
            raise WorldError("detected running containers after a successful KillPod")
        yield pace.of(self.timings.answer)

    def finish(self, pace: Pace) -> Steps[None]:
        """SyncTerminatedPod: volumes and cgroups go; nothing is asked of the runtime."""
        yield pace.of(self.timings.unmount)

    def collect(self, pod: PodSpec, pace: Pace) -> Steps[None]:
        """Garbage collection of a pod that was deleted: its containers, then its sandboxes.

        Raises:
            WorldError: the runtime refuses; what was not done is to be tried again.
        """
        yield pace.of(self.timings.collect)
        for container in self._world.pod_containers(pod.uid):
            yield from self._call(self.timings.remove, pace)
            self._world.remove_container(container.id, self._now)
        for sandbox in self._world.pod_sandboxes(pod.uid):
            yield from self._call(self.timings.remove, pace)
            self._world.remove_sandbox(sandbox.id, self._now)

    def remove(self, container_ids: tuple[str, ...], pace: Pace) -> Steps[None]:
        """The container deletor: removes dead instances one after another.

        What the runtime refuses stays until another instance has died.
        """
        with suppress(WorldError):
            for container_id in container_ids:
                yield from self._call(self.timings.remove, pace)
                self._world.remove_container(container_id, self._now)

    def _call(self, span: Span, pace: Pace) -> Steps[None]:
        """One call to the runtime: it takes its time, and the runtime must be there to answer."""
        yield pace.of(span)
        yield from self._availability.reach()

    @property
    def _now(self) -> int:
        return self._agenda.clock.wall()

    def _work(self, order: SyncOrder, plan: SyncPlan, result: SyncResult) -> Steps[None]:
        pod, status, pace = order.pod, order.status, order.pace
        if plan.kill_pod:
            result.did_work = True
            yield from self._stop(pod, status, pace)
        elif plan.kill:
            yield from self._availability.reach()
            for ended in [self._processes.terminate(one, pod.grace_ns) for one in plan.kill]:
                result.did_work = True
                yield ended
        sandbox_id = status.sandboxes[0].id if status.sandboxes else ""
        if plan.sandbox_attempt is not None and plan.start:
            result.did_work = True
            yield pace.of(self.timings.prepare)
            yield from self._call(self.timings.run_sandbox, pace)
            config = sandbox_config(pod, plan.sandbox_attempt)
            sandbox_id = self._world.run_sandbox(config, self._now).id
            yield from self._availability.sent()
        if plan.resize:
            result.did_work = True
            yield from self._resize(order, plan)
        for start in plan.start:
            yield from self._start(order, sandbox_id, start, result)

    def _stop(self, pod: PodSpec, status: PodStatus, pace: Pace) -> Steps[None]:
        """KillPod: all that the cache shows running ends at once with grace, then the sandboxes."""
        yield from self._availability.reach()
        running = [one.id for one in status.containers if one.runtime_state == "running"]
        yield from [self._processes.terminate(one, pod.grace_ns) for one in running]
        for sandbox in status.sandboxes:
            there = self._world.look_up(sandbox.id)
            if isinstance(there, Sandbox) and (there.state == "ready" or there.ip):
                yield from self._call(self.timings.stop_sandbox, pace)
                self._world.stop_sandbox(sandbox.id, self._now)

    def _resize(self, order: SyncOrder, plan: SyncPlan) -> Steps[None]:
        """UpdateContainerResources. It is no change that a list shows: the pod must be inspected
        for it, whatever the next relist finds."""
        for name, container_id in plan.resize:
            yield from self._call(self.timings.update, order.pace)
            if not self._world.is_running(container_id):
                raise NotFoundError(f"container {container_id} is not running")
            order.sizes.actuate(name, self._agenda.clock.mono())
        self.on_resized(order.pod.uid)

    def _start(
        self, order: SyncOrder, sandbox_id: str, start: StartPlan, result: SyncResult
    ) -> Steps[None]:
        pod, spec, pace = order.pod, start.container, order.pace
        if start.finished_at is not None:
            due = self._backoff.until(pod.uid, spec.name, start.finished_at, self._now)
            if due is not None:
                result.failed = True
                result.retry_wall = min(due, result.retry_wall or due)
                return
            self._backoff.restarted(pod.uid, spec.name, start.finished_at, self._now)
        result.did_work = True
        yield from self._call(self.timings.create, pace)
        config = container_config(pod, spec, start.attempt)
        container = self._world.create_container(sandbox_id, config, self._now)
        yield from self._availability.sent()
        yield from self._call(self.timings.start, pace)
        started = self._world.start_container(container.id, self._now)
        self._processes.begin(started, spec, pod.uid)
        order.sizes.actuate(spec.name, self._agenda.clock.mono())
        result.started.append((spec.name, container.id))


def _nobody_cares(_uid: str) -> None:
    """A resize that nobody waits for."""
