"""``/api/v1/bins``: what happened in a stretch of time, counted (``app.journal.levels``)."""

from collections.abc import Callable
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from starlette.responses import Response

from app.hub.wire import SessionState
from app.journal.levels import WIDTHS, Cut, Levels
from app.journal.marks import MARKS
from app.web.part import Part
from app.web.refusal import Json, Problem

PATH = "/api/v1/bins"
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


def part(levels: Levels, state: Callable[[], SessionState]) -> Part:
    """The route."""
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
        cut = levels.cut(asked.width, asked.from_t, asked.to_t, asked.pod)
        now = state()
        return Json(
            BinsReport(
                **msgspec.structs.asdict(cut),
                session=now.session,
                t=now.engine.t,
                marks=MARKS,
                known=list(levels.since().items()),
            )
        )

    return Part(routes, {(PATH, "200"): BinsReport, (PATH, "422"): Problem})
