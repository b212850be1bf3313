"""What SyncPod has to do, from the pod's order and its cached status.

Pure; follows kuberuntime computePodActions. ``status`` is the pod cache's entry: newest container
and sandbox first. What the cache does not show is not taken into account, as in a kubelet; that is
why SyncPod waits for a fresh entry.
"""

from collections.abc import Collection

import msgspec

from app.engine.model import ContainerStatus, PodStatus
from app.sim.pods import ContainerSpec, PodSpec


class StartPlan(msgspec.Struct, frozen=True):
    """A container to start as number ``attempt``.

    ``finished_at``: end of its newest dead instance (wall ns), from which the back-off counts; None
    when there is none, and then there is no back-off either.
    """

    container: ContainerSpec
    attempt: int
    finished_at: int | None


class SyncPlan(msgspec.Struct, frozen=True):
    """The work of one SyncPod, in its order.

    ``terminal``: every container has ended and none is restarted; the pod's work is over.
    ``kill_pod``: the old sandbox has died, or nothing in the pod is to run on; stop what is left.
    ``sandbox_attempt``: make a sandbox with this number (None: the newest one is fine). ``kill``:
    running containers to be stopped first. ``resize``: running containers (name, id) that get other
    resources. ``start``: containers to start.
    """

    terminal: bool = False
    kill_pod: bool = False
    sandbox_attempt: int | None = None
    kill: tuple[str, ...] = ()
    resize: tuple[tuple[str, str], ...] = ()
    start: tuple[StartPlan, ...] = ()


def plan_sync(
    pod: PodSpec,
    status: PodStatus,
    unhealthy: Collection[str],
    resizing: Collection[str] = frozenset(),
) -> SyncPlan:
    """What SyncPod has to do now. ``unhealthy``: ids of containers that failed their probe;
    ``resizing``: names of those that have other resources than were allocated."""
    newest = {spec.name: _newest(status, spec.name) for spec in pod.containers}
    if is_terminal(pod, status):
        return SyncPlan(terminal=True)
    sandbox = status.sandboxes[0] if status.sandboxes else None
    if sandbox is None or sandbox.runtime_state != "ready":
        start = tuple(
            _start(spec, status, newest[spec.name])
            for spec in pod.containers
            if not _succeeded(pod, newest[spec.name])
        )
        return SyncPlan(
            kill_pod=sandbox is not None,
            sandbox_attempt=0 if sandbox is None else sandbox.attempt + 1,
            start=start,
        )
    kill, resize, start_in_place, kept = [], [], [], 0
    for spec in pod.containers:
        known = newest[spec.name]
        if should_restart(pod, known):
            start_in_place.append(_start(spec, status, known))
        elif known is not None and known.runtime_state == "running":
            if known.id not in unhealthy:
                kept += 1
                if spec.name in resizing:
                    resize.append((spec.name, known.id))
                continue
            kill.append(known.id)
            if pod.restart_policy != "Never":
                start_in_place.append(_start(spec, status, known))
    return SyncPlan(
        kill_pod=not kept and not start_in_place,
        kill=tuple(kill),
        resize=tuple(resize),
        start=tuple(start_in_place),
    )


def should_restart(pod: PodSpec, known: ContainerStatus | None) -> bool:
    """Whether a container in this state is started (kubelet ShouldContainerBeRestarted)."""
    if known is None:
        return True
    if known.runtime_state == "running":
        return False
    if known.runtime_state != "exited":
        return True
    if pod.restart_policy == "OnFailure":
        return known.exit_code != 0
    return pod.restart_policy == "Always"


def is_terminal(pod: PodSpec, status: PodStatus) -> bool:
    """Whether the pod has succeeded or failed for good (phase Succeeded or Failed)."""
    known = [_newest(status, spec.name) for spec in pod.containers]
    return all(
        one is not None and one.runtime_state == "exited" and not should_restart(pod, one)
        for one in known
    )


def _succeeded(pod: PodSpec, known: ContainerStatus | None) -> bool:
    """Ended in a way that a new sandbox does not undo."""
    if known is None or known.runtime_state != "exited":
        return False
    return pod.restart_policy == "Never" or (
        pod.restart_policy == "OnFailure" and known.exit_code == 0
    )


def _start(spec: ContainerSpec, status: PodStatus, known: ContainerStatus | None) -> StartPlan:
    dead = next(
        (
            one
            for one in status.containers
            if one.name == spec.name and one.runtime_state == "exited"
        ),
        None,
    )
    return StartPlan(
        container=spec,
        attempt=0 if known is None else known.attempt + 1,
        finished_at=None if dead is None else dead.finished_at,
    )


def _newest(status: PodStatus, name: str) -> ContainerStatus | None:
    return next((one for one in status.containers if one.name == name), None)
