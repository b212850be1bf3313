"""The stream in virtual time: what is fed when, and what faults make of it."""

from typing import Any, TypeVar

import pytest

from app.engine.inputs import Input, StreamEnded, StreamEvent, StreamLive, StreamOpened
from app.engine.model import ContainerEvent
from app.sim.agenda import Agenda, VirtualClock, play
from app.sim.availability import Availability
from app.sim.channel import WINDOW
from app.sim.faultplan import FaultPlan
from app.sim.faults import (
    EventsDamaged,
    EventsDoubled,
    EventsLost,
    EventsMisdated,
    EventsReordered,
    Fault,
    OtherSubscriber,
    RuntimeFreezes,
    RuntimeRestarts,
    StreamDelayed,
    StreamEnds,
    StreamRefused,
    StreamSilent,
)
from app.sim.flavour import RuntimeRules
from app.sim.flavours import CONTAINERD_1_6, CONTAINERD_1_7, CONTAINERD_2, CRI_O
from app.sim.latency import Latencies
from app.sim.objects import RuntimeEvent, Sandbox, SandboxConfig
from app.sim.units import Ns, Offset, millis, seconds
from app.sim.virtualstream import VirtualStream

F = TypeVar("F", bound=Input)

WEB = Sandbox("s1", SandboxConfig(name="web", uid="uid-web", namespace="shop"), "ready", 5)
BACKLOG_NS = 300 * 10**9


class Bench:
    """A stream, someone who tells, and what was fed."""

    def __init__(
        self,
        *faults: Fault,
        latencies: Latencies | None = None,
        payload: bool = False,
        rules: RuntimeRules = CONTAINERD_2,
    ) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.runtime = Availability(self.agenda)
        self.plan = FaultPlan(self.agenda, self.runtime, 1)
        self.fed: list[Input] = []
        self.stream = VirtualStream(
            self.agenda,
            self.plan,
            self.runtime,
            self.fed.append,
            seed=1,
            latencies=latencies or Latencies(),
            payload=payload,
            rules=rules,
        )
        for fault in faults:
            self.plan.begin(fault)

    def run(self, time_s: float) -> None:
        play(self.agenda, self.clock, self.clock.mono() + seconds(time_s))

    def tell(self, *names: str, kind: Any = "stopped") -> None:
        for name in names:
            self.stream.publish(RuntimeEvent(kind, name, self.clock.wall(), WEB))

    def opened(self) -> "Bench":
        self.stream.open()
        self.run(2)
        self.fed.clear()
        return self

    def of(self, kind: type[F]) -> list[F]:
        return [one for one in self.fed if isinstance(one, kind)]

    def heard(self) -> list[str]:
        return [one.event.container_id for one in self.of(StreamEvent)]

    def event(self) -> ContainerEvent:
        (one,) = self.of(StreamEvent)
        return one.event

    def ends(self) -> list[str]:
        return [one.code for one in self.of(StreamEnded)]


def kinds(bench: Bench) -> list[str]:
    return [type(one).__name__ for one in bench.fed]


def test_a_quiet_stream_is_opened_and_counts_as_live_after_the_grace_time() -> None:
    bench = Bench()
    bench.stream.open()
    bench.run(0.9)
    assert kinds(bench) == ["StreamOpened"]
    bench.run(0.2)
    assert kinds(bench) == ["StreamOpened", "StreamLive"]
    opened, live = bench.fed
    assert live.t - opened.t == Latencies().grace


def test_an_event_makes_it_live_at_once_and_only_once() -> None:
    bench = Bench()
    bench.stream.open()
    bench.run(0.1)
    bench.tell("a", "b")
    bench.run(3)
    assert kinds(bench) == ["StreamOpened", "StreamLive", "StreamEvent", "StreamEvent"]
    assert bench.fed[2].t < seconds(0.2)


def test_events_keep_their_order_and_take_their_time() -> None:
    bench = Bench().opened()
    names = [f"c{number}" for number in range(200)]
    told_t = bench.clock.mono()
    bench.tell(*names)
    bench.run(1)
    assert bench.heard() == names
    span = Latencies().event
    assert all(span[0] <= one.t - told_t <= span[1] for one in bench.of(StreamEvent))


@pytest.mark.parametrize("payload", [False, True])
def test_statuses_come_along_for_who_believes_them(payload: bool) -> None:
    bench = Bench(payload=payload).opened()
    bench.tell("a")
    bench.run(1)
    assert (bench.event().sandbox is not None) is payload


def test_a_stream_that_was_left_brings_nothing() -> None:
    bench = Bench().opened()
    bench.tell("a")
    bench.stream.close()
    bench.run(5)
    assert bench.fed == []


