"""The KEP's failure modes of queue and PLEG, its drawbacks, and SyncPod: what the files claim."""

import pytest

from app.engine.records import (
    ContainerEventSeen,
    HealthChanged,
    Lifecycle,
    RelistFinished,
    RelistStarted,
    RequestMade,
    RequestMoved,
    SyncFinished,
)
from app.sim.flavour import MS, SECOND
from tests.sim.claims import claim, played

# --------------------------------------------------------------- failure mode: full relist queue


@claim("queue-full")
def test_a_full_queue_drops_and_counts_and_finds_as_quickly_as_ever() -> None:
    play = played("queue-full")
    requests = play.summary.requests
    assert requests["dropped"] > 500
    assert requests["dropped"] == sum(one.outcome == "dropped" for one in play.of(RequestMade))
    assert max(one.depth for one in play.of(RequestMade)) == 200
    # The global relist stays on time, and the poll is never needed.
    assert play.summary.relists.interval.max < 1.2 * SECOND
    assert play.slowest < play.summary.runtime_lag.max + 50 * MS


@claim("queue-full")
def test_a_full_queue_is_folded_by_syncpod_and_worked_off_without_suspension() -> None:
    kep, older = played("queue-full").summary, played("queue-full", "1.37").summary
    assert kep.requests["coalesced"] > 20 * kep.requests["executed"]
    assert kep.relists.targeted < 100
    assert older.relists.targeted > 1000
    assert older.requests["coalesced"] == 0
    assert older.requests["skipped"] > 0


# ---------------------------------------------------------- failure mode: unhealthy Generic PLEG


@claim("unhealthy-pleg")
def test_unhealthy_three_minutes_after_the_last_good_relist_stream_or_not() -> None:
    play = played("unhealthy-pleg")
    sick, well = play.of(HealthChanged)[-2:]
    assert (sick.healthy, well.healthy) == (False, True)
    assert 239 * SECOND < sick.t < 242 * SECOND
    assert 300 * SECOND <= well.t < 302 * SECOND
    heard = [one for one in play.of(ContainerEventSeen) if 60 < one.t / SECOND < 300]
    assert heard
    assert play.found_between(61, 299) == set()
    assert play.summary.stream.states["connected"].entered == 1
    late = [one for one in play.died() if one.t / SECOND >= 300]
    assert len(late) >= 5
    assert all(one.t < 302 * SECOND for one in late[:5])


@claim("unhealthy-pleg")
def test_unhealthy_the_old_design_does_not_notice_lists_that_hang() -> None:
    play = played("unhealthy-pleg", "legacy")
    assert play.summary.unhealthy.entered == 0
    assert play.summary.relists.globally == 2


@claim("frozen-runtime")
def test_frozen_for_twenty_seconds_is_not_unhealthy() -> None:
    play = played("frozen-runtime")
    assert play.summary.unhealthy.entered == 0
    assert play.summary.stream.states["connected"].entered == 1
    assert play.found_between(30.2, 49.9) == set()
    assert 18 * SECOND < play.summary.relists.took.max < 21 * SECOND
    assert play.summary.calls_failed == 0
    # What happened meanwhile is found as soon as the runtime knows of it.
    assert play.slowest > 15 * SECOND
    assert play.slowest < play.summary.runtime_lag.max + 1.2 * SECOND


# ------------------------------------------------------------------------------------- drawbacks


@claim("polling-cost")
def test_polling_costs_the_same_with_the_stream_and_without() -> None:
    kep, generic = played("polling-cost").summary, played("polling-cost", "generic").summary
    lists = kep.calls["ListPodSandbox"] + kep.calls["ListContainers"]
    assert lists == generic.calls["ListPodSandbox"] + generic.calls["ListContainers"]
    assert 230 <= lists <= 250
    # The first one inspects all pods; the others list.
    assert kep.relists.took.p50 < 10 * MS
    assert played("polling-cost", "legacy").summary.calls["ListPodSandbox"] == 1


@claim("redundant-relists")
def test_redundant_relists_double_the_calls_of_a_busy_node_and_buy_half_a_second() -> None:
    kep, generic = played("redundant-relists"), played("redundant-relists", "generic")
    asked, without = kep.summary.calls["ListPodSandbox"], generic.summary.calls["ListPodSandbox"]
    assert 1.5 < asked / without < 2.5
    gained = generic.ends("global").p50 - kep.ends("evented_pleg").p50
    assert 350 * MS < gained < 650 * MS


