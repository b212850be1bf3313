"""What a journal tells is all there is to tell: the state rebuilt from it is the engine's own."""

from __future__ import annotations

import msgspec
import pytest

from app.engine.records import SyncBegan, Watching
from app.engine.state import EngineState
from app.journal.rebuild import StateBuilder
from tests.engine.director import play

COUNTED_ELSEWHERE = ("opened", "errors")
"""Streams opened and ended: the records show what became of the stream, not each try."""


def comparable(state: EngineState) -> dict[str, object]:
    told = msgspec.to_builtins(state)
    for name in COUNTED_ELSEWHERE:
        del told["stream_events"][name]
    # When the next poll is due, and when health was last polled, are plans and not events.
    del told["next_global_t"], told["health"]["last_seen"]
    return {**told}


@pytest.mark.parametrize("seed", range(40))
def test_the_state_rebuilt_from_the_records_is_the_engines(seed: int) -> None:
    director = play(seed, acts=120)
    stage = director.stage
    builder = StateBuilder()
    for record in stage.records:
        builder.apply(record)
    state = stage.state()
    assert comparable(builder.state(state.t)) == comparable(state)


@pytest.mark.parametrize(("profile", "suspended"), [("kep", 1), ("generic", 0), ("polling", 0)])
def test_a_sync_suspends_relists_only_where_the_profile_does(profile: str, suspended: int) -> None:
    builder = StateBuilder()
    builder.apply(
        Watching(t=0, wall=0, profile=profile, period_ns=1, threshold_ns=1, queue_capacity=1)
    )
    builder.apply(SyncBegan(t=1, wall=1, uid="u"))
    assert builder.state(2).queue.suspended == suspended