def test_an_attempt_that_was_given_up_is_not_answered() -> None:
    bench = Bench()
    bench.stream.open()
    bench.stream.close()
    bench.run(5)
    assert bench.fed == []


# ------------------------------------------------------------------------------- the backlog


def test_what_was_told_before_comes_first_unless_it_is_too_old() -> None:
    bench = Bench()
    bench.tell("ancient")
    bench.run(BACKLOG_NS / 1e9 - 10)
    bench.tell("old")
    bench.run(20)
    bench.stream.open()
    bench.run(0.1)
    bench.tell("new")
    bench.run(1)
    assert bench.heard() == ["old", "new"]


def test_the_backlog_is_handed_over_once() -> None:
    bench = Bench()
    bench.tell("old")
    bench.opened()
    bench.stream.open()
    bench.run(2)
    assert bench.heard() == []


def test_the_backlog_is_bounded_oldest_first() -> None:
    bench = Bench()
    bench.tell(*(str(number) for number in range(CONTAINERD_2.backlog.count + 5)))
    bench.stream.open()
    bench.run(1)
    assert bench.heard()[0] == "5"
    assert len(bench.heard()) == CONTAINERD_2.backlog.count


# ------------------------------------------------------------------ the stream as a whole


def test_unimplemented_comes_after_the_stream_object() -> None:
    bench = Bench(StreamRefused(at=Ns(0)))
    bench.stream.open()
    bench.run(1)
    assert kinds(bench) == ["StreamOpened", "StreamEnded"]
    assert bench.ends() == ["unimplemented"]


def test_unavailable_comes_without_one() -> None:
    bench = Bench(StreamRefused(at=Ns(0), answer="unavailable"))
    bench.stream.open()
    bench.run(1)
    assert kinds(bench) == ["StreamEnded"]
    assert bench.ends() == ["unavailable"]


@pytest.mark.parametrize("answer", ["unimplemented", "unavailable"])
def test_an_open_stream_ends_when_it_is_refused_from_now_on(answer: Any) -> None:
    bench = Bench().opened()
    bench.plan.begin(StreamRefused(at=Ns(0), lasts=seconds(5), answer=answer))
    bench.run(1)
    assert bench.ends() == [answer]
    bench.stream.open()
    bench.run(1)
    assert bench.ends() == [answer] * 2
    bench.run(5)
    bench.fed.clear()
    bench.opened().tell("a")
    bench.run(1)
    assert bench.heard() == ["a"]


@pytest.mark.parametrize(
    ("how", "code"), [("cleanly", "eof"), ("broken", "error"), ("unavailable", "unavailable")]
)
def test_a_stream_ends_once_and_may_be_opened_again(how: Any, code: str) -> None:
    bench = Bench().opened()
    bench.tell("lost on the way")
    bench.plan.begin(StreamEnds(at=Ns(0), how=how))
    bench.run(1)
    assert bench.ends() == [code]
    assert bench.heard() == []
    bench.opened().run(60)
    assert bench.ends() == []
    assert bench.plan.tallies()[0].hits == 1


def test_a_clean_end_before_it_was_live_is_an_immediate_one() -> None:
    bench = Bench(StreamEnds(at=Ns(0), lasts=None, how="cleanly"))
    for _ in range(3):
        bench.stream.open()
        bench.run(1)
    assert bench.ends() == ["immediate_eof"] * 3


def test_streams_may_live_for_a_while_before_each_end() -> None:
    bench = Bench(StreamEnds(at=Ns(0), lasts=None, how="cleanly", after=seconds(3)))
    bench.stream.open()
    bench.run(2)
    assert bench.of(StreamLive)
    assert bench.ends() == []
    bench.run(2)
    assert bench.ends() == ["eof"]


def test_a_restart_breaks_the_stream_refuses_it_and_forgets_the_backlog() -> None:
    bench = Bench().opened()
    bench.plan.begin(RuntimeRestarts(at=Ns(0), lasts=seconds(1)))
    bench.run(0.1)
    assert bench.ends() == ["unavailable"]
    bench.tell("a")
    bench.stream.open()
    bench.run(0.1)
    assert bench.ends() == ["unavailable"] * 2
    assert bench.of(StreamOpened) == []
    late = Bench()
    late.tell("old")
    late.plan.begin(RuntimeRestarts(at=Ns(0), lasts=seconds(1)))
    late.run(2)
    late.stream.open()
    late.run(2)
    assert late.heard() == []


def test_a_frozen_runtime_answers_the_subscription_when_it_goes_on() -> None:
    bench = Bench(RuntimeFreezes(at=Ns(0), lasts=seconds(20)))
    bench.stream.open()
    bench.run(19)
    assert bench.fed == []
    bench.run(3)
    assert kinds(bench) == ["StreamOpened", "StreamLive"]


