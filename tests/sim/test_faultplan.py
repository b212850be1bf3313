"""Which faults are at work when, whom they hit, and what is told of it."""

from typing import Any

import pytest

from app.sim import faultplan
from app.sim.agenda import Agenda, VirtualClock, play
from app.sim.availability import Availability
from app.sim.faultplan import (
    MOST_AT_WORK,
    ActiveFault,
    FaultPlan,
    FaultTally,
    PressError,
    in_words,
)
from app.sim.faults import (
    EventsDoubled,
    EventsLost,
    InspectionsFail,
    ListsFail,
    ListsHang,
    RuntimeFreezes,
    RuntimeRestarts,
    StreamSilent,
)
from app.sim.objects import RuntimeEvent, Sandbox, SandboxConfig
from app.sim.units import Ns, seconds


class Bench:
    def __init__(self, seed: int = 1) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.runtime = Availability(self.agenda)
        self.plan = FaultPlan(self.agenda, self.runtime, seed)

    def run(self, time_s: float) -> None:
        play(self.agenda, self.clock, self.clock.mono() + seconds(time_s))

    def state(self) -> str:
        return self.runtime.state


@pytest.fixture
def bench() -> Bench:
    return Bench()


def told(kind: Any = "stopped", name: str = "web") -> RuntimeEvent:
    config = SandboxConfig(name=name, uid=f"uid-{name}", namespace="shop")
    return RuntimeEvent(kind, "c1", 0, Sandbox("s1", config, "ready", 0))


def test_a_fault_is_at_work_from_its_beginning_to_its_end(bench: Bench) -> None:
    bench.plan.schedule([ListsHang(at=seconds(2), lasts=seconds(3))])
    seen = []
    for _ in range(7):
        seen.append((bool(bench.plan.at_work(ListsHang)), bench.plan.quiet))
        bench.run(1)
    assert seen == [(False, True)] * 2 + [(True, False)] * 3 + [(False, True)] * 2
    assert bench.plan.tallies() == (FaultTally("lists-hang", 2 * 10**9, 5 * 10**9, 0),)


def test_one_without_an_end_lasts_until_it_is_healed_or_ended(bench: Bench) -> None:
    silent = bench.plan.begin(StreamSilent(at=Ns(0)))
    bench.plan.begin(ListsHang(at=Ns(0)))
    bench.run(3600)
    bench.plan.heal("lists", "runtime")
    assert not bench.plan.at_work(ListsHang)
    assert bench.plan.at_work(StreamSilent) == [silent]
    bench.plan.end(silent)
    bench.plan.end(silent)
    assert bench.plan.quiet


def test_beginnings_and_ends_are_told_once_each(bench: Bench) -> None:
    heard: list[tuple[str, str]] = []
    bench.plan.on_begin.append(lambda one: heard.append(("begin", one.fault.kind)))
    bench.plan.on_end.append(lambda one: heard.append(("end", one.fault.kind)))
    bench.plan.schedule([ListsHang(at=seconds(1), lasts=seconds(1))])
    bench.run(1.5)
    bench.plan.heal("lists")
    bench.run(5)
    assert heard == [("begin", "lists-hang"), ("end", "lists-hang")]


def test_whoever_waits_hears_of_the_next_change(bench: Bench) -> None:
    heard: list[int] = []
    bench.plan.on_change(lambda: heard.append(bench.clock.mono()))
    bench.plan.schedule([ListsHang(at=seconds(1), lasts=seconds(1))])
    bench.run(5)
    assert heard == [seconds(1)]


def test_of_several_restarts_the_last_to_end_brings_the_runtime_back(bench: Bench) -> None:
    bench.plan.schedule(
        [
            RuntimeRestarts(at=seconds(1), lasts=seconds(4)),
            RuntimeRestarts(at=seconds(2), lasts=seconds(1)),
        ]
    )
    states = []
    for _ in range(7):
        states.append(bench.state())
        bench.run(1)
    assert states == ["up", "down", "down", "down", "down", "up", "up"]


