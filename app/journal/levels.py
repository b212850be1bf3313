"""Levels of detail: what the journal told, counted in bins, for looking at more than can be drawn.

Every record that a picture shows is one *mark* of one kind (``mark_of``). For each pod, and for all
together, marks are counted in bins of several widths, so that an hour is told in some hundred
numbers, and so that what the journal has given up long ago is still known in outline. Narrow bins
are given up first: each width has room for so many counts, and the oldest go.
"""

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from app.engine.inputs import EndCode
from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    EventRefused,
    Gap,
    HealthChanged,
    Lifecycle,
    PodCached,
    PodGone,
    PodSeen,
    Record,
    RelistFinished,
    RelistStarted,
    RequestMade,
    RequestMoved,
    RuntimeHung,
    StreamChanged,
    StreamState,
    SyncBegan,
)

MARKS = (
    "other", "sync", "asked", "relist", "own", "global", "skipped", "coalesced", "held", "stop",
    "calm", "event", "event_end", "req", "req_end", "ignored", "poll", "poll_end", "failed",
    "dropped", "down", "unhealthy", "gap",
)  # fmt: skip
"""Kinds of marks, the worst last: of several in one place the last of them is to be seen.

``calm``, ``event``, ``req`` and ``poll`` are findings: nobody was late, an event was believed, a
request led to it, only polling did; with ``_end`` a container's (not a sandbox's) end was found.
"""

MS = 1_000_000
WIDTHS = tuple(125 * MS * 4**step for step in range(7))
"""Widths of bins (ns): from an eighth of a second to eight and a half minutes."""
CAPACITY = 1 << 19
"""Counts kept of each width; eight bytes each."""
LANES = 8192
"""Pods that are told apart; of more, those without news for longest are forgotten."""
TURNS = 2048
"""Changes of the stream, and gaps, that are kept."""

_TELLING = (PodSeen, PodCached, PodGone, StreamChanged, Gap, RelistFinished)
_KIND = {kind: number for number, kind in enumerate(MARKS)}
_MOST = (1 << 24) - 1


def mark_of(record: Record) -> str | None:
    """The kind of mark that a record is, one of ``MARKS``; None: it is none of its own."""
    known = _KNOWN.get(type(record))
    return None if known is None else known(record)


def _event(record: ContainerEventSeen) -> str:
    return "stop" if record.type == "stopped" else "other"


def _finding(record: Lifecycle) -> str | None:
    if record.delivery == "filtered":
        return None
    if record.delivery == "discarded":
        return "dropped"
    if record.source == "global":
        if record.baseline or record.type in ("ContainerRemoved", "PodSync"):
            return "calm"
        how = "poll"
    else:
        how = "req" if record.relist else "event"
    ended = record.type == "ContainerDied" and not record.is_sandbox
    return f"{how}_end" if ended else how


def _asked(record: RequestMade | RequestMoved) -> str | None:
    if record.outcome in ("held", "coalesced", "dropped", "skipped"):
        return record.outcome
    return "asked" if isinstance(record, RequestMade) else None


def _began(record: RelistStarted) -> str | None:
    if record.scope == "global":
        return None
    return "relist" if record.source == "evented_pleg" else "own"


def _ended(record: RelistFinished) -> str | None:
    if not record.ok:
        return "failed"
    return "global" if record.scope == "global" else None


# Looked up by class: a chain of comparisons for each record would cost more than the rest.
_KNOWN: dict[type[Record], Callable[[Any], str | None]] = {
    ContainerEventSeen: _event,
    Lifecycle: _finding,
    RequestMade: _asked,
    RequestMoved: _asked,
    RelistStarted: _began,
    RelistFinished: _ended,
    SyncBegan: lambda _record: "sync",
    EventIgnored: lambda _record: "ignored",
    EventRefused: lambda _record: "ignored",
    PodCached: lambda record: "failed" if record.error else None,
    StreamChanged: lambda record: "down" if record.state in ("waiting", "closed") else None,
    HealthChanged: lambda record: None if record.healthy else "unhealthy",
    RuntimeHung: lambda record: "unhealthy" if record.hung else None,
    Gap: lambda _record: "gap",
}


class Outline(msgspec.Struct, frozen=True):
    """A pod that something is known of, ``gone_t`` None while it is there; times in ns."""

    uid: str
    name: str
    namespace: str
    seen_t: int
    gone_t: int | None


