"""Processes that are measured: the bare loop and ``watch``, and the CPU they use."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.watching import ENVIRONMENT

CPUCLOCK_SCHED = 2


def cpu_ns(pid: int) -> int:
    """CPU time that a process with all its threads has used, in nanoseconds.

    By the process's own CPU clock (clock_getcpuclockid): /proc counts in hundredths of a second.
    """
    return time.clock_gettime_ns((~pid << 3) | CPUCLOCK_SCHED)


def shares(pids: Sequence[int], seconds: float) -> list[float]:
    """The share of one core each process uses during the next ``seconds``, the same for all."""
    before = [cpu_ns(pid) for pid in pids]
    began = time.monotonic_ns()
    time.sleep(seconds)
    after = [cpu_ns(pid) for pid in pids]
    elapsed = time.monotonic_ns() - began
    return [(end - start) / elapsed for start, end in zip(before, after, strict=True)]


@contextmanager
def python(module: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A module of this package as a process of its own, ended afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    with process:
        try:
            yield process
        finally:
            process.terminate()
