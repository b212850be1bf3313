"""Recordings in reach: how a request names them, what can be asked of them, and what a refusal is.

A recording is named by its file's name (``file``, several times for several files); the server
looks it up among what is in reach, so nothing that a link says is a path.
"""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Protocol
from urllib.parse import urlencode

from fastapi import Query
from starlette.responses import Response

from app.errors import RecordingError, RecordingUnknown
from app.hub.filmwire import Counted, FilmTold, Found, Markers, Moment, RecordingList, Sought
from app.hub.podthen import PodThen
from app.hub.received import Asked, Received
from app.web.refusal import Json, Problem

MOST_FILES = 200
MOST_NAME = 255

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


def query_of(files: Sequence[str], node: int) -> str:
    """What a link to a recording says of it."""
    return urlencode([*(("file", name) for name in files), *([("node", node)] if node else [])])


def names_of(files: Sequence[str]) -> tuple[str, ...]:
    """What a request names. Raises RecordingUnknown for what can be no file's name."""
    for name in files:
        if not name or len(name) > MOST_NAME or "/" in name or "\0" in name:
            raise RecordingUnknown("A recording is named by its file's name. Open /recordings.")
    return tuple(files)


def status_of(error: RecordingError) -> int:
    """The HTTP status of a refusal."""
    return 404 if isinstance(error, RecordingUnknown) else 422


def refusal(error: RecordingError) -> Response:
    """The API's answer to what cannot be done."""
    return Json(Problem(str(error)), status_of(error))
