"""How far a simulation has come, for a person who waits at a terminal."""

import sys
import time

from app.sim.units import shown

PATIENCE_S = 0.5
"""Nothing is told before this time, and then each time it has passed again."""


class Progress:
    """Writes one line over and over to standard error; ``clear`` takes it away."""

    def __init__(self, duration_ns: int) -> None:
        self._duration_ns = duration_ns
        self._began = self._told = time.monotonic()
        self._written = False

    def __call__(self, t: int) -> None:
        """Virtual time has reached ``t`` (ns)."""
        now = time.monotonic()
        if now - self._told < PATIENCE_S:
            return
        self._told = now
        self._written = True
        speed = t / 1e9 / (now - self._began)
        sys.stderr.write(
            f"\r{shown(t)} of {shown(self._duration_ns)} simulated, {speed:.0f} times as fast as "
            "real time\x1b[K"
        )
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def silent(_t: int) -> None:
    """Nobody waits."""