def test_a_restart_ends_a_freeze(bench: Bench) -> None:
    bench.plan.schedule(
        [
            RuntimeFreezes(at=seconds(1), lasts=seconds(9)),
            RuntimeRestarts(at=seconds(3), lasts=seconds(1)),
        ]
    )
    states = []
    for _ in range(6):
        states.append(bench.state())
        bench.run(1)
    assert states == ["up", "frozen", "frozen", "down", "up", "up"]
    bench.run(10)
    assert bench.state() == "up"


def test_events_are_hit_by_type_pod_and_share(bench: Bench) -> None:
    plan = bench.plan
    active = plan.begin(EventsLost(at=Ns(0), events=("stopped",), pods="shop/web*"))
    assert plan.hit_event(EventsLost, told()) is active
    assert plan.hit_event(EventsLost, told("started")) is None
    assert plan.hit_event(EventsLost, told(name="db")) is None
    assert plan.hit_event(EventsDoubled, told()) is None
    assert active.hits == 1
    half = plan.begin(EventsDoubled(at=Ns(0), share=0.5))
    hits = sum(plan.hit_event(EventsDoubled, told()) is half for _ in range(1000))
    assert 400 < hits < 600
    assert half.hits == hits


def test_a_share_of_nothing_hits_nothing(bench: Bench) -> None:
    active = bench.plan.begin(EventsLost(at=Ns(0), share=0.0))
    assert [bench.plan.hit_event(EventsLost, told()) for _ in range(100)] == [None] * 100
    assert active.hits == 0


def test_calls_about_a_pod_are_hit_by_name(bench: Bench) -> None:
    active = bench.plan.begin(InspectionsFail(at=Ns(0), pods="shop/web"))
    assert bench.plan.hit_pod(InspectionsFail, "shop", "web") is active
    assert bench.plan.hit_pod(InspectionsFail, "shop", "db") is None


def strikes(active: ActiveFault[Any]) -> list[bool]:
    return [active.strikes(0.5) for _ in range(64)]


def test_each_fault_has_a_chance_of_its_own() -> None:
    alone = Bench()
    first = strikes(alone.plan.begin(ListsFail(at=Ns(0), share=0.5)))
    among = Bench()
    other = strikes(among.plan.begin(EventsLost(at=Ns(0), share=0.5)))
    again = strikes(among.plan.begin(ListsFail(at=Ns(0), share=0.5)))
    second = strikes(among.plan.begin(ListsFail(at=Ns(0), share=0.5)))
    assert first == again
    assert len({tuple(one) for one in (first, other, second)}) == 3
    assert strikes(Bench(2).plan.begin(ListsFail(at=Ns(0), share=0.5))) != first


def test_a_plan_that_is_closed_ends_everything_and_begins_nothing_more() -> None:
    clock = VirtualClock()
    agenda = Agenda(clock)
    runtime = Availability(agenda)
    plan = FaultPlan(agenda, runtime, 1)
    plan.schedule((RuntimeFreezes(at=seconds(1)), RuntimeFreezes(at=seconds(3))), lead_ns=10**9)
    states: list[str] = []
    for until in (1.9, 2.5):
        play(agenda, clock, seconds(until))
        states.append(runtime.state)
    plan.close()
    states.append(runtime.state)
    assert states == ["up", "frozen", "up"]
    play(agenda, clock, seconds(60))
    assert [(one.began_t, one.ended_t) for one in plan.tallies()] == [(seconds(2), seconds(2.5))]


def test_a_fault_is_told_with_what_it_imitates_and_when_it_is_over() -> None:
    agenda = Agenda(VirtualClock())
    plan = FaultPlan(agenda, Availability(agenda), 1)
    active = plan.begin(RuntimeFreezes(at=Ns(0)))
    assert in_words(active) == (
        "warning",
        f"Fault begins: Freeze the runtime. It imitates: {RuntimeFreezes.imitates}",
    )
    plan.end(active)
    assert in_words(active) == ("info", "Fault is over: Freeze the runtime.")


# ------------------------------------------------------------------------------ pressed by hand


