"""Comparisons as they are asked for by a link, played, and handed out.

Two forms of a link: a ``run`` parameter for each run, which holds that run's own query (that is how
forks are compared), or ``scenario``, ``seed``, ``duration``, ``runtime`` and ``press`` once and a
``profile`` for each run (that is what the page's form sends). ``against``: the name of the
reference's profile, or its number from 1.
"""

import gzip
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar
from urllib.parse import parse_qsl

import msgspec

from app.errors import StageError
from app.hub.encode import encode
from app.hub.runwire import RunProgress
from app.stage.compare import FEWEST, MOST, reference
from app.stage.comparereport import CompareReport, report
from app.stage.once import Once
from app.stage.runnames import premise
from app.stage.runs import Runs
from app.stage.spec import RunSpec

MOST_QUERY = 8192
"""Characters of one run's query."""

MOST_READY = 8
"""Packed comparisons that are kept at hand."""

LEVEL = 4
"""How hard gzip tries."""


def how_many(number: int, what: str) -> str:
    """What to say when so many are asked for, and that cannot be compared."""
    there = f"{number} {what} is" if number == 1 else f"{number or 'no'} {what}s are"
    return f"Two or three {what}s can be compared, and {there} chosen: choose {FEWEST} or {MOST}."


class Asked(msgspec.Struct, frozen=True):
    """What a link asks for; ``against`` counts from 0."""

    specs: tuple[RunSpec, ...]
    against: int

    @property
    def premise(self) -> str:
        """What is the same in all runs, and what is not."""
        return premise(self.specs)


class RunsProgress(msgspec.Struct, frozen=True):
    """How far the runs of a comparison are, in their order."""

    runs: tuple[RunProgress, ...]


Pairs = Sequence[tuple[str, str]]


class Comparisons:
    """Answers what links ask for.

    Args:
        runs: plays runs and keeps them.
        spec_of: reads a run's spec from a link's parameters; raises ``StageError``.
        once: makes them.
    """

    answers: ClassVar[dict[tuple[str, str], type[msgspec.Struct]]] = {
        ("/api/v1/compare", "200"): CompareReport,
        ("/api/v1/compare/progress", "200"): RunsProgress,
    }
    """What is answered where, for OpenAPI."""

    def __init__(
        self,
        runs: Runs,
        spec_of: Callable[[Iterable[tuple[str, str]]], RunSpec],
        once: Once | None = None,
    ) -> None:
        self._once = Once() if once is None else once
        self._packed: OrderedDict[Asked, bytes] = OrderedDict()
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
        return await self._once.get(("report", asked), lambda: report(runs, asked.against))

    async def packed(self, asked: Asked) -> bytes:
        """The comparison as gzipped JSON of ``CompareReport``, made once and kept for a while.

        Raises:
            StageError: a run cannot be played; a sentence for people.
        """
        packed = self._packed.get(asked)
        if packed is None:
            runs = [await self._runs.get(spec) for spec in asked.specs]
            packed = await self._once.get(
                ("packed", asked),
                lambda: gzip.compress(encode(report(runs, asked.against)), LEVEL, mtime=0),
            )
            self._packed[asked] = packed
        self._packed.move_to_end(asked)
        while len(self._packed) > MOST_READY:
            self._packed.popitem(last=False)
        return packed

    def progress(self, asked: Asked) -> RunsProgress:
        """How far the runs are, without asking for them."""
        return RunsProgress(tuple(map(self._runs.progress, asked.specs)))

    def ready(self, asked: Asked) -> bool:
        """Whether all runs have been played and are kept."""
        return all(one.state == "ready" for one in self.progress(asked).runs)


def _each(pairs: Pairs) -> list[list[tuple[str, str]]]:
    """The parameters of each run."""
    queries = [value for key, value in pairs if key == "run"]
    if queries:
        if not FEWEST <= len(queries) <= MOST:
            raise StageError(how_many(len(queries), "run"))
        return [_pairs_of(query) for query in queries]
    profiles = [value for key, value in pairs if key == "profile" and value.strip()]
    if not FEWEST <= len(profiles) <= MOST:
        raise StageError(how_many(len(profiles), "profile"))
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
