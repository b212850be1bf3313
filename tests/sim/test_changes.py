"""The calls that change the node, without gRPC: what they do to the world, and in what time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from app.sim.agenda import Agenda, VirtualClock
from app.sim.availability import Availability, UnavailableError
from app.sim.changes import MOST, PULL, Changes, InvalidError, UnknownCallError
from app.sim.events import EventHub
from app.sim.flavour import MS, SECOND, RuntimeRules
from app.sim.flavours import CONTAINERD_2, CRI_O, FLAVOURS, rules_of
from app.sim.objects import RuntimeEvent, SandboxConfig
from app.sim.pb import cri_changes_pb2 as pb
from app.sim.processes import Processes
from app.sim.timings import Timings
from app.sim.world import ConflictError, NotFoundError, World, WorldError

T = TypeVar("T")
SLEEP = ("sleep", "infinity")


class Bench:
    """The calls, and a hand that turns the clock on while one is under way."""

    def __init__(self, rules: RuntimeRules = CONTAINERD_2) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.hub = EventHub(self.clock, rules)
        self.events: list[RuntimeEvent] = []
        self.world = World(1, self._publish, rules)
        self.processes = Processes(self.agenda, self.world, 1, Availability(self.agenda))
        self.changes = Changes(self.agenda, self.world, self.processes, self.hub, seed=1)

    def _publish(self, told: RuntimeEvent) -> None:
        self.events.append(told)
        self.hub.publish(told)

    def told(self) -> list[tuple[str, str]]:
        """Kind and id of what was told since one last asked."""
        heard: list[tuple[str, str]] = [(one.kind, one.container_id) for one in self.events]
        self.events.clear()
        return heard

    async def done(self, call: Awaitable[T]) -> T:
        """The answer of a call, for which as much time passes as it needs."""
        async with asyncio.TaskGroup() as tasks:
            calling = tasks.create_task(_outcome(call))
            await self.others()
            while not calling.done():
                await self.turn()
        answer, error = calling.result()
        if error is not None:
            raise error
        assert answer is not None
        return answer

    async def others(self) -> None:
        """Let others have their turn."""
        for _ in range(4):
            await asyncio.sleep(0)

    async def turn(self) -> None:
        """Go on to the next appointment, and let others have their turn."""
        t = self.agenda.next_time()
        if t is not None:
            self.clock.advance_to(t)
            self.agenda.run_due()
        await self.others()

    async def sandbox(self, name: str = "web") -> str:
        config = pb.PodSandboxConfig(
            metadata=pb.PodSandboxMetadata(name=name, uid=f"uid-{name}", namespace="shop"),
            labels={"app": name},
            annotations={"a": "b"},
        )
        made = await self.done(self.changes.run_pod_sandbox(pb.RunPodSandboxRequest(config=config)))
        return made.pod_sandbox_id

    async def container(self, sandbox_id: str, *command: str, name: str = "app") -> str:
        config = pb.ContainerConfig(
            metadata=pb.ContainerMetadata(name=name, attempt=2),
            image=pb.ImageSpec(image="sha256:1", user_specified_image="registry.example/app:1"),
            command=command[:1],
            args=command[1:],
            labels={"tier": "front"},
            log_path="app/2.log",
        )
        request = pb.CreateContainerRequest(pod_sandbox_id=sandbox_id, config=config)
        return (await self.done(self.changes.create_container(request))).container_id

    async def start(self, container_id: str) -> None:
        request = pb.StartContainerRequest(container_id=container_id)
        await self.done(self.changes.start_container(request))

    async def running(self, *command: str) -> tuple[str, str]:
        """The ids of a sandbox and of a container in it that runs."""
        sandbox_id = await self.sandbox()
        container_id = await self.container(sandbox_id, *(command or SLEEP))
        await self.start(container_id)
        self.told()
        return sandbox_id, container_id

    async def stop(self, container_id: str, timeout: int) -> None:
        request = pb.StopContainerRequest(container_id=container_id, timeout=timeout)
        await self.done(self.changes.stop_container(request))

    async def remove(self, container_id: str) -> None:
        request = pb.RemoveContainerRequest(container_id=container_id)
        await self.done(self.changes.remove_container(request))

    async def stop_pod(self, sandbox_id: str) -> None:
        request = pb.StopPodSandboxRequest(pod_sandbox_id=sandbox_id)
        await self.done(self.changes.stop_pod_sandbox(request))

    async def remove_pod(self, sandbox_id: str) -> None:
        request = pb.RemovePodSandboxRequest(pod_sandbox_id=sandbox_id)
        await self.done(self.changes.remove_pod_sandbox(request))


async def _outcome(call: Awaitable[T]) -> tuple[T | None, WorldError | None]:
    """A call's answer, or why it was refused."""
    try:
        return await call, None
    except WorldError as error:
        return None, error


