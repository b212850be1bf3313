"""A whole recording at a glance, in a fixed number of bins whatever its length.

The bins are narrow at first; whenever the recording outgrows them, two and two become one.
"""

from array import array

from app.engine.records import Lifecycle, Record
from app.hub.filmwire import Idle, Overview

BINS = 1024
NARROWEST = 50_000_000
"""Nanoseconds of a bin at first."""

IDLE_NS = 10_000_000_000
"""A time without any record is idle from this length on."""
MOST_IDLE = 200
"""Idle stretches that are told; of more, the longest."""


class Bins:
    """Counts records as they come; their times never go back."""

    def __init__(self) -> None:
        self._width = NARROWEST
        self._records = array("q", bytes(8 * BINS))
        self._early = array("q", bytes(8 * BINS))
        self._late = array("q", bytes(8 * BINS))
        self._trouble = array("q", bytes(8 * BINS))
        self._at = 0
        self._now = 0

    def apply(self, record: Record, *, unhealthy: bool, down: bool) -> None:
        """Take one record into account, and how the node was right after it."""
        t = max(0, record.t)
        while t >= self._width * BINS:
            self._double()
        place = t // self._width
        # What was the matter until now was so in all the bins passed over.
        for between in range(self._at, place + 1):
            self._trouble[between] |= self._now
        self._at = place
        self._now = unhealthy | down << 1
        self._trouble[place] |= self._now
        self._records[place] += 1
        if isinstance(record, Lifecycle) and record.type == "ContainerDied":
            if record.is_sandbox or record.baseline or record.delivery == "filtered":
                return
            (self._late if record.source == "global" else self._early)[place] += 1

    def told(self) -> Overview:
        """As of now, up to the last record."""
        end = self._at + 1
        return Overview(
            width=self._width,
            records=tuple(self._records[:end]),
            early=tuple(self._early[:end]),
            late=tuple(self._late[:end]),
            trouble=tuple(self._trouble[:end]),
        )

    def _double(self) -> None:
        half = BINS // 2
        zeros = array("q", bytes(8 * half))
        for counts in (self._records, self._early, self._late):
            counts[:] = array("q", map(int.__add__, counts[::2], counts[1::2])) + zeros
        trouble = self._trouble
        trouble[:] = array("q", map(int.__or__, trouble[::2], trouble[1::2])) + zeros
        self._width *= 2
        self._at //= 2


class IdleStretches:
    """Where no record is, for longer than ``IDLE_NS``; bounded."""

    def __init__(self) -> None:
        self._found: list[Idle] = []

    def apply(self, before: int, t: int, *, gap: bool = False) -> None:
        """A record at ``t`` follows one at ``before``; ``gap``: it tells that some are missing."""
        if t - before < IDLE_NS:
            return
        self._found.append(Idle(before, t, gap))
        if len(self._found) > 2 * MOST_IDLE:
            self._found = list(self.told())

    def told(self) -> tuple[Idle, ...]:
        """The longest ones, in order."""
        longest = sorted(self._found, key=lambda one: one.from_t - one.to_t)[:MOST_IDLE]
        return tuple(sorted(longest, key=lambda one: one.from_t))
