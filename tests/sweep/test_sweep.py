"""A thousand seeds, every safeguard's loss, and the simulation's own promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.engine.records import Note
from app.engine.requests import RequestQueue
from app.replaying.sources import Source
from tests.sweep import examine as examining
from tests.sweep.examine import PLAYS, Tally, examine, mode_of
from tests.sweep.knobs import Knobs
from tests.sweep.rebuild import journal
from tests.sweep.run import MODES, Life
from tests.sweep.safeguards import SAFEGUARDS, seeds_to_find
from tests.sweep.sweep import ENOUGH, Pinned, Report, pinned, sweep
from tests.sweep.weight import weigh

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(600)
def test_a_thousand_seeds_break_no_law_and_reach_everything() -> None:
    report = sweep(0, ENOUGH)
    assert report.good, str(report)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("safeguard", SAFEGUARDS)
def test_a_safeguard_that_is_switched_off_is_missed(safeguard: str) -> None:
    assert seeds_to_find(SAFEGUARDS[safeguard]) is not None


@pytest.mark.timeout(300)
def test_two_processes_with_other_hashes_write_the_same_bytes() -> None:
    one, two = (_python(seed, "--journal", "--seeds", "12") for seed in ("1", "4242"))
    assert one.count(b"\n") > 12 * 2 * 100
    assert one == two


# One seed, forked


def test_the_world_is_the_same_whatever_the_engine_is() -> None:
    lives = [Life(4, "safety"), Life(4, "safety")]
    other = lives[1]
    for stream in (other._lists, other._inspections, other.link._connection, other.crew._asks):
        stream.random()  # one more draw in one place ...
    for life in lives:
        life.live(400)
    one, two = (life.world.history for life in lives)
    assert journal(lives[0].records) != journal(other.records)
    shared = min(len(one), len(two))
    assert shared > 20
    assert one[:shared] == two[:shared], "... shifts nothing elsewhere"


def test_knobs_of_one_part_do_not_depend_on_another_part() -> None:
    one, two = Knobs(7), Knobs(7)
    assert one == two
    assert len({Knobs(seed).settings.queue_capacity for seed in range(60)}) > 20
    periods = [Knobs(seed).settings.period_ns for seed in range(200)]
    assert min(periods) < 200_000_000
    assert max(periods) > 5_000_000_000


# What a failure leaves


def test_a_violation_is_one_line_to_repeat_and_a_journal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(RequestQueue, "cancel_all", lambda _: None)
    monkeypatch.setattr(examining, "ARTIFACTS", tmp_path)
    monkeypatch.setattr(examining, "ROOT", tmp_path)
    tally = Tally()
    found = next(one for seed in range(50) if (one := examine(seed, "safety", tally)) is not None)
    assert f"python -m tests.sweep --seed {found.seed} --mode safety" in str(found)
    assert found.journal is not None
    source = Source(found.journal)  # as plegscope replay does
    *_others, (note, _opening) = source.records()
    assert source.unreadable == 0
    assert isinstance(note, Note)
    assert note.text.startswith("First difference")
    assert not Report(tally).good


def test_a_sweep_that_reaches_too_little_fails() -> None:
    report = Report(Tally(seeds=ENOUGH))
    assert "given up" in report.missing
    assert "fault: event lost" in report.missing
    assert not report.good
    assert "never reached: given up" in str(report)


def test_the_command_repeats_one_seed() -> None:
    for play in PLAYS:
        said = _python("0", "--seed", "3", "--mode", play).decode()
        assert f"Seed 3, {play}:" in said
        assert "no violation" in said


@pytest.mark.parametrize("once", [one for one in pinned() if one.safeguard], ids=str)
def test_a_pinned_play_still_shows_its_bug_without_the_fix(
    once: Pinned, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(examining, "ARTIFACTS", tmp_path)
    monkeypatch.setattr(examining, "ROOT", tmp_path)
    SAFEGUARDS[once.safeguard].off(monkeypatch)
    found = examine(once.seed, once.play, Tally())
    assert found is not None
    assert found.text.startswith("AssertionError"), "a law was broken, and not the program"


def test_every_pinned_play_is_played_by_its_mode() -> None:
    assert len(pinned()) >= 3
    assert all(play in PLAYS for _, play, _ in pinned())
    assert {mode_of(seed) for seed in range(2)} == set(MODES)


def test_data_is_weighed_wherever_it_is_held() -> None:
    inner = [1, 2, 3]
    assert weigh([]) == 0
    assert weigh([inner, inner]) == weigh([inner, [*inner]]) == 8
    assert weigh({"a": {"b": (1, "long text")}}) == 4


def _python(hash_seed: str, *arguments: str) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", "tests.sweep", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
