"""The event stream's fan-out, without gRPC."""

import asyncio

import grpc
import pytest

from app.cri.pb import cri_pb2 as pb
from app.sim.agenda import VirtualClock
from app.sim.events import EventHub, OverrunError, StreamEnd, StreamEndedError, Subscriber
from app.sim.objects import RuntimeEvent, Sandbox, SandboxConfig

SANDBOX = Sandbox("a" * 64, SandboxConfig(name="p", uid="u", namespace="n"), "ready", 1)
MINUTE = 60_000_000_000
BROKEN_OFF = StreamEnd(grpc.StatusCode.INTERNAL, "broken off")


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def hub(clock: VirtualClock) -> EventHub:
    return EventHub(clock, 5 * MINUTE, buffer=3, backlog=10)


def tell(hub: EventHub, clock: VirtualClock, name: str) -> None:
    hub.publish(RuntimeEvent("stopped", name, clock.wall(), SANDBOX))


async def heard(subscriber: Subscriber, count: int) -> list[str]:
    return [
        pb.ContainerEventResponse.FromString(await subscriber.take()).container_id
        for _ in range(count)
    ]


async def is_silent(subscriber: Subscriber) -> bool:
    """Whether nothing waits: a ``take`` is still pending after the loop has gone round."""
    async with asyncio.TaskGroup() as tasks:
        taking = tasks.create_task(subscriber.take())
        await asyncio.sleep(0)
        silent = not taking.done()
        taking.cancel()
    return silent


async def test_every_subscriber_gets_every_event_in_order(
    hub: EventHub, clock: VirtualClock
) -> None:
    with hub.subscribe() as one, hub.subscribe() as two:
        assert hub.subscribers == 2
        for name in "abc":
            tell(hub, clock, name)
        assert await heard(one, 3) == ["a", "b", "c"]
        assert await heard(two, 3) == ["a", "b", "c"]
    assert hub.subscribers == 0


async def test_a_waiting_subscriber_is_woken(hub: EventHub, clock: VirtualClock) -> None:
    with hub.subscribe() as subscriber:
        async with asyncio.TaskGroup() as tasks:
            taking = tasks.create_task(heard(subscriber, 1))
            await asyncio.sleep(0)
            assert not taking.done()
            tell(hub, clock, "a")
        assert taking.result() == ["a"]


async def test_what_was_told_to_nobody_goes_to_the_next_subscriber_only(
    hub: EventHub, clock: VirtualClock
) -> None:
    tell(hub, clock, "a")
    with hub.subscribe() as first, hub.subscribe() as second:
        assert await heard(first, 1) == ["a"]
        assert await is_silent(second)


async def test_o10_a_backlog_older_than_five_minutes_is_not_told(
    hub: EventHub, clock: VirtualClock
) -> None:
    tell(hub, clock, "old")
    clock.advance_to(2 * MINUTE)
    tell(hub, clock, "young")
    clock.advance_to(6 * MINUTE)
    with hub.subscribe() as subscriber:
        assert await heard(subscriber, 1) == ["young"]
        assert await is_silent(subscriber)


async def test_a_backlog_is_bounded_and_may_exceed_a_subscribers_buffer(
    hub: EventHub, clock: VirtualClock
) -> None:
    for number in range(15):
        tell(hub, clock, str(number))
    with hub.subscribe() as subscriber:
        assert await heard(subscriber, 10) == [str(number) for number in range(5, 15)]
        assert await is_silent(subscriber)


async def test_after_the_last_one_has_left_events_are_kept_again(
    hub: EventHub, clock: VirtualClock
) -> None:
    with hub.subscribe():
        tell(hub, clock, "a")
    tell(hub, clock, "b")
    with hub.subscribe() as subscriber:
        assert await heard(subscriber, 1) == ["b"]
        assert await is_silent(subscriber)


async def test_who_falls_behind_is_told_and_costs_the_others_nothing(
    hub: EventHub, clock: VirtualClock
) -> None:
    with hub.subscribe() as slow, hub.subscribe() as quick:
        for number in range(10):
            tell(hub, clock, str(number))
            assert await heard(quick, 1) == [str(number)]
        with pytest.raises(OverrunError, match="fell behind and 7 events were not kept"):
            await slow.take()


async def test_an_overrun_wakes_a_subscriber_that_waits() -> None:
    subscriber = Subscriber(capacity=0)
    async with asyncio.TaskGroup() as tasks:
        taking = tasks.create_task(expect_overrun(subscriber))
        await asyncio.sleep(0)
        subscriber.put(b"too much")
    assert taking.result() == 1


async def expect_overrun(subscriber: Subscriber) -> int:
    with pytest.raises(OverrunError) as caught:
        await subscriber.take()
    return caught.value.lost


async def test_a_subscriber_leaves_also_when_its_reader_breaks(hub: EventHub) -> None:
    with pytest.raises(ValueError, match="broken"), hub.subscribe():
        raise ValueError("broken")
    assert hub.subscribers == 0


async def test_a_stream_that_ended_is_no_subscriber_any_more(
    hub: EventHub, clock: VirtualClock
) -> None:
    with hub.subscribe() as one, hub.subscribe() as two:
        tell(hub, clock, "under way")
        hub.end_all(BROKEN_OFF)
        for subscriber in (one, two):
            with pytest.raises(StreamEndedError, match="INTERNAL broken off"):
                await subscriber.take()
        tell(hub, clock, "kept")
        with hub.subscribe() as three:
            assert await heard(three, 1) == ["kept"]


async def test_the_end_wakes_a_subscriber_that_waits(hub: EventHub) -> None:
    async def expect_end(subscriber: Subscriber) -> StreamEnd:
        with pytest.raises(StreamEndedError) as caught:
            await subscriber.take()
        return caught.value.end

    with hub.subscribe() as subscriber:
        async with asyncio.TaskGroup() as tasks:
            taking = tasks.create_task(expect_end(subscriber))
            await asyncio.sleep(0)
            hub.end_all(BROKEN_OFF)
        assert taking.result() == BROKEN_OFF


async def test_what_is_forgotten_goes_to_nobody(hub: EventHub, clock: VirtualClock) -> None:
    tell(hub, clock, "a")
    hub.forget()
    with hub.subscribe() as subscriber:
        assert await is_silent(subscriber)
