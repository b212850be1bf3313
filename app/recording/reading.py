"""Reads recordings: what was watched, the inputs, the journal; and what is missing, with its place.

Whatever is in the file is hostile until it is decoded, strictly, into our own types; the schemas
that a file carries are for others and never used here. A message that cannot be decoded is counted
and left out.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from app.engine.inputs import Input
from app.engine.records import AnyRecord, Record
from app.errors import RecordingError
from app.recording import format as words
from app.recording.answers import (
    MOST_BYTES,
    MOST_PARTS,
    Answer,
    Answered,
    AnswerReader,
    Unknowable,
)
from app.recording.checked import UNFIT, Checked
from app.recording.format import (
    ANSWERS,
    ANSWERS_OF,
    ENGINE_MADE,
    EVENTS,
    FORMAT,
    INPUTS,
    LOSSES,
    NUMBERS,
    OPENING,
    SESSION,
    STATES,
    TOLD,
    AnyInput,
    Loss,
    SessionInfo,
    StateThen,
    Versions,
)
from app.recording.lines import gap_of
from app.recording.lists import Listed, ListReader, Undecodable
from app.recording.mcapindex import Index, Unfit
from app.recording.mcapparse import Message
from app.recording.mcapread import Damage, McapReader, NotMcap
from app.recording.mcapwrite import MAGIC
from app.recording.regular import open_regular, unreadable

OURS_WITHIN = 8
"""A file whose header does not say that it is a recording must say so within so many chunks."""

GIVE = "Give a file that plegscope recorded."
LINES = (
    "JSON lines can be played, exported and redacted, but do not have what the runtime said: give "
    "a recording, such as `plegscope record` writes."
)

JOURNAL = frozenset({*TOLD, OPENING, LOSSES, STATES})
"""Channels of what was told, and of what a reader begins from."""

RAW_ANSWERS = frozenset(ANSWERS_OF.values())


class Fed(NamedTuple):
    """An input in its place; ``number`` counts all that were fed, from 1 (None: unreadable)."""

    number: int
    happened: Input | None


class Told(NamedTuple):
    """A record of the journal; ``by_engine``: running the inputs again gives it again.

    ``opening``: it is older than what follows, told again to begin from.
    """

    record: Record
    by_engine: bool
    opening: bool = False


class Heard(NamedTuple):
    """A message of the runtime's event stream, as received; monotonic and wall time (ns)."""

    t: int
    wall: int
    raw: bytes


Item = Fed | Told | Heard | Answer | Loss | StateThen
"""``Answer`` only where they were asked for."""


