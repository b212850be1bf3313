"""Journals as JSON lines, and what a recorder lost as a journal tells it: read in one place by
everybody who shows, plays or exports them.
"""

from collections.abc import Callable, Iterator
from typing import BinaryIO

from app.engine.records import AnyRecord, Gap, Record
from app.recording.checked import UNFIT, Checked
from app.recording.format import Loss

MOST_LINE = 1024 * 1024
"""Bytes of a line; a longer one is no record of ours."""

SUMMARY = b'{"kind":"summary"'
"""How ``simulate`` begins its last line, which is no record."""


class Lines:
    """Reads a file of JSON lines once. ``unreadable``: lines that are no records so far; ``line``:
    the number of the first of them, from 1 (0: none)."""

    def __init__(self, file: BinaryIO, stopped: Callable[[], bool] = lambda: False) -> None:
        self._file = file
        self._stopped = stopped
        self.unreadable = 0
        self.line = 0

    def records(self) -> Iterator[Record]:
        """The records in order; what is none is left out and counted. Raises OSError."""
        decoder = Checked[Record](AnyRecord)
        number = 0
        while not self._stopped() and (line := self._file.readline(MOST_LINE)):
            number += 1
            if not line.strip() or line.startswith(SUMMARY):
                continue
            try:
                record = decoder.decode(line)
            except UNFIT:
                self.unreadable += 1
                self.line = self.line or number
                continue
            yield record


def gap_of(loss: Loss) -> Gap:
    """What the recorder could not keep, as the journal's own word for it."""
    return Gap(
        t=loss.t,
        wall=loss.wall,
        hop="journal",
        count=loss.records,
        from_t=loss.from_t,
        reason=f"The recorder could not keep them: {loss.reason}.",
    )
