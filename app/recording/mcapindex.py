"""Where a recording's chunks are and what is in each, without reading them: by the index at its
end, or, in a file that was cut short, by going from chunk to chunk.

What a file says of itself need not be so: whoever reads by the index compares. Here it is only made
sure that it is well formed, ours, and bounded.
"""

import fcntl
import os
import struct
import zlib
from array import array
from collections.abc import Collection, Iterator

from app.recording import format as words
from app.recording import mcapwrite as mcap
from app.recording.format import MOST_CHUNK
from app.recording.mcapparse import HEAD, MOST_HEADER, MOST_MESSAGES, header

MOST_SUMMARY = 64 * 1024 * 1024
"""Bytes of the index that are read."""
MOST_CHUNKS = 100_000
"""Chunks of a file that is read by its index: more take too long to look through."""

FOOTER = HEAD.size + 20 + len(mcap.MAGIC)
CHANNELS = 32
"""Channels are numbered below this."""
JOURNAL = (*words.TOLD, words.OPENING, words.LOSSES, words.STATES)
"""Channels that must be what they are in a file of ours: others may be told apart by them."""
_FIXED = struct.Struct("<QQQQI")
_PLACE = struct.Struct("<HQ")
_INDEX = struct.Struct("<BQHI")


class Unfit(Exception):
    """There is no index, or it is not one of plegscope's, or not in order, or will not stay so."""


