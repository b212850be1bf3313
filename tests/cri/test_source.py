"""The source: effects in, inputs out, the stream joined with care, Ctrl-Z."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import grpc
import pytest

from app.clock import RealClock
from app.cri import source as source_module
from app.cri.client import CriClient, Deadlines
from app.cri.probe import probe
from app.cri.source import STOPPED, CriSource
from app.cri.stream import StreamTiming
from app.engine.effects import (
    CloseStream,
    Effect,
    InspectPod,
    ListPods,
    OpenStream,
    WakeAt,
)
from app.engine.inputs import (
    Input,
    PodInspected,
    PodInspectFailed,
    PodsListed,
    PodsListFailed,
    RuntimeProbed,
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamOpened,
)
from tests.cri.fakes import (
    FakeRuntime,
    Inputs,
    Refuse,
    container,
    container_status,
    containers,
    sandbox_status,
    stop_event,
    version,
)

Code = grpc.StatusCode
TIMING = StreamTiming(deadline=60.0, grace=0.02)


class At:
    """A source at work, and what it feeds."""

    def __init__(self, source: CriSource) -> None:
        self.source = source
        self.inputs = Inputs()

    def perform(self, *effects: Effect) -> None:
        for effect in effects:
            self.source.perform(effect)


@asynccontextmanager
async def working(
    source: CriSource, feed: Callable[[Input], None] | None = None
) -> AsyncIterator[At]:
    at = At(source)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(source.run(feed or at.inputs))
        await asyncio.sleep(0)  # its turn, so that it is at work
        yield at
        task.cancel()


@pytest.fixture
async def source(client: CriClient, clock: RealClock) -> CriSource:
    first = await probe(client, "unix:///c.sock", clock)
    return CriSource(client, clock, first, timing=TIMING)


# Lists and inspections


async def test_answers_lists_and_inspections(source: CriSource, runtime: FakeRuntime) -> None:
    runtime.answers |= {
        "ListContainers": containers(container(1)),
        "PodSandboxStatus": sandbox_status(1),
        "ContainerStatus": container_status(1),
    }
    async with working(source) as at:
        at.perform(ListPods(call=1))
        assert at.inputs.all == []
        listed = await at.inputs.next(PodsListed)
        at.perform(InspectPod(call=2, uid="u1", sandbox_ids=("s1",), container_ids=("c1",)))
        inspected = await at.inputs.next(PodInspected)
    assert (listed.call, inspected.call) == (1, 2)
    assert listed.t < inspected.t


async def test_effects_before_it_runs_are_kept(source: CriSource, runtime: FakeRuntime) -> None:
    source.perform(ListPods(call=1))
    source.perform(ListPods(call=2, uid="u1"))
    async with working(source) as at:
        calls = {(await at.inputs.next(PodsListed)).call, (await at.inputs.next(PodsListed)).call}
    assert calls == {1, 2}


async def test_a_hung_call_holds_up_nothing_else(source: CriSource, runtime: FakeRuntime) -> None:
    never = asyncio.Event()

    async def hang(_: bytes) -> bytes:
        await never.wait()
        return b""

    runtime.answers |= {"ListPodSandbox": hang, "ContainerStatus": container_status(1)}
    async with working(source) as at:
        at.perform(
            ListPods(call=1), InspectPod(call=2, uid="u1", sandbox_ids=(), container_ids=("c1",))
        )
        await at.inputs.next(PodInspected)
        assert not at.inputs.of(PodsListed)


async def test_failures_are_inputs(source: CriSource, runtime: FakeRuntime) -> None:
    runtime.answers |= {
        "ListPodSandbox": Refuse(Code.UNKNOWN, "a"),
        "ContainerStatus": Refuse(Code.UNKNOWN, "b"),
    }
    async with working(source) as at:
        at.perform(
            ListPods(call=1), InspectPod(call=2, uid="u1", sandbox_ids=(), container_ids=("c1",))
        )
        assert (await at.inputs.next(PodInspectFailed)).call == 2
        # Whichever was answered first.
        while not at.inputs.of(PodsListFailed):
            await at.inputs.next(PodsListFailed)
    assert [one.call for one in at.inputs.of(PodsListFailed)] == [1]


async def test_timers_are_not_its_business(source: CriSource) -> None:
    async with working(source) as at:
        with pytest.raises(TypeError, match="WakeAt"):
            at.perform(WakeAt(timer="x", token=1, at=1))


async def test_cancelled_it_leaves_no_call_behind(
    source: CriSource, runtime: FakeRuntime, client: CriClient
) -> None:
    entered, left = asyncio.Event(), asyncio.Event()

    async def hang(_: bytes) -> bytes:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()
        return b""

    runtime.answers["ListPodSandbox"] = hang
    async with working(source) as at:
        at.perform(ListPods(call=1), OpenStream())
        await entered.wait()
        subscriber = await runtime.subscriber(0)
    await left.wait()
    await subscriber.gone.wait()
    assert client.oldest_call() is None


# The stream


async def test_asks_who_it_is_before_each_subscription(
    source: CriSource, runtime: FakeRuntime
) -> None:
    async with working(source) as at:
        at.perform(OpenStream())
        subscriber = await runtime.subscriber(0)
        subscriber.send(stop_event(1))
        event = await at.inputs.next(StreamEvent)
        assert event.event.pod_uid == "u1"
        # Once for the probe that the session begins with.
        assert runtime.methods() == ["Version", "Version", "GetContainerEvents"]
    assert at.inputs.kinds() == ["StreamOpened", "StreamLive", "StreamEvent"]


async def test_opens_again_after_an_end(source: CriSource, runtime: FakeRuntime) -> None:
    async with working(source) as at:
        at.perform(OpenStream())
        (await runtime.subscriber(0)).end(Code.UNAVAILABLE, "restarting")
        assert (await at.inputs.next(StreamEnded)).code == "unavailable"
        at.perform(OpenStream())
        (await runtime.subscriber(1)).send(stop_event(1))
        await at.inputs.next(StreamEvent)


async def test_a_runtime_replaced_by_one_that_shares_is_not_joined(
    source: CriSource, runtime: FakeRuntime
) -> None:
    runtime.answers["Version"] = version("containerd", "1.7.24")
    async with working(source) as at:
        at.perform(OpenStream())
        probed = await at.inputs.next(RuntimeProbed)
        end = await at.inputs.next(StreamEnded)
    assert (probed.version, probed.policy) == ("1.7.24", "relist_only")
    assert (end.code, end.detail) == ("cancelled", probed.reason)
    assert "GetContainerEvents" not in runtime.methods()


async def test_a_runtime_replaced_by_another_version_is_told(
    source: CriSource, runtime: FakeRuntime
) -> None:
    runtime.answers["Version"] = version("containerd", "2.2.0")
    async with working(source) as at:
        at.perform(OpenStream())
        assert (await at.inputs.next(RuntimeProbed)).version == "2.2.0"
        await runtime.subscriber(0)
        at.perform(OpenStream())
        await runtime.subscriber(1)
    assert len(at.inputs.of(RuntimeProbed)) == 1


async def test_a_shared_stream_that_was_asked_for_has_no_deadline(
    client: CriClient, runtime: FakeRuntime, clock: RealClock
) -> None:
    runtime.answers["Version"] = version("containerd", "1.7.24")
    first = await probe(client, "e", clock, join_shared_stream=True)
    source = CriSource(client, clock, first, join_shared_stream=True, timing=TIMING)
    async with working(source) as at:
        at.perform(OpenStream())
        assert (await runtime.subscriber(0)).deadline_s is None
        await at.inputs.next(StreamOpened)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (Code.UNAVAILABLE, "unavailable"),
        (Code.UNIMPLEMENTED, "unimplemented"),
        (Code.INTERNAL, "error"),
    ],
)
async def test_a_runtime_that_does_not_say_who_it_is_is_not_joined(
    source: CriSource, runtime: FakeRuntime, code: grpc.StatusCode, told: str
) -> None:
    runtime.answers["Version"] = Refuse(code, "no")
    async with working(source) as at:
        at.perform(OpenStream())
        end = await at.inputs.next(StreamEnded)
    assert end.code == told
    assert "Version" in end.detail
    assert not at.inputs.of(StreamOpened)


async def test_a_hung_runtime_is_not_joined(runtime: FakeRuntime, clock: RealClock) -> None:
    async with CriClient(runtime.address, clock) as client:
        first = await probe(client, "e", clock)
        client.deadlines = Deadlines(version=0.2)

        async def hang(_: bytes) -> bytes:
            await asyncio.Event().wait()
            return b""

        runtime.answers["Version"] = hang
        async with working(CriSource(client, clock, first)) as at:
            at.perform(OpenStream())
            end = await at.inputs.next(StreamEnded)
    assert end.code == "deadline"
    assert "The runtime hangs" in end.detail


async def test_a_fault_of_our_own_ends_only_the_stream(
    source: CriSource, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_module, "StreamKeeper", lambda *_, **__: _Faulty())
    async with working(source) as at:
        at.perform(OpenStream())
        end = await at.inputs.next(StreamEnded)
        assert end.code == "error"
        assert "RuntimeError oops" in end.detail
        at.perform(ListPods(call=1))
        await at.inputs.next(PodsListed)


class _Faulty:
    async def run(self, _: object) -> None:
        async with asyncio.TaskGroup():
            raise RuntimeError("oops")


async def test_closed_it_feeds_nothing_more(source: CriSource, runtime: FakeRuntime) -> None:
    async with working(source) as at:
        at.perform(OpenStream())
        subscriber = await runtime.subscriber(0)
        subscriber.send(stop_event(1))
        await at.inputs.next(StreamEvent)
        fed = len(at.inputs.all)
        subscriber.send(stop_event(2))
        at.perform(CloseStream())
        await subscriber.gone.wait()
        assert len(at.inputs.all) == fed
        at.perform(OpenStream())
        await runtime.subscriber(1)
        await at.inputs.next(StreamOpened)
    assert not at.inputs.of(StreamEnded)


async def test_closed_while_it_asks_it_does_not_subscribe(
    source: CriSource, runtime: FakeRuntime
) -> None:
    entered, answer = asyncio.Event(), asyncio.Event()

    async def slow(_: bytes) -> bytes:
        entered.set()
        await answer.wait()
        return version().SerializeToString()

    runtime.answers["Version"] = slow
    async with working(source) as at:
        at.perform(OpenStream())
        await entered.wait()
        at.perform(CloseStream())
        answer.set()
        at.perform(ListPods(call=1))
        await at.inputs.next(PodsListed)
    assert at.inputs.kinds() == ["PodsListed"]
    assert "GetContainerEvents" not in runtime.methods()


async def test_the_engine_may_close_the_stream_within_an_event(
    source: CriSource, runtime: FakeRuntime
) -> None:
    inputs = Inputs()

    def feed(happened: Input) -> None:
        inputs(happened)
        if isinstance(happened, StreamEvent):
            source.perform(CloseStream())

    async with working(source, feed):
        source.perform(OpenStream())
        subscriber = await runtime.subscriber(0)
        for n in range(5):
            subscriber.send(stop_event(n))
        await inputs.next(StreamEvent)
        await subscriber.gone.wait()
    assert len(inputs.of(StreamEvent)) == 1


# Ctrl-Z


class Stops:
    """Stands in for the signal's default action: what had happened when the process stopped."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[list[str]] = []
        self.happened = asyncio.Event()
        self.runtime: FakeRuntime | None = None
        monkeypatch.setattr(signal, "raise_signal", self._stop)

    def _stop(self, number: int) -> None:
        assert number == signal.SIGTSTP
        assert signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL
        self.asked.append([] if self.runtime is None else self.runtime.methods())
        self.happened.set()


