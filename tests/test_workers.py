"""A thread that a disk holds up keeps neither the event loop nor the process."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from app import workers
from app.workers import Workers

HELD_UP = """
import asyncio, sys, threading
from app import workers

async def ask():
    asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)

with asyncio.Runner() as runner:
    runner.get_loop().set_default_executor(workers.Workers(0.05))
    runner.run(ask())
print("told", end="")
workers.leave_if_held_up(7)
"""


def test_a_process_whose_disk_is_dead_ends_with_its_exit_code() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HELD_UP], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "told", "")


def test_whoever_is_at_work_has_a_moment_and_what_has_not_begun_is_left() -> None:
    begun, go_on = threading.Event(), threading.Event()
    pool = Workers(30.0)

    def work() -> str:
        begun.set()
        go_on.wait(30.0)
        return "done"

    at_work = pool.submit(work)
    assert begun.wait(30.0)
    # More than it has threads, so some wait for one.
    waiting = [pool.submit(go_on.wait, 30.0) for _ in range(64)]
    ending = threading.Thread(target=pool.shutdown)
    ending.start()
    try:
        deadline = time.monotonic() + 60.0
        while not waiting[-1].cancelled():
            assert time.monotonic() < deadline
    finally:
        go_on.set()
    ending.join(60)
    assert at_work.result(0) == "done"
    # Nobody was held up, so nothing is cut short.
    workers.leave_if_held_up(1)
