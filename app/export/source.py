"""Where an export's records come from: a recording, a file of JSON lines, or records in memory.

A source is read from its beginning as often as somebody asks, so that what must be known before
the first byte is written (which names there are) can be gathered without keeping any record.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from app.engine.records import Record
from app.errors import RecordingError
from app.recording.format import Loss, SessionInfo
from app.recording.lines import Lines, gap_of
from app.recording.reading import Recording, Told, is_mcap
from app.recording.regular import called, open_regular, unreadable
from app.words import count

MOST_TITLE = 200
"""Characters of a recording's own title."""

GIVE = (
    "Give a recording, or a file that `plegscope watch --format jsonl` or `plegscope simulate "
    "--format jsonl` wrote."
)


class Source(Protocol):
    """Records in order, as often as they are asked for.

    ``title``: what was watched. ``simulated``: a node that does not exist. ``missing``: what could
    not be read, in sentences; complete once ``records`` has come to its end. ``files``: what it is
    read from, or was.
    """

    title: str
    simulated: bool
    files: Sequence[Path]

    @property
    def missing(self) -> list[str]:
        """What could not be read."""
        ...

    def records(self) -> Iterator[Record]:
        """All records from the first; raises RecordingError."""
        ...


class Kept:
    """Records in memory."""

    def __init__(self, records: Sequence[Record], title: str, *, simulated: bool = False) -> None:
        self._records = records
        self.title = title
        self.simulated = simulated
        self.files: Sequence[Path] = ()
        self.missing: list[str] = []

    def records(self) -> Iterator[Record]:
        """All of them."""
        return iter(self._records)


class RecordingFile:
    """A recording's journal, piece by piece: a chunk of it is in memory at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: Sequence[Path] = (path,)
        self.missing: list[str] = []
        info = _info(path)
        self.title = called(path) if info is None else info.title[:MOST_TITLE]
        self.simulated = info is not None and info.simulated

    def records(self) -> Iterator[Record]:
        """All records; what the recorder lost is a gap.

        Raises:
            RecordingError: it cannot be read, or holds no record.
        """
        began = any_record = False
        with Recording(self.path) as recording:
            for item in recording.items():
                if isinstance(item, Loss):
                    yield gap_of(item)
                elif isinstance(item, Told) and not (item.opening and began):
                    # What a later part begins with is news only if nothing came before.
                    began = began or not item.opening
                    yield item.record
                else:
                    continue
                any_record = True
            self.missing = [damage.sentence() for damage in recording.damage[:20]]
            if recording.unreadable:
                self.missing.append(
                    f"{count(recording.unreadable, 'message')} could not be understood."
                )
            if not any_record:
                told = self.missing[0] if self.missing else "It is empty."
                raise RecordingError(f"{self.path} holds no record. {told} Give another recording.")


class JsonLines:
    """A file of JSON lines, line by line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: Sequence[Path] = (path,)
        self.title = called(path)[:MOST_TITLE]
        self.simulated = False
        self.missing: list[str] = []

    def records(self) -> Iterator[Record]:
        """All records; lines that are none are left out and counted.

        Raises:
            RecordingError: it cannot be read, or holds no record.
        """
        any_record = False
        try:
            with open_regular(self.path) as file:
                lines = Lines(file)
                for record in lines.records():
                    any_record = True
                    yield record
        except (OSError, ValueError) as error:
            raise unreadable(self.path, error, GIVE) from error
        if not any_record:
            raise RecordingError(f"{self.path} holds no record. {GIVE}")
        self.missing = (
            [f"{count(lines.unreadable, 'line')} could not be read."] if lines.unreadable else []
        )


def open_source(path: Path) -> RecordingFile | JsonLines:
    """The source that a file is.

    Raises:
        RecordingError: it cannot be read.
    """
    return RecordingFile(path) if is_mcap(path) else JsonLines(path)


def nodes_of(files: Sequence[Path]) -> set[str]:
    """The names of the real nodes that recordings tell of, whoever recorded them. Such a name is in
    no record, but in titles; a file that cannot be read names none."""
    found: set[str] = set()
    for path in files:
        with suppress(RecordingError):
            info = _info(path) if is_mcap(path) else None
            if info is not None and not info.simulated:
                found.add(info.host)
    return found


def _info(path: Path) -> SessionInfo | None:
    """What a recording says of its session, which stands at its beginning."""
    with Recording(path) as recording:
        for _message in recording.messages():
            if recording.info is not None:
                break
        return recording.info
