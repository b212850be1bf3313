"""How long the way between the PLEG and the runtime is, in spans (shortest, longest) of ns.

Measured on containerd 2.1.9 on two cores: both list calls together took 1.5 ms at 10 pods, 6 ms at
110 and 250; a status below a millisecond; an event 0.7 ms from its making to its receipt.
"""

from random import Random

import msgspec

from app.sim.chance import mostly_short
from app.sim.units import Ns, Span, millis, seconds


class Latencies(msgspec.Struct, frozen=True, kw_only=True):
    """Spans of durations; short ones are drawn more often."""

    listing: Span = (millis(0.4), millis(1.6))
    """A list call, besides ``row_ns`` for each container when it is of all pods."""
    row_ns: int = 16_000
    status: Span = (millis(0.5), millis(1.5))
    event: Span = (millis(0.4), millis(1.8))
    """From the making of an event to its receipt."""
    opening: Span = (millis(0.3), millis(1.2))
    """Until a stream object is there, or until it is clear that there is none."""
    grace: Ns = seconds(1)
    """How long a stream without events must stay open to count as working."""
    deadline: Ns = seconds(120)
    """Of each call (kubelet: runtimeRequestTimeout)."""
    in_flight: int = 8
    """Status calls of one inspection that are made at the same time."""


class Draw:
    """Draws from spans with a generator of its own."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def of(self, span: Span) -> int:
        """How long it takes this time (ns)."""
        return mostly_short(self._rng, span)
