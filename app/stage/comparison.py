"""Comparisons as they are asked for by a link, played, and handed out.

Two forms of a link: a ``run`` parameter for each run, which holds that run's own query (that is how
forks are compared), or ``scenario``, ``seed``, ``duration``, ``runtime`` and ``press`` once and a
``profile`` for each run (that is what the page's form sends). ``against``: the name of the
reference's profile, or its number from 1.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar
from urllib.parse import parse_qsl

import msgspec

from app.engine.profiles import PROFILES
from app.errors import StageError
from app.hub.runwire import RunProgress
from app.stage.compare import (
    FEWEST,
    MOST,
    Drawn,
    Row,
    Side,
    Tally,
    compare,
    names,
    reference,
)
from app.stage.comparewords import Parts, meaning, sentence
from app.stage.run import Run
from app.stage.runs import Runs
from app.stage.spec import RunSpec

MOST_QUERY = 8192
"""Characters of one run's query."""

HOW_MANY = f"Compare {FEWEST} or {MOST} runs: choose as many profiles."


class Asked(msgspec.Struct, frozen=True):
    """What a link asks for; ``against`` counts from 0."""

    specs: tuple[RunSpec, ...]
    against: int


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

    ``against``: number of the reference among ``runs``, from 0. ``sentence`` and ``meaning``: what
    it comes to, as (text, whether it is stressed). ``rows``: every happening, aligned by container
    and never by time, and what was told or cached that was not so; ``left_out`` of them are not
    there. ``matched`` happened in every run, ``drifted`` of these at another time than in the
    reference; ``unmatched`` did not happen in every run, and nothing is claimed about them.
    """

    scenario: str
    title: str
    seed: int
    duration_ns: int
    runs: tuple[ReportRun, ...]
    against: int
    sentence: Parts
    meaning: Parts
    rows: tuple[Row, ...]
    matched: int
    drifted: int
    unmatched: int
    left_out: int


class RunsProgress(msgspec.Struct, frozen=True):
    """How far the runs of a comparison are, in their order."""

    runs: tuple[RunProgress, ...]


Pairs = Sequence[tuple[str, str]]


class Comparisons:
    """Answers what links ask for.

    Args:
        runs: plays runs and keeps them.
        spec_of: reads a run's spec from a link's parameters; raises ``StageError``.
    """

    answers: ClassVar[dict[tuple[str, str], type[msgspec.Struct]]] = {
        ("/api/v1/compare", "200"): CompareReport,
        ("/api/v1/compare/progress", "200"): RunsProgress,
    }
    """What is answered where, for OpenAPI."""

    def __init__(self, runs: Runs, spec_of: Callable[[Iterable[tuple[str, str]]], RunSpec]) -> None:
        self._runs = runs
        self._spec_of = spec_of

    def asked(self, pairs: Pairs) -> Asked:
        """What a link's parameters ask for.

        Raises:
            StageError: they ask for nothing that can be compared; a sentence for people.
        """
        specs = tuple(self._spec_of(each) for each in _each(pairs))
        first = specs[0]
        for one in specs[1:]:
            if (one.scenario, one.seed, one.duration_ns) != (
                first.scenario,
                first.seed,
                first.duration_ns,
            ):
                raise StageError(
                    "These runs are not of the same node: compare runs with the same `scenario`, "
                    "`seed` and `duration`."
                )
        if len(set(specs)) < len(specs):
            raise StageError("The same run stands in this link twice; change one of them.")
        return Asked(specs, _against(pairs, specs))

    async def report(self, asked: Asked) -> CompareReport:
        """The comparison; plays what is not there yet.

        Raises:
            StageError: a run cannot be played; a sentence for people.
        """
        runs = [await self._runs.get(spec) for spec in asked.specs]
        return await asyncio.to_thread(report, runs, asked.against)

    def progress(self, asked: Asked) -> RunsProgress:
        """How far the runs are, without asking for them."""
        return RunsProgress(tuple(map(self._runs.progress, asked.specs)))

    def ready(self, asked: Asked) -> bool:
        """Whether all runs have been played and are kept."""
        return all(one.state == "ready" for one in self.progress(asked).runs)


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
        runs=tuple(
            _of_run(side, tally) for side, tally in zip(sides, compared.tallies, strict=True)
        ),
        against=against,
        sentence=sentence(called, compared),
        meaning=meaning(called, compared),
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


def _each(pairs: Pairs) -> list[list[tuple[str, str]]]:
    """The parameters of each run."""
    queries = [value for key, value in pairs if key == "run"]
    if queries:
        if not FEWEST <= len(queries) <= MOST:
            raise StageError(HOW_MANY)
        return [_pairs_of(query) for query in queries]
    profiles = [value for key, value in pairs if key == "profile" and value.strip()]
    if not FEWEST <= len(profiles) <= MOST:
        raise StageError(HOW_MANY)
    # A field of the form that was left empty says nothing.
    shared = [(key, value) for key, value in pairs if key != "profile" and value.strip()]
    return [[*shared, ("profile", profile)] for profile in profiles]


def _pairs_of(query: str) -> list[tuple[str, str]]:
    if len(query) > MOST_QUERY:
        raise StageError(f"`run` takes {MOST_QUERY} characters at most; leave some presses out.")
    try:
        return parse_qsl(query, max_num_fields=100)
    except ValueError as error:
        raise StageError("`run` has too many parameters; leave some presses out.") from error


def _against(pairs: Pairs, specs: Sequence[RunSpec]) -> int:
    given = next((value for key, value in pairs if key == "against" and value.strip()), None)
    profiles = [spec.profile for spec in specs]
    if given is None:
        return reference(profiles)
    if given in profiles:
        return profiles.index(given)
    if given in [str(number) for number in range(1, len(specs) + 1)]:
        return int(given) - 1
    raise StageError(
        f"`against`: choose one of {', '.join(dict.fromkeys(profiles))}, or a number from 1 to "
        f"{len(specs)}."
    )
