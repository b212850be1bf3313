"""Counting durations by bucket, for whoever measures and whoever shows it."""

from bisect import bisect_left

DEF_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds in seconds; Prometheus' default buckets, which the kubelet uses for PLEG."""


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """``count`` bounds, each ``factor`` times the one before (Prometheus' ExponentialBuckets)."""
    bounds = []
    for _ in range(count):
        bounds.append(start)
        start *= factor
    return tuple(bounds)


CALL_BUCKETS = exponential(0.005, 2.5, 14)
"""The kubelet's for calls to the runtime: from 5 ms to some 12 minutes."""


class Histogram:
    """Counts observations (seconds) by bucket.

    ``counts`` has one place more than ``bounds``, for what is above them all; ``sum`` adds up.
    """

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...] = DEF_BUCKETS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one observation. A bound belongs to its bucket (``le``: less or equal)."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.sum += seconds

    def observe_ns(self, ns: int) -> None:
        """Count one observation given in nanoseconds."""
        self.observe(ns / 1e9)
