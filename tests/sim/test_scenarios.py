"""Laws that hold in every scenario, what each comes to, and the claims of those that came first.

The others' claims are in ``test_scenarios_*.py``. No scenario goes without: see the first test.
"""

import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

from app.engine.profiles import PROFILES
from app.engine.records import (
    Lifecycle,
    RelistFinished,
    RequestMade,
    StreamChanged,
    SyncFinished,
)
from app.sim.flavour import MS, SECOND
from app.sim.library import load, names
from tests.sim.claims import CLAIMED, claim, played
from tests.sim.outcomes import OUTCOMES, came_to, unlike

SCENARIOS = Path(__file__).parents[2] / "app" / "sim" / "scenarios"

RIGHT = [name for name in PROFILES if name != "legacy"]

BLIND = {"unhealthy-pleg", "no-replay", "lesson-loop"}
"""Scenarios in which nobody can look for longer than a period: their claims say what follows."""


def died(name: str, profile: str = "kep") -> list[Lifecycle]:
    return played(name, profile).died()


def sources(name: str, profile: str = "kep") -> set[str]:
    return set(played(name, profile).summary.ends.by_source)


# ----------------------------------------------------------------------- no scenario goes without


def test_every_scenario_has_claims_and_every_claim_a_scenario() -> None:
    here = Path(__file__).parent
    for path in sorted(here.glob("test_scenarios*.py")):
        import_module(f"tests.sim.{path.stem}")
    assert set(CLAIMED) == set(names())
    assert {name for name, _ in OUTCOMES} == set(names())
    # Whatever a scenario is about, what the KEP makes of it is said.
    assert {name for name, profile in OUTCOMES if profile == "kep"} == set(names())


def test_each_scenario_has_a_seed_and_says_whom_to_compare_with() -> None:
    assert len(names()) >= 15
    ordinary = {"churn", "crash-loop", "demo"}
    for path in SCENARIOS.glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        assert "\nseed = " in text, path.stem
        if path.stem in ordinary or path.stem.startswith("lesson-"):
            continue
        comment = text.partition("\n\n")[0]
        assert "Compare with" in comment or "Try:" in comment, path.stem


