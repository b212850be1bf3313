"""The stream keeper: live, renewed, ended, left, each on a real server.

Times are short, never slept through: every test waits for what must happen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from app.clock import RealClock
from app.cri.client import CriClient
from app.cri.feeder import UNREADABLE
from app.cri.ring import Ring
from app.cri.stream import SHARED, StreamKeeper, StreamTiming
from app.cri.words import End
from app.engine.inputs import (
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamLost,
    StreamOpened,
    StreamRenewed,
)
from tests.cri.fakes import FakeRuntime, Inputs, Refuse, stop_event

Code = grpc.StatusCode

LONG = StreamTiming(deadline=60.0, renew_before=4.0, grace=30.0)
"""Nothing happens by itself within a test."""

QUICK = StreamTiming(deadline=60.0, renew_before=4.0, grace=0.02)
RENEWING = StreamTiming(deadline=60.0, renew_before=59.95, grace=0.5)
"""Renewed at once; within the grace time the server has to see the next one, on any machine."""


@pytest.fixture
def inputs() -> Inputs:
    return Inputs()


@asynccontextmanager
async def kept(keeper: StreamKeeper, inputs: Inputs) -> AsyncIterator[asyncio.Task[None]]:
    """The keeper at work; cancelled at the end if it still is."""
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(keeper.run(inputs))
        yield task
        task.cancel()


def ids(inputs: Inputs) -> list[str]:
    return [one.event.container_id for one in inputs.of(StreamEvent)]


# Live


async def test_an_event_proves_that_it_is_live(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    async with kept(StreamKeeper(client, clock, LONG), inputs):
        subscriber = await runtime.subscriber(0)
        assert subscriber.deadline_s is not None
        assert 55 < subscriber.deadline_s < 65
        before = clock.mono()
        subscriber.send(stop_event(1))
        event = await inputs.next(StreamEvent)
        assert inputs.kinds() == ["StreamOpened", "StreamLive", "StreamEvent"]
        assert before < event.t <= clock.mono()
        assert event.event.container_id == "c1"
        assert client.counts["GetContainerEvents"].size == event.event.size
    await subscriber.gone.wait()


async def test_on_a_quiet_node_the_grace_time_does(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    async with kept(StreamKeeper(client, clock, QUICK), inputs):
        live = await inputs.next(StreamLive)
        opened = inputs.of(StreamOpened)[0]
        assert live.t - opened.t >= 20_000_000
        subscriber = await runtime.subscriber(0)
        subscriber.send(stop_event(1))
        await inputs.next(StreamEvent)
    assert inputs.kinds() == ["StreamOpened", "StreamLive", "StreamEvent"]


async def test_under_a_fast_clock_its_times_are_the_sessions(
    runtime: FakeRuntime, inputs: Inputs
) -> None:
    """60 s of deadline and 4 s of grace are 3 s and 0.2 s of real time."""
    clock = RealClock(20)
    timing = StreamTiming(deadline=60.0, renew_before=4.0, grace=4.0)
    async with (
        CriClient(runtime.address, clock) as client,
        kept(StreamKeeper(client, clock, timing), inputs),
    ):
        subscriber = await runtime.subscriber(0)
        assert subscriber.deadline_s is not None
        assert subscriber.deadline_s < 3.5
        live = await inputs.next(StreamLive)
        assert live.t - inputs.of(StreamOpened)[0].t >= 4_000_000_000


# Ends


async def test_a_runtime_without_events(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    runtime.refuse_events = Refuse(Code.UNIMPLEMENTED, "unknown method GetContainerEvents")
    await StreamKeeper(client, clock, LONG).run(inputs)
    assert inputs.kinds() == ["StreamOpened", "StreamEnded"]
    end = inputs.of(StreamEnded)[0]
    assert (end.code, end.detail) == ("unimplemented", "unknown method GetContainerEvents")
    assert client.counts["GetContainerEvents"].failed == 1


async def test_o9_a_runtime_whose_events_are_switched_off(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    runtime.refuse_events = Refuse(Code.OK)
    await StreamKeeper(client, clock, LONG).run(inputs)
    assert inputs.of(StreamEnded)[0].code == "immediate_eof"
    assert not inputs.of(StreamLive)


async def test_a_clean_end_after_an_event_is_no_immediate_one(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    async with kept(StreamKeeper(client, clock, LONG), inputs):
        subscriber = await runtime.subscriber(0)
        subscriber.send(stop_event(1))
        subscriber.end()
        end = await inputs.next(StreamEnded)
    assert end.code == "eof"
    assert inputs.kinds() == ["StreamOpened", "StreamLive", "StreamEvent", "StreamEnded"]


async def test_a_clean_end_after_the_grace_time_is_no_immediate_one(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    async with kept(StreamKeeper(client, clock, QUICK), inputs):
        await inputs.next(StreamLive)
        (await runtime.subscriber(0)).end()
        end = await inputs.next(StreamEnded)
    assert end.code == "eof"


@pytest.mark.parametrize(
    ("code", "told", "detail"),
    [
        (Code.UNAVAILABLE, "unavailable", "going down"),
        (Code.CANCELLED, "cancelled", "going down"),
        (Code.DEADLINE_EXCEEDED, "deadline", "going down"),
        (Code.INTERNAL, "error", "INTERNAL: going down"),
    ],
)
async def test_what_the_runtime_says_at_the_end(
    client: CriClient,
    runtime: FakeRuntime,
    clock: RealClock,
    inputs: Inputs,
    code: grpc.StatusCode,
    told: str,
    detail: str,
) -> None:
    async with kept(StreamKeeper(client, clock, LONG), inputs):
        (await runtime.subscriber(0)).end(code, "going down")
        end = await inputs.next(StreamEnded)
    assert (end.code, end.detail) == (told, detail)


async def test_a_runtime_that_goes_away(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    async with kept(StreamKeeper(client, clock, LONG), inputs):
        subscriber = await runtime.subscriber(0)
        subscriber.send(stop_event(1))
        await inputs.next(StreamEvent)
        await runtime.stop()
        end = await inputs.next(StreamEnded)
    assert end.code == "unavailable"


async def test_an_absent_runtime(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    await runtime.stop()
    await StreamKeeper(client, clock, LONG).run(inputs)
    assert inputs.kinds() == ["StreamOpened", "StreamEnded"]
    assert inputs.of(StreamEnded)[0].code == "unavailable"


async def test_a_goodbye_lets_the_stream_go_on_to_its_end(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    # A server that is stopped gracefully says GOAWAY and serves what is open.
    async with kept(StreamKeeper(client, clock, LONG), inputs), asyncio.TaskGroup() as tasks:
        subscriber = await runtime.subscriber(0)
        stopping = tasks.create_task(runtime.stop(grace=30))
        subscriber.send(stop_event(1))
        await inputs.next(StreamEvent)
        subscriber.end()
        assert (await inputs.next(StreamEnded)).code == "eof"
        await stopping


async def test_an_event_that_is_no_message_ends_the_subscription(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    async with kept(StreamKeeper(client, clock, LONG), inputs):
        subscriber = await runtime.subscriber(0)
        subscriber.send(b"\xff\xff\xff")
        end = await inputs.next(StreamEnded)
        await subscriber.gone.wait()
    assert (end.code, end.detail) == ("error", UNREADABLE)


async def test_a_fault_of_the_reader_is_told(
    client: CriClient, clock: RealClock, inputs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        async def read(self) -> object:
            raise RuntimeError("oops")

        def cancel(self) -> bool:
            return True

    monkeypatch.setattr(client, "container_events", lambda _: Broken())
    await StreamKeeper(client, clock, LONG).run(inputs)
    end = inputs.of(StreamEnded)[0]
    assert end.code == "error"
    assert "RuntimeError oops" in end.detail


# Renewal


async def test_renewed_before_its_deadline_with_nothing_lost_or_doubled(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    async with kept(StreamKeeper(client, clock, RENEWING), inputs):
        first = await runtime.subscriber(0)
        runtime.broadcast(stop_event(1))
        second = await runtime.subscriber(1)
        assert not first.gone.is_set()
        runtime.broadcast(stop_event(2))
        renewed = await inputs.next(StreamRenewed)
        await first.gone.wait()
        assert not second.gone.is_set()
        runtime.broadcast(stop_event(3))
        while "c3" not in ids(inputs):
            await inputs.next(StreamEvent)
    assert ids(inputs)[:3] == ["c1", "c2", "c3"]
    assert renewed.duplicates == 1
    assert not inputs.of(StreamEnded)
    assert len(inputs.of(StreamOpened)) == len(inputs.of(StreamLive)) == 1


async def test_what_lags_behind_on_the_new_stream_is_still_compared(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    async with kept(StreamKeeper(client, clock, RENEWING), inputs):
        first, second = await runtime.subscriber(0), await runtime.subscriber(1)
        first.send(stop_event(1))
        await inputs.next(StreamEvent)
        await inputs.next(StreamRenewed)
        second.send(stop_event(1))
        second.send(stop_event(2))
        assert (await inputs.next(StreamEvent)).event.container_id == "c2"
    assert ids(inputs)[:2] == ["c1", "c2"]


async def test_renewed_again_and_again(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    async with kept(StreamKeeper(client, clock, RENEWING), inputs):
        for number in range(3):
            await inputs.next(StreamRenewed)
            await (await runtime.subscriber(number)).gone.wait()
        fourth = await runtime.subscriber(3)
        assert not fourth.gone.is_set()
    assert not inputs.of(StreamEnded)


async def test_a_renewal_that_is_refused_keeps_the_old_stream_to_its_deadline(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    timing = StreamTiming(deadline=2.0, renew_before=1.95, grace=0.1)
    async with kept(StreamKeeper(client, clock, timing), inputs):
        first = await runtime.subscriber(0)
        runtime.refuse_events = Refuse(Code.INTERNAL, "no more subscribers")
        while len(runtime.asked) < 2:
            first.send(stop_event(1))
            await inputs.next(StreamEvent)
        first.send(stop_event(2))
        while "c2" not in ids(inputs):
            await inputs.next(StreamEvent)
        end = await inputs.next(StreamEnded)
    assert end.code == "deadline"
    assert "its renewal failed: error INTERNAL: no more subscribers" in end.detail
    assert not inputs.of(StreamRenewed)
    assert len(runtime.asked) == 2


async def test_an_old_stream_that_breaks_during_the_renewal_is_an_end(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    timing = StreamTiming(deadline=5.0, renew_before=4.95, grace=30.0)
    async with kept(StreamKeeper(client, clock, timing), inputs):
        second = await runtime.subscriber(1)
        (await runtime.subscriber(0)).end(Code.UNAVAILABLE, "broken")
        end = await inputs.next(StreamEnded)
        await second.gone.wait()
    assert (end.code, end.detail) == ("unavailable", "broken")


async def test_a_deadline_that_passes_during_the_renewal_is_none(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    # The successor was open in time but not yet proven when the old stream's deadline came.
    timing = StreamTiming(deadline=2.0, renew_before=1.0, grace=1.5)
    async with kept(StreamKeeper(client, clock, timing), inputs):
        await inputs.next(StreamRenewed)
        await (await runtime.subscriber(0)).gone.wait()
        second = await runtime.subscriber(1)
        second.send(stop_event(1))
        await inputs.next(StreamEvent)
    assert not inputs.of(StreamEnded)


async def test_a_shared_channel_is_subscribed_to_once_and_for_all(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    # Each subscription that has ended would take one more event from everybody else.
    async with kept(StreamKeeper(client, clock, SHARED), inputs):
        subscriber = await runtime.subscriber(0)
        assert subscriber.deadline_s is None
        subscriber.send(stop_event(1))
        await inputs.next(StreamEvent)
    assert len(runtime.subscribers) == 1


def test_the_deadline_that_holds_unless_told_otherwise() -> None:
    timing = StreamTiming()
    assert timing.deadline is not None
    assert 30 <= timing.deadline <= 60
    assert timing.grace < timing.renew_before < timing.deadline


# Leaving


async def test_a_ring_that_keeps_dropping_ends_the_subscription(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    timing = StreamTiming(deadline=60.0, grace=30.0, overrun=0.0)
    async with kept(StreamKeeper(client, clock, timing, Ring(capacity=0)), inputs):
        subscriber = await runtime.subscriber(0)
        for n in range(3):
            subscriber.send(stop_event(n))
        end = await inputs.next(StreamEnded)
        await subscriber.gone.wait()
    assert end.code == "error"
    assert "faster than plegscope could take them" in end.detail
    assert sum(lost.count for lost in inputs.of(StreamLost)) >= 2


async def test_cancelled_it_unsubscribes_and_feeds_nothing_more(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    keeper = StreamKeeper(client, clock, LONG)
    async with kept(keeper, inputs) as task:
        subscriber = await runtime.subscriber(0)
        keeper.close()
        task.cancel()
        await subscriber.gone.wait()
    assert not inputs.of(StreamEnded)
    assert task.cancelled()


async def test_leaves_first_and_tells_later(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    keeper = StreamKeeper(client, clock, LONG)
    async with kept(keeper, inputs):
        subscriber = await runtime.subscriber(0)
        await keeper.leave()
        await subscriber.gone.wait()
        assert inputs.kinds() == ["StreamOpened"]
        keeper.end(End("cancelled", "stopped"))
        end = await inputs.next(StreamEnded)
    assert (end.code, end.detail) == ("cancelled", "stopped")


async def test_leaves_both_streams_of_a_renewal(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, inputs: Inputs
) -> None:
    timing = StreamTiming(deadline=5.0, renew_before=4.95, grace=30.0)
    keeper = StreamKeeper(client, clock, timing)
    async with kept(keeper, inputs):
        first, second = await runtime.subscriber(0), await runtime.subscriber(1)
        await keeper.leave()
        await first.gone.wait()
        await second.gone.wait()
        assert not inputs.of(StreamEnded)
