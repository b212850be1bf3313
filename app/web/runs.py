"""Runs that are played ahead: the page that steps through one, the list of scenarios, and the API.

There is a stage for them in the demo only. Where a real node is watched plegscope must not burn the
node's CPU with simulations; there these addresses say how to get one.
"""

import asyncio
import itertools
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Protocol, TypeVar

from fastapi import APIRouter, Header, Query
from fastapi.responses import HTMLResponse
from starlette.requests import Request
from starlette.responses import Response

from app.engine.profiles import PROFILES
from app.errors import PlegscopeError
from app.hub.runwire import Played, RunProgress, RunRecords
from app.hub.wire import SessionState
from app.web.big import Readers
from app.web.desk import ButtonLike
from app.web.part import Part
from app.web.refusal import Json, Problem

T = TypeVar("T")
Pairs = Iterable[tuple[str, str]]

NO_STAGE = (
    "Runs are played by `plegscope demo` only, so that a node that is watched keeps its CPU. Start "
    "it on your own machine, and open this address there."
)
STAGE_PAGES = ("/run", "/scenarios", "/lessons", "/compare")
"""Pages that need a stage; without one they say how to get it."""


class _Title(NamedTuple):
    """What the node page's template wants to know of a state."""

    title: str
    speed: float = 1.0


class ScenarioLike(Protocol):
    """A scenario in a list."""

    @property
    def name(self) -> str:
        """What a link calls it."""
        ...

    @property
    def title(self) -> str:
        """In a line."""
        ...

    @property
    def shows(self) -> str:
        """What is to be seen, in a few sentences."""
        ...

    @property
    def seed(self) -> int:
        """Its own."""
        ...

    @property
    def duration_ns(self) -> int:
        """How long it plays."""
        ...

    @property
    def query(self) -> str:
        """Of a link to its run."""
        ...

    @property
    def shipped(self) -> bool:
        """Whether its name is enough for the command line."""
        ...

    @property
    def shelf(self) -> str:
        """The title that it stands under; those of one shelf follow each other."""
        ...


class StageLike(Protocol):
    """What the web asks of runs. A refusal is a ``StageError`` with a sentence for people."""

    @property
    def palette(self) -> Sequence[ButtonLike]:
        """Everything that can be pressed, in order."""
        ...

    @property
    def groups(self) -> Mapping[Any, str]:
        """Titles of the palette's groups, in order."""
        ...

    @property
    def runtimes(self) -> Sequence[str]:
        """Names of the runtimes that can be simulated."""
        ...

    def scenarios(self) -> Sequence[ScenarioLike]:
        """All that may be played."""
        ...

    def told(self, pairs: Pairs) -> Played:
        """What a link is about, without playing it."""
        ...

    async def records(self, pairs: Pairs) -> bytes:
        """The whole run, as gzipped JSON of ``RunRecords``."""
        ...

    async def state(self, pairs: Pairs, seq: int | None) -> SessionState:
        """The state as it was after record ``seq`` (None: after the last)."""
        ...

    def progress(self, pairs: Pairs) -> RunProgress:
        """How far a run is."""
        ...


class StagePages(Protocol):
    """Renders the pages."""

    def page(
        self, name: str, *, partial: bool, status: int = 200, **context: object
    ) -> HTMLResponse:
        """The template ``name``."""
        ...


PRESS = (
    "What is pressed when: `12.5s!break-stream`, or with a pod `3s!kill-container!shop/web-1`; "
    "`9s!heal` ends all faults. At most 50."
)
SPEC_PARAMETERS: list[dict[str, Any]] = [
    {"name": name, "in": "query", "required": required, "description": text, "schema": schema}
    for name, required, text, schema in (
        ("scenario", True, "Name of a scenario, as on `/scenarios`.", {"type": "string"}),
        (
            "seed",
            False,
            "Of everything that is drawn (default: the scenario's own).",
            {"type": "integer", "minimum": 0},
        ),
        (
            "profile",
            False,
            "Which PLEG to be (default: kep).",
            {"type": "string", "enum": sorted(PROFILES)},
        ),
        (
            "runtime",
            False,
            "Which runtime the simulated one behaves as (default: the scenario's own).",
            {"type": "string"},
        ),
        (
            "duration",
            False,
            "How long to play, such as `90s`, an hour at most (default: the scenario's own).",
            {"type": "string"},
        ),
        (
            "press",
            False,
            PRESS,
            {"type": "array", "items": {"type": "string"}, "maxItems": 50},
        ),
    )
]
_EXTRA: dict[str, Any] = {"parameters": SPEC_PARAMETERS}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    404: {"description": "There is no such scenario, or no stage here."},
    422: {"description": "It cannot be played; the sentence says why."},
    503: {"description": "Too many runs are asked for at the same time."},
}


