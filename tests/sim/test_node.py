"""The node as a whole: a real client on its socket, a hand that plays the PLEG, and its end."""

import asyncio
import stat
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import grpc
import pytest

from app.clock import Clock, RealClock
from app.cri.pb import cri_pb2 as pb
from app.engine.inputs import Input, RelistRequested, SyncEnded, SyncStarted
from app.engine.records import Lifecycle, PodCached, RelistFinished
from app.errors import EndpointError
from app.sim.agenda import VirtualClock
from app.sim.faults import (
    EventsLost,
    InspectionsFail,
    ListsFail,
    ListsHang,
    RuntimeFreezes,
    RuntimeRestarts,
    StreamRefused,
    StreamSilent,
)
from app.sim.flavour import MS, SECOND
from app.sim.library import load
from app.sim.node import LEAD_NS, RealPacer, SimNode
from app.sim.objects import RuntimeEvent
from app.sim.pods import ERROR
from app.sim.rows import container_status, sandbox_status
from app.sim.scenario import Scenario
from app.sim.script import (
    Action,
    AddPod,
    DeletePod,
    EndContainer,
    FailProbe,
    Script,
    Workload,
)
from app.sim.timings import Timings
from app.sim.units import Ns, millis, seconds
from app.sim.workers import WorkerSettings
from tests.sim.orders import order
from tests.sim.plan import Plan

TIMEOUT = 60.0
AT_ONCE = (0, MS)
QUICK = WorkerSettings(timings=Timings(**dict.fromkeys(Timings.__struct_fields__, AT_ONCE)))


def scenario(*workloads: Workload, workers: WorkerSettings = QUICK, **more: Any) -> Scenario:
    return Scenario(
        name="test", title="A test", shows="It.", workloads=workloads, workers=workers, **more
    )


