"""The journal: records in order, numbered, bounded."""

from collections import deque
from collections.abc import Callable
from itertools import islice

import msgspec

from app.engine.records import Record
from app.journal.weight import weight

DEFAULT_CAPACITY = 65_536
DEFAULT_MAX_WEIGHT = 64 * 1024 * 1024
"""Characters of text; a full journal of a usual node has a fifth of it."""


class Journal:
    """The ordered sequence of records, newest ``capacity`` kept, or fewer if those weigh too much.

    ``max_weight``: characters of text in all of them together (the newest is kept in any case).
    ``seq`` counts from 1 without a hole, so ``first_seq - 1`` is the number of records that have
    been given up. Subscribers are called in turn with each numbered record, on the appending task,
    and must return quickly and not raise.
    """

    def __init__(
        self, capacity: int = DEFAULT_CAPACITY, max_weight: int = DEFAULT_MAX_WEIGHT
    ) -> None:
        if capacity < 1:
            raise ValueError("a journal keeps at least one record")
        self._capacity = capacity
        self._max_weight = max_weight
        self._weight = 0
        self._records: deque[Record] = deque()
        self._last = 0
        self._subscribers: list[Callable[[Record], None]] = []

    @property
    def last_seq(self) -> int:
        """The newest record's number; 0 when there is none."""
        return self._last

    @property
    def first_seq(self) -> int:
        """The oldest kept record's number; ``last_seq + 1`` when there is none."""
        return self._last - len(self._records) + 1

    def subscribe(self, callback: Callable[[Record], None]) -> None:
        """Call ``callback`` with every record appended from now on."""
        self._subscribers.append(callback)

    def append(self, record: Record) -> Record:
        """Number the record, keep it, tell the subscribers; returns the numbered record."""
        self._last += 1
        numbered = msgspec.structs.replace(record, seq=self._last)
        self._weight += weight(numbered)
        self._records.append(numbered)
        while len(self._records) > self._capacity or (
            self._weight > self._max_weight and len(self._records) > 1
        ):
            self._weight -= weight(self._records.popleft())
        for callback in self._subscribers:
            callback(numbered)
        return numbered

    def since(self, seq: int, limit: int | None = None) -> tuple[Record, ...]:
        """Kept records with a number above ``seq``, oldest first, at most ``limit``."""
        skip = max(0, seq - self.first_seq + 1)
        wanted = len(self._records) - skip
        if limit is not None:
            wanted = min(wanted, limit)
        if wanted <= 0:
            return ()
        if skip > len(self._records) // 2:
            # A deque is quick from both ends: walk from the nearer one.
            newest = tuple(islice(reversed(self._records), len(self._records) - skip))
            return newest[::-1][:wanted]
        return tuple(islice(self._records, skip, skip + wanted))

    def newest(self, count: int) -> tuple[Record, ...]:
        """The newest ``count`` kept records, oldest first."""
        return self.since(self._last - max(0, count))
