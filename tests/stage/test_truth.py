"""What truly was, against the ledger, the records, and sums done another way."""

from __future__ import annotations

import pytest

from app.engine.records import Lifecycle, PodCached, PodUncached, Record, RelistFinished
from app.sim.account import play_to_end
from app.sim.library import parse
from app.sim.units import seconds
from app.sim.virtual import VirtualSession
from app.stage.truth import Truth
from tests.stage.watched import BLIND_INSPECTIONS, LOST, OLDER_WINS, ONE_POD, ends, played

MS = 1_000_000
PROFILES = ("kep", "generic", "polling", "1.37", "legacy")


@pytest.mark.parametrize("profile", PROFILES)
def test_every_finding_is_the_ledgers(profile: str) -> None:
    truth, summary = played(ONE_POD, profile)
    for what, told in (("start", summary.starts), ("end", summary.ends)):
        moments = [one for one in truth.moments if one.what == what]
        found = [one for one in moments if one.fate == "found"]
        by_source = {name: spread.count for name, spread in told.by_source.items()}
        assert {
            source: sum(one.source == source for one in found) for source in by_source
        } == by_source
        assert sum(one.fate == "never" for one in moments) == told.never
        worst = max((spread.max for spread in told.by_source.values()), default=0)
        assert max((one.latency or 0 for one in found), default=0) == worst


def test_what_was_there_before_the_session_is_no_start_that_somebody_was_late_for() -> None:
    truth, summary = played(ONE_POD)
    assert summary.starts.happened == len([m for m in truth.moments if m.what == "start"]) + 1
    assert all(one.who.attempt > 0 for one in truth.moments if one.what == "start")


def test_a_moment_names_its_container_its_chain_and_what_the_runtime_knew() -> None:
    truth, summary = played(ONE_POD)
    first = ends(truth)[0]
    assert (first.who.namespace, first.who.container, first.who.attempt) == ("shop", "web", 0)
    assert first.who.pod == "web-0"
    assert (first.exit_code, first.reason) == (1, "Error")
    assert first.known_t is not None
    assert first.stop_t is not None
    assert first.relist_t is not None
    assert first.found_t is not None
    assert first.t < first.known_t < first.stop_t <= first.relist_t < first.found_t
    assert truth.lag_ns == summary.runtime_lag.p50
    assert first.latency == first.found_t - first.t


def test_a_moment_names_its_record() -> None:
    records: list[Record] = []
    session = VirtualSession(parse(ONE_POD, "test"), on_record=records.append)
    truth = Truth(session, seconds(20))
    play_to_end(session, seconds(20))
    moments = truth.told().moments
    assert moments
    for one in moments:
        record = records[one.seq - 1]
        assert isinstance(record, Lifecycle)
        assert (record.container_id, record.t) == (one.container_id, one.found_t)


def test_what_nobody_noticed_waits_as_long_as_the_runtime_lists_it() -> None:
    truth, _ = played(ONE_POD + LOST, "legacy")
    (only,) = truth.moments
    assert (only.what, only.fate, only.found_t, only.seq) == ("end", "waiting", None, 0)


def test_a_wrong_cache_is_counted_from_the_runtimes_knowing_to_the_cache_or_the_end() -> None:
    truth, _ = played(ONE_POD + LOST, "legacy")
    (only,) = truth.moments
    assert only.known_t is not None
    assert truth.wrong_ns == seconds(30) - only.known_t


@pytest.mark.parametrize("profile", PROFILES)
def test_time_with_a_wrong_cache_is_the_sum_over_every_step(profile: str) -> None:
    """Done again from the world itself, step by step instead of from lists of changes."""
    session = VirtualSession(parse(ONE_POD, "test"), profile=profile)
    truth = Truth(session, seconds(25))
    caches: dict[str, frozenset[str]] = {}
    last_t, wrong, total, counting = 0, 0, 0, False

    def step(record: Record | None) -> None:
        nonlocal last_t, wrong, total, counting
        t = min(session.clock.mono(), seconds(25))
        total += wrong * (t - last_t) if counting else 0
        last_t = t
        if isinstance(record, RelistFinished) and record.ok and record.scope == "global":
            counting = True
        if isinstance(record, PodCached):
            caches[record.uid] = frozenset(
                one.id for one in record.containers if one.runtime_state == "running"
            )
        elif isinstance(record, PodUncached):
            caches.pop(record.uid, None)
        runs = {one.id for one in session.world.everything() if one.state == "running"}
        wrong = len(runs ^ frozenset().union(*caches.values()))

    session.listeners.append(step)
    session.world.on_change.append(lambda _id: step(None))
    play_to_end(session, seconds(25))
    assert truth.told().wrong_ns == total
    assert total > 0


