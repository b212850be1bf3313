"""What happened in a stretch of time, counted (``app.journal.levels``): in the session
(``/api/v1/bins``), and in a recording that is played (``/api/v1/recording/bins``)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Protocol

import msgspec
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from starlette.responses import Response

from app.errors import RecordingError
from app.hub.filmwire import Counted
from app.hub.wire import SessionState
from app.journal.cut import Cut
from app.journal.levels import WIDTHS, Levels
from app.journal.marks import MARKS
from app.web.part import Part
from app.web.refusal import Json, Problem

PATH = "/api/v1/bins"
OF_RECORDING = "/api/v1/recording/bins"
MOST_BINS = 4096
MOST_PODS = 256
_NANOSECONDS = Field(ge=0, lt=2**53)


class BinsReport(Cut, frozen=True, kw_only=True):
    """A stretch of time in bins. Times of another ``session`` mean nothing in this one.

    ``t``: the session's time now (ns): what comes later is not in here. ``marks``: the kinds by
    their place, the worst last. ``known``: for each width there is, from when on all is known.
    """

    session: str
    t: int
    marks: tuple[str, ...]
    known: list[tuple[int, int]]


class BinsQuery(BaseModel):
    """Which stretch, how fine, and of which pods."""

    model_config = ConfigDict(extra="forbid")

    width: Annotated[
        int,
        Field(
            description="Width of a bin in nanoseconds, one of: "
            + ", ".join(str(width) for width in WIDTHS)
            + "."
        ),
    ]
    from_t: Annotated[int, _NANOSECONDS, Field(description="Begin, in session time (ns).")]
    to_t: Annotated[
        int, _NANOSECONDS, Field(description=f"End; at most {MOST_BINS} bins after the begin.")
    ]
    pod: Annotated[
        list[Annotated[str, Field(max_length=1024)]],
        Field(
            max_length=MOST_PODS,
            description=f"UID of a pod whose bins are wanted; repeat for several, {MOST_PODS} at "
            "most.",
        ),
    ] = []

    @field_validator("width")
    @classmethod
    def _offered(cls, given: int) -> int:
        if given not in WIDTHS:
            raise ValueError(f"It has to be one of {', '.join(str(width) for width in WIDTHS)}")
        return given

    @field_validator("to_t")
    @classmethod
    def _bounded(cls, given: int, info: ValidationInfo) -> int:
        begin, width = info.data.get("from_t"), info.data.get("width")
        if begin is None or width is None:
            return given
        if given <= begin:
            raise ValueError("It has to be after from_t")
        if (given - begin) // width >= MOST_BINS:
            raise ValueError(f"These are more than {MOST_BINS} bins. Ask for wider or fewer ones")
        return given


class RecordedBinsQuery(BinsQuery):
    """The same of a recording."""

    file: Annotated[
        list[str],
        Field(max_length=200, description="Name of a recording, as for /api/v1/recording."),
    ] = []
    node: Annotated[int, Field(ge=0, lt=200, description="Which node, counted from 0.")] = 0


class Recordings(Protocol):
    """Knows what was recorded. A refusal is a ``RecordingError`` with a sentence for people."""

    async def counted(
        self, files: Sequence[str], node: int, width: int, span: tuple[int, int], uids: list[str]
    ) -> Counted:
        """What happened from when to when (``span``, ns), in bins."""
        ...


Ask = Callable[[BinsQuery], Awaitable[BinsReport]]


def of_session(levels: Levels, state: Callable[[], SessionState]) -> Ask:
    """Bins of the records that came in this session."""

    async def ask(asked: BinsQuery) -> BinsReport:
        now = state()
        # A busy hour is some dozens of milliseconds of work.
        cut = await asyncio.to_thread(levels.cut, asked.width, asked.from_t, asked.to_t, asked.pod)
        return BinsReport(
            **msgspec.structs.asdict(cut),
            session=now.session,
            t=now.engine.t,
            marks=MARKS,
            known=list(levels.since().items()),
        )

    return ask


def of_given(library: Recordings, state: Callable[[], SessionState]) -> Ask:
    """Bins of what plegscope was started to play: it is counted where it is read."""

    async def ask(asked: BinsQuery) -> BinsReport:
        span = (asked.from_t, asked.to_t)
        cut = await library.counted((), 0, asked.width, span, asked.pod)
        told = msgspec.structs.asdict(cut)
        del told["reading"], told["layout"]
        return BinsReport(**told, session=state().session)

    return ask


def part(ask: Ask) -> Part:
    """The route of the session."""
    routes = APIRouter(default_response_class=Response)

    @routes.get(
        PATH,
        summary="What happened, counted in bins",
        tags=["node"],
        responses={422: {"description": "A parameter cannot be used."}},
    )
    async def bins(asked: Annotated[BinsQuery, Query()]) -> Response:
        """Also of times whose records are no longer kept. Nothing is left out: whatever happened
        is counted in its bin, and the kinds come in order, the worst last."""
        return Json(await ask(asked))

    return Part(routes, {(PATH, "200"): BinsReport, (PATH, "422"): Problem})


def add(
    routes: APIRouter,
    library: Recordings,
    *,
    names: Callable[[Sequence[str]], Sequence[str]],
    refused: Callable[[RecordingError], Response],
) -> None:
    """Add the route of a recording to those that begin with ``/api/v1``.

    ``names``: checks those of a link, raises RecordingError for what can be none.
    """

    @routes.get("/recording/bins", summary="What happened in it, counted in bins")
    async def recorded(asked: Annotated[RecordedBinsQuery, Query()]) -> Response:
        """As far as it has been read through, which goes on while it is played: up to ``t``."""
        try:
            files, span = names(asked.file), (asked.from_t, asked.to_t)
            cut = await library.counted(files, asked.node, asked.width, span, asked.pod)
        except RecordingError as error:
            return refused(error)
        return Json(cut)
