"""Recordings: the page that plays one, the list of those in reach, and the API of both.

A recording is named by its file's name (``file``, several times for several files); the server
looks it up among what is in reach, so nothing that a link says is a path. Markers are the one thing
that can be changed: a note at a time, saved beside the recording.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Protocol, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Query
from fastapi.responses import HTMLResponse
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from app.engine.profiles import PROFILES
from app.errors import RecordingError, RecordingUnknown
from app.hub.filmwire import (
    Counted,
    FilmTold,
    Found,
    Markers,
    Moment,
    Piece,
    RecordingList,
    Sought,
    Taken,
)
from app.hub.podthen import PodThen
from app.hub.received import Asked, Received
from app.web import bins, received, replaynow, replaypod
from app.web.big import Readers
from app.web.body import Refused
from app.web.faults import Allowance, fields
from app.web.part import Part
from app.web.refusal import Json, Problem
from app.web.renders import RendersPods

MARKERS = "/api/v1/recording/markers"
"""The one address here that takes POST."""

DROPPED = "/api/v1/recordings/dropped"
"""Takes a file; only where plegscope was started to play."""

PACE = 32 * 1024
"""Bytes a second that a file comes with at least, from ``PATIENCE_S`` after its beginning on."""
PATIENCE_S = 15.0
"""How long the next bytes of a file may take."""

MOST_FILES = 200
MOST_NAME = 255

_REFUSALS: dict[int | str, dict[str, Any]] = {
    404: {"description": "It is not in reach, or has no such part."},
    422: {"description": "It cannot be played; the sentence says why."},
}
NO_MARKER = "Send `t` (ns) and `note` to put a marker, or `remove` (its number) to take one away."

Files = Annotated[
    list[str],
    Query(
        alias="file",
        max_length=MOST_FILES,
        description="Name of a recording as in the list; several are played together. None: what "
        "plegscope was started with.",
    ),
]
Node = Annotated[int, Query(ge=0, lt=MOST_FILES, description="Which node, counted from 0.")]


class LibraryLike(Protocol):
    """The recordings in reach. A refusal is a ``RecordingError`` with a sentence for people."""

    @property
    def was_given(self) -> bool:
        """Whether plegscope was started with something to play."""
        ...

    async def listing(self) -> RecordingList:
        """What can be opened."""
        ...

    async def paths(self, files: Sequence[str]) -> Sequence[Path]:
        """The files of a recording."""
        ...

    async def told(self, files: Sequence[str], node: int, since: int) -> FilmTold:
        """What is played, with the table of pieces from number ``since``."""
        ...

    async def piece(self, files: Sequence[str], node: int, number: int) -> bytes:
        """A piece as gzipped JSON of ``Piece``."""
        ...

    async def counted(
        self, files: Sequence[str], node: int, width: int, span: tuple[int, int], uids: list[str]
    ) -> Counted:
        """What happened from when to when (``span``, ns), in bins."""
        ...

    async def find(self, files: Sequence[str], node: int, sought: Sought) -> Found:
        """The nearest record of a kind."""
        ...

    async def receive(
        self, name: str, body: AsyncIterator[bytes], *, simulated_only: bool = False
    ) -> str:
        """Take a file that was dropped on the page; the name that opens it. ``simulated_only``: of
        a simulated node, or not at all."""
        ...

    async def moment(
        self, files: Sequence[str], node: int, t: int | None, recent_ns: int
    ) -> Moment:
        """How a node was at ``t`` (ns; None: at the end), with the records of the ``recent_ns``
        before."""
        ...

    async def received(self, files: Sequence[str], node: int, asked: Asked) -> Received:
        """What the runtime had said of a pod by a moment."""
        ...

    async def pod(self, files: Sequence[str], node: int, uid: str, t: int | None) -> PodThen:
        """How a pod was at ``t`` (ns; None: at the end), and what had happened to it."""
        ...

    async def markers(self, files: Sequence[str]) -> Markers:
        """The markers of a recording."""
        ...

    async def mark(self, files: Sequence[str], t: int, note: str) -> Markers:
        """Put a marker."""
        ...

    async def unmark(self, files: Sequence[str], number: int) -> Markers:
        """Take a marker away."""
        ...


class Film(NamedTuple):
    """What the page's template wants to know of what is played."""

    query: str
    title: str
    name: str
    node: int
    nodes: Sequence[object]
    duration_ns: int


class _Title(NamedTuple):
    """What the node page's template wants to know of a state."""

    title: str
    speed: float = 1.0


