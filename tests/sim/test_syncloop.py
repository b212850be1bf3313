"""The sync loop: what waits while it is stalled or skips its turns, and when it looks again."""

import pytest

from app.engine.records import HealthChanged, Lifecycle, SyncBegan
from app.engine.settings import EngineSettings
from app.sim.agenda import Agenda, VirtualClock, play
from app.sim.faults import RuntimeFreezes
from app.sim.flavour import MS, SECOND
from app.sim.pods import ERROR
from app.sim.syncloop import SyncLoop
from app.sim.units import Ns, seconds
from tests.sim.orders import order
from tests.sim.virtual import VirtualNode


def event(uid: str) -> Lifecycle:
    return Lifecycle(
        t=0,
        wall=0,
        type="ContainerDied",
        uid=uid,
        container_id="c",
        container_name="app",
        is_sandbox=False,
        old_state="running",
        new_state="exited",
        relist=1,
        source="global",
        delivery="sent",
    )


class Bench:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.done: list[str] = []
        self.loop = SyncLoop(self.agenda, lambda one: self.done.append(one.uid))

    def receive(self, uid: str) -> None:
        self.loop.receive(event(uid))

    def order(self, what: str) -> None:
        self.loop.order(lambda: self.done.append(what))

    def run(self, ns: int = 0) -> None:
        play(self.agenda, self.clock, self.clock.mono() + ns)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_events_and_orders_are_taken_as_they_come(bench: Bench) -> None:
    bench.receive("a")
    bench.order("b")
    bench.receive("c")
    assert bench.done == ["a", "b", "c"]
    assert len(bench.loop) == 0


def test_a_stalled_loop_lets_events_wait_and_orders_pass(bench: Bench) -> None:
    bench.loop.stall()
    bench.receive("a")
    bench.receive("b")
    bench.order("order")
    assert bench.done == ["order"]
    assert len(bench.loop) == bench.loop.resume() == 2
    bench.run()
    assert bench.done == ["order", "a", "b"]


def test_an_unhealthy_pleg_makes_everything_wait_until_the_loop_looks_again(bench: Bench) -> None:
    bench.loop.on_health(healthy=False)
    bench.receive("event")
    bench.order("order")
    bench.run(20 * SECOND)
    assert bench.done == []
    bench.loop.on_health(healthy=True)
    assert bench.done == []
    # By now it looks every five seconds.
    bench.run(5 * SECOND)
    assert bench.done == ["order", "event"]
    bench.receive("later")
    assert bench.done[-1] == "later"


def test_it_looks_again_soon_at_first(bench: Bench) -> None:
    bench.loop.on_health(healthy=False)
    bench.receive("event")
    bench.run(50 * MS)
    bench.loop.on_health(healthy=True)
    bench.run(49 * MS)
    assert bench.done == []
    bench.run(MS)
    assert bench.done == ["event"]


def test_health_that_turns_twice_between_two_looks_is_one_pause(bench: Bench) -> None:
    bench.loop.on_health(healthy=False)
    bench.loop.on_health(healthy=True)
    bench.loop.on_health(healthy=False)
    bench.receive("event")
    bench.run(20 * SECOND)
    assert bench.done == []
    bench.loop.on_health(healthy=True)
    bench.run(5 * SECOND)
    assert bench.done == ["event"]


def test_what_was_cleared_does_not_happen(bench: Bench) -> None:
    bench.loop.on_health(healthy=False)
    bench.receive("event")
    bench.order("order")
    bench.loop.clear()
    bench.loop.on_health(healthy=True)
    bench.run(20 * SECOND)
    assert bench.done == []


def test_a_node_whose_pleg_is_unhealthy_syncs_nothing_and_recovers_within_five_seconds() -> None:
    node = VirtualNode(engine=EngineSettings(threshold_ns=20 * SECOND))
    node.workers.add(order("web"))
    node.workers.add(order("old"))
    node.run(5)
    node.plan.begin(RuntimeFreezes(at=Ns(0), lasts=seconds(60)))
    node.run(30)
    node.workers.add(order("new"))
    node.workers.delete("uid-old")
    node.workers.end_container("uid-web", "app", ERROR)
    node.records.clear()
    node.run(29.9)
    assert node.of(SyncBegan) == []
    assert {pod.name for pod in node.workers.pods} == {"web", "old"}
    node.run(20)
    well = next(one.t for one in node.of(HealthChanged) if one.healthy)
    first = node.of(SyncBegan)[0].t
    assert well < first <= well + 5 * SECOND
    assert {pod.name for pod in node.workers.pods} == {"web", "new"}
    running = {
        one.config.attempt for one in node.world.pod_containers("uid-web") if one.state == "running"
    }
    assert running == {1}
