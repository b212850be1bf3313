"""The clocks: real time, and a simulated node's that goes faster or slower."""

from __future__ import annotations

import time

import pytest

from app import clock as module
from app.clock import RealClock

SECOND = 1_000_000_000


class Machine:
    """The machine's clocks, set by hand."""

    def __init__(self) -> None:
        self.mono = 5_000 * SECOND
        self.wall = 1_795_962_760 * SECOND

    def monotonic_ns(self) -> int:
        return self.mono

    def time_ns(self) -> int:
        return self.wall


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(module, "time", machine)
    return machine


def test_the_session_begins_with_its_clock(machine: Machine) -> None:
    clock = RealClock()
    assert (clock.mono(), clock.wall()) == (0, machine.wall)
    machine.mono += 7
    assert clock.mono() == 7


def test_at_real_speed_wall_time_is_the_machines_even_when_it_is_set(machine: Machine) -> None:
    clock = RealClock()
    machine.mono += SECOND
    machine.wall -= 3600 * SECOND
    assert clock.wall() == machine.wall


@pytest.mark.parametrize("speed", [0.1, 0.5, 3, 10, 20])
def test_both_times_go_so_many_times_as_fast(machine: Machine, speed: float) -> None:
    clock, began = RealClock(speed), machine.wall
    machine.mono += 60 * SECOND
    assert clock.mono() == pytest.approx(60 * SECOND * speed, rel=1e-12)
    assert clock.wall() - began == clock.mono()
    assert clock.real_s(clock.mono()) == pytest.approx(60)


def test_a_fast_clock_never_goes_back_over_days(machine: Machine) -> None:
    clock = RealClock(19.7)
    machine.mono += 9 * 24 * 3600 * SECOND
    last = clock.mono()
    for _ in range(1000):
        machine.mono += 3
        now = clock.mono()
        assert 0 <= now - last <= 128
        last = now


def test_what_a_wait_really_takes() -> None:
    assert RealClock().real_s(250_000_000) == 0.25
    assert RealClock(10).real_s(SECOND) == 0.1
    assert RealClock(0.1).real_s(SECOND) == 10


def test_it_follows_the_real_machine() -> None:
    clock, before = RealClock(4), time.monotonic_ns()
    while time.monotonic_ns() - before < 2_000_000:
        pass
    assert clock.mono() >= 8_000_000
    assert abs(clock.wall() - time.time_ns()) < 60 * SECOND
