"""Own cost: shares and rates over the samples kept."""

import pytest

from app.cost import CostMeter


class Calls:
    """Counters as a client keeps them."""

    calls_total = 0
    bytes_total = 0


def test_before_time_has_passed_nothing_is_claimed() -> None:
    cost = CostMeter(Calls()).cost()
    assert (cost.cpu, cost.calls_per_s, cost.bytes_per_s) == (0.0, 0.0, 0.0)


def test_rates_follow_the_counters() -> None:
    calls = Calls()
    meter = CostMeter(calls)
    calls.calls_total, calls.bytes_total = 4, 4000
    sum(range(10_000))
    meter.sample()
    cost = meter.cost()
    assert cost.bytes_per_s == pytest.approx(1000 * cost.calls_per_s)
    assert cost.cpu > 0
    assert cost.rss_bytes > 1_000_000
