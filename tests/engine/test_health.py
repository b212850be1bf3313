"""PLEG health: from the start of the last relist whose list succeeded, and nothing else."""

import pytest

from app.engine.inputs import StreamLost
from app.engine.records import HealthChanged
from app.engine.settings import EngineSettings
from tests.engine.play import MS, SECOND, WALL, Stage, StreamPlan, of

THRESHOLD = EngineSettings().threshold_ns


def listed_once_at_zero() -> Stage:
    """One good relist that began at 0; every list after it hangs."""
    stage = Stage(by_hand=True)
    stage.start()
    stage.answer()
    return stage


def test_f1_never_relisted_is_not_healthy() -> None:
    stage = Stage(by_hand=True)
    before = stage.state().health
    assert (before.healthy, before.message) == (False, "pleg has yet to be successful")
    stage.start()
    health = stage.state().health
    assert (health.healthy, health.message) == (False, "pleg has yet to be successful")
    assert health.last_start_t is None
    assert health.threshold_ns == THRESHOLD


def test_f2_never_relisted_stays_so_for_ten_minutes() -> None:
    stage = Stage(by_hand=True)
    stage.start()
    stage.run(600)
    assert not stage.state().health.healthy


def test_f3_healthy_a_minute_after_a_good_relist() -> None:
    stage = listed_once_at_zero()
    told = of(stage.run(60), HealthChanged)
    assert [(one.t, one.healthy, one.message) for one in told] == [(SECOND, True, "")]
    assert stage.state().health.healthy


def test_f4_f8_unhealthy_a_threshold_later_while_a_list_hangs() -> None:
    stage = listed_once_at_zero()
    stage.run(60)
    told = of(stage.run(180), HealthChanged)
    assert [(one.t, one.healthy) for one in told] == [(181 * SECOND, False)]
    assert told[0].message == "pleg was last seen active 3m1s ago; threshold is 3m0s"
    assert stage.calls, "the relist that hangs has no other trace"


def test_f5_exactly_the_threshold_is_healthy() -> None:
    stage = listed_once_at_zero()
    assert stage.engine.state(THRESHOLD).health.healthy
    health = stage.engine.state(THRESHOLD + 1).health
    assert not health.healthy
    assert health.message == "pleg was last seen active 3m0.000000001s ago; threshold is 3m0s"


def test_f6_a_list_that_fails_does_not_count() -> None:
    stage = Stage()
    stage.start()
    stage.relist()
    stage.node.broken_list = "The runtime is away."
    told = of(stage.run(190), HealthChanged)
    assert [one.healthy for one in told] == [True, False]
    assert stage.state().health.last_start_t == 0
    stage.node.broken_list = ""
    assert [one.healthy for one in of(stage.run(3), HealthChanged)] == [True]


def test_f7_inspections_that_fail_do_not_hurt() -> None:
    stage = Stage()
    stage.node.container("p", "c1")
    stage.node.broken_pods["p"] = "It broke."
    stage.start()
    stage.run(600)
    assert stage.state().health.healthy


def test_f8_an_inspection_that_hangs_makes_it_unhealthy() -> None:
    stage = Stage(by_hand=True)
    stage.node.container("p", "c1")
    stage.start()
    stage.answer()
    assert stage.inspection().uid == "p"
    stage.run(181)
    assert not stage.state().health.healthy


def test_f9_targeted_relists_do_not_refresh_health() -> None:
    stage = listed_once_at_zero()
    stage.node.container("p", "c1")
    stage.run(0.1)
    stage.ask("p")
    assert stage.listing().uid == "p"
    stage.run(0.5)
    stage.answer()
    stage.answer()
    assert stage.state().health.last_start_t == 0


def test_f10_last_seen_is_written_when_health_is_asked_for_and_never_else() -> None:
    stage = Stage(settings=EngineSettings(health_poll_ns=10 * SECOND))
    stage.start()
    stage.run(9.9)
    assert stage.state().health.last_start_t is not None
    assert stage.state().health.last_seen is None
    stage.run(0.2)
    seen = stage.state().health.last_seen
    assert seen == (WALL + 9 * SECOND + 9 * MS) // SECOND
    stage.run(5)
    assert stage.state().health.last_seen == seen


def test_f11_without_a_relist_the_gauge_is_not_written() -> None:
    stage = Stage(by_hand=True)
    stage.start()
    stage.run(30)
    assert stage.state().health.last_seen is None


@pytest.mark.parametrize("stream", ["silent", "unimplemented", "error", "immediate_eof", "live"])
def test_f12_p24_the_stream_never_matters(stream: StreamPlan) -> None:
    stage = Stage(stream=stream)
    stage.start()
    stage.run(100)
    stage.tell(StreamLost(t=stage.clock.t, wall=stage.clock.wall, count=9, from_t=0))
    stage.run(100)
    state = stage.state()
    assert state.health.healthy
    assert (state.health.threshold_ns, state.pace_ns) == (THRESHOLD, SECOND)


def test_nothing_is_told_before_the_first_answer_changes() -> None:
    stage = Stage(by_hand=True)
    stage.start()
    stage.run(100)
    assert of(stage.records, HealthChanged) == []
    stage.answer()
    assert [one.healthy for one in of(stage.run(1), HealthChanged)] == [True]


def test_a_health_timer_from_before_is_not_believed() -> None:
    stage = Stage()
    stage.start()
    first = stage.timer("health")
    assert first is not None
    stage.run(1)
    count = len(stage.effects)
    stage.fire(first)
    assert len(stage.effects) == count
