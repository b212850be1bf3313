"""The newest records of each kind: what a file that begins later needs to be shown alone.

From them a header, the pods and their containers are rebuilt as they were when the file began; the
counters begin anew. Bounded by the pods that are there.
"""

from typing import Final

from app.engine.records import (
    HealthChanged,
    Lifecycle,
    PaceChanged,
    PodCached,
    PodGone,
    PodSeen,
    PodUncached,
    Record,
    RelistFinished,
    Retuned,
    RuntimeHung,
    RuntimeSeen,
    StreamChanged,
    SyncBegan,
    SyncFinished,
    Watching,
)

MOST: Final = 20_000
"""Records kept; beyond it the oldest are given up, and a file begins with less."""


Key = tuple[str, str, str]


class Opening:
    """Follows the records; ``records`` are those to begin from, in order."""

    def __init__(self) -> None:
        self._kept: dict[Key, Record] = {}
        self._containers: dict[str, set[str]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def apply(self, record: Record) -> None:
        """Take one record into account."""
        match record:
            case Lifecycle():
                self._lifecycle(record)
            case PodSeen():
                self._keep(("seen", record.uid, ""), record)
            case PodCached():
                self._keep(("cached", record.uid, ""), record)
            case SyncBegan():
                self._keep(("sync", record.uid, ""), record)
            case SyncFinished():
                self._kept.pop(("sync", record.uid, ""), None)
            case PodUncached():
                self._kept.pop(("cached", record.uid, ""), None)
            case PodGone():
                self._forget(record.uid)
            case RelistFinished():
                if record.scope == "global":
                    self._keep(("relist", "", ""), record)
            case Watching() | Retuned() | RuntimeSeen() | StreamChanged():
                self._keep((type(record).__name__, "", ""), record)
            case HealthChanged() | PaceChanged() | RuntimeHung():
                self._keep((type(record).__name__, "", ""), record)
            case _:
                pass

    def records(self) -> list[Record]:
        """The records to begin from, in the order of the journal."""
        return sorted(self._kept.values(), key=lambda record: record.seq)

    def _lifecycle(self, record: Lifecycle) -> None:
        if record.relist == 0 or record.type == "PodSync":
            return
        key = ("container", record.uid, record.container_id)
        if record.new_state == "non-existent":
            self._kept.pop(key, None)
            self._containers.get(record.uid, set()).discard(record.container_id)
        else:
            self._keep(key, record)
            self._containers.setdefault(record.uid, set()).add(record.container_id)

    def _keep(self, key: Key, record: Record) -> None:
        # Moved to the end: the first is the one that has not changed for longest.
        self._kept.pop(key, None)
        self._kept[key] = record
        if len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]

    def _forget(self, uid: str) -> None:
        for kind in ("seen", "cached", "sync"):
            self._kept.pop((kind, uid, ""), None)
        for container in self._containers.pop(uid, ()):
            self._kept.pop(("container", uid, container), None)
