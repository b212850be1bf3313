"""One seed, examined: what it reached and, if a law was broken, where it is written down."""

import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from app.engine.records import Note
from tests.sweep.hubplay import HubPlay
from tests.sweep.rebuild import journal
from tests.sweep.ringplay import RingPlay
from tests.sweep.run import MODES, STEPS, Life

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "artifacts" / "sweep"

Play = Literal["safety", "liveness", "ring", "hub"]
PLAYS: tuple[Play, ...] = get_args(Play)


@dataclass
class Finding:
    """A law that was broken: its seed, how to repeat it, what was said, and the journal."""

    seed: int
    play: Play
    text: str
    journal: Path | None = None

    def __str__(self) -> str:
        written = ""
        if self.journal is not None:
            written = f"\n  look:    plegscope replay {self.journal.relative_to(ROOT)}"
        return f"{self.text}\n  repeat:  {command(self.seed, self.play)}{written}"


@dataclass
class Tally:
    """What some seeds came to: numbers that can be added up."""

    seeds: int = 0
    steps: int = 0
    ns: int = 0
    """Virtual time of the engines' lives."""
    faults: Counter[str] = field(default_factory=Counter)
    situations: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add another one."""
        self.seeds += other.seeds
        self.steps += other.steps
        self.ns += other.ns
        self.faults.update(other.faults)
        self.situations.update(other.situations)
        self.findings += other.findings


def command(seed: int, play: Play) -> str:
    """The one line that repeats a play."""
    return f"python -m tests.sweep --seed {seed} --mode {play}"


def mode_of(seed: int) -> Play:
    """Every other seed is healed in the end."""
    return MODES[seed % 2]


def examine(seed: int, play: Play, tally: Tally, steps: int = STEPS) -> Finding | None:
    """Play a seed and count what it came to; returns the law it broke, if it did.

    Whatever is raised is a finding: the engine must not fail either. A life's journal is written
    down to the first difference, with a note at its end that says what was wrong.
    """
    if play in MODES:
        life = Life(seed, "liveness" if play == "liveness" else "safety")
        try:
            life.live(steps)
        except Exception as error:
            _blame(tally, Finding(seed, play, _said(error), _write(life, play, error)))
        tally.steps += life.steps
        tally.ns += life.clock.t
        tally.faults.update(life.faults)
        tally.situations.update(life.oracle.situations)
    else:
        other = RingPlay(seed) if play == "ring" else HubPlay(seed)
        try:
            other.play()
        except Exception as error:
            _blame(tally, Finding(seed, play, _said(error)))
        tally.situations.update(other.situations)
    found = tally.findings
    return found[-1] if found and (found[-1].seed, found[-1].play) == (seed, play) else None


def examine_all(seed: int, tally: Tally, steps: int = STEPS) -> None:
    """A seed's life, and its plays around the engine."""
    for play in (mode_of(seed), "ring", "hub"):
        examine(seed, play, tally, steps)
    tally.seeds += 1


def _blame(tally: Tally, finding: Finding) -> None:
    tally.findings.append(finding)


def _said(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    text = str(error).strip() or (last.line or "")
    return f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}: {text}"


def _write(life: Life, play: Play, error: BaseException) -> Path:
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    path = ARTIFACTS / f"seed-{life.seed}-{play}.jsonl"
    now = life.clock
    text = f"First difference ({command(life.seed, play)}): {_said(error)}"
    note = Note(t=now.t, wall=now.wall, level="warning", text=text)
    path.write_bytes(journal([*life.records, note]))
    return path
