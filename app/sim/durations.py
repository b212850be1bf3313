"""Many durations, and what is told of them: exact percentiles, by nearest rank."""

from array import array
from math import ceil

import msgspec


class Spread(msgspec.Struct, frozen=True):
    """How durations (ns) are spread. All but ``count`` are 0 when there were none."""

    count: int = 0
    mean: int = 0
    min: int = 0
    p50: int = 0
    p90: int = 0
    p99: int = 0
    max: int = 0


class Durations:
    """Collects durations, eight bytes each."""

    def __init__(self) -> None:
        self._values = array("q")

    def __len__(self) -> int:
        return len(self._values)

    def add(self, ns: int) -> None:
        """One more."""
        self._values.append(ns)

    def spread(self) -> Spread:
        """What is told of them."""
        values = sorted(self._values)
        if not values:
            return Spread()

        def rank(share: float) -> int:
            return values[max(0, ceil(share * len(values)) - 1)]

        return Spread(
            count=len(values),
            mean=sum(values) // len(values),
            min=values[0],
            p50=rank(0.5),
            p90=rank(0.9),
            p99=rank(0.99),
            max=values[-1],
        )
