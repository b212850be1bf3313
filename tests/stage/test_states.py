"""The state of each moment: told by the records, changed by each of them."""

from typing import Any
from urllib.parse import parse_qsl

import msgspec
import pytest

from app.engine.records import RuntimeSeen
from app.hub.wire import SessionState
from app.journal.rebuild import StateBuilder
from app.sim.library import load
from app.stage.run import Run, play
from app.stage.spec import parse
from app.stage.states import EVERY, States


@pytest.fixture(scope="module")
def run() -> Run:
    query = "scenario=storm&duration=60s&press=20s!break-stream&press=25s!slow-lists&press=28s!heal"
    spec = parse(parse_qsl(query), load)
    return play(spec, load("storm"))


@pytest.fixture(scope="module")
def states(run: Run) -> States:
    return States(run, "r")


def folded(run: Run, states: States, until: int) -> dict[str, Any]:
    """What a browser makes of the changes."""
    engine: dict[str, Any] = msgspec.to_builtins(states.at(0).engine)
    faults: Any = ()
    for change in msgspec.to_builtins(tuple(states.changes())):
        seq, fields = change
        if seq > until:
            break
        for name, value in fields.items():
            head, _, key = name.partition(".")
            if name == "faults":
                faults = value
            elif key:
                engine[head] = {**engine[head], key: value}
            else:
                engine[head] = value
    engine["t"] = run.records[until - 1].t if until else 0
    return {"engine": engine, "faults": faults}


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.5, 0.77, 1])
def test_the_changes_add_up_to_the_state(run: Run, states: States, share: float) -> None:
    seq = round(len(run.records) * share)
    state: dict[str, Any] = msgspec.to_builtins(states.at(seq))
    assert folded(run, states, seq) == {"engine": state["engine"], "faults": state["faults"]}


@pytest.mark.parametrize("seq", [1, EVERY - 1, EVERY, EVERY + 1, 2 * EVERY])
def test_a_state_is_what_reading_all_records_before_it_gives(
    run: Run, states: States, seq: int
) -> None:
    builder = StateBuilder()
    for record in run.records[:seq]:
        builder.apply(record)
    state = states.at(seq)
    assert state.engine == builder.state(run.records[seq - 1].t)
    assert state.wall == run.records[seq - 1].wall
    assert (state.first_seq, state.last_seq) == (1, seq)


def test_asking_for_one_state_changes_no_other(states: States) -> None:
    later = states.at(EVERY + 7)
    assert states.at(EVERY + 3) != later
    assert states.at(EVERY + 7) == later


def test_a_state_names_runtime_and_run(run: Run, states: States) -> None:
    assert states.at(0).runtime is None
    state: SessionState = states.at(len(run.records))
    assert isinstance(state.runtime, RuntimeSeen)
    assert state.simulated
    assert state.session == "r"
    assert "scenario storm" in state.title


def test_faults_are_told_from_the_record_that_tells_of_them(run: Run, states: States) -> None:
    def names(t: int) -> list[str]:
        seq = max((one.seq for one in run.records if one.t <= t), default=0)
        return [fault.name for fault in states.at(seq).faults]

    second = 1_000_000_000
    assert names(19 * second) == []
    assert names(21 * second) == ["break-stream"]
    assert names(26 * second) == ["break-stream", "slow-lists"]
    assert names(29 * second) == []
