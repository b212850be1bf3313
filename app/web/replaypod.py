"""A pod at a moment of its recording: how it was, and what had happened to it. A page of its own, a
panel of the player, and JSON.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Protocol

from fastapi import APIRouter, Header, Query
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from app.errors import RecordingError
from app.hub.podthen import PodThen
from app.web import story
from app.web.moment import in_words, parse_t
from app.web.part import Part
from app.web.refusal import Json, Problem
from app.web.renders import RendersPods

PATH = "/replay/pod"
API = "/api/v1/recording/pod"

NOT_THEN = (
    "This pod is not there at {}: it had not been seen by then, or was gone. Move the cursor to "
    "where it has a lane."
)

Files = Annotated[list[str] | None, Query(alias="file", max_length=200)]
Node = Annotated[int, Query(ge=0, lt=200, description="Which node, counted from 0.")]
Uid = Annotated[str, Query(max_length=255, description="Of the pod.")]
When = Annotated[
    str,
    Query(
        max_length=40,
        description="From the recording's beginning: ns, or as in 1m30s; empty: at its end.",
    ),
]


class Pods(Protocol):
    """Knows how a pod was. A refusal is a ``RecordingError`` with a sentence for people."""

    async def pod(self, files: Sequence[str], node: int, uid: str, t: int | None) -> PodThen:
        """How a pod was at ``t`` (ns; None: at the end), and what had happened to it."""
        ...


def part(
    library: Pods,
    rendered: RendersPods,
    *,
    names: Callable[[Sequence[str]], Sequence[str]],
    query_of: Callable[[Sequence[str], int], str],
    status: Callable[[RecordingError], int],
) -> Part:
    """The page and the JSON; ``names``: what is made of those in a link, raises
    RecordingUnknown."""
    routes = APIRouter(default_response_class=Response)

    @routes.get(API, tags=["recordings"], summary="A pod at a moment of a recording")
    async def told(uid: Uid, t: When = "", file: Files = None, node: Node = 0) -> Response:
        """How it was, with what had been told of it up to then."""
        try:
            return Json(await library.pod(names(file or []), node, uid, parse_t(t)))
        except RecordingError as error:
            return Json(Problem(str(error)), status(error))

    @routes.get(PATH, include_in_schema=False)
    async def page(
        uid: Uid,
        t: When = "",
        file: Files = None,
        node: Node = 0,
        hx_request: Annotated[str, Header()] = "",
    ) -> HTMLResponse:
        partial = hx_request == "true"
        try:
            files = names(file or [])
            then = await library.pod(files, node, uid, parse_t(t))
        except RecordingError as error:
            return rendered.refused(status(error), str(error))
        words = in_words(then.t)
        if then.pod is None:
            if not partial:
                return rendered.refused(404, NOT_THEN.format(words))
            return rendered.page("pod-gone.html", partial=True, sentence=NOT_THEN.format(words))
        return rendered.pod(
            then.pod,
            then.records,
            partial=partial,
            places=story.played_places(uid, then.t, query_of(files, node)),
            t=then.t,
            wall=then.wall,
            then=words,
        )

    return Part(routes, {(API, "200"): PodThen, (API, "404"): Problem, (API, "422"): Problem})
