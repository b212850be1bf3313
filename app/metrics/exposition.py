"""Prometheus text format 0.0.4, written by hand.

The usual client library renames counters that do not end in ``_total``, and the kubelet has such
names (``kubelet_evented_pleg_connection_error_count``). Here a name is written as it is given.
"""

from collections.abc import Iterable, Mapping

from app.histogram import Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[Mapping[str, str], float]
"""Labels and value."""


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

    def histogram(
        self,
        name: str,
        description: str,
        samples: Iterable[tuple[Mapping[str, str], Histogram]] | Histogram,
    ) -> None:
        """A histogram family with these samples, or with a single one without labels."""
        self._head(name, "histogram", description)
        if isinstance(samples, Histogram):
            samples = [({}, samples)]
        for labels, histogram in samples:
            self._lines.extend(_buckets(name, labels, histogram))

    def text(self) -> str:
        """Everything, with the line end that the format asks for."""
        return "\n".join(self._lines) + "\n"

    def _family(
        self, name: str, kind: str, description: str, samples: Iterable[Sample] | float
    ) -> None:
        self._head(name, kind, description)
        if isinstance(samples, int | float):
            samples = [({}, samples)]
        self._lines.extend(f"{name}{_labels(labels)} {_number(value)}" for labels, value in samples)

    def _head(self, name: str, kind: str, description: str) -> None:
        safe = description.replace("\\", "\\\\").replace("\n", "\\n")
        self._lines.append(f"# HELP {name} {safe}")
        self._lines.append(f"# TYPE {name} {kind}")


def _buckets(name: str, labels: Mapping[str, str], histogram: Histogram) -> list[str]:
    """A histogram's samples: cumulative buckets, sum and count."""
    lines = []
    total = 0
    bounds = [*(_number(bound) for bound in histogram.bounds), "+Inf"]
    for bound, count in zip(bounds, histogram.counts, strict=True):
        total += count
        lines.append(f"{name}_bucket{_labels({**labels, 'le': bound})} {total}")
    text = _labels(labels)
    return [*lines, f"{name}_sum{text} {_number(histogram.sum)}", f"{name}_count{text} {total}"]


def _labels(labels: Mapping[str, str]) -> str:
    """As they stand behind a name; nothing when there are none."""
    text = ",".join(f'{key}="{_label(word)}"' for key, word in labels.items())
    return f"{{{text}}}" if text else ""


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    """Shortest text that reads back as the same number; whole numbers without a fraction."""
    if isinstance(value, int) or value.is_integer():
        return str(int(value))
    return repr(value)
