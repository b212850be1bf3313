"""Marks: each record's kind, and no kind without a record."""

from __future__ import annotations

import msgspec
import pytest

from app.engine.records import (
    EventIgnored,
    EventRefused,
    Gap,
    HealthChanged,
    Lifecycle,
    Record,
    RequestMoved,
    RuntimeHung,
    StreamChanged,
    SyncBegan,
)
from app.journal.marks import MARKS, mark_of
from tests.build import (
    died,
    note,
    pod_cached,
    pod_seen,
    relist_finished,
    relist_started,
    request,
    stop_event,
)


def stream(state: str, t: int = 0) -> StreamChanged:
    return msgspec.convert(
        {"kind": "stream", "t": t, "wall": 0, "state": state, "meaning": "So it is."},
        StreamChanged,
    )


def gap(t: int) -> Gap:
    return Gap(t=t, wall=0, hop="stream", count=3, from_t=t - 5, reason="It was slow.")


def finding(uid: str = "u1", **fields: object) -> Lifecycle:
    return msgspec.structs.replace(died(uid), **fields)


def moved(outcome: str) -> RequestMoved:
    fields = {"kind": "request_moved", "t": 0, "wall": 0, "request": 1, "uid": "u1", "depth": 0}
    return msgspec.convert({**fields, "source": "post_sync", "outcome": outcome}, RequestMoved)


KINDS: list[tuple[Record, str | None]] = [
    (stop_event(), "stop"),
    (msgspec.structs.replace(stop_event(), type="started"), "other"),
    (request(), "asked"),
    (request(outcome="held"), "held"),
    (request(outcome="dropped"), "dropped"),
    (moved("coalesced"), "coalesced"),
    (moved("skipped"), "skipped"),
    (moved("released"), None),
    (relist_started(), None),
    (relist_started(uid="u1"), "relist"),
    (msgspec.structs.replace(relist_started(uid="u1"), source="post_sync"), "own"),
    (relist_finished(), "global"),
    (relist_finished(ok=False), "failed"),
    (relist_finished(uid="u1"), None),
    (relist_finished(uid="u1", ok=False), "failed"),
    (finding(), "req_end"),
    (finding(is_sandbox=True), "req"),
    (finding(relist=0), "event_end"),
    (finding(relist=0, type="ContainerStarted"), "event"),
    (finding(source="global"), "poll_end"),
    (finding(source="global", type="ContainerStarted"), "poll"),
    (finding(source="global", type="ContainerRemoved"), "calm"),
    (finding(source="global", baseline=True), "calm"),
    (finding(delivery="discarded"), "dropped"),
    (finding(delivery="filtered"), None),
    (SyncBegan(t=0, wall=0, uid="u1"), "sync"),
    (
        EventIgnored(t=0, wall=0, event=1, type="x", container_id="c", reason="missing_uid"),
        "ignored",
    ),
    (EventRefused(t=0, wall=0, uid="u1", type="x", container_id="c", behind_ns=1), "ignored"),
    (pod_cached(), None),
    (pod_cached(error="It is gone."), "failed"),
    (stream("connected"), None),
    (stream("waiting"), "down"),
    (HealthChanged(t=0, wall=0, healthy=True, message=""), None),
    (HealthChanged(t=0, wall=0, healthy=False, message="pleg was"), "unhealthy"),
    (RuntimeHung(t=0, wall=0, hung=True, method="Status", age_ns=1), "unhealthy"),
    (RuntimeHung(t=0, wall=0, hung=False, method="Status", age_ns=1), None),
    (gap(5), "gap"),
    (note(), None),
    (pod_seen(), None),
]


@pytest.mark.parametrize(("record", "mark"), KINDS)
def test_the_kind_of_each_record(record: Record, mark: str | None) -> None:
    assert mark_of(record) == mark


def test_every_kind_is_some_records() -> None:
    assert {mark for _, mark in KINDS} - {None} == set(MARKS)
