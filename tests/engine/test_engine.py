"""The engine as a whole: what it takes, start and stop, the order of time, its state."""

import pytest

from app.engine.effects import CancelWake, CloseStream, ListPods, WakeAt
from app.engine.engine import Engine
from app.engine.inputs import (
    EventsTaken,
    Input,
    RelistRequested,
    Start,
    Stop,
    StreamLost,
    TimerFired,
)
from app.engine.outbox import Outputs
from app.engine.records import (
    RelistFinished,
    RelistStarted,
    RequestMade,
    RequestMoved,
    StreamChanged,
    Watching,
)
from app.engine.settings import EngineSettings
from app.engine.state import EngineState, QueueState, RelistState
from tests.engine.play import (
    MS,
    SECOND,
    WALL,
    Dice,
    Stage,
    container_event,
    lifecycle,
    of,
    outcomes,
)


class Unheard(Input, frozen=True, tag="unheard"):
    """An input that no engine knows."""


def running_pod(by_hand: bool = False) -> Stage:
    stage = Stage()
    stage.node.sandbox("p", "s")
    stage.node.container("p", "c1")
    stage.start()
    stage.relist()
    stage.run(0.5)
    stage.by_hand = by_hand
    return stage


# Start


def test_h11_start_tells_the_settings_and_lists_at_once() -> None:
    stage = Stage(settings=EngineSettings(profile="kep", queue_capacity=7))
    told = stage.start()
    (watching,) = of(told, Watching)
    assert (watching.profile, watching.period_ns, watching.threshold_ns) == (
        "kep",
        SECOND,
        180 * SECOND,
    )
    assert watching.queue_capacity == 7
    assert [type(one) for one in told].index(Watching) < [type(one) for one in told].index(
        RelistStarted
    )
    assert stage.effects[0] == ListPods(call=1)


def test_h10_start_twice_is_start_once() -> None:
    stage = running_pod()
    since = len(stage.effects)
    assert stage.tell(Start(t=stage.clock.t, wall=stage.clock.wall)) == []
    assert len(stage.effects) == since


def test_before_the_start_nothing_is_asked_for() -> None:
    stage = Stage()
    assert stage.ask("p") == []
    stage.mark("p")
    stage.hold("q")
    stage.tell(StreamLost(t=0, wall=WALL, count=1, from_t=0))
    assert stage.effects == []
    assert stage.state().requests["queued"] == 0
    assert stage.state().next_global_t is None


# Stop


def test_h9_p19_stop_cancels_everything_and_begins_nothing() -> None:
    stage = running_pod(by_hand=True)
    stage.ask("p")
    stage.ask("p")
    stage.ask("p")
    since = len(stage.effects)
    told = stage.stop()
    assert outcomes(told) == ["1 cancelled", "2 cancelled", "3 cancelled"]
    (finished,) = of(told, RelistFinished)
    assert (finished.ok, finished.request) == (False, 1)
    assert finished.error == "plegscope was stopped before the runtime answered."
    assert finished.code == "stopped"
    assert stage.effects[since:] == [
        CloseStream(),
        CancelWake(timer="global"),
        CancelWake(timer="health"),
    ]
    assert [one.state for one in of(told, StreamChanged)] == ["closed"]
    state = stage.state()
    assert state.running is None
    assert state.next_global_t is None
    assert (state.queue.length, state.requests["cancelled"]) == (0, 3)


def test_stop_twice_and_stop_before_the_start_say_nothing() -> None:
    stage = Stage()
    assert stage.stop() == []
    stage.start()
    stage.stop()
    since = len(stage.effects)
    assert stage.stop() == []
    assert len(stage.effects) == since


@pytest.mark.parametrize("hung", ["list", "inspection"])
def test_after_the_stop_nothing_brings_an_effect(hung: str) -> None:
    stage = Stage(by_hand=True)
    stage.node.container("p", "c1")
    stage.start()
    if hung == "inspection":
        stage.answer()
    timers = [one for one in stage.effects if isinstance(one, WakeAt)]
    stage.stop()
    since = len(stage.effects)
    records = stage.answer()
    for timer in timers:
        records += stage.fire(timer)
    now = stage.clock
    records += stage.fire(WakeAt(timer="global", token=1, at=0))
    records += stage.ask("p")
    records += stage.stopped("p", "c1")
    records += stage.stream_ends()
    records += stage.tell(EventsTaken(t=now.t, wall=now.wall, count=3))
    stage.mark("p")
    stage.hold("p")
    stage.release("p")
    assert records == []
    assert len(stage.effects) == since
    assert stage.recorded() == {}


def test_a_stop_during_an_inspection_keeps_the_mark() -> None:
    """Without a change in the listing the mark alone brings the pod's status back in order."""
    stage = running_pod(by_hand=True)
    stage.mark("p")
    stage.ask("p")
    stage.answer()
    stage.fail("It broke.")
    stage.run(0.1)
    stage.ask("p")
    stage.answer()
    assert stage.inspection().uid == "p"
    stage.stop()
    stage.calls.clear()
    stage.by_hand = False
    stage.start()
    assert lifecycle(stage.relist()) == ["p PodSync"]
    entry = stage.engine.cache.entry("p")
    assert entry is not None
    assert entry.error == ""


def test_start_again_after_a_stop() -> None:
    stage = running_pod()
    stage.stop()
    stage.run(60)
    stage.node.exit("p", "c1", 1)
    told = stage.start()
    assert len(of(told, Watching)) == 1
    told += stage.relist()
    assert lifecycle(told) == ["p Died c1"]
    stage.run(0)
    assert stage.state().stream.state == "connected"
    assert len(stage.opened) == 2
    stage.run(10)
    assert stage.state().health.healthy


