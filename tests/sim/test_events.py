"""The event stream's fan-out, without gRPC."""

import asyncio
from contextlib import ExitStack
from typing import Any

import grpc
import msgspec
import pytest

from app.cri.pb import cri_pb2 as pb
from app.sim.agenda import VirtualClock
from app.sim.channel import WINDOW, Listener
from app.sim.events import EventHub, OverrunError, StreamEnd, StreamEndedError, Subscriber
from app.sim.flavour import Backlog, RuntimeRules
from app.sim.flavours import CONTAINERD_1_6, CONTAINERD_1_7, CONTAINERD_2, CRI_O
from app.sim.objects import RuntimeEvent, Sandbox, SandboxConfig

SANDBOX = Sandbox("a" * 64, SandboxConfig(name="p", uid="u", namespace="n"), "ready", 1)
MINUTE = 60_000_000_000
BROKEN_OFF = StreamEnd(grpc.StatusCode.INTERNAL, "broken off")


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def hub(clock: VirtualClock) -> EventHub:
    return EventHub(clock)


def like(rules: RuntimeRules, **changed: Any) -> RuntimeRules:
    return msgspec.structs.replace(rules, **changed)


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


async def test_a_backlog_is_bounded_and_may_exceed_what_a_subscriber_holds(
    clock: VirtualClock,
) -> None:
    rules = like(CONTAINERD_2, slots=2, backlog=Backlog(count=10, keeps="newest"))
    hub = EventHub(clock, rules, buffer=3)
    for number in range(15):
        tell(hub, clock, str(number))
    with hub.subscribe() as subscriber:
        assert await heard(subscriber, 10) == [str(number) for number in range(5, 15)]
        assert await is_silent(subscriber)


async def test_after_the_last_one_has_left_events_are_lost_and_then_kept_again(
    hub: EventHub, clock: VirtualClock
) -> None:
    with hub.subscribe():
        tell(hub, clock, "a")
    for name in "bcde":
        tell(hub, clock, name)
    with hub.subscribe() as subscriber:
        # One or two go to the one that has left, until that is noticed.
        assert await heard(subscriber, 2) == ["d", "e"]


# ------------------------------------------------------------------- who does not read


def flood(hub: EventHub, clock: VirtualClock, count: int) -> None:
    for number in range(count):
        tell(hub, clock, str(number))


async def is_held_up(hub: EventHub) -> bool:
    """Whether a call that tells events would hang now."""
    async with asyncio.TaskGroup() as tasks:
        calling = tasks.create_task(hub.room())
        await asyncio.sleep(0)
        held = not calling.done()
        calling.cancel()
    return held


async def test_on_containerd_2_who_does_not_read_stalls_the_node_and_all_others(
    hub: EventHub, clock: VirtualClock
) -> None:
    with ExitStack() as others:
        quick = others.enter_context(hub.subscribe())
        with hub.subscribe():
            flood(hub, clock, 100)
            assert len(await heard(quick, 100)) == 100
            assert not await is_held_up(hub)
            flood(hub, clock, 3)
            assert await is_silent(quick)
            assert await is_held_up(hub)
        # It has left: the node goes on, and nothing is lost.
        assert await heard(quick, 3) == ["0", "1", "2"]
        assert not hub.stalled


async def test_a_call_that_hangs_goes_on_when_the_slow_one_reads(
    hub: EventHub, clock: VirtualClock
) -> None:
    with hub.subscribe() as slow:
        flood(hub, clock, 101)
        async with asyncio.TaskGroup() as tasks:
            calling = tasks.create_task(hub.room())
            await asyncio.sleep(0)
            assert not calling.done()
            await slow.take()


async def test_on_cri_o_no_call_hangs_others_wait_and_the_channel_is_bounded(
    clock: VirtualClock,
) -> None:
    hub = EventHub(clock, CRI_O)
    with ExitStack() as others:
        quick = others.enter_context(hub.subscribe())
        with hub.subscribe():
            flood(hub, clock, 1205)
            assert not await is_held_up(hub)
            assert await heard(quick, 1) == ["0"]
            assert await is_silent(quick)
        assert await heard(quick, 1000) == [str(number) for number in range(1, 1001)]
        assert await is_silent(quick)
    assert hub.dropped == 204


async def test_on_containerd_1_7_who_does_not_read_keeps_what_it_was_given(
    clock: VirtualClock,
) -> None:
    hub = EventHub(clock, CONTAINERD_1_7)
    with hub.subscribe(), hub.subscribe() as quick:
        for number in range(5):
            tell(hub, clock, str(number))
            if number:
                assert await heard(quick, 1) == [str(number)]
        assert not await is_held_up(hub)