def test_an_older_state_that_is_believed_makes_the_cache_wrong() -> None:
    truth, _ = played(OLDER_WINS, "legacy")
    (wrong,) = truth.wrongs
    assert (wrong.kind, wrong.says, wrong.who.container) == ("overwritten", "runs", "brief")
    assert wrong.until_t is None
    (end,) = ends(truth)
    assert end.found_t is not None
    assert end.found_t < wrong.t


@pytest.mark.parametrize("profile", ["kep", "generic", "polling", "1.37"])
@pytest.mark.parametrize("text", [ONE_POD, ONE_POD + LOST, BLIND_INSPECTIONS, OLDER_WINS])
def test_a_relist_never_makes_the_cache_wrong(profile: str, text: str) -> None:
    truth, _ = played(text, profile)
    assert truth.wrongs == ()


def test_calls_are_those_within_what_was_played() -> None:
    truth, summary = played(ONE_POD, "generic")
    assert truth.calls.keys() == summary.calls.keys()
    assert all(count <= summary.calls[method] for method, count in truth.calls.items())
    # One list of each kind a second, from 0 on, and those that a sync asked for.
    assert truth.calls["ListContainers"] >= 30


def test_watching_changes_nothing() -> None:
    def records(*, watched: bool) -> list[Record]:
        kept: list[Record] = []
        session = VirtualSession(parse(ONE_POD, "test"), on_record=kept.append)
        if watched:
            Truth(session, seconds(20))
        play_to_end(session, seconds(20))
        return kept

    assert records(watched=True) == records(watched=False)


def test_the_pods_line_says_how_many_containers_the_cache_has_running() -> None:
    truth, _ = played(ONE_POD)
    (line,) = truth.pods
    assert (line.namespace, line.pod, line.gone_t) == ("shop", "web-0", None)
    times = [t for t, _ in line.running]
    assert times == sorted(times)
    assert [running for _, running in line.running[:3]] == [1, 0, 1]


def test_the_rows_above_the_lanes_are_told_too() -> None:
    truth, _ = played(ONE_POD)
    assert all(begin < end for begin, end in truth.relists)
    assert [state for _, state in truth.stream][:2] == ["connecting", "connected"]


def test_what_only_the_last_look_found_has_no_record_in_the_run() -> None:
    first = ends(played(ONE_POD, "generic")[0])[0]
    assert first.known_t is not None
    cut, _ = played(ONE_POD, "generic", time_s=(first.known_t + 10 * MS) / 1e9)
    (only,) = ends(cut)
    assert (only.t, only.fate, only.seq) == (first.t, "found", 0)
    assert only.found_t is not None
    assert only.found_t > cut.until_t
    # Neither has the time after the end a place in the sums, or in the picture.
    assert cut.wrong_ns == 10 * MS
    assert all(begin < cut.until_t for begin, _ in cut.relists)
    assert all(t < cut.until_t for t, _ in cut.stream)


def test_an_end_that_is_told_of_before_it_has_come_is_wrong() -> None:
    session = VirtualSession(parse(ONE_POD, "test"))
    truth = Truth(session, seconds(3))
    session.start()
    session.run_until(seconds(2))
    (one,) = session.world.everything()
    told = Lifecycle(
        t=session.clock.mono(),
        wall=session.clock.wall(),
        type="ContainerDied",
        uid=one.config.labels["io.kubernetes.pod.uid"],
        container_id=one.id,
        container_name="web",
        is_sandbox=False,
        old_state="running",
        new_state="exited",
        relist=0,
        source="evented_pleg",
        delivery="sent",
    )
    for listener in session.listeners:
        listener(told)
    session.run_until(seconds(3))
    session.settle()
    (wrong,) = truth.told().wrongs
    assert (wrong.kind, wrong.says, wrong.t) == ("told", "does not run", seconds(2))
    assert session.ledger.ends(frozenset()).wrong == 1
    session.stop()