@asynccontextmanager
async def under_way(
    call: Awaitable[T],
) -> AsyncIterator["asyncio.Task[tuple[T | None, WorldError | None]]"]:
    """A call that is made meanwhile, and given up at the end if it is not over."""
    async with asyncio.TaskGroup() as tasks:
        calling = tasks.create_task(_outcome(call))
        await asyncio.sleep(0)
        yield calling
        calling.cancel()


async def test_a_sandbox_is_what_was_asked_for() -> None:
    bench = Bench()
    box = bench.world.sandbox(await bench.sandbox())
    assert (box.config.name, box.config.uid, box.config.namespace) == ("web", "uid-web", "shop")
    assert (box.config.labels, box.config.annotations) == ({"app": "web"}, {"a": "b"})
    assert box.ip
    assert bench.told() == [("created", box.id), ("started", box.id)]
    assert Timings().run_sandbox[0] <= bench.clock.mono() <= Timings().run_sandbox[1]


async def test_a_sandbox_on_the_nodes_network_has_no_address() -> None:
    bench = Bench()
    config = pb.PodSandboxConfig(metadata=pb.PodSandboxMetadata(name="p", uid="u"))
    config.linux.security_context.namespace_options.network = pb.NODE
    request = pb.RunPodSandboxRequest(config=config)
    made = await bench.done(bench.changes.run_pod_sandbox(request))
    assert bench.world.sandbox(made.pod_sandbox_id).ip == ""


async def test_a_container_is_what_was_asked_for_and_runs_its_command() -> None:
    bench = Bench()
    box = await bench.sandbox()
    made = bench.world.container(await bench.container(box, "sh", "-c", "sleep 2; exit 3"))
    assert (made.config.name, made.config.attempt) == ("app", 2)
    assert made.config.image == "registry.example/app:1"
    assert (made.config.labels, made.config.log_path) == ({"tier": "front"}, "app/2.log")
    assert made.state == "created"
    await bench.start(made.id)
    started = bench.world.container(made.id).started_at
    while bench.world.is_running(made.id):
        await bench.turn()
    ended = bench.world.container(made.id)
    assert (ended.exit_code, ended.reason) == (3, "Error")
    assert 2 * SECOND <= ended.finished_at - started <= 2 * SECOND + 5 * MS


async def test_requests_without_what_a_pod_needs_are_refused() -> None:
    bench = Bench()
    nameless = pb.RunPodSandboxRequest(config=pb.PodSandboxConfig())
    with pytest.raises(InvalidError, match="a name and a uid"):
        await bench.changes.run_pod_sandbox(nameless)
    with pytest.raises(InvalidError, match="with a name"):
        await bench.changes.create_container(pb.CreateContainerRequest())


async def test_what_the_runtime_refuses() -> None:
    bench = Bench()
    with pytest.raises(NotFoundError):
        await bench.container("f" * 64, "true")
    with pytest.raises(NotFoundError):
        await bench.start("f" * 64)
    box, app = await bench.running()
    with pytest.raises(ConflictError):
        await bench.start(app)
    with pytest.raises(ConflictError, match="reserved"):
        await bench.container(box, "true")