async def test_a_listener_in_this_process_is_a_subscriber_like_any_other(
    hub: EventHub, clock: VirtualClock
) -> None:
    tell(hub, clock, "kept")
    taken: list[str] = []
    deaf = Listener(reads=False, slots=100, on_take=lambda: taken.append("one"))
    hub.attend(deaf)
    assert taken == ["one"]
    with hub.subscribe() as subscriber:
        assert await is_silent(subscriber)
        for number in range(400):
            tell(hub, clock, str(number))
            if not hub.stalled:
                await heard(subscriber, 1)
        assert await is_held_up(hub)
        assert len(taken) == 100 + WINDOW
        hub.dismiss(deaf)
        assert await heard(subscriber, 1) == [str(100 + WINDOW - 1)]
        assert not hub.stalled


# -------------------------------------------------------------- what differs by runtime


async def test_o11_on_containerd_1_7_subscribers_compete_for_each_event(
    clock: VirtualClock,
) -> None:
    hub = EventHub(clock, CONTAINERD_1_7)
    with hub.subscribe() as one, hub.subscribe() as two:
        for number in range(22):
            tell(hub, clock, str(2 * number))
            tell(hub, clock, str(2 * number + 1))
            assert await heard(one, 1) == [str(2 * number)]
            assert await heard(two, 1) == [str(2 * number + 1)]


@pytest.mark.parametrize(("gone", "least", "most"), [(1, 1, 2), (3, 3, 6)])
async def test_on_containerd_1_7_each_one_that_left_takes_an_event_along(
    clock: VirtualClock, gone: int, least: int, most: int
) -> None:
    for seed in range(10):
        hub = EventHub(clock, CONTAINERD_1_7, seed=seed)
        with hub.subscribe() as stays:
            with ExitStack() as leaving:
                for _ in range(gone):
                    leaving.enter_context(hub.subscribe())
            there = []
            for number in range(24):
                tell(hub, clock, str(number))
                if stays.waiting:
                    there += await heard(stays, 1)
            assert least <= 24 - len(there) <= most


@pytest.mark.parametrize("rules", [CONTAINERD_2, CRI_O], ids=["containerd-2", "cri-o"])
async def test_elsewhere_one_that_left_costs_the_others_nothing(
    clock: VirtualClock, rules: RuntimeRules
) -> None:
    hub = EventHub(clock, rules)
    with hub.subscribe() as stays:
        with hub.subscribe():
            pass
        for name in "abc":
            tell(hub, clock, name)
            assert await heard(stays, 1) == [name]


async def test_containerd_1_7_keeps_the_oldest_thousand_for_ever(clock: VirtualClock) -> None:
    hub = EventHub(clock, CONTAINERD_1_7)
    flood(hub, clock, 1212)
    clock.advance_to(60 * MINUTE)
    with hub.subscribe() as subscriber:
        assert await heard(subscriber, 1000) == [str(number) for number in range(1000)]
        assert await is_silent(subscriber)


async def test_cri_o_keeps_events_only_until_somebody_has_come(clock: VirtualClock) -> None:
    hub = EventHub(clock, CRI_O)
    tell(hub, clock, "early")
    with hub.subscribe() as subscriber:
        assert await heard(subscriber, 1) == ["early"]
    tell(hub, clock, "missed")
    with hub.subscribe() as subscriber:
        assert await is_silent(subscriber)
    hub.forget()
    tell(hub, clock, "after a restart")
    with hub.subscribe() as subscriber:
        assert await heard(subscriber, 1) == ["after a restart"]


async def test_containerd_1_6_tells_nothing(clock: VirtualClock) -> None:
    hub = EventHub(clock, CONTAINERD_1_6)
    flood(hub, clock, 3)
    with hub.subscribe() as subscriber:
        flood(hub, clock, 3)
        assert await is_silent(subscriber)
    assert not hub.stalled


@pytest.mark.parametrize(
    ("rules", "code"),
    [(CONTAINERD_2, "UNAVAILABLE"), (CONTAINERD_1_7, "UNAVAILABLE"), (CRI_O, "OK")],
    ids=["containerd-2", "containerd-1.7", "cri-o"],
)
async def test_streams_end_with_the_runtime_in_its_own_way(
    clock: VirtualClock, rules: RuntimeRules, code: str
) -> None:
    assert EventHub(clock, rules).gone.code.name == code


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
