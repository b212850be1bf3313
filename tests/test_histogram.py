"""Durations by bucket."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.histogram import CALL_BUCKETS, DEF_BUCKETS, Histogram, exponential


def test_the_usual_buckets_are_those_of_prometheus() -> None:
    assert DEF_BUCKETS == (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


def test_the_buckets_of_calls_are_the_kubelets() -> None:
    assert len(CALL_BUCKETS) == 14
    assert CALL_BUCKETS[:4] == (0.005, 0.0125, 0.03125, 0.078125)
    assert CALL_BUCKETS[-1] == pytest.approx(745.058, abs=0.001)
    assert exponential(1, 3, 3) == (1, 3, 9)


def test_a_bound_belongs_to_its_bucket() -> None:
    histogram = Histogram((0.1, 1.0))
    for value in (0.05, 0.1, 0.5, 7.0):
        histogram.observe(value)
    assert histogram.counts == [2, 1, 1]
    assert histogram.sum == pytest.approx(7.65)


def test_nanoseconds_are_counted_as_seconds() -> None:
    histogram = Histogram()
    histogram.observe_ns(2_500_000_000)
    assert histogram.sum == 2.5
    assert histogram.counts[DEF_BUCKETS.index(2.5)] == 1


@given(st.lists(st.floats(0, 100), max_size=50))
def test_it_agrees_with_counting(values: list[float]) -> None:
    histogram = Histogram()
    for value in values:
        histogram.observe(value)
    total = 0
    for bound, count in zip((*DEF_BUCKETS, math.inf), histogram.counts, strict=True):
        total += count
        assert total == sum(value <= bound for value in values)
