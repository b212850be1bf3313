"""Durations as Go's time.Duration.String writes them."""

import pytest

from app.engine.goduration import go_duration

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (999, "999ns"),
        (1_100, "1.1µs"),
        (2_200_000, "2.2ms"),
        (1_000, "1µs"),
        (1_500_000, "1.5ms"),
        (999_999_999, "999.999999ms"),
        (SECOND, "1s"),
        (3_300_000_000, "3.3s"),
        (60 * SECOND, "1m0s"),
        (180 * SECOND, "3m0s"),
        (180_400_000_000, "3m0.4s"),
        (291 * SECOND, "4m51s"),
        (245 * SECOND, "4m5s"),
        (245_001_000_000, "4m5.001s"),
        (3_602 * SECOND, "1h0m2s"),
        (18_367_001_000_000, "5h6m7.001s"),
        (480_000_000_001, "8m0.000000001s"),
        ((1 << 63) - 1, "2562047h47m16.854775807s"),
        (-1, "-1ns"),
        (-90 * SECOND, "-1m30s"),
        (-(1 << 63), "-2562047h47m16.854775808s"),
    ],
)
def test_as_go_writes_it(ns: int, text: str) -> None:
    assert go_duration(ns) == text