def test_start_again_says_why_the_stream_is_off() -> None:
    stage = Stage(policy="relist_only")
    stage.start()
    stage.stop()
    assert stage.state().stream.state == "closed"
    stage.tell(Start(t=stage.clock.t, wall=stage.clock.wall))
    view = stage.state().stream
    assert (view.state, view.meaning) == ("off", "Asked.")


# Inputs


def test_an_unknown_input_is_a_programming_error() -> None:
    engine = Engine(EngineSettings(), Dice())
    with pytest.raises(TypeError, match="not an engine input: Unheard"):
        engine.step(Unheard(t=0, wall=0))


def test_an_unknown_timer_is_nobodys() -> None:
    stage = running_pod()
    now = stage.clock
    assert stage.tell(TimerFired(t=now.t, wall=now.wall, timer="tea", token=1)) == []


def test_an_early_or_late_global_timer_begins_nothing_that_is_not_due() -> None:
    stage = running_pod()
    timer = stage.timer("global")
    assert timer is not None
    assert stage.fire(timer) == []
    stage.relist()
    assert stage.fire(timer) == []


def test_time_never_runs_back() -> None:
    stage = running_pod()
    before = stage.clock.t
    told = stage.event(container_event("p", "c1", created_at=WALL), received=before - 700 * MS)
    told += stage.tell(RelistRequested(t=0, wall=WALL, uid="p", source="post_sync"))
    assert all(one.t >= stage.records[0].t for one in told)
    times = [one.t for one in stage.records]
    assert times == sorted(times)
    assert of(told, RequestMade)[-1].t >= MS


def test_a_step_gives_what_it_brought_and_nothing_of_the_last_one() -> None:
    engine = Engine(EngineSettings(), Dice())
    first = engine.step(Start(t=0, wall=WALL))
    assert first.records
    assert first.effects
    again = engine.step(Start(t=1, wall=WALL))
    assert again == Outputs((), ())
    assert engine.step(Stop(t=2, wall=WALL)).records


def test_wall_time_may_jump_without_moving_anything_else() -> None:
    stage = running_pod()
    due = stage.state().next_global_t
    stage.clock.wall_skew = -3600 * SECOND
    stage.run(0.2)
    assert stage.state().next_global_t == due
    stage.run(30)
    assert stage.state().health.healthy
    hour_ago = WALL // SECOND - 3600
    assert stage.state().health.last_seen in range(hour_ago + 28, hour_ago + 32)


# State


def test_the_state_before_the_start() -> None:
    state = Engine(EngineSettings(), Dice()).state(5)
    assert isinstance(state, EngineState)
    assert (state.t, state.profile, state.period_ns, state.pace_ns) == (5, "kep", SECOND, SECOND)
    assert (state.running, state.last_global, state.next_global_t) == (None, None, None)
    assert (state.pods, state.containers) == (0, 0)
    assert state.queue == QueueState(0, 200, 0, 0)
    assert (state.stream.state, state.stream.policy) == ("off", "relist_only")
    assert set(state.events) == {"post_sync", "post_allocation", "evented_pleg", "global"}
    assert set(state.requests) == {
        "queued",
        "executed",
        "skipped",
        "coalesced",
        "dropped",
        "cancelled",
        "held",
    }


def test_p26_p30_the_state_while_things_happen() -> None:
    stage = running_pod(by_hand=True)
    stage.node.exit("p", "c1", 1)
    stage.stopped("p", "c1")
    stage.ask("q")
    stage.hold("r")
    stage.ask("r")
    began = stage.clock.t
    stage.run(0.2)
    state = stage.state()
    assert state.t == stage.clock.t
    assert state.running == RelistState(2, "pod", "evented_pleg", began, "p")
    assert state.last_global == RelistState(1, "global", "global", 0, None, 2 * MS, True, 1, 1)
    assert state.next_global_t == SECOND + 2 * MS
    assert state.queue == QueueState(1, 200, 1, 1)
    assert (state.pods, state.containers) == (1, 1)
    assert (state.requests["queued"], state.requests["held"]) == (2, 1)
    assert state.stream_events["stopped"] == 1
    assert state.stream.state == "connected"
    stage.by_hand = False
    stage.answer()
    stage.run(0.1)
    assert stage.state().events == {
        "global": 2,
        "evented_pleg": 1,
        "post_sync": 0,
        "post_allocation": 0,
    }


def test_while_a_global_relist_runs_no_next_one_is_due() -> None:
    stage = running_pod(by_hand=True)
    stage.to_next_global()
    state = stage.state()
    assert state.next_global_t is None
    assert state.running == RelistState(2, "global", "global", stage.clock.t)


def test_a_state_is_a_picture_that_does_not_move() -> None:
    stage = running_pod()
    before = stage.state()
    stage.ask("p")
    stage.run(2)
    assert before.requests["queued"] == 0
    assert stage.state().requests["queued"] == 1


def test_no_label_of_a_counter_holds_anything_from_outside() -> None:
    """KEP-3386, Metrics: no pod UID, container id, error text or endpoint in labels."""
    stage = running_pod()
    stage.event(container_event("secret-uid", "secret-id", "unknown(99)"))
    stage.stopped("secret-uid", "secret-id")
    stage.stream_ends("error", "secret text")
    stage.run(2)
    state = stage.state()
    labels = [*state.events, *state.requests, *state.stream_events]
    assert not [one for one in labels if "secret" in one or "99" in one]
    assert of(stage.records, RequestMoved) == []
