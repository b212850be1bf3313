"""Two times: monotonic for durations, wall for people and for the runtime's own times.

A simulated node may live faster or slower than real time. Then there is one clock for all of its
session: the node's agenda, the engine's timers, the stream's deadlines, the times on records. So
everything agrees, and only what really waits asks the clock how long that really takes.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """A source of the session's monotonic time and of wall time, both in nanoseconds."""

    def mono(self) -> int:
        """Nanoseconds since the session began."""
        ...

    def wall(self) -> int:
        """Nanoseconds since 1970."""
        ...

    def real_s(self, ns: int) -> float:
        """In how many real seconds so much of the session's time passes."""
        ...


class RealClock:
    """The machine's clocks; the session begins when this object is made.

    ``speed``: how many times as fast as real time the session's time goes. Its wall time then runs
    away from the machine's from the beginning on.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._origin = time.monotonic_ns()
        self._wall = time.time_ns()

    def mono(self) -> int:
        """Nanoseconds since the session began."""
        passed = time.monotonic_ns() - self._origin
        return passed if self.speed == 1 else int(passed * self.speed)

    def wall(self) -> int:
        """Nanoseconds since 1970."""
        return time.time_ns() if self.speed == 1 else self._wall + self.mono()

    def real_s(self, ns: int) -> float:
        """In how many real seconds so much of the session's time passes."""
        return ns / 1e9 / self.speed
