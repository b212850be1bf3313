"""Sessions put on one clock: their times and numbers moved, so that none is taken for another's.

A session counts its time from its own beginning, and relists, requests and events from 1. Where
several are played as one, all of these move; 0 as a relist's number means none and stays.
"""

from functools import cache

import msgspec

from app.engine.records import Record

TIMES = frozenset({"t", "started", "stop_t", "poll_due_t", "retry_t", "from_t"})
"""Fields of records that are monotonic times of the session (ns)."""

NUMBERS = frozenset({"relist", "request", "event"})
"""Fields that number what the session's engine did."""


class Mover:
    """Moves the records of one session.

    Args:
        by: what is added to its times (ns).
        numbers: what is added to its numbers, by field.
    """

    def __init__(self, by: int, numbers: dict[str, int] | None = None) -> None:
        self.by = by
        self._base = dict(numbers or {})
        self.numbers = dict(self._base)
        """The highest ones so far: what the next session's are added to."""

    def move(self, record: Record, seq: int, not_before: int) -> Record:
        """The record with its place in the whole; no time goes back behind ``not_before``."""
        times, numbers = _fields(type(record))
        changed: dict[str, int] = {"seq": seq, "t": max(not_before, record.t + self.by)}
        if self.by:
            for name in times:
                value = getattr(record, name)
                if value is not None:
                    changed[name] = value + self.by
        for name in numbers:
            value = getattr(record, name)
            if value:
                value += self._base.get(name, 0)
                changed[name] = value
                if value > self.numbers.get(name, 0):
                    self.numbers[name] = value
        return msgspec.structs.replace(record, **changed)


@cache
def _fields(kind: type[Record]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of a record's times (but ``t``) and numbers."""
    names = kind.__struct_fields__
    return (
        tuple(name for name in names if name in TIMES and name != "t"),
        tuple(name for name in names if name in NUMBERS),
    )
