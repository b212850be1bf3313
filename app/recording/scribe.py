"""Puts what happens into chunks and chunks into files; no thread, no clock of its own.

What could not be written waits and is tried again by the next ``flush``: a full disk loses nothing
as long as what waits is bounded by whoever puts things in. Each file begins with what is needed to
read it alone: schemas, channels, the session, the newest records of each kind.
"""

from collections.abc import Callable

import msgspec

from app.engine.inputs import Input, PodsListed
from app.engine.records import Record, StreamChanged
from app.journal.projection import PodTable
from app.journal.rebuild import StateBuilder
from app.recording import format as words
from app.recording.answers import Answer, AnswerWriter, in_parts
from app.recording.format import (
    ANSWERS,
    ANSWERS_OF,
    EVENTS,
    INPUTS,
    LOSSES,
    MOST_MESSAGE,
    NOTES,
    OPENING,
    RECORDS,
    SESSION,
    STATES,
    STREAM,
    Loss,
    SessionInfo,
    StateThen,
)
from app.recording.lists import KEYFRAME_NS, ListWriter
from app.recording.opening import Opening
from app.recording.packer import Packer
from app.recording.segment import Packed, Segment

OPENING_NS = 60_000_000_000
"""So often a file tells all that a reader needs to begin there."""
OPENING_RECORDS = 4096
"""After so many records as well, so that whoever begins there has not far to go,"""
OPENING_SHARE = 8
"""unless they are fewer than so many times those to begin from."""

SWELLS = 40
"""Times its size that a file may unpack to before raw messages are left out, beyond ``SPARE``.

A reader refuses at 100 (``mcapread``), and a runtime's events, which carry whatever annotations
their pods have, can pack a thousandfold."""
SPARE = 24 * 1024 * 1024

SWOLLEN = (
    "what the runtime sends repeats itself so much that no reader would unpack all of it; what the "
    "engine was fed is recorded"
)
TOO_LARGE = f"one message was larger than {MOST_MESSAGE // 1024 // 1024} MiB"


