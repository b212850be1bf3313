"""Reads MCAP whatever became of the file, and whoever made it, with bounded memory and time.

The stock readers want a footer, trust lengths, and stop at the first thing that is wrong. Here
every length is checked against what is left of the file, against a limit, and against a budget that
grows with the file only: nothing small can unpack to something endless. What is damaged is named
with its place, and reading goes on at the next chunk that proves itself by its checksum. A chunk
whose head is damaged but whose content is not is read: its fields say most things twice.

Messages outside of chunks, attachments and indexes are passed over; plegscope writes none that it
would need.
"""

import struct
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import BinaryIO, NamedTuple

import msgspec
import zstandard

from app.recording import mcapwrite as mcap
from app.recording.format import MOST_CHUNK
from app.recording.mcapparse import (
    HEAD,
    MOST_HEADER,
    Message,
    entries,
    frame_size,
    has_checksum,
    header,
    parse,
    picked,
)

WINDOW = 1024 * 1024
"""Bytes read at once where a place is looked for."""

MOST_NOTED = 100
"""Damages told one by one; all are counted."""

PACKS_AT_MOST = 100
"""A file unpacks to this many times its size at most. Recordings do to 10 or 30 times."""
ALLOWANCE = 64 * 1024 * 1024
"""Bytes that may be unpacked, or read again, however small the file is."""

MOST_PASSED = 20_000
"""Records outside of chunks that are passed over; a recording has a few."""

SEARCHED = 4 * 1024 * 1024
"""Bytes looked through for the first chunk of what does not begin as MCAP."""

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MARK = struct.pack("<I", 4) + b"zstd"
"""Stands in the head of each chunk, ``MARK_AT`` bytes after the chunk's first one."""
MARK_AT = HEAD.size + 28
CONTENT_AT = HEAD.size + mcap.CHUNK_HEAD.size
MAX_WINDOW = 8 * 1024 * 1024
"""Memory that zstd may ask for to look back; its level 3 takes 2 MiB."""

BEGIN = len(mcap.MAGIC) + HEAD.size
"""Bytes up to the content of the file's header."""
END = HEAD.size + 4
"""Bytes of the mark at the data's end."""
FOOTER = HEAD.size + 20 + len(mcap.MAGIC)
"""Bytes of the file's end, from the footer on."""
CANDIDATE = 4096
"""What looking at a place where a chunk might begin takes from the budget."""
TOO_MUCH = "the file unpacks to more than a recording would, and is read no further"
CUT_END = "the file's end is cut off"


class Damage(msgspec.Struct, frozen=True):
    """Something is wrong at ``offset`` (bytes), for ``length`` bytes.

    ``chunk``: number of the chunk, from 1, that it is in or before; ``lost``: whether messages are
    missing for it.
    """

    offset: int
    length: int
    chunk: int
    what: str
    lost: bool

    def sentence(self) -> str:
        """For people: what is wrong, where, and whether something is missing for it."""
        place = f"At byte {self.offset:,}, chunk {self.chunk:,} ({self.length:,} bytes)"
        return f"{place}: {self.what}.{'' if self.lost else ' Nothing is missing for it.'}"


class NotMcap(ValueError):
    """What was given does not begin as MCAP, and no chunk is in it either."""


class Block(NamedTuple):
    """A chunk, or what could be read of it: ``channels`` that it tells of, by number, and messages.

    ``number`` counts from 1.
    """

    number: int
    offset: int
    channels: dict[int, str]
    messages: list[Message]


class _Bad(Exception):
    """A chunk's content is not what it should be; the text says in which way."""


class _Chunk(NamedTuple):
    """A chunk that proved itself."""

    records: bytes
    next: int
    start: int
    end: int
    flaw: str
    """What is wrong with its head; empty if nothing is."""


