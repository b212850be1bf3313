"""The CRI server, asked by a client that is not ours: plain grpc.aio over the unix socket."""

import asyncio
import stat
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from app.cri.pb import cri_pb2 as pb
from app.errors import EndpointError
from app.sim.agenda import VirtualClock
from app.sim.events import EventHub, StraightWay, StreamEnd, Subscriber
from app.sim.flavour import RuntimeRules
from app.sim.flavours import CONTAINERD_1_6, CONTAINERD_2, FLAVOURS
from app.sim.objects import Container, ContainerConfig, SandboxConfig
from app.sim.server import SERVICE, CriServer, Fault, remove_socket
from app.sim.world import World

SECOND = 1_000_000_000
TIMEOUT = 60.0


class Client:
    """What a CRI client needs: methods by name, no generated stubs."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel

    async def call(self, method: str, request: Any, answer: Any, within: float = TIMEOUT) -> Any:
        stub = self._channel.unary_unary(
            f"/{SERVICE}/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        return await stub(request, timeout=within)

    def events(self, within: float = TIMEOUT) -> Any:
        stub = self._channel.unary_stream(
            f"/{SERVICE}/GetContainerEvents",
            request_serializer=pb.GetEventsRequest.SerializeToString,
            response_deserializer=pb.ContainerEventResponse.FromString,
        )
        return stub(pb.GetEventsRequest(), timeout=within)

    async def list_containers(self, **wanted: Any) -> list[str]:
        request = pb.ListContainersRequest(filter=pb.ContainerFilter(**wanted))
        answer = await self.call("ListContainers", request, pb.ListContainersResponse)
        return sorted(one.metadata.name for one in answer.containers)

    async def list_sandboxes(self, **wanted: Any) -> list[str]:
        request = pb.ListPodSandboxRequest(filter=pb.PodSandboxFilter(**wanted))
        answer = await self.call("ListPodSandbox", request, pb.ListPodSandboxResponse)
        return sorted(one.metadata.name for one in answer.items)


class Node:
    """A served world with two pods: ``web`` (a running and an ended container) and ``db``."""

    def __init__(
        self,
        path: Path,
        *,
        buffer: int = 1000,
        rules: RuntimeRules = CONTAINERD_2,
        **server: Any,
    ) -> None:
        self.path = path
        self.clock = VirtualClock()
        self.hub = EventHub(self.clock, rules, buffer=buffer)
        self.world = World(1, self.hub.publish, rules)
        self.server = CriServer(self.world, self.hub, **server)
        now = self.clock.wall() - 600 * SECOND  # long ago: no backlog
        web = self.world.run_sandbox(
            SandboxConfig(name="web", uid="u1", namespace="shop", labels={"uid": "u1"}), now
        )
        self.world.run_sandbox(
            SandboxConfig(name="db", uid="u2", namespace="shop", labels={"uid": "u2"}), now
        )
        self.app = self._start(web.id, "app", now)
        self.done = self._start(web.id, "done", now)
        self.world.exit_container(self.done.id, 0, "Completed", now, now)

    def _start(self, sandbox_id: str, name: str, now: int) -> Container:
        config = ContainerConfig(name=name, image="registry.example/i:1", labels={"uid": "u1"})
        container = self.world.create_container(sandbox_id, config, now)
        return self.world.start_container(container.id, now)

    def blink(self, number: int) -> None:
        """One container more, and gone again: CREATED and DELETED."""
        config = ContainerConfig(name="blink", image="i", attempt=number)
        now = self.clock.wall()
        made = self.world.create_container(self.app.sandbox_id, config, now)
        self.world.remove_container(made.id, now)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        options = (("grpc.use_local_subchannel_pool", 1),)
        async with grpc.aio.insecure_channel(f"unix:{self.path}", options=options) as channel:
            yield Client(channel)

    async def subscribed(self, count: int) -> None:
        """Wait until so many streams are open: none answers before its first event."""
        await until(lambda: self.hub.subscribers == count)


async def until(true: Callable[[], bool]) -> None:
    """Let the loop go round until it is so."""
    deadline = time.monotonic() + TIMEOUT
    while not true():
        assert time.monotonic() < deadline, "it never became so"
        await asyncio.sleep(0.001)


@asynccontextmanager
async def serving(path: Path, **server: Any) -> AsyncIterator[Node]:
    node = Node(path, **server)
    await node.server.start(path)
    try:
        yield node
    finally:
        await node.server.stop()
        remove_socket(path)


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    async with serving(tmp_path / "cri.sock") as made:
        yield made


@pytest.fixture
async def client(node: Node) -> AsyncIterator[Client]:
    async with node.client() as made:
        yield made


# ------------------------------------------------------------------------------- unary calls


async def test_it_says_who_it_is(client: Client) -> None:
    version = await client.call("Version", pb.VersionRequest(version="0.1.0"), pb.VersionResponse)
    assert version.runtime_name == "containerd"
    assert version.runtime_version == "2.1.0+plegscope.sim"
    assert version.runtime_api_version == "v1"


async def test_it_says_that_all_is_well(client: Client) -> None:
    answer = await client.call("Status", pb.StatusRequest(), pb.StatusResponse)
    conditions = {one.type: one.status for one in answer.status.conditions}
    assert conditions["RuntimeReady"]
    assert conditions["NetworkReady"]


async def test_lists_without_a_filter_are_complete(client: Client) -> None:
    assert await client.list_sandboxes() == ["db", "web"]
    assert await client.list_containers() == ["app", "done"]


async def test_a_list_without_a_filter_message_is_complete_too(client: Client) -> None:
    rows = await client.call(
        "ListContainers", pb.ListContainersRequest(), pb.ListContainersResponse
    )
    assert len(rows.containers) == 2


async def test_containers_by_id_state_sandbox_and_label(node: Node, client: Client) -> None:
    running = pb.ContainerStateValue(state=pb.CONTAINER_RUNNING)
    created = pb.ContainerStateValue(state=pb.CONTAINER_CREATED)
    assert await client.list_containers(state=running) == ["app"]
    # The number of "created" is 0, proto's default: asking for it is not asking for nothing.
    assert await client.list_containers(state=created) == []
    assert await client.list_containers(id=node.done.id[:13]) == ["done"]
    assert await client.list_containers(pod_sandbox_id=node.app.sandbox_id) == ["app", "done"]
    assert await client.list_containers(label_selector={"uid": "u1"}) == ["app", "done"]
    assert await client.list_containers(label_selector={"uid": "u2"}) == []
    assert await client.list_containers(label_selector={"uid": "u1"}, state=running) == ["app"]


async def test_sandboxes_by_id_state_and_label(node: Node, client: Client) -> None:
    ready = pb.PodSandboxStateValue(state=pb.SANDBOX_READY)
    notready = pb.PodSandboxStateValue(state=pb.SANDBOX_NOTREADY)
    assert await client.list_sandboxes(state=ready) == ["db", "web"]
    assert await client.list_sandboxes(state=notready) == []
    assert await client.list_sandboxes(id=node.app.sandbox_id[:13]) == ["web"]
    assert await client.list_sandboxes(label_selector={"uid": "u2"}) == ["db"]


async def test_statuses_of_what_is_there(node: Node, client: Client) -> None:
    sandbox = await client.call(
        "PodSandboxStatus",
        pb.PodSandboxStatusRequest(pod_sandbox_id=node.app.sandbox_id),
        pb.PodSandboxStatusResponse,
    )
    assert sandbox.status.metadata.uid == "u1"
    assert sandbox.status.network.ip == "10.244.16.2"
    assert not sandbox.containers_statuses
    done = await client.call(
        "ContainerStatus",
        pb.ContainerStatusRequest(container_id=node.done.id),
        pb.ContainerStatusResponse,
    )
    assert done.status.state == pb.CONTAINER_EXITED
    assert done.status.reason == "Completed"


@pytest.mark.parametrize(
    ("method", "request_", "answer"),
    [
        (
            "PodSandboxStatus",
            pb.PodSandboxStatusRequest(pod_sandbox_id="f" * 64),
            pb.PodSandboxStatusResponse,
        ),
        ("ContainerStatus", pb.ContainerStatusRequest(), pb.ContainerStatusResponse),
    ],
)
async def test_statuses_of_what_is_not_there(
    client: Client, method: str, request_: Any, answer: Any
) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match="not found") as caught:
        await client.call(method, request_, answer)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("method", ["RunPodSandbox", "StopContainer", "ListPodStats"])
async def test_what_would_change_the_node_does_not_exist(client: Client, method: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.call(method, pb.VersionRequest(), pb.VersionResponse)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("rules", list(FLAVOURS.values()), ids=list(FLAVOURS))
async def test_it_says_which_runtime_it_is_like(tmp_path: Path, rules: RuntimeRules) -> None:
    async with serving(tmp_path / "cri.sock", rules=rules) as node, node.client() as client:
        version = await client.call("Version", pb.VersionRequest(), pb.VersionResponse)
        assert (version.runtime_name, version.runtime_version) == (
            rules.runtime_name,
            rules.runtime_version,
        )
        status = await client.call("Status", pb.StatusRequest(), pb.StatusResponse)
        conditions = {one.type for one in status.status.conditions}
        assert ("ContainerdHasNoDeprecationWarnings" in conditions) is rules.warns_of_age


async def test_containerd_1_6_has_no_event_stream(tmp_path: Path) -> None:
    async with serving(tmp_path / "cri.sock", rules=CONTAINERD_1_6) as node, node.client() as it:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await it.events().read()
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert refused.value.details() == "method GetContainerEvents not implemented"
        assert node.hub.subscribers == 0


# --------------------------------------------------------------------------------- the stream


async def test_o1_two_subscribers_hear_the_same(node: Node, client: Client) -> None:
    async with node.client() as other:
        one, two = client.events(), other.events()
        await node.subscribed(2)
        now = node.clock.wall()
        node.world.exit_container(node.app.id, 137, "OOMKilled", now - 50, now)
        for stream in (one, two):
            event = await stream.read()
            assert event.container_id == node.app.id
            assert event.container_event_type == pb.CONTAINER_STOPPED_EVENT
            assert event.created_at == now
            assert event.pod_sandbox_status.metadata.uid == "u1"
            states = {each.metadata.name: each for each in event.containers_statuses}
            assert set(states) == {"app", "done"}
            assert states["app"].reason == "OOMKilled"
        one.cancel()
        two.cancel()


async def test_one_that_left_is_forgotten_and_the_other_goes_on(node: Node, client: Client) -> None:
    stays, leaves = client.events(), client.events()
    await node.subscribed(2)
    leaves.cancel()
    await node.subscribed(1)
    node.blink(0)
    assert (await stays.read()).container_event_type == pb.CONTAINER_CREATED_EVENT
    stays.cancel()
    await node.subscribed(0)


async def test_a_deadline_ends_the_stream_on_both_sides(node: Node, client: Client) -> None:
    stream = client.events(within=1.0)
    await node.subscribed(1)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stream.read()
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await node.subscribed(0)


async def test_one_that_does_not_read_stalls_nobody(node: Node, client: Client) -> None:
    async with node.client() as idle:
        asleep, awake = idle.events(within=60), client.events(within=60)
        await node.subscribed(2)
        heard = 0
        began = time.monotonic()
        for number in range(1500):
            node.blink(number)
            if number % 50 == 49:
                while heard < 2 * number:
                    await awake.read()
                    heard += 1
        assert heard >= 2990
        assert time.monotonic() - began < 200
        asleep.cancel()
        awake.cancel()


async def test_one_that_fell_behind_loses_its_stream_with_the_reason(tmp_path: Path) -> None:
    async with serving(tmp_path / "cri.sock", buffer=4) as node, node.client() as client:
        stream = client.events()
        await node.subscribed(1)
        for number in range(3):  # six events within one turn of the loop
            node.blink(number)
        with pytest.raises(grpc.aio.AioRpcError, match="fell behind and 2 events") as caught:
            await stream.read()
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        await node.subscribed(0)


async def test_the_servers_end_ends_the_stream(node: Node, client: Client) -> None:
    stream = client.events()
    await node.subscribed(1)
    await node.server.stop()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stream.read()
    assert caught.value.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
    await node.subscribed(0)


async def test_o10_what_happened_before_the_first_subscriber_comes_first(
    node: Node, client: Client
) -> None:
    node.blink(0)
    stream = client.events()
    kinds = [(await stream.read()).container_event_type for _ in range(2)]
    assert kinds == [pb.CONTAINER_CREATED_EVENT, pb.CONTAINER_DELETED_EVENT]
    stream.cancel()


# ----------------------------------------------------------------------------------- the hooks


async def test_latency_is_awaited_per_method(tmp_path: Path) -> None:
    gate = asyncio.Event()
    asked: list[str] = []

    async def latency(method: str, _item_id: str) -> None:
        asked.append(method)
        if method == "ListContainers":
            await gate.wait()

    async with serving(tmp_path / "cri.sock", latency=latency) as node, node.client() as client:
        async with asyncio.TaskGroup() as tasks:
            slow = tasks.create_task(client.list_containers())
            await until(lambda: "ListContainers" in asked)
            assert await client.list_sandboxes() == ["db", "web"]  # the others go on
            assert not slow.done()
            gate.set()
        assert slow.result() == ["app", "done"]


async def test_a_hung_call_ends_by_the_clients_deadline(tmp_path: Path) -> None:
    async def latency(_method: str, _item_id: str) -> None:
        await asyncio.Event().wait()

    async with serving(tmp_path / "cri.sock", latency=latency) as node, node.client() as client:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.call("Version", pb.VersionRequest(), pb.VersionResponse, within=0.1)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_fault_is_what_the_client_gets(tmp_path: Path) -> None:
    def fault(method: str, _item_id: str) -> Fault | None:
        if method in {"ListContainers", "GetContainerEvents"}:
            return Fault(grpc.StatusCode.UNAVAILABLE, "out of order")
        return None

    async with serving(tmp_path / "cri.sock", fault=fault) as node, node.client() as client:
        with pytest.raises(grpc.aio.AioRpcError, match="out of order") as caught:
            await client.list_containers()
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        with pytest.raises(grpc.aio.AioRpcError, match="out of order"):
            await client.events().read()
        assert await client.list_sandboxes() == ["db", "web"]
        assert node.hub.subscribers == 0


async def test_the_hooks_learn_which_one_is_asked_for(tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def fault(method: str, item_id: str) -> Fault | None:
        asked.append((method, item_id))
        return None

    async with serving(tmp_path / "cri.sock", fault=fault) as node, node.client() as client:
        sandbox, app = node.app.sandbox_id, node.app.id
        request = pb.PodSandboxStatusRequest(pod_sandbox_id=sandbox)
        await client.call("PodSandboxStatus", request, pb.PodSandboxStatusResponse)
        inside = pb.ContainerStatusRequest(container_id=app)
        await client.call("ContainerStatus", inside, pb.ContainerStatusResponse)
        await client.list_containers()
    assert asked == [
        ("PodSandboxStatus", sandbox),
        ("ContainerStatus", app),
        ("ListContainers", ""),
    ]


async def test_an_answer_that_lags_is_of_the_moment_it_was_made(tmp_path: Path) -> None:
    made, gate = asyncio.Event(), asyncio.Event()

    async def lag(method: str, _item_id: str) -> None:
        if method in {"ListContainers", "GetContainerEvents"}:
            made.set()
            await gate.wait()

    async with serving(tmp_path / "cri.sock", lag=lag) as node, node.client() as client:
        async with asyncio.TaskGroup() as tasks:
            listing = tasks.create_task(client.list_containers())
            await asyncio.wait_for(made.wait(), TIMEOUT)
            now = node.clock.wall()
            node.world.remove_container(node.done.id, now)
            stream = client.events()
            made.clear()
            await node.subscribed(1)
            reading = tasks.create_task(stream.read())
            await asyncio.wait_for(made.wait(), TIMEOUT)  # events lag as well
            assert not reading.done()
            gate.set()
        assert listing.result() == ["app", "done"]
        assert reading.result().container_id == node.done.id
        stream.cancel()


@pytest.mark.parametrize("code", [grpc.StatusCode.OK, grpc.StatusCode.INTERNAL])
async def test_a_stream_that_the_runtime_ends(tmp_path: Path, code: grpc.StatusCode) -> None:
    class Ending(StraightWay):
        """Ends a stream as soon as it is open."""

        def opened(self, subscriber: Subscriber) -> None:
            subscriber.end(StreamEnd(code, "broken off"))

    async with serving(tmp_path / "cri.sock") as node, node.client() as client:
        node.hub.way = Ending()
        stream = client.events()
        assert await stream.code() is code
        await node.subscribed(0)


async def test_it_may_be_stopped_and_started_again(tmp_path: Path) -> None:
    path = tmp_path / "cri.sock"
    async with serving(path) as node, node.client() as client:
        stream = client.events()
        await node.subscribed(1)
        listening = [node.server.listening]
        await node.server.stop()
        listening.append(node.server.listening)
        assert listening == [True, False]
        assert await stream.code() is grpc.StatusCode.UNAVAILABLE
        await node.subscribed(0)
        remove_socket(path)
        await node.server.start(path)
        async with node.client() as again:
            assert await again.list_sandboxes() == ["db", "web"]


# ---------------------------------------------------------------------------------- the socket


async def test_the_socket_is_for_this_user_only(node: Node) -> None:
    mode = await asyncio.to_thread(lambda: node.path.stat().st_mode)
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


async def test_a_path_that_no_socket_can_have_is_refused(tmp_path: Path) -> None:
    node = Node(tmp_path / ("x" * 120))
    with pytest.raises(EndpointError, match=r"at most 107: .* Set TMPDIR to a shorter"):
        await node.server.start(node.path)
    await node.server.stop()  # nothing was started: nothing to stop


async def test_a_place_where_no_socket_can_be_made_is_refused(tmp_path: Path) -> None:
    node = Node(tmp_path / "nowhere" / "cri.sock")
    with pytest.raises(EndpointError, match=r"cannot make its socket .*nowhere.* start again"):
        await node.server.start(node.path)


def test_removing_a_socket_that_is_gone_is_no_error(tmp_path: Path) -> None:
    remove_socket(tmp_path / "gone.sock")
    assert not (tmp_path / "gone.sock").exists()


async def test_a_deadline_frees_the_node_from_a_client_that_does_not_read(
    node: Node, client: Client
) -> None:
    stream = client.events(within=1.5)
    await node.subscribed(1)
    # More than the slots, the windows of HTTP/2 and what gRPC reads ahead can take.
    for number in range(3000):
        node.blink(number)
    assert node.hub.stalled
    await until(lambda: not node.hub.stalled)
    assert node.hub.subscribers == 0
    stream.cancel()
