"""The feeder: order, receipt times, what came twice, what cannot be read."""

from __future__ import annotations

import asyncio

import pytest

from app.cri import feeder as feeder_module
from app.cri.feeder import CHUNK, UNREADABLE, Feeder
from app.cri.ring import Received, Ring
from app.engine.inputs import (
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamLost,
    StreamOpened,
    StreamRenewed,
)
from tests.cri.fakes import Inputs, stop_event


class Still:
    """A clock that stands."""

    def mono(self) -> int:
        return 1000

    def wall(self) -> int:
        return 2000

    def real_s(self, ns: int) -> float:
        return ns / 1e9


END = StreamEnded(t=9, wall=9, code="eof")


def received(n: int, t: int = 5, stream: int = 1, created_at: int = 7) -> Received:
    return Received(t, t + 100, stop_event(n, created_at).SerializeToString(), stream)


def ids(inputs: Inputs) -> list[str]:
    return [one.event.container_id for one in inputs.of(StreamEvent)]


@pytest.fixture
def ring() -> Ring:
    return Ring(capacity=200)


@pytest.fixture
def feeder(ring: Ring) -> Feeder:
    return Feeder(ring, Still())


async def test_feeds_in_order_with_the_times_of_receipt(ring: Ring, feeder: Feeder) -> None:
    inputs = Inputs()
    ring.tell(StreamOpened(t=1, wall=1))
    ring.put(received(1, t=5))
    ring.tell(StreamLive(t=6, wall=6))
    ring.put(received(2, t=7))
    ring.tell(END)
    await feeder.run(inputs)
    assert inputs.kinds() == [
        "StreamOpened",
        "StreamEvent",
        "StreamLive",
        "StreamEvent",
        "StreamEnded",
    ]
    first, second = inputs.of(StreamEvent)
    assert (first.t, first.wall, first.event.container_id) == (5, 105, "c1")
    assert (second.t, second.wall) == (7, 107)
    assert first.event.size == len(stop_event(1, 7).SerializeToString())


async def test_a_loss_is_told_in_its_place(ring: Ring, feeder: Feeder) -> None:
    inputs = Inputs()
    for n in range(203):
        ring.put(received(n, t=n))
    ring.tell(END)
    await feeder.run(inputs)
    assert inputs.all[0] == StreamLost(t=1000, wall=2000, count=3, from_t=0)
    assert ids(inputs) == [f"c{n}" for n in range(3, 203)]


async def test_gives_the_loop_its_turn(ring: Ring, feeder: Feeder) -> None:
    inputs = Inputs()
    for n in range(3 * CHUNK):
        ring.put(received(n))
    ring.tell(END)
    seen: list[int] = []

    async def watch() -> None:
        while not inputs.of(StreamEnded):
            seen.append(len(inputs.all))
            await asyncio.sleep(0)  # its turn, not a wait

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(feeder.run(inputs))
        tasks.create_task(watch())
    assert {CHUNK, 2 * CHUNK} <= set(seen)


async def test_what_came_on_two_streams_is_fed_once(ring: Ring, feeder: Feeder) -> None:
    inputs = Inputs()
    feeder.compare_until(100)
    for event in (
        received(1, stream=1),
        received(1, stream=2),
        received(2, stream=2),
        received(2, stream=1),
        # The same container and type at another time is another event.
        received(1, stream=2, created_at=8),
    ):
        ring.put(event)
    ring.tell(StreamRenewed(t=6, wall=6))
    ring.put(received(3, stream=2))
    ring.tell(StreamRenewed(t=7, wall=7))
    ring.tell(END)
    await feeder.run(inputs)
    assert ids(inputs) == ["c1", "c2", "c1", "c3"]
    assert [one.duplicates for one in inputs.of(StreamRenewed)] == [2, 0]


async def test_what_one_stream_brings_twice_passes(ring: Ring, feeder: Feeder) -> None:
    inputs = Inputs()
    feeder.compare_until(100)
    ring.put(received(1))
    ring.put(received(1))
    ring.tell(END)
    await feeder.run(inputs)
    assert ids(inputs) == ["c1", "c1"]


async def test_streams_are_compared_only_for_the_time_of_a_renewal(
    ring: Ring, feeder: Feeder
) -> None:
    inputs = Inputs()
    feeder.compare_until(10)
    ring.put(received(1, t=5, stream=1))
    ring.put(received(1, t=10, stream=2))
    ring.tell(END)
    await feeder.run(inputs)
    assert ids(inputs) == ["c1", "c1"]


async def test_the_next_renewal_starts_afresh(ring: Ring, feeder: Feeder) -> None:
    inputs = Inputs()
    feeder.compare_until(100)
    ring.put(received(1, stream=1))
    ring.tell(END)
    await feeder.run(inputs)
    feeder.compare_until(200)
    ring.put(received(1, stream=2))
    ring.tell(END)
    await feeder.run(inputs)
    assert ids(inputs) == ["c1", "c1"]


async def test_a_renewal_right_after_another_goes_on_comparing(ring: Ring, feeder: Feeder) -> None:
    inputs = Inputs()
    feeder.compare_until(5000)
    ring.put(received(1, stream=1))
    ring.tell(END)
    await feeder.run(inputs)
    feeder.compare_until(9000)
    ring.put(received(1, stream=2))
    ring.tell(END)
    await feeder.run(inputs)
    assert ids(inputs) == ["c1"]


async def test_what_is_remembered_is_bounded(
    ring: Ring, feeder: Feeder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeder_module, "MAX_KEYS", 2)
    inputs = Inputs()
    feeder.compare_until(100)
    for n in (1, 2, 3):
        ring.put(received(n, stream=1))
    # The first was forgotten, the others were not.
    for n in (3, 2, 1):
        ring.put(received(n, stream=2))
    ring.tell(END)
    await feeder.run(inputs)
    assert ids(inputs) == ["c1", "c2", "c3", "c1"]


async def test_an_unreadable_event_ends_the_stream(ring: Ring, feeder: Feeder) -> None:
    inputs = Inputs()
    ring.put(received(1))
    ring.put(Received(6, 6, b"\xff\xff", 1))
    ring.put(received(2))
    await feeder.run(inputs)
    assert ids(inputs) == ["c1"]
    assert inputs.all[-1] == StreamEnded(t=1000, wall=2000, code="error", detail=UNREADABLE)


async def test_once_closed_nothing_more_is_fed(ring: Ring, feeder: Feeder) -> None:
    inputs = Inputs()
    ring.put(received(1))
    ring.put(received(2))

    def feed(happened: object) -> None:
        inputs.all.append(happened)  # type: ignore[arg-type]  # only inputs are fed
        # The engine may close the stream while it deals with an event of it.
        feeder.close()

    await feeder.run(feed)
    assert ids(inputs) == ["c1"]


async def test_each_message_is_told_as_received_also_one_that_came_twice(ring: Ring) -> None:
    heard: list[tuple[int, int, bytes]] = []
    feeder = Feeder(ring, Still(), on_event=lambda *message: heard.append(message))
    feeder.compare_until(1 << 62)
    inputs = Inputs()
    first, again = received(1, t=5, stream=1), received(1, t=6, stream=2)
    garbage = Received(7, 107, b"\xff", 1)
    for one in (first, again, garbage):
        ring.put(one)
    await feeder.run(inputs)
    assert heard == [(5, 105, first.raw), (6, 106, again.raw), (7, 107, b"\xff")]
    assert len(ids(inputs)) == 1
