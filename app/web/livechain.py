"""The newest stop that was noticed, as one lane of the help page's live picture.

Pure: times are monotonic nanoseconds of the session, places are units of the drawing, which is
``WIDTH`` wide. Durations are to scale between the stop and what found it; by how much polling alone
would have been later is said, not drawn to scale.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from app.engine.records import Lifecycle, Record, RelistStarted
from app.hub.wire import PodRow

WIDTH = 640
STOP_X = 70
FOUND_X = 400
POLL_X = 560
_LEAST = 6.0
"""What has a duration is seen, however short it is."""


class Chain(NamedTuple):
    """A stop and its finding. ``how``: a hint's relist found it, or only the global relist.

    Durations (ns): ``after_ns`` from the stop event to the finding, of it ``wait_ns`` until the
    relist began (None: there was no request); ``ago_ns`` since the finding; ``later_ns``: by how
    much the next global relist would have begun later (None: not known). ``relist_x``: where the
    relist's bar begins.
    """

    seq: int
    uid: str
    pod: str
    container: str
    how: Literal["hint", "poll"]
    after_ns: int
    wait_ns: int | None
    ago_ns: int
    later_ns: int | None
    relist_x: float


def newest(records: Sequence[Record], pods: Iterable[PodRow], now_t: int) -> Chain | None:
    """The newest death among ``records`` (oldest first) whose stop event is known."""
    for at in range(len(records) - 1, -1, -1):
        found = records[at]
        if not isinstance(found, Lifecycle) or not _is_told(found):
            continue
        after = found.after_ns or 0
        began = _began(records[:at], found.relist) if found.source == "evented_pleg" else None
        wait = None
        if began is not None and found.stop_t is not None:
            wait = min(after, max(0, began.t - found.stop_t))
        due = found.poll_due_t
        pod = next((one.name for one in pods if one.uid == found.uid), "")
        room = FOUND_X - STOP_X
        bar = min(room - _LEAST, max(_LEAST, room * (wait or 0) / max(1, after)))
        return Chain(
            seq=found.seq,
            uid=found.uid,
            pod=pod,
            container=found.container_name,
            how="hint" if wait is not None else "poll",
            after_ns=after,
            wait_ns=wait,
            ago_ns=max(0, now_t - found.t),
            later_ns=None if due is None or due <= found.t else due - found.t,
            relist_x=round(STOP_X + bar, 1),
        )
    return None


def _is_told(found: Lifecycle) -> bool:
    """A stop that an event told of, and that a relist found, as a hint's or as the global one."""
    return (
        found.type == "ContainerDied"
        and not found.is_sandbox
        and not found.baseline
        and found.delivery != "filtered"
        and found.after_ns is not None
        and found.relist != 0
        and found.source in ("evented_pleg", "global")
    )


def _began(records: Sequence[Record], relist: int) -> RelistStarted | None:
    """The beginning of a relist, which is a few records back."""
    for record in reversed(records):
        if isinstance(record, RelistStarted) and record.relist == relist:
            return record
    return None
