"""The client: deadlines, counters, the table of waiting calls, errors in words."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import pytest

from app.clock import RealClock
from app.cri.client import CHANNEL_OPTIONS, CriClient, Deadlines
from app.cri.pb import cri_pb2
from app.cri.words import CallFailed
from app.engine.model import CallCost
from tests.cri.fakes import FakeRuntime, Refuse, container, containers, sandbox, sandboxes, version

Code = grpc.StatusCode


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0

    def mono(self) -> int:
        return self.now

    def wall(self) -> int:
        return 1_000_000_000 + self.now

    def real_s(self, ns: int) -> float:
        return ns / 1e9


class Gate:
    """An answer that waits until it is opened; ``entered`` once the call is at the server."""

    def __init__(self, answer: bytes = b"") -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()
        self._answer = answer

    async def __call__(self, request: bytes) -> bytes:
        self.entered.set()
        await self.open.wait()
        return self._answer


async def test_n13_lists_everything_or_one_pod(client: CriClient, runtime: FakeRuntime) -> None:
    runtime.answers["ListPodSandbox"] = sandboxes(sandbox(1), sandbox(2))
    runtime.answers["ListContainers"] = containers(container(1))
    assert [row.id for row in (await client.list_pod_sandbox()).items] == ["s1", "s2"]
    assert [row.id for row in (await client.list_containers()).containers] == ["c1"]
    await client.list_pod_sandbox("u1")
    await client.list_containers("u1")
    (_, all_pods), (_, all_containers), (_, one_pod), (_, inside) = runtime.asked
    assert all_pods == all_containers == b""
    wanted = {"io.kubernetes.pod.uid": "u1"}
    pod_request = cri_pb2.ListPodSandboxRequest.FromString(one_pod)
    assert dict(pod_request.filter.label_selector) == wanted
    inside_request = cri_pb2.ListContainersRequest.FromString(inside)
    assert dict(inside_request.filter.label_selector) == wanted


async def test_each_list_and_status_is_told_as_received(
    client: CriClient, runtime: FakeRuntime
) -> None:
    told: list[tuple[int, int, str, str, bytes]] = []
    client.on_answer = lambda *message: told.append(message)
    # With a field that is unknown here.
    listed = sandboxes(sandbox(1)).SerializeToString() + b"\xfa\x3e\x01x"
    runtime.answers["ListPodSandbox"] = listed
    runtime.answers["ListContainers"] = containers(container(1))
    runtime.answers["ContainerStatus"] = b"\x0a\x00"
    runtime.answers["PodSandboxStatus"] = Refuse(Code.NOT_FOUND, "gone")
    runtime.answers["Version"] = version("containerd", "2.1.4")
    await client.list_pod_sandbox()
    await client.list_containers("u1")
    await client.container_status("c1")
    await client.version()
    with pytest.raises(CallFailed):
        await client.pod_sandbox_status("s1")
    assert [one[2:] for one in told] == [
        ("ListPodSandbox", "", listed),
        ("ListContainers", "u1", containers(container(1)).SerializeToString()),
        ("ContainerStatus", "c1", b"\x0a\x00"),
    ]
    assert all(0 <= t < wall for t, wall, *_rest in told)


async def test_statuses_are_never_verbose(client: CriClient, runtime: FakeRuntime) -> None:
    await client.pod_sandbox_status("s1")
    await client.container_status("c1")
    await client.status()
    sandbox_request = cri_pb2.PodSandboxStatusRequest.FromString(runtime.asked[0][1])
    container_request = cri_pb2.ContainerStatusRequest.FromString(runtime.asked[1][1])
    assert (sandbox_request.pod_sandbox_id, sandbox_request.verbose) == ("s1", False)
    assert (container_request.container_id, container_request.verbose) == ("c1", False)
    assert runtime.asked[2] == ("Status", b"")


async def test_counts_calls_and_bytes(runtime: FakeRuntime) -> None:
    clock = Hand()
    answer = sandboxes(sandbox(1))
    runtime.answers["ListPodSandbox"] = answer
    costs: list[CallCost] = []
    async with CriClient(runtime.address, clock) as client:
        assert (client.calls_total, client.bytes_total) == (0, 0)
        await client.list_pod_sandbox(costs=costs)
        await client.version()
        size = len(answer.SerializeToString())
        assert client.counts["ListPodSandbox"].size == size
        assert client.bytes_total == size + len(version().SerializeToString())
        assert client.calls_total == 2
    assert costs == [CallCost("ListPodSandbox", 0)]


async def test_the_oldest_waiting_call_is_known_with_its_age(runtime: FakeRuntime) -> None:
    clock = Hand()
    first, second = Gate(), Gate()
    runtime.answers |= {"ListPodSandbox": first, "ListContainers": second}
    async with CriClient(runtime.address, clock) as client, asyncio.TaskGroup() as tasks:
        assert client.oldest_call() is None
        listing = tasks.create_task(client.list_pod_sandbox())
        await first.entered.wait()
        clock.now = 5
        tasks.create_task(client.list_containers())
        await second.entered.wait()
        clock.now = 47
        assert client.oldest_call() == ("ListPodSandbox", 0)
        first.open.set()
        await listing
        assert client.oldest_call() == ("ListContainers", 5)
        second.open.set()
    assert client.oldest_call() is None
    assert client.counts["ListPodSandbox"].durations.sum == 47e-9


async def test_a_call_that_is_not_answered_ends_at_its_deadline(
    runtime: FakeRuntime, clock: RealClock
) -> None:
    runtime.answers["ListContainers"] = Gate()
    costs: list[CallCost] = []
    async with CriClient(runtime.address, clock, Deadlines(call=0.05)) as client:
        with pytest.raises(
            CallFailed, match=r"ListContainers was not answered within 0\.05 s"
        ) as e:
            await client.list_containers(costs=costs)
        assert e.value.code is Code.DEADLINE_EXCEEDED
        assert client.oldest_call() is None
        assert client.counts["ListContainers"].failed == 1
    assert costs[0].duration_ns >= 50_000_000


async def test_under_a_fast_clock_a_call_is_given_up_sooner(runtime: FakeRuntime) -> None:
    runtime.answers["ListContainers"] = Gate()
    client = CriClient(runtime.address, RealClock(20), Deadlines(call=4.0))
    async with asyncio.timeout(60), client:
        # The message tells the session's time, which is what people see everywhere.
        with pytest.raises(CallFailed, match=r"was not answered within 4 s"):
            await client.list_containers()


async def test_the_stream_does_not_count_as_a_waiting_call(
    client: CriClient, runtime: FakeRuntime
) -> None:
    call = client.container_events(30.0)
    subscriber = await runtime.subscriber(0)
    assert subscriber.deadline_s is not None
    assert 25 < subscriber.deadline_s < 35
    assert client.oldest_call() is None
    assert client.counts["GetContainerEvents"].calls == 1
    call.cancel()
    await subscriber.gone.wait()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (Code.UNIMPLEMENTED, "is not there in this runtime"),
        (Code.PERMISSION_DENIED, "with sudo"),
        (Code.RESOURCE_EXHAUSTED, "16 MiB"),
        (Code.NOT_FOUND, "NOT_FOUND"),
        (Code.UNKNOWN, "runtime's log"),
    ],
)
async def test_the_runtimes_refusal_in_words(
    client: CriClient, runtime: FakeRuntime, code: grpc.StatusCode, said: str
) -> None:
    runtime.answers["ContainerStatus"] = Refuse(code, "because")
    with pytest.raises(CallFailed, match=said) as e:
        await client.container_status("c1")
    assert e.value.code is code
    assert "because" in str(e.value)
    assert str(e.value).endswith(".")


async def test_an_absent_runtime_in_words(socket_dir: Path, clock: RealClock) -> None:
    async with CriClient(f"unix://{socket_dir}/none.sock", clock) as client:
        with pytest.raises(CallFailed, match="did not reach the runtime") as e:
            await client.list_containers()
    assert e.value.code is Code.UNAVAILABLE
    # Of the library's chain of errors only the last link is shown.
    assert "failed to connect to all addresses" not in str(e.value)


async def test_an_answer_that_is_no_message(client: CriClient, runtime: FakeRuntime) -> None:
    runtime.answers["ListContainers"] = b"\xff\xff\xff"
    with pytest.raises(CallFailed, match="not a CRI v1 message") as e:
        await client.list_containers()
    assert e.value.code is Code.INTERNAL
    assert client.bytes_total == 3


async def test_answers_up_to_the_kubelets_limit(client: CriClient, runtime: FakeRuntime) -> None:
    label = {"x": "y" * (1 << 20)}
    rows = [container(n, annotations=label) for n in range(15)]
    runtime.answers["ListContainers"] = containers(*rows)
    assert len((await client.list_containers()).containers) == 15
    runtime.answers["ListContainers"] = containers(*rows, *rows)
    with pytest.raises(CallFailed, match="16 MiB") as e:
        await client.list_containers()
    assert e.value.code is Code.RESOURCE_EXHAUSTED


async def test_a_runtime_that_comes_back_is_found_again(
    client: CriClient, runtime: FakeRuntime
) -> None:
    await client.version()
    await runtime.stop()
    with pytest.raises(CallFailed):
        await client.version()
    await runtime.start()
    async with asyncio.timeout(60):
        while True:
            try:
                await client.version()
                break
            except CallFailed:
                await asyncio.sleep(0)
    assert client.counts["Version"].failed >= 1


def test_the_channel_neither_pings_nor_retries() -> None:
    options = dict(CHANNEL_OPTIONS)
    assert not [name for name in options if "keepalive" in name or "ping" in name]
    assert options["grpc.enable_retries"] == 0
    assert options["grpc.max_receive_message_length"] == 16 * 1024 * 1024
    # One attempt to connect outlasts the probe, or a hung runtime would look absent.
    assert int(options["grpc.min_reconnect_backoff_ms"]) > Deadlines().version * 1000
