"""Bins: whatever happened is counted once, at every width, and the worst can be seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.records import (
    EventIgnored,
    EventRefused,
    Gap,
    HealthChanged,
    Lifecycle,
    Record,
    RelistFinished,
    RequestMoved,
    RuntimeHung,
    StreamChanged,
    SyncBegan,
)
from app.journal.levels import MARKS, WIDTHS, Cut, Levels, mark_of
from tests.build import (
    SECOND,
    chain,
    died,
    note,
    pod_cached,
    pod_gone,
    pod_seen,
    relist_finished,
    relist_started,
    request,
    stop_event,
)

FINEST, COARSEST = WIDTHS[0], WIDTHS[-1]


def levels_of(records: Sequence[Record], capacity: int = 10_000, lanes: int = 100) -> Levels:
    levels = Levels(capacity, lanes)
    for record in records:
        levels.apply(record)
    return levels


def counted(flat: Sequence[int]) -> Counter[str]:
    """How many of each kind, whatever their bin."""
    total: Counter[str] = Counter()
    for at in range(0, len(flat), 3):
        total[MARKS[flat[at + 1]]] += flat[at + 2]
    return total


def whole(levels: Levels, width: int, *uids: str) -> Cut:
    return levels.cut(width, 0, 4000 * SECOND, uids)


def at(record: Record, t: int) -> Record:
    return msgspec.structs.replace(record, t=t)


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
    found = counted(whole(levels_of([record]), FINEST).all)
    assert found == Counter(() if mark is None else (mark,))


def test_every_kind_is_some_records() -> None:
    assert {mark for _, mark in KINDS} - {None} == set(MARKS)


happened = st.lists(
    st.tuples(
        st.integers(0, len(KINDS) - 1),
        st.integers(0, 300 * SECOND),
        st.sampled_from(["u1", "u2", "u3"]),
    ),
    max_size=60,
)


def play(given_: Sequence[tuple[int, int, str]]) -> list[Record]:
    records = []
    for number, t, uid in sorted(given_, key=lambda one: one[1]):
        record = at(KINDS[number][0], t)
        if getattr(record, "uid", None) is not None:
            record = msgspec.structs.replace(record, uid=uid)
        records.append(record)
    return records


@settings(max_examples=60)
@given(happened, st.sampled_from(WIDTHS), st.integers(0, 300), st.integers(1, 300))
def test_each_mark_is_counted_once_where_it_was(
    given_: list[tuple[int, int, str]], width: int, begin: int, length: int
) -> None:
    records = play(given_)
    levels = levels_of(records)
    cut = levels.cut(width, begin * SECOND, (begin + length) * SECOND, ("u1", "u2", "u3"))
    low, high = cut.first * width, (cut.first + cut.bins) * width
    assert low <= begin * SECOND
    assert high >= (begin + length) * SECOND
    inside = [r for r in records if low <= r.t < high and mark_of(r) is not None]
    assert counted(cut.all) == Counter(mark_of(r) for r in inside)
    for uid in ("u1", "u2", "u3"):
        expected = Counter(mark_of(r) for r in inside if getattr(r, "uid", None) == uid)
        assert counted(cut.pods.get(uid, [])) == expected
    for flat in (cut.all, *cut.pods.values()):
        places = list(flat[::3])
        assert places == sorted(places)
        assert all(0 <= place < cut.bins for place in places)
        assert len(set(zip(places, flat[1::3], strict=True))) == len(places), "one count a kind"
    ended = [r for r in inside if isinstance(r, RelistFinished) and r.scope == "global"]
    assert sum(cut.relists[1::4]) == len(ended)


def test_wider_bins_say_the_same() -> None:
    records = [record for n in range(200) for record in chain(n, n * SECOND, f"u{n % 3}")]
    levels = levels_of(records)
    finest = whole(levels, FINEST, "u0")
    for width in WIDTHS[1:]:
        wider = whole(levels, width, "u0")
        assert counted(wider.all) == counted(finest.all)
        assert counted(wider.pods["u0"]) == counted(finest.pods["u0"])


def test_the_longest_relist_and_the_failed_ones_are_seen_from_afar() -> None:
    records = [relist_finished(n, n * SECOND, 3_000_000, ok=n != 20) for n in range(100)]
    records[50] = relist_finished(50, 50 * SECOND, 700_000_000)
    cut = whole(levels_of(records), COARSEST)
    assert cut.relists == [0, 100, 700_000_000, 1]


def test_the_stream_and_the_gaps() -> None:
    records = [
        stream("connected", SECOND),
        stream("waiting", 10 * SECOND),
        gap(15 * SECOND),
        stream("connected", 20 * SECOND),
        msgspec.structs.replace(stream("connected", 30 * SECOND), renewed=True),
    ]
    levels = levels_of(records)
    cut = levels.cut(FINEST, 12 * SECOND, 18 * SECOND)
    assert [turn.state for turn in cut.stream] == ["waiting"]
    assert [(hole.to_t, hole.count) for hole in cut.gaps] == [(15 * SECOND, 3)]
    assert [turn.t for turn in levels.cut(FINEST, 0, 60 * SECOND).stream] == [
        SECOND, 10 * SECOND, 20 * SECOND,
    ]  # fmt: skip
    assert levels.cut(FINEST, 16 * SECOND, 60 * SECOND).gaps == []


def test_pods_that_are_gone_are_named_where_they_were() -> None:
    records = [
        pod_seen("u1", SECOND, "web-1"), stop_event(1, "u1", 2 * SECOND), pod_seen("u2", SECOND),
        pod_gone("u1", 9 * SECOND), pod_cached("u1", 9 * SECOND, name=""),
    ]  # fmt: skip
    levels = levels_of(records)
    told = levels.cut(FINEST, 0, 5 * SECOND).gone
    assert [(one.uid, one.name, one.seen_t, one.gone_t) for one in told] == [
        ("u1", "web-1", SECOND, 9 * SECOND)
    ]
    assert levels.cut(FINEST, 10 * SECOND, 20 * SECOND).gone == []
    # The same UID again: a static pod keeps its own.
    levels.apply(pod_seen("u1", 12 * SECOND))
    assert levels.cut(FINEST, 0, 5 * SECOND).gone == []


def test_narrow_bins_are_given_up_first_and_it_is_told() -> None:
    levels = Levels(capacity=2000)
    for n in range(5000):
        for record in chain(n, n * SECOND, f"u{n % 5}"):
            levels.apply(record)
        assert max(levels._size) <= 2000
    since = levels.since()
    assert since[FINEST] > 4000 * SECOND
    assert since[COARSEST] == 0
    assert list(since.values()) == sorted(since.values(), reverse=True)
    cut = levels.cut(FINEST, 0, since[FINEST])
    assert cut.all == []
    assert cut.since == since[FINEST]
    kept = levels.cut(FINEST, since[FINEST], 6000 * SECOND)
    assert counted(kept.all)["stop"] == 5000 - since[FINEST] // SECOND
    assert counted(whole(levels, COARSEST).all)["stop"] == 4096


def test_a_flood_of_pods_stays_bounded_and_all_together_are_still_counted() -> None:
    levels = Levels(capacity=100_000, lanes=64)
    for n in range(1000):
        levels.apply(pod_seen(f"u{n}", n * SECOND))
        levels.apply(stop_event(n, f"u{n}", n * SECOND))
    assert len(levels._lanes) <= 64
    cut = whole(levels, COARSEST, "u0", "u999")
    assert counted(cut.all) == Counter(stop=1000)
    assert list(cut.pods) == ["u999"]
    entries = sum(len(lane.counts[0]) for lane in (levels._all, *levels._lanes.values()))
    assert levels._size[0] == entries


def test_time_never_goes_back() -> None:
    levels = levels_of([stop_event(1, "u1", 5 * SECOND), stop_event(2, "u1", 4 * SECOND)])
    assert counted(levels.cut(FINEST, 5 * SECOND, 6 * SECOND, ["u1"]).pods["u1"])["stop"] == 2


def test_a_session_that_began_late_is_known_from_its_beginning() -> None:
    levels = levels_of([stop_event(1, "u1", 500 * SECOND)])
    assert set(levels.since().values()) == {500 * SECOND}
