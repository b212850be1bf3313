"""In-place resize as a kubelet goes about it, for one pod: wanted, allocated, actuated, seen.

Somebody *wants* other resources; the kubelet *allocates* them (allocation_manager.go: admission and
a checkpoint), *actuates* them in a SyncPod (kuberuntime doPodResizeAction), and *sees* that they
hold in a later SyncPod, whose cached status must have been read from the runtime after that. As a
resize is no change of a container's state, a relist would not inspect the pod for it: SyncPod marks
the pod for reinspection.

Here the kubelet compares when the status was read with when the runtime was told, not the numbers:
the simulated runtime's statuses say nothing of resources.
"""

from collections.abc import Iterator

from app.sim.pods import PodSpec, Resources


class Sizes:
    """The resources of one pod's containers, by container name. Times are monotonic ns."""

    def __init__(self, pod: PodSpec) -> None:
        self._allocated = {one.name: one.resources for one in pod.containers}
        self._actuated: dict[str, tuple[Resources, int]] = {}
        """What the runtime was last told, and when."""
        self._asked: dict[str, int] = {}
        """Resizes that were allocated and are not seen to hold: when they were asked for."""

    def allocate(self, name: str, resources: Resources, asked_t: int) -> None:
        """The node has room for it: from now on the container is to have these."""
        self._allocated[name] = resources
        self._asked.setdefault(name, asked_t)

    def of(self, name: str) -> Resources:
        """What this container is to have."""
        return self._allocated[name]

    def actuate(self, name: str, t: int) -> None:
        """The runtime was told what is allocated: at a container's start, or by an update."""
        self._actuated[name] = (self._allocated[name], t)

    def due(self) -> frozenset[str]:
        """Containers that have other resources than they are to have."""
        return frozenset(
            name
            for name in self._asked
            if name not in self._actuated or self._actuated[name][0] != self._allocated[name]
        )

    def take_seen(self, read_t: int) -> Iterator[int]:
        """When those resizes were asked for that a status read at ``read_t`` shows to be done."""
        due = self.due()
        for name in [one for one in self._asked if one not in due]:
            if read_t >= self._actuated[name][1]:
                yield self._asked.pop(name)
