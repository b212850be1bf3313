"""Times as people write them."""

from __future__ import annotations

import pytest

from app.web.moment import in_words, parse_moment

S = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("12.5", 12.5), ("12.5s", 12.5), ("1m30s", 90), ("1 m 30 s", 90), ("2:05.5", 125.5),
     ("3h", 10_800), ("1h5m", 3_900), ("5min", 300), ("172800s", 172_800), ("2d1h", 176_400),
     ("0", 0)],
)  # fmt: skip
def test_a_time(text: str, seconds: float) -> None:
    assert parse_moment(text) == round(seconds * S)


def test_it_is_exact() -> None:
    assert parse_moment("123456789.123456789s") == 123_456_789_123_456_789


@pytest.mark.parametrize(
    "text",
    ["", " ", "soon", "-5", "1e9", "5x", "\u0661s", "1:2:3", "1" * 10, "1s" * 50, "9" * 10_000],
)
def test_what_is_none(text: str) -> None:
    assert parse_moment(text) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(33.1084, "33.108 s"), (65.25, "1 min 5.250 s"), (3_600, "1 h 0 min 0.000 s"),
     (3_996_085.823, "46 d 6 h 1 min 25.823 s")],
)  # fmt: skip
def test_it_is_written_as_the_player_writes_it(seconds: float, words: str) -> None:
    assert in_words(round(seconds * S)).replace("\xa0", " ") == words
