"""What the runtime had said of a pod, word for word: a page, a part of the pod's page, and JSON.

Of a recording at any moment (below ``/replay`` and ``/api/v1/recording``), of a node that is
watched from what its recorder has written.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from app.errors import RecordingError, RecordingUnknown
from app.hub.received import Asked, Received
from app.web.part import Part
from app.web.refusal import Json, Problem
from app.web.renders import Renders

PATH = "/received"
"""Of the node that is watched; of a recording below ``/replay``."""

SUMMARY = "What the runtime had said of a pod"
MOST_ID = 255


class Recordings(Protocol):
    """Knows what the runtime had said. A refusal is a ``RecordingError`` with a sentence."""

    async def received(self, files: Sequence[str], node: int, asked: Asked) -> Received:
        """What the runtime had said of a pod by a moment."""
        ...


def _asked(
    t: Annotated[
        int, Query(ge=-(2**63), lt=2**63, description="By when (ns, as records have it).")
    ],
    uid: Annotated[str, Query(max_length=MOST_ID, description="Of the pod.")],
    item_id: Annotated[
        str,
        Query(
            alias="id",
            max_length=MOST_ID,
            description="Of one container or sandbox; empty: of all.",
        ),
    ] = "",
    what: Annotated[
        Literal["container", "sandbox"], Query(description="Which of the two it is.")
    ] = "container",
) -> Asked:
    return Asked(t=t, uid=uid, id=item_id, what=what)


AskedOf = Annotated[Asked, Depends(_asked)]
Files = Annotated[list[str] | None, Query(alias="file", max_length=200)]
Node = Annotated[int, Query(ge=0, lt=200, description="Which node, counted from 0.")]


def of_recordings(
    library: Recordings, rendered: Renders, names: Callable[[Sequence[str]], Sequence[str]]
) -> Part:
    """Of recordings; ``names``: what is made of those in a link, raises RecordingUnknown."""
    routes = APIRouter(default_response_class=Response)

    @routes.get(
        f"/api/v1/recording{PATH}",
        tags=["recordings"],
        summary="What the runtime had said of a pod",
    )
    async def told(asked: AskedOf, file: Files = None, node: Node = 0) -> Response:
        """Rows of its lists, statuses and the last event about a pod, or about one container of
        it, as they were received."""
        return await _json(lambda: library.received(names(file or []), node, asked))

    @routes.get(f"/replay{PATH}", include_in_schema=False)
    async def page(
        asked: AskedOf,
        file: Files = None,
        node: Node = 0,
        hx_request: Annotated[str, Header()] = "",
    ) -> HTMLResponse:
        return await _page(
            lambda: library.received(names(file or []), node, asked),
            rendered,
            partial=hx_request == "true",
        )

    return Part(routes, _answers(f"/api/v1/recording{PATH}"))


def of_a_node(ask: Callable[[Asked], Awaitable[Received]], rendered: Renders) -> Part:
    """Of the node that is watched."""
    routes = APIRouter(default_response_class=Response)

    @routes.get(f"/api/v1{PATH}", tags=["node"], summary=SUMMARY)
    async def told(asked: AskedOf) -> Response:
        """Rows of its lists, statuses and the last event about a pod, or about one container of
        it, as they were received; from what was recorded of them."""
        return await _json(lambda: ask(asked))

    @routes.get(PATH, include_in_schema=False)
    async def page(asked: AskedOf, hx_request: Annotated[str, Header()] = "") -> HTMLResponse:
        return await _page(lambda: ask(asked), rendered, partial=hx_request == "true")

    return Part(routes, _answers(f"/api/v1{PATH}"))


def _answers(path: str) -> dict[tuple[str, str], Any]:
    return {(path, "200"): Received, (path, "404"): Problem, (path, "422"): Problem}


async def _json(ask: Callable[[], Awaitable[Received]]) -> Response:
    try:
        return Json(await ask())
    except RecordingError as error:
        return Json(Problem(str(error)), _status(error))


async def _page(
    ask: Callable[[], Awaitable[Received]], rendered: Renders, *, partial: bool
) -> HTMLResponse:
    told: Received | None = None
    try:
        told = await ask()
        trouble = told.trouble
    except RecordingError as error:
        if not partial:
            return rendered.refused(_status(error), str(error))
        trouble = str(error)
    return rendered.page("received.html", partial=partial, told=told, trouble=trouble)


def _status(error: RecordingError) -> int:
    return 404 if isinstance(error, RecordingUnknown) else 422
