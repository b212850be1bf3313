"""The pod cache as the pod workers read it, rebuilt from the engine's records.

A kubelet's pod worker never asks the runtime what there is: it waits until the pod cache holds
something newer than its last sync (``GetNewerThan``, kubelet container/cache.go) and works with
that. Newer means: a relist that began after the last sync has published the pod, or has ended
without finding a change in it.
"""

import msgspec

from app.engine.model import PodStatus
from app.engine.records import (
    CacheTimeMoved,
    PodCached,
    PodUncached,
    Record,
    RelistFinished,
    RelistStarted,
)

HEEDED = frozenset((CacheTimeMoved, PodCached, PodUncached, RelistFinished, RelistStarted))
"""The kinds of records that change the cache."""


class CacheEntry(msgspec.Struct, frozen=True):
    """What the cache holds of one pod; with ``error`` the inspection failed."""

    status: PodStatus
    error: str = ""


class PodCacheView:
    """Follows the records; times are monotonic ns of the session."""

    def __init__(self) -> None:
        self._entries: dict[str, CacheEntry] = {}
        self._global_t: int | None = None
        self._relist_t = 0
        """When the relist in progress began; there is never more than one."""
        self._pod_t: dict[str, int] = {}

    def on_record(self, record: Record) -> str | None:
        """Take one record in.

        Returns the UID of the pod whose entry has become newer by it, ``""`` when all have, None
        when none has.
        """
        if type(record) not in HEEDED:
            return None
        match record:
            case RelistStarted():
                self._relist_t = record.t
            case PodCached():
                status = PodStatus(
                    uid=record.uid,
                    name=record.name,
                    namespace=record.namespace,
                    ips=record.ips,
                    containers=record.containers,
                    sandboxes=record.sandboxes,
                )
                self._entries[record.uid] = CacheEntry(status, record.error)
                # An event that was believed (relist 0) is as new as it came.
                self._pod_t[record.uid] = self._relist_t if record.relist else record.t
                return record.uid
            case PodUncached():
                self._entries.pop(record.uid, None)
                self._pod_t.pop(record.uid, None)
            case RelistFinished(scope="global", ok=True):
                self._global_t = record.started
                return ""
            case CacheTimeMoved():
                self._global_t = record.t
                return ""
            case RelistFinished(scope="pod", ok=True, withheld=0, uid=str(uid)):
                self._pod_t[uid] = record.started
                return uid
            case _:
                pass
        return None

    def get(self, uid: str) -> CacheEntry:
        """The pod's entry; a pod that is not cached has an empty status (and no error)."""
        return self._entries.get(uid) or CacheEntry(PodStatus(uid=uid))

    def newer_than(self, uid: str, t: int | None) -> bool:
        """Whether the entry is from ``t`` or later; None: the pod was never synced, so anything
        will do as soon as there has been one global relist."""
        if self._global_t is None:
            return False
        return t is None or max(self._global_t, self._pod_t.get(uid, -1)) >= t
