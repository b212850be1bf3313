"""The question."""

from __future__ import annotations

import pytest

from app.cli import build_parser, main, settings_from
from app.engine.settings import EngineSettings
from app.whatif.command import options_of
from app.whatif.options import Options

THEN = EngineSettings()


def given(*flags: str) -> Options:
    """What a command line asks."""
    return options_of(settings_from(build_parser().parse_args(["whatif", "a.mcap", *flags])))


def test_without_flags_nothing_is_otherwise() -> None:
    assert given() == Options()
    assert given().changes_nothing(THEN)
    assert given(
        "--profile", "kep", "--period", "1s", "--queue", "200", "--hold", "recorded"
    ).changes_nothing(THEN)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--profile", "legacy"), "legacy"),
        (("--period", "10s"), "kep, every 10 s"),
        (("--queue", "5"), "kep, queue of 5"),
        (("--hold", "off"), "kep, not held"),
        (("--hold", "2s"), "kep, held 2 s by each SyncPod"),
        (("--no-stream",), "kep, no stream"),
        (("--stream-loss", "0.5"), "kep, 50% of events lost"),
        (("--stream-loss", "1"), "kep, silent stream"),
        (("--stream-delay", "1500ms"), "kep, events 1.5 s late"),
    ],
)
def test_each_flag_changes_something_and_is_named(flags: tuple[str, ...], words: str) -> None:
    options = given(*flags)
    assert not options.changes_nothing(THEN)
    assert options.words(THEN) == words


def test_settings_are_those_recorded_but_for_what_was_asked() -> None:
    then = EngineSettings(threshold_ns=5, event_channel=9)
    now = given("--profile", "1.37", "--queue", "3").settings(then)
    assert (now.profile, now.queue_capacity, now.threshold_ns, now.event_channel) == (
        "1.37",
        3,
        5,
        9,
    )
    assert now.period_ns == then.period_ns


@pytest.mark.parametrize("text", ["0", "1.5", "-1", "half", "0.5.5", "nan", "1e-3", ""])
def test_what_is_no_share_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "a.mcap", f"--stream-loss={text}"]) == 1
    assert "no share" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "99999999999", ""])
def test_what_is_no_queue_size_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "a.mcap", f"--queue={text}"]) == 1
    assert "no queue size" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0", "0s", "-1s", "on", "none", "2", ""])
def test_what_is_no_hold_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "a.mcap", f"--hold={text}"]) == 1
    assert "no hold: choose off" in capsys.readouterr().err
