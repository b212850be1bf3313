"""A comparison as it is handed out: to the page, over the API, on the command line."""

from collections.abc import Sequence

import msgspec

from app.engine.profiles import PROFILES
from app.stage.compare import Drawn, Row, Side, Tally, compare
from app.stage.comparewords import Parts, meaning, notes, sentence
from app.stage.run import Run
from app.stage.runnames import names, premise


class ReportRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a comparison: what tells it from the others, its link, its figures, its lanes."""

    name: str
    profile: str
    title: str
    query: str
    figures: Tally
    drawn: Drawn


class CompareReport(msgspec.Struct, frozen=True, kw_only=True):
    """Two or three runs of the same node side by side.

    ``premise``: what is the same in all of them, and what is not. ``against``: number of the
    reference among ``runs``, from 0. ``sentence``, ``meaning`` and ``notes``: what it comes to, the
    last in small print, as (text, whether it is stressed). ``rows``: every happening, aligned by
    container and never by time, and what was told or cached that was not so; ``left_out`` of them
    are not there. ``matched`` happened in every run, ``drifted`` of these at another time than in
    the reference; ``unmatched`` did not happen in every run, and nothing is claimed about them.
    """

    scenario: str
    title: str
    seed: int
    duration_ns: int
    premise: str
    runs: tuple[ReportRun, ...]
    against: int
    sentence: Parts
    meaning: Parts
    notes: Parts
    rows: tuple[Row, ...]
    matched: int
    drifted: int
    unmatched: int
    left_out: int


def report(runs: Sequence[Run], against: int) -> CompareReport:
    """The comparison of runs that were played."""
    specs = [run.spec for run in runs]
    sides = [
        Side(name, run.spec.profile, run.spec.query(), run.truth)
        for name, run in zip(names(specs), runs, strict=True)
    ]
    compared = compare(sides, against)
    called = [side.name for side in sides]
    return CompareReport(
        scenario=specs[0].scenario,
        title=runs[0].title,
        seed=specs[0].seed,
        duration_ns=specs[0].duration_ns,
        premise=premise(specs),
        runs=tuple(
            _of_run(side, tally) for side, tally in zip(sides, compared.tallies, strict=True)
        ),
        against=against,
        sentence=sentence(called, compared),
        meaning=meaning(called, compared, [side.profile for side in sides]),
        notes=notes(called, compared),
        rows=compared.rows,
        matched=compared.matched,
        drifted=compared.drifted,
        unmatched=compared.unmatched,
        left_out=compared.left_out,
    )


def _of_run(side: Side, tally: Tally) -> ReportRun:
    truth = side.truth
    return ReportRun(
        name=side.name,
        profile=side.profile,
        title=PROFILES[side.profile].title,
        query=side.query,
        figures=tally,
        drawn=Drawn(truth.pods, truth.relists, truth.stream),
    )
