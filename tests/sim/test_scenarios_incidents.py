"""Famous incidents of the design before the revision: they happen under ``legacy``, not under
``kep``."""

from collections.abc import Callable

import pytest

from app.engine.records import ContainerEventSeen, EventRefused, Lifecycle, StreamChanged
from app.sim.flavour import MS, SECOND
from tests.sim.claims import Played, claim, played

# --------------------------------------------------- the fast path is lost after a short restart


@claim("lost-fast-path")
@pytest.mark.parametrize("profile", ["legacy", "1.37"])
def test_the_fast_path_is_lost_within_milliseconds_and_for_good(profile: str) -> None:
    play = played("lost-fast-path", profile)
    (closed,) = play.entered("closed")
    assert 30 <= closed < 30.1
    assert play.summary.stream.events["errors"] == 5
    late = [one for one in play.died() if one.t > 31 * SECOND]
    assert len(late) > 20
    assert {one.source for one in late} == {"global"}
    assert play.ends("global").p50 > 400 * MS


@claim("lost-fast-path")
def test_the_fast_path_comes_back_under_the_kep() -> None:
    play = played("lost-fast-path")
    back = min(t for t in play.entered("connected") if t > 30)
    assert back < 32
    late = [one for one in play.died() if one.t > (back + 1) * SECOND]
    assert len(late) > 20
    assert {one.source for one in late} == {"evented_pleg"}
    assert play.ends("evented_pleg").p50 < play.summary.runtime_lag.p50 + 20 * MS


# -------------------------------------------------- doubled containers from an empty cache entry


@claim("doubled-containers")
def test_an_empty_cache_entry_doubles_a_container_in_the_old_design() -> None:
    play = played("doubled-containers", "legacy")
    assert play.beside == 2
    # Nothing had died of it: the sidecar's end is what made SyncPod look into the cache.
    app = [one for one in play.died("app") if one.t > 70 * SECOND]
    assert app == []
    again = [
        one
        for one in play.of(Lifecycle)
        if one.type == "ContainerStarted" and one.t > 80 * SECOND and not one.is_sandbox
    ]
    assert [one.source for one in again] == ["evented_pleg"]
    # SyncPod goes on failing, as the sidecar's name is taken.
    assert play.summary.syncs.failed > 5


@claim("doubled-containers")
def test_an_event_without_statuses_makes_no_difference_under_the_kep() -> None:
    play = played("doubled-containers")
    assert play.beside == 1
    assert play.summary.ends.happened == 4
    assert play.summary.starts.happened == 2 + 4
    assert play.summary.syncs.failed == 0
    (sidecar,) = play.died("sidecar")
    assert sidecar.source == "evented_pleg"


# -------------------------------------------------------- a stale event overwrites a newer state


def stays_dead(play: Played) -> int:
    """How many containers of four died twice and were not started again."""
    return play.summary.ends.happened - (play.summary.starts.happened - 4)


@claim("stale-event")
def test_a_stale_start_brings_the_dead_back_to_life_in_the_old_cache() -> None:
    play = played("stale-event", "legacy")
    assert stays_dead(play) == 4
    # The starts were told after the deaths that they were before.
    told = [
        (one.type, one.attempt)
        for one in play.of(Lifecycle)
        if not one.is_sandbox and one.uid == play.died()[-1].uid and one.t > 10 * SECOND
    ]
    assert told.index(("ContainerDied", 1)) < told.index(("ContainerStarted", 1))
    # For two and a half minutes nobody does anything about it.
    assert max(one.t for one in play.died()) < 30 * SECOND
    assert {one.where for one in play.summary.difference} >= {"cache"}


@claim("stale-event")
def test_a_stale_start_asks_for_nothing_under_the_kep() -> None:
    play = played("stale-event")
    assert stays_dead(play) == 0
    assert play.slowest < play.summary.runtime_lag.max + 50 * MS
    late = [one for one in play.of(ContainerEventSeen) if one.type == "started"]
    assert len(late) == 8
    assert {one.request for one in late} == {None}


# -------------------------------------------------------------- five minutes blind for one event


@claim("five-minute-blindness")
def test_one_lost_event_blinds_the_old_design_for_nearly_five_minutes() -> None:
    play = played("five-minute-blindness", "legacy")
    (one,) = play.died()
    assert (one.source, one.event) == ("global", None)
    assert 280 * SECOND < play.slowest <= 300 * SECOND
    assert play.summary.relists.interval.max >= 300 * SECOND
    assert play.summary.stream.state == "connected"
    assert play.summary.stream.events["errors"] == 0
    # The container is restarted as late as that.
    (start,) = [t for t in play.of(Lifecycle) if t.type == "ContainerStarted" and t.t > 2 * SECOND]
    assert start.t > 295 * SECOND


@claim("five-minute-blindness")
@pytest.mark.parametrize("profile", ["kep", "generic"])
def test_one_lost_event_costs_less_than_a_period_otherwise(profile: str) -> None:
    play = played("five-minute-blindness", profile)
    (one,) = play.died()
    assert one.source == "global"
    assert play.slowest < 1.2 * SECOND
    assert play.summary.relists.interval.max < 1.1 * SECOND


# ------------------------------------------------------------- events from a clock that is ahead


@claim("wrong-created-at")
def test_a_clock_ahead_makes_the_old_cache_refuse_what_is_true() -> None:
    play = played("wrong-created-at", "legacy")
    refused = play.of(EventRefused)
    assert len(refused) >= 4
    assert min(one.t for one in refused) > 40 * SECOND
    assert max(one.behind_ns for one in refused) > 3000 * SECOND
    assert play.summary.ends.waiting >= 4
    assert play.summary.differences > 0


@claim("wrong-created-at")
def test_a_clock_ahead_only_spoils_the_measured_latency_under_the_kep() -> None:
    play = played("wrong-created-at")
    assert set(play.summary.ends.by_source) == {"evented_pleg"}
    assert play.slowest < play.summary.runtime_lag.max + 50 * MS
    ahead = [one for one in play.of(ContainerEventSeen) if 20 < one.t / SECOND < 40]
    assert len(ahead) > 15
    assert {one.latency_ns for one in ahead} == {None}
    others = [one for one in play.of(ContainerEventSeen) if one.t / SECOND > 41]
    assert all(one.latency_ns is not None for one in others)


# ------------------------------------------------------------------------------ whatever the seed

INCIDENTS: dict[str, Callable[[Played], bool]] = {
    "lost-fast-path": lambda play: play.summary.stream.state == "closed",
    "doubled-containers": lambda play: play.beside > 1,
    "stale-event": lambda play: stays_dead(play) > 0,
    "five-minute-blindness": lambda play: play.slowest > 240 * SECOND,
    "wrong-created-at": lambda play: bool(play.of(EventRefused) and play.summary.ends.waiting),
}


@claim(*INCIDENTS)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", INCIDENTS)
def test_it_happens_under_legacy_and_not_under_the_kep_with_any_seed(name: str, seed: int) -> None:
    happened = INCIDENTS[name]
    assert happened(played(name, "legacy", seed))
    kep = played(name, "kep", seed)
    assert not happened(kep)
    assert kep.summary.difference == ()
    assert (kep.summary.ends.never, kep.summary.ends.wrong, kep.summary.ends.twice) == (0, 0, 0)


def test_a_stream_that_is_lost_for_good_is_told_so() -> None:
    """What the claims above count on."""
    last = played("lost-fast-path", "legacy").of(StreamChanged)[-1]
    assert last.state == "closed"
