"""Durations as people write and read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sim.units import (
    LONGEST,
    Ns,
    Offset,
    millis,
    parse_ns,
    parse_offset,
    seconds,
    shown,
)


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("30s", 30 * 10**9),
        ("1.5m", 90 * 10**9),
        ("1h30m", 5400 * 10**9),
        ("250ms", 250 * 10**6),
        ("400us", 400_000),
        ("0s", 0),
        ("8784h", LONGEST),
    ],
)
def test_a_duration_is_read(text: str, ns: int) -> None:
    read = parse_ns(text)
    assert read == ns
    assert type(read) is Ns


@pytest.mark.parametrize("text", ["", "30", "s", "-5s", "5 s", "5d", "1e9s", "٣s", "+1s", "1s\n"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        parse_ns(text)


def test_nothing_lasts_longer_than_a_year() -> None:
    with pytest.raises(ValueError, match="a year"):
        parse_ns("8785h")


@pytest.mark.parametrize(("text", "ns"), [("-1h", -3600 * 10**9), ("+250ms", 250 * 10**6)])
def test_an_offset_has_a_sign(text: str, ns: int) -> None:
    read = parse_offset(text)
    assert read == ns
    assert type(read) is Offset


@pytest.mark.parametrize("text", ["1h", "", "-", "--1h", "+soon"])
def test_an_offset_without_one_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        parse_offset(text)


def test_sums_are_plain_numbers_again() -> None:
    assert type(seconds(1) + 5) is int
    assert type(5 + millis(1)) is int
    assert (seconds(1.5), millis(0.4)) == (1_500_000_000, 400_000)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_500, "1.5 µs"),
        (850_000_000, "850 ms"),
        (1_254_000_000, "1.25 s"),
        (59_990_000_000, "60 s"),
        (60 * 10**9, "1 min"),
        (200 * 10**9, "3 min 20 s"),
        (-2_000_000, "-2 ms"),
    ],
)
def test_three_digits_are_enough_for_people(ns: int, text: str) -> None:
    assert shown(ns) == text


@given(st.integers(0, 59 * 10**9))
def test_what_is_shown_is_near_the_truth(ns: int) -> None:
    number, unit = shown(ns).split()
    factor = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}[unit]
    assert abs(float(number) * factor - ns) <= ns * 0.005
