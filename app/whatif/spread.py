"""How latencies are spread, in bins that each are about three times as wide as the one before."""

from bisect import bisect_right
from collections.abc import Iterable

import msgspec

MS = 1_000_000
EDGES: tuple[int, ...] = tuple(step * 10**power * MS for power in range(6) for step in (1, 3))
"""Where one bin ends and the next begins (ns): 1 ms, 3 ms, 10 ms, … 300 s."""


class Spread(msgspec.Struct, frozen=True):
    """Findings by how long they took: of ends and of starts, one number more than ``EDGES``.

    The first bin is below the first edge, the last one is from the last edge on.
    """

    ends: tuple[int, ...]
    starts: tuple[int, ...]


def binned(latencies: Iterable[int]) -> tuple[int, ...]:
    """How many latencies (ns) fall into each bin."""
    bins = [0] * (len(EDGES) + 1)
    for one in latencies:
        bins[bisect_right(EDGES, one)] += 1
    return tuple(bins)
