"""Events on their way over gRPC, without gRPC: late, lost, doubled, damaged; streams that end."""

import asyncio
from contextlib import ExitStack
from typing import Any

import pytest

from app.cri.convert import event as converted
from app.cri.pb import cri_pb2 as pb
from app.engine.inputs import StreamEvent
from app.sim.agenda import Agenda, VirtualClock, play
from app.sim.availability import Availability
from app.sim.events import EventHub, StreamEndedError, Subscriber
from app.sim.faultplan import FaultPlan
from app.sim.faults import (
    EventsDamaged,
    EventsDoubled,
    EventsLost,
    EventsMisdated,
    EventsReordered,
    Fault,
    RuntimeRestarts,
    StreamDelayed,
    StreamEnds,
    StreamRefused,
    StreamSilent,
)
from app.sim.livestream import UNAVAILABLE, ShapedWay
from app.sim.objects import RuntimeEvent
from app.sim.units import Ns, Offset, millis, seconds
from tests.sim.test_virtualstream import WEB
from tests.sim.test_virtualstream import Bench as VirtualBench

NOW = Ns(0)
BACKLOG_NS = 300 * 10**9


class Bench:
    """A hub with faults, someone who tells, and streams that are closed at the end."""

    def __init__(self, streams: ExitStack, *faults: Fault) -> None:
        self.streams = streams
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.plan = FaultPlan(self.agenda, Availability(self.agenda), 1)
        self.hub = EventHub(self.clock, buffer=5)
        self.hub.way = ShapedWay(self.agenda, self.plan, self.hub)
        for fault in faults:
            self.plan.begin(fault)

    def subscribe(self) -> Subscriber:
        return self.streams.enter_context(self.hub.subscribe())

    def run(self, time_s: float) -> None:
        play(self.agenda, self.clock, self.clock.mono() + seconds(time_s))

    def tell(self, *names: str, kind: Any = "stopped") -> None:
        for name in names:
            self.hub.publish(RuntimeEvent(kind, name, self.clock.wall(), WEB))


@pytest.fixture
def streams() -> Any:
    with ExitStack() as stack:
        yield stack


async def drain(subscriber: Subscriber) -> tuple[list[pb.ContainerEventResponse], str]:
    """What waits for the client now, and how its stream has ended ("" if it has not)."""
    heard: list[pb.ContainerEventResponse] = []
    while True:
        async with asyncio.TaskGroup() as tasks:
            taking = tasks.create_task(_take(subscriber))
            await asyncio.sleep(0)
            if not taking.done():
                taking.cancel()
        if taking.cancelled():
            return heard, ""
        got = taking.result()
        if isinstance(got, str):
            return heard, got
        heard.append(pb.ContainerEventResponse.FromString(got))


async def _take(subscriber: Subscriber) -> bytes | str:
    try:
        return await subscriber.take()
    except StreamEndedError as ended:
        return ended.end.code.name


async def names(subscriber: Subscriber) -> list[str]:
    return [one.container_id for one in (await drain(subscriber))[0]]


async def test_without_faults_every_stream_gets_everything_at_once(streams: ExitStack) -> None:
    bench = Bench(streams)
    one, two = bench.subscribe(), bench.subscribe()
    bench.tell("a", "b")
    assert await names(one) == await names(two) == ["a", "b"]


async def test_delay_keeps_the_order_even_behind_an_agenda_that_is_late(
    streams: ExitStack,
) -> None:
    bench = Bench(streams, StreamDelayed(at=NOW, lasts=seconds(1), by=(millis(100), millis(900))))
    stream = bench.subscribe()
    for name in "abcde":
        bench.tell(name)
        bench.run(0.01)
    assert await names(stream) == []
    bench.run(0.9)
    assert await names(stream) == list("abcde")
    bench.tell("f")
    # The driver comes late: what follows must not overtake what is due but not delivered.
    bench.clock.advance_to(bench.clock.mono() + seconds(5))
    bench.plan.heal("stream")
    bench.tell("g")
    bench.run(1)
    assert await names(stream) == ["f", "g"]
    bench.tell("h")
    assert await names(stream) == ["h"]


async def test_reordered_events_are_overtaken(streams: ExitStack) -> None:
    late = EventsReordered(at=NOW, events=("stopped",), by=(millis(50), millis(50)))
    bench = Bench(streams, late)
    stream = bench.subscribe()
    bench.tell("a")
    bench.tell("b", kind="deleted")
    bench.run(0.1)
    assert await names(stream) == ["b", "a"]


async def test_doubled_events_come_twice(streams: ExitStack) -> None:
    bench = Bench(streams, EventsDoubled(at=NOW))
    stream = bench.subscribe()
    bench.tell("a", "b")
    assert await names(stream) == ["a", "a", "b", "b"]


