"""What is drawn of a journal: tracks told first, slices that lasted, flows that hold together."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from app.engine.records import (
    Gap,
    HealthChanged,
    Lifecycle,
    Record,
    RelistFinished,
    SyncBegan,
    SyncFinished,
)
from app.export import marks, tracks
from app.export.marks import Clock, Count, Dropped, Instant, Item, Slice, Track
from app.export.tracks import items
from tests.build import SECOND, WALL, died, pod_gone, pod_seen, relist_finished, relist_started
from tests.export.made import hostile, numbered, played, story


def drawn(*records: Record) -> list[Item]:
    return list(items(records))


def names(found: list[Item]) -> dict[int, str]:
    return {one.id: one.name for one in found if isinstance(one, Track)}


def test_a_track_is_told_before_anything_lies_on_it() -> None:
    for records in (story(), hostile(), played()[1]):
        known: set[int] = set()
        for one in items(records):
            if isinstance(one, Track):
                assert one.parent == 0 or one.parent in known
                known.add(one.id)
            elif isinstance(one, Dropped):
                known -= set(one.tracks)
            elif not isinstance(one, Clock):
                assert one.track in known


def test_a_pod_has_a_track_and_each_container_one_below_it() -> None:
    found = drawn(*story())
    tracks_ = [one for one in found if isinstance(one, Track)]
    pod = next(one for one in tracks_ if one.name == "shop/web-1")
    assert pod.parent == 0
    assert {one.name for one in tracks_ if one.parent == pod.id} == {
        "Requests",
        "Relists",
        "app c1",
    }


def test_the_flow_goes_from_stop_to_request_to_relist_to_event() -> None:
    flows = [
        (one.name, one.t if isinstance(one, Instant) else one.start)
        for one in drawn(*story())
        if isinstance(one, Instant | Slice) and 1 in one.flows
    ]
    assert sorted(flows, key=lambda one: one[1]) == [
        ("stopped event", SECOND),
        ("request queued", SECOND),
        ("relist (evented_pleg)", SECOND + 1_000_000),
        ("ContainerDied", SECOND + 4_000_000),
    ]


def test_in_a_whole_run_each_found_stop_is_tied_to_its_relist() -> None:
    records = played()[1]
    found = [one for one in records if isinstance(one, Lifecycle) and one.after_ns is not None]
    assert len(found) > 5
    on: dict[int, list[str]] = defaultdict(list)
    for item in items(records):
        if isinstance(item, Instant | Slice):
            for flow in item.flows:
                on[flow].append(item.name)
    for one in found:
        chain = on[one.event or 0]
        assert "stopped event" in chain
        assert one.type in chain
        assert any("relist" in name for name in chain)


def test_slices_of_one_track_lie_beside_each_other() -> None:
    for name in ("lossy-stream", "storm"):
        ends: dict[int, int] = defaultdict(int)
        for one in items(played(name)[1]):
            if isinstance(one, Slice):
                assert ends[one.track] <= one.start <= one.end
                ends[one.track] = one.end


def test_relists_are_as_many_and_as_long_as_recorded() -> None:
    records = played()[1]
    told = [one.duration_ns for one in records if isinstance(one, RelistFinished)]
    found = [
        one.end - one.start
        for one in items(records)
        if isinstance(one, Slice) and "relist" in one.name and "unfinished" not in one.args
    ]
    assert found == told


def test_the_queue_is_a_counter() -> None:
    counts = [one for one in drawn(*story()) if isinstance(one, Count)]
    assert (counts[0].t, counts[0].value) == (SECOND, 1)
    assert names(drawn(*story()))[counts[0].track] == "Relist requests waiting"


def test_what_has_no_recorded_end_ends_where_the_records_do() -> None:
    sync = SyncBegan(t=5, wall=5, uid="u1")
    health = HealthChanged(t=6, wall=6, healthy=False, message="late")
    found = drawn(*numbered(pod_seen(), sync, health, relist_started(1, 7), pod_seen("u2", t=9)))
    slices = {one.name: one for one in found if isinstance(one, Slice)}
    assert {name: one.end for name, one in slices.items()} == {
        "SyncPod": 9,
        "unhealthy": 9,
        "global relist": 9,
    }
    assert all(one.args["unfinished"] for one in slices.values())


def test_what_ended_without_a_recorded_beginning_is_as_long_as_it_says() -> None:
    done = SyncFinished(
        t=100, wall=WALL, uid="u1", duration_ns=40, did_work=True, failed=False, held=0
    )
    found = drawn(*numbered(done, relist_finished(4, started=10, duration=30)))
    assert [(one.name, one.start, one.end) for one in found if isinstance(one, Slice)] == [
        ("SyncPod", 60, 100),
        ("global relist", 10, 40),
    ]


def test_the_end_of_a_relist_that_was_lost_is_not_made_up() -> None:
    found = drawn(
        *numbered(relist_started(1, 10), relist_started(2, 50), relist_finished(2, 50, 5))
    )
    slices = [one for one in found if isinstance(one, Slice)]
    assert [(one.start, one.end, "unfinished" in one.args) for one in slices] == [
        (10, 50, True),
        (50, 55, False),
    ]


def test_a_pod_that_is_named_late_gets_its_name() -> None:
    sync = SyncBegan(t=1, wall=1, uid="u1")
    found = [one for one in drawn(*numbered(sync, pod_seen(t=2))) if isinstance(one, Track)]
    assert [one.name for one in found if one.id == found[-1].id] == ["pod u1", "shop/web-1"]


def test_gaps_lie_beside_each_other() -> None:
    gaps = [
        Gap(t=t, wall=t, hop="stream", count=3, from_t=from_t, reason="full")
        for t, from_t in ((10, 2), (20, 5))
    ]
    found = [one for one in drawn(*numbered(*gaps)) if isinstance(one, Slice)]
    assert [(one.start, one.end, one.name) for one in found] == [
        (2, 10, "3 lost"),
        (10, 20, "3 lost"),
    ]


def test_a_flood_of_pods_is_held_in_bounds() -> None:
    drawing = tracks._Drawing()
    for number in range(marks.MOST_PODS + 50):
        drawing.apply(pod_seen(f"u{number}", t=number))
        drawing.apply(msgspec.structs.replace(died(f"u{number}"), container_id="x" * 2000))
        drawing.take()
    assert len(drawing._pods) == drawing._containers == marks.MOST_PODS
    assert all(len(uid) <= marks.MOST_NAME for uid in drawing._pods)


def test_a_pod_that_is_gone_is_forgotten() -> None:
    drawing = tracks._Drawing()
    for record in (pod_seen(), died(t=1), pod_gone(t=2)):
        drawing.apply(record)
    assert not drawing._pods
    assert drawing._containers == 0
