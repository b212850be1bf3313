"""The API of recordings in reach, and taking files that are dropped on the page.

Markers are the one thing of a recording that can be changed: a note at a time, saved beside it.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from app.errors import RecordingError
from app.hub.filmwire import Counted, FilmTold, Found, Markers, Piece, RecordingList, Sought, Taken
from app.web import bins
from app.web.big import Readers
from app.web.body import Refused
from app.web.faults import Allowance, fields
from app.web.library import MOST_NAME, Files, LibraryLike, Node, names_of, refusal
from app.web.part import Part
from app.web.refusal import Json, Problem

MARKERS = "/api/v1/recording/markers"
"""The one address here that takes POST."""

DROPPED = "/api/v1/recordings/dropped"
"""Takes a file; only where plegscope was started to play."""

PACE = 32 * 1024
"""Bytes a second that a file comes with at least, from ``PATIENCE_S`` after its beginning on."""
PATIENCE_S = 15.0
"""How long the next bytes of a file may take."""

_REFUSALS: dict[int | str, dict[str, Any]] = {
    404: {"description": "It is not in reach, or has no such part."},
    422: {"description": "It cannot be played; the sentence says why."},
}
NO_MARKER = "Send `t` (ns) and `note` to put a marker, or `remove` (its number) to take one away."


def api(library: LibraryLike) -> Part:
    """The API of recordings."""
    routes = APIRouter(
        prefix="/api/v1", tags=["recordings"], responses=_REFUSALS, default_response_class=Response
    )
    allowance = Allowance()

    @routes.get("/recordings", summary="The recordings in reach")
    async def listing() -> Response:
        """Those that plegscope was started with, or those of the flight recorder."""
        return Json(await library.listing())

    @routes.get("/recording", summary="What is played")
    async def told(
        file: Files = [],  # noqa: B006  (FastAPI copies it)
        node: Node = 0,
        since: Annotated[int, Query(ge=0, description="Pieces are told from this one.")] = 0,
    ) -> Response:
        """A recording at a glance. While it is being read it can be played as far as it is told;
        ask again until it is ``whole``."""
        try:
            return Json(await library.told(names_of(file), node, since))
        except RecordingError as error:
            return refusal(error)

    readers = Readers()

    @routes.get("/recording/piece", summary="Some records of it")
    async def piece(
        request: Request,
        number: Annotated[int, Query(ge=0, description="Which piece, counted from 0.")],
        file: Files = [],  # noqa: B006
        node: Node = 0,
    ) -> Response:
        """A piece: records, the state and the pods before them, and what each changed."""
        try:
            packed = await library.piece(names_of(file), node, number)
        except RecordingError as error:
            return refusal(error)
        return readers.answer(packed, request)

    @routes.get("/recording/find", summary="The next record of a kind")
    async def find(
        *,
        what: Annotated[
            Literal["relist", "pod", "incident"],
            Query(description="The end of a relist, anything about a pod, or an incident."),
        ],
        seq: Annotated[int, Query(ge=0, lt=2**53, description="Where to look from.")],
        back: Annotated[bool, Query(description="Look back.")] = False,
        uid: Annotated[str, Query(max_length=MOST_NAME, description="Of the pod.")] = "",
        file: Files = [],  # noqa: B006
        node: Node = 0,
    ) -> Response:
        """The record after ``seq``, or before it, that tells of something."""
        try:
            sought = Sought(what=what, seq=seq, back=back, uid=uid)
            return Json(await library.find(names_of(file), node, sought))
        except RecordingError as error:
            return refusal(error)

    @routes.get("/recording/markers", summary="The markers of a recording")
    async def markers(file: Files = []) -> Response:  # noqa: B006
        """Places in it with a note."""
        try:
            return Json(await library.markers(names_of(file)))
        except RecordingError as error:
            return refusal(error)

    @routes.post("/recording/markers", summary="Put a marker, or take one away")
    async def mark(request: Request, file: Files = []) -> Response:  # noqa: B006
        """``t`` (ns) and ``note``, or ``remove``: a marker's number. They are saved beside the
        recording, if that can be written."""
        given = await fields(request)
        allowance.take()
        try:
            return Json(await _change(library, names_of(file), given))
        except RecordingError as error:
            return refusal(error)

    bins.add(routes, library, names=names_of, refused=refusal)

    answers: dict[tuple[str, str], Any] = {
        ("/api/v1/recordings", "200"): RecordingList,
        (bins.OF_RECORDING, "200"): Counted,
        ("/api/v1/recording", "200"): FilmTold,
        ("/api/v1/recording/piece", "200"): Piece,
        ("/api/v1/recording/find", "200"): Found,
        (MARKERS, "200"): Markers,
        (f"POST {MARKERS}", "200"): Markers,
    }
    for path in ("", "/bins", "/piece", "/find", "/markers"):
        for status in _REFUSALS:
            answers[f"/api/v1/recording{path}", str(status)] = Problem
    return Part(routes, answers, changes=(MARKERS,))


def drop(library: LibraryLike, *, guarded: bool = True) -> Part:
    """Taking files that are dropped on the page. ``guarded``: only who has a token sees them; else
    they have to be of a simulated node."""
    routes = APIRouter(tags=["recordings"], responses=_REFUSALS, default_response_class=Response)

    @routes.post(DROPPED, summary="Open a file")
    async def dropped(
        request: Request,
        name: Annotated[str, Query(max_length=MOST_NAME, description="What it is called.")],
    ) -> Response:
        """The file itself is the body. It is kept until plegscope ends, and nowhere else."""
        try:
            return Json(
                Taken(await library.receive(name, _body(request), simulated_only=not guarded))
            )
        except RecordingError as error:
            answer = refusal(error)
            # The rest of it is not read.
            answer.headers["Connection"] = "close"
            return answer

    answers: dict[tuple[str, str], Any] = {(f"POST {DROPPED}", "200"): Taken}
    return Part(routes, answers, changes=(DROPPED,))


async def _body(request: Request) -> AsyncIterator[bytes]:
    parts = request.stream()
    # One file comes at a time: whoever sends a byte now and then must not keep the others away.
    now = asyncio.get_running_loop().time
    until = now() + PATIENCE_S
    while True:
        try:
            async with asyncio.timeout_at(min(until, now() + PATIENCE_S)):
                part = await anext(parts, None)
        except (TimeoutError, ClientDisconnect):
            raise RecordingError("The rest of this file did not come. Drop it again.") from None
        if part is None:
            return
        until += len(part) / PACE
        yield part


async def _change(library: LibraryLike, files: Sequence[str], given: dict[str, Any]) -> Markers:
    match given:
        case {"t": int(t), "note": str(note)} if len(given) == 2 and not isinstance(t, bool):
            return await library.mark(files, t, note)
        case {"remove": int(number)} if len(given) == 1 and not isinstance(number, bool):
            return await library.unmark(files, number)
        case _:
            raise Refused(422, NO_MARKER)
