"""The state of each moment: told by the records, changed by each of them."""

from typing import Any
from urllib.parse import parse_qsl

import msgspec
import pytest

from app.engine.hanging import OldestCall
from app.engine.records import RelistFinished, RuntimeHung, RuntimeSeen
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


def test_a_frozen_runtime_is_told_by_the_call_that_hangs() -> None:
    spec = parse(parse_qsl("scenario=frozen-runtime&duration=60s"), load)
    run = play(spec, load("frozen-runtime"))
    states = States(run, "f")
    told = [r for r in run.records if isinstance(r, RuntimeHung)]
    assert [one.hung for one in told] == [True, False]
    began = told[0].t - told[0].age_ns
    over = next(r for r in run.records if isinstance(r, RelistFinished) and r.t > told[0].t)
    call = OldestCall("ListPodSandbox", began, hung=True)
    found = {
        one.seq: one.fields["oldest_call"]
        for one in states.changes()
        if "oldest_call" in one.fields
    }
    # It is over with its relist; that the runtime answers is told later
    assert found == {told[0].seq: call, over.seq: None}
    assert over.t < told[1].t
    seqs = (told[0].seq - 1, told[0].seq, over.seq - 1, over.seq)
    assert [states.at(seq).oldest_call for seq in seqs] == [None, call, call, None]


def test_faults_are_told_from_the_record_that_tells_of_them(run: Run, states: States) -> None:
    def names(t: int) -> list[str]:
        seq = max((one.seq for one in run.records if one.t <= t), default=0)
        return [fault.name for fault in states.at(seq).faults]

    second = 1_000_000_000
    assert names(19 * second) == []
    assert names(21 * second) == ["break-stream"]
    assert names(26 * second) == ["break-stream", "slow-lists"]
    assert names(29 * second) == []
