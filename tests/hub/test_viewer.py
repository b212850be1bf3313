"""A viewer's mailbox: order, bounds, falling behind, the farewell."""

from __future__ import annotations

import asyncio

from app.hub.encode import Frame
from app.hub.limits import Limits
from app.hub.viewer import Viewer
from tests.patience import PATIENCE_S

SMALL = Limits(queue_frames=3, queue_bytes=100)


class Box:
    """A viewer and how often it asked."""

    def __init__(self, limits: Limits = SMALL, *, started: bool = True) -> None:
        self.asked = 0
        self.viewer = Viewer(limits, self._ask)
        if started:
            self.viewer.start([], position=0)

    def _ask(self) -> None:
        self.asked += 1

    async def take(self) -> str | None:
        async with asyncio.timeout(PATIENCE_S):
            frame = await self.viewer.take()
        return None if frame is None else frame.text

    async def nothing(self) -> bool:
        """Whether ``take`` waits; decided by the loop's turns, not by time."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.viewer.take())
            for _ in range(5):
                await asyncio.sleep(0)
            waits = not task.done()
            task.cancel()
        return waits


def made(text: str, last: int | None = None, size: int = 10) -> Frame:
    return Frame(text, size, last)


async def test_frames_come_out_in_order() -> None:
    box = Box()
    assert box.viewer.offer(made("a"))
    assert box.viewer.offer(made("b"))
    assert [await box.take(), await box.take()] == ["a", "b"]
    assert await box.nothing()


async def test_take_waits_for_the_next_frame() -> None:
    box = Box()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(box.take())
        await asyncio.sleep(0)
        box.viewer.offer(made("late"))
    assert task.result() == "late"


async def test_before_its_fresh_start_a_viewer_is_offered_nothing_and_asks_once() -> None:
    box = Box(started=False)
    box.viewer.greet(made("hello"))
    assert box.viewer.offer(made("a")), "that is no overflow"
    assert await box.take() == "hello"
    assert await box.nothing()
    assert await box.nothing()
    assert box.asked == 1
    assert box.viewer.asked


async def test_a_fresh_start_comes_before_what_is_offered_and_after_the_greeting() -> None:
    box = Box(started=False)
    box.viewer.greet(made("hello"))
    box.viewer.start([made("snapshot", 9)])
    box.viewer.offer(made("a", 10))
    assert [await box.take() for _ in range(3)] == ["hello", "snapshot", "a"]


async def test_the_position_is_that_of_the_newest_record_handed_out() -> None:
    box = Box(started=False)
    assert box.viewer.position is None
    box.viewer.start([made("lagging"), made("snapshot", 9)])
    box.viewer.offer(made("a", 12))
    positions: list[int | None] = []
    for _ in range(3):
        await box.take()
        positions.append(box.viewer.position)
    assert positions == [None, 9, 12]


async def test_too_many_frames_are_dropped_together_and_told_once() -> None:
    box = Box()
    results = [box.viewer.offer(made(text)) for text in "abcdef"]
    assert results == [True, True, True, False, True, True]
    assert box.viewer.behind
    assert await box.nothing()
    assert box.asked == 1


async def test_too_many_bytes_are_dropped_as_well() -> None:
    box = Box()
    assert box.viewer.offer(made("a", size=60))
    assert not box.viewer.offer(made("b", size=60))
    assert box.viewer.behind


async def test_bytes_are_given_back_when_taken() -> None:
    box = Box()
    for text in "abcdef":
        assert box.viewer.offer(made(text, size=90))
        assert await box.take() == text
    assert not box.viewer.behind


async def test_one_frame_is_taken_however_large_when_nothing_waits() -> None:
    box = Box()
    assert box.viewer.offer(made("large", size=10_000))
    assert await box.take() == "large"


async def test_a_large_fresh_start_does_not_count_as_backlog() -> None:
    box = Box(started=False)
    box.viewer.start([made("snapshot", size=10_000)])
    assert box.viewer.offer(made("a"))
    assert [await box.take(), await box.take()] == ["snapshot", "a"]


async def test_a_viewer_that_is_behind_is_offered_nothing_until_its_next_start() -> None:
    box = Box()
    assert box.viewer.fall_behind()
    assert not box.viewer.fall_behind(), "told once"
    box.viewer.offer(made("a"))
    box.viewer.offer_state(made("state"))
    assert await box.nothing()
    box.viewer.start([made("snapshot")])
    box.viewer.offer(made("b"))
    assert [await box.take(), await box.take()] == ["snapshot", "b"]
    assert not box.viewer.asked


async def test_it_can_fall_behind_again_and_asks_again() -> None:
    box = Box()
    for _ in range(2):
        box.viewer.fall_behind()
        assert await box.nothing()
        box.viewer.start([])
    assert box.asked == 2


async def test_of_states_only_the_newest_waits_in_the_place_of_the_first() -> None:
    box = Box()
    box.viewer.offer(made("a"))
    box.viewer.offer_state(made("state 1"))
    box.viewer.offer(made("b"))
    box.viewer.offer_state(made("state 2"))
    assert [await box.take() for _ in range(3)] == ["a", "state 2", "b"]
    box.viewer.offer_state(made("state 3"))
    assert await box.take() == "state 3"


async def test_states_alone_never_make_a_viewer_fall_behind() -> None:
    box = Box()
    for number in range(100):
        box.viewer.offer_state(made(f"state {number}", size=90))
    assert not box.viewer.behind
    assert await box.take() == "state 99"


async def test_the_farewell_replaces_what_waits_and_then_comes_the_end() -> None:
    box = Box()
    box.viewer.offer(made("a"))
    box.viewer.offer_state(made("state"))
    box.viewer.close(made("bye"))
    assert box.viewer.closing.is_set()
    assert await box.take() == "bye"
    assert await box.take() is None
    assert await box.take() is None


async def test_after_the_farewell_nothing_is_taken_in() -> None:
    box = Box()
    box.viewer.close(made("bye"))
    box.viewer.close(made("bye again"))
    assert box.viewer.offer(made("a"))
    box.viewer.offer_state(made("state"))
    box.viewer.start([made("snapshot")])
    assert not box.viewer.fall_behind()
    assert [await box.take(), await box.take()] == ["bye", None]


async def test_a_farewell_wakes_who_waits() -> None:
    box = Box()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(box.take())
        await asyncio.sleep(0)
        box.viewer.close(made("bye"))
    assert task.result() == "bye"