def test_the_list_of_scenarios_is_complete() -> None:
    told = (SCENARIOS / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z0-9-]+)`", told)) - {*PROFILES}
    assert named == set(names())


@pytest.mark.parametrize(("name", "profile"), sorted(OUTCOMES))
def test_what_it_comes_to(name: str, profile: str) -> None:
    assert unlike(OUTCOMES[name, profile], came_to(played(name, profile))) == []


@pytest.mark.parametrize("name", names())
def test_each_fault_of_a_scenario_hits_something(name: str) -> None:
    faults = played(name).summary.faults
    assert len(faults) == len(load(name).faults)
    assert all(one.hits for one in faults)


# -------------------------------------------------------------------------- laws of every scenario


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("profile", RIGHT)
def test_the_shadow_knows_the_node_in_the_end(name: str, profile: str) -> None:
    summary = played(name, profile).summary
    assert summary.settled
    assert summary.difference == ()
    assert (summary.ends.twice, summary.ends.wrong, summary.ends.waiting) == (0, 0, 0)
    assert name in BLIND or summary.unhealthy.entered == 0


@pytest.mark.parametrize("name", sorted({*names()} - BLIND))
def test_under_the_kep_every_end_is_found_within_about_a_period(name: str) -> None:
    summary = played(name).summary
    assert summary.ends.never == 0
    lag = summary.runtime_lag.max
    # While a relist hangs nothing is found, and an end within its pod's SyncPod is found after it.
    hung = summary.relists.took.max
    away = max(
        (one.lasts or 0 for one in load(name).faults if one.kind == "runtime-restarts"), default=0
    )
    for source, spread in summary.ends.by_source.items():
        held = 0 if source == "global" else summary.syncs.took.max
        assert spread.max < lag + hung + away + 1.2 * SECOND + held
    starts = summary.starts.by_source.get("post_sync")
    assert starts is None or starts.p50 < 50 * MS


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("profile", ["generic", "polling"])
def test_without_the_stream_nothing_is_found_by_hints(name: str, profile: str) -> None:
    play = played(name, profile)
    assert "evented_pleg" not in play.summary.lifecycle
    assert play.summary.stream.state == "off"
    assert "GetContainerEvents" not in play.summary.calls
    ends = play.ends("global")
    assert ends.count < 10 or ends.p50 > play.summary.runtime_lag.p50 + 150 * MS


@pytest.mark.parametrize("name", names())
def test_polling_finds_everything_by_polling(name: str) -> None:
    play = played(name, "polling")
    assert set(play.summary.lifecycle) == {"global"}
    assert play.summary.requests["made"] == 0
    starts = play.starts("global")
    # A few that wait for one thing are all found by the same poll.
    assert starts.count < 15 or starts.p50 > 100 * MS


# --------------------------------------------------------------------------------------- demo


@claim("demo")
def test_demo_has_every_kind_of_end_and_every_source() -> None:
    summary = played("demo").summary
    ends = {(one.exit_code, one.reason) for one in died("demo")}
    assert ends >= {(0, "Completed"), (1, "Error"), (137, "OOMKilled"), (137, "Error")}
    assert set(summary.lifecycle) == {"evented_pleg", "global", "post_sync"}
    hints = summary.ends.by_source["evented_pleg"]
    assert hints.count > 0.95 * summary.ends.happened
    # Once the runtime knows, it takes a few milliseconds.
    assert hints.p50 - summary.runtime_lag.p50 < 15 * MS


@claim("demo")
def test_demo_under_generic_waits_half_a_second_for_what_nobody_asked_for() -> None:
    kep, generic = played("demo").summary, played("demo", "generic").summary
    assert generic.ends.by_source["global"].p50 > 4 * kep.ends.by_source["evented_pleg"].p50
    assert generic.starts.by_source["post_sync"].p50 < 10 * MS


# -------------------------------------------------------------------------------------- churn


@claim("churn")
def test_churn_makes_polls_longer_by_a_multiple_and_leaves_the_threshold_far_away() -> None:
    play = played("churn", "polling")
    summary, records = play.summary, play.records
    whole = [
        (one.started, one.duration_ns)
        for one in records
        if isinstance(one, RelistFinished) and one.scope == "global"
    ]
    quiet = [took for t, took in whole if 5 * SECOND < t < 30 * SECOND]
    busy = [took for t, took in whole if 50 * SECOND < t < 54 * SECOND]
    mean = sum(quiet) / len(quiet)
    assert mean < 5 * MS
    assert max(busy) > 3 * mean
    assert summary.relists.took.max * 1000 < 180 * SECOND


@claim("churn")
def test_churn_removes_and_starts_each_of_the_twelve_three_times() -> None:
    summary = played("churn").summary
    assert summary.ends.happened == 36
    assert summary.starts.happened == 12 + 36
    assert summary.starts.by_source["post_sync"].count == 36
    assert summary.ends.by_source["evented_pleg"].count == 36


# -------------------------------------------------------------------------------------- storm


@claim("storm")
def test_storm_drops_no_request_and_finds_all_hundred() -> None:
    play = played("storm")
    summary, records = play.summary, play.records
    assert summary.requests["dropped"] == 0
    assert summary.ends.happened == len(died("storm")) == 100
    assert sources("storm") == {"evented_pleg", "global"}
    assert summary.requests["skipped"] > 0
    deepest = max(one.depth for one in records if isinstance(one, RequestMade))
    assert 20 < deepest < 200


@claim("storm")
def test_storm_takes_seconds_and_nearly_all_of_them_in_the_runtime() -> None:
    summary = played("storm").summary
    assert summary.runtime_lag.p50 > 2 * SECOND
    for spread in summary.ends.by_source.values():
        assert spread.p50 < summary.runtime_lag.p50 + 300 * MS
    assert {one.reason for one in died("storm")} == {"OOMKilled"}


# ------------------------------------------------------------------------------- lossy stream


@claim("lossy-stream")
def test_lossy_stream_loses_half_and_the_poll_finds_it_within_a_period() -> None:
    summary = played("lossy-stream").summary
    (fault,) = summary.faults
    ends = summary.ends.by_source
    assert abs(ends["global"].count - ends["evented_pleg"].count) < 0.2 * summary.ends.happened
    assert ends["global"].count == fault.hits > 80
    assert ends["global"].max < 1.2 * SECOND
    assert ends["evented_pleg"].max < summary.runtime_lag.max + 20 * MS


@claim("lossy-stream")
def test_lossy_stream_blinds_the_old_design_for_minutes() -> None:
    summary = played("lossy-stream", "legacy").summary
    lost = summary.ends.by_source["global"]
    assert lost.max > 240 * SECOND
    assert lost.p50 > 60 * SECOND
    assert summary.relists.interval.p50 > 299 * SECOND
    # A restart that was not seen to be needed did not happen: there was less to die.
    assert summary.ends.happened < played("lossy-stream").summary.ends.happened / 2


# ---------------------------------------------------------------------------- runtime restart


def states(profile: str) -> list[tuple[str, str]]:
    records = played("runtime-restart", profile).records
    return [
        (one.state, one.code or "")
        for one in records[:-1]
        if isinstance(one, StreamChanged) and one.state in ("waiting", "connected", "closed")
    ]


@claim("runtime-restart")
def test_runtime_restart_brings_the_stream_back_each_time() -> None:
    play = played("runtime-restart")
    summary, records = play.summary, play.records
    assert summary.stream.state == "connected"
    assert states("kep").count(("connected", "")) == 4
    assert {code for state, code in states("kep") if state == "waiting"} == {"unavailable"}
    gone = [one.t for one in records if isinstance(one, StreamChanged) and one.code]
    back = [one.t for one in records if isinstance(one, StreamChanged) and one.state == "connected"]
    for t in (60, 130, 200):
        first = min(one for one in gone if one >= t * SECOND)
        assert min(one for one in back if one > first) - first < 3 * SECOND


@claim("runtime-restart")
def test_runtime_restart_hides_one_death_that_only_the_list_can_show() -> None:
    unlucky = [one for one in died("runtime-restart") if one.container_name == "unlucky"]
    (one,) = unlucky
    assert (one.exit_code, one.reason, one.source) == (255, "Unknown", "global")
    assert one.event is None
    assert one.t < 62 * SECOND


@claim("runtime-restart")
@pytest.mark.parametrize("profile", ["1.37", "legacy"])
def test_runtime_restart_costs_the_merged_watcher_its_stream_for_good(profile: str) -> None:
    play = played("runtime-restart", profile)
    summary, records = play.summary, play.records
    assert summary.stream.state == "closed"
    closed = next(
        one.t for one in records if isinstance(one, StreamChanged) and one.state == "closed"
    )
    assert 60 * SECOND < closed < 60.1 * SECOND
    late = {one.source for one in died("runtime-restart", profile) if one.t > 61 * SECOND}
    assert late == {"global"}


# --------------------------------------------------------------------------------- crash loop


@claim("crash-loop")
def test_crash_loop_names_each_death_and_backs_off_further_each_time() -> None:
    deaths = died("crash-loop")
    loop = [one for one in deaths if one.container_name == "ledger-sync"]
    assert {(one.exit_code, one.reason) for one in loop} == {(1, "Error")}
    assert [one.attempt for one in loop] == list(range(len(loop)))
    gaps = [later.t - one.t for one, later in pairwise(loop[1:])]
    assert gaps[0] < 8 * SECOND
    assert gaps[-1] > 16 * SECOND
    assert {one.reason for one in deaths if one.container_name == "thumbs"} == {"OOMKilled"}
    assert {one.reason for one in deaths if one.container_name == "invoice"} == {
        "Completed",
        "Error",
    }


@claim("crash-loop")
def test_crash_loop_a_sync_that_has_to_wait_asks_for_nothing() -> None:
    play = played("crash-loop")
    summary, records = play.summary, play.records
    failed = {one.t for one in records if isinstance(one, SyncFinished) and one.failed}
    assert len(failed) == summary.syncs.failed > 10
    asked = {one.t for one in records if isinstance(one, RequestMade) and one.source == "post_sync"}
    assert asked.isdisjoint(failed)
    assert len(asked) == summary.syncs.did_work


# ------------------------------------------------------------------------------ the old design


@claim("churn")
def test_the_old_design_is_wrong_in_the_end_and_tells_of_the_dead_twice() -> None:
    summary = played("churn", "legacy").summary
    assert not summary.settled
    assert summary.differences > 0
    assert summary.ends.twice == summary.ends.happened
    # Its one advantage: a start is told without any relist.
    assert summary.starts.by_source["evented_pleg"].max < 5 * MS