@pytest.fixture
async def stops(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stops]:
    yield Stops(monkeypatch)
    asyncio.get_running_loop().remove_signal_handler(signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)


async def test_leaves_the_stream_before_it_stops_and_tells_afterwards(
    source: CriSource, runtime: FakeRuntime, stops: Stops, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It is answered; how long it would be waited for is another test's business.
    monkeypatch.setattr(source_module, "FLUSH_S", 60.0)
    stops.runtime = runtime
    async with working(source) as at:
        source.install_stop_signal(asyncio.get_running_loop())
        at.perform(OpenStream())
        await at.inputs.next(StreamLive)
        subscriber = await runtime.subscriber(0)
        source._on_stop(asyncio.get_running_loop())
        # Whatever the engine wants while it leaves waits until the process goes on.
        at.perform(ListPods(call=1))
        end = await at.inputs.next(StreamEnded)
        await at.inputs.next(PodsListed)
        await subscriber.gone.wait()
    assert (end.code, end.detail) == ("cancelled", STOPPED)
    # The runtime had answered a call behind the cancellation when the process stopped.
    assert stops.asked == [["Version", "Version", "GetContainerEvents", "Version"]]


async def test_the_terminals_signal_is_heard_and_heard_again(
    source: CriSource, stops: Stops
) -> None:
    async with working(source) as at:
        source.install_stop_signal(asyncio.get_running_loop())
        for _ in range(2):
            at.perform(OpenStream())
            await at.inputs.next(StreamLive)
            os.kill(os.getpid(), signal.SIGTSTP)
            assert (await at.inputs.next(StreamEnded)).code == "cancelled"
    assert len(stops.asked) == 2


async def test_without_a_stream_it_stops_at_once(source: CriSource, stops: Stops) -> None:
    loop = asyncio.get_running_loop()
    source._on_stop(loop)
    async with working(source) as at:
        source._on_stop(loop)
        assert len(stops.asked) == 2
        assert at.inputs.all == []


async def test_a_hung_runtime_does_not_keep_it_from_stopping(
    source: CriSource, runtime: FakeRuntime, stops: Stops, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_module, "FLUSH_S", 0.02)
    async with working(source) as at:
        at.perform(OpenStream())
        await at.inputs.next(StreamLive)

        async def hang(_: bytes) -> bytes:
            await asyncio.Event().wait()
            return b""

        runtime.answers["Version"] = hang
        source._on_stop(asyncio.get_running_loop())
        source._on_stop(asyncio.get_running_loop())
        await stops.happened.wait()
        assert (await at.inputs.next(StreamEnded)).code == "cancelled"
    assert len(stops.asked) == 1
