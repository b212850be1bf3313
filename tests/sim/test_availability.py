"""A runtime that is up, down, or frozen, and those who call it."""

import pytest

from app.sim.agenda import Agenda, Steps, VirtualClock, play
from app.sim.availability import Availability, UnavailableError


class Bench:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.runtime = Availability(self.agenda)
        self.came: list[tuple[str, int]] = []

    def call(self) -> None:
        self.agenda.start(self._call())

    def _call(self) -> Steps[None]:
        try:
            yield from self.runtime.reach()
        except UnavailableError as error:
            self.came.append((str(error), self.clock.mono()))
        else:
            self.came.append(("answered", self.clock.mono()))

    def run(self, ns: int) -> None:
        play(self.agenda, self.clock, self.clock.mono() + ns)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_one_that_is_up_answers_at_once(bench: Bench) -> None:
    bench.call()
    bench.run(0)
    assert bench.came == [("answered", 0)]


def test_one_that_is_down_fails_at_once(bench: Bench) -> None:
    bench.runtime.go_down()
    bench.call()
    bench.run(0)
    assert bench.came == [("connection error: the container runtime is not running", 0)]


def test_one_that_is_frozen_answers_when_it_goes_on(bench: Bench) -> None:
    bench.runtime.freeze()
    bench.call()
    bench.run(500)
    assert bench.came == []
    bench.runtime.thaw()
    bench.run(1)
    assert bench.came == [("answered", 500)]


def test_one_that_goes_down_while_frozen_fails_whoever_waits(bench: Bench) -> None:
    bench.runtime.freeze()
    bench.call()
    bench.run(10)
    bench.runtime.go_down()
    bench.run(10)
    assert [text for text, _ in bench.came] == [
        "connection error: the container runtime is not running"
    ]


def test_one_that_is_frozen_again_at_once_keeps_its_callers(bench: Bench) -> None:
    bench.runtime.freeze()
    bench.call()
    bench.run(10)
    bench.runtime.thaw()
    bench.runtime.freeze()
    bench.run(10)
    assert bench.came == []
    bench.runtime.thaw()
    bench.run(0)
    assert bench.came == [("answered", 20)]


def test_what_cannot_be_is_left_alone(bench: Bench) -> None:
    runtime = bench.runtime
    runtime.thaw()
    runtime.start()
    assert runtime.state == "up"
    runtime.go_down()
    runtime.freeze()
    runtime.thaw()
    assert state(runtime) == "down"
    runtime.start()
    assert state(runtime) == "up"


def test_a_change_is_told_once(bench: Bench) -> None:
    told: list[str] = []
    bench.runtime.on_change(lambda: told.append(bench.runtime.state))
    bench.runtime.freeze()
    bench.runtime.freeze()
    bench.run(0)
    bench.runtime.thaw()
    bench.run(0)
    assert told == ["frozen"]


def state(runtime: Availability) -> str:
    return runtime.state


def test_a_call_that_told_an_event_comes_back_when_nothing_stalls_any_more(bench: Bench) -> None:
    came: list[int] = []

    def call() -> Steps[None]:
        yield from bench.runtime.sent()
        came.append(bench.clock.mono())

    bench.agenda.start(call())
    bench.run(0)
    assert came == [0]
    stalls = [bench.agenda.signal(), bench.agenda.signal()]
    bench.runtime.stall = lambda: stalls[-1] if stalls else None
    bench.agenda.start(call())
    for stall in (stalls[1], stalls[0]):
        bench.run(100)
        assert came == [0]
        stalls.pop()
        stall.fire()
    bench.run(0)
    assert came == [0, 200]


def test_it_counts_how_often_it_has_come_back(bench: Bench) -> None:
    bench.runtime.start()
    bench.runtime.go_down()
    bench.runtime.start()
    bench.runtime.freeze()
    bench.runtime.thaw()
    assert bench.runtime.starts == 1