class Turn(msgspec.Struct, frozen=True):
    """The event stream from ``t`` on: its state, what that means, in a sentence, and how the one
    before ended."""

    t: int
    state: StreamState
    meaning: str
    code: EndCode | None


class Hole(msgspec.Struct, frozen=True):
    """``count`` things were lost between two times (ns) at ``hop``, for ``reason``."""

    from_t: int
    to_t: int
    hop: str
    count: int
    reason: str


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a stretch of time, in bins of one width.

    Counts stand in flat lists: a bin's place (0 begins at ``first * width``), the mark's place in
    ``MARKS``, how many; again and again, in order of time. ``pods``: by UID, of those that were
    asked for and have any. ``all``: of everything, whatever it is about. ``relists``: global ones
    by their end; the bin's place, how many, the longest of them (ns), how many failed. ``began``:
    when the first record was. ``since``: before this time (ns) less than everything is known at
    this width; as long as nothing was given up it is ``began``. ``gone``: pods with something in
    this stretch that are no longer there. ``stream``: its states, the first of them from before.
    """

    width: int
    first: int
    bins: int
    began: int
    since: int
    pods: dict[str, list[int]]
    all: list[int]
    relists: list[int]
    gone: list[Outline]
    stream: list[Turn]
    gaps: list[Hole]


class _Lane:
    """A pod, and its counts by width: place, kind and number, packed into one integer each."""

    __slots__ = ("counts", "gone_t", "last_t", "name", "namespace", "seen_t", "uid")

    def __init__(self, uid: str, t: int) -> None:
        self.uid = uid
        self.name = ""
        self.namespace = ""
        self.seen_t = t
        self.gone_t: int | None = None
        self.last_t = t
        self.counts = [array("Q") for _ in WIDTHS]

    def told(self) -> Outline:
        return Outline(self.uid, self.name, self.namespace, self.seen_t, self.gone_t)


class Levels:
    """Counts records; to be subscribed to a ``Journal``.

    A record whose time is before that of an earlier one counts as if it had come with that one.

    Args:
        capacity: counts kept of each width, over all pods.
        lanes: pods that are told apart.
    """

    def __init__(self, capacity: int = CAPACITY, lanes: int = LANES) -> None:
        self._capacity = capacity
        self._most_lanes = lanes
        self._lanes: dict[str, _Lane] = {}
        self._all = _Lane("", 0)
        self._relists: list[array[int]] = [array("Q") for _ in WIDTHS]
        self._size = [0] * len(WIDTHS)
        self._since = [0] * len(WIDTHS)
        self._began: int | None = None
        self._t = 0
        self._stream: deque[Turn] = deque(maxlen=TURNS)
        self._gaps: deque[Hole] = deque(maxlen=TURNS)

    def apply(self, record: Record) -> None:
        """Take one record into account."""
        t = self._t = max(self._t, record.t)
        if self._began is None:
            self._began = t
            self._since = [t] * len(WIDTHS)
        uid: str | None = getattr(record, "uid", None)
        lane = None if uid is None else self._lane(uid, t)
        if lane is not None:
            lane.last_t = t
        if isinstance(record, _TELLING):
            self._follow(record, lane)
        mark = mark_of(record)
        if mark is None:
            return
        kind = _KIND[mark]
        for level, width in enumerate(WIDTHS):
            place = t // width
            added = _count(self._all.counts[level], place, kind)
            if lane is not None:
                added += _count(lane.counts[level], place, kind)
            if added:
                self._size[level] += added
                if self._size[level] > self._capacity:
                    self._forget(level)

    def since(self) -> dict[int, int]:
        """By width (ns): from when on (ns) all is known in bins of it."""
        return dict(zip(WIDTHS, self._since, strict=True))

    def cut(self, width: int, from_t: int, to_t: int, uids: Iterable[str] = ()) -> Cut:
        """What is known between two times, ``width`` being one of ``WIDTHS``.

        Whole bins: the first holds ``from_t``, the last is the one before or around ``to_t``.
        """
        level = WIDTHS.index(width)
        first = max(0, from_t) // width
        end = max(first + 1, -(-to_t // width))
        pods: dict[str, list[int]] = {}
        for uid in uids:
            lane = self._lanes.get(uid)
            if lane is not None and (found := _flat(lane.counts[level], first, end)):
                pods[uid] = found
        gone = [
            lane.told()
            for lane in self._lanes.values()
            if lane.gone_t is not None
            and lane.gone_t >= first * width
            and lane.seen_t < end * width
        ]
        begin, stop = first * width, end * width
        turns = list(self._stream)
        before = [turn for turn in turns if turn.t <= begin][-1:]
        return Cut(
            width=width,
            first=first,
            bins=end - first,
            began=self._began or 0,
            since=self._since[level],
            pods=pods,
            all=_flat(self._all.counts[level], first, end),
            relists=_flat_relists(self._relists[level], first, end),
            gone=gone,
            stream=[*before, *(turn for turn in turns if begin < turn.t < stop)],
            gaps=[gap for gap in self._gaps if gap.from_t < stop and gap.to_t >= begin],
        )

    def _lane(self, uid: str, t: int) -> _Lane:
        lane = self._lanes.get(uid)
        if lane is None:
            if len(self._lanes) >= self._most_lanes:
                self._make_room()
            lane = self._lanes[uid] = _Lane(uid, t)
        return lane

    def _follow(self, record: Record, lane: _Lane | None) -> None:
        match record:
            case PodSeen() | PodCached() if lane is not None:
                # A failed inspection may know no name; the one that a listing told stays.
                lane.name = record.name or lane.name
                lane.namespace = record.namespace or lane.namespace
                if isinstance(record, PodSeen):
                    lane.gone_t = None
            case PodGone() if lane is not None:
                lane.gone_t = record.t
            case StreamChanged() if not record.renewed:
                self._stream.append(Turn(record.t, record.state, record.meaning, record.code))
            case Gap():
                hole = Hole(record.from_t, record.t, record.hop, record.count, record.reason)
                self._gaps.append(hole)
            case RelistFinished() if record.scope == "global":
                for level, width in enumerate(WIDTHS):
                    self._size[level] += _relisted(self._relists[level], self._t // width, record)

    def _forget(self, level: int) -> None:
        """Give up the oldest eighth of the time that is known, until there is room."""
        width = WIDTHS[level]
        while self._size[level] > self._capacity - self._capacity // 8:
            step = max(width, (self._t - self._since[level]) // 8)
            place = min(self._since[level] + step, self._t) // width + 1
            gone = 0
            for counts in (
                self._all.counts[level],
                *(one.counts[level] for one in self._lanes.values()),
            ):
                end = bisect_left(counts, place << 32)
                del counts[:end]
                gone += end
            relists = self._relists[level]
            end = 0
            while end < len(relists) and relists[end] < place:
                end += 3
            del relists[:end]
            self._size[level] -= gone + end // 3
            self._since[level] = place * width
            if place * width > self._t:
                return

    def _make_room(self) -> None:
        """Bring the pods to seven eighths: the gone first, then those silent for longest."""
        order = sorted(self._lanes.values(), key=lambda lane: (lane.gone_t is None, lane.last_t))
        for lane in order[: max(1, self._most_lanes // 8)]:
            for level, counts in enumerate(lane.counts):
                self._size[level] -= len(counts)
            del self._lanes[lane.uid]


def _count(counts: "array[int]", place: int, kind: int) -> int:
    """Count one; 1 if that took a new entry, else 0."""
    at = len(counts) - 1
    if at >= 0:
        place = max(place, counts[at] >> 32)
    key = place << 8 | kind
    while at >= 0:
        entry = counts[at]
        if entry >> 24 == key:
            if entry & _MOST < _MOST:
                counts[at] = entry + 1
            return 0
        if entry >> 32 != place:
            break
        at -= 1
    counts.append(key << 24 | 1)
    return 1


def _relisted(relists: "array[int]", place: int, record: RelistFinished) -> int:
    longest = max(0, record.duration_ns)
    if relists and relists[-3] == place:
        relists[-2] = max(relists[-2], longest)
        packed = relists[-1] + (1 << 32)
        relists[-1] = packed + (not record.ok)
        return 0
    relists.extend((place, longest, 1 << 32 | (not record.ok)))
    return 1


def _flat(counts: "array[int]", first: int, end: int) -> list[int]:
    found: list[int] = []
    for entry in counts[bisect_left(counts, first << 32) : bisect_left(counts, end << 32)]:
        found += ((entry >> 32) - first, entry >> 24 & 0xFF, entry & _MOST)
    return found


def _flat_relists(relists: "array[int]", first: int, end: int) -> list[int]:
    places = relists[::3]
    found: list[int] = []
    for at in range(bisect_left(places, first), bisect_left(places, end)):
        place, longest, packed = relists[3 * at : 3 * at + 3]
        found += (place - first, packed >> 32, longest, packed & 0xFFFF_FFFF)
    return found