@claim("no-replay")
@pytest.mark.parametrize("profile", ["kep", "polling"])
def test_what_ran_meanwhile_is_only_told_of_as_dead_by_anybody(profile: str) -> None:
    play = played("no-replay", profile)
    begun = {one.container_id for one in play.of(Lifecycle) if one.type == "ContainerStarted"}
    late = [one for one in play.died("blink") if 60 < one.t / SECOND < 61.2]
    unseen = [one for one in late if one.container_id not in begun]
    assert len(unseen) > 20
    assert {one.new_state for one in unseen} == {"exited"}
    assert play.summary.starts.never >= len(unseen)
    assert play.summary.ends.never == 0
    assert play.slowest > 25 * SECOND
    assert play.found_between(30.2, 59.9) == set()
    # A second after the lists are answered again all that is there is known.
    first = min(
        one.t
        for one in play.of(RelistFinished)
        if one.scope == "global" and one.ok and one.t > 60 * SECOND
    )
    assert first < 61.2 * SECOND
    assert play.summary.difference == ()


@claim("no-replay")
def test_what_runs_is_seen_when_somebody_can_look() -> None:
    play = played("no-replay")
    begun = [
        one.t / SECOND
        for one in play.of(Lifecycle)
        if one.type == "ContainerStarted" and one.container_name == "blink"
    ]
    assert sum(t < 30 for t in begun) > 15
    assert sum(t > 62 for t in begun) > 8


# ---------------------------------------------------------------- SyncPod, and the event channel


@claim("long-sync")
def test_a_long_sync_holds_its_pods_requests_and_nobody_elses() -> None:
    play = played("long-sync")
    took = [one.duration_ns for one in play.of(SyncFinished)]
    assert sum(8 * SECOND <= one < 8.5 * SECOND for one in took) >= 8
    held = [one for one in play.of(RequestMade) if one.outcome == "held"]
    assert held
    slow_uid = next(one.uid for one in play.died("sidecar"))
    assert {one.uid for one in held} == {slow_uid}
    assert any(one.outcome == "released" for one in play.of(RequestMoved))
    quick = [one.after_ns or 0 for one in play.died("quick")]
    assert len(quick) >= 8
    assert max(quick) < 20 * MS
    sidecar = [one.after_ns or 0 for one in play.died("sidecar")]
    assert max(sidecar) > 3 * SECOND
    withheld = [one for one in play.of(RelistFinished) if one.scope == "global" and one.withheld]
    assert len(withheld) > 50


@claim("long-sync")
def test_a_long_sync_holds_nothing_in_1_37() -> None:
    play = played("long-sync", "1.37")
    assert {one.outcome for one in play.of(RequestMade)} == {"queued"}
    assert max(one.after_ns or 0 for one in play.died()) < 20 * MS


@claim("event-channel-full")
def test_a_full_channel_discards_and_the_pods_come_back_late() -> None:
    play = played("event-channel-full")
    died = play.died()
    assert [one.delivery for one in died].count("discarded") == 6
    assert play.slowest < 200 * MS
    started = [
        one for one in play.of(Lifecycle) if one.type == "ContainerStarted" and one.t > SECOND
    ]
    at_once = [one for one in started if one.t < 52 * SECOND]
    later = [one for one in started if one.t > 100 * SECOND]
    assert (len(at_once), len(later)) == (6, 6)
    assert min(one.t for one in started) > 50 * SECOND
    assert max(one.t for one in started) < 142 * SECOND
    assert {one.uid for one in later} == {one.uid for one in died if one.delivery == "discarded"}


@claim("event-channel-full")
def test_a_full_channel_makes_the_old_design_unhealthy() -> None:
    play = played("event-channel-full", "legacy")
    assert play.summary.unhealthy.entered == 1
    (sick,) = [one for one in play.of(HealthChanged) if not one.healthy]
    assert "channel capacity is full" in sick.message
    assert played("event-channel-full").summary.unhealthy.entered == 0


def test_relists_of_one_pod_are_told_from_global_ones() -> None:
    """What the claims above count on."""
    scopes = {one.scope for one in played("queue-full").of(RelistStarted)}
    assert scopes == {"global", "pod"}