def pairs_of(request: Request) -> list[tuple[str, str]]:
    """All parameters of a link, in order."""
    return request.query_params.multi_items()


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T | None:
    """The outcome of ``work``; None when whoever asked has left, and then it is cancelled.

    Raises:
        PlegscopeError: ``work`` did.
    """

    async def outcome() -> T | PlegscopeError:
        try:
            return await work
        except PlegscopeError as error:
            return error

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    async with asyncio.TaskGroup() as group:
        working = group.create_task(outcome(), name="run: play")
        leaving = group.create_task(gone(), name="run: asked for")
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        leaving.cancel()
    if working.cancelled():
        return None
    result = working.result()
    if isinstance(result, PlegscopeError):
        raise result
    return result


def api(stage: StageLike) -> Part:
    """The API of runs."""
    routes = APIRouter(
        prefix="/api/v1/run", tags=["runs"], responses=_REFUSALS, default_response_class=Response
    )

    readers = Readers()

    @routes.get("/records", summary="A whole run", openapi_extra=_EXTRA)
    async def records(request: Request) -> Response:
        """Plays a scenario in virtual time, if that was not done before, and answers with all its
        records, and what each of them changed in the header's state. A run follows from its
        parameters alone."""
        packed = await while_there(request, stage.records(pairs_of(request)))
        if packed is None:
            return Response(status_code=204)
        return readers.answer(packed, request)

    @routes.get("/state", summary="A moment of a run", openapi_extra=_EXTRA)
    async def state(
        request: Request,
        seq: Annotated[
            int | None,
            Query(ge=0, lt=2**31, description="After this record; 0: before the first."),
        ] = None,
    ) -> Response:
        """Everything the header shows, as it was after a record (the last, if none is named)."""
        answer = await while_there(request, stage.state(pairs_of(request), seq))
        return Response(status_code=204) if answer is None else Json(answer)

    @routes.get("/progress", summary="How far a run is", openapi_extra=_EXTRA)
    async def progress(request: Request) -> Response:
        """Asks without wanting the run itself: a run is played as long as somebody waits for it."""
        return Json(stage.progress(pairs_of(request)))

    return Part(
        routes,
        {
            ("/api/v1/run/records", "200"): RunRecords,
            ("/api/v1/run/state", "200"): SessionState,
            ("/api/v1/run/progress", "200"): RunProgress,
            **{
                (f"/api/v1/run/{name}", str(status)): Problem
                for name in ("records", "state", "progress")
                for status in _REFUSALS
            },
        },
    )


def pages(stage: StageLike, rendered: StagePages) -> Part:
    """The run's page, and the list of scenarios."""
    routes = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

    @routes.get("/run")
    async def run(request: Request) -> HTMLResponse:
        played = stage.told(pairs_of(request))
        return rendered.page(
            "run.html",
            partial=False,
            run=played,
            state=_Title(f"{played.title}, played ahead"),
            profile=PROFILES[played.profile],
            profiles=tuple(PROFILES.values()),
            palette=palette_of(stage),
        )

    @routes.get("/scenarios")
    async def scenarios(hx_request: Annotated[str, Header()] = "") -> HTMLResponse:
        return rendered.page(
            "scenarios.html",
            partial=hx_request == "true",
            shelves=[
                (title, list(some))
                for title, some in itertools.groupby(stage.scenarios(), lambda one: one.shelf)
            ],
            profiles=tuple(PROFILES.values()),
            runtimes=stage.runtimes,
        )

    return Part(routes, {})


def palette_of(stage: StageLike) -> list[tuple[str, list[ButtonLike]]]:
    """The palette by the titles of its groups; a group without buttons is left out."""
    groups = [
        (title, [button for button in stage.palette if button.group == key])
        for key, title in stage.groups.items()
    ]
    return [(title, buttons) for title, buttons in groups if buttons]


def nowhere(rendered: StagePages) -> Part:
    """Where there is no stage: pages and an API that say how to get one."""
    routes = APIRouter(include_in_schema=False, default_response_class=Response)

    async def page(request: Request) -> Response:
        asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return rendered.page("nostage.html", partial=False, status=404, asked=asked)

    for path in STAGE_PAGES:
        routes.add_api_route(path, page, methods=["GET"])

    @routes.get("/lessons/{rest:path}")
    async def lesson(request: Request) -> Response:
        return await page(request)

    @routes.get("/api/v1/compare")
    @routes.get("/api/v1/compare/progress")
    async def no_comparison() -> Response:
        return Json(Problem(NO_STAGE), 404)

    @routes.get("/api/v1/run/{rest:path}")
    async def no_api(rest: str) -> Response:  # noqa: ARG001  (the path has it)
        return Json(Problem(NO_STAGE), 404)

    return Part(routes, {})
