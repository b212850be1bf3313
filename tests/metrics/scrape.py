"""A scrape as a scraper reads it: prometheus_client's parser, and the names as they stood there."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families


def types(text: str) -> dict[str, str]:
    """Family name, as written, to its type."""
    lines = text.splitlines()
    return dict(line.split()[2:] for line in lines if line.startswith("# TYPE "))


class Scrape:
    """The samples of a text by name and label values.

    The parser translates into OpenMetrics, where every counter ends in ``_total``; a name that did
    not is turned back into what the text says, which is what Prometheus stores.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        written = types(text)
        self.samples: dict[tuple[str, ...], float] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                name: str = sample.name
                if family.type == "counter" and name not in written:
                    name = name.removesuffix("_total")
                self.samples[(name, *sample.labels.values())] = sample.value

    def __getitem__(self, key: str | tuple[str, ...]) -> float:
        return self.samples[(key,) if isinstance(key, str) else key]
