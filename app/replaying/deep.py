"""Any piece of a recording at once, wherever it is: read from the nearest place to begin at.

The recording says now and then all that a reader needs to begin there (``StateThen``, with the
records before it). From there to the piece is a bounded number of records, which are gone over; and
whoever plays on goes on from where the last piece ended.
"""

import threading
import time
import weakref
from collections import Counter, OrderedDict
from collections.abc import Iterator
from itertools import takewhile

import msgspec

from app.engine.records import PodCached, PodUncached, Record
from app.engine.state import RelistState
from app.errors import RecordingError
from app.recording.format import OPENING, STATES, TOLD, StateThen
from app.recording.mcapindex import Unfit
from app.recording.mcapparse import Message
from app.recording.reading import JOURNAL
from app.replaying.joined import FARTHEST, Opened
from app.replaying.joining import Mover
from app.replaying.past import Cutting, Past, StateOf, packed
from app.replaying.plan import COUNTED, Plan
from app.replaying.uncollected import uncollected

KEPT = 48
"""Pieces that are kept packed; each has some ten kilobytes."""
STANDS = 4
"""Places from which it is gone on."""
GRACE_S = 0.15
"""After a piece was asked for, whoever reads the whole rests for so long,"""
OPENING_S = 1.0
"""and so much longer while a page is loaded,"""
GIVE_WAY_S = 1.0
"""but no longer than this before each piece of its own, and no longer in the midst of it."""
TOLD_EVER = frozenset({*TOLD, OPENING})
"""Channels of records, in their places or told again."""
MOST_OPENING = 64
"""Chunks over which the records to begin from are spread, at most."""


