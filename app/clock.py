"""Two times: monotonic for durations, wall for people and for the runtime's own times."""

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


class RealClock:
    """The machine's clocks; the session begins when this object is made."""

    def __init__(self) -> None:
        self._origin = time.monotonic_ns()

    def mono(self) -> int:
        """Nanoseconds since the session began."""
        return time.monotonic_ns() - self._origin

    def wall(self) -> int:
        """Nanoseconds since 1970."""
        return time.time_ns()
