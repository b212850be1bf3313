"""Exports in the making: each written by a thread, piece by piece, no more than ``MOST_AT_ONCE`` at
the same time, and how far each is.

What is wrong is found before the first byte is sent.
"""

import asyncio
import itertools
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.errors import RecordingError, RecordingUnknown
from app.web.access import values
from app.web.big import LET_GO
from app.web.refusal import Json, Problem
from app.web.renders import Refuses

MOST_AT_ONCE = 2
PIECE = 64 * 1024
"""Bytes that are sent at once."""

BUSY = (
    "Two exports are being made already. Wait until one of them is done, and open this address "
    "again."
)

_log = logging.getLogger("plegscope.web")


def _nothing_read() -> int:
    """Nobody counts."""
    return 0


class Made(NamedTuple):
    """An export: a name for its file, what it is, and its bytes. Reading it may take a while and
    raise a ``RecordingError``. ``read``: how many records have been read for it so far."""

    name: str
    media_type: str
    pieces: Iterator[bytes]
    read: Callable[[], int] = _nothing_read


class Making(msgspec.Struct, frozen=True, kw_only=True):
    """An export that is being made: what its file is called, records read (of some formats and of
    what is redacted all are read twice), and bytes written so far."""

    name: str
    records: int
    bytes: int


class MakingList(msgspec.Struct, frozen=True):
    """The exports that are being made now, those that were asked for first before the others."""

    exports: tuple[Making, ...]


class Desk:
    """Where exports are made, a few at a time."""

    def __init__(self, pages: Refuses | None) -> None:
        self._slots = asyncio.Semaphore(MOST_AT_ONCE)
        self._pages = pages
        self._now: dict[int, _Slotted] = {}
        self._numbers = itertools.count()

    def busy(self, request: Request) -> Response | None:
        """The refusal, if one more is too many."""
        return self.refused(request, BUSY, 503) if self._slots.locked() else None

    def refused(self, request: Request, sentence: str, status: int) -> Response:
        """A sentence: as a page for a browser that follows a link or sends a form."""
        browses = any("text/html" in one for one in values(request.scope["headers"], b"accept"))
        if self._pages is not None and browses:
            return self._pages.refused(status, sentence)
        return Json(Problem(sentence), status)

    def wrong(self, request: Request, error: RecordingError) -> Response:
        """The refusal for what is wrong with a recording."""
        return self.refused(
            request, str(error), 404 if isinstance(error, RecordingUnknown) else 422
        )

    def told(self) -> MakingList:
        """What is being made."""
        return MakingList(tuple(one.told() for one in self._now.values()))

    async def answer(self, request: Request, made: Made) -> Response:
        """The export; the first piece is made before anything is sent."""
        await self._slots.acquire()
        pieces = _batched(made.pieces)
        number = next(self._numbers)
        name = re.sub(r"[^\w.-]+", "-", made.name, flags=re.ASCII).strip("-.")[:100] or "export"
        response = _Slotted(
            pieces,
            lambda: self._done(number),
            made,
            media_type=made.media_type,
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )
        response.name = name
        self._now[number] = response
        try:
            # Names are gathered, and a file is opened, with the first piece.
            first = await run_in_threadpool(next, pieces, b"")
        except RecordingError as error:
            self._done(number)
            return self.wrong(request, error)
        except BaseException:
            self._done(number)
            raise
        response.begin(first, pieces)
        return response

    def _done(self, number: int) -> None:
        del self._now[number]
        self._slots.release()


class _Slotted(StreamingResponse):
    """Gives its place back once it is sent, or nobody wants it any more."""

    name = ""

    def __init__(
        self, pieces: Iterator[bytes], done: Callable[[], None], made: Made, **more: Any
    ) -> None:
        super().__init__(pieces, **more)
        self._done = done
        self._made = made
        self._sent = 0
        self._let_go: Callable[[], None] | None = None

    def begin(self, first: bytes, pieces: Iterator[bytes]) -> None:
        """What is sent: the first piece, and the others."""
        made = iterate_in_threadpool(self._counted(chain([first], pieces)))
        self.body_iterator = self._unless_broken(made)

    def told(self) -> Making:
        """How far it is."""
        return Making(name=self.name, records=self._made.read(), bytes=self._sent)

    def _counted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self._sent += len(piece)
            yield piece

    async def _unless_broken(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The same; what cannot be made any further is cut off, so that nobody takes it for
        whole."""
        try:
            async for piece in pieces:
                yield piece
        except RecordingError as error:
            if self._let_go is None:
                raise
            _log.warning("The export %s was cut off. %s", self.name, error)
            self._let_go()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        self._let_go = scope.get("state", {}).get(LET_GO)
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._done()


def _batched(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in fewer pieces: each is handed over between threads."""
    batch = bytearray()
    for piece in pieces:
        batch += piece
        if len(batch) >= PIECE:
            yield bytes(batch)
            batch.clear()
    yield bytes(batch)
