"""Durations and numbers in words, as the browser's own words.js has them."""

from __future__ import annotations

import pytest

from app.words import age, count, duration, listed

NBSP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("ns", "words"),
    [
        (None, "not known"),
        (0, "0.0 ms"),
        (500, "0 µs"),
        (42_000, "42 µs"),
        (470_000, "0.47 ms"),
        (4_100_000, "4.1 ms"),
        (640_000_000, "640 ms"),
        (999_600_000, "1.0 s"),
        (1_234_000_000, "1.2 s"),
        (12_500_000_000, "12 s"),
        (59_600_000_000, "1 min"),
        (180_000_000_000, "3 min"),
        (-192_000_000_000, "3 min 12 s"),
        (7_206_000_000_000, "2 h"),
        (8_040_000_000_000, "2 h 14 min"),
        (90_000_000_000_000, "1 d 1 h"),
    ],
)
def test_durations(ns: float | None, words: str) -> None:
    assert duration(ns).replace(NBSP, " ") == words


@pytest.mark.parametrize(
    ("ns", "words"),
    [
        (-5, "0.0 s"),
        (0, "0.0 s"),
        (885_000_000, "0.9 s"),
        (9_940_000_000, "9.9 s"),
        (9_960_000_000, "10 s"),
        (192_400_000_000, "3 min 12 s"),
    ],
)
def test_ages(ns: int, words: str) -> None:
    assert age(ns).replace(NBSP, " ") == words


def test_counts() -> None:
    told = [count(1, "end"), count(0, "end"), count(9871, "call"), count(2, "more", "many")]
    assert [text.replace(NBSP, " ") for text in told] == [
        "1 end",
        "0 ends",
        "9,871 calls",
        "2 many",
    ]


def test_lists() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"]) == "a, b and c"
