"""When a runtime is taken for hung: one rule for a session that looks at its calls while they wait,
and for whoever has its records only. Times are monotonic nanoseconds of the session."""

import msgspec

from app.engine.records import Record, RelistFinished, RuntimeHung, Watching
from app.engine.state import EngineState

HUNG_AFTER_NS = 5_000_000_000
"""A call to the runtime that has waited this long is shown as hung."""

LOOK_NS = 500_000_000
"""How often a session looks at its calls."""

LONG_NS = 30_000_000_000
"""A global relist whose lists came back, but that inspects pods for so long, hangs: it makes a call
or two for each of them."""

OUTSIDE = frozenset({"Version", "Status"})
"""Calls that are made beside relists: one that ends says nothing of them."""


class OldestCall(msgspec.Struct, frozen=True):
    """The runtime call that has waited longest: its method, when it began, and whether that is so
    long ago that the runtime is taken for hung."""

    method: str
    since_t: int
    hung: bool


class HangWatch:
    """Tells when a call begins to hang, and when the runtime answers again; each once."""

    def __init__(self) -> None:
        self._method = ""
        self._age_ns = 0

    def look(self, oldest: OldestCall | None, t: int, wall: int) -> RuntimeHung | None:
        """The record to be told, if the calls that wait at ``t`` give cause to."""
        if oldest is not None and oldest.hung:
            begins = not self._method
            self._method = oldest.method
            self._age_ns = max(self._age_ns, t - oldest.since_t)
            return self._told(t, wall, hung=True) if begins else None
        if not self._method:
            return None
        told = self._told(t, wall, hung=False)
        self._method, self._age_ns = "", 0
        return told

    def _told(self, t: int, wall: int, *, hung: bool) -> RuntimeHung:
        return RuntimeHung(t=t, wall=wall, hung=hung, method=self._method, age_ns=self._age_ns)


class Hanging:
    """Follows records; ``call`` is the one that hangs, as far as they tell.

    A relist ends when its calls have come back, so its end is the end of the one that hung in it:
    the session says so only when it looks next.
    """

    def __init__(self) -> None:
        self.call: OldestCall | None = None

    def apply(self, record: Record) -> None:
        """Take one record into account."""
        call = self.call
        if isinstance(record, RuntimeHung):
            since = record.t - record.age_ns
            self.call = OldestCall(record.method, since, hung=True) if record.hung else None
        elif call is None:
            return
        elif isinstance(record, Watching) or (
            isinstance(record, RelistFinished)
            and call.method not in OUTSIDE
            and record.started <= call.since_t
        ):
            self.call = None


def hangs_since(engine: EngineState, call: OldestCall | None) -> int | None:
    """Since when the runtime hangs, if it does: the call that waits, or else the relist that is in
    progress, as a session looks at its calls now and then only."""
    if call is not None and call.hung:
        return call.since_t
    running, begun = engine.running, engine.health.last_start_t
    if running is None:
        return None
    listed = running.scope == "global" and begun is not None and begun >= running.started
    limit = LONG_NS if listed else HUNG_AFTER_NS
    return running.started if engine.t - running.started > limit else None


def oldest_of(waiting: tuple[str, int] | None, t: int) -> OldestCall | None:
    """Of the call (method, began) that has waited longest at ``t``."""
    if waiting is None:
        return None
    method, began = waiting
    return OldestCall(method, began, t - began >= HUNG_AFTER_NS)
