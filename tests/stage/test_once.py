"""What many ask for at once is made once, and given up when nobody waits."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from app.stage.once import Once


@pytest.fixture
def once() -> Iterator[Once]:
    made = Once()
    yield made
    made.close()


async def test_many_who_ask_at_once_get_the_same(once: Once) -> None:
    made = await asyncio.gather(*(once.get("a", object) for _ in range(20)))
    assert len(set(map(id, made))) == 1
    assert await once.get("a", object) is not made[0]


async def test_a_failure_is_everybodys_and_is_not_kept(once: Once) -> None:
    def fails() -> int:
        raise ValueError("no")

    told = await asyncio.gather(*(once.get("a", fails) for _ in range(3)), return_exceptions=True)
    assert [type(one) for one in told] == [ValueError] * 3
    assert await once.get("a", lambda: 7) == 7


async def test_what_nobody_waits_for_is_not_made(once: Once) -> None:
    go_on, made = threading.Event(), list[str]()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(once.get("a", lambda: go_on.wait(60)))
        second = group.create_task(once.get("b", lambda: made.append("b")))
        third = group.create_task(once.get("c", lambda: made.append("c")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        go_on.set()
    assert first.result() is True
    assert third.done()
    assert made == ["c"]
