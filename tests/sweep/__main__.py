"""The sweep's command line; see ``tests/sweep/__init__.py``."""

import argparse
import sys

from tests.sweep.examine import PLAYS, Tally, examine, mode_of
from tests.sweep.rebuild import journal
from tests.sweep.run import MODES, STEPS, Life
from tests.sweep.sweep import Report, sweep


def main(arguments: list[str]) -> int:
    """Entry point; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--steps", type=int, default=STEPS, help="of the engine in each life")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--progress", action="store_true", help="a line now and then")
    parser.add_argument("--seed", type=int, help="play this seed only")
    parser.add_argument("--mode", choices=PLAYS, help="how it is played")
    parser.add_argument(
        "--journal", action="store_true", help="with --seed or --seeds: write the lives' journals"
    )
    parser.add_argument(
        "--mutations", action="store_true", help="switch off each safeguard, count seeds"
    )
    given = parser.parse_args(arguments)
    if given.mutations:
        from tests.sweep.safeguards import table

        return table(sys.stdout)
    if given.journal:
        return _journals(given)
    if given.seed is not None:
        return _one(given)
    report = sweep(
        given.first,
        given.seeds,
        steps=given.steps,
        processes=given.processes,
        progress=_told if given.progress else None,
    )
    print(report)
    return 0 if report.good else 1


def _one(given: argparse.Namespace) -> int:
    tally = Tally()
    play = given.mode or mode_of(given.seed)
    found = examine(given.seed, play, tally, given.steps)
    if found is not None:
        print(found)
        return 1
    print(f"Seed {given.seed}, {play}: {tally.steps} steps, {tally.ns / 1e9:.1f} s, no violation.")
    return 0


def _journals(given: argparse.Namespace) -> int:
    """The journals of some lives, one after the other: what two processes must agree on."""
    first = given.first if given.seed is None else given.seed
    for seed in range(first, first + (given.seeds if given.seed is None else 1)):
        for mode in MODES:
            if given.mode in (None, mode):
                life = Life(seed, mode)
                life.live(given.steps)
                sys.stdout.buffer.write(journal(life.records))
    return 0


def _told(report: Report) -> None:
    tally = report.tally
    if tally.seeds % 1000 < 20:
        print(
            f"{tally.seeds} seeds, {tally.seeds / report.seconds:.0f} seeds/s, "
            f"{len(tally.findings)} violations",
            file=sys.stderr,
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
