"""Levels of detail: what the journal told, counted in bins, for looking at more than can be drawn.

Every record that a picture shows is one *mark* of one kind (``marks.py``). For each pod, and for
all together, marks are counted in bins of several widths, so that an hour is told in some hundred
numbers, and so that what the journal has given up long ago is still known in outline. What has been
counted is packed in blocks (``blocks.py``). Live, narrow bins are given up first: each width has
room for so many bytes, and the oldest go. Of a recording blocks are laid aside, and none goes.
"""

import threading
from array import array
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Protocol

from app.engine.records import (
    Gap,
    PodCached,
    PodGone,
    PodSeen,
    Record,
    RelistFinished,
    StreamChanged,
)
from app.journal.blocks import KIND_BITS, LAST_PLACE, MOST_PODS, Block, Ended, key_of
from app.journal.cut import Cut, Hole, Outline, Turn
from app.journal.marks import MARKS, mark_of

MS = 1_000_000
STEPS = tuple(4**step for step in range(7))
FINEST = 125 * MS
WIDTHS = tuple(FINEST * step for step in STEPS)
"""Widths of bins (ns): from an eighth of a second to eight and a half minutes."""
CAPACITY = 768 * 1024
"""Bytes kept of each width."""
BLOCK = 4096
"""Counts of a width that are packed together."""
MUCH = 1024
"""Counts that are worth packing at the end."""
AT_ONCE = 1024
"""Marks that are counted together: one by one each would cost ten times as much."""
LANES = 8192
"""Pods that are told apart; of more, those without news for longest are forgotten."""
TURNS = 2048
"""Changes of the stream, and gaps, that are kept."""
MOST_TOLD = 4096
"""Pods that are outlined in one answer, those that came last."""
MOST_NAME = 512
"""Characters of a name that are kept."""
MOST_UID = 1024
"""Characters of a UID; a longer one is nobody's, and its pod not told apart."""

_OVERHEAD = 160
"""Bytes that a block needs beside its own."""
_TELLING = frozenset({PodSeen, PodCached, PodGone, StreamChanged, Gap, RelistFinished})
_KIND = {mark: key_of(0, kind, 0) for kind, mark in enumerate(MARKS)}
_ALL_BITS = (1 << 64) - 1
_LAST_T = LAST_PLACE * FINEST
_KINDS = (1 << KIND_BITS) - 1


class NoRoom(Exception):
    """A shelf has no room for more."""


class Shelf(Protocol):
    """Where blocks are laid aside; read from any thread."""

    def put(self, block: bytes) -> int:
        """Keep it; its number. Raises NoRoom."""
        ...

    def get(self, number: int) -> bytes:
        """The block of this number."""
        ...


class _Lane:
    """A pod, and the number that it is counted by, as a key has it."""

    __slots__ = ("gone_t", "key", "last_t", "name", "namespace", "number", "seen_t", "uid")

    def __init__(self, uid: str, number: int, t: int) -> None:
        self.uid = uid
        self.number = number
        self.key = key_of(number, 0, 0)
        self.name = ""
        self.namespace = ""
        self.seen_t = t
        self.gone_t: int | None = None
        self.last_t = t

    def told(self) -> Outline:
        return Outline(self.uid, self.name, self.namespace, self.seen_t, self.gone_t)


