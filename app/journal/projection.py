"""The pods as the journal tells them: a projection that is built from records alone.

A live session, a recording and a test therefore get the same table from the same records. A pod
that is gone stays for some minutes, so that its lane does not vanish under the reader's eyes.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from app.engine.model import ContainerStatus
from app.engine.records import (
    PodCached,
    PodGone,
    PodSeen,
    PodUncached,
    Record,
    SyncBegan,
    SyncFinished,
)
from app.journal.weight import weight

KEEP_GONE_NS = 5 * 60 * 1_000_000_000
CAPACITY = 4096
MOST_WEIGHT = 16 * 1024 * 1024
"""Characters that are kept of all pods together, beside the newest pod's: some times as many as a
node of 2,500 pods has."""


class PodRow(msgspec.Struct, frozen=True):
    """A pod as the journal tells: enough to name a lane and to draw its running line.

    Times are monotonic nanoseconds of the session. A pod that no listing has named yet (a pod
    worker may sync it before its sandbox exists) has an empty ``name`` and ``namespace``.
    """

    uid: str
    name: str
    namespace: str
    seen_t: int
    gone_t: int | None
    last_t: int
    """Time of the newest record about this pod."""
    running: int
    """Containers (no sandboxes) the pod cache has as running."""
    containers: tuple[ContainerStatus, ...] = ()
    """As in ``PodCached.containers``, newest first."""
    ips: tuple[str, ...] = ()
    error: str = ""
    """Why the last inspection failed; empty when it did not."""
    syncing: bool = False
    sandbox_gone: bool = False
    """A container runs, but no sandbox of the pod does: its pause process ended or it was removed.
    A kubelet makes such a pod anew (``kuberuntime.podSandboxChanged``)."""


class PodKept(msgspec.Struct, frozen=True, array_like=True):
    """What is to be known of a pod to go on from here, as an array; the fields are ``PodRow``'s.

    Not kept: its containers and addresses, which the newest ``PodCached`` tells.
    """

    uid: str
    pod_name: str
    pod_namespace: str
    seen_t: int
    gone_t: int | None
    last_t: int
    running: int
    error: str = ""
    syncing: bool = False


class _Pod:
    """One pod while it is being told; turned into a ``PodRow`` only when somebody asks."""

    __slots__ = (
        "containers", "error", "gone_t", "ips", "last_t", "name", "namespace", "running",
        "sandbox_gone", "seen_t", "syncing", "uid", "weight",
    )  # fmt: skip

    def __init__(self, uid: str, t: int) -> None:
        self.uid = uid
        self.name = ""
        self.namespace = ""
        self.seen_t = t
        self.gone_t: int | None = None
        self.last_t = t
        self.running = 0
        self.containers: tuple[ContainerStatus, ...] = ()
        self.ips: tuple[str, ...] = ()
        self.error = ""
        self.syncing = False
        self.sandbox_gone = False
        self.weight = len(uid)
        """Characters of what was told of it last."""

    def row(self) -> PodRow:
        return PodRow(
            uid=self.uid,
            name=self.name,
            namespace=self.namespace,
            seen_t=self.seen_t,
            gone_t=self.gone_t,
            last_t=self.last_t,
            running=self.running,
            containers=self.containers,
            ips=self.ips,
            error=self.error,
            syncing=self.syncing,
            sandbox_gone=self.sandbox_gone,
        )

    def forgettable(self, before: int) -> bool:
        """Gone, or never listed at all, and silent since ``before``."""
        return self.last_t < before and (self.gone_t is not None or not self.name)


class PodTable:
    """Applies records and answers with rows; to be subscribed to a ``Journal``.

    At most ``capacity`` pods are kept, of ``most_weight`` characters: when there are more, those
    that are gone go first, then those without news for longest. A pod that is gone is kept for
    ``keep_gone_ns`` after its last record, counted by the records' own time.
    """

    def __init__(
        self,
        keep_gone_ns: int = KEEP_GONE_NS,
        capacity: int = CAPACITY,
        most_weight: int = MOST_WEIGHT,
    ) -> None:
        self._keep_gone_ns = keep_gone_ns
        self._capacity = capacity
        self._most_weight = most_weight
        self._weight = 0
        self._pods: dict[str, _Pod] = {}
        self._t = 0
        # Looked up by class: a chain of comparisons for each record would cost more than the rest.
        self._handlers: dict[type[Record], Callable[[_Pod, Any], None]] = {
            PodSeen: _seen,
            PodGone: _gone,
            PodCached: _cached,
            PodUncached: _uncached,
            SyncBegan: _sync_began,
            SyncFinished: _sync_finished,
        }

    def apply(self, record: Record) -> None:
        """Take one record into account; records come in the order of the journal."""
        self._t = max(self._t, record.t)
        uid: str | None = getattr(record, "uid", None)
        if uid is None:
            return
        pod = self._pods.get(uid)
        if pod is None:
            if len(self._pods) >= self._capacity:
                self._make_room()
            pod = self._pods[uid] = _Pod(uid, record.t)
            self._weight += pod.weight
            self._weigh(pod, pod.weight)
        pod.last_t = max(pod.last_t, record.t)
        handler = self._handlers.get(type(record))
        if handler is not None:
            handler(pod, record)
            if isinstance(record, PodSeen | PodCached):
                self._weigh(pod, len(uid) + weight(record))

    def rows(self) -> tuple[PodRow, ...]:
        """All pods, in the order in which they were first told of."""
        self._forget()
        return tuple(pod.row() for pod in self._pods.values())

    def kept(self) -> tuple[PodKept, ...]:
        """All pods, so that ``resume`` can go on from here."""
        self._forget()
        return tuple(
            PodKept(
                pod.uid,
                pod.name,
                pod.namespace,
                pod.seen_t,
                pod.gone_t,
                pod.last_t,
                pod.running,
                pod.error,
                pod.syncing,
            )
            for pod in self._pods.values()
        )

    def resume(self, t: int, pods: Iterable[PodKept]) -> None:
        """Begin at ``t`` with pods that were ``kept`` then."""
        self._t = t
        self._pods.clear()
        self._weight = 0
        for kept in itertools.islice(pods, self._capacity):
            pod = self._pods[kept.uid] = _Pod(kept.uid, kept.seen_t)
            pod.name, pod.namespace = kept.pod_name, kept.pod_namespace
            pod.gone_t, pod.last_t = kept.gone_t, kept.last_t
            pod.running, pod.error, pod.syncing = kept.running, kept.error, kept.syncing
            self._weight += pod.weight
            texts = (kept.uid, kept.pod_name, kept.pod_namespace, kept.error)
            self._weigh(pod, sum(map(len, texts)))

    def get(self, uid: str) -> PodRow | None:
        """One pod, or None when it was never told of or has been forgotten."""
        pod = self._pods.get(uid)
        return None if pod is None else pod.row()

    def find(self, text: str) -> frozenset[str]:
        """UIDs of the pods with this UID, this name, or this ``namespace/name``."""
        return frozenset(
            pod.uid
            for pod in self._pods.values()
            if text in (pod.uid, pod.name, f"{pod.namespace}/{pod.name}")
        )

    def _forget(self) -> None:
        before = self._t - self._keep_gone_ns
        for uid in [pod.uid for pod in self._pods.values() if pod.forgettable(before)]:
            self._weight -= self._pods.pop(uid).weight

    def _make_room(self) -> None:
        """Bring the table to seven eighths, so that a flood of pods does not sort it each time."""
        self._forget()
        surplus = len(self._pods) - self._capacity + max(1, self._capacity // 8)
        if surplus > 0:
            for pod in self._by_worth()[:surplus]:
                self._weight -= self._pods.pop(pod.uid).weight

    def _by_worth(self) -> list[_Pod]:
        return sorted(self._pods.values(), key=lambda pod: (pod.gone_t is None, pod.last_t))

    def _weigh(self, pod: _Pod, weighs: int) -> None:
        """Of a pod there are so many characters now; make room for them, but not of its own."""
        self._weight += weighs - pod.weight
        pod.weight = weighs
        if self._weight <= self._most_weight:
            return
        for other in self._by_worth():
            if self._weight <= self._most_weight * 7 // 8:
                break
            if other is not pod:
                self._weight -= self._pods.pop(other.uid).weight


def _seen(pod: _Pod, record: PodSeen) -> None:
    pod.name = record.name
    pod.namespace = record.namespace
    if pod.gone_t is not None:
        # The same UID again (static pods keep theirs): a new life on the same lane.
        pod.gone_t = None
        pod.seen_t = record.t


def _gone(pod: _Pod, record: PodGone) -> None:
    pod.gone_t = record.t


def _cached(pod: _Pod, record: PodCached) -> None:
    # A failed inspection may know no name; the one that a listing told stays.
    pod.name = record.name or pod.name
    pod.namespace = record.namespace or pod.namespace
    pod.containers = record.containers
    pod.running = sum(status.runtime_state == "running" for status in record.containers)
    pod.ips = record.ips
    pod.error = record.error
    # A failed inspection knows no sandbox, and an event that was believed (relist 0) need not
    # carry one: neither says that it is gone.
    known = bool(record.sandboxes) or (record.relist > 0 and not record.error)
    alive = any(box.runtime_state == "ready" for box in record.sandboxes)
    pod.sandbox_gone = pod.running > 0 and known and not alive


def _uncached(pod: _Pod, _record: PodUncached) -> None:
    pod.containers = ()
    pod.running = 0
    pod.ips = ()
    pod.error = ""
    pod.sandbox_gone = False


def _sync_began(pod: _Pod, _record: SyncBegan) -> None:
    pod.syncing = True


def _sync_finished(pod: _Pod, _record: SyncFinished) -> None:
    pod.syncing = False
