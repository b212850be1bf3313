"""The command line that shows the same again is one that is understood, and has no secret."""

from __future__ import annotations

import shlex

import pytest

from app.cli import build_parser, settings_from
from app.settings import Settings
from app.values import SECOND
from app.web.repeat import MOST_VIEW, command_line, view_of

CHANGED = [
    ("demo", Settings()),
    ("demo", Settings(seed=0, speed=0.5, profile="legacy", scenario="my file.toml")),
    ("demo", Settings(port=0, host="::1", allow_hosts=("a.example", "b.example"))),
    ("demo", Settings(runtime_like="cri-o", record=False)),
    ("watch", Settings(stream=False, join_shared_stream=True, call_timeout_ns=90 * SECOND)),
    ("watch", Settings(call_timeout_ns=500_000_000, runtime_endpoint="unix:///run/a b.sock")),
    ("compare", Settings(scenario="demo", profiles=("kep", "legacy"))),
    ("replay", Settings(recordings=("a.mcap", "it's b.mcap"))),
]


@pytest.mark.parametrize(("command", "settings"), CHANGED)
def test_it_is_understood_as_it_was(command: str, settings: Settings) -> None:
    words = shlex.split(command_line(command, settings))
    assert words[0] == "plegscope"
    assert words[1] == command
    assert settings_from(build_parser().parse_args(words[1:])) == settings


def test_what_is_as_by_default_is_not_said() -> None:
    assert command_line("watch", Settings()) == "plegscope watch"


def test_what_concerns_one_start_only_is_left_out() -> None:
    once = Settings(browser=False, record_to="there.mcap", duration_ns=SECOND)
    assert command_line("demo", once) == "plegscope demo"


def test_what_another_command_takes_is_left_out() -> None:
    assert command_line("watch", Settings(seed=3, scenario="storm")) == "plegscope watch"


@pytest.mark.parametrize(
    ("address", "view"),
    [
        ("http://127.0.0.1:7780/?view=table&filter=a%20b", "/?view=table&filter=a%20b"),
        ("http://127.0.0.1:7780/", ""),
        ("http://127.0.0.1:7780/now?x=1", ""),
        ("http://127.0.0.1:7780/?token=secret&view=table", ""),
        ("http://[::1", ""),
        ("", ""),
    ],
)
def test_of_an_address_only_what_it_shows_is_said(address: str, view: str) -> None:
    assert view_of(address) == view


def test_a_long_address_is_cut() -> None:
    assert len(view_of(f"http://h/?filter={'x' * 10_000}")) == MOST_VIEW