def test_silence_loses_what_was_told_meanwhile() -> None:
    bench = Bench().opened()
    bench.plan.begin(StreamSilent(at=Ns(0), lasts=seconds(10)))
    bench.tell("a", "b")
    bench.run(11)
    bench.tell("c")
    bench.run(1)
    assert bench.heard() == ["c"]
    assert bench.ends() == []
    assert bench.plan.tallies()[0].hits == 2


def test_a_silence_that_only_held_back_brings_it_all_at_once() -> None:
    bench = Bench().opened()
    bench.plan.begin(StreamSilent(at=Ns(0), lasts=seconds(10), late=True))
    bench.tell("a", "b")
    bench.run(9.9)
    assert bench.heard() == []
    bench.run(1)
    assert bench.heard() == ["a", "b"]


def test_delay_keeps_the_order() -> None:
    bench = Bench(StreamDelayed(at=Ns(0), by=(seconds(1), seconds(9)))).opened()
    for name in "abcdefgh":
        bench.tell(name)
        bench.run(0.1)
    told_t = bench.clock.mono()
    bench.run(20)
    assert bench.heard() == list("abcdefgh")
    assert bench.of(StreamEvent)[0].t > told_t


# ----------------------------------------------------------------------------- single events


def test_lost_events_never_come() -> None:
    bench = Bench(EventsLost(at=Ns(0), events=("stopped",))).opened()
    bench.tell("a")
    bench.tell("a", kind="deleted")
    bench.run(5)
    assert [one.event.type for one in bench.of(StreamEvent)] == ["deleted"]


def test_doubled_events_come_twice() -> None:
    bench = Bench(EventsDoubled(at=Ns(0))).opened()
    bench.tell("a", "b")
    bench.run(5)
    assert sorted(bench.heard()) == ["a", "a", "b", "b"]


def test_reordered_events_are_overtaken() -> None:
    bench = Bench(EventsReordered(at=Ns(0), share=0.5, by=(millis(10), millis(90)))).opened()
    names = [f"c{number}" for number in range(50)]
    for name in names:
        bench.tell(name)
        bench.run(0.005)
    bench.run(1)
    assert bench.heard() != names
    assert sorted(bench.heard()) == sorted(names)


@pytest.mark.parametrize(
    ("without", "status", "metadata", "uid"),
    [
        ("uid", True, True, ""),
        ("metadata", True, False, ""),
        ("sandbox-status", False, False, ""),
        ("statuses", True, True, "uid-web"),
    ],
)
def test_damaged_events_lack_what_they_should_carry(
    without: Any, status: bool, metadata: bool, uid: str
) -> None:
    bench = Bench(EventsDamaged(at=Ns(0), without=without), payload=True).opened()
    bench.tell("a")
    bench.run(1)
    event = bench.event()
    assert (event.has_sandbox_status, event.has_metadata, event.pod_uid) == (status, metadata, uid)
    assert (event.sandbox is not None) is status
    assert event.container_id == "a"


@pytest.mark.parametrize(("by", "off"), [(Offset(-3600 * 10**9), -3600), (Offset(5 * 10**9), 5)])
def test_misdated_events_are_off_by_so_much(by: Offset, off: int) -> None:
    bench = Bench(EventsMisdated(at=Ns(0), by=by)).opened()
    wall = bench.clock.wall()
    bench.tell("a")
    bench.run(1)
    assert bench.event().created_at == wall + off * 10**9


def test_misdated_events_may_have_no_time_at_all() -> None:
    bench = Bench(EventsMisdated(at=Ns(0))).opened()
    bench.tell("a")
    bench.run(1)
    assert bench.event().created_at == 0


def test_faults_add_up() -> None:
    bench = Bench(
        EventsDoubled(at=Ns(0)),
        EventsDamaged(at=Ns(0), without="uid"),
        EventsMisdated(at=Ns(0)),
        StreamDelayed(at=Ns(0), by=(seconds(1), seconds(1))),
    ).opened()
    bench.tell("a")
    bench.run(0.9)
    assert bench.fed == []
    bench.run(1)
    assert [(one.event.pod_uid, one.event.created_at) for one in bench.of(StreamEvent)] == [
        ("", 0)
    ] * 2


# ------------------------------------------------------------------ what differs by runtime


def test_containerd_1_6_has_no_stream_and_says_so_each_time() -> None:
    bench = Bench(rules=CONTAINERD_1_6)
    bench.tell("a")
    for _ in range(2):
        bench.stream.open()
        bench.run(1)
    assert kinds(bench) == ["StreamOpened", "StreamEnded"] * 2
    assert bench.ends() == ["unimplemented"] * 2