class Broken(RecordingError):
    """The recording is not what its index says."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is not what the index at its end says, or was changed. Load this page again."
        )


class _Ready:
    """A piece that was cut; packed by whoever takes it first."""

    def __init__(self, piece: bytes) -> None:
        self._lock = threading.Lock()
        self._piece: bytes | None = piece
        self._packed = b""

    def packed(self) -> bytes:
        """As it goes over the wire."""
        with self._lock:
            if self._piece is not None:
                self._packed, self._piece = packed(self._piece), None
            return self._packed


class Deep:
    """Reads pieces of one recording by their numbers, from any thread.

    Args:
        file: the recording.
        origin: wall time (ns) at time 0 of what is played.
        state: of the film.

    Raises:
        Unfit: it cannot be read by its index.
        RecordingError: nor at all.
    """

    def __init__(self, file: Opened, origin: int, state: StateOf) -> None:
        self._name = file.source.name
        self._by = file.origin - origin
        self._state = state
        self._lock = threading.Lock()
        self._recording = file.source.recording()
        weakref.finalize(self, self._recording.close)
        index = self._recording.index()
        if index is None:
            raise Unfit
        self.plan = Plan(index, origin)
        self._ready: OrderedDict[int, _Ready] = OrderedDict()
        self._stands: OrderedDict[int, Past] = OrderedDict()
        self._mover = Mover(self._by)
        self._reading = threading.Lock()
        self._counting = threading.Condition()
        self._wanted: Counter[int] = Counter()
        self._asked = 0.0
        self._patience = 0.0

    def __len__(self) -> int:
        return len(self.plan)

    def holding(self, seq: int) -> int:
        """The piece that holds record ``seq``; the nearest for one that is nowhere."""
        return self.plan.holding(seq)

    def page_opens(self) -> None:
        """Somebody has asked for the whole table: a page is being loaded, which takes a second."""
        with self._counting:
            self._asked = time.monotonic() + OPENING_S

    def give_way(self) -> None:
        """Wait while somebody waits for a piece, or is likely to ask for the next one."""
        end = time.monotonic() + GIVE_WAY_S
        with self._counting:
            self._patience = GIVE_WAY_S
            while (now := time.monotonic()) < end:
                rest = end - now if self._wanted else self._asked + GRACE_S - now
                if rest <= 0:
                    return
                self._counting.wait(min(rest, end - now))

    @property
    def waited_for(self) -> bool:
        """Whether somebody waits for a piece."""
        return bool(self._wanted)

    def let_pass(self) -> None:
        """In the midst of a piece of one's own: wait while somebody waits for one. Two that work at
        the same time take turns of some milliseconds, and so whoever waits would wait twice as
        long."""
        if not self._wanted:
            return
        began = time.monotonic()
        with self._counting:
            self._counting.wait_for(lambda: not self._wanted, max(0.0, self._patience))
            self._patience -= time.monotonic() - began

    def piece(self, number: int) -> bytes:
        """A piece as gzipped JSON of ``Piece``.

        Raises:
            IndexError: there is none of this number.
            Broken: the recording is not what its index says.
            RecordingError: it cannot be read.
        """
        if not 0 <= number < len(self.plan):
            raise IndexError(number)
        self._ask(number, 1)
        try:
            with self._lock:
                if number not in self._ready:
                    self._cut_up_to(number)
                self._ready.move_to_end(number)
                ready = self._ready[number]
            # The next one is cut meanwhile.
            return ready.packed()
        finally:
            self._ask(number, -1)

    def records(self, number: int) -> Iterator[Record]:
        """The records of a piece; their times are as told. Raises as :meth:`piece`."""
        seq = self.plan.firsts[number]
        for item in self._played(self.plan.chunks(number), began=number > 0):
            if not isinstance(item, StateThen):
                yield self._moved(item, seq, -FARTHEST)
                seq += 1

    def mentions(self, number: int, text: bytes) -> bool:
        """Whether these bytes are in a piece. Raises as :meth:`piece`."""
        return any(
            text in message.data
            for chunk in self.plan.chunks(number)
            for message in self._messages(chunk)
        )

    def cache_told(self, number: int) -> list[PodCached | PodUncached]:
        """What was told of the pod cache before a piece, in order; of what is older than the place
        to begin at, the newest of each pod. Raises as :meth:`piece`."""
        begin = self.plan.chunks(number)[0] if number else 0
        key = self.plan.key(begin) if begin else None
        told: list[Record] = []
        if key is not None:
            messages = self._messages(key)
            place = next((at for at, one in enumerate(messages) if one.channel == STATES), 0)
            told = self._opening(key, messages[:place])
        for chunk in range(key or 0, begin):
            told += self._records(self._messages(chunk, TOLD_EVER))
        return [record for record in told if isinstance(record, PodCached | PodUncached)]

    def _ask(self, number: int, more: int) -> None:
        with self._counting:
            self._wanted[number] += more
            if not self._wanted[number]:
                del self._wanted[number]
            self._asked = max(self._asked, time.monotonic())
            self._counting.notify_all()

    def _cut_up_to(self, number: int) -> None:
        """Cut a piece, and before it those right before it that others wait for: one follows from
        the other, in whatever order they were asked for."""
        first = number
        while first - 1 in self._wanted and first - 1 not in self._ready:
            first -= 1
        with uncollected():
            for one in range(first, number + 1):
                self._ready[one] = _Ready(self._cut(one))
        while len(self._ready) > KEPT:
            self._ready.popitem(last=False)

    # One piece

    def _cut(self, number: int) -> bytes:
        past = self._stand(number)
        cutting = Cutting(past, self._state)
        at = past.t if number else -FARTHEST
        for item in self._played(self.plan.chunks(number), began=number > 0):
            if isinstance(item, StateThen):
                if not number and cutting.records and item.inner is not None:
                    # What the file begins with: whatever was counted in those before it.
                    cutting.know(_shifted(item, self._by))
                continue
            record = self._moved(item, past.seq + 1, at)
            at = record.t
            cutting.add(record)
        if len(cutting.records) != self.plan.count(number):
            raise Broken(self._name)
        self._stands[number + 1] = past
        while len(self._stands) > STANDS:
            self._stands.popitem(last=False)
        return cutting.told(number)

    def _played(self, chunks: range, *, began: bool) -> Iterator[Record | StateThen]:
        """What is played of these chunks, in order; of what is told to begin from, the recording's
        beginning. ``began``: that was before."""
        for chunk in chunks:
            messages = self._messages(chunk, COUNTED if began else JOURNAL)
            place = 0
            while not began and place < len(messages):
                message = messages[place]
                if message.channel in COUNTED:
                    began = True
                    messages = [one for one in messages[place:] if one.channel in COUNTED]
                    place = 0
                elif message.channel == STATES:
                    yield self._state_then(message)
                    place += 1
                else:
                    yield from self._records([message])
                    place += 1
            yield from self._records(messages[place:])

    def _stand(self, number: int) -> Past:
        """The past of a piece."""
        plan = self.plan
        if not number:
            return Past()
        ready = self._stands.pop(number, None)
        if ready is not None:
            return ready
        begin = plan.chunks(number)[0]
        key = plan.key(begin)
        stand = max((one for one in self._stands if one < number), default=-1)
        if stand >= 0 and (key is None or plan.chunks(stand)[0] > key):
            past = self._stands.pop(stand)
            self._go_over(past, range(plan.chunks(stand)[0], begin))
        elif key is None or not (began := self._begun(key)):
            past = Past()
            self._go_over(past, range(begin))
        else:
            past, rest = began
            for record in rest:
                past.apply(self._moved(record, past.seq + 1, past.t))
            self._go_over(past, range(key + 1, begin))
        if past.seq != plan.firsts[number] - 1:
            raise Broken(self._name)
        past.t = plan.t_before(number)
        return past

    def _go_over(self, past: Past, chunks: range) -> None:
        for item in self._played(chunks, began=past.seq > 0):
            if not isinstance(item, StateThen):
                past.apply(self._moved(item, past.seq + 1, past.t))

    def _begun(self, key: int) -> tuple[Past, list[Record]] | None:
        """The past as the last state in a chunk tells it, and the records after it there."""
        messages = self._messages(key)
        place = len(messages)
        then: StateThen | None = None
        while then is None or then.inner is None:
            place = _last(messages, place, STATES)
            if place < 0:
                return None
            then = self._state_then(messages[place])
        before, after = messages[:place], messages[place + 1 :]
        past = Past()
        for record in self._opening(key, before):
            past.apply(self._moved(record, record.seq, -FARTHEST))
        past.seq = self.plan.before(key) + sum(one.channel in COUNTED for one in before)
        if not past.resume(_shifted(then, self._by)):
            return None
        return past, self._records([one for one in after if one.channel in COUNTED])

    def _opening(self, key: int, messages: list[Message]) -> list[Record]:
        """The records to begin from before a state: those right before it, over chunks."""
        found: list[Message] = []
        for _ in range(MOST_OPENING):
            opening = list(takewhile(lambda one: one.channel == OPENING, reversed(messages)))
            found += opening
            key -= 1
            if len(opening) < len(messages) or key < 0:
                break
            messages = self._messages(key)
        return self._records(found[::-1])

    def _moved(self, record: Record, seq: int, not_before: int) -> Record:
        """A record in its place in what is played; mostly it is there already."""
        if not self._by and record.seq == seq and record.t >= not_before:
            return record
        return self._mover.move(record, seq, not_before)

    def _messages(self, chunk: int, channels: frozenset[int] = JOURNAL) -> list[Message]:
        with self._reading:
            messages = self._recording.messages_at(self.plan.index, chunk, channels)
        if messages is None:
            raise Broken(self._name)
        return messages

    def _records(self, messages: list[Message]) -> list[Record]:
        records = self._recording.records_of(messages)
        if records is None:
            raise Broken(self._name)
        return records

    def _state_then(self, message: Message) -> StateThen:
        then = self._recording.decoded(message)
        if not isinstance(then, StateThen):
            raise Broken(self._name)
        return then


def _last(messages: list[Message], before: int, channel: int) -> int:
    """Place of the last message of a channel before a place; -1: there is none."""
    places = range(before - 1, -1, -1)
    return next((place for place in places if messages[place].channel == channel), -1)


def _shifted(then: StateThen, by: int) -> StateThen:
    """The same on the clock of what is played: all its times moved."""
    if not by:
        return then
    state = then.state
    engine = msgspec.structs.replace(
        state,
        t=state.t + by,
        health=msgspec.structs.replace(
            state.health, last_start_t=_later(state.health.last_start_t, by)
        ),
        stream=msgspec.structs.replace(
            state.stream,
            since_t=state.stream.since_t + by,
            retry_t=_later(state.stream.retry_t, by),
        ),
        running=_relist(state.running, by),
        last_global=_relist(state.last_global, by),
        next_global_t=_later(state.next_global_t, by),
    )
    pods = tuple(
        msgspec.structs.replace(
            pod, seen_t=pod.seen_t + by, gone_t=_later(pod.gone_t, by), last_t=pod.last_t + by
        )
        for pod in then.pods
    )
    return msgspec.structs.replace(then, t=then.t + by, state=engine, pods=pods)


def _later(t: int | None, by: int) -> int | None:
    return None if t is None else t + by


def _relist(relist: RelistState | None, by: int) -> RelistState | None:
    return None if relist is None else msgspec.structs.replace(relist, started=relist.started + by)
