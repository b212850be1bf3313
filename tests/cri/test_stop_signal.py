"""Ctrl-Z on a real process: it is gone from the stream before it stands still."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cri.fakes import FakeRuntime, stop_event


@pytest.fixture
async def process(runtime: FakeRuntime) -> AsyncIterator[asyncio.subprocess.Process]:
    """The subscribed process. Its own process group, in our session, is what a shell gives a job:
    the kernel stops nothing in a group that no shell could continue.
    """
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.cri.subscribed", runtime.address),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        process_group=0,
    )
    yield started
    started.kill()
    await started.wait()


async def said(process: asyncio.subprocess.Process, word: str) -> None:
    """Wait for a line."""
    assert process.stdout is not None
    while (line := await process.stdout.readline()).decode().strip() != word:
        assert line, f"it ended before it said {word}"


async def test_it_leaves_then_stops_then_comes_back(
    process: asyncio.subprocess.Process, runtime: FakeRuntime
) -> None:
    async with asyncio.timeout(60):
        for time in range(2):
            subscriber = await runtime.subscriber(time)
            subscriber.send(stop_event(1))
            await said(process, "StreamEvent")
            process.send_signal(signal.SIGTSTP)
            await subscriber.gone.wait()
            stopped = await asyncio.to_thread(os.waitid, os.P_PID, process.pid, os.WSTOPPED)
            assert stopped is not None
            assert stopped.si_status == signal.SIGTSTP
            assert len(runtime.subscribers) == time + 1
            process.send_signal(signal.SIGCONT)
            await said(process, "StreamEnded")
        await runtime.subscriber(2)
