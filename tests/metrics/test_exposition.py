"""The text format, read back by somebody else's parser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from app.histogram import Histogram
from app.metrics.exposition import Exposition


def parsed(out: Exposition) -> dict[str, tuple[str, dict[tuple[tuple[str, str], ...], float]]]:
    """Sample name to type and values by labels."""
    found: dict[str, tuple[str, dict[tuple[tuple[str, str], ...], float]]] = {}
    for family in text_string_to_metric_families(out.text()):
        for sample in family.samples:
            _, values = found.setdefault(sample.name, (family.type, {}))
            values[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_a_counter_keeps_the_name_it_was_given() -> None:
    out = Exposition()
    out.counter("kubelet_evented_pleg_connection_error_count", "Help.", 3)
    assert out.text() == (
        "# HELP kubelet_evented_pleg_connection_error_count Help.\n"
        "# TYPE kubelet_evented_pleg_connection_error_count counter\n"
        "kubelet_evented_pleg_connection_error_count 3\n"
    )


def test_a_gauge_with_labels() -> None:
    out = Exposition()
    out.gauge("things", "Help.", [({"kind": "a", "size": "b"}, 1.5), ({"kind": "c"}, 2)])
    assert parsed(out)["things"] == (
        "gauge",
        {(("kind", "a"), ("size", "b")): 1.5, (("kind", "c"),): 2.0},
    )


def test_a_family_without_samples_is_only_described() -> None:
    out = Exposition()
    out.gauge("things", "Help.", [])
    assert out.text() == "# HELP things Help.\n# TYPE things gauge\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0, "0"), (1.0, "1"), (0.1, "0.1"), (1e-9, "1e-09"), (2**60, str(2**60))],
)
def test_numbers_are_short_and_exact(value: float, text: str) -> None:
    out = Exposition()
    out.gauge("x", "Help.", value)
    assert out.text().splitlines()[-1] == f"x {text}"
    assert float(text) == value


def test_a_histogram_counts_up_and_ends_with_everything() -> None:
    histogram = Histogram((0.1, 1.0))
    for value in (0.05, 0.1, 0.5, 7.0):
        histogram.observe(value)
    out = Exposition()
    out.histogram("took_seconds", "Help.", histogram)
    found = parsed(out)
    kind, buckets = found["took_seconds_bucket"]
    assert kind == "histogram"
    assert buckets == {(("le", "0.1"),): 2, (("le", "1"),): 3, (("le", "+Inf"),): 4}
    assert found["took_seconds_sum"][1][()] == pytest.approx(7.65)
    assert found["took_seconds_count"][1][()] == 4


def test_a_histogram_with_labels_has_them_on_every_line() -> None:
    quick, slow = Histogram((1.0,)), Histogram((1.0,))
    quick.observe(0.5)
    slow.observe(2.0)
    out = Exposition()
    out.histogram("took_seconds", "Help.", [({"kind": "a"}, quick), ({"kind": "b"}, slow)])
    found = parsed(out)
    assert found["took_seconds_bucket"][1] == {
        (("kind", "a"), ("le", "1")): 1,
        (("kind", "a"), ("le", "+Inf")): 1,
        (("kind", "b"), ("le", "1")): 0,
        (("kind", "b"), ("le", "+Inf")): 1,
    }
    assert found["took_seconds_sum"][1] == {(("kind", "a"),): 0.5, (("kind", "b"),): 2.0}
    assert found["took_seconds_count"][1] == {(("kind", "a"),): 1, (("kind", "b"),): 1}


# What the format cannot carry (lone surrogates) cannot come here: labels are our own words.
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(WORDS, st.floats(0, 1e12), WORDS)
def test_any_label_and_help_survives(label: str, value: float, description: str) -> None:
    out = Exposition()
    out.gauge("x", description, [({"l": label}, value)])
    lines = out.text().split("\n")
    assert len(lines) == 4, "nothing breaks a line"
    assert lines[3] == ""
    unescaped = lines[2].removeprefix('x{l="').rsplit('"} ', 1)[0]
    back = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
    text, at = "", 0
    while at < len(unescaped):
        pair = unescaped[at : at + 2]
        text += back.get(pair, unescaped[at])
        at += 2 if pair in back else 1
    assert text == label