class Scribe:
    """Writes one session into one file after another.

    Args:
        info: the session; ``part`` and ``inputs`` are set here.
        open_file: makes the file of a part (from 1); raises OSError.

    Whoever uses it calls from one thread. ``put_*`` never raise; ``flush``, ``turn`` and ``finish``
    raise OSError and can be called again.
    """

    def __init__(self, info: SessionInfo, open_file: Callable[[int], Segment]) -> None:
        self._info = info
        self._open_file = open_file
        self._encode = msgspec.json.Encoder().encode
        self._packer = Packer()
        self._lists = ListWriter()
        self._raw_lists = AnswerWriter()
        self._newest = Opening()
        self._opening: list[Record] = []
        self._builder = StateBuilder()
        self._pods = PodTable()
        self._since = 0
        self._state: StateThen | None = None
        self._seq = 0
        self._opened_t = 0
        self._waiting: list[Packed] = []
        self._part = 0
        self._inputs = 0
        self._inputs_before = 0
        self._events = 0
        self._answers = 0
        self._losses = 0
        self._plain = 0
        self._left_out = [0, 0]
        self._told_t: int | None = None
        self._last = (0, 0)
        self.segment: Segment | None = None
        self.written = 0
        """Bytes written, in all files."""
        self.too_large = 0
        """Messages that were larger than a recording may have, and are not in it."""

    @property
    def waiting(self) -> int:
        """Chunks that could not be written yet."""
        return len(self._waiting)

    @property
    def last_wall(self) -> int:
        """Wall time (ns) of the newest thing that was put; 0: nothing was."""
        return self._last[1]

    # What happens

    def put_input(self, happened: Input) -> None:
        """The engine was fed this."""
        self._inputs += 1
        told = self._lists.write(happened) if isinstance(happened, PodsListed) else happened
        if not self._put(INPUTS, self._inputs, happened.t, happened.wall, self._encode(told)):
            self._lists.restart()
        if self._told_t is None or happened.t - self._told_t >= KEYFRAME_NS:
            self._tell_session(happened.t, happened.wall)
        if happened.t - self._opened_t >= OPENING_NS or self._since >= max(
            OPENING_RECORDS, OPENING_SHARE * len(self._newest)
        ):
            self._opened_t, self._since = happened.t, 0
            self._tell_opening(self._newest.records(), self._state_then())

    def put_record(self, record: Record, *, by_engine: bool) -> None:
        """The journal was given this, numbered."""
        self.follow(record)
        self._since += 1
        self._seq = record.seq
        channel = NOTES
        if by_engine:
            channel = STREAM if isinstance(record, StreamChanged) else RECORDS
        self._put(channel, record.seq, record.t, record.wall, self._encode(record))

    def follow(self, record: Record) -> None:
        """Take a record into account in what is told to begin from."""
        self._newest.apply(record)
        self._builder.apply(record)
        self._pods.apply(record)

    def put_event(self, t: int, wall: int, raw: bytes) -> None:
        """The runtime's stream brought this message."""
        self._events += 1
        if self._swollen():
            self._leave_out(0, t, wall)
        else:
            self._put(EVENTS, self._events, t, wall, raw)

    def put_answer(self, answer: Answer) -> None:
        """The runtime answered a call."""
        self._answers += 1
        if self._swollen():
            self._raw_lists.restart()
            self._leave_out(1, answer.t, answer.wall)
            return
        told, raw = self._raw_lists.write(answer, self._answers)
        at = (answer.t, answer.wall)
        parts = [] if raw is None else in_parts(answer.method, raw, MOST_MESSAGE)
        for part in parts:
            if not self._put(ANSWERS_OF[answer.method], self._answers, *at, part):
                self._raw_lists.restart()
                return
        if len(parts) > 1:
            told = msgspec.structs.replace(told, parts=len(parts))
        self._put(ANSWERS, self._answers, *at, self._encode(told))

    def _swollen(self) -> bool:
        return self._plain > SWELLS * self._packed() + SPARE

    def _leave_out(self, kind: int, t: int, wall: int) -> None:
        self.too_large += 1
        self._left_out[kind] += 1
        self._last = (t, wall)

    def put_loss(self, loss: Loss) -> None:
        """Something could not be kept; ``loss.inputs`` of the engine's are missing from here on."""
        self._inputs += loss.inputs
        self._events += loss.events
        self._answers += loss.answers
        self._losses += 1
        self._lists.restart()
        self._raw_lists.restart()
        self._put(LOSSES, self._losses, loss.t, loss.wall, self._encode(loss))

    # Files

    def flush(self) -> None:
        """Write everything put so far.

        Raises:
            OSError: it could not be; what is left waits for the next time.
        """
        self._tell_left_out()
        self._seal()
        if not self._waiting:
            return
        if self.segment is None:
            self._begin_file()
        segment = self.segment
        assert segment is not None
        while self._waiting:
            before = segment.size
            segment.append(self._waiting[0])
            self.written += segment.size - before
            del self._waiting[0]

    def turn(self) -> None:
        """End this file; what comes is written into the next.

        Raises:
            OSError: its end could not be written. It is closed nevertheless.
        """
        self.flush()
        segment, self.segment = self.segment, None
        self._start_anew()
        if segment is not None:
            before = segment.size
            segment.finish()
            self.written += segment.size - before

    def leave(self) -> None:
        """Close this file as it is, for there is something wrong with it."""
        if self.segment is not None:
            self.segment.close()
            self.segment = None
        self._start_anew()

    def _start_anew(self) -> None:
        """What is put from here on is for another file."""
        self._lists.restart()
        self._raw_lists.restart()
        self._plain = 0
        self._told_t = None
        self._inputs_before = self._inputs
        self._opening = self._newest.records()
        self._state = self._state_then()
        self._opened_t, self._since = self._last[0], 0

    def _begin_file(self) -> None:
        self.segment = self._open_file(self._part + 1)
        self._part += 1
        self.written += self.segment.size
        self._waiting[:0] = self._beginning()

    def _beginning(self) -> list[Packed]:
        """The chunks that each file begins with."""
        t, wall = self._last
        self._seal()
        waiting, self._waiting = self._waiting, []
        self._packer.prepend(words.schema_records() + words.channel_records())
        self._session_message(t, wall, self._inputs_before)
        if self._state is not None:
            self._tell_opening(self._opening, self._state)
        self._seal()
        beginning, self._waiting = self._waiting, waiting
        return beginning

    # Messages

    def _tell_session(self, t: int, wall: int) -> None:
        self._told_t = t
        # The channels as well, so that a file whose beginning is damaged can be read by others.
        self._packer.prepend(words.channel_records())
        self._session_message(t, wall, self._inputs)

    def _session_message(self, t: int, wall: int, inputs: int) -> None:
        part = self._part + (self.segment is None)
        info = msgspec.structs.replace(self._info, part=part, inputs=inputs)
        self._put(SESSION, part, t, wall, self._encode(info))

    def _tell_opening(self, records: list[Record], then: StateThen) -> None:
        # Each at this moment: their own times would spread the chunk's over the whole session.
        for record in records:
            self._put(OPENING, record.seq, then.t, then.wall, self._encode(record))
        self._put(STATES, then.seq, then.t, then.wall, self._encode(then))

    def _state_then(self) -> StateThen:
        t, wall = self._last
        return StateThen(
            t=t,
            wall=wall,
            seq=self._seq,
            state=self._builder.state(t),
            inner=self._builder.inner(),
            pods=self._pods.kept(),
        )

    def _tell_left_out(self) -> None:
        if any(self._left_out):
            (t, wall), (events, answers), self._left_out = self._last, self._left_out, [0, 0]
            self._losses += 1
            loss = Loss(t=t, wall=wall, from_t=t, events=events, answers=answers, reason=SWOLLEN)
            self._put(LOSSES, self._losses, t, wall, self._encode(loss))

    def _packed(self) -> int:
        """Bytes of this file, with what waits for it."""
        written = 0 if self.segment is None else self.segment.size
        return written + sum(len(chunk.data) for chunk in self._waiting)

    def _put(self, channel: int, sequence: int, t: int, wall: int, data: bytes) -> bool:
        if len(data) > MOST_MESSAGE:
            self.too_large += 1
            if channel != LOSSES:
                loss = Loss(
                    t=t,
                    wall=wall,
                    from_t=t,
                    inputs=int(channel == INPUTS),
                    records=int(channel in words.TOLD),
                    events=int(channel == EVENTS),
                    answers=int(channel in ANSWERS_OF.values()),
                    reason=TOO_LARGE,
                )
                self._losses += 1
                self._put(LOSSES, self._losses, t, wall, self._encode(loss))
            return False
        self._last = (t, wall)
        if self._packer.put(channel, sequence, self._info.origin + t, wall, data):
            self._seal()
        return True

    def _seal(self) -> None:
        if self._packer:
            self._waiting.append(self._packer.take())
            self._plain += self._waiting[-1].size
