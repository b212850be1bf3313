"""How long something really took, where that is promised: without what other programs took.

A machine that is busy with others gives a process its core late, and for a while only. What a
promise is about is what a program makes somebody wait; the wait for a core is not its doing.
"""

from __future__ import annotations

import time
from pathlib import Path

PATIENCE_S = 60.0
"""How long anything may take on a slow machine; nothing is ever measured by it."""

SCHEDULED = Path("/proc/thread-self/schedstat")
"""Nanoseconds of this thread on a core, of waiting for one, and how many turns it had (proc(5))."""


class Stopwatch:
    """Runs from when it is made, on one thread."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._starved = _starved_s()

    def seconds(self) -> float:
        """What has passed, less what this thread has waited for a core."""
        return time.monotonic() - self._began - (_starved_s() - self._starved)


def _starved_s() -> float:
    try:
        return int(SCHEDULED.read_text().split()[1]) / 1e9
    except OSError:
        # Another system: there all that has passed counts.
        return 0.0
