"""From the rows of a listing to pods (kubelet kuberuntime ``GetPods``)."""

from collections.abc import Iterable

import msgspec

from app.engine.model import Observation


class Pod(msgspec.Struct):
    """One pod of a listing. ``created_at``: of its oldest sandbox, 0 without one.

    ``listed_t`` is taken before the listing began that first showed the pod so (kubelet: the pod's
    timestamp).
    """

    uid: str
    name: str
    namespace: str
    listed_t: int
    created_at: int = 0
    containers: dict[str, Observation] = {}
    sandboxes: dict[str, Observation] = {}

    def find(self, item_id: str) -> Observation | None:
        """The container or sandbox with this id."""
        return self.containers.get(item_id) or self.sandboxes.get(item_id)

    def same_items(self, other: "Pod") -> bool:
        """Whether both hold the same rows; quick because observations are interned."""
        return self.containers == other.containers and self.sandboxes == other.sandboxes


def group(
    sandboxes: Iterable[Observation], containers: Iterable[Observation], listed_t: int
) -> dict[str, Pod]:
    """Pods by UID. A container whose pod has no sandbox here makes a pod of its own (N10)."""
    pods: dict[str, Pod] = {}
    for item in sandboxes:
        pod = pods.get(item.pod_uid)
        if pod is None:
            pods[item.pod_uid] = pod = Pod(
                item.pod_uid, item.pod_name, item.pod_namespace, listed_t, item.created_at
            )
        elif item.created_at < pod.created_at:
            pod.created_at = item.created_at
        pod.sandboxes[item.id] = item
    for item in containers:
        pod = pods.get(item.pod_uid)
        if pod is None:
            pods[item.pod_uid] = pod = Pod(
                item.pod_uid, item.pod_name, item.pod_namespace, listed_t
            )
        pod.containers[item.id] = item
    return pods


class LastListing:
    """The last listing of everything: a pod of which no row has changed is handed out again.

    Rows are compared by identity: the boundary to a runtime hands out the same object as long as a
    container or sandbox has not changed. On a quiet node a listing then costs two passes over its
    rows, in whatever order they come, and on a busy one only the changed pods are put together.
    """

    def __init__(self) -> None:
        # Held, so that no other object can come to have the identity of one of them.
        self._rows: tuple[Observation, ...] = ()
        self._identities: set[int] = set()
        self._pods: dict[str, Pod] | None = None

    def pods(
        self,
        sandboxes: tuple[Observation, ...],
        containers: tuple[Observation, ...],
        listed_t: int,
    ) -> tuple[dict[str, Pod], bool]:
        """Pods by UID as ``group`` makes them, and whether they are those of the last listing."""
        identities = set(map(id, sandboxes))
        identities.update(map(id, containers))
        known = self._identities
        if self._pods is not None and identities == known:
            return self._pods, True
        rows = sandboxes + containers
        if self._pods is None:
            pods = group(sandboxes, containers, listed_t)
        else:
            touched = {row.pod_uid for row in rows if id(row) not in known}
            touched.update(row.pod_uid for row in self._rows if id(row) not in identities)
            pods = {uid: pod for uid, pod in self._pods.items() if uid not in touched}
            pods |= group(
                [row for row in sandboxes if row.pod_uid in touched],
                [row for row in containers if row.pod_uid in touched],
                listed_t,
            )
        self._rows, self._identities, self._pods = rows, identities, pods
        return pods, False