class Recording:
    """One file, read once from its beginning to its end by ``items``.

    Everything else is known as far as reading has come. Use it in ``with``. ``answers``: the
    runtime's answers are among the items, each with all its rows.

    Raises:
        RecordingError: the file cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        stopped: Callable[[], bool] = lambda: False,
        *,
        answers: bool = False,
    ) -> None:
        self.path = path
        self._answers = AnswerReader() if answers else None
        self._raw: tuple[int, int, list[bytes]] = (0, 0, [])
        self._file = _opened(path)
        self._size = os.fstat(self._file.fileno()).st_size
        self._reader = McapReader(self._file, self._size, stopped)
        self._topics: dict[int, str] = dict(words.TOPICS)
        self._lists = ListReader()
        self._inputs = Checked[Input](AnyInput)
        self._records = Checked[Record](AnyRecord)
        self._sessions = Checked[SessionInfo](SessionInfo)
        self._versions = Checked[Versions](Versions)
        self._states = Checked[StateThen](StateThen)
        self._losses = Checked[Loss](Loss)
        self._answered = Checked[Answered](Answered)
        self._origin = 0
        self.info: SessionInfo | None = None
        self.unreadable = 0
        """Messages that could not be decoded though the file is not damaged there."""
        self.losses: list[Loss] = []

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Be done with it."""
        self._file.close()

    @property
    def damage(self) -> list[Damage]:
        """What is damaged, the first ones; ``damaged`` counts all."""
        return self._reader.damage

    @property
    def damaged(self) -> int:
        """Number of damages."""
        return self._reader.damaged

    @property
    def finished(self) -> bool:
        """Whether its writer came to the end; else it was ended by force, or still writes."""
        return self._reader.finished

    @property
    def share(self) -> float:
        """How far reading has come, from 0 to 1."""
        return min(1.0, self._file.tell() / max(1, self._size))

    @property
    def library(self) -> str:
        """Who wrote it."""
        return self._reader.library

    def _begins_as_lines(self) -> bool:
        self._file.seek(0)
        return self._file.read(1) == b"{"

    def messages(self) -> Iterator[tuple[int, Message]]:
        """Channel number of ours (0: a topic we do not know) and message, in order.

        Raises:
            RecordingError: it is no recording, or of a newer format, or cannot be read.
        """
        ours = False
        try:
            for block in self._reader.blocks():
                self._topics.update(block.channels)
                ours = ours or self._is_ours(block.channels)
                if not ours and block.number >= OURS_WITHIN:
                    break
                for message in block.messages:
                    number = NUMBERS.get(self._topics.get(message.channel, ""), 0)
                    if number == SESSION:
                        self._session(message.data)
                    yield number, message
        except NotMcap:
            give = LINES if self._begins_as_lines() else GIVE
            raise RecordingError(f"{self.path} is no MCAP file. {give}") from None
        except OSError as error:
            raise unreadable(self.path, error, GIVE) from error
        if not ours and not self._is_ours({}):
            raise RecordingError(
                f"{self.path} is an MCAP file, but not one of plegscope's (it says that "
                f"{self.library[:60] or 'nobody'!r} wrote it). {GIVE}"
            )

    def items(self) -> Iterator[Item]:
        """Everything that happened, decoded, in order. Raises as ``messages``."""
        for number, message in self.messages():
            item = self._item(number, message)
            if item is not None:
                yield item

    def journal(self) -> Iterator[Item]:
        """Of everything that happened what was told, and what a reader begins from; the rest is
        not decoded. Raises as ``messages``."""
        for number, message in self.messages():
            if number in JOURNAL:
                item = self._item(number, message)
                if item is not None:
                    yield item

    def messages_at(
        self, index: Index, chunk: int, channels: Collection[int] = JOURNAL
    ) -> list[Message] | None:
        """The messages of these channels in one chunk, as they stand there. None: it is not as it
        was written.

        Raises:
            RecordingError: the file cannot be read.
        """
        try:
            places = index.places(chunk, channels)
            block = self._reader.block_at(index.offsets[chunk], channels, places)
        except OSError as error:
            raise unreadable(self.path, error, GIVE) from error
        return None if block is None else block.messages

    def decoded(self, message: Message) -> Item | None:
        """What one of these tells; None: it cannot be decoded."""
        return self._item(message.channel, message)

    def records_of(self, messages: Iterable[Message]) -> list[Record] | None:
        """What messages of the channels ``TOLD``, ``OPENING`` and ``LOSSES`` come to as records,
        which costs half of ``decoded``. None: one cannot be decoded."""
        decode, lost = self._records.decode, self._losses.decode
        try:
            return [
                decode(message.data) if message.channel != LOSSES else gap_of(lost(message.data))
                for message in messages
            ]
        except UNFIT:
            self.unreadable += 1
            return None

    def index(self) -> Index | None:
        """Where its chunks are, by its own index; None if it has none that is of use. Raises
        RecordingError."""
        try:
            return Index(self._file.fileno(), os.fstat(self._file.fileno()).st_size)
        except Unfit:
            return None
        except OSError as error:
            raise unreadable(self.path, error, GIVE) from error

    def _is_ours(self, channels: dict[int, str]) -> bool:
        return self._reader.profile == words.PROFILE or words.TOPICS[SESSION] in channels.values()

    def _item(self, number: int, message: Message) -> Item | None:
        data = message.data
        try:
            if number == INPUTS:
                return Fed(message.sequence, self._input(data))
            if number in TOLD:
                return Told(self._records.decode(data), number in ENGINE_MADE)
            if number == OPENING:
                return Told(self._records.decode(data), by_engine=False, opening=True)
            if number == EVENTS:
                return Heard(message.log_time - self._origin, message.publish_time, data)
            if number in RAW_ANSWERS:
                place = (number, message.sequence)
                parts = self._raw[2] if self._raw[:2] == place else []
                if len(parts) >= MOST_PARTS or sum(map(len, parts)) + len(data) > MOST_BYTES:
                    parts = []
                self._raw = (*place, [*parts, data])
                return None
            if number == ANSWERS:
                return self._answer(data, message.sequence)
            if number == STATES:
                return self._states.decode(data)
            if number == LOSSES:
                loss = self._losses.decode(data)
                if len(self.losses) < 1000:
                    self.losses.append(loss)
                return loss
        except UNFIT:
            self.unreadable += 1
            if number == INPUTS:
                return Fed(message.sequence, None)
        return None

    def _input(self, data: bytes) -> Input | None:
        happened = self._inputs.decode(data)
        if not isinstance(happened, Listed):
            return happened
        try:
            return self._lists.read(happened)
        except Undecodable:
            return None

    def _answer(self, data: bytes, sequence: int) -> Answer | None:
        if self._answers is None:
            return None
        told = self._answered.decode(data)
        if told.method not in ANSWERS_OF:
            return None
        number, place, parts = self._raw
        if told.form == "same" or (told.form == "changes" and not told.told):
            parts = []
        elif (number, place, len(parts)) != (ANSWERS_OF[told.method], sequence, told.parts):
            return None
        raw = parts[0] if len(parts) == 1 else b"".join(parts)
        try:
            return self._answers.read(told, raw)
        except Unknowable:
            return None

    def _session(self, data: bytes) -> None:
        try:
            version = self._versions.decode(data)
            if version.format > FORMAT:
                raise RecordingError(
                    f"{self.path} was written by plegscope {version.plegscope[:40]!r} in format "
                    f"{version.format}; this one reads up to {FORMAT}. Update plegscope."
                )
            info = self._sessions.decode(data)
        except UNFIT:
            self.unreadable += 1
            return
        self._origin = info.origin
        if self.info is None:
            self.info = info


def is_mcap(path: Path) -> bool:
    """Whether a file begins as MCAP does, or is called so."""
    if path.suffix == ".mcap":
        return True
    try:
        with _opened(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except RecordingError:
        return False


def _opened(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error, GIVE) from error
