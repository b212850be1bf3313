"""Pieces of a recording in a private file, each found at once; memory grows by some bytes a piece.

The file has no name and is gone with the process. Pieces are written by one thread, and read by
any.
"""

import os
import tempfile
import weakref
from array import array
from bisect import bisect_right
from typing import Final

from app.errors import RecordingError

MOST_BYTES: Final = 2 * 1024**3
"""Bytes of the file; a recording that needs more is played up to there."""

FREE_SHARE: Final = 0.02
"""Share of the disk that is left free."""


class Full(Exception):
    """There is no room for more, for the reason in a clause."""


class Spool:
    """Keeps pieces. Raises :class:`RecordingError` where no private file can be made."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        try:
            with tempfile.TemporaryFile(prefix="plegscope-") as file:
                self._file = os.dup(file.fileno())
        except OSError as error:
            raise RecordingError(
                f"There is no room to lay out a recording ({error.strerror}). Make room in "
                f"{tempfile.gettempdir()}, or set TMPDIR to another directory."
            ) from error
        # Whoever still reads keeps the spool, and so the file.
        weakref.finalize(self, os.close, self._file)
        self._size = 0
        self._at = array("Q")
        self._firsts = array("q")
        self._times = array("q")

    def __len__(self) -> int:
        return len(self._firsts)

    def put(self, data: bytes, first: int, t: int) -> None:
        """Keep a piece: its bytes, number and time of its first record.

        Raises:
            Full: there is no room.
        """
        if self._size + len(data) > self._most:
            raise Full(f"more than {self._most // 2**20:,} MiB would be needed to lay it out")
        number = self._file
        try:
            disk = os.fstatvfs(number)
            if disk.f_blocks and disk.f_bavail / disk.f_blocks < FREE_SHARE:
                raise Full(f"{tempfile.gettempdir()} has too little room")
            done = 0
            while done < len(data):
                done += os.pwrite(number, data[done:], self._size + done)
        except OSError as error:
            raise Full(f"{tempfile.gettempdir()} has no room: {error.strerror}") from error
        self._size += len(data)
        self._at.append(self._size)
        self._times.append(t)
        self._firsts.append(first)

    def get(self, number: int) -> bytes:
        """The bytes of a piece, counted from 0.

        Raises:
            IndexError: there is none of this number.
        """
        if not 0 <= number < len(self):
            raise IndexError(number)
        start = self._at[number - 1] if number else 0
        return os.pread(self._file, self._at[number] - start, start)

    def span(self, number: int) -> tuple[int, int]:
        """Number and time of a piece's first record."""
        return self._firsts[number], self._times[number]

    def holding(self, seq: int) -> int:
        """The piece that holds record ``seq``; the nearest for one that is nowhere."""
        return max(0, bisect_right(self._firsts, seq) - 1)
