"""The supervisor: a lasting task that ends is told, and ends the session with a sentence."""

import asyncio

import pytest

from app.errors import EndpointError, PlegscopeError
from app.supervisor import Supervisor


async def forever() -> None:
    await asyncio.Event().wait()


async def nothing() -> None:
    return


def told_by(supervisor: Supervisor) -> list[str]:
    told: list[str] = []
    supervisor.tell = told.append
    return told


async def test_stop_calls_the_endings_then_cancels_every_lasting_task() -> None:
    order: list[str] = []
    supervisor = Supervisor()
    told = told_by(supervisor)

    async def work() -> None:
        try:
            await forever()
        finally:
            order.append("cancelled")

    async def begin() -> None:
        await asyncio.sleep(0)
        supervisor.stop.set()

    supervisor.add("source", work)
    supervisor.at_end(lambda: order.append("ending"))
    await supervisor.run(begin)
    assert (told, order) == ([], ["ending", "cancelled"])


async def test_a_session_lasts_its_time_from_when_it_has_begun() -> None:
    supervisor = Supervisor(0.01)
    begun_at = 0.0

    async def begin() -> None:
        nonlocal begun_at
        loop, later = asyncio.get_running_loop(), asyncio.Event()
        loop.call_later(0.05, later.set)
        await later.wait()
        assert not supervisor.stop.is_set()
        begun_at = loop.time()

    async with asyncio.timeout(60):
        await supervisor.run(begin)
    assert asyncio.get_running_loop().time() >= begun_at + 0.009 > 0.01


async def test_a_task_added_by_begin_runs_and_is_watched_like_any_other() -> None:
    supervisor = Supervisor()
    told = told_by(supervisor)

    async def broken() -> None:
        raise ValueError("odd")

    async def begin() -> None:
        supervisor.add("hub", broken)

    supervisor.add("source", forever)
    with pytest.raises(PlegscopeError, match=r"plegscope's hub stopped working: ValueError .*odd"):
        await supervisor.run(begin)
    assert len(told) == 1
    assert "hub" in told[0]


async def test_the_fault_inside_a_group_of_tasks_is_named() -> None:
    supervisor = Supervisor()

    async def broken() -> None:
        async with asyncio.TaskGroup():
            raise KeyError("inner")

    supervisor.add("hub", broken)
    with pytest.raises(PlegscopeError, match=r"KeyError .*inner"):
        await supervisor.run(nothing)


async def test_a_task_that_ends_by_itself_is_told_too() -> None:
    supervisor = Supervisor()
    told = told_by(supervisor)
    supervisor.add("ticker", nothing)
    with pytest.raises(PlegscopeError, match="ticker stopped working: it ended by itself"):
        await supervisor.run(nothing)
    assert told == ["plegscope's ticker stopped working (it ended by itself)."]


async def test_an_error_for_people_is_passed_on_as_it_is() -> None:
    supervisor = Supervisor()

    async def refused() -> None:
        raise EndpointError("No socket. Start the runtime.")

    with pytest.raises(EndpointError, match="Start the runtime"):
        await supervisor.run(refused)


async def test_a_task_that_ends_because_of_the_stop_is_no_fault() -> None:
    supervisor = Supervisor()

    async def until_stop() -> None:
        await supervisor.stop.wait()

    supervisor.add("server", until_stop)
    supervisor.stop.set()
    await supervisor.run(nothing)


async def test_a_begin_that_waits_for_a_task_that_failed_does_not_hang() -> None:
    supervisor = Supervisor()

    async def broken() -> None:
        raise OSError("no socket here")

    supervisor.add("simulated node", broken)
    with pytest.raises(PlegscopeError, match="simulated node stopped working"):
        await supervisor.run(forever)


async def test_a_failure_that_no_task_had_ends_the_session_and_the_first_one_counts() -> None:
    supervisor = Supervisor()
    supervisor.add("source", forever)

    async def begin() -> None:
        supervisor.fail(EndpointError("First. Do this."))
        supervisor.fail(EndpointError("Second. Do that."))

    with pytest.raises(EndpointError, match=r"^First\. Do this\.$"):
        await supervisor.run(begin)
