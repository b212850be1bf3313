"""The first minute on a node, at a moment of its recording: how it was, what had just ended, what
was slow, what there was. A page of its own, and a panel of the player.

Where plegscope was started to play, ``/now`` leads here: to the time it names, or
the end of what is played.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Protocol
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Query
from fastapi.responses import HTMLResponse
from starlette.responses import RedirectResponse, Response

from app.errors import RecordingError
from app.hub.filmwire import FilmTold, Moment
from app.web import nowfacts
from app.web.moment import in_words, parse_t
from app.web.renders import RendersPages

PATH = "/replay/now"

BETWEEN_NS = 1_000_000_000
"""A recording that ended, or begins, so shortly before or after is there."""


class Moments(Protocol):
    """Knows how a node was. A refusal is a ``RecordingError`` with a sentence for people."""

    async def told(self, files: Sequence[str], node: int, since: int) -> FilmTold:
        """What is played."""
        ...

    async def moment(
        self, files: Sequence[str], node: int, t: int | None, recent_ns: int
    ) -> Moment:
        """How it was at ``t`` (ns; None: at the end)."""
        ...


class Names(Protocol):
    """What the pages of recordings make of names in a link."""

    def __call__(self, files: Sequence[str]) -> Sequence[str]:
        """The names; raises RecordingUnknown for what can be none."""
        ...


def add(
    routes: APIRouter,
    library: Moments,
    rendered: RendersPages,
    *,
    names: Names,
    query_of: Callable[[Sequence[str], int], str],
    refused: Callable[[RecordingError], HTMLResponse],
    home: str | None,
) -> None:
    """Add the page to ``routes``; ``home``: where ``/now`` leads, None where there is another."""

    @routes.get(PATH)
    async def now(
        file: Annotated[list[str] | None, Query(max_length=200)] = None,
        node: Annotated[int, Query(ge=0, lt=200)] = 0,
        t: Annotated[str, Query(max_length=40)] = "",
        hx_request: Annotated[str, Header()] = "",
    ) -> HTMLResponse:
        try:
            files = names(file or [])
            told = await library.told(files, node, 1 << 31)
            moment = await library.moment(files, node, parse_t(t), nowfacts.RECENT_NS)
        except RecordingError as error:
            return refused(error)
        context = facts(moment)
        return rendered.page(
            "replay-now.html",
            partial=hx_request == "true",
            status=200,
            title=told.title,
            query=query_of(files, node),
            words=in_words(moment.t),
            **context,
        )

    if home is not None:

        @routes.get("/now")
        async def leads(t: Annotated[str, Query(max_length=40)] = "") -> Response:
            return RedirectResponse(f"{home}?{urlencode({'t': t})}" if t else home, 303)


def facts(moment: Moment) -> dict[str, object]:
    """What the template wants to know of a moment."""
    t, pods, records = moment.t, moment.pods, moment.records
    ended = nowfacts.deaths(records, pods, t)
    table, boxless = nowfacts.rows(pods), nowfacts.without_sandbox(pods)
    gap = moment.unrecorded
    return {
        "moment": moment,
        "state": moment.state,
        "gone_ns": None if gap is None else gap[1] - gap[0],
        "past_ns": _beyond(t - moment.ended_t) if moment.known else 0,
        "unread": not moment.known and t > moment.ended_t,
        "before_ns": _beyond(moment.began_t - t),
        "verdict": nowfacts.verdict(moment.state, records),
        "deaths": ended[: nowfacts.MOST_DEATHS],
        "more_deaths": max(0, len(ended) - nowfacts.MOST_DEATHS),
        "total": len(ended),
        "found": nowfacts.by_finding(ended),
        "slowest": nowfacts.slowest(records, pods, moment.state),
        "boxless": boxless[: nowfacts.MOST_BOXLESS],
        "more_boxless": max(0, len(boxless) - nowfacts.MOST_BOXLESS),
        "rows": table[: nowfacts.MOST_ROWS],
        "more_rows": max(0, len(table) - nowfacts.MOST_ROWS),
        "pod_count": sum(pod.gone_t is None for pod in pods),
        "recent_ns": nowfacts.RECENT_NS,
    }


def _beyond(ns: int) -> int:
    return ns if ns > BETWEEN_NS else 0
