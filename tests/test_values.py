"""What is given as text is read or refused in a sentence: durations, ports, seeds, profiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import SettingsError
from app.values import (
    parse_duration,
    parse_format,
    parse_output,
    parse_port,
    parse_profiles,
    parse_report,
    parse_seed,
    parse_speed,
)

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30s", 30 * SECOND),
        ("500ms", SECOND // 2),
        ("1.5m", 90 * SECOND),
        ("1h30m", 5400 * SECOND),
    ],
)
def test_a_duration_is_read(text: str, expected: int) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize("text", ["", "30", "s", "-5s", "5 s", "5d", "0s", "1h-1m", "1e9s", "٣s"])
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(SettingsError, match="like 30s"):
        parse_duration(text)


@given(st.text(max_size=12))
def test_any_text_is_a_duration_or_a_settings_error(text: str) -> None:
    outcome: object
    try:
        outcome = parse_duration(text)
    except SettingsError as error:
        outcome = str(error)
    assert (isinstance(outcome, int) and outcome > 0) or str(outcome).endswith(".")


@pytest.mark.parametrize("text", ["-1", "65536", "http", "", "80.0", "８０"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="65535"):
        parse_port(text)


def test_ports_from_any_free_one_to_the_last() -> None:
    assert (parse_port("0"), parse_port("65535")) == (0, 65535)


@pytest.mark.parametrize("text", ["-1", "x", "1" * 19])
def test_what_is_no_seed_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="whole number"):
        parse_seed(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", 1), ("0.1", 0.1), ("20", 20), ("2.5", 2.5), ("10x", 10), (".5", 0.5)],
)
def test_speeds(text: str, expected: float) -> None:
    assert parse_speed(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "x", "0", "0.09", "20.1", "-1", "+2", "1e1", "nan", "inf", "1_0", "٣", ".", "2 ", "9" * 9],
)
def test_what_is_no_speed_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"from 0\.1 \(slower than life\) to 20\.$"):
        parse_speed(text)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(SettingsError, match="page or jsonl"):
        parse_format("xml")
    with pytest.raises(SettingsError, match="table, json or jsonl"):
        parse_output("page")


def test_profiles_to_compare() -> None:
    assert parse_profiles("kep,generic") == ("kep", "generic")
    assert parse_profiles("legacy, 1.37, polling") == ("legacy", "1.37", "polling")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kep", "two or three"),
        ("kep,generic,polling,legacy", "two or three"),
        ("kep,kep", "two or three"),
        ("kep,nope", "'nope' is no profile"),
        ("", "'' is no profile"),
        ("kep,", "'' is no profile"),
    ],
)
def test_what_is_not_two_or_three_profiles_is_refused(text: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words) as refused:
        parse_profiles(text)
    assert str(refused.value).endswith(".")


def test_a_comparison_has_no_lines_of_records() -> None:
    assert [parse_report(text) for text in ("table", "json")] == ["table", "json"]
    with pytest.raises(SettingsError, match="choose table or json"):
        parse_report("jsonl")
