"""The KEP's failure modes of the stream and of events, one scenario each: what the files claim."""

import pytest

from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    Lifecycle,
    RequestMade,
    StreamChanged,
)
from app.sim.flavour import SECOND
from tests.sim.claims import claim, played

# ------------------------------------------------- failure mode: disconnected or flapping stream


@claim("flapping-stream")
def test_flapping_costs_a_dozen_attempts_in_five_minutes() -> None:
    play = played("flapping-stream")
    attempts = [t for t in play.entered("connecting") if 20 <= t < 320]
    assert 8 <= len(attempts) <= 16
    # At once first; then pauses that grow, and never beyond a minute.
    lost = play.entered("waiting")
    pauses = [min(t for t in play.entered("connecting") if t >= gone) - gone for gone in lost]
    assert pauses[0] < 0.1
    assert pauses[-1] > 25
    assert max(pauses) <= 60


@claim("flapping-stream")
def test_flapping_a_stream_of_two_seconds_does_not_start_the_pauses_over() -> None:
    lived = [
        one.t / SECOND
        for one in played("flapping-stream").of(StreamChanged)
        if one.state == "connected"
    ]
    assert len(lived) > 8


@claim("flapping-stream")
def test_flapping_over_the_stream_is_back_within_a_minute() -> None:
    play = played("flapping-stream")
    assert min(t for t in play.entered("connected") if t > 320) < 380
    assert play.found_between(385, 480) == {"evented_pleg"}
    assert play.summary.unhealthy.entered == 0


@claim("flapping-stream")
@pytest.mark.parametrize("profile", ["1.37", "legacy"])
def test_flapping_ends_the_older_designs_streams_for_good(profile: str) -> None:
    play = played("flapping-stream", profile)
    (closed,) = play.entered("closed")
    assert closed < 40
    assert play.found_between(closed + 1, 480) == {"global"}


@claim("stream-interruption")
def test_an_interruption_loses_events_and_no_death() -> None:
    play = played("stream-interruption")
    lost = [one for one in play.died() if 31 < one.t / SECOND < 70]
    assert {one.source for one in lost} == {"global"}
    assert len(lost) > 12
    told = {one.container_id for one in play.of(ContainerEventSeen) if one.type == "stopped"}
    assert not {one.container_id for one in lost} & told
    back = min(t for t in play.entered("connected") if t > 70)
    assert back < 95
    assert play.found_between(back + 1, 120) == {"evented_pleg"}


@claim("silent-stream")
def test_a_silent_stream_counts_as_connected_all_the_time() -> None:
    play = played("silent-stream")
    assert play.entered("connected") == pytest.approx([1], abs=0.1)
    assert play.summary.stream.states["connected"].entered == 1
    assert "waiting" not in play.summary.stream.states
    assert play.found_between(31, 90) == {"global"}
    assert play.found_between(92, 120) == {"evented_pleg"}
    assert play.ends("global").max < 1.2 * SECOND


@claim("silent-stream")
def test_a_silent_stream_blinds_the_old_design_and_it_stays_trusting() -> None:
    play = played("silent-stream", "legacy")
    assert play.summary.stream.state == "connected"
    assert play.summary.relists.globally == 1
    assert play.found_between(31, 120) == set()
    assert play.summary.ends.waiting > 8


@claim("no-stream")
def test_no_stream_is_tried_once_a_minute_until_there_is_one() -> None:
    play = played("no-stream")
    attempts = play.entered("connecting")
    assert attempts == pytest.approx([0, 60, 120], abs=0.2)
    assert {one.code for one in play.of(StreamChanged) if one.state == "waiting"} == {
        "unimplemented"
    }
    assert play.found_between(0, 119) == {"global"}
    assert play.found_between(122, 240) == {"evented_pleg"}
    assert play.summary.unhealthy.entered == 0


@claim("no-stream")
def test_no_stream_the_watcher_of_1_37_never_learns_of_the_upgrade() -> None:
    play = played("no-stream", "1.37")
    (closed,) = play.entered("closed")
    assert closed < 0.1
    assert play.found_between(0, 240) == {"global"}


# --------------------------------------------------------- failure mode: event without a pod UID


@claim("event-without-uid")
def test_events_without_uid_are_ignored_with_the_reason_and_ask_for_nothing() -> None:
    play = played("event-without-uid")
    ignored = play.of(EventIgnored)
    windows = {
        "missing_uid": (10, 40),
        "missing_metadata": (50, 80),
        "missing_sandbox_status": (90, 120),
    }
    assert {one.reason for one in ignored} == set(windows)
    for problem, (begin, end) in windows.items():
        times = [one.t / SECOND for one in ignored if one.reason == problem]
        assert len(times) > 20
        assert begin <= min(times)
        assert max(times) <= end + 0.1
        assert play.found_between(begin + 0.3, end) == {"global"}
    asked = [one for one in play.of(RequestMade) if one.source == "evented_pleg"]
    assert all(one.uid for one in asked)
    assert play.slowest < 1.2 * SECOND


@claim("event-without-uid")
def test_events_without_uid_make_1_37_ask_for_a_relist_of_no_pod() -> None:
    play = played("event-without-uid", "1.37")
    nameless = [one for one in play.of(RequestMade) if not one.uid]
    assert len(nameless) > 8
    assert play.summary.relists.failed == len(nameless)


# ----------------------------------------------------- failure mode: delayed or duplicate events


@claim("delayed-events")
def test_delayed_events_come_after_the_finding_and_find_no_change() -> None:
    play = played("delayed-events")
    late = [one for one in play.of(RequestMade) if one.source == "evented_pleg"]
    by_polling = [one for one in play.died() if one.source == "global"]
    assert len(by_polling) > 12
    # As many requests as ever, and for most of them nothing is left to find.
    assert len(late) > len(by_polling)
    assert play.summary.ends.twice == 0
    assert play.ends("global").max < 1.2 * SECOND


@claim("delayed-events")
def test_delayed_events_are_all_that_the_old_design_has() -> None:
    play = played("delayed-events", "legacy")
    assert play.ends("evented_pleg").p50 > 1 * SECOND
    assert play.slowest > 3 * SECOND


@claim("duplicate-events")
def test_duplicate_events_cost_relists_and_tell_of_nothing_twice() -> None:
    play = played("duplicate-events")
    stops = [one for one in play.of(ContainerEventSeen) if one.type == "stopped"]
    died = [one.container_id for one in play.died()]
    assert len(stops) > 1.4 * len(died)
    assert len(died) == len(set(died))
    useless = play.summary.relists.targeted - len(
        {one.relist for one in play.of(Lifecycle) if one.source != "global"}
    )
    assert useless > 12


@claim("duplicate-events")
def test_duplicate_events_make_the_old_design_tell_of_a_death_again() -> None:
    assert played("duplicate-events", "legacy").summary.ends.twice > 20


@claim("stale-after-reconnect")
def test_stale_events_after_a_reconnection_change_nothing() -> None:
    play = played("stale-after-reconnect")
    back = min(t for t in play.entered("connected") if t > 70)
    assert back < 95
    old = [one for one in play.of(ContainerEventSeen) if one.backlog]
    assert len(old) > 40
    assert all(abs(one.t / SECOND - back) < 1 for one in old)
    assert {one.latency_ns for one in old} == {None}
    # Whoever had died while the stream was away had been found before.
    stops = {one.container_id for one in old if one.type == "stopped"}
    known = {one.container_id for one in play.died() if one.t / SECOND < back}
    assert len(stops) > 10
    assert len(stops - known) <= 2  # one that died just before may be found by its old event
    assert play.summary.ends.twice == 0
