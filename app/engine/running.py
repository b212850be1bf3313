"""The kubelet's running gauges: what a listing sets them to, and by how much an event moves them.

Containers are counted by the runtime's word for their state, so that one that was only created has
a series of its own. Sources: kubelet pleg/generic.go ``updateRunningPodAndContainerMetrics``;
pleg/evented.go 1.26 to 1.36 ``updateRunningPodMetric`` and ``updateRunningContainerMetric``.
"""

from collections import Counter

from app.engine.listing import Pod
from app.engine.model import PLEG_STATE, PodStatus, RuntimeState

RUNNING: frozenset[RuntimeState] = frozenset(
    word for word, state in PLEG_STATE.items() if state == "running"
)
"""The runtime's words for a sandbox that runs."""


class RunningGauges:
    """Counts a whole listing; of pods that are the same object as in the one before it, nothing has
    to be counted again."""

    def __init__(self) -> None:
        self._pods: dict[str, Pod] = {}
        self._running = 0
        self._by_state: Counter[str] = Counter()

    def listed(self, pods: dict[str, Pod]) -> tuple[int, dict[str, int]]:
        """(Pods with a running sandbox, containers by state); a state not listed is absent."""
        before, self._pods = self._pods, pods
        for uid, pod in pods.items():
            known = before.get(uid)
            if known is pod:
                continue
            if known is not None:
                self._count(known, -1)
            self._count(pod, 1)
        for uid in before.keys() - pods.keys():
            self._count(before[uid], -1)
        return self._running, {state: count for state, count in self._by_state.items() if count}

    def _count(self, pod: Pod, sign: int) -> None:
        for item in pod.containers.values():
            self._by_state[item.runtime_state] += sign
        if any(box.runtime_state in RUNNING for box in pod.sandboxes.values()):
            self._running += sign


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
