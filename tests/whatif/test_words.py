"""What is said of what is known and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.whatif.answer import WhatIf
from app.whatif.options import Options
from app.whatif.result import ask
from tests.whatif.built import one_life
from tests.whatif.played import play, whatif


def said(answer: WhatIf) -> str:
    """All sentences."""
    return " ".join((*answer.knows, *answer.cannot)).replace("\N{NO-BREAK SPACE}", " ")


def test_what_it_rests_on(tmp_path: Path) -> None:
    text = said(ask([one_life(tmp_path / "a.mcap")], Options(profile="1.37", queue=5)))
    assert "12 listings, 2 inspections and 1 stream event about 1 container" in text
    assert "1 stream event came when the recording had them." in text
    assert "SyncPod" not in text


@pytest.mark.parametrize("profile", ["kep", "generic", "polling", "1.37", "legacy"])
def test_every_sentence_is_one(profile: str, tmp_path: Path) -> None:
    recorded = play("crash-loop", "kep" if profile != "kep" else "polling", 7, 60)
    answer = whatif(recorded, tmp_path / "a.mcap", profile=profile)
    for sentence in (*answer.knows, *answer.cannot):
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert sentence.endswith(".")
    text = said(answer)
    assert "SyncPods began and ended when the recording says." in text
    assert "stays as recorded" in text


def test_a_recording_without_syncpods_holds_nothing_up_and_says_so(tmp_path: Path) -> None:
    path = one_life(tmp_path / "a.mcap")
    silent = "does not say when SyncPod ran"
    assert silent in said(ask([path], Options(queue=3)))
    assert silent not in said(ask([path], Options(profile="1.37")))


def test_dice_and_assumptions_are_named(tmp_path: Path) -> None:
    text = said(ask([one_life(tmp_path / "a.mcap")], Options(loss=0.999, seed=3)))
    assert "1 of 1 event lost by the dice of seed 3" in text
    text = said(ask([one_life(tmp_path / "d.mcap")], Options(loss=1.0)))
    assert "open and silent from the beginning: 1 event did not come" in text
    text = said(ask([one_life(tmp_path / "b.mcap", stream=False)], Options(profile="1.37")))
    assert "Nobody listened to the stream when 4 events would have come" in text
    text = said(ask([one_life(tmp_path / "c.mcap")], Options(profile="legacy")))
    assert "What events carried was not recorded" in text