class Leaping:
    """A pacer that does not wait: it sets the virtual clock on, once others had their turn."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    async def wait(self, t: int | None, wake: asyncio.Event) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        if wake.is_set():
            return
        if t is None:
            await wake.wait()
        else:
            self._clock.advance_to(t)


class Running:
    """A node that runs, what it fed, and a client of its socket."""

    def __init__(self, node: SimNode, path: Path, clock: Clock) -> None:
        self.node = node
        self.path = path
        self.clock = clock
        self.inputs: list[Input] = []
        self.ready = asyncio.Event()

    async def call(self, method: str, request: Any, answer: Any) -> Any:
        # A connection of its own, which knows nothing of another one's back-off.
        options = (("grpc.use_local_subchannel_pool", 1),)
        async with grpc.aio.insecure_channel(f"unix:{self.path}", options=options) as channel:
            stub = channel.unary_unary(
                f"/runtime.v1.RuntimeService/{method}",
                request_serializer=type(request).SerializeToString,
                response_deserializer=answer.FromString,
            )
            return await stub(request, timeout=TIMEOUT)

    async def until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + TIMEOUT
        while not true():
            assert time.monotonic() < deadline, "it never became so"
            await asyncio.sleep(0.001)

    def relist(self, uid: str) -> None:
        """Tell the workers what a global relist would: the pod as it is, and who died."""
        t, wall = self.clock.mono(), self.clock.wall()
        world = self.node.world
        containers = sorted(world.pod_containers(uid), key=lambda one: -one.config.attempt)
        self.node.on_record(
            PodCached(
                t=t,
                wall=wall,
                uid=uid,
                name="",
                namespace="",
                relist=1,
                containers=tuple(container_status(one) for one in containers),
                sandboxes=tuple(sandbox_status(one) for one in world.pod_sandboxes(uid)),
            )
        )
        self.node.on_record(
            RelistFinished(
                t=t,
                wall=wall,
                relist=1,
                scope="global",
                source="global",
                started=t,
                duration_ns=0,
                ok=True,
            )
        )

    def died(self, uid: str, container_id: str) -> None:
        self.node.on_record(
            Lifecycle(
                t=self.clock.mono(),
                wall=self.clock.wall(),
                type="ContainerDied",
                uid=uid,
                container_id=container_id,
                container_name="app",
                is_sandbox=False,
                old_state="running",
                new_state="exited",
                relist=1,
                source="global",
                delivery="sent",
            )
        )


@asynccontextmanager
async def running(
    path: Path,
    played: Scenario,
    clock: Clock | None = None,
    *,
    lead_ns: int = 0,
    **more: Any,
) -> AsyncIterator[Running]:
    clock = clock or RealClock()
    node = SimNode(played, clock, lead_ns=lead_ns, **more)
    run = Running(node, path, clock)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(node.run(path, run.inputs.append, run.ready))
        await asyncio.wait_for(run.ready.wait(), TIMEOUT)
        yield run
        task.cancel()


@asynccontextmanager
async def events(path: Path, within: float = TIMEOUT) -> AsyncIterator[Any]:
    """An open GetContainerEvents of a client of its own."""
    async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
        stream: Any = channel.unary_stream(
            "/runtime.v1.RuntimeService/GetContainerEvents",
            request_serializer=pb.GetEventsRequest.SerializeToString,
            response_deserializer=pb.ContainerEventResponse.FromString,
        )(pb.GetEventsRequest(), timeout=within)
        yield stream
        stream.cancel()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "node.sock"


async def test_a_client_of_its_own_sees_a_container_die_and_come_back(path: Path) -> None:
    pod = order()
    plan = Plan((pod,), ((50 * MS, EndContainer(pod.uid, "app", ERROR)),))
    async with running(path, scenario(plan)) as run, events(path) as stream:
        heard = [await stream.read()]
        stop = heard[0]
        assert stop.container_event_type == pb.CONTAINER_STOPPED_EVENT
        assert stop.pod_sandbox_status.metadata.uid == pod.uid
        assert run.inputs == []  # nobody has noticed yet
        run.relist(pod.uid)
        run.died(pod.uid, stop.container_id)
        heard += [await stream.read() for _ in range(2)]
        assert [one.container_event_type for one in heard[1:]] == [
            pb.CONTAINER_CREATED_EVENT,
            pb.CONTAINER_STARTED_EVENT,
        ]
        assert heard[1].container_id != stop.container_id
        await run.until(lambda: any(isinstance(one, RelistRequested) for one in run.inputs))
        kinds = [type(one) for one in run.inputs if type(one).__name__ != "EventsTaken"]
        assert kinds == [SyncStarted, SyncEnded, RelistRequested]
        times = [one.t for one in run.inputs]
        assert times == sorted(times)


async def test_who_does_not_read_keeps_the_kubelet_from_making_pods(path: Path) -> None:
    new = order("new")
    plan = Plan((order(),), ((50 * MS, AddPod(new)),))
    async with running(path, scenario(plan)) as run:
        world, hub = run.node.world, run.node._hub
        with hub.subscribe() as slow:
            told = RuntimeEvent("stopped", "x", 1, world.sandboxes()[0])
            for _ in range(101):
                hub.publish(told)
            run.relist(new.uid)
            await run.until(lambda: bool(world.pod_sandboxes(new.uid)))
            # RunPodSandbox does not come back: the kubelet waits.
            await run.until(lambda: hub._channel._calls != [])
            assert world.pod_containers(new.uid) == []
            while not world.pod_containers(new.uid):
                await slow.take()


async def test_nothing_is_fed_from_within_on_record(path: Path) -> None:
    pod = order()
    async with running(path, scenario(Plan((pod,)))) as run:
        container = run.node.world.pod_containers(pod.uid)[0]
        run.relist(pod.uid)
        run.died(pod.uid, container.id)
        assert run.inputs == []
        await run.until(lambda: run.inputs != [])


async def test_the_demos_node_lists_its_residents_from_the_first_moment(path: Path) -> None:
    async with running(path, load("demo"), lead_ns=LEAD_NS) as run:
        pods = await run.call(
            "ListPodSandbox", pb.ListPodSandboxRequest(), pb.ListPodSandboxResponse
        )
        containers = await run.call(
            "ListContainers", pb.ListContainersRequest(), pb.ListContainersResponse
        )
        assert len(pods.items) >= 20
        assert {one.metadata.namespace for one in pods.items} >= {"checkout", "kube-system"}
        assert {one.state for one in containers.containers} == {pb.CONTAINER_RUNNING}
        now = time.time_ns()
        assert all(one.created_at < now - 3600 * SECOND for one in pods.items)


async def test_residents_come_without_events(path: Path) -> None:
    async with running(path, scenario(Plan((order(),)))), events(path, within=0.2) as stream:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stream.read()
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_an_hour_under_a_clock_that_leaps_takes_no_hour(path: Path) -> None:
    """Every kind of action is carried out; a virtual clock drives the same node."""
    clock = VirtualClock()
    pods = [order(f"p{number}") for number in range(3)]
    plan = Plan(
        (pods[0], pods[1]),
        (
            (600 * SECOND, AddPod(pods[2])),
            (600 * SECOND, EndContainer(pods[1].uid, "app", ERROR)),
            (600 * SECOND, FailProbe(pods[0].uid, ("app",))),
            (600 * SECOND, DeletePod(pods[0].uid)),
            (600 * SECOND, DeletePod(pods[2].uid)),
        ),
    )
    began = time.monotonic()
    async with running(path, scenario(plan), clock, pacer=Leaping(clock)) as run:
        run.relist(pods[0].uid)
        workers = run.node.workers._pods
        await run.until(lambda: sum(one.deleted for one in workers.values()) == 2)
        assert clock.mono() >= 3000 * SECOND
        world = run.node.world
        (app,) = world.pod_containers(pods[1].uid)
        assert (app.state, app.reason) == ("exited", "Error")  # no PLEG told of it
        synced = [one.uid for one in run.inputs if isinstance(one, SyncStarted)]
        assert pods[2].uid in synced
        # Without a PLEG the kubelet knows of nothing that it could stop.
        assert [uid for uid, one in workers.items() if one.deleted] == [pods[0].uid, pods[2].uid]
        assert len(world.sandboxes()) == 3
    assert time.monotonic() - began < 200


async def test_the_real_clock_paces_the_script(path: Path) -> None:
    plan = Plan((), tuple((20 * MS, AddPod(order(f"p{number}"))) for number in range(5)))
    clock = RealClock()
    async with running(path, scenario(plan), clock) as run:
        await run.until(lambda: len(run.node.workers.pods) == 5)
        assert 100 * MS <= clock.mono() < 10 * SECOND


async def test_the_pacer_wakes_for_what_comes_earlier() -> None:
    clock = RealClock()
    wake = asyncio.Event()
    pacer = RealPacer(clock)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(pacer.wait(clock.mono() + 3600 * SECOND, wake))
        forever = tasks.create_task(pacer.wait(None, wake))
        await asyncio.sleep(0)
        assert not waiting.done()
        assert not forever.done()
        wake.set()
    wake.clear()
    before = clock.mono()
    await pacer.wait(before + 5 * MS, wake)
    assert clock.mono() >= before + 4 * MS


async def test_the_pacer_gives_way_even_when_nothing_is_to_be_waited_for() -> None:
    clock = RealClock()
    wake = asyncio.Event()
    wake.set()
    others: list[int] = []
    asyncio.get_running_loop().call_soon(others.append, 1)
    await RealPacer(clock).wait(0, wake)
    assert others == [1]


async def test_it_ends_cleanly_and_takes_its_socket_away(path: Path) -> None:
    async with running(path, load("demo"), lead_ns=LEAD_NS) as run:
        mode = await asyncio.to_thread(lambda: path.stat().st_mode)
        assert stat.S_ISSOCK(mode)
        fed = len(run.inputs)
    assert not await asyncio.to_thread(path.exists)
    assert len(run.inputs) == fed
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_sync_in_progress_at_the_end_feeds_nothing_more(path: Path) -> None:
    pod = order()
    slow = WorkerSettings(timings=Timings(prepare=(60 * SECOND, 60 * SECOND)))
    plan = Plan((order("other"),), ((0, AddPod(pod)),))
    async with running(path, scenario(plan, workers=slow)) as run:
        run.relist("uid-other")
        await run.until(lambda: any(isinstance(one, SyncStarted) for one in run.inputs))
    assert not any(isinstance(one, SyncEnded) for one in run.inputs)


async def test_a_place_where_no_socket_can_be_made_is_an_error_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    node = SimNode(scenario(), RealClock())
    ready = asyncio.Event()
    with pytest.raises(EndpointError, match="cannot make its socket"):
        await node.run(tmp_path / "nowhere" / "node.sock", lambda _: None, ready)
    assert not ready.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_mistake_in_a_call_ends_the_node_loudly(path: Path) -> None:
    class Unheard(Action, frozen=True, tag="unheard"):
        """No node carries this out."""

    node = SimNode(scenario(Plan((), ((0, Unheard()),))), RealClock(), lead_ns=0)
    with pytest.raises(ExceptionGroup) as caught:
        await asyncio.wait_for(node.run(path, lambda _: None, asyncio.Event()), TIMEOUT)
    assert isinstance(caught.value.exceptions[0], TypeError)
    assert not await asyncio.to_thread(path.exists)


def test_the_seed_is_the_scenarios_own_unless_told() -> None:
    demo = load("demo")
    assert SimNode(demo, RealClock()).seed == demo.seed == 7
    node = SimNode(demo, RealClock(), seed=42)
    script = Script(42, demo.workloads)
    assert node.seed == 42
    assert list(islice(node.script.steps(), 20)) == list(islice(script.steps(), 20))


# ------------------------------------------------------------------------------------ faults


def ended(run: Running, uid: str) -> list[tuple[int, str]]:
    """Exit codes and reasons of a pod's containers that have exited."""
    return [
        (one.exit_code, one.reason)
        for one in run.node.world.pod_containers(uid)
        if one.state == "exited"
    ]


