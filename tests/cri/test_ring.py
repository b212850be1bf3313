"""The bounded ring: order, loss, notices that keep their place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from app.cri.ring import Lost, Notice, Received, Ring
from app.engine.inputs import StreamLive, StreamOpened


def event(t: int, size: int = 1) -> Received:
    return Received(t, t, b"x" * size, 1)


def drain(ring: Ring) -> Iterator[Received | Notice | Lost]:
    while (item := ring.take()) is not None:
        yield item


OPENED = StreamOpened(t=0, wall=0)
LIVE = StreamLive(t=0, wall=0)


def test_gives_back_in_order() -> None:
    ring = Ring()
    for t in range(3):
        ring.put(event(t))
    assert len(ring) == 3
    assert list(drain(ring)) == [event(0), event(1), event(2)]
    assert ring.take() is None
    assert ring.full_since is None


def test_the_oldest_are_dropped_and_counted_once() -> None:
    ring = Ring(capacity=2)
    for t in range(10, 15):
        ring.put(event(t))
    assert list(drain(ring)) == [Lost(3, 10), event(13), event(14)]
    ring.put(event(15))
    assert list(drain(ring)) == [event(15)]


def test_bytes_are_bounded_too() -> None:
    ring = Ring(max_bytes=10)
    for t in range(3):
        ring.put(event(t, size=6))
    assert list(drain(ring)) == [Lost(2, 0), event(2, size=6)]


def test_one_event_larger_than_the_bound_is_kept() -> None:
    ring = Ring(max_bytes=10)
    ring.put(event(1, size=100))
    assert list(drain(ring)) == [event(1, size=100)]
    ring.put(event(2))
    assert list(drain(ring)) == [event(2)]


def test_notices_keep_their_place() -> None:
    ring = Ring()
    ring.tell(OPENED)
    ring.put(event(1))
    ring.tell(LIVE)
    ring.put(event(2))
    assert list(drain(ring)) == [OPENED, event(1), LIVE, event(2)]


def test_notices_are_never_dropped_and_stay_on_their_side_of_a_loss() -> None:
    ring = Ring(capacity=1)
    ring.tell(OPENED)
    ring.put(event(1))
    ring.tell(LIVE)
    ring.put(event(2))
    ring.put(event(3))
    assert list(drain(ring)) == [OPENED, Lost(2, 1), LIVE, event(3)]


def test_knows_since_when_it_drops() -> None:
    ring = Ring(capacity=4)
    for t in range(6):
        ring.put(event(t))
    assert ring.full_since == 4
    ring.put(event(6))
    assert ring.full_since == 4
    assert ring.take() == Lost(3, 0)
    assert ring.take() == event(3)
    assert ring.full_since == 4
    assert ring.take() == event(4)
    assert ring.full_since is None


async def test_wakes_who_waits() -> None:
    ring = Ring()
    taken: list[object] = []

    async def take() -> None:
        while len(taken) < 3:
            await ring.wait()
            taken.extend(drain(ring))

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(take())
        await asyncio.sleep(0)
        ring.put(event(1))
        await asyncio.sleep(0)
        ring.tell(LIVE)
        ring.put(event(2))
    assert taken == [event(1), LIVE, event(2)]


@given(
    st.integers(1, 4),
    st.lists(st.sampled_from(["put", "tell", "take"]), max_size=60),
)
def test_nothing_is_lost_uncounted_and_nothing_comes_out_of_order(
    capacity: int, steps: list[str]
) -> None:
    ring = Ring(capacity)
    put: list[object] = []
    out: list[object] = []
    for t, step in enumerate(steps):
        if step == "put":
            ring.put(event(t))
            put.append(event(t))
        elif step == "tell":
            ring.tell(StreamLive(t=t, wall=0))
            put.append(StreamLive(t=t, wall=0))
        elif (item := ring.take()) is not None:
            out.append(item)
        assert len(ring) <= capacity
    out.extend(drain(ring))
    lost = sum(item.number for item in out if isinstance(item, Lost))
    kept = [item for item in out if not isinstance(item, Lost)]
    assert len(kept) + lost == len(put)
    assert [i for i in put if i in kept] == kept
    # Every notice came through.
    assert [i for i in put if isinstance(i, StreamLive)] == [
        i for i in kept if isinstance(i, StreamLive)
    ]
    # A loss stands before everything that came after it.
    for place, loss in enumerate(out):
        if isinstance(loss, Lost):
            later = [i for i in out[place + 1 :] if isinstance(i, Received)]
            assert all(i.t > loss.from_t for i in later)