class _Level:
    """Bins of one width: what is being counted, and where its blocks are, in order of time."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.mask = _ALL_BITS ^ (step - 1)
        self.counts: Counter[int] = Counter()
        self.relists: dict[int, Ended] = {}
        self.firsts = array("I")
        self.lasts = array("I")
        self.numbers = array("Q")
        self.size = 0
        self.since = 0

    def block(self) -> Block:
        return Block(self.counts, self.relists)

    def closed(self, block: Block, number: int) -> None:
        self.firsts.append(block.first)
        self.lasts.append(block.last)
        self.numbers.append(number)
        self.counts, self.relists = Counter(), {}

    def between(self, first: int, end: int) -> Iterator[int]:
        """Numbers of the blocks that have anything in places ``first`` to before ``end``."""
        begin = bisect_left(self.lasts, first)
        return iter(self.numbers[begin : bisect_left(self.firsts, end, begin)])


class _Memory:
    """Blocks that are here as long as there is room."""

    def __init__(self) -> None:
        self._blocks: dict[int, bytes] = {}
        self._next = 0

    def put(self, block: bytes) -> int:
        self._next += 1
        self._blocks[self._next] = block
        return self._next

    def get(self, number: int) -> bytes:
        return self._blocks[number]

    def drop(self, number: int) -> int:
        """Forget it; its size."""
        return len(self._blocks.pop(number))


class Levels:
    """Counts records, on one thread; what they come to may be asked from any.

    A record whose time is before that of an earlier one counts as if it had come with that one.

    Args:
        capacity: bytes kept of each width, over all pods, beside what is being counted.
        lanes: pods that are told apart.
        shelf: where blocks are laid aside instead; while it has room nothing is given up, and when
            it has none, nothing more is counted.
        block: counts of a width that are packed together; None: ``BLOCK``.
        turns: changes of the stream, and gaps, that are kept.
    """

    def __init__(
        self,
        capacity: int = CAPACITY,
        lanes: int = LANES,
        shelf: Shelf | None = None,
        *,
        block: int | None = None,
        turns: int = TURNS,
    ) -> None:
        self._capacity = capacity
        self._most_lanes = lanes
        self._most_counts = block or BLOCK
        memory = _Memory()
        self._memory = memory if shelf is None else None
        self._shelf: Shelf = memory if shelf is None else shelf
        self._lock = threading.Lock()
        self._lanes: dict[str, _Lane] = {}
        self._numbered = 0
        self._levels = tuple(_Level(step) for step in STEPS)
        self._fresh: list[int] = []
        self._ended: list[tuple[int, Ended]] = []
        self._full = False
        self._began: int | None = None
        self._t = 0
        self._stream: deque[Turn] = deque(maxlen=turns)
        self._gaps: deque[Hole] = deque(maxlen=turns)

    @property
    def t(self) -> int:
        """The latest time (ns) of what is counted."""
        return self._t

    @property
    def full(self) -> bool:
        """Whether there was no room, and nothing is counted any more."""
        return self._full

    def apply(self, record: Record) -> None:
        """Take one record into account."""
        if self._full:
            return
        with self._lock:
            t = self._t = max(self._t, record.t)
            if self._began is None:
                self._began = t
                for level in self._levels:
                    level.since = t
            uid: str | None = getattr(record, "uid", None)
            lane = None
            if uid is not None and len(uid) <= MOST_UID:
                lane = self._lanes.get(uid) or self._new_lane(uid, t)
                lane.last_t = t
            if type(record) in _TELLING:
                self._follow(record, lane)
            mark = mark_of(record)
            if mark is None:
                return
            key = _KIND[mark] | (t // FINEST if t < _LAST_T else LAST_PLACE)
            self._fresh.append(key)
            if lane is not None:
                self._fresh.append(lane.key | key)
            if len(self._fresh) >= AT_ONCE:
                self._settle()

    def finish(self) -> None:
        """Nothing more comes: what is being counted takes less room packed, if it is much."""
        with self._lock:
            self._settle()
            if sum(len(level.counts) for level in self._levels) < MUCH:
                return
            with suppress(NoRoom):
                for level in self._levels:
                    if level.counts:
                        self._close(level)

    def since(self) -> dict[int, int]:
        """By width (ns): from when on (ns) all is known in bins of it."""
        return {width: level.since for width, level in zip(WIDTHS, self._levels, strict=True)}

    def cut(
        self,
        width: int,
        from_t: int,
        to_t: int,
        uids: Iterable[str] = (),
        *,
        staying: bool = False,
    ) -> Cut:
        """What is known between two times, ``width`` being one of ``WIDTHS``.

        Whole bins: the first holds ``from_t``, the last is the one before or around ``to_t``.
        ``staying``: pods that are still there are outlined too.
        """
        level = self._levels[WIDTHS.index(width)]
        first = max(0, from_t) // width
        end = max(first + 1, -(-to_t // width))
        begin, stop = first * width, end * width
        low, high = first * level.step, end * level.step
        with self._lock:
            self._settle()
            numbers = level.between(low, high)
            packed: Iterable[bytes] = map(self._shelf.get, numbers)
            if self._memory is not None:
                # They may be given up meanwhile.
                packed = list(packed)
            newest = level.block()
            lanes = {uid: lane.number for uid in uids if (lane := self._lanes.get(uid))}
            there = [
                lane.told()
                for lane in self._lanes.values()
                if lane.seen_t < stop and (staying if lane.gone_t is None else lane.gone_t >= begin)
            ]
            since = level.since
            turns, gaps = list(self._stream), list(self._gaps)
        numbers_of = sorted({0, *lanes.values()})
        places: dict[int, list[tuple[Block, slice]]] = {number: [] for number in numbers_of}
        relists: dict[int, Ended] = {}
        for block in (*map(Block.unpacked, packed), newest):
            for number, where in block.where(numbers_of):
                places[number].append((block, where))
            block.add_relists(relists, low, high)
        # The same number is one object, however often it is told.
        told = list(range(end - first))
        flat: dict[int, list[int]] = {}
        # One after another: all pods of a long time at once would be some hundred megabytes.
        for number, blocks in places.items():
            found: dict[int, int] = {}
            for block, where in blocks:
                block.add_to(found, where, low, high)
            flat[number] = [
                one
                for key, count in sorted(found.items())
                for one in (told[((key >> KIND_BITS) - low) // level.step], key & _KINDS, count)
            ]
        return Cut(
            width=width,
            first=first,
            bins=end - first,
            began=self._began or 0,
            since=since,
            pods={uid: flat[number] for uid, number in lanes.items() if flat[number]},
            all=flat[0],
            relists=[
                one
                for place, ended in sorted(relists.items())
                for one in ((place - low) // level.step, *ended)
            ],
            gone=sorted(there, key=lambda one: one.seen_t)[-MOST_TOLD:],
            stream=[
                *[turn for turn in turns if turn.t <= begin][-1:],
                *(turn for turn in turns if begin < turn.t < stop),
            ],
            gaps=[gap for gap in gaps if gap.from_t < stop and gap.to_t >= begin],
        )

    def _new_lane(self, uid: str, t: int) -> _Lane:
        if len(self._lanes) >= self._most_lanes:
            self._make_room()
        self._numbered = min(self._numbered + 1, MOST_PODS - 1)
        lane = self._lanes[uid] = _Lane(uid, self._numbered, t)
        return lane

    def _follow(self, record: Record, lane: _Lane | None) -> None:
        match record:
            case PodSeen() | PodCached() if lane is not None:
                # A failed inspection may know no name; the one that a listing told stays.
                lane.name = record.name[:MOST_NAME] or lane.name
                lane.namespace = record.namespace[:MOST_NAME] or lane.namespace
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
                ended = Ended(1, max(0, record.duration_ns), int(not record.ok))
                self._ended.append((min(self._t // FINEST, LAST_PLACE), ended))

    def _settle(self) -> None:
        """Count what has come, in all widths."""
        fresh, ended = self._fresh, self._ended
        self._fresh, self._ended = [], []
        for level in self._levels:
            level.counts.update(map(level.mask.__and__, fresh))
            relists = level.relists
            for place, one in ended:
                here = place - place % level.step
                relists[here] = one.and_more(relists[here]) if here in relists else one
            if len(level.counts) >= self._most_counts:
                try:
                    self._close(level)
                except NoRoom:
                    self._full = True

    def _close(self, level: _Level) -> None:
        """Pack what was counted."""
        block = level.block()
        packed = block.packed()
        # Where there is no room what was counted stays where it is.
        level.closed(block, self._shelf.put(packed))
        if self._memory is None:
            return
        level.size += len(packed) + _OVERHEAD
        while level.size > self._capacity:
            level.size -= self._memory.drop(level.numbers[0]) + _OVERHEAD
            # The last bin of a block may go on in the next one.
            level.since = (level.lasts[0] + level.step) * FINEST
            del level.firsts[0], level.lasts[0], level.numbers[0]

    def _make_room(self) -> None:
        """Bring the pods to seven eighths: the gone first, then those silent for longest."""
        order = sorted(self._lanes.values(), key=lambda lane: (lane.gone_t is None, lane.last_t))
        for lane in order[: max(1, self._most_lanes // 8)]:
            del self._lanes[lane.uid]
