"""The two exercises, and the scenarios that show one thing each: what the files claim."""

from itertools import pairwise

import pytest

from app.engine.profiles import PROFILES
from app.engine.records import (
    ContainerEventSeen,
    Lifecycle,
    RelistFinished,
    RelistStarted,
    RequestMade,
    StreamChanged,
)
from app.sim.flavour import MS, SECOND
from app.sim.library import load
from tests.sim.claims import Played, claim, played


def relists(play: Played, begin: float, end: float) -> list[int]:
    """How long the global relists that began in this time (s) took (ns)."""
    return [
        one.duration_ns
        for one in play.of(RelistFinished)
        if one.scope == "global" and begin * SECOND < one.started < end * SECOND
    ]


def mean(values: list[int]) -> float:
    return sum(values) / len(values)


# --------------------------------------------------------------------- exercise: the relist loop


@claim("relist-loop")
def test_relist_loop_period_and_threshold_and_their_ratio() -> None:
    scenario = load("relist-loop")
    assert (scenario.engine.period_ns, scenario.engine.threshold_ns) == (SECOND, 180 * SECOND)
    began = [one.t for one in played("relist-loop").of(RelistStarted) if one.scope == "global"]
    gaps = [later - one for one, later in pairwise(began)]
    assert min(gaps) >= SECOND
    assert max(gaps) < 1.05 * SECOND


@claim("relist-loop")
def test_relist_loop_takes_longer_by_a_multiple_under_churn() -> None:
    play = played("relist-loop", "polling")
    idle, busy = relists(play, 5, 58), relists(play, 60, 66)
    assert 1 * MS < mean(idle) < 4 * MS
    assert mean(busy) > 1.5 * mean(idle)
    assert max(busy) > 4 * mean(idle)
    # Two orders of magnitude from the period, and four from the slowest relist.
    assert max(busy) * 10_000 < 180 * SECOND * 1.2


@claim("relist-loop")
def test_relist_loop_is_always_seen_within_about_a_period() -> None:
    play = played("relist-loop", "polling")
    assert play.summary.unhealthy.entered == 0
    assert play.summary.relists.interval.max < 1.1 * SECOND


@claim("relist-loop")
def test_relist_loop_a_container_that_changed_twice_is_told_of_once() -> None:
    play = played("relist-loop", "polling")
    blink = {one.container_id for one in play.died("twice")}
    begun = {
        one.container_id
        for one in play.of(Lifecycle)
        if one.type == "ContainerStarted" and one.container_name == "twice"
    }
    assert len(blink) >= 15
    missed = blink - begun
    assert len(missed) > 0.6 * len(blink)
    straight = [one for one in play.died("twice") if one.container_id in missed]
    assert {one.new_state for one in straight} == {"exited"}
    assert ("non-existent", "exited") in {(one.old_state, one.new_state) for one in straight}
    # With relists on demand none is missed.
    assert played("relist-loop").summary.starts.never == 0


# -------------------------------------------------------------------------- exercise: which PLEG


@claim("which-pleg")
def test_which_pleg_is_told_by_the_stream_and_the_period() -> None:
    streams = {name: played("which-pleg", name).summary.stream for name in PROFILES}
    never = {name for name, one in streams.items() if one.events["opened"] == 0}
    assert never == {"generic", "polling"}
    periods = {
        name: played("which-pleg", name).summary.relists.interval.max / SECOND for name in PROFILES
    }
    assert all(periods[name] < 1.1 for name in PROFILES if name != "legacy")
    assert periods["legacy"] > 200


@claim("which-pleg")
def test_which_pleg_a_silent_stream_counts_as_connected_and_polling_finds_all() -> None:
    play = played("which-pleg")
    changes = [one.t / SECOND for one in play.of(StreamChanged)]
    assert not [t for t in changes if 2 < t < 240]
    sources = {one.source for one in play.died() if 61 < one.t / SECOND < 180}
    assert sources == {"global"}
    before = [one for one in play.died() if 2 < one.t / SECOND < 60]
    assert {one.source for one in before} == {"evented_pleg"}
    assert play.ends("global").max < 1.2 * SECOND


@claim("which-pleg")
def test_which_pleg_the_restart_costs_kep_a_second_and_the_others_their_stream() -> None:
    back = min(t for t in played("which-pleg").entered("connected") if t > 240)
    assert back < 242
    assert played("which-pleg", "1.37").summary.stream.state == "closed"
    assert played("which-pleg", "legacy").summary.stream.state == "closed"