class McapReader:
    """One pass over a file. ``damage`` and the rest are complete once ``blocks`` is exhausted.

    ``file`` must be seekable; ``size`` is where it ends for us, should it still grow.
    """

    def __init__(
        self, file: BinaryIO, size: int, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self._file = file
        self._size = size
        self._stopped = stopped
        self._budget = PACKS_AT_MOST * size + ALLOWANCE
        self._unpack = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
        self._number = 0
        self.profile = ""
        self.library = ""
        self.finished = False
        """Whether the file has its end, and so its writer was not cut short."""
        self.damage: list[Damage] = []
        self.damaged = 0
        """Number of damages, also of those that are not told one by one."""
        self.lost = False
        """Whether something that had been written is missing."""

    def blocks(self) -> Iterator[Block]:
        """The chunks in order.

        Raises:
            NotMcap: there is none, and the file does not begin as MCAP.
            OSError: it cannot be read.
        """
        at: int | None = self._begin()
        footer = self._footer()
        told_end = footer[0] - END if footer else -1
        passed = 0
        while at is not None and at < self._size and not self._stopped():
            head = self._read(at, HEAD.size)
            opcode, length = HEAD.unpack(head) if len(head) == HEAD.size else (0, 0)
            after = at + HEAD.size + length
            if opcode == mcap.CHUNK or self._has_mark(at):
                chunk = self._chunk_at(at, opcode, length)
                if chunk is None:
                    at = self._lost_at(at)
                else:
                    yield self._block(at, chunk)
                    at = self._behind(chunk)
            elif opcode == mcap.DATA_END:
                if length == END - HEAD.size and self._ends_at(at):
                    return
                at = self._lost_at(at)
            elif at != told_end and mcap.HEADER <= opcode < mcap.DATA_END and after <= self._size:
                passed += 1
                if passed > MOST_PASSED:
                    self._note(at, self._size - at, "too much that is no recording's", lost=True)
                    return
                at = after
            else:
                at = self._lost_at(at)

    def block_at(self, offset: int, wanted: Collection[int], places: Sequence[int]) -> Block | None:
        """The one chunk that begins here, with the messages of the channels ``wanted``, which begin
        at ``places`` in it; None if it is not in order. Raises OSError."""
        self._budget = ALLOWANCE
        head = self._read(offset, HEAD.size)
        if len(head) < HEAD.size or head[0] != mcap.CHUNK:
            return None
        chunk = self._chunk_at(offset, *HEAD.unpack(head))
        messages: list[Message] = []
        if chunk is None or chunk.flaw or not picked(chunk.records, places, messages, wanted):
            return None
        return Block(0, offset, {}, messages)

    # The beginning and the end

    def _begin(self) -> int | None:
        start = self._read(0, BEGIN)
        opcode, length = HEAD.unpack(start[len(mcap.MAGIC) :]) if len(start) == BEGIN else (0, 0)
        well = start[: len(mcap.MAGIC)] == mcap.MAGIC
        fits = opcode == mcap.HEADER and length <= MOST_HEADER and BEGIN + length <= self._size
        if fits:
            self.profile, self.library, told = header(self._read(BEGIN, length))
            if well and told == length:
                return BEGIN + int(length)
        first = self._next_chunk(0, min(self._size, SEARCHED))
        if first is None:
            if not well:
                raise NotMcap
            self._note(0, self._size, "the file ends within its header", lost=True)
            return None
        what = "the file's header is damaged"
        self._note(0, first, what if well else "the mark that MCAP begins with is damaged")
        return first

    def _ends_at(self, at: int) -> bool:
        """Whether the data really ends here; looks at what comes behind."""
        summary = at + END
        footer_at = self._size - FOOTER
        if footer_at < summary:
            if self._next_chunk(at, self._size) is not None:
                return False
            self._note(at, self._size - at, CUT_END)
            return True
        footer = self._footer()
        if footer is None and self._next_chunk(at, self._size) is not None:
            # A chunk comes later: this is no end, it only looks like one.
            return False
        self.finished = True
        if footer is None or footer[0] not in (0, summary):
            self._note(summary, self._size - summary, "the file's end is damaged")
        elif footer[1] and self._crc_of(summary, self._size - len(mcap.MAGIC) - 4) != footer[1]:
            self._note(summary, footer_at - summary, "the summary at the file's end is damaged")
        told = int.from_bytes(self._read(at + HEAD.size, 4), "little")
        if told and not self.damaged and self._crc_of(0, at) != told:
            what = "bytes outside of the chunks' content are not as they were written"
            self._note(0, at, what)
        return True

    def _footer(self) -> tuple[int, int] | None:
        """Where the summary begins, and its CRC; None if the file ends otherwise."""
        tail = self._read(self._size - FOOTER, FOOTER)
        if len(tail) < FOOTER or tail[-len(mcap.MAGIC) :] != mcap.MAGIC:
            return None
        opcode, length, summary, _offsets, crc = struct.unpack_from("<BQQQI", tail)
        return (int(summary), int(crc)) if (opcode, length) == (mcap.FOOTER, 20) else None

    def _crc_of(self, start: int, end: int) -> int:
        crc = 0
        for at in range(start, end, WINDOW):
            crc = zlib.crc32(self._read(at, min(WINDOW, end - at)), crc)
        return crc

    # Chunks

    def _has_mark(self, at: int) -> bool:
        return self._read(at + MARK_AT, len(MARK)) == MARK

    def _chunk_at(self, at: int, opcode: int, length: int) -> _Chunk | None:
        """The chunk at this place if its content can be proved, whatever its head says."""
        head = self._read(at + HEAD.size, mcap.CHUNK_HEAD.size)
        if len(head) < mcap.CHUNK_HEAD.size:
            return None
        inner = mcap.CHUNK_HEAD.unpack(head)[-1]
        # A length of -1 is not known.
        outer = inner if length < 0 else length - mcap.CHUNK_HEAD.size
        sizes = dict.fromkeys((outer, inner))
        for size in sizes:
            if 0 < size <= MOST_CHUNK and at + CONTENT_AT + size <= self._size:
                chunk = self._prove(at, head, size)
                if chunk is None:
                    continue
                flaws = [chunk.flaw] if chunk.flaw else []
                if opcode != mcap.CHUNK or len(sizes) > 1 or head[28 : 28 + len(MARK)] != MARK:
                    flaws.append("its kind or length is damaged")
                return chunk._replace(flaw=", ".join(flaws))
        return None

    def _prove(self, at: int, head: bytes, size: int) -> _Chunk | None:
        start, end, plain_size, crc, _four, _name, _size = mcap.CHUNK_HEAD.unpack(head)
        # A look before the whole is read: marks of chunks that are none may stand side by side.
        if self._read(at + CONTENT_AT, len(ZSTD_MAGIC)) != ZSTD_MAGIC or not self._afford(size):
            return None
        packed = self._read(at + CONTENT_AT, size)
        try:
            if frame_size(packed) != size:
                # More, or less, than the chunk's own: the length is not true.
                return None
            records = self._unpacked(packed)
        except (_Bad, zstandard.ZstdError):
            return None
        flaw = ""
        if zlib.crc32(records) != crc:
            if not has_checksum(packed):
                return None
            # zstd's own checksum, which was verified, says that the content is well.
            flaw = "its checksum is damaged"
        elif len(records) != plain_size:
            flaw = "its size is damaged"
        return _Chunk(records, at + CONTENT_AT + size, start, end, flaw)

    def _unpacked(self, packed: bytes) -> bytes:
        told = zstandard.frame_content_size(packed)
        if told > MOST_CHUNK:
            raise _Bad("it would unpack to too much")
        # Read in steps, as what the frame says of its size need not be true.
        with self._unpack.stream_reader(packed, read_across_frames=False) as stream:
            # One byte more than it may have shows that there is more.
            records = stream.read((told if told >= 0 else MOST_CHUNK) + 1)
        if len(records) > MOST_CHUNK or (told >= 0 and told != len(records)):
            raise _Bad("it unpacks to more than it says")
        if not self._afford(len(records)):
            raise _Bad("the file unpacks to more than a recording would")
        return records

    def _block(self, at: int, chunk: _Chunk) -> Block:
        self._number += 1
        channels: dict[int, str] = {}
        messages: list[Message] = []
        problem = parse(chunk.records, channels, messages)
        if problem:
            self._note(at, chunk.next - at, problem, lost=True)
        times = [message.log_time for message in messages]
        flaw = chunk.flaw
        if not problem and times and (min(times), max(times)) != (chunk.start, chunk.end):
            flaw = ", ".join(filter(None, (flaw, "its times are damaged")))
        if flaw:
            self._note(at, CONTENT_AT, f"the chunk's head: {flaw}; its content is well")
        return Block(self._number, at, channels, messages)

    def _behind(self, chunk: _Chunk) -> int:
        """Where the next record begins: behind the chunk's indexes, which follow from it."""
        at = chunk.next
        right = mcap.message_indexes(entries(chunk.records))
        found = self._read(at, len(right))
        after = at + len(right)
        if found == right:
            return after
        if not found or (found[0] == mcap.CHUNK and self._chunk_at(at, mcap.CHUNK, -1)):
            return at
        if at + len(found) == self._size and found[0] == mcap.MESSAGE_INDEX:
            self._note(at, len(found), "the file ends within a chunk's index")
            return self._size
        if self._begins(after):
            self._note(at, len(right), "a chunk's index is damaged")
            return after
        return at

    def _begins(self, at: int) -> bool:
        """Whether a chunk begins here, or the file or its data ends."""
        opcode = self._read(at, 1)
        return not opcode or opcode[0] in (mcap.CHUNK, mcap.DATA_END) or self._has_mark(at)

    # What is damaged

    def _lost_at(self, at: int) -> int | None:
        """Name what cannot be read here; returns where reading goes on, if anywhere."""
        following = self._next_chunk(at + 1, self._size)
        if self._budget < 0:
            self._note(at, self._size - at, TOO_MUCH, lost=True)
            return None
        if following is not None:
            self._note(at, following - at, "a chunk is damaged and could not be read", lost=True)
            return following
        footer = self._footer()
        if footer is not None and footer[0] == at + END:
            self.finished = True
            self._note(at, END, "the mark at the end of the data is damaged")
        elif footer is not None and at < footer[0] < self._size:
            self.finished = True
            what = "the last chunk is damaged and could not be read"
            self._note(at, footer[0] - END - at, what, lost=True)
        elif self._size - at <= END and self._read(at, 1) == bytes([mcap.DATA_END]):
            self._note(at, self._size - at, CUT_END)
        else:
            what = "the file ends within a chunk; what was in it is lost"
            self._note(at, self._size - at, what, lost=True)
        return None

    def _next_chunk(self, start: int, end: int) -> int | None:
        """Where the next chunk begins that proves itself, from ``start`` and before ``end``."""
        at = start
        while at < end and self._budget >= 0 and not self._stopped():
            window = self._read(at + MARK_AT, WINDOW)
            if len(window) < len(MARK):
                return None
            found = window.find(MARK)
            while found >= 0:
                place = at + found
                if place >= end:
                    return None
                if not self._afford(CANDIDATE) or self._stopped():
                    return None
                if self._chunk_at(place, mcap.CHUNK, -1) is not None:
                    return place
                found = window.find(MARK, found + 1)
            # A mark may lie across two windows.
            step = max(1, len(window) - len(MARK) + 1)
            if not self._afford(step // 8):
                return None
            at += step
        return None

    def _afford(self, size: int) -> bool:
        self._budget -= size
        return self._budget >= 0

    def _note(self, offset: int, length: int, what: str, *, lost: bool = False) -> None:
        self.damaged += 1
        self.lost = self.lost or lost
        if len(self.damage) < MOST_NOTED:
            self.damage.append(Damage(offset, length, self._number + 1, what, lost))

    def _read(self, at: int, length: int) -> bytes:
        self._file.seek(max(0, at))
        return self._file.read(max(0, min(length, self._size - at)))