async def test_a_node_that_is_full_takes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    box = await bench.sandbox()
    monkeypatch.setattr(World, "size", MOST)
    with pytest.raises(WorldError, match=f"holds {MOST} containers and sandboxes"):
        await bench.container(box, "true")
    with pytest.raises(WorldError, match=f"holds {MOST} containers and sandboxes"):
        await bench.sandbox("another")


def test_sandboxes_are_counted_too() -> None:
    world = World(1, lambda _told: None)
    assert world.size == 0
    world.run_sandbox(SandboxConfig(name="a", uid="u", namespace="n"), 0)
    assert (world.size, world.count) == (1, 0)


async def test_a_program_that_is_not_there_fails_at_the_start_and_leaves_an_exit() -> None:
    bench = Bench()
    app = await bench.container(await bench.sandbox(), "/no/such/program")
    bench.told()
    with pytest.raises(WorldError, match="failed to create containerd task: runc create failed"):
        await bench.start(app)
    failed = bench.world.container(app)
    assert (failed.state, failed.exit_code, failed.reason) == ("exited", 128, "StartError")
    assert bench.told() == []


async def test_on_cri_o_it_fails_at_the_creation_and_leaves_nothing() -> None:
    bench = Bench(CRI_O)
    box = await bench.sandbox()
    bench.told()
    with pytest.raises(WorldError, match="container create failed: runc create failed"):
        await bench.container(box, "/no/such/program")
    assert bench.world.everything() == ()
    assert bench.told() == []


async def test_stopping_waits_for_the_end_to_be_noticed() -> None:
    bench = Bench()
    _, app = await bench.running("sleep", "1000")
    began = bench.clock.mono()
    await bench.stop(app, 2)
    took = bench.clock.mono() - began
    assert 2 * SECOND + CONTAINERD_2.exit_lag[0] <= took <= 2 * SECOND + CONTAINERD_2.exit_lag[2]
    assert bench.told() == [("stopped", app)]
    await bench.stop(app, 2)
    assert bench.told() == []


@pytest.mark.parametrize("timeout", [-5, 2**62])
async def test_a_timeout_from_outside_is_bounded(timeout: int) -> None:
    bench = Bench()
    _, app = await bench.running("nginx")
    await bench.stop(app, timeout)
    assert bench.world.container(app).exit_code == (137 if timeout < 0 else 0)


async def test_what_is_not_there_is_stopped_and_removed_already() -> None:
    bench = Bench()
    await bench.stop("f" * 64, 1)
    await bench.remove("f" * 64)
    await bench.stop_pod("f" * 64)
    await bench.remove_pod("f" * 64)
    assert bench.told() == []


async def test_removing_what_runs_kills_it_first() -> None:
    bench = Bench()
    _, app = await bench.running()
    await bench.remove(app)
    assert bench.told() == [("stopped", app), ("deleted", app)]


async def test_stopping_a_pod_kills_what_runs_in_it() -> None:
    bench = Bench()
    box, app = await bench.running()
    await bench.stop_pod(box)
    await bench.stop_pod(box)
    assert bench.told() == [("stopped", app), ("stopped", box)]
    assert bench.world.container(app).exit_code == 137


async def test_removing_a_pod_that_runs() -> None:
    bench = Bench()
    box, app = await bench.running()
    await bench.remove_pod(box)
    assert bench.told() == [
        ("stopped", app),
        ("stopped", box),
        ("deleted", app),
        ("deleted", box),
    ]


async def test_on_cri_o_nobody_hears_of_it_and_no_process_is_left() -> None:
    bench = Bench(CRI_O)
    box, app = await bench.running()
    for _ in range(3):
        await bench.turn()
    bench.told()
    await bench.remove_pod(box)
    while bench.agenda.next_time() is not None:
        await bench.turn()
    assert bench.told() == []
    assert bench.world.look_up(app) is None
    assert bench.processes.unnoticed == 0


