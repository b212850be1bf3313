"""The kubelet's running gauges: what a listing sets them to, and by how much an event moves them.

Containers are counted by the runtime's word for their state, so that one that was only created has
a series of its own. Sources: kubelet pleg/generic.go ``updateRunningPodAndContainerMetrics``;
pleg/evented.go 1.26 to 1.36 ``updateRunningPodMetric`` and ``updateRunningContainerMetric``.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

from app.engine.listing import Pod
from app.engine.model import PLEG_STATE, PodStatus, RuntimeState

RUNNING: frozenset[RuntimeState] = frozenset(
    word for word, state in PLEG_STATE.items() if state == "running"
)
"""The runtime's words for a sandbox that runs."""


def gauges_of(pods: Iterable[Pod]) -> tuple[int, dict[str, int]]:
    """(Pods with a running sandbox, containers by state); a state that is not listed is absent."""
    by_state: defaultdict[str, int] = defaultdict(int)
    running = 0
    for pod in pods:
        for item in pod.containers.values():
            by_state[item.runtime_state] += 1
        for box in pod.sandboxes.values():
            if box.runtime_state in RUNNING:
                running += 1
                break
    return running, dict(by_state)


def gauges_moved(cached: PodStatus, told: PodStatus) -> tuple[int, dict[str, int]]:
    """What the gauges change by when an event's status stands beside the cached one (legacy).

    A pod whose cached status has no sandbox counts as new.
    """
    before = cached if cached.sandboxes else PodStatus(cached.uid)
    pods = _has_running_sandbox(told) - _has_running_sandbox(before)
    change = Counter(one.runtime_state for one in told.containers)
    change.subtract(one.runtime_state for one in before.containers)
    return pods, {state: count for state, count in change.items() if count}


def _has_running_sandbox(status: PodStatus) -> bool:
    """The kubelet looks for the sandbox among the containers. No runtime lists it there, so that
    only a relist ever moved the gauge of running pods."""
    if not status.sandboxes:
        return False
    sandbox_id = status.sandboxes[0].id
    return any(one.id == sandbox_id and one.runtime_state == "running" for one in status.containers)
