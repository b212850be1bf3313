"""The first minute on a node: how it is, what just ended, what is slow, what there is; and saving
the last minutes after the fact.

``/now`` is a page of its own, and htmx puts its inside into a panel of the node page and brings it
up to date every few seconds.
"""

import re
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Header
from fastapi.responses import HTMLResponse
from starlette.responses import Response, StreamingResponse

from app.errors import RecordingError
from app.hub.wire import PodRow, SessionState
from app.journal.journal import Journal
from app.web import livechain, nowfacts
from app.web.part import Part
from app.web.renders import Renders
from app.web.repeat import view_of

PATH = "/now"

MOST_NAME = 80
"""Letters of a node's title that a file is called by."""

_ODD = re.compile(r"[^A-Za-z0-9.]+")

NOT_RECORDED = (
    "Nothing is recorded, so there is no recording to save. Save the records as JSON lines, or "
    "start plegscope without --no-record."
)


class Saving(NamedTuple):
    """How the last minutes are saved.

    ``lines``: records from a time (t) on as JSON lines, with what it takes to read them alone.
    ``recording``: the same as a recording (MCAP); raises RecordingError.
    """

    lines: Callable[[int], Iterator[bytes]]
    recording: Callable[[int], Awaitable[bytes]]


def part(
    pages: Renders,
    *,
    state: Callable[[], SessionState],
    pods: Callable[[], Sequence[PodRow]],
    journal: Journal,
    saving: Saving,
    command: str,
) -> Part:
    """The page, and what it saves. ``command``: the command line that shows the same again."""
    routes = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

    @routes.get(PATH)
    async def now(
        hx_request: Annotated[str, Header()] = "", hx_current_url: Annotated[str, Header()] = ""
    ) -> HTMLResponse:
        is_now, there = state(), pods()
        t = is_now.engine.t
        records = nowfacts.recent(journal, t - nowfacts.RECENT_NS)
        ended = nowfacts.deaths(records, there, t)
        table, boxless = nowfacts.rows(there), nowfacts.without_sandbox(there)
        return pages.page(
            "now.html",
            partial=hx_request == "true",
            state=is_now,
            verdict=nowfacts.verdict(is_now, records),
            deaths=ended[: nowfacts.MOST_DEATHS],
            more_deaths=max(0, len(ended) - nowfacts.MOST_DEATHS),
            total=len(ended),
            found=nowfacts.by_finding(ended),
            slowest=nowfacts.slowest(records, there, is_now),
            boxless=boxless[: nowfacts.MOST_BOXLESS],
            more_boxless=max(0, len(boxless) - nowfacts.MOST_BOXLESS),
            rows=table[: nowfacts.MOST_ROWS],
            more_rows=max(0, len(table) - nowfacts.MOST_ROWS),
            pod_count=sum(pod.gone_t is None for pod in there),
            command=command,
            view=view_of(hx_current_url),
            recent_ns=nowfacts.RECENT_NS,
        )

    @routes.get(f"{PATH}/picture")
    async def picture() -> Response:
        t = state().engine.t
        chain = livechain.newest(nowfacts.recent(journal, t - nowfacts.RECENT_NS), pods(), t)
        if chain is None:
            return Response(status_code=204)
        return pages.page(
            "help-picture.html",
            partial=True,
            chain=chain,
            stop_x=livechain.STOP_X,
            found_x=livechain.FOUND_X,
            poll_x=livechain.POLL_X,
        )

    @routes.get(f"{PATH}/records.jsonl")
    async def lines() -> Response:
        since = state().engine.t - nowfacts.RECENT_NS
        return StreamingResponse(
            saving.lines(since), media_type="application/jsonl", headers=_named(state(), "jsonl")
        )

    @routes.get(f"{PATH}/recording.mcap")
    async def recording() -> Response:
        is_now = state()
        if is_now.recording is None or not is_now.recording.file:
            return pages.refused(404, NOT_RECORDED)
        try:
            data = await saving.recording(is_now.engine.t - nowfacts.RECENT_NS)
        except RecordingError as error:
            return pages.refused(404, str(error))
        return Response(data, media_type="application/octet-stream", headers=_named(is_now, "mcap"))

    return Part(routes, {})


def _named(state: SessionState, ending: str) -> dict[str, str]:
    """Headers that make a file of an answer, named by the node and by when it was asked for."""
    node = _ODD.sub("-", state.title[:MOST_NAME]).strip("-.").lower()
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return {
        "Content-Disposition": f'attachment; filename="plegscope-{node}-{stamp}.{ending}"',
        "Cache-Control": "no-store",
    }
