"""Counts of a recording, laid aside in a private file: memory does not grow with the recording."""

from app.errors import RecordingError
from app.journal.levels import NoRoom
from app.replaying.spool import Full, Spool

MOST_BYTES = 512 * 1024**2
"""Bytes of the file: some ten are needed for a record."""


class SpoolShelf:
    """Keeps blocks of counts. The file is made when the first one comes."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._spool: Spool | None = None

    def put(self, block: bytes) -> int:
        """Keep it; its number.

        Raises:
            NoRoom: there is none.
        """
        try:
            if self._spool is None:
                self._spool = Spool(self._most)
            self._spool.put(block, 0, 0)
        except (Full, RecordingError) as error:
            raise NoRoom from error
        return len(self._spool) - 1

    def get(self, number: int) -> bytes:
        """The block of this number.

        Raises:
            IndexError: there is none.
        """
        if self._spool is None:
            raise IndexError(number)
        return self._spool.get(number)