def test_a_press_begins_now_and_ends_by_itself(bench: Bench) -> None:
    bench.run(3)
    pressed = bench.plan.begin_now(StreamSilent(at=seconds(99)))
    assert (pressed.kind, pressed.since_t) == ("stream-silent", seconds(3))
    assert pressed.until_t == seconds(3) + StreamSilent.pressed_ns
    assert pressed.imitates == StreamSilent.imitates
    assert pressed.pressed
    assert bench.plan.active() == (pressed,)
    bench.run(StreamSilent.pressed_ns / 1e9 - 0.01)
    assert bench.plan.at_work(StreamSilent)
    bench.run(0.01)
    assert bench.plan.active() == ()


@pytest.mark.parametrize(
    ("own", "asked", "lasts"),
    [(None, None, 20), (5, None, 5), (None, 7, 7), (5, 7, 7), (0, None, 0)],
)
def test_how_long_a_press_lasts(
    bench: Bench, own: int | None, asked: int | None, lasts: int
) -> None:
    fault = ListsHang(at=Ns(0), lasts=None if own is None else seconds(own))
    pressed = bench.plan.begin_now(fault, None if asked is None else seconds(asked))
    assert pressed.until_t == seconds(lasts)


def test_what_is_at_work_is_told_in_order_with_what_it_has_hit(bench: Bench) -> None:
    plan = bench.plan
    plan.schedule([EventsLost(at=seconds(1), lasts=None)])
    first = plan.begin_now(ListsHang(at=Ns(0)))
    bench.run(2)
    second = plan.begin_now(EventsLost(at=Ns(0)))
    plan.hit_event(EventsLost, told())
    told_of = [(one.number, one.kind, one.until_t, one.hits, one.pressed) for one in plan.active()]
    assert told_of == [
        (first.number, "lists-hang", seconds(20), 0, True),
        (2, "events-lost", None, 1, False),
        (second.number, "events-lost", seconds(22), 0, True),
    ]


def test_one_can_be_lifted_once(bench: Bench) -> None:
    one = bench.plan.begin_now(RuntimeFreezes(at=Ns(0)))
    other = bench.plan.begin_now(ListsHang(at=Ns(0)))
    assert bench.plan.lift(one.number)
    assert bench.state() == "up"
    assert bench.plan.active() == (other,)
    assert not bench.plan.lift(one.number)
    assert not bench.plan.lift(4711)


def test_healing_ends_all_and_lets_the_scenario_go_on(bench: Bench) -> None:
    bench.plan.schedule([StreamSilent(at=seconds(1), lasts=None), RuntimeRestarts(at=seconds(9))])
    bench.run(2)
    bench.plan.begin_now(ListsHang(at=Ns(0)))
    assert bench.plan.heal_all() == 2
    assert bench.plan.quiet
    assert bench.plan.heal_all() == 0
    bench.run(7.1)
    assert [one.kind for one in bench.plan.active()] == ["runtime-restarts"]


def test_a_press_shifts_nothing_in_what_the_scenario_brings() -> None:
    alone, among = Bench(), Bench()
    fault = ListsFail(at=seconds(1), share=0.5)
    among.plan.begin_now(fault)
    for one in (alone, among):
        one.plan.schedule([fault])
        one.run(2)
    chances = [strikes(one.plan.at_work(ListsFail)[-1]) for one in (alone, among)]
    assert chances[0] == chances[1]
    assert strikes(among.plan.at_work(ListsFail)[0]) != chances[0]


def test_presses_are_bounded_and_what_is_long_over_is_forgotten(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = bench.plan
    for _ in range(MOST_AT_WORK):
        plan.begin_now(ListsHang(at=Ns(0)))
    with pytest.raises(PressError, match="Lift some"):
        plan.begin_now(ListsHang(at=Ns(0)))
    plan.heal_all()
    monkeypatch.setattr(faultplan, "MOST_REMEMBERED", 10)
    kept = plan.begin_now(StreamSilent(at=Ns(0)))
    for _ in range(500):
        plan.lift(plan.begin_now(ListsHang(at=Ns(0))).number)
    assert len(plan.tallies()) <= 10 + MOST_AT_WORK
    assert plan.active() == (kept,)