def test_containerd_1_7_keeps_the_oldest_thousand_however_old() -> None:
    bench = Bench(rules=CONTAINERD_1_7)
    bench.tell(*(str(number) for number in range(1212)))
    bench.run(3600)
    bench.stream.open()
    bench.run(1)
    assert bench.heard() == [str(number) for number in range(1000)]


def test_cri_o_keeps_nothing_once_somebody_has_come() -> None:
    bench = Bench(rules=CRI_O)
    bench.tell("early")
    bench.stream.open()
    bench.run(1)
    bench.stream.close()
    bench.tell("missed")
    bench.opened()
    assert bench.heard() == []


def test_who_leaves_loses_the_next_events_on_containerd_before_any_is_kept() -> None:
    bench = Bench(rules=CONTAINERD_2).opened()
    bench.stream.close()
    bench.tell("a", "b", "c", "d")
    bench.stream.open()
    bench.run(1)
    assert bench.heard() in (["b", "c", "d"], ["c", "d"])


def test_a_stream_that_the_runtime_ended_loses_none_of_them() -> None:
    bench = Bench(rules=CONTAINERD_1_7).opened()
    bench.plan.begin(StreamEnds(at=Ns(0), how="broken"))
    bench.run(1)
    bench.tell("a")
    bench.stream.open()
    bench.run(1)
    assert bench.heard() == ["a"]


@pytest.mark.parametrize(
    ("rules", "code"),
    [(CONTAINERD_2, "unavailable"), (CONTAINERD_1_7, "unavailable"), (CRI_O, "eof")],
    ids=["containerd-2", "containerd-1.7", "cri-o"],
)
def test_how_a_stream_ends_with_the_runtime(rules: RuntimeRules, code: str) -> None:
    bench = Bench(rules=rules).opened()
    bench.plan.begin(RuntimeRestarts(at=Ns(0), lasts=seconds(1)))
    bench.run(0.1)
    assert bench.ends() == [code]


@pytest.mark.parametrize("payload", [False, True])
def test_a_bare_event_has_nothing_but_id_kind_and_time(payload: bool) -> None:
    bench = Bench(rules=CONTAINERD_1_7, payload=payload).opened()
    now = bench.clock.wall()
    bench.stream.publish(RuntimeEvent("deleted", "s1", now, WEB, bare=True))
    bench.run(1)
    assert bench.event() == ContainerEvent(
        type="deleted",
        container_id="s1",
        created_at=now,
        has_sandbox_status=False,
        has_metadata=False,
    )


# -------------------------------------------------------------------- other subscribers


def test_another_subscriber_takes_every_other_event_on_containerd_1_7_only() -> None:
    for rules, expected in ((CONTAINERD_1_7, 5), (CONTAINERD_2, 10), (CRI_O, 10)):
        bench = Bench(rules=rules).opened()
        bench.plan.begin(OtherSubscriber(at=Ns(0), lasts=seconds(60)))
        bench.tell(*map(str, range(10)))
        bench.run(1)
        assert len(bench.heard()) == expected


def test_one_that_came_first_has_the_backlog() -> None:
    bench = Bench()
    bench.tell("old")
    bench.plan.begin(OtherSubscriber(at=Ns(0)))
    bench.stream.open()
    bench.run(1)
    assert bench.heard() == []
    assert bench.plan.tallies()[0].hits == 1


def test_one_that_does_not_read_stalls_containerd_2_until_it_leaves() -> None:
    bench = Bench(rules=CONTAINERD_2).opened()
    bench.plan.begin(OtherSubscriber(at=Ns(0), lasts=seconds(60), reads=False))
    names = list(map(str, range(400)))
    bench.tell(*names)
    bench.run(1)
    most = CONTAINERD_2.slots + WINDOW
    assert bench.heard() == names[:most]
    assert bench.runtime.stall() is not None
    bench.run(60)
    assert bench.heard() == names
    assert bench.runtime.stall() is None


@pytest.mark.parametrize("rules", [CONTAINERD_1_7, CRI_O], ids=["containerd-1.7", "cri-o"])
def test_elsewhere_no_call_hangs(rules: RuntimeRules) -> None:
    bench = Bench(rules=rules).opened()
    bench.plan.begin(OtherSubscriber(at=Ns(0), lasts=seconds(60), reads=False))
    bench.tell(*map(str, range(1000)))
    assert bench.runtime.stall() is None


def test_one_that_leaves_takes_an_event_along_on_containerd_1_7() -> None:
    bench = Bench(rules=CONTAINERD_1_7).opened()
    bench.plan.begin(OtherSubscriber(at=Ns(0), lasts=seconds(1)))
    bench.run(2)
    bench.tell(*map(str, range(10)))
    bench.run(1)
    assert 8 <= len(bench.heard()) <= 9
