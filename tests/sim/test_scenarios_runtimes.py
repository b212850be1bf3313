"""What differs by runtime, one scenario each: what the files claim."""

from itertools import pairwise

import msgspec
import pytest

from app.engine.records import (
    ContainerEventSeen,
    Lifecycle,
    Record,
    RelistFinished,
    StreamChanged,
    SyncBegan,
    SyncFinished,
)
from app.sim.account import play_to_end
from app.sim.flavour import SECOND
from app.sim.flavours import FlavourName, rules_of
from app.sim.library import load
from app.sim.virtual import VirtualSession
from tests.sim.claims import Played, claim, played


def played_on(name: str, runtime: FlavourName) -> Played:
    """A scenario on another runtime than its own."""
    records: list[Record] = []
    scenario = msgspec.structs.replace(load(name), rules=rules_of(runtime))
    session = VirtualSession(scenario, on_record=records.append)
    summary = play_to_end(session, scenario.duration_ns)
    return Played(tuple(records), summary, 1)


# ------------------------------------------------------------------------ one shared channel


@claim("shared-stream")
def test_shared_about_half_of_the_minutes_deaths_are_found_by_polling() -> None:
    play = played("shared-stream")
    assert play.found_between(0, 30) == {"evented_pleg"}
    assert play.found_between(95, 120) == {"evented_pleg"}
    meanwhile = [one.source for one in play.died() if 30 <= one.t / SECOND < 90]
    assert 0.3 <= meanwhile.count("global") / len(meanwhile) <= 0.8
    assert set(meanwhile) == {"global", "evented_pleg"}


@claim("shared-stream")
def test_shared_nothing_tells_of_it() -> None:
    play = played("shared-stream")
    assert [one.state for one in play.of(StreamChanged)][:2] == ["connecting", "connected"]
    assert play.summary.stream.events.get("errors", 0) == 0
    assert play.summary.unhealthy.entered == 0


@claim("shared-stream")
@pytest.mark.parametrize("runtime", ["containerd-2", "cri-o"])
def test_shared_is_nothing_where_each_gets_every_event(runtime: FlavourName) -> None:
    play = played_on("shared-stream", runtime)
    by_polling = play.ends("global").count
    assert by_polling <= 2
    assert play.ends("evented_pleg").count > 40


@claim("shared-stream")
def test_shared_the_old_design_does_not_know_the_node_any_more() -> None:
    assert played("shared-stream", "legacy").summary.differences > 0


# ------------------------------------------------------------------- a client that does not read


STALLED = (35, 70)
"""Seconds in which everything that could hang does."""


def within(one: Record) -> bool:
    return STALLED[0] <= one.t / SECOND < STALLED[1]


@claim("stalled-node")
@pytest.mark.parametrize("profile", ["kep", "generic"])
def test_stalled_nothing_is_started_while_lists_answer_as_ever(profile: str) -> None:
    play = played("stalled-node", profile)
    started = [one for one in play.of(Lifecycle) if one.type == "ContainerStarted"]
    assert not [one for one in started if within(one)]
    assert [one for one in started if one.t / SECOND > STALLED[1]]
    relists = [one for one in play.of(RelistFinished) if within(one) and one.scope == "global"]
    assert len(relists) >= STALLED[1] - STALLED[0] - 2
    assert all(one.ok and one.duration_ns < SECOND / 10 for one in relists)
    assert play.summary.unhealthy.entered == 0


@claim("stalled-node")
def test_stalled_syncs_hang_until_the_client_is_gone() -> None:
    play = played("stalled-node")
    longest = max(play.of(SyncFinished), key=lambda one: one.duration_ns)
    assert longest.duration_ns > 30 * SECOND
    assert 70 <= longest.t / SECOND < 71
    assert not [one for one in play.of(SyncFinished) if within(one) and one.did_work]
    assert play.of(SyncBegan)[-1].t / SECOND > 100


@claim("stalled-node")
def test_stalled_no_event_comes_and_the_stream_counts_as_connected() -> None:
    play = played("stalled-node")
    assert not [one for one in play.of(ContainerEventSeen) if within(one)]
    assert [one for one in play.of(ContainerEventSeen) if one.t / SECOND > STALLED[1]]
    assert play.summary.stream.events.get("errors", 0) == 0
    after = [one.source for one in play.died() if one.t / SECOND > 80]
    assert after.count("evented_pleg") > 0.85 * len(after)


@claim("stalled-node")
@pytest.mark.parametrize("runtime", ["containerd-1.7", "cri-o"])
def test_stalled_is_only_containerd_2(runtime: FlavourName) -> None:
    play = played_on("stalled-node", runtime)
    started = [one for one in play.of(Lifecycle) if one.type == "ContainerStarted"]
    assert len([one for one in started if within(one)]) > 20
    assert max(one.duration_ns for one in play.of(SyncFinished)) < 3 * SECOND


# -------------------------------------------------------------------- starts without an event


@claim("failed-start")
def test_failed_starts_are_found_by_polling_alone() -> None:
    died = [one for one in played("failed-start").died() if one.reason == "StartError"]
    assert len(died) >= 8
    assert {(one.source, one.exit_code) for one in died} == {("global", 128)}
    # The crash loop back-off.
    gaps = [(two.t - one.t) / SECOND for one, two in pairwise(died[1:])]
    assert gaps[:4] == pytest.approx([2, 3, 5, 9], abs=1.2)


@claim("failed-start")
def test_failed_starts_beside_which_the_hint_does_its_work() -> None:
    others = [one for one in played("failed-start").died() if one.reason != "StartError"]
    assert len(others) > 20
    assert {one.source for one in others} == {"evented_pleg"}


@claim("failed-start")
def test_failed_starts_leave_nothing_to_find_on_cri_o() -> None:
    play = played_on("failed-start", "cri-o")
    assert not [one for one in play.died() if one.exit_code == 128]
    assert len([one for one in play.of(SyncFinished) if one.failed]) > 60
