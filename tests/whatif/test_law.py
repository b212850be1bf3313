"""The law: an answer agrees with really playing the other profile, within what it states."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from statistics import median

import msgspec
import pytest

from app.engine.profiles import PROFILES
from tests.whatif.played import MS, SECOND, hold, play, whatif

PAIRS = list(permutations(PROFILES, 2))
QUIET = ("demo", "churn", "crash-loop", "short-lived")
"""Their streams work, and their worlds drift apart late."""
DAMAGED = (
    "storm",
    "training-group",
    "lossy-stream",
    "flapping-stream",
    "silent-stream",
    "duplicate-events",
    "runtime-restart",
    "frozen-runtime",
    "wrong-created-at",
    "event-without-uid",
    "long-sync",
    "no-stream",
)
CROSSED = (("kep", "generic"), ("generic", "kep"), ("polling", "1.37"), ("1.37", "legacy"))


@pytest.mark.parametrize(("then", "now"), PAIRS, ids=str)
@pytest.mark.parametrize("scenario", QUIET)
def test_every_profile_from_every_other(scenario: str, then: str, now: str, tmp_path: Path) -> None:
    recorded, real = play(scenario, then, 7, 60), play(scenario, now, 7, 60)
    held = hold(recorded, real, whatif(recorded, tmp_path / "a.mcap", profile=now))
    assert held.broken == []
    assert len(held.rows) >= 3


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("then", "now"), CROSSED, ids=str)
def test_other_seeds(seed: int, then: str, now: str, tmp_path: Path) -> None:
    recorded, real = play("demo", then, seed, 90), play("demo", now, seed, 90)
    held = hold(recorded, real, whatif(recorded, tmp_path / "a.mcap", profile=now))
    assert held.broken == []
    assert len(held.rows) >= 3


@pytest.mark.parametrize(("then", "now"), CROSSED, ids=str)
@pytest.mark.parametrize("scenario", DAMAGED)
def test_it_holds_where_the_stream_or_the_runtime_is_damaged(
    scenario: str, then: str, now: str, tmp_path: Path
) -> None:
    recorded, real = play(scenario, then, 7, 60), play(scenario, now, 7, 60)
    held = hold(recorded, real, whatif(recorded, tmp_path / "a.mcap", profile=now))
    assert held.broken == []


def test_the_bounds_say_something(tmp_path: Path) -> None:
    """A law that allowed anything would hold as well."""
    recorded, real = play("churn", "polling", 7, 60), play("churn", "kep", 7, 60)
    held = hold(recorded, real, whatif(recorded, tmp_path / "a.mcap", profile="kep"))
    widths = [(row.latest or 60 * SECOND) - row.earliest for row, _ in held.rows]
    assert max(widths) < 1.1 * SECOND
    assert median(widths) < 350 * MS
    recorded = play("churn", "kep", 7, 60)
    held = hold(
        recorded, play("churn", "1.37", 7, 60), whatif(recorded, tmp_path / "b", profile="1.37")
    )
    widths = [(row.latest or 60 * SECOND) - row.earliest for row, _ in held.rows]
    assert median(widths) < 30 * MS


@pytest.mark.parametrize(("then", "now"), [("kep", "polling"), ("polling", "kep"), ("kep", "1.37")])
def test_the_best_guess_is_a_good_one(then: str, now: str, tmp_path: Path) -> None:
    """Of single ends little is known; of all of them the median is close to the real one."""
    recorded, real = play("churn", then, 7, 60), play("churn", now, 7, 60)
    answer = whatif(recorded, tmp_path / "a.mcap", profile=now)
    guessed = [row.now.t - row.t for row in answer.rows if row.what == "end" and row.now]
    really = [
        one.found_t - one.known_t
        for one in real.truth.moments
        if one.what == "end" and one.found_t and one.known_t
    ]
    assert abs(median(guessed) - median(really)) < 150 * MS


@pytest.mark.parametrize(("then", "now"), CROSSED, ids=str)
def test_calls_come_out_in_kind(then: str, now: str, tmp_path: Path) -> None:
    recorded, real = play("crash-loop", then, 7, 60), play("crash-loop", now, 7, 60)
    answer = whatif(recorded, tmp_path / "a.mcap", profile=now)
    guessed = sum(answer.calls[1].values())
    really = sum(real.truth.calls.values())
    assert abs(guessed - really) <= really / 4


@pytest.mark.parametrize("scenario", ["crash-loop", "churn", "long-sync", "storm"])
def test_nothing_held_agrees_with_an_engine_that_holds_nothing(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = play(scenario, "kep", 7, 60)
    holds_nothing = msgspec.structs.replace(PROFILES["kep"], suspension=False)
    with monkeypatch.context() as changed:
        changed.setitem(PROFILES, "kep", holds_nothing)
        real = play.__wrapped__(scenario, "kep", 7, 60)
    held = hold(recorded, real, whatif(recorded, tmp_path / "a.mcap", hold_ns=0))
    assert held.broken == []
    assert len(held.rows) >= 3
