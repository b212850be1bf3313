"""Exports over HTTP: what is shown, a run, or a recording in reach, in a format of somebody else's.

An answer is written piece by piece and by a thread, few at a time, and ``/api/v1/exports`` tells
how far each is (``app.web.making``). A form without scripts leads here too, so a browser gets its
refusals as pages.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Protocol

import msgspec
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from app.errors import RecordingError
from app.web.making import BUSY, Desk, Made, MakingList
from app.web.moment import parse_moment
from app.web.part import Part
from app.web.refusal import Json, Problem
from app.web.renders import Refuses

MOST_FILES = 200

__all__ = ["BUSY", "WHOLE", "Asked", "Cut", "ExporterLike", "FormatName", "Made", "part"]

Pairs = Iterable[tuple[str, str]]
FormatName = Literal["perfetto", "chrome", "csv", "jsonl", "html"]


class Asked(BaseModel):
    """How to export. Other parameters are what a run follows from."""

    model_config = ConfigDict(extra="ignore")

    format: Annotated[
        FormatName,
        Field(
            description="`perfetto` (trace), `chrome` (JSON trace), `csv`, `jsonl`, or `html` (one "
            "page that opens without a server)."
        ),
    ]
    table: Annotated[
        Literal["lifecycle", "relists"], Field(description="Of `csv`: which of its two tables.")
    ] = "lifecycle"
    redact: Annotated[
        bool,
        Field(description="Replace names of pods, namespaces and nodes, UIDs, addresses, images."),
    ] = False
    container_names: Annotated[
        bool, Field(description="Replace the names of containers as well.")
    ] = False


class Cut(NamedTuple):
    """What of a recording is wanted: of which node (None: of all), from when to when (ns on the
    player's clock; None: from its beginning, to its end)."""

    node: int | None = 0
    from_t: int | None = None
    to_t: int | None = None

    @property
    def whole(self) -> bool:
        """Whether it is all there is of the first node, or of all."""
        return self in (WHOLE, Cut(None))


WHOLE = Cut()


class ExporterLike(Protocol):
    """Makes exports."""

    def live(self, asked: Asked) -> Made:
        """What the journal has now."""
        ...

    async def run(self, pairs: Pairs, asked: Asked) -> Made:
        """A run; raises StageError."""
        ...

    async def recording(self, files: Sequence[str], asked: Asked, cut: Cut) -> Made:
        """A recording in reach, or some of it; raises RecordingError."""
        ...


_REFUSALS: Mapping[int | str, dict[str, Any]] = {
    404: {"description": "There is no such thing here."},
    422: {"description": "It cannot be exported; the sentence says why."},
    503: {"description": "Too many exports are made at the same time."},
}


NO_TIME = (
    "`{}`: {!r} is no time; write it like 12.5s, 1m30s or 1:30, from the recording's beginning."
)
NO_STRETCH = "`to` is not after `from`: there is nothing between them. Give a later `to`."
_MOST_SHOWN = 40


def part(
    exporter: ExporterLike, *, runs: bool, recordings: bool, pages: Refuses | None = None
) -> Part:
    """The routes; ``runs`` and ``recordings``: whether there are any to export. ``pages``: tell a
    person's browser why there is no export."""
    routes = APIRouter(
        prefix="/api/v1",
        tags=["export"],
        responses=dict(_REFUSALS),
        default_response_class=Response,
    )
    desk = Desk(pages)
    paths = ["/api/v1/export"]

    @routes.get("/export", summary="What is shown, for somebody else")
    async def live(request: Request, asked: Annotated[Asked, Query()]) -> Response:
        """Everything that the journal has now, in a format that something else opens."""
        return desk.busy(request) or await desk.answer(request, exporter.live(asked))

    @routes.get("/exports", summary="The exports that are being made", responses={})
    async def making() -> Response:
        """How far each is; it is over when it is not among them any more."""
        return Json(desk.told())

    if runs:
        paths.append("/api/v1/run/export")

        @routes.get("/run/export", summary="A run, for somebody else")
        async def run(request: Request, asked: Annotated[Asked, Query()]) -> Response:
            """A whole run; it follows from the link's other parameters, as `/api/v1/run/records`
            has them."""
            if (busy := desk.busy(request)) is not None:
                return busy
            pairs = request.query_params.multi_items()
            return await desk.answer(request, await exporter.run(pairs, asked))

    if recordings:
        paths.append("/api/v1/recording/export")

        @routes.get("/recording/export", summary="A recording, for somebody else")
        async def recording(
            *,
            request: Request,
            asked: Annotated[Asked, Query()],
            file: Annotated[
                list[str] | None,
                Query(
                    max_length=MOST_FILES,
                    description="Name of a recording as in the list; several are played together, "
                    "and those of one node exported as one.",
                ),
            ] = None,
            node: Annotated[
                Annotated[int, Field(ge=0, lt=MOST_FILES)] | Literal["all"],
                Query(
                    description="Which node, counted from 0, or `all` of them: in one file, or for "
                    "`jsonl` in an archive with a file for each."
                ),
            ] = 0,
            since: Annotated[
                str,
                Query(alias="from", description="Time from which on, such as `12.5s` or `1m30s`."),
            ] = "",
            to: Annotated[str, Query(description="Time up to which.")] = "",
        ) -> Response:
            """A recording, from its beginning to its end or from one time to another: times are
            those of the player. What is needed to read a part alone stands before it."""
            if (busy := desk.busy(request)) is not None:
                return busy
            try:
                cut = _cut(None if node == "all" else node, since, to)
                made = await exporter.recording(file or (), asked, cut)
            except RecordingError as error:
                return desk.wrong(request, error)
            return await desk.answer(request, made)

    answers: dict[tuple[str, str], type[msgspec.Struct]] = {
        (path, str(status)): Problem for path in paths for status in _REFUSALS
    }
    answers[("/api/v1/exports", "200")] = MakingList
    return Part(routes, answers)


def _cut(node: int | None, since: str, to: str) -> Cut:
    """Raises RecordingError for what is no time."""
    from_t, to_t = _time("from", since), _time("to", to)
    if to_t is not None and to_t <= (from_t or 0):
        raise RecordingError(NO_STRETCH)
    return Cut(node, from_t, to_t)


def _time(name: str, text: str) -> int | None:
    if not text.strip():
        return None
    t = parse_moment(text)
    if t is None:
        raise RecordingError(NO_TIME.format(name, text[:_MOST_SHOWN]))
    return t
