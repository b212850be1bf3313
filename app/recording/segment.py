"""One file being written: its beginning, chunks one after another, and its end.

After each ``append`` the file is what it should be, whatever becomes of the process: a chunk is
written at a place that is known, and one that did not get through whole is taken back, so the next
try begins where it did. Nobody but the user can read the file (mode 0600).
"""

import fcntl
import os
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import zstandard

from app.recording import format as words
from app.recording import mcapwrite as mcap
from app.recording.syncer import Syncer


def new_compressor() -> zstandard.ZstdCompressor:
    """For one thread. Its checksum tells a chunk's damaged CRC from damaged content."""
    return zstandard.ZstdCompressor(level=3, write_checksum=True)


class Packed:
    """A chunk ready to be written: its bytes, and what the index tells of it."""

    __slots__ = ("counts", "data", "end", "length", "packed", "size", "start")

    def __init__(
        self,
        compressor: zstandard.ZstdCompressor,
        records: bytes,
        start: int,
        end: int,
        entries: Mapping[int, bytearray],
    ) -> None:
        packed = compressor.compress(records)
        chunk = mcap.chunk(start, end, len(records), zlib.crc32(records), packed)
        self.data = chunk + mcap.message_indexes(entries)
        self.length = len(chunk)
        self.start = start
        self.end = end
        self.packed = len(packed)
        self.size = len(records)
        self.counts = {number: len(one) // mcap.INDEX_ENTRY.size for number, one in entries.items()}


class Segment:
    """A recording's file, created new; it is locked while it is written.

    Raises:
        OSError: it cannot be created, or exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)
        self.size = 0
        self._crc = 0
        self._index = array("Q")
        self._index_counts = array("I")
        self._counts: Counter[int] = Counter()
        try:
            # Some network disks have no locks; there nobody drops a file that is not old.
            with suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._write(mcap.MAGIC + mcap.header(words.PROFILE, words.LIBRARY))
        except OSError:
            # A file without a beginning helps nobody.
            self.drop()
            raise

    @property
    def chunks(self) -> int:
        """Chunks written."""
        return len(self._index) // 6

    def append(self, chunk: Packed) -> None:
        """Write a chunk; once it returns, the chunk survives this process.

        Raises:
            OSError: it could not be written; the file is as before, and it can be tried again.
        """
        offset = self.size
        self._write(chunk.data)
        self._index.extend((chunk.start, chunk.end, offset, chunk.length, chunk.packed, chunk.size))
        self._index_counts.extend(chunk.counts.get(number, 0) for number in words.TOPICS)
        self._counts.update(chunk.counts)

    def sync(self, syncer: Syncer) -> bool:
        """Have the disk hold what is written, so that it survives the machine; does not wait.

        Returns whether it was begun.

        Raises:
            OSError: it could not be, or an earlier one failed.
        """
        return syncer.sync(self._file)

    def is_there(self) -> bool:
        """Whether the path still leads to this file."""
        try:
            there, ours = self.path.lstat(), os.fstat(self._file)
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

    def finish(self) -> None:
        """Write the end (schemas, channels, index, statistics) and close.

        Raises:
            OSError: the end could not be written. The file is closed and can be read without.
        """
        try:
            self._write(self._end())
        finally:
            self.close()

    def close(self) -> None:
        """Close without writing an end."""
        file, self._file = self._file, -1
        if file >= 0:
            with suppress(OSError):
                os.close(file)

    def drop(self) -> None:
        """Close and remove it."""
        if self.is_there():
            with suppress(OSError):
                self.path.unlink()
        self.close()

    def _write(self, data: bytes) -> None:
        done = 0
        view = memoryview(data)
        try:
            while done < len(data):
                done += os.pwrite(self._file, view[done:], self.size + done)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, self.size)
            raise
        self.size += len(data)
        self._crc = zlib.crc32(data, self._crc)

    def _end(self) -> bytes:
        index = self._index
        rows = [index[at : at + 6] for at in range(0, len(index), 6)]
        start = min((row[0] for row in rows), default=0)
        end = max((row[1] for row in rows), default=0)
        counted = {number: self._counts[number] for number in words.TOPICS}
        groups = (
            (mcap.SCHEMA, words.schema_records()),
            (mcap.CHANNEL, words.channel_records()),
            (
                mcap.STATISTICS,
                mcap.statistics(counted, words.SCHEMAS, len(rows), start, end),
            ),
            (mcap.CHUNK_INDEX, b"".join(self._chunk_indexes(rows))),
        )
        data_end = mcap.data_end(self._crc)
        summary_start = self.size + len(data_end)
        summary, offsets = bytearray(), bytearray()
        for opcode, group in groups:
            if group:
                offsets += mcap.summary_offset(opcode, summary_start + len(summary), len(group))
                summary += group
        head = mcap.footer_head(summary_start, summary_start + len(summary))
        covered = bytes(summary + offsets) + head
        crc = zlib.crc32(covered).to_bytes(4, "little")
        return data_end + covered + crc + mcap.MAGIC

    def _chunk_indexes(self, rows: "list[array[int]]") -> Iterator[bytes]:
        numbers = list(words.TOPICS)
        for place, row in enumerate(rows):
            counts = self._index_counts[place * len(numbers) : (place + 1) * len(numbers)]
            told = {number: count for number, count in zip(numbers, counts, strict=True) if count}
            yield mcap.chunk_index(*row[:4], packed=row[4], size=row[5], counts=told)
