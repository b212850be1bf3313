"""Calls in virtual time: what they answer, how long they take, and what faults make of them."""

from typing import TypeVar

import pytest

from app.engine.effects import CloseStream, InspectPod, ListPods, OpenStream, WakeAt
from app.engine.inputs import (
    Input,
    PodInspected,
    PodInspectFailed,
    PodsListed,
    PodsListFailed,
    StreamEvent,
    StreamOpened,
)
from app.sim.agenda import Agenda, VirtualClock, play
from app.sim.availability import Availability
from app.sim.faultplan import FaultPlan
from app.sim.faults import (
    Fault,
    InspectionsFail,
    InspectionsSlow,
    ListsFail,
    ListsHang,
    ListsSlow,
    RuntimeFreezes,
    RuntimeRestarts,
)
from app.sim.latency import Latencies
from app.sim.objects import RuntimeEvent, Sandbox
from app.sim.pods import container_config, sandbox_config
from app.sim.units import Ns, seconds
from app.sim.virtualruntime import OVERDUE, VirtualRuntime
from app.sim.world import World
from tests.sim.orders import order, runs_on

A = TypeVar("A", bound=Input)


class Bench:
    """A runtime with two pods, and what it fed."""

    def __init__(self, *faults: Fault) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.availability = Availability(self.agenda)
        self.plan = FaultPlan(self.agenda, self.availability, 1)
        self.fed: list[Input] = []
        self.world = World(1, self._publish)
        self.runtime = VirtualRuntime(
            self.agenda,
            self.world,
            self.availability,
            self.plan,
            self.fed.append,
            seed=1,
        )
        self.web = self.add("web", 2)
        self.db = self.add("db", 12)
        for fault in faults:
            self.plan.begin(fault)

    def _publish(self, told: RuntimeEvent) -> None:
        self.runtime.stream.publish(told)

    def add(self, name: str, containers: int) -> Sandbox:
        pod = order(name, *(runs_on(f"c{number}") for number in range(containers)))
        now = self.clock.wall()
        sandbox = self.world.run_sandbox(sandbox_config(pod, 0), now)
        for spec in pod.containers:
            made = self.world.create_container(sandbox.id, container_config(pod, spec, 0), now)
            self.world.start_container(made.id, now)
        return sandbox

    def run(self, time_s: float) -> None:
        play(self.agenda, self.clock, self.clock.mono() + seconds(time_s))

    def list(self, uid: str | None = None, time_s: float = 1) -> None:
        self.runtime.perform(ListPods(call=1, uid=uid))
        self.run(time_s)

    def inspect(self, pod: Sandbox, time_s: float = 1) -> None:
        ids = tuple(one.id for one in self.world.pod_containers(pod.config.uid))
        self.runtime.perform(
            InspectPod(call=2, uid=pod.config.uid, sandbox_ids=(pod.id,), container_ids=ids)
        )
        self.run(time_s)

    def only(self, kind: type[A]) -> A:
        (one,) = self.fed
        assert isinstance(one, kind)
        return one


def test_a_list_answers_with_every_row_and_what_it_cost() -> None:
    bench = Bench()
    bench.list()
    answer = bench.only(PodsListed)
    assert {row.pod_name for row in answer.sandboxes} == {"web", "db"}
    assert len(answer.containers) == 14
    assert [cost.method for cost in answer.calls] == ["ListPodSandbox", "ListContainers"]
    assert sum(cost.duration_ns for cost in answer.calls) == answer.t
    low, high = Latencies().listing
    rows = 14 * Latencies().row_ns
    assert all(low + rows <= cost.duration_ns <= high + rows for cost in answer.calls)


def test_a_list_of_one_pod_has_that_pods_rows() -> None:
    bench = Bench()
    bench.list("uid-web")
    answer = bench.only(PodsListed)
    assert {row.pod_name for row in (*answer.sandboxes, *answer.containers)} == {"web"}


def test_nothing_is_fed_from_within_perform() -> None:
    bench = Bench()
    bench.runtime.perform(ListPods(call=1))
    bench.runtime.perform(OpenStream())
    assert bench.fed == []


