"""Runs side by side: the page with its form, and the comparison as JSON.

There is nothing of this where a real runtime is watched: what truly happened is known of a
simulated node only. Everything in a link is checked by whoever compares, and refused in a sentence.

Without scripts the page is the whole answer (``plain``): the server plays the runs while the
browser waits, and writes sentence, figures and differences. With them the page is a frame that asks
for the JSON, and meanwhile how far the runs are.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.requests import Request
from starlette.responses import Response

from app.engine.profiles import PROFILES
from app.errors import StageBusy, StageError, StageUnknown
from app.web.big import Readers
from app.web.part import Part
from app.web.refusal import Json, Problem
from app.web.runs import PRESS, StageLike, StagePages, pairs_of, while_there

MOST_PROFILES = 3
"""Runs that fit side by side, as ``app.stage.compare`` has it."""
MOST_PLAIN = 300
"""Differences on the page without scripts."""

FOUND_BY = {
    "evented_pleg": "hint",
    "post_sync": "after sync",
    "post_allocation": "after resize",
    "global": "global poll",
    "believed": "believed event",
}
"""Who found something, as the pages say it."""

Pairs = Sequence[tuple[str, str]]


class Comparing(Protocol):
    """Plays and compares (``app.stage.comparison``). What was asked for is its own affair."""

    @property
    def answers(self) -> Mapping[tuple[str, str], type[msgspec.Struct]]:
        """What the API answers, for OpenAPI."""
        ...

    def asked(self, pairs: Pairs) -> Any:
        """What a link asks for; raises ``StageError``."""
        ...

    async def report(self, asked: Any) -> msgspec.Struct:
        """The comparison; raises ``StageError``."""
        ...

    async def packed(self, asked: Any) -> bytes:
        """The comparison as gzipped JSON; raises ``StageError``."""
        ...

    def progress(self, asked: Any) -> msgspec.Struct:
        """How far the runs are."""
        ...


class ComparingStage(StageLike, Protocol):
    """A stage whose runs can be compared."""

    @property
    def comparisons(self) -> Comparing:
        """Who compares them."""
        ...


_PARAMETERS: list[dict[str, Any]] = [
    {"name": name, "in": "query", "required": False, "description": text, "schema": schema}
    for name, text, schema in (
        (
            "run",
            "The query of a run, two or three times: to compare forks.",
            {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        ),
        ("scenario", "Name of a scenario, as on `/scenarios`.", {"type": "string"}),
        (
            "profile",
            "Two or three profiles, in place of `run`.",
            {"type": "array", "items": {"enum": sorted(PROFILES)}, "maxItems": 3},
        ),
        ("seed", "The same for all of them.", {"type": "integer", "minimum": 0}),
        ("duration", "How long to play, such as `90s`.", {"type": "string"}),
        ("runtime", "Which runtime the simulated one behaves as.", {"type": "string"}),
        ("press", PRESS, {"type": "array", "items": {"type": "string"}, "maxItems": 50}),
        (
            "against",
            "The reference: a profile, or a number from 1 (default: the one that only polls).",
            {"type": "string"},
        ),
    )
]
_EXTRA: dict[str, Any] = {"parameters": _PARAMETERS}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    404: {"description": "There is no such scenario, or no stage here."},
    422: {"description": "It cannot be compared; the sentence says why."},
    503: {"description": "Too many runs are asked for at the same time."},
}
PATHS = ("/api/v1/compare", "/api/v1/compare/progress")


def api(comparing: Comparing) -> Part:
    """The comparison as JSON, and how far its runs are."""
    routes = APIRouter(
        prefix="/api/v1", tags=["runs"], default_response_class=Response, responses=_REFUSALS
    )

    readers = Readers()

    @routes.get("/compare", summary="Runs side by side", openapi_extra=_EXTRA)
    async def compare(request: Request) -> Response:
        """Plays two or three runs of the same simulated node, if that was not done before, and
        answers with what each made of what truly happened, aligned. A comparison follows from its
        parameters alone."""
        asked = comparing.asked(pairs_of(request))
        packed = await while_there(request, comparing.packed(asked))
        return Response(status_code=204) if packed is None else readers.answer(packed, request)

    @routes.get("/compare/progress", summary="How far compared runs are", openapi_extra=_EXTRA)
    async def progress(request: Request) -> Response:
        """Asks without wanting the runs themselves."""
        return Json(comparing.progress(comparing.asked(pairs_of(request))))

    refused = {(path, str(status)): Problem for path in PATHS for status in _REFUSALS}
    return Part(routes, {**comparing.answers, **refused})


def pages(stage: ComparingStage, rendered: StagePages) -> Part:
    """The page: a form, a comparison for scripts to fill, or all of one without scripts."""
    routes = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
    comparing = stage.comparisons

    def page(pairs: Pairs, status: int = 200, **shown: object) -> HTMLResponse:
        facts: dict[str, object] = {
            "scenarios": stage.scenarios(),
            "runtimes": stage.runtimes,
            "profiles": tuple(PROFILES.values()),
            "filled": _filled(pairs),
            "query": urlencode([pair for pair in pairs if pair[0] != "plain"], safe="!/"),
            "report": None,
            "problem": "",
            "asked": False,
            "found_by": FOUND_BY,
            "most_plain": MOST_PLAIN,
            "most_profiles": MOST_PROFILES,
            "premise": "",
        }
        return rendered.page("compare.html", partial=False, status=status, **(facts | shown))

    @routes.get("/compare")
    async def document(request: Request) -> Response:
        pairs = _spelt_out(pairs_of(request))
        if not any(key in ("run", "scenario", "profile") and value for key, value in pairs):
            return page(pairs)
        try:
            asked = comparing.asked(pairs)
            if not any(key == "plain" for key, _ in pairs):
                return page(pairs, asked=True, premise=asked.premise)
            report = await while_there(request, comparing.report(asked))
        except StageError as error:
            # The form stays as it was filled in.
            return page(pairs, _status(error), problem=str(error))
        if report is None:
            return Response(status_code=204)
        return page(pairs, asked=True, report=report, premise=asked.premise)

    return Part(routes, {})


def _spelt_out(pairs: Pairs) -> Pairs:
    """``profiles=kep,legacy``, as the command line has it, as the ``profile`` of each."""
    return [
        pair
        for key, value in pairs
        for pair in (
            [("profile", name) for name in value.split(",")[:10]]
            if key == "profiles"
            else [(key, value)]
        )
    ]


def _filled(pairs: Pairs) -> dict[str, Any]:
    """What the form shows: what was asked for, as far as it can show it."""
    told = {key: value[:64] for key, value in reversed(pairs)}
    profiles = [value for key, value in pairs if key == "profile" and value in PROFILES]
    return {
        **{
            key: told.get(key, "") for key in ("scenario", "seed", "duration", "runtime", "against")
        },
        "profiles": profiles or ["kep", "generic", "legacy"],
        "presses": [value for key, value in pairs if key == "press"],
    }


def _status(error: StageError) -> int:
    if isinstance(error, StageBusy):
        return 503
    return 404 if isinstance(error, StageUnknown) else 422
