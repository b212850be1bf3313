"""For how long the pod cache was wrong: held to what truly happened."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.engine.model import ContainerStatus
from app.engine.records import PodCached, PodUncached
from app.whatif.cachelog import CacheLog
from app.whatif.options import Options
from app.whatif.result import ask
from tests.whatif.built import MS, SECOND, one_life
from tests.whatif.played import play, whatif

SCENARIOS = ("demo", "churn", "short-lived", "lossy-stream", "long-sync", "frozen-runtime")


@pytest.mark.parametrize("then", ["kep", "polling", "legacy"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_truth_lies_within_the_recorded_bounds(
    scenario: str, then: str, tmp_path: Path
) -> None:
    recorded = play(scenario, then, 7, 60)
    answer = whatif(recorded, tmp_path / "a.mcap", profile="1.37" if then == "kep" else "kep")
    told = answer.wrong[0]
    assert told.most_ns is not None
    assert told.least_ns <= told.ns <= told.most_ns
    if not answer.wrong_without:
        assert told.least_ns <= recorded.truth.wrong_ns <= told.most_ns
    else:
        assert told.least_ns <= recorded.truth.wrong_ns


@pytest.mark.parametrize(("then", "now"), [("polling", "kep"), ("kep", "1.37")])
@pytest.mark.parametrize("scenario", ["demo", "churn", "short-lived"])
def test_so_does_that_of_really_playing_it(
    scenario: str, then: str, now: str, tmp_path: Path
) -> None:
    real = play(scenario, now, 7, 60)
    told = whatif(play(scenario, then, 7, 60), tmp_path / "a.mcap", profile=now).wrong[1]
    assert told.most_ns is not None
    assert told.least_ns <= real.truth.wrong_ns <= told.most_ns


def test_a_belief_has_no_bound(tmp_path: Path) -> None:
    answer = whatif(play("churn", "kep", 7, 60), tmp_path / "a.mcap", profile="legacy")
    assert answer.wrong[0].most_ns is not None
    assert answer.wrong[1].most_ns is None
    assert any("at most is not known" in one for one in answer.cannot)


def test_a_container_that_nobody_looks_at_is_wrong_to_the_end(tmp_path: Path) -> None:
    # It starts at 1.6 s and ends at 4.5 s; a poll each 100 s sees neither.
    answer = ask([one_life(tmp_path / "a.mcap")], Options(stream=False, period_ns=100 * SECOND))
    told = answer.wrong[1]
    assert abs(told.ns - 2900 * MS) < 100 * MS
    assert told.most_ns is not None
    assert told.least_ns <= 2900 * MS <= told.most_ns


def test_the_log_follows_the_entries() -> None:
    log = CacheLog()

    def cached(t: int, *running: str, error: str = "") -> None:
        statuses = tuple(
            ContainerStatus(id=one, name=one, attempt=0, runtime_state="running", created_at=0)
            for one in running
        )
        entry = PodCached(t=t, wall=0, uid="u", name="n", namespace="s", relist=1)
        log.apply(msgspec.structs.replace(entry, containers=statuses, error=error))

    cached(1, "a")
    cached(2, "a", "b")
    cached(3, error="it failed")
    cached(4, "b")
    log.apply(PodUncached(t=5, wall=0, uid="u", relist=1))
    assert log.toggles == {"a": [1, 4], "b": [2, 5]}