def test_what_is_made_between_the_two_calls_shows_up_without_its_sandbox() -> None:
    bench = Bench()
    bench.runtime.perform(ListPods(call=1))
    while bench.runtime.calls["ListContainers"] == 0:
        t = bench.agenda.next_time()
        assert t is not None
        play(bench.agenda, bench.clock, t)
    bench.add("late", 1)
    bench.run(1)
    answer = bench.only(PodsListed)
    assert "late" not in {row.pod_name for row in answer.sandboxes}
    assert "late" in {row.pod_name for row in answer.containers}


def test_an_inspection_answers_with_the_statuses_of_all_that_is_still_there() -> None:
    bench = Bench()
    gone = bench.world.pod_containers("uid-web")[0]
    ids = tuple(one.id for one in bench.world.pod_containers("uid-web"))
    bench.world.remove_container(gone.id, bench.clock.wall())
    bench.runtime.perform(
        InspectPod(call=2, uid="uid-web", sandbox_ids=(bench.web.id, "no such"), container_ids=ids)
    )
    bench.run(1)
    answer = bench.only(PodInspected)
    assert [one.id for one in answer.sandboxes] == [bench.web.id]
    assert {one.id for one in answer.containers} == set(ids) - {gone.id}


def test_statuses_are_asked_for_eight_at_a_time() -> None:
    bench = Bench()
    bench.inspect(bench.db)
    answer = bench.only(PodInspected)
    assert len(answer.calls) == 13
    first, second = answer.calls[:8], answer.calls[8:]
    assert answer.t == max(one.duration_ns for one in first) + max(
        one.duration_ns for one in second
    )
    assert bench.runtime.calls == {"PodSandboxStatus": 1, "ContainerStatus": 12}


def test_the_stream_is_opened_and_left() -> None:
    bench = Bench()
    bench.runtime.perform(OpenStream())
    bench.run(0.1)
    assert isinstance(bench.fed[0], StreamOpened)
    bench.world.exit_sandbox(bench.web.id, bench.clock.wall())
    bench.run(0.1)
    assert isinstance(bench.fed[-1], StreamEvent)
    fed = len(bench.fed)
    bench.runtime.perform(CloseStream())
    bench.world.exit_sandbox(bench.db.id, bench.clock.wall())
    bench.run(5)
    assert len(bench.fed) == fed


def test_a_timer_is_nothing_for_a_runtime() -> None:
    with pytest.raises(TypeError, match="WakeAt"):
        Bench().runtime.perform(WakeAt(timer="global", token=1, at=5))


# ------------------------------------------------------------------------------------ faults


def test_a_slow_lists_answer_is_old_when_it_comes() -> None:
    bench = Bench(ListsSlow(at=Ns(0), by=(seconds(2), seconds(3))))
    bench.list(time_s=4.5)  # the second call has been looked up, and is on its way
    bench.add("late", 1)
    bench.run(5)
    answer = bench.only(PodsListed)
    assert 4 * 10**9 <= answer.t <= 7 * 10**9
    assert "late" not in {row.pod_name for row in answer.sandboxes}
    assert bench.plan.tallies()[0].hits == 2


def test_a_list_that_fails_says_why_and_which_call_it_was() -> None:
    bench = Bench(ListsFail(at=Ns(0), error="Unknown: the store is locked"))
    bench.list()
    answer = bench.only(PodsListFailed)
    assert (answer.error, answer.code) == ("Unknown: the store is locked", "error")
    assert [cost.method for cost in answer.calls] == ["ListPodSandbox"]
    assert bench.runtime.failed == 1


def test_a_list_that_hangs_is_answered_when_the_fault_is_over() -> None:
    bench = Bench(ListsHang(at=Ns(0), lasts=seconds(30)))
    bench.list(time_s=29)
    bench.inspect(bench.web)
    assert [type(one) for one in bench.fed] == [PodInspected]
    bench.run(2)
    assert isinstance(bench.fed[-1], PodsListed)
    assert bench.fed[-1].t >= seconds(30)


def test_a_list_that_hangs_for_too_long_fails_at_its_deadline() -> None:
    bench = Bench(ListsHang(at=Ns(0), lasts=None))
    bench.list(time_s=200)
    answer = bench.only(PodsListFailed)
    assert (answer.error, answer.code) == (OVERDUE, "silent")
    assert answer.t == Latencies().deadline