async def test_all_streams_lose_the_same_events(streams: ExitStack) -> None:
    bench = Bench(streams, EventsLost(at=NOW, share=0.5))
    one, two = bench.subscribe(), bench.subscribe()
    heard: list[str] = []
    for number in range(100):
        bench.tell(str(number))
        got = await names(one)
        assert await names(two) == got
        heard += got
    assert 30 < len(heard) < 70
    assert bench.plan.tallies()[0].hits == 100 - len(heard)


@pytest.mark.parametrize(("late", "afterwards"), [(False, []), (True, ["a", "b"])])
async def test_silence_loses_or_only_holds_back(
    streams: ExitStack, late: bool, afterwards: list[str]
) -> None:
    bench = Bench(streams, StreamSilent(at=NOW, lasts=seconds(10), late=late))
    stream = bench.subscribe()
    bench.tell("a", "b")
    bench.run(9)
    assert await drain(stream) == ([], "")
    bench.run(2)
    assert await names(stream) == afterwards


@pytest.mark.parametrize(
    "fault",
    [
        EventsDamaged(at=NOW, without="uid"),
        EventsDamaged(at=NOW, without="metadata"),
        EventsDamaged(at=NOW, without="sandbox-status"),
        EventsDamaged(at=NOW, without="statuses"),
        EventsMisdated(at=NOW),
        EventsMisdated(at=NOW, by=Offset(-3600 * 10**9)),
    ],
)
async def test_a_damaged_event_is_the_one_that_virtual_time_has(
    streams: ExitStack, fault: Fault
) -> None:
    bench, virtual = Bench(streams, fault), VirtualBench(fault).opened()
    stream = bench.subscribe()
    bench.run(2)
    bench.tell("a")
    virtual.tell("a")
    virtual.run(1)
    ((message,), _) = await drain(stream)
    assert converted(message) == virtual.of(StreamEvent)[0].event


@pytest.mark.parametrize(
    ("fault", "end"),
    [
        (StreamEnds(at=NOW, how="cleanly"), "OK"),
        (StreamEnds(at=NOW, how="broken"), "INTERNAL"),
        (StreamEnds(at=NOW, how="unavailable"), "UNAVAILABLE"),
        (StreamRefused(at=NOW, lasts=seconds(5)), "UNIMPLEMENTED"),
        (StreamRefused(at=NOW, lasts=seconds(5), answer="unavailable"), "UNAVAILABLE"),
        (RuntimeRestarts(at=NOW), "UNAVAILABLE"),
    ],
)
async def test_open_streams_end_and_what_is_under_way_is_lost(
    streams: ExitStack, fault: Fault, end: str
) -> None:
    bench = Bench(streams)
    one, two = bench.subscribe(), bench.subscribe()
    bench.tell("under way")
    bench.plan.begin(fault)
    bench.run(0.1)
    assert await drain(one) == ([], end)
    assert await drain(two) == ([], end)
    assert bench.plan.tallies()[0].hits == 2
    bench.tell("later")
    assert await drain(one) == ([], end)
    assert await names(bench.subscribe()) == ["later"]


async def test_streams_may_live_for_a_while_before_each_end(streams: ExitStack) -> None:
    bench = Bench(streams, StreamEnds(at=NOW, lasts=None, how="cleanly", after=seconds(3)))
    for _ in range(2):
        stream = bench.subscribe()
        bench.run(2)
        assert await drain(stream) == ([], "")
        bench.run(2)
        assert await drain(stream) == ([], "OK")
    assert bench.plan.tallies()[0].hits == 2


async def test_a_restart_forgets_the_backlog(streams: ExitStack) -> None:
    bench = Bench(streams)
    bench.tell("old")
    bench.plan.begin(RuntimeRestarts(at=NOW))
    bench.run(1)
    assert await names(bench.subscribe()) == []


async def test_a_backlog_goes_through_the_faults_and_may_exceed_the_buffer(
    streams: ExitStack,
) -> None:
    bench = Bench(streams, EventsLost(at=NOW, events=("deleted",)))
    bench.tell("gone", kind="deleted")
    bench.tell(*"abcdefgh")
    assert await names(bench.subscribe()) == list("abcdefgh")


async def test_what_is_late_for_a_stream_that_was_left_is_nobodys(streams: ExitStack) -> None:
    bench = Bench(streams, StreamDelayed(at=NOW, by=(millis(10), millis(10))))
    with bench.hub.subscribe() as left:
        bench.tell("a")
    bench.run(1)
    assert await drain(left) == ([], "")


def test_the_error_says_how_the_stream_ended() -> None:
    assert str(StreamEndedError(UNAVAILABLE)) == "the stream was ended: UNAVAILABLE socket closed"
