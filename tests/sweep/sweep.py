"""Many seeds, on two processes, and what they came to."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tests.sweep.examine import PLAYS, Play, Tally, examine, examine_all
from tests.sweep.run import STEPS
from tests.sweep.situations import AROUND, ENGINE, FAULTS

PINNED = Path(__file__).with_name("pinned.txt")
CHUNK = 20
ENOUGH = 1000
"""A sweep of this many seeds has to reach the whole catalogue."""

YEAR_NS = 365 * 24 * 3600 * 1_000_000_000


@dataclass
class Report:
    """A sweep's outcome. ``missing``: what the catalogue names and no seed reached."""

    tally: Tally = field(default_factory=Tally)
    seconds: float = 0.0
    pinned: int = 0

    @property
    def missing(self) -> list[str]:
        """Situations and faults of the catalogue that were not reached."""
        if self.tally.seeds < ENOUGH:
            return []
        faults = {f"fault: {one}" for one in FAULTS - set(self.tally.faults)}
        return sorted((ENGINE | AROUND) - set(self.tally.situations)) + sorted(faults)

    @property
    def good(self) -> bool:
        """No law was broken and everything was reached."""
        return not self.tally.findings and not self.missing

    def __str__(self) -> str:
        tally = self.tally
        catalogue = sorted(ENGINE | AROUND)
        reached = sum(one in tally.situations for one in catalogue)
        rate = tally.seeds / self.seconds if self.seconds else 0.0
        lines = [
            f"{tally.seeds} seeds ({rate:.0f} a second), {self.pinned} pinned plays",
            f"{tally.steps} steps of the engine in {self.seconds:.1f} s",
            f"{tally.ns / YEAR_NS:.4f} node-years ({tally.ns / 3.6e12:.1f} h of virtual time)",
            f"{sum(tally.faults.values())} faults",
            *(f"{count:>10}  {fault}" for fault, count in tally.faults.most_common()),
            f"{reached} of {len(catalogue)} situations reached (seeds that reached each)",
            *(f"{tally.situations[one]:>10}  {one}" for one in catalogue),
            *(f"never reached: {one}" for one in self.missing),
            f"{len(tally.findings)} violations",
            *(str(finding) for finding in tally.findings[:10]),
        ]
        return "\n".join(lines)


class Pinned(NamedTuple):
    """A play that once broke a law; ``safeguard``: what the fix is called, empty if it has no
    name."""

    seed: int
    play: Play
    safeguard: str


def pinned() -> list[Pinned]:
    """The plays that once found something."""
    plays: list[Pinned] = []
    for line in PINNED.read_text(encoding="utf-8").splitlines():
        text, _, told = line.partition("#")
        if text.strip():
            seed, name = text.split()
            (play,) = (one for one in PLAYS if one == name)
            plays.append(Pinned(int(seed), play, told.partition("|")[2].strip()))
    return plays


def chunk(first: int, end: int, steps: int) -> Tally:
    """Some seeds in a row."""
    tally = Tally()
    for seed in range(first, end):
        examine_all(seed, tally, steps)
    return tally


def sweep(
    first: int,
    count: int,
    *,
    steps: int = STEPS,
    processes: int = 2,
    progress: Callable[[Report], None] | None = None,
) -> Report:
    """All pinned plays, then ``count`` seeds from ``first`` on; ``progress`` after each chunk."""
    report, began = Report(), time.monotonic()
    for seed, play, _ in pinned():
        examine(seed, play, report.tally, steps)
        report.pinned += 1
    end = first + count
    starts = range(first, end, CHUNK)
    ends = [min(end, start + CHUNK) for start in starts]
    for tally in _played(starts, ends, steps, processes):
        report.tally.add(tally)
        report.seconds = time.monotonic() - began
        if progress is not None:
            progress(report)
    return report


def _played(
    starts: Iterable[int], ends: Iterable[int], steps: int, processes: int
) -> Iterator[Tally]:
    play = partial(chunk, steps=steps)
    if processes == 1:
        yield from map(play, starts, ends)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(play, starts, ends)