def test_faults_that_come_and_go_do_not_wake_a_call_too_early() -> None:
    bench = Bench(ListsHang(at=Ns(0), lasts=seconds(30)))
    bench.plan.schedule([ListsFail(at=seconds(5), lasts=seconds(5), share=0.0)])
    bench.list(time_s=20)
    assert bench.fed == []
    bench.run(20)
    bench.only(PodsListed)


def test_the_inspection_of_one_pod_fails_and_no_others() -> None:
    bench = Bench(InspectionsFail(at=Ns(0), pods="shop/web", error="Unknown: broken"))
    bench.inspect(bench.db)
    bench.inspect(bench.web)
    assert [type(one) for one in bench.fed] == [PodInspected, PodInspectFailed]
    failed = bench.fed[1]
    assert isinstance(failed, PodInspectFailed)
    assert failed.error == "Unknown: broken"


def test_the_inspection_of_one_pod_is_slow() -> None:
    bench = Bench(InspectionsSlow(at=Ns(0), pods="*/web", by=(seconds(4), seconds(4))))
    bench.inspect(bench.web, time_s=3.9)
    assert bench.fed == []
    bench.run(1)
    bench.only(PodInspected)


def test_a_pod_that_is_gone_cannot_be_hit() -> None:
    bench = Bench(InspectionsFail(at=Ns(0)))
    ids = tuple(one.id for one in bench.world.pod_containers("uid-web"))
    bench.world.remove_sandbox(bench.web.id, bench.clock.wall())
    bench.runtime.perform(
        InspectPod(call=2, uid="uid-web", sandbox_ids=(bench.web.id,), container_ids=ids)
    )
    bench.run(1)
    assert bench.only(PodInspected).containers == ()


def test_while_the_runtime_is_down_everything_fails_at_once() -> None:
    bench = Bench(RuntimeRestarts(at=Ns(0), lasts=seconds(5)))
    bench.list(time_s=0.001)
    bench.inspect(bench.web, time_s=0.001)
    assert [type(one) for one in bench.fed] == [PodsListFailed, PodInspectFailed]
    assert [one.t for one in bench.fed] == [0, 1_000_000]
    bench.run(5)
    bench.list()
    assert isinstance(bench.fed[-1], PodsListed)
    assert bench.plan.tallies()[0].hits == 2


def test_a_call_that_is_under_way_when_the_runtime_goes_down_fails() -> None:
    bench = Bench()
    bench.runtime.perform(ListPods(call=1))
    bench.run(0.0001)
    bench.plan.begin(RuntimeRestarts(at=Ns(0), lasts=seconds(5)))
    bench.run(1)
    failed = bench.only(PodsListFailed)
    assert "not running" in failed.error
    assert failed.code == "unreachable"


def test_a_slow_list_that_is_under_way_when_the_runtime_goes_down_fails() -> None:
    bench = Bench(ListsSlow(at=Ns(0), by=(seconds(2), seconds(2))))
    bench.runtime.perform(ListPods(call=1))
    bench.run(1)
    bench.plan.begin(RuntimeRestarts(at=Ns(0), lasts=seconds(5)))
    bench.run(2)
    assert "not running" in bench.only(PodsListFailed).error


def test_a_frozen_runtime_lets_every_call_wait() -> None:
    bench = Bench(RuntimeFreezes(at=Ns(0), lasts=seconds(20)))
    bench.runtime.perform(ListPods(call=1))
    bench.inspect(bench.web, time_s=19)
    assert bench.fed == []
    bench.run(2)
    assert {type(one) for one in bench.fed} == {PodsListed, PodInspected}
    assert bench.plan.tallies()[0].hits == 2


def test_calls_take_other_times_with_another_seed_and_the_same_with_the_same() -> None:
    def times(seed: int) -> list[int]:
        bench = Bench()
        runtime = VirtualRuntime(
            bench.agenda,
            bench.world,
            bench.availability,
            bench.plan,
            bench.fed.append,
            seed=seed,
        )
        for call in range(5):
            runtime.perform(ListPods(call=call))
        bench.run(1)
        return [one.t for one in bench.fed]

    assert times(1) == times(1)
    assert times(1) != times(2)
