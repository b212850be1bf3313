"""The shadow's politeness: a slow runtime is polled less often, and people are told when."""

from typing import Any

import pytest

from app.engine.model import CallCost
from app.engine.outbox import Outbox
from app.engine.pace import Pace
from app.engine.records import PaceChanged, Record
from app.engine.settings import EngineSettings
from tests.engine.play import MS, SECOND, Stage, of


class Case:
    def __init__(self, **settings: Any) -> None:
        self.out = Outbox()
        self.pace = Pace(self.out, EngineSettings(**settings))

    def listed(self, *took_ms: int) -> list[PaceChanged]:
        for took in took_ms:
            self.pace.listed(took * MS)
        return of(self.told(), PaceChanged)

    def told(self) -> tuple[Record, ...]:
        return self.out.take().records

    @property
    def pause_ms(self) -> int:
        return self.pace.pause_ns // MS


def test_quick_lists_keep_the_period() -> None:
    case = Case()
    assert case.listed(1, 250, 250, 250) == []
    assert case.pause_ms == 1000


def test_a_session_begins_at_the_period_and_measures_anew() -> None:
    case = Case()
    case.listed(500, 500, 500)
    case.pace.begin()
    assert case.pause_ms == 1000
    assert case.listed(500, 500) == []
    assert case.pause_ms == 1000
    (told,) = case.listed(500)
    assert told.period_ns == 2 * SECOND


def test_a_shadow_that_is_started_again_polls_at_the_period() -> None:
    stage = Stage(costs=(CallCost("ListPodSandbox", 300 * MS),))
    stage.start()
    stage.run(10)
    assert stage.state().pace_ns > SECOND
    stage.stop()
    stage.start()
    assert stage.state().pace_ns == SECOND


def test_listing_gets_a_fifth_of_the_time() -> None:
    case = Case()
    (told,) = case.listed(500, 500, 500)
    assert case.pause_ms == 2000
    assert told.period_ns == 2 * SECOND
    assert told.reason == (
        "Listing takes 500 ms; to keep it under a fifth of the time plegscope polls less often "
        "than the kubelet does."
    )


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (2, "half"),
        (3, "a third"),
        (4, "a quarter"),
        (5, "a fifth"),
        (7, "1/7"),
        (10, "a tenth"),
    ],
)
def test_the_share_is_a_setting(share: int, words: str) -> None:
    case = Case(listing_share=share)
    (told,) = case.listed(4000, 4000, 4000)
    assert case.pause_ms == 4000 * (share - 1)
    assert f"under {words} of the time" in told.reason


def test_one_slow_list_is_no_trend() -> None:
    case = Case()
    assert case.listed(9000, 9000, 1, 9000, 9000) == []
    assert case.pause_ms == 1000
    assert len(case.listed(9000)) == 1


def test_the_pause_has_a_cap_and_never_falls_below_the_period() -> None:
    case = Case()
    case.listed(100_000, 100_000, 100_000)
    assert case.pause_ms == 60_000
    lazy = Case(period_ns=100 * SECOND)
    assert lazy.listed(20_000, 20_000, 20_000) == []
    assert lazy.pause_ms == 100_000


def test_quick_again() -> None:
    case = Case()
    case.listed(500, 500, 500)
    (told,) = case.listed(10)
    assert told.period_ns == SECOND
    assert told.reason == "Listing is quick again; plegscope polls at the kubelet's period."
    assert case.pause_ms == 1000


def test_a_slow_climb_is_told_too() -> None:
    """Each step below a doubling; what counts is the distance to what people were told."""
    case = Case()
    told = [one for took in range(300, 2000, 50) for one in case.listed(took, took, took)]
    assert [one.period_ns // MS for one in told] == [1200, 2600, 5400]
    assert case.pause_ms == 7800


def test_a_much_shorter_pause_is_told_too() -> None:
    case = Case()
    case.listed(10_000, 10_000, 10_000)
    (told,) = case.listed(1000)
    assert told.period_ns == 4 * SECOND
    assert case.listed(1500, 1500, 1500) == []


def test_up_to_twice_or_half_of_what_was_told_is_not_worth_a_record() -> None:
    case = Case()
    assert len(case.listed(400, 400, 400)) == 1
    assert case.listed(800, 800, 800) == []
    assert len(case.listed(801, 801, 801)) == 1
    assert case.listed(700, 700, 700) == []
    assert case.pause_ms == 2800
    assert len(case.listed(2000, 2000, 2000)) == 1
    assert case.listed(1000, 1000, 1000) == []
    assert len(case.listed(999)) == 1


def test_the_next_global_relist_waits_for_the_pause_in_force() -> None:
    stage = Stage(
        costs=(CallCost("ListPodSandbox", 400 * MS), CallCost("ListContainers", 600 * MS))
    )
    stage.start()
    for _ in range(3):
        stage.relist()
    state = stage.state()
    assert state.pace_ns == 4 * SECOND
    assert state.period_ns == SECOND
    assert state.next_global_t == stage.clock.t + 4 * SECOND
