"""Prometheus text format 0.0.4, written by hand.

The usual client library renames counters that do not end in ``_total``, and the kubelet has such
names (``kubelet_evented_pleg_connection_error_count``). Here a name is written as it is given.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

DEF_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds in seconds; Prometheus' default buckets, which the kubelet uses for PLEG."""

Sample = tuple[Mapping[str, str], float]
"""Labels and value."""


class Histogram:
    """Counts observations (seconds) by bucket; without labels."""

    def __init__(self, buckets: tuple[float, ...] = DEF_BUCKETS) -> None:
        self._bounds = buckets
        self._counts = [0] * (len(buckets) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one observation. A bound belongs to its bucket (``le``: less or equal)."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def observe_ns(self, ns: int) -> None:
        """Count one observation given in nanoseconds."""
        self.observe(ns / 1e9)

    def lines(self, name: str) -> list[str]:
        """Its samples: cumulative buckets, sum and count."""
        lines = []
        total = 0
        bounds = [*(_number(bound) for bound in self._bounds), "+Inf"]
        for bound, count in zip(bounds, self._counts, strict=True):
            total += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{name}_sum {_number(self._sum)}", f"{name}_count {total}"]


class Exposition:
    """A text under construction; families come out in the order in which they are added."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def counter(self, name: str, description: str, samples: Iterable[Sample] | float) -> None:
        """A counter family with these samples, or with a single one without labels."""
        self._family(name, "counter", description, samples)

    def gauge(self, name: str, description: str, samples: Iterable[Sample] | float) -> None:
        """A gauge family with these samples, or with a single one without labels."""
        self._family(name, "gauge", description, samples)

    def histogram(self, name: str, description: str, histogram: Histogram) -> None:
        """A histogram family."""
        self._head(name, "histogram", description)
        self._lines.extend(histogram.lines(name))

    def text(self) -> str:
        """Everything, with the line end that the format asks for."""
        return "\n".join(self._lines) + "\n"

    def _family(
        self, name: str, kind: str, description: str, samples: Iterable[Sample] | float
    ) -> None:
        self._head(name, kind, description)
        if isinstance(samples, int | float):
            samples = [({}, samples)]
        for labels, value in samples:
            text = ",".join(f'{key}="{_label(word)}"' for key, word in labels.items())
            self._lines.append(
                f"{name}{{{text}}} {_number(value)}" if text else f"{name} {_number(value)}"
            )

    def _head(self, name: str, kind: str, description: str) -> None:
        safe = description.replace("\\", "\\\\").replace("\n", "\\n")
        self._lines.append(f"# HELP {name} {safe}")
        self._lines.append(f"# TYPE {name} {kind}")


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    """Shortest text that reads back as the same number; whole numbers without a fraction."""
    if isinstance(value, int) or value.is_integer():
        return str(int(value))
    return repr(value)
