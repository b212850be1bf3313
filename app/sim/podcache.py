"""The pod cache as the pod workers read it, rebuilt from the engine's records.

A kubelet's pod worker never asks the runtime what there is: it waits until the pod cache holds
something newer than its last sync (``GetNewerThan``, kubelet container/cache.go) and works with
that. Newer means: a relist that began after the last sync has published the pod, or has ended
without finding a change in it.

An event that is believed (``legacy``) is as new as the runtime says it is, and a sync that caused
it ended after that: so it does not set the pod's worker free, and the ticker that moves the cache's
time does, up to a whole tick later.
"""

import msgspec

from app.engine.model import PodStatus
from app.engine.records import (
    CacheTimeMoved,
    ContainerEventSeen,
    PodCached,
    PodUncached,
    Record,
    RelistFinished,
    RelistStarted,
)

HEEDED = frozenset(
    (CacheTimeMoved, ContainerEventSeen, PodCached, PodUncached, RelistFinished, RelistStarted)
)
"""The kinds of records that change the cache."""


class CacheEntry(msgspec.Struct, frozen=True):
    """What the cache holds of one pod; with ``error`` the inspection failed. ``read_t``: what the
    runtime did up to then is in it (monotonic ns)."""

    status: PodStatus
    error: str = ""
    read_t: int = -1


class PodCacheView:
    """Follows the records; times are monotonic ns of the session."""

    def __init__(self) -> None:
        self._entries: dict[str, CacheEntry] = {}
        self._global_t: int | None = None
        self._relist_t = 0
        """When the relist in progress began; there is never more than one."""
        self._pod_t: dict[str, int] = {}
        self._event_t = 0
        """When the runtime made the event that was received last."""

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
            case ContainerEventSeen():
                self._event_t = record.t - (record.wall - record.created_at)
            case PodCached():
                status = PodStatus(
                    uid=record.uid,
                    name=record.name,
                    namespace=record.namespace,
                    ips=record.ips,
                    containers=record.containers,
                    sandboxes=record.sandboxes,
                )
                believed = not record.relist
                read_t = self._event_t if believed else record.t
                self._entries[record.uid] = CacheEntry(status, record.error, read_t)
                self._pod_t[record.uid] = self._event_t if believed else self._relist_t
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
