"""The agenda: order, processes, signals, and the virtual clock that plays it."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sim.agenda import Agenda, CancelledError, Steps, VirtualClock, play


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def agenda(clock: VirtualClock) -> Agenda:
    return Agenda(clock)


def noting(log: list[str], text: str) -> Callable[[], None]:
    return lambda: log.append(text)


def test_appointments_are_kept_in_order_of_time_and_then_of_making(
    agenda: Agenda, clock: VirtualClock
) -> None:
    log: list[str] = []
    agenda.at(20, noting(log, "late"))
    agenda.at(10, noting(log, "first"))
    agenda.at(10, noting(log, "second"))
    play(agenda, clock, 15)
    assert log == ["first", "second"]
    assert clock.mono() == 15
    play(agenda, clock, 20)
    assert log == ["first", "second", "late"]


@given(st.lists(st.integers(min_value=0, max_value=50), max_size=40))
def test_each_call_is_made_exactly_at_its_time(times: list[int]) -> None:
    clock = VirtualClock()
    agenda = Agenda(clock)
    seen: list[tuple[int, int]] = []

    def see(t: int) -> None:
        seen.append((t, clock.mono()))

    for t in times:
        agenda.at(t, partial(see, t))
    play(agenda, clock, 100)
    assert [t for t, _ in seen] == sorted(times)
    assert all(t == at for t, at in seen)


def test_a_cancelled_appointment_is_not_kept_and_does_not_count_as_next(agenda: Agenda) -> None:
    log: list[str] = []
    agenda.at(10, noting(log, "cancelled")).cancel()
    agenda.at(30, noting(log, "kept"))
    assert agenda.next_time() == 30
    assert agenda.run_due() == 0
    assert log == []


def test_nothing_is_due_when_nothing_was_entered(agenda: Agenda, clock: VirtualClock) -> None:
    assert agenda.next_time() is None
    play(agenda, clock, 7)
    assert clock.mono() == 7


def test_what_has_passed_is_made_as_soon_as_possible(agenda: Agenda, clock: VirtualClock) -> None:
    clock.advance_to(100)
    log: list[str] = []
    agenda.at(50, noting(log, "overdue"))
    assert agenda.run_due() == 1
    assert log == ["overdue"]


def test_run_due_stops_at_its_limit_and_goes_on_later(agenda: Agenda) -> None:
    log: list[str] = []
    for number in range(5):
        agenda.at(0, noting(log, str(number)))
    assert agenda.run_due(limit=2) == 2
    assert log == ["0", "1"]
    assert agenda.run_due() == 3


def test_the_driver_is_told_of_an_earlier_appointment_only(agenda: Agenda) -> None:
    told: list[int | None] = []
    agenda.on_earlier = lambda: told.append(agenda.next_time())
    agenda.at(50, lambda: None)
    agenda.at(80, lambda: None)
    agenda.at(20, lambda: None)
    assert told == [50, 20]


def test_the_virtual_clock_never_goes_back_and_keeps_both_times_in_step() -> None:
    clock = VirtualClock(wall_ns=1_000)
    clock.advance_to(40)
    clock.advance_to(30)
    assert (clock.mono(), clock.wall()) == (40, 1_040)


def test_a_process_waits_between_its_steps(agenda: Agenda, clock: VirtualClock) -> None:
    log: list[tuple[str, int]] = []

    def steps() -> Steps[None]:
        log.append(("begin", clock.mono()))
        yield 10
        log.append(("middle", clock.mono()))
        yield 5
        log.append(("end", clock.mono()))

    process = agenda.start(steps())
    assert log == []  # not within the call that starts it
    play(agenda, clock, 100)
    assert log == [("begin", 0), ("middle", 10), ("end", 15)]
    assert process.done.fired


def test_a_process_waits_for_a_signal_and_for_another_process(
    agenda: Agenda, clock: VirtualClock
) -> None:
    log: list[tuple[str, int]] = []
    door = agenda.signal()

    def opener() -> Steps[None]:
        yield 30
        door.fire()
        door.fire()  # once is enough

    def guest() -> Steps[None]:
        yield door
        log.append(("in", clock.mono()))
        yield door  # has fired: no wait
        log.append(("still in", clock.mono()))

    def friend() -> Steps[None]:
        yield inside.done
        log.append(("friend", clock.mono()))

    inside = agenda.start(guest())
    agenda.start(friend())
    agenda.start(opener())
    play(agenda, clock, 100)
    assert log == [("in", 30), ("still in", 30), ("friend", 30)]


def test_a_signal_does_not_run_its_waiters_within_fire(agenda: Agenda) -> None:
    log: list[str] = []
    signal = agenda.signal()
    signal.then(noting(log, "waiter"))
    signal.fire()
    assert log == []
    agenda.run_due()
    assert log == ["waiter"]


def test_a_cancelled_process_runs_its_finally_and_nothing_more(
    agenda: Agenda, clock: VirtualClock
) -> None:
    log: list[str] = []

    def steps() -> Steps[None]:
        try:
            yield 50
            log.append("never")
        finally:
            log.append("cleaned up")

    process = agenda.start(steps())
    play(agenda, clock, 10)
    process.cancel()
    process.cancel()
    assert log == ["cleaned up"]
    assert process.done.fired
    play(agenda, clock, 100)
    assert log == ["cleaned up"]


def test_one_that_is_cancelled_is_told_and_one_that_is_forgotten_is_not(
    agenda: Agenda, clock: VirtualClock
) -> None:
    log: list[str] = []

    def steps() -> Steps[None]:
        try:
            yield 50
        except CancelledError:
            log.append("cancelled")
            # Nobody waits for it any more.
            yield 50
            log.append("never")
        finally:
            log.append("cleaned up")

    process, forgotten = agenda.start(steps()), steps()
    play(agenda, clock, 10)
    process.cancel()
    assert log == ["cancelled", "cleaned up"]
    next(forgotten)
    del forgotten
    assert log[2:] == ["cleaned up"]


def test_a_process_cancelled_while_it_waits_for_a_signal_stays_ended(
    agenda: Agenda, clock: VirtualClock
) -> None:
    log: list[str] = []
    signal = agenda.signal()

    def steps() -> Steps[None]:
        yield signal
        log.append("never")

    process = agenda.start(steps())
    play(agenda, clock, 1)
    process.cancel()
    signal.fire()
    play(agenda, clock, 2)
    assert log == []


def test_a_process_cancelled_before_its_first_step_never_begins(
    agenda: Agenda, clock: VirtualClock
) -> None:
    log: list[str] = []

    def steps() -> Steps[None]:
        log.append("never")
        yield 1

    agenda.start(steps()).cancel()
    play(agenda, clock, 10)
    assert log == []


def test_what_a_call_raises_reaches_the_driver(agenda: Agenda) -> None:
    def broken() -> None:
        raise ValueError("a mistake")

    agenda.at(0, broken)
    with pytest.raises(ValueError, match="a mistake"):
        agenda.run_due()


def test_a_cleared_agenda_does_nothing_more(agenda: Agenda, clock: VirtualClock) -> None:
    log: list[str] = []
    agenda.at(5, noting(log, "never"))
    agenda.clear()
    play(agenda, clock, 10)
    assert log == []
    assert agenda.next_time() is None