async def test_what_was_never_started_is_forgotten_with_its_container() -> None:
    bench = Bench()
    app = await bench.container(await bench.sandbox(), "true")
    assert list(bench.changes._specs) == [app]
    await bench.remove(app)
    assert bench.changes._specs == {}


async def test_a_container_that_was_made_otherwise_can_be_started_too() -> None:
    bench = Bench()
    _, app = await bench.running("true")
    await bench.turn()
    again = await bench.container(bench.world.container(app).sandbox_id, "true", name="b")
    bench.changes._specs.clear()
    await bench.start(again)
    assert bench.world.is_running(again)


async def test_resources_of_what_is_there_may_change_without_an_event() -> None:
    bench = Bench()
    _, app = await bench.running("sleep", "1000")
    request = pb.UpdateContainerResourcesRequest(container_id=app)
    await bench.done(bench.changes.update_container_resources(request))
    assert bench.told() == []
    await bench.stop(app, 0)
    with pytest.raises(WorldError, match="has exited"):
        await bench.changes.update_container_resources(request)
    with pytest.raises(NotFoundError):
        await bench.changes.update_container_resources(pb.UpdateContainerResourcesRequest())


@pytest.mark.parametrize("name", list(FLAVOURS))
async def test_how_cgroups_are_made_is_told_where_it_is(name: str) -> None:
    bench = Bench(rules_of(name))
    asked = bench.changes.runtime_config(pb.RuntimeConfigRequest())
    if name in ("containerd-1.6", "containerd-1.7"):
        with pytest.raises(UnknownCallError):
            await asked
    else:
        assert (await asked).linux.cgroup_driver == pb.SYSTEMD


async def test_an_image_takes_its_time_to_be_pulled() -> None:
    bench = Bench()
    pull = bench.changes.image_calls["PullImage"].answer
    request = pb.PullImageRequest(image=pb.ImageSpec(image="registry.example/app:1"))
    await bench.done(pull(request))
    assert PULL[0] <= bench.clock.mono() <= PULL[1]
    listed = bench.changes.image_calls["ListImages"].answer
    assert len((await listed(pb.ListImagesRequest())).images) == 1  # type: ignore[attr-defined]


# ------------------------------------------------------- a subscriber that does not read


async def test_on_containerd_2_calls_hang_while_a_subscriber_does_not_read() -> None:
    bench = Bench()
    box = await bench.sandbox()
    with bench.hub.subscribe() as slow:
        for number in range(200):
            bench.hub.publish(RuntimeEvent("stopped", str(number), 1, bench.world.sandbox(box)))
        request = pb.CreateContainerRequest(
            pod_sandbox_id=box, config=pb.ContainerConfig(metadata=pb.ContainerMetadata(name="x"))
        )
        async with under_way(bench.changes.create_container(request)) as calling:
            while not bench.world.everything():
                await bench.turn()
            for _ in range(10):
                await bench.turn()
            # It is there, and lists show it; but the call does not come back.
            assert not calling.done()
            while not calling.done():
                await slow.take()
                await bench.turn()
            answer, _ = calling.result()
            assert answer is not None
            assert answer.container_id


@pytest.mark.parametrize("name", ["containerd-1.7", "cri-o"])
async def test_elsewhere_no_call_hangs(name: str) -> None:
    bench = Bench(rules_of(name))
    box = await bench.sandbox()
    with bench.hub.subscribe():
        for number in range(1500):
            bench.hub.publish(RuntimeEvent("stopped", str(number), 1, bench.world.sandbox(box)))
        assert await bench.container(box, "true")


async def test_a_runtime_that_goes_away_answers_no_call() -> None:
    bench = Bench()
    _, app = await bench.running("sleep", "1000")
    request = pb.StopContainerRequest(container_id=app, timeout=60)
    async with under_way(bench.changes.stop_container(request)) as calling:
        bench.changes.abandon()
        assert isinstance((await calling)[1], UnavailableError)
