"""A script on a node: who is there, what happens when, and that it can be ended."""

from itertools import islice

import msgspec
import pytest

from app.sim.agenda import Agenda, VirtualClock, play
from app.sim.chance import generator
from app.sim.flavour import SECOND
from app.sim.performance import Performance
from app.sim.pods import ERROR, PodSpec, Resources
from app.sim.script import (
    Action,
    AddPod,
    DeletePod,
    EndContainer,
    FailProbe,
    ReplacePod,
    ResizeInPlace,
    Script,
)
from app.sim.workers import PodWorkers
from app.sim.world import World
from tests.sim.orders import order
from tests.sim.plan import Plan
from tests.sim.virtual import VirtualNode


class Bench:
    def __init__(self, *pods: PodSpec, steps: tuple[tuple[int, Action], ...] = ()) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.world = World(1, lambda _: None)
        self.workers = PodWorkers(self.agenda, self.world, lambda _: None, 1)
        self.script = Script(1, [Plan(pods, steps)])
        self.performance = Performance(self.agenda, self.workers, self.script)

    def run(self, ns: int) -> None:
        play(self.agenda, self.clock, self.clock.mono() + ns)

    def names(self) -> set[str]:
        return {pod.name for pod in self.workers.pods}


def test_residents_have_been_there_for_a_while() -> None:
    bench = Bench(order("web"))
    bench.performance.set_the_stage()
    (sandbox,) = bench.world.sandboxes()
    assert sandbox.created_at == bench.clock.wall() - 3600 * SECOND
    assert bench.names() == {"web"}


def test_steps_happen_at_their_times_after_the_lead() -> None:
    bench = Bench(steps=tuple((SECOND, AddPod(order(f"p{number}"))) for number in range(3)))
    bench.run(5 * SECOND)
    bench.performance.begin(lead_ns=2 * SECOND)
    seen = []
    for _ in range(6):
        seen.append(len(bench.names()))
        bench.run(SECOND)
    assert seen == [0, 0, 0, 1, 2, 3]


def test_it_can_be_ended_in_the_middle() -> None:
    bench = Bench(steps=tuple((SECOND, AddPod(order(f"p{number}"))) for number in range(9)))
    bench.performance.begin()
    bench.run(3 * SECOND)
    bench.performance.end()
    bench.run(60 * SECOND)
    assert bench.names() == {"p0", "p1", "p2"}


def test_ending_what_has_not_begun_is_no_error() -> None:
    bench = Bench()
    bench.performance.end()
    bench.performance.begin()
    bench.run(SECOND)
    assert bench.names() == set()


def test_every_kind_of_action_is_carried_out() -> None:
    node = VirtualNode(workloads=(Plan((order("web"), order("db")), ()),))
    node.run(3)
    act = node.performance.act
    act(AddPod(order("new")))
    act(ResizeInPlace("uid-web", "app", Resources(500, 256)))
    act(EndContainer("uid-web", "app", ERROR))
    act(FailProbe("uid-db", ("app",), "startup"))
    act(DeletePod("uid-db"))
    node.run(60)
    assert {pod.name for pod in node.workers.pods} == {"web", "new"}
    assert node.workers.probes_failed == {"startup": 1}
    states = {one.config.attempt: one.reason for one in node.world.pod_containers("uid-web")}
    assert states == {0: "Error", 1: ""}
    web = next(pod for pod in node.workers.pods if pod.name == "web")
    assert web.containers[0].resources == Resources(500, 256)


def other(name: str, uid: str = "uid-other") -> PodSpec:
    return msgspec.structs.replace(order(name), uid=uid)


def test_a_pod_of_another_name_comes_at_once_in_the_place_of_one_that_goes() -> None:
    node = VirtualNode(workloads=(Plan((order("web"),)),))
    node.run(3)
    node.performance.act(ReplacePod("uid-web", other("web-2")))
    node.run(0.1)
    assert {pod.name for pod in node.workers.pods} == {"web", "web-2"}
    node.run(60)
    assert {pod.name for pod in node.workers.pods} == {"web-2"}


def test_a_pod_of_the_same_name_comes_when_the_old_one_is_gone() -> None:
    node = VirtualNode(workloads=(Plan((order("web"),)),))
    node.run(3)
    node.performance.act(ReplacePod("uid-web", other("web")))
    for _ in range(200):
        node.run(0.1)
        assert len(node.workers.pods) <= 1
    assert [pod.uid for pod in node.workers.pods] == ["uid-other"]


def test_what_the_script_has_in_store_befalls_the_pod_in_its_place() -> None:
    later = (
        (30 * SECOND, EndContainer("uid-web", "app", ERROR)),
        (20 * SECOND, DeletePod("uid-web")),
    )
    node = VirtualNode(workloads=(Plan((order("web"),), later),))
    node.run(3)
    node.performance.act(ReplacePod("uid-web", other("web-2")))
    node.run(1)
    node.performance.act(ReplacePod("uid-other", other("web-3", "uid-third")))
    node.run(30)
    states = {one.config.attempt: one.reason for one in node.world.pod_containers("uid-third")}
    assert states == {0: "Error", 1: ""}
    node.run(60)
    assert node.workers.pods == ()


def test_one_that_the_script_deletes_before_it_comes_never_comes() -> None:
    node = VirtualNode(workloads=(Plan((order("web"),), ((3 * SECOND, DeletePod("uid-web")),)),))
    node.run(2.9)
    node.performance.act(ReplacePod("uid-web", other("web")))
    node.run(120)
    assert node.workers.pods == ()


def test_an_action_that_nobody_knows_is_a_mistake() -> None:
    class Unheard(Action, frozen=True, tag="unheard of"):
        """No node carries this out."""

    with pytest.raises(TypeError, match="nobody carries out"):
        Bench().performance.act(Unheard())


def test_a_script_is_played_as_it_was_written() -> None:
    steps = tuple((generator(1, at).randrange(SECOND), AddPod(order(f"p{at}"))) for at in range(20))
    written = list(islice(Script(1, [Plan((), steps)]).steps(), 20))
    bench = Bench(steps=steps)
    bench.performance.begin()
    for step in written:
        before = len(bench.names())
        bench.run(step.t - bench.clock.mono())
        assert len(bench.names()) == before + 1