@claim("which-pleg")
def test_which_pleg_the_old_design_is_blind_until_the_restart() -> None:
    play = played("which-pleg", "legacy")
    assert {one.source for one in play.died() if 62 < one.t / SECOND < 239} == set()
    assert play.slowest > 120 * SECOND


# ------------------------------------------------------------------------------------- hint lost


@claim("hint-lost")
def test_hint_lost_one_death_with_the_hint_and_one_without() -> None:
    play = played("hint-lost")
    heard, unheard = play.died()
    assert (heard.container_name, heard.source) == ("heard", "evented_pleg")
    assert heard.after_ns is not None
    assert heard.after_ns < 10 * MS
    assert (unheard.container_name, unheard.source, unheard.event) == ("unheard", "global", None)
    # Half-way between two relists, so that one sees the waiting; and never longer than a period.
    waited = play.ends("global").max
    assert 0.3 * SECOND < waited < 1.1 * SECOND
    assert unheard.t < 10 * SECOND


@claim("hint-lost")
def test_hint_lost_the_late_event_finds_nothing() -> None:
    play = played("hint-lost")
    (late,) = [one for one in play.of(ContainerEventSeen) if one.type == "stopped" and one.backlog]
    unheard = play.died("unheard")[0]
    assert late.container_id == unheard.container_id
    assert late.t > unheard.t
    assert late.request is not None
    assert play.summary.ends.twice == 0


@claim("hint-lost")
def test_hint_lost_without_the_stream_both_wait() -> None:
    play = played("hint-lost", "generic")
    assert play.ends("global").count == 2
    assert play.ends("global").min > 400 * MS


# ----------------------------------------------------------------------------------- short-lived


@claim("short-lived")
def test_short_lived_containers_are_seen_twice_under_the_kep() -> None:
    play = played("short-lived")
    assert play.summary.ends.happened > 60
    assert (play.summary.starts.never, play.summary.ends.never) == (0, 0)
    assert play.starts("post_sync").count > 60


@claim("short-lived")
def test_short_lived_containers_are_mostly_only_seen_dead_by_polling() -> None:
    play = played("short-lived", "polling")
    happened = play.summary.ends.happened
    assert play.ends("global").count == happened
    assert play.summary.starts.never > 0.6 * happened
    assert 350 * MS < play.ends("global").p50 < 700 * MS


# -------------------------------------------------------------------------------- training group


@claim("training-group")
def test_training_group_the_failed_worker_is_found_at_once_and_half_a_second_late_by_polling() -> (
    None
):
    kep, generic = played("training-group"), played("training-group", "generic")
    assert set(kep.summary.ends.by_source) == {"evented_pleg"}
    assert max(one.after_ns or 0 for one in kep.died()) < 20 * MS
    gained = generic.ends("global").p50 - kep.ends("evented_pleg").p50
    assert 300 * MS < gained < 800 * MS
    # Polling waits for the next poll once more, for each start.
    polling = played("training-group", "polling")
    assert polling.starts("global").p50 > 50 * kep.starts("post_sync").p50


# -------------------------------------------------------------------------------------- big node


@claim("big-node")
def test_big_node_lists_five_hundred_pods_in_some_twenty_milliseconds() -> None:
    play = played("big-node")
    took = relists(play, 5, 120)
    assert len(took) > 100
    assert 15 * MS < mean(took) < 30 * MS
    assert play.summary.relists.targeted_took.mean < 5 * MS
    assert max(took) * 1000 < 180 * SECOND
    assert play.summary.deliveries.get("discarded", 0) == 0


@claim("big-node")
def test_big_node_hints_are_as_quick_as_on_a_small_one() -> None:
    big, small = played("big-node"), played("hint-lost")
    hint = small.died("heard")[0].after_ns
    assert hint is not None
    after = sorted(one.after_ns for one in big.died() if one.after_ns is not None)
    assert after[len(after) // 2] < 3 * hint
    assert {one.outcome for one in big.of(RequestMade)} == {"queued"}


@pytest.mark.parametrize("profile", ["kep", "generic"])
@claim("big-node")
def test_big_node_misses_nothing(profile: str) -> None:
    play = played("big-node", profile)
    assert play.summary.ends.happened == len(play.died())
    assert play.summary.unhealthy.entered == 0
