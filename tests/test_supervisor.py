"""The supervisor: a lasting task that ends is told, and ends the session with a sentence."""

import asyncio

import pytest

from app.errors import EndpointError, PlegscopeError
from app.supervisor import Supervisor


async def forever() -> None:
    await asyncio.Event().wait()


async def test_stop_cancels_every_lasting_task() -> None:
    told: list[str] = []
    cancelled: list[str] = []
    supervisor = Supervisor(told.append)

    async def work() -> None:
        try:
            await forever()
        finally:
            cancelled.append("work")

    supervisor.add("source", work)

    async def soon() -> None:
        await asyncio.sleep(0)

    await supervisor.run(until=soon)
    assert (told, cancelled) == ([], ["work"])


async def test_a_task_that_raises_is_told_and_ends_the_session_with_a_sentence() -> None:
    told: list[str] = []
    supervisor = Supervisor(told.append)

    async def broken() -> None:
        raise ValueError("odd")

    supervisor.add("hub", broken)
    supervisor.add("source", forever)
    with pytest.raises(PlegscopeError, match=r"plegscope's hub stopped working: ValueError .*odd"):
        await supervisor.run()
    assert len(told) == 1
    assert "hub" in told[0]


async def test_a_task_that_ends_by_itself_is_told_too() -> None:
    told: list[str] = []
    supervisor = Supervisor(told.append)

    async def done() -> None:
        return

    supervisor.add("ticker", done)
    with pytest.raises(PlegscopeError, match="ticker stopped working: it ended by itself"):
        await supervisor.run()
    assert told == ["plegscope's ticker stopped working (it ended by itself)."]


async def test_an_error_for_people_is_passed_on_as_it_is() -> None:
    supervisor = Supervisor(lambda text: None)

    async def refused() -> None:
        raise EndpointError("No socket. Start the runtime.")

    supervisor.add("source", refused)
    with pytest.raises(EndpointError, match="Start the runtime"):
        await supervisor.run()


async def test_a_task_that_ends_because_of_the_stop_is_no_fault() -> None:
    supervisor = Supervisor(lambda text: None)

    async def until_stop() -> None:
        await supervisor.stop.wait()

    supervisor.add("server", until_stop)
    supervisor.stop.set()
    await supervisor.run()
