"""The files that are played: records one after another, whatever was written by whom.

What cannot be read is left out, counted and told; whatever can be read is played.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from app.engine.records import Record
from app.recording.format import Loss, SessionInfo
from app.recording.lines import Lines, gap_of
from app.recording.reading import Recording, Told, is_mcap
from app.recording.regular import called, open_regular, unreadable
from app.words import count

MOST_TOLD = 20
"""Damages of a recording that are told one by one."""

SAMPLE = 16 * 1024
SAMPLES = 64
"""So many stretches of so many bytes make the digest of a file that was written at once, spread
evenly from its beginning to its end: a megabyte, however large it is. Links carry it, so it must be
there at once."""

COMPARED = 1024 * 1024
"""Bytes that are compared at a time."""

GIVE = (
    "Give a recording (MCAP), which `plegscope record -o FILE` and `plegscope simulate NAME "
    "--record-to FILE` write, or a journal, which `watch` and `simulate` write with `--format "
    "jsonl`. `plegscope replay` alone lists what the flight recorder has."
)


def never() -> bool:
    """Nobody wants reading to end."""
    return False


class Source:
    """One file. ``info``: of a recording (MCAP), once ``records`` or ``peek`` has begun.

    ``read``: share of the file that has been read, as far as it is known.

    Raises:
        RecordingError: it cannot be read.
    """

    def __init__(self, path: Path, stopped: Callable[[], bool] = never) -> None:
        self.path = path
        self.name = called(path)
        self._stopped = stopped
        self.is_mcap = is_mcap(path)
        self.info: SessionInfo | None = None
        self._first: Record | None = None
        self.unreadable = 0
        self.line = 0
        """Of what is unreadable, the first line (JSON lines)."""
        self.warnings: list[str] = []
        """What is missing, and why; complete when reading is."""
        with _opened(path) as file:
            self.size = file.seek(0, 2)

    @cached_property
    def digest(self) -> str:
        """Tells a file from another of its name; links carry it.

        What a live session's recording is stays what it is while it is written, after ``recover``,
        and when its end was cut off: there it follows from whose it is and where it begins.

        Raises:
            RecordingError: it cannot be read.
        """
        first = (self._first or self.peek()) if self.is_mcap else None
        info = self.info
        if first is not None and info is not None and info.command != "simulate":
            told = (info.session, info.part, info.origin, first.seq, first.t, first.wall)
            return hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:16]
        with _opened(self.path) as file:
            return _sampled(file, self.size)

    def peek(self) -> Record | None:
        """The first record that is not older than the file; None: it holds none."""
        for record, opening in self._all():
            if not opening:
                self._first = record
                return record
        return None

    def recording(self) -> Recording:
        """The same, opened to be read by its index. Raises RecordingError."""
        return Recording(self.path)

    def records(self) -> Iterator[tuple[Record, bool]]:
        """Everything in order, and whether it is older than the file and told to begin from.

        Raises:
            RecordingError: it is no recording, or cannot be read any further.
        """
        self.unreadable = self.line = 0
        self.warnings = []
        yield from self._all()

    def _all(self) -> Iterator[tuple[Record, bool]]:
        return self._messages() if self.is_mcap else self._lines()

    def _messages(self) -> Iterator[tuple[Record, bool]]:
        with Recording(self.path, self._stopped) as recording:
            for item in recording.journal():
                self.info = recording.info
                if isinstance(item, Loss):
                    yield gap_of(item), False
                elif isinstance(item, Told):
                    yield item.record, item.opening
            self.info = recording.info
            self.unreadable = recording.unreadable
            self.warnings = [one.sentence() for one in recording.damage[:MOST_TOLD]]
            more = recording.damaged - len(self.warnings)
            if more > 0:
                self.warnings.append(f"{self.name} is damaged in {count(more, 'more place')}.")
            if self.unreadable:
                self.warnings.append(
                    f"{count(self.unreadable, 'message')} of {self.name} could not be understood."
                )

    def _lines(self) -> Iterator[tuple[Record, bool]]:
        try:
            with _opened(self.path) as file:
                lines = Lines(file, self._stopped)
                for record in lines.records():
                    yield record, False
                self.unreadable, self.line = lines.unreadable, lines.line
        except OSError as error:
            raise unreadable(self.path, error, GIVE) from error
        if self.unreadable:
            self.warnings.append(
                f"Line {self.line} of {self.name} could not be read; what it told is missing here."
                if self.unreadable == 1
                else f"{self.unreadable} lines of {self.name} could not be read, the first is line "
                f"{self.line}; what they told is missing here."
            )


def same(one: Source, two: Source, stopped: Callable[[], bool] = never) -> bool:
    """Whether two files hold the same, byte by byte.

    Files that are not the same nearly always differ in size, or soon; and reading each once is what
    playing one of them takes anyway.

    Raises:
        RecordingError: one cannot be read any more.
    """
    if one.size != two.size:
        return False
    with _opened(one.path) as first, _opened(two.path) as second:
        # One file by two names need not be read.
        if os.path.sameopenfile(first.fileno(), second.fileno()):
            return True
        # Of files that are still written, what there was when they were opened.
        left = one.size
        while left > 0 and not stopped():
            try:
                here, there = (file.read(min(left, COMPARED)) for file in (first, second))
            except OSError as error:
                raise unreadable(two.path, error, GIVE) from error
            if here != there:
                return False
            if not here:
                break
            left -= len(here)
    return True


def _sampled(file: BinaryIO, size: int) -> str:
    """Of a file's size and of ``SAMPLES`` stretches of it."""
    told = hashlib.sha256(str(size).encode())
    last = max(0, size - SAMPLE)
    for place in sorted({last * number // (SAMPLES - 1) for number in range(SAMPLES)}):
        file.seek(place)
        told.update(file.read(SAMPLE))
    return told.hexdigest()[:16]


def _opened(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error, GIVE) from error
