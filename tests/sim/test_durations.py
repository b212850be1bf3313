"""Percentiles, against their definition."""

import statistics

from hypothesis import given
from hypothesis import strategies as st

from app.sim.durations import Durations, Spread


def of(values: list[int]) -> Spread:
    durations = Durations()
    for value in values:
        durations.add(value)
    assert len(durations) == len(values)
    return durations.spread()


def test_none_at_all() -> None:
    assert of([]) == Spread()


def test_one() -> None:
    assert of([5]) == Spread(1, 5, 5, 5, 5, 5, 5)


def test_a_hundred_in_any_order() -> None:
    assert of(list(range(100, 0, -1))) == Spread(100, 50, 1, 50, 90, 99, 100)


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=60))
def test_a_percentile_is_the_smallest_that_so_many_do_not_exceed(values: list[int]) -> None:
    spread = of(values)
    for share, value in ((50, spread.p50), (90, spread.p90), (99, spread.p99)):
        assert value in values
        assert 100 * sum(one <= value for one in values) >= share * len(values)
        assert 100 * sum(one < value for one in values) < share * len(values)
    assert (spread.min, spread.max) == (min(values), max(values))
    assert (
        spread.mean == int(statistics.fmean(values))
        or abs(spread.mean - statistics.fmean(values)) < max(values) * 1e-9 + 1
    )
