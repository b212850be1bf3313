"""What a journal tells is all there is to tell: the state rebuilt from it is the engine's own."""

from __future__ import annotations

import pytest

from app.engine.profiles import PROFILES
from app.engine.records import SyncBegan, Watching
from app.journal.rebuild import StateBuilder
from app.sim.library import load
from app.sim.virtual import VirtualSession
from tests.engine.director import play
from tests.sweep.rebuild import comparable

SECOND = 1_000_000_000


@pytest.mark.parametrize("seed", range(40))
def test_the_state_rebuilt_from_the_records_is_the_engines(seed: int) -> None:
    director = play(seed, acts=120)
    stage = director.stage
    builder = StateBuilder()
    for record in stage.records:
        builder.apply(record)
    state = stage.state()
    assert comparable(builder.state(state.t)) == comparable(state)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("scenario", ["runtime-restart", "crash-loop"])
def test_it_is_the_engines_at_every_moment_under_every_profile(profile: str, scenario: str) -> None:
    builder = StateBuilder()
    session = VirtualSession(load(scenario), profile=profile, on_record=builder.apply)
    session.start()
    moments = range(SECOND, 150 * SECOND, 1_070_000_003)
    for t in moments:
        session.run_until(t)
        told, state = builder.state(t), session.engine.state(t)
        assert comparable(told) == comparable(state)
        if profile != "legacy":
            assert told.next_global_t == state.next_global_t


@pytest.mark.parametrize(("profile", "suspended"), [("kep", 1), ("generic", 0), ("polling", 0)])
def test_a_sync_suspends_relists_only_where_the_profile_does(profile: str, suspended: int) -> None:
    builder = StateBuilder()
    builder.apply(
        Watching(t=0, wall=0, profile=profile, period_ns=1, threshold_ns=1, queue_capacity=1)
    )
    builder.apply(SyncBegan(t=1, wall=1, uid="u"))
    assert builder.state(2).queue.suspended == suspended
