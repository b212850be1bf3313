"""The files of one session, one after another, as one recording: played by their indexes at once.

The recorder cuts a long session into files; each begins with what is needed to read it alone, which
is what stands in the midst of a file now and then as well. So files that follow one another without
a hole are read as one file would be, and need not be laid out from the first one's beginning.
"""

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import accumulate, pairwise

from app.engine.records import Record
from app.recording.mcapindex import MOST_CHUNKS, Index
from app.recording.mcapparse import Message
from app.recording.reading import JOURNAL, Item, Recording
from app.replaying.joined import Opened
from app.replaying.sources import Source

MOST_FILES = 64
"""Files that are kept open for it."""


class SplicedIndex(Index):
    """The indexes of several files; their chunks are counted on from file to file."""

    def __init__(self, parts: Sequence[Index]) -> None:
        self._parts = tuple(parts)
        self._firsts = [0, *accumulate(map(len, parts))][:-1]
        self.offsets = array("Q")
        self.starts = array("Q")
        self.ends = array("Q")
        self.sizes = array("I")
        for part in parts:
            self.offsets.extend(part.offsets)
            self.starts.extend(part.starts)
            self.ends.extend(part.ends)
            self.sizes.extend(part.sizes)

    def place(self, chunk: int) -> tuple[int, int]:
        """Which file a chunk is in, and which of its own."""
        file = bisect_right(self._firsts, chunk) - 1
        return file, chunk - self._firsts[file]

    def count(self, chunk: int, channels: Collection[int]) -> int:
        """As :meth:`Index.count`."""
        file, own = self.place(chunk)
        return self._parts[file].count(own, channels)

    def first(self, chunk: int, channels: Collection[int]) -> tuple[int, int]:
        """As :meth:`Index.first`."""
        file, own = self.place(chunk)
        return self._parts[file].first(own, channels)

    def last(self, chunk: int, channels: Collection[int]) -> tuple[int, int]:
        """As :meth:`Index.last`."""
        file, own = self.place(chunk)
        return self._parts[file].last(own, channels)

    def places(self, chunk: int, channels: Collection[int]) -> list[int]:
        """As :meth:`Index.places`."""
        file, own = self.place(chunk)
        return self._parts[file].places(own, channels)


class SplicedRecording(Recording):
    """Several files read by their indexes, as one.

    Raises:
        RecordingError: one cannot be opened.
    """

    def __init__(self, files: Sequence[Recording]) -> None:
        # Of what a recording can be asked only what is below is asked of this one.
        self.path = files[0].path
        self.files = tuple(files)
        self._indexes: tuple[Index, ...] | None = None
        self._spliced = self._splice()

    def close(self) -> None:
        """Be done with them."""
        for one in self.files:
            one.close()

    def index(self) -> SplicedIndex | None:
        """Where the chunks of all are; None if one has no index of use, or there are too many."""
        return self._spliced

    def messages_at(
        self, index: Index, chunk: int, channels: Collection[int] = JOURNAL
    ) -> list[Message] | None:
        """As :meth:`Recording.messages_at`."""
        assert isinstance(index, SplicedIndex)
        assert self._indexes is not None
        file, own = index.place(chunk)
        return self.files[file].messages_at(self._indexes[file], own, channels)

    def decoded(self, message: Message) -> Item | None:
        """As :meth:`Recording.decoded`."""
        return self.files[0].decoded(message)

    def records_of(self, messages: Iterable[Message]) -> list[Record] | None:
        """As :meth:`Recording.records_of`."""
        return self.files[0].records_of(messages)

    def _splice(self) -> SplicedIndex | None:
        found: list[Index] = []
        chunks = 0
        for one in self.files:
            index = one.index()
            chunks += 0 if index is None else len(index)
            if index is None or chunks > MOST_CHUNKS:
                return None
            found.append(index)
        self._indexes = tuple(found)
        return SplicedIndex(found)


class SplicedSource(Source):
    """Several files as one source. ``recording``: the same, opened."""

    def __init__(self, sources: Sequence[Source], recording: SplicedRecording) -> None:
        first = sources[0]
        self.path = first.path
        self.name = f"{first.name} and {len(sources) - 1} more of its session"
        self.is_mcap = True
        self.info = first.info
        self.size = sum(one.size for one in sources)
        self.digest = first.digest
        self.unreadable = self.line = 0
        self.warnings: list[str] = []
        self._sources = tuple(sources)
        self._recording = recording

    def recording(self) -> Recording:
        """All of them, to be read by their indexes."""
        return self._recording

    def _all(self) -> Iterator[tuple[Record, bool]]:
        for one in self._sources:
            yield from one.records()
            self.warnings += one.warnings


def spliced(files: list[Opened]) -> list[Opened]:
    """The files of a node; those of one session that can be read as one are one.

    Raises:
        RecordingError: one cannot be read.
    """
    if not _follow(files):
        return files
    with ExitStack() as opened:
        recordings = [opened.enter_context(Recording(one.source.path)) for one in files]
        joined = SplicedRecording(recordings)
        if joined.index() is None:
            return files
        # They stay open, and are closed with what is played.
        opened.pop_all()
    return [files[0].of(SplicedSource([one.source for one in files], joined))]


def _follow(files: Sequence[Opened]) -> bool:
    """Whether they are one session's, in order and without a hole."""
    return (
        1 < len(files) <= MOST_FILES
        and all(one.source.is_mcap and one.source.info is not None for one in files)
        and all(
            (one.session, one.origin, one.part + 1) == (two.session, two.origin, two.part)
            for one, two in pairwise(files)
        )
    )
