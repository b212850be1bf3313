"""What a piece tells of each record is all that the state changed by."""

from __future__ import annotations

import msgspec
import pytest

from app.engine.records import Record
from app.engine.state import EngineState
from app.hub.runwire import told_of
from app.hub.wire import Cost, SessionState
from app.journal.rebuild import StateBuilder
from app.replaying.past import Cutting, Past
from tests.engine.director import play


def state_of(past: Past) -> SessionState:
    """As a film tells it, of a session that nothing else is known of."""
    return SessionState(
        session="s",
        title="",
        simulated=True,
        endpoint="",
        endpoint_reason="",
        wall=0,
        engine=past.engine(),
        cost=Cost(0.0, 0.0, 0.0, 0),
        runtime=past.runtime,
        oldest_call=past.oldest,
        viewers=0,
        first_seq=1,
        last_seq=past.seq,
    )


def changed(state: EngineState, fields: dict[str, object]) -> EngineState:
    """The state after a change."""
    for name, value in fields.items():
        field, _, key = name.partition(".")
        if field != "oldest_call":
            new = {**getattr(state, field), key: value} if key else value
            state = msgspec.structs.replace(state, **{field: new})
    return state


@pytest.mark.parametrize("seed", range(12))
def test_each_change_is_what_the_whole_state_differs_by(seed: int) -> None:
    records: list[Record] = list(play(seed, acts=120).stage.records)
    past, builder = Past(), StateBuilder()
    cutting = Cutting(past, state_of)
    state = past.engine()
    told = 0
    for record in records:
        builder.apply(record)
        cutting.add(record)
        for change in cutting._changes[told:]:
            assert change.seq == record.seq
            state = changed(state, change.fields)
        told = len(cutting._changes)
        whole = builder.state(record.t)
        # Kept beside the state as it is told, it must not go its own way.
        assert cutting._told == told_of(whole)
        assert msgspec.structs.replace(state, t=whole.t) == whole
    assert told
    healths = {
        change.fields["health"].healthy for change in cutting._changes if "health" in change.fields
    }
    assert True in healths
