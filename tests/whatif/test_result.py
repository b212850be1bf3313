"""Sooner or later than recorded, in one word that holds wherever in its bounds the finding lies."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from app.engine.profiles import PROFILES
from app.whatif.answer import VERDICTS
from app.whatif.options import Options
from app.whatif.result import ask
from tests.whatif.built import MS, SECOND, one_life
from tests.whatif.played import play, whatif


@pytest.mark.parametrize("now", [name for name in PROFILES if name != "kep"])
def test_a_verdict_holds_wherever_the_finding_lies(now: str, tmp_path: Path) -> None:
    answer = whatif(play("demo", "kep", 3, 90), tmp_path / "a.mcap", profile=now)
    assert answer.rows
    for row in answer.rows:
        assert row.recorded is not None
        earliest = row.earliest - row.recorded.t
        latest = 10**18 if row.latest is None else row.latest - row.recorded.t
        close = 10 * MS
        holds = {
            "sooner": latest <= -close,
            "not later": latest < close,
            "alike": -close < earliest and latest < close,
            "not sooner": earliest > -close,
            "later": earliest >= close,
            "open": earliest <= -close and latest >= close,
        }
        assert holds[row.verdict], row
    assert answer.counts == {
        one: Counter(row.verdict for row in answer.rows)[one] for one in VERDICTS
    }


def test_figures_are_those_of_the_rows(tmp_path: Path) -> None:
    answer = whatif(play("demo", "kep", 7, 60), tmp_path / "a.mcap", profile="polling")
    then, now = answer.tallies
    ends = [row for row in answer.rows if row.what == "end"]
    assert then.ends.happened == now.ends.happened == len(ends)
    assert set(now.ends.by_source) == {"global"}
    assert now.calls == sum(answer.calls[1].values())
    assert now.calls < then.calls
    assert then.calls == sum(answer.calls[0].values())


def test_an_event_is_sooner_than_a_poll_by_what_the_poll_took(tmp_path: Path) -> None:
    # Recorded: the poll at 5.1 s found what ended at 4.5 s, though its event had come at 4.551 s.
    answer = ask([one_life(tmp_path / "a.mcap")], Options(queue=5))
    (end,) = (row for row in answer.rows if row.what == "end")
    assert end.recorded is not None
    assert end.now is not None
    assert (end.recorded.t, end.recorded.source) == (5106 * MS, "global")
    assert end.now.source == "evented_pleg"
    assert end.shift is not None
    assert -560 * MS < end.shift < -530 * MS
    assert "".join(text for text, _ in answer.sentence).startswith("With kep, queue of 5")


def test_nothing_to_compare_is_said(tmp_path: Path) -> None:
    answer = ask([one_life(tmp_path / "a.mcap", until=1)], Options(profile="polling"))
    assert answer.rows == ()
    assert "Nothing to compare." in "".join(text for text, _ in answer.sentence)
    assert answer.duration_ns < 2 * SECOND