class Index:
    """What the end of a file says of its chunks, which are counted from 0.

    Args:
        file: its descriptor; stays open as long as this is used.
        size: bytes of the file.
        growing: what is there now is enough, should it still be written.

    Raises:
        Unfit: see there.
        OSError: it cannot be read.
    """

    def __init__(self, file: int, size: int, *, growing: bool = False) -> None:
        self._file = file
        self.offsets = array("Q")
        """Where each chunk begins (bytes)."""
        self.starts = array("Q")
        self.ends = array("Q")
        """Log times (ns) between which its messages are."""
        self.sizes = array("I")
        """Bytes that it unpacks to."""
        self._behind = array("Q")
        self._counts = array("H")
        tail = os.pread(file, len(mcap.MAGIC), max(0, size - len(mcap.MAGIC)))
        if tail == mcap.MAGIC:
            self._read(size)
        else:
            self._walk(size, growing=growing)

    def __len__(self) -> int:
        return len(self.offsets)

    def count(self, chunk: int, channels: Collection[int]) -> int:
        """Messages of these channels in a chunk."""
        counts = self._counts
        return sum(counts[chunk * CHANNELS + number] for number in channels)

    def first(self, chunk: int, channels: Collection[int]) -> tuple[int, int]:
        """Of the first message of these channels in a chunk: where it begins in the unpacked
        chunk, and log time (ns). There must be one. Raises OSError and Unfit."""
        return min(self._entries(chunk, channels, last=False))

    def last(self, chunk: int, channels: Collection[int]) -> tuple[int, int]:
        """The same of the last one."""
        return max(self._entries(chunk, channels, last=True))

    def places(self, chunk: int, channels: Collection[int]) -> list[int]:
        """Where the messages of these channels begin in the unpacked chunk, in order. Raises
        OSError."""
        found: list[int] = []
        at = self._behind[chunk]
        for number in range(CHANNELS):
            count = self._counts[chunk * CHANNELS + number]
            if not count:
                continue
            at += mcap.INDEX_HEAD
            size = mcap.INDEX_ENTRY.size * count
            if number in channels:
                raw = os.pread(self._file, size, at)
                if len(raw) == size:
                    found += struct.unpack(f"<{2 * count}Q", raw)[1::2]
            at += size
        found.sort()
        return found

    def _entries(
        self, chunk: int, channels: Collection[int], *, last: bool
    ) -> Iterator[tuple[int, int]]:
        at = self._behind[chunk]
        for number in range(CHANNELS):
            count = self._counts[chunk * CHANNELS + number]
            if not count:
                continue
            if number in channels:
                skipped = mcap.INDEX_ENTRY.size * (count - 1) if last else 0
                raw = os.pread(self._file, mcap.INDEX_ENTRY.size, at + mcap.INDEX_HEAD + skipped)
                if len(raw) < mcap.INDEX_ENTRY.size:
                    raise Unfit
                log_time, place = mcap.INDEX_ENTRY.unpack(raw)
                yield place, log_time
            at += mcap.INDEX_HEAD + mcap.INDEX_ENTRY.size * count

    def _read(self, size: int) -> None:
        tail = os.pread(self._file, FOOTER, max(0, size - FOOTER))
        if len(tail) < FOOTER or tail[-len(mcap.MAGIC) :] != mcap.MAGIC:
            raise Unfit
        opcode, length, start, _offsets, crc = struct.unpack_from("<BQQQI", tail)
        end = size - FOOTER
        if (opcode, length) != (mcap.FOOTER, 20) or not 0 < start <= end or not crc:
            raise Unfit
        if end - start > MOST_SUMMARY:
            raise Unfit
        summary = os.pread(self._file, end - start, start)
        if zlib.crc32(tail[: -len(mcap.MAGIC) - 4], zlib.crc32(summary)) != crc:
            raise Unfit
        channels: dict[int, str] = {}
        try:
            self._records(summary, start, channels)
        except (struct.error, IndexError, OverflowError):
            raise Unfit from None
        ours = all(channels.get(number) == words.TOPICS[number] for number in JOURNAL)
        if not ours or len(set(channels.values())) < len(channels) or not len(self):
            raise Unfit

    def _records(self, summary: bytes, start: int, channels: dict[int, str]) -> None:
        at, ended = 0, len(mcap.MAGIC)
        while at < len(summary):
            opcode, length = HEAD.unpack_from(summary, at)
            begin = at + HEAD.size
            at = begin + length
            if at > len(summary):
                raise Unfit
            if opcode == mcap.CHUNK_INDEX:
                ended = self._chunk(summary[begin:at], ended, start)
            elif opcode == mcap.CHANNEL and len(channels) < CHANNELS:
                number, _schema, told = struct.unpack_from("<HHI", summary, begin)
                topic = summary[begin + 8 : min(at, begin + 8 + told)]
                channels[number] = topic.decode(errors="replace")

    def _chunk(self, content: bytes, ended: int, data_end: int) -> int:
        """Take a chunk's index in; returns where the chunk with its indexes ends."""
        start, end, offset, length, told = _FIXED.unpack_from(content)
        behind = offset + length
        places = [
            _PLACE.unpack_from(content, _FIXED.size + at) for at in range(0, told, _PLACE.size)
        ]
        indexes = int.from_bytes(content[_FIXED.size + told :][:8], "little")
        size = int.from_bytes(content[-8:], "little")
        after = behind + indexes
        if not (ended <= offset < behind <= after <= data_end and start <= end):
            raise Unfit
        if size > MOST_CHUNK or len(self) == MOST_CHUNKS:
            raise Unfit
        counts = [0] * CHANNELS
        ends = [place for _number, place in places[1:]] + [after]
        at, total, last = behind, 0, 0
        for (number, place), following in zip(places, ends, strict=True):
            count, rest = divmod(following - place - mcap.INDEX_HEAD, mcap.INDEX_ENTRY.size)
            total += count
            if place != at or number <= last or count <= 0 or rest or total > MOST_MESSAGES:
                raise Unfit
            counts[number] = count
            at, last = following, number
        if at != after:
            raise Unfit
        self._add((offset, start, end, size), behind, counts)
        return int(after)

    def _add(self, chunk: tuple[int, int, int, int], behind: int, counts: list[int]) -> None:
        offset, start, end, size = chunk
        self.offsets.append(offset)
        self.starts.append(start)
        self.ends.append(end)
        self.sizes.append(size)
        self._behind.append(behind)
        self._counts.extend(counts)

    # Without an index at the end

    def _walk(self, size: int, *, growing: bool) -> None:
        """Go from chunk to chunk, up to where the file ends or is not as it should be."""
        if not growing and is_written(self._file):
            # There will soon be more than is found now.
            raise Unfit
        start = os.pread(self._file, len(mcap.MAGIC) + HEAD.size, 0)
        if len(start) < len(mcap.MAGIC) + HEAD.size or start[: len(mcap.MAGIC)] != mcap.MAGIC:
            raise Unfit
        opcode, length = HEAD.unpack_from(start, len(mcap.MAGIC))
        if opcode != mcap.HEADER or not 8 <= length <= MOST_HEADER:
            raise Unfit
        told = os.pread(self._file, length, len(start))
        if header(told)[0] != words.PROFILE:
            raise Unfit
        at = len(start) + length
        while (after := self._chunk_at(at, size)) is not None:
            at = after
        if not len(self):
            raise Unfit

    def _chunk_at(self, at: int, size: int) -> int | None:
        """Take a chunk in; returns where it ends with its indexes, None if there is none."""
        head = os.pread(self._file, HEAD.size + mcap.CHUNK_HEAD.size, at)
        if len(head) < HEAD.size + mcap.CHUNK_HEAD.size or head[0] != mcap.CHUNK:
            return None
        length = HEAD.unpack_from(head)[1]
        start, end, plain = mcap.CHUNK_HEAD.unpack_from(head, HEAD.size)[:3]
        behind = at + HEAD.size + length
        if behind > size or start > end or plain > MOST_CHUNK:
            return None
        if len(self) == MOST_CHUNKS:
            raise Unfit
        counts = [0] * CHANNELS
        after, last = behind, 0
        while len(found := os.pread(self._file, mcap.INDEX_HEAD, after)) == mcap.INDEX_HEAD:
            opcode, told, number, entries = _INDEX.unpack(found)
            count, rest = divmod(entries, mcap.INDEX_ENTRY.size)
            if opcode != mcap.MESSAGE_INDEX:
                break
            after += HEAD.size + told
            ordered = last < number < CHANNELS and told == entries + 6
            if not ordered or rest or not 0 < count <= MOST_MESSAGES or after > size:
                return None
            counts[number], last = count, number
        if not last:
            return None
        self._add((at, start, end, plain), behind, counts)
        return int(after)


def is_written(file: int) -> bool:
    """Whether somebody is writing this recording (its descriptor): a writer holds a lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # Some network disks have no locks.
        return False
    fcntl.flock(file, fcntl.LOCK_UN)
    return False
