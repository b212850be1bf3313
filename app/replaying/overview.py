"""A whole recording at a glance, in a fixed number of bins whatever its length.

The bins are narrow at first; whenever the recording outgrows them, two and two become one.
"""

from array import array
from collections.abc import Sequence

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
    """Counts records as they come; their times never go back.

    Args:
        ahead: what an index says of records to come: how many, from when and to when (ns), one
            after another; they are told, evenly spread, until they are counted.
    """

    def __init__(self, ahead: Sequence[int] = ()) -> None:
        self._width = NARROWEST
        self._records = array("q", bytes(8 * BINS))
        self._early = array("q", bytes(8 * BINS))
        self._late = array("q", bytes(8 * BINS))
        self._trouble = array("q", bytes(8 * BINS))
        self._at = 0
        self._now = 0
        end = max(ahead[2::3], default=0)
        while end >= self._width * BINS:
            self._width *= 2
        self._ahead = self._spread(ahead)

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

    def told(self, *, whole: bool = True) -> Overview:
        """As of now, up to the last record; until it is ``whole`` with those to come."""
        read = self._at + 1
        records = list(self._records[:read])
        if not whole and self._ahead:
            read = self._at
            records[read] = max(records[read], self._ahead[read])
            records += self._ahead[read + 1 :]
        end = len(records)
        return Overview(
            width=self._width,
            records=tuple(records),
            early=tuple(self._early[:end]),
            late=tuple(self._late[:end]),
            trouble=tuple(self._trouble[:end]),
            read=read,
        )

    def _spread(self, ahead: Sequence[int]) -> "array[int]":
        """The records to come by bins, up to the last of them."""
        # How much more there is in a bin than in the one before: a chunk may be in all of them.
        more = [0.0] * (BINS + 1)
        length = 0
        for count, start, end in zip(ahead[::3], ahead[1::3], ahead[2::3], strict=True):
            first, after = max(0, start) // self._width, max(0, end) // self._width + 1
            more[first] += count / (after - first)
            more[after] -= count / (after - first)
            length = max(length, after)
        spread = array("q")
        here = total = 0.0
        told = 0
        for one in more[:length]:
            here += one
            total += here
            spread.append(max(0, round(total) - told))
            told = max(told, round(total))
        return spread

    def _double(self) -> None:
        half = BINS // 2
        zeros = array("q", bytes(8 * half))
        for counts in (self._records, self._early, self._late):
            counts[:] = array("q", map(int.__add__, counts[::2], counts[1::2])) + zeros
        trouble = self._trouble
        trouble[:] = array("q", map(int.__or__, trouble[::2], trouble[1::2])) + zeros
        self._width *= 2
        self._at //= 2
        # It is not as was said.
        self._ahead = array("q")


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