async def test_a_restart_takes_the_server_away_and_brings_it_back(path: Path) -> None:
    pod = order()
    plan = Plan((pod,), ((300 * MS, EndContainer(pod.uid, "app", ERROR)),))
    restart = RuntimeRestarts(at=millis(200), lasts=seconds(4))
    notes: list[tuple[str, str]] = []
    async with (
        running(
            path,
            scenario(plan, faults=(restart,)),
            tell=lambda *note: notes.append(note),
            endless=True,
        ) as run,
        events(path) as stream,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stream.read()
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        await run.until(lambda: not path.exists())
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await run.call("Version", pb.VersionRequest(), pb.VersionResponse)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        await run.until(lambda: len(notes) == 2 and path.exists())
        answer = await run.call("Version", pb.VersionRequest(), pb.VersionResponse)
        assert answer.runtime_name == "containerd"
        # It died while nobody was there to see how.
        assert ended(run, pod.uid) == [(255, "Unknown")]
    assert notes == [
        ("warning", f"Fault begins: Restart the runtime. It imitates: {restart.imitates}"),
        ("info", "Fault is over: Restart the runtime."),
    ]


async def test_a_frozen_runtime_hangs_and_tells_late_what_happened_meanwhile(path: Path) -> None:
    pod = order()
    plan = Plan((pod,), ((300 * MS, EndContainer(pod.uid, "app", ERROR)),))
    freeze = RuntimeFreezes(at=millis(200), lasts=seconds(3))
    clock = RealClock()
    async with (
        running(path, scenario(plan, faults=(freeze,)), clock) as run,
        events(path) as stream,
    ):
        await run.until(lambda: run.node.workers.runtime.state == "frozen")
        began = run.node.plan.tallies()[0].began_t
        await run.call("Version", pb.VersionRequest(), pb.VersionResponse)
        assert clock.mono() >= began + seconds(3)
        stop = await stream.read()
        assert stop.container_event_type == pb.CONTAINER_STOPPED_EVENT
        assert ended(run, pod.uid) == [(ERROR.exit_code, ERROR.reason)]


async def test_a_refused_stream_says_so_while_lists_go_on(path: Path) -> None:
    played = scenario(Plan((order(),)), faults=(StreamRefused(at=Ns(0)),))
    async with running(path, played) as run:
        await run.until(lambda: run.node.plan.tallies() != ())
        async with events(path) as stream:
            with pytest.raises(grpc.aio.AioRpcError, match="unknown method") as caught:
                await stream.read()
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
        pods = await run.call(
            "ListPodSandbox", pb.ListPodSandboxRequest(), pb.ListPodSandboxResponse
        )
        assert len(pods.items) == 1


async def test_lists_and_inspections_fail_as_the_scenario_says(path: Path) -> None:
    faults = (
        ListsFail(at=Ns(0), error="Internal: the store is locked"),
        InspectionsFail(at=Ns(0), error="Unknown: no status"),
    )
    pod = order()
    async with running(path, scenario(Plan((pod,)), faults=faults)) as run:
        await run.until(lambda: len(run.node.plan.tallies()) == 2)
        with pytest.raises(grpc.aio.AioRpcError, match="the store is locked") as caught:
            await run.call("ListContainers", pb.ListContainersRequest(), pb.ListContainersResponse)
        assert caught.value.code() is grpc.StatusCode.INTERNAL
        (sandbox,) = run.node.world.pod_sandboxes(pod.uid)
        asked = pb.PodSandboxStatusRequest(pod_sandbox_id=sandbox.id)
        with pytest.raises(grpc.aio.AioRpcError, match="no status"):
            await run.call("PodSandboxStatus", asked, pb.PodSandboxStatusResponse)


async def test_at_the_end_of_its_time_faults_are_over_and_the_node_runs_on(path: Path) -> None:
    """Under a clock that leaps: a scenario of ten minutes, and an hour after it."""
    clock = VirtualClock()
    pod = order()
    plan = Plan((pod,), ((1800 * SECOND, EndContainer(pod.uid, "app", ERROR)),))
    faults = (
        EventsLost(at=seconds(60)),
        StreamSilent(at=seconds(100), lasts=seconds(10)),
        ListsHang(at=seconds(700)),
    )
    notes: list[tuple[int, str, str]] = []
    played = scenario(plan, faults=faults, duration_ns=600 * SECOND)

    def tell(level: str, text: str) -> None:
        notes.append((clock.mono() // SECOND, level, text.split(":")[1 if "Fault" in text else 0]))

    async with running(
        path, played, clock, lead_ns=2 * SECOND, pacer=Leaping(clock), tell=tell
    ) as run:
        await run.until(lambda: clock.mono() >= 1802 * SECOND)
        await run.until(lambda: ended(run, pod.uid) != [])
        assert run.node.plan.quiet
    assert notes == [
        (2, "info", "A test. Under kep"),
        (62, "warning", " Lose events. It imitates"),
        (102, "warning", " Silence the stream. It imitates"),
        (112, "info", " Silence the stream."),
        (602, "info", " Lose events."),
        (602, "info", "The scenario test has been played to its end (10 min)"),
    ]


async def test_an_endless_scenario_says_neither_that_it_begins_nor_that_it_ends(
    path: Path,
) -> None:
    clock = VirtualClock()
    notes: list[str] = []
    pod = order()
    plan = Plan((pod,), ((600 * SECOND, EndContainer(pod.uid, "app", ERROR)),))
    async with running(
        path,
        scenario(plan),
        clock,
        pacer=Leaping(clock),
        endless=True,
        tell=lambda _level, text: notes.append(text),
    ) as run:
        await run.until(lambda: ended(run, pod.uid) != [])
    assert notes == []
