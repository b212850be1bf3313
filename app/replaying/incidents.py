"""What somebody looks for in a recording, told from its records alone.

Incidents are: the health check fails; the event stream is lost; the runtime hangs; something was
not recorded or not delivered (a gap); a lifecycle event was discarded, or a relist request dropped,
as a queue was full; a container was killed for its memory; a container failed, and nobody knew of
it before the next poll. Of a kind that comes in bursts only the first within a second is one.
"""

from app.engine.records import (
    Gap,
    HealthChanged,
    Lifecycle,
    Record,
    RequestMade,
    RequestMoved,
    RuntimeHung,
    StreamChanged,
)
from app.hub.filmwire import Incident

BURST_NS = 1_000_000_000
"""What follows one of its kind within this time belongs to it."""

NO_FAULT = ("unimplemented", "immediate_eof")
"""Ways a stream ends where there is none to be had."""

Seen = tuple[str, str]


class Incidents:
    """Follows a journal's records."""

    def __init__(self) -> None:
        self._unhealthy = False
        self._down = False
        self._last: dict[str, int] = {}

    @property
    def unhealthy(self) -> bool:
        """Whether the health check fails now."""
        return self._unhealthy

    @property
    def down(self) -> bool:
        """Whether the event stream is lost now."""
        return self._down

    def apply(self, record: Record) -> Incident | None:
        """Take one record into account; the incident that begins with it, if one does."""
        seen = self._seen(record)
        if seen is None:
            return None
        kind, text = seen
        last = self._last.get(kind)
        self._last[kind] = record.t
        if last is not None and record.t - last < BURST_NS:
            return None
        return Incident(record.seq, record.t, kind, text)

    def _seen(self, record: Record) -> Seen | None:
        match record:
            case HealthChanged():
                self._unhealthy = not record.healthy
                return None if record.healthy else ("unhealthy", record.message or "unhealthy")
            case StreamChanged():
                return self._stream(record)
            case RuntimeHung() if record.hung:
                return "hung", f"{record.method} does not come back"
            case Gap():
                return "gap", record.reason or f"{record.count} are missing"
            case RequestMade() | RequestMoved() if record.outcome == "dropped":
                return "dropped", "a relist request was dropped: the queue was full"
            case Lifecycle():
                return _found(record)
            case _:
                return None

    def _stream(self, record: StreamChanged) -> Seen | None:
        if record.state in ("connected", "off") or record.code in NO_FAULT:
            self._down = False
            return None
        if record.state == "connecting" or record.code is None or self._down:
            return None
        self._down = True
        return "stream_down", record.meaning or "the event stream is lost"


def _found(record: Lifecycle) -> Seen | None:
    if record.delivery == "discarded":
        return "discarded", "a lifecycle event was discarded: the channel was full"
    if record.type != "ContainerDied" or record.is_sandbox or record.baseline:
        return None
    if record.reason == "OOMKilled":
        return "oom", f"{record.container_name} was killed for its memory"
    if record.source == "global" and record.exit_code:
        return "late", f"{record.container_name} failed ({record.exit_code}), found by polling only"
    return None
