"""Exports over HTTP: what is shown, a run, or a recording in reach, in a format of somebody else's.

An answer is written piece by piece and by a thread; no more than ``MOST_AT_ONCE`` are made at the
same time. What is wrong is found before the first byte is sent.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from app.errors import RecordingError, RecordingUnknown
from app.web.part import Part
from app.web.refusal import Json, Problem

MOST_AT_ONCE = 2
PIECE = 64 * 1024
"""Bytes that are sent at once."""

Pairs = Iterable[tuple[str, str]]
FormatName = Literal["perfetto", "chrome", "csv", "jsonl", "html"]

BUSY = (
    "Two exports are being made already. Wait until one of them is done, and open this address "
    "again."
)


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


class Made(NamedTuple):
    """An export: a name for its file, what it is, and its bytes. Reading it may take a while and
    raise a ``RecordingError``."""

    name: str
    media_type: str
    pieces: Iterator[bytes]


class ExporterLike(Protocol):
    """Makes exports."""

    def live(self, asked: Asked) -> Made:
        """What the journal has now."""
        ...

    async def run(self, pairs: Pairs, asked: Asked) -> Made:
        """A run; raises StageError."""
        ...

    async def recording(self, files: Sequence[str], asked: Asked) -> Made:
        """A recording in reach; raises RecordingError."""
        ...


_REFUSALS: Mapping[int | str, dict[str, Any]] = {
    404: {"description": "There is no such thing here."},
    422: {"description": "It cannot be exported; the sentence says why."},
    503: {"description": "Too many exports are made at the same time."},
}


def part(exporter: ExporterLike, *, runs: bool, recordings: bool) -> Part:
    """The routes; ``runs`` and ``recordings``: whether there are any to export."""
    routes = APIRouter(
        prefix="/api/v1",
        tags=["export"],
        responses=dict(_REFUSALS),
        default_response_class=Response,
    )
    slots = asyncio.Semaphore(MOST_AT_ONCE)
    paths = ["/api/v1/export"]

    @routes.get("/export", summary="What is shown, for somebody else")
    async def live(asked: Annotated[Asked, Query()]) -> Response:
        """Everything that the journal has now, in a format that something else opens."""
        if slots.locked():
            return Json(Problem(BUSY), 503)
        return await _answer(exporter.live(asked), slots)

    if runs:
        paths.append("/api/v1/run/export")

        @routes.get("/run/export", summary="A run, for somebody else")
        async def run(request: Request, asked: Annotated[Asked, Query()]) -> Response:
            """A whole run; it follows from the link's other parameters, as `/api/v1/run/records`
            has them."""
            if slots.locked():
                return Json(Problem(BUSY), 503)
            return await _answer(
                await exporter.run(request.query_params.multi_items(), asked), slots
            )

    if recordings:
        paths.append("/api/v1/recording/export")

        @routes.get("/recording/export", summary="A recording, for somebody else")
        async def recording(
            asked: Annotated[Asked, Query()],
            file: Annotated[
                list[str] | None,
                Query(max_length=1, description="Name of a recording as in the list."),
            ] = None,
        ) -> Response:
            """One recording, from its beginning to its end."""
            if slots.locked():
                return Json(Problem(BUSY), 503)
            try:
                made = await exporter.recording(file or (), asked)
            except RecordingError as error:
                return _refused(error)
            return await _answer(made, slots)

    answers = {(path, str(status)): Problem for path in paths for status in _REFUSALS}
    return Part(routes, answers)


async def _answer(made: Made, slots: asyncio.Semaphore) -> Response:
    await slots.acquire()
    pieces = _batched(made.pieces)
    try:
        # Names are gathered, and a file is opened, with the first piece.
        first = await run_in_threadpool(next, pieces, b"")
    except RecordingError as error:
        slots.release()
        return _refused(error)
    except BaseException:
        slots.release()
        raise
    name = re.sub(r"[^\w.-]+", "-", made.name, flags=re.ASCII).strip("-.")[:100] or "export"
    return _Slotted(
        chain([first], pieces),
        slots,
        media_type=made.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
        },
    )


class _Slotted(StreamingResponse):
    """Gives its place back once it is sent, or nobody wants it any more."""

    def __init__(self, pieces: Iterator[bytes], slots: asyncio.Semaphore, **more: Any) -> None:
        super().__init__(pieces, **more)
        self._slots = slots

    async def __call__(self, *connection: Any) -> None:
        try:
            await super().__call__(*connection)
        finally:
            self._slots.release()


def _refused(error: RecordingError) -> Response:
    return Json(Problem(str(error)), 404 if isinstance(error, RecordingUnknown) else 422)


def _batched(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in fewer pieces: each is handed over between threads."""
    batch = bytearray()
    for piece in pieces:
        batch += piece
        if len(batch) >= PIECE:
            yield bytes(batch)
            batch.clear()
    yield bytes(batch)