def query_of(files: Sequence[str], node: int) -> str:
    """What a link to a recording says of it."""
    return urlencode([*(("file", name) for name in files), *([("node", node)] if node else [])])


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
            return Json(await library.told(_names(file), node, since))
        except RecordingError as error:
            return _refusal(error)

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
            packed = await library.piece(_names(file), node, number)
        except RecordingError as error:
            return _refusal(error)
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
            return Json(await library.find(_names(file), node, sought))
        except RecordingError as error:
            return _refusal(error)

    @routes.get("/recording/markers", summary="The markers of a recording")
    async def markers(file: Files = []) -> Response:  # noqa: B006
        """Places in it with a note."""
        try:
            return Json(await library.markers(_names(file)))
        except RecordingError as error:
            return _refusal(error)

    @routes.post("/recording/markers", summary="Put a marker, or take one away")
    async def mark(request: Request, file: Files = []) -> Response:  # noqa: B006
        """``t`` (ns) and ``note``, or ``remove``: a marker's number. They are saved beside the
        recording, if that can be written."""
        given = await fields(request)
        allowance.take()
        try:
            return Json(await _change(library, _names(file), given))
        except RecordingError as error:
            return _refusal(error)

    bins.add(routes, library, names=_names, refused=_refusal)

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
            answer = _refusal(error)
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


def pages(library: LibraryLike, rendered: RendersPods, *, home: bool) -> Part:
    """The page that plays a recording, and the list.

    ``home``: plegscope was started to play, so ``/`` plays what was given, or leads to the list.
    """
    routes = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

    async def play(
        file: Files = [],  # noqa: B006
        node: Node = 0,
    ) -> HTMLResponse:
        try:
            files = _names(file)
            told = await library.told(files, node, 0)
        except RecordingError as error:
            return rendered.refused(_status(error), str(error))
        film = Film(
            query=query_of(files, node),
            title=told.title,
            name=told.name,
            node=node,
            nodes=told.nodes,
            duration_ns=told.end_t,
        )
        return rendered.page(
            "replay.html",
            partial=False,
            run=film,
            drops=home,
            film=film,
            files=files,
            state=_Title(told.title),
            profile=PROFILES.get(told.state.engine.profile),
        )

    routes.add_api_route("/replay", play, methods=["GET"])

    async def front(
        file: Files = [],  # noqa: B006
        node: Node = 0,
    ) -> Response:
        if file or library.was_given:
            return await play(file, node)
        return RedirectResponse("/recordings", 303)

    if home:
        routes.add_api_route("/", front, methods=["GET"])

    @routes.get("/recordings")
    async def listing(hx_request: Annotated[str, Header()] = "") -> HTMLResponse:
        return rendered.page(
            "recordings.html",
            partial=hx_request == "true",
            list=await library.listing(),
            counted=home,
            query_of=cast("Callable[..., str]", query_of),
        )

    replaynow.add(
        routes,
        library,
        rendered,
        names=_names,
        query_of=query_of,
        refused=lambda error: rendered.refused(_status(error), str(error)),
        home=None if not home else replaynow.PATH if library.was_given else "/recordings",
    )

    @routes.get("/recordings/export")
    async def export(
        file: Files = [],  # noqa: B006
        node: Node = 0,
    ) -> HTMLResponse:
        try:
            files = _names(file)
            paths = await library.paths(files)
            # Of one file it is not opened: it has one node.
            nodes = (await library.told(files, node, 0)).nodes if len(paths) > 1 else ()
        except RecordingError as error:
            return rendered.refused(_status(error), str(error))
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        return rendered.page(
            "replay-export-page.html",
            partial=False,
            title=f"{paths[0].name}{more}",
            query=query_of(files, node),
            files=files,
            node=node,
            nodes=nodes,
        )

    return Part(routes, {})


def pods(library: LibraryLike, rendered: RendersPods) -> Part:
    """A pod of a recording, and what the runtime had said of it."""
    said = received.of_recordings(library, rendered, _names)
    pod = replaypod.part(library, rendered, names=_names, query_of=query_of, status=_status)
    said.router.include_router(pod.router)
    return Part(said.router, {**said.answers, **pod.answers})


def _names(files: Sequence[str]) -> tuple[str, ...]:
    """Raises RecordingUnknown for what can be no file's name."""
    for name in files:
        if not name or len(name) > MOST_NAME or "/" in name or "\0" in name:
            raise RecordingUnknown("A recording is named by its file's name. Open /recordings.")
    return tuple(files)


async def _change(library: LibraryLike, files: Sequence[str], given: dict[str, Any]) -> Markers:
    match given:
        case {"t": int(t), "note": str(note)} if len(given) == 2 and not isinstance(t, bool):
            return await library.mark(files, t, note)
        case {"remove": int(number)} if len(given) == 1 and not isinstance(number, bool):
            return await library.unmark(files, number)
        case _:
            raise Refused(422, NO_MARKER)


def _status(error: RecordingError) -> int:
    return 404 if isinstance(error, RecordingUnknown) else 422


def _refusal(error: RecordingError) -> Response:
    return Json(Problem(str(error)), _status(error))
