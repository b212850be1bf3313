"""Marks: what a picture shows of a record, by kind; one record is one mark at most."""

from collections.abc import Callable
from typing import Any

from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    EventRefused,
    Gap,
    HealthChanged,
    Lifecycle,
    PodCached,
    Record,
    RelistFinished,
    RelistStarted,
    RequestMade,
    RequestMoved,
    RuntimeHung,
    StreamChanged,
    SyncBegan,
)

MARKS = (
    "other", "sync", "asked", "relist", "own", "global", "skipped", "coalesced", "held", "stop",
    "calm", "event", "event_end", "req", "req_end", "ignored", "poll", "poll_end", "failed",
    "dropped", "down", "unhealthy", "gap",
)  # fmt: skip
"""Kinds of marks, the worst last: of several in one place the last of them is to be seen.

``calm``, ``event``, ``req`` and ``poll`` are findings: nobody was late, an event was believed, a
request led to it, only polling did; with ``_end`` a container's (not a sandbox's) end was found.
"""


def mark_of(record: Record) -> str | None:
    """The kind of mark that a record is, one of ``MARKS``; None: it is none of its own."""
    known = _KNOWN.get(type(record))
    return None if known is None else known(record)


def _event(record: ContainerEventSeen) -> str:
    return "stop" if record.type == "stopped" else "other"


def _finding(record: Lifecycle) -> str | None:
    if record.delivery == "filtered":
        return None
    if record.delivery == "discarded":
        return "dropped"
    if record.source == "global":
        if record.baseline or record.type in ("ContainerRemoved", "PodSync"):
            return "calm"
        how = "poll"
    else:
        how = "req" if record.relist else "event"
    ended = record.type == "ContainerDied" and not record.is_sandbox
    return f"{how}_end" if ended else how


def _asked(record: RequestMade | RequestMoved) -> str | None:
    if record.outcome in ("held", "coalesced", "dropped", "skipped"):
        return record.outcome
    return "asked" if isinstance(record, RequestMade) else None


def _began(record: RelistStarted) -> str | None:
    if record.scope == "global":
        return None
    return "relist" if record.source == "evented_pleg" else "own"


def _ended(record: RelistFinished) -> str | None:
    if not record.ok:
        return "failed"
    return "global" if record.scope == "global" else None


# Looked up by class: a chain of comparisons for each record would cost more than the rest.
_KNOWN: dict[type[Record], Callable[[Any], str | None]] = {
    ContainerEventSeen: _event,
    Lifecycle: _finding,
    RequestMade: _asked,
    RequestMoved: _asked,
    RelistStarted: _began,
    RelistFinished: _ended,
    SyncBegan: lambda _record: "sync",
    EventIgnored: lambda _record: "ignored",
    EventRefused: lambda _record: "ignored",
    PodCached: lambda record: "failed" if record.error else None,
    StreamChanged: lambda record: "down" if record.state in ("waiting", "closed") else None,
    HealthChanged: lambda record: None if record.healthy else "unhealthy",
    RuntimeHung: lambda record: "unhealthy" if record.hung else None,
    Gap: lambda _record: "gap",
}
