"""Large answers, sent piece by piece, so that a reader costs as much as a piece and not as much as
the answer, and one who hardly reads is let go.

What is sent is kept packed and once, however many read it. Who cannot unpack gets it unpacked on
the way. Each piece waits until the one before has gone out.
"""

import asyncio
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.web.refusal import Json, Problem

PIECE = 64 * 1024
"""Bytes that are sent at a time."""
MOST = 64
"""Readers at a time."""
GRACE_S = 20.0
PACE = 32 * 1024
"""A reader takes so many bytes a second at least, measured from ``GRACE_S`` after its beginning."""
SMALL = 256 * 1024
"""An answer of up to so many bytes is sent at once, and its reader not counted."""

BUSY = f"{MOST} large answers are being sent at the moment. Ask again in a few seconds."

LET_GO = "let_go"
"""Where the connection's end stands in the state of a request (``app.web.connections``)."""


class Readers:
    """Counts those to whom large answers are being sent."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.now = 0

    def answer(self, packed: bytes, request: Request) -> Response:
        """The gzipped JSON ``packed``, as whoever asks can read it; 503 when too many read."""
        headers = {"Vary": "Accept-Encoding"}
        plain = "gzip" not in request.headers.get("accept-encoding", "")
        if not plain:
            headers["Content-Encoding"] = "gzip"
            if len(packed) <= SMALL:
                return Response(packed, media_type="application/json", headers=headers)
            headers["Content-Length"] = str(len(packed))
        if self.now >= self.most:
            busy = Json(Problem(BUSY), 503)
            busy.headers["Retry-After"] = "5"
            return busy
        pieces = _unpacked if plain else _cut
        return _Pieces(self, pieces(packed), headers)


class _Pieces(Response):
    """An answer in pieces, made while it is sent."""

    media_type = "application/json"

    def __init__(self, readers: Readers, pieces: Iterator[bytes], headers: dict[str, str]) -> None:
        super().__init__(None, headers=headers)
        if "Content-Length" not in headers:
            del self.headers["content-length"]
        self._readers = readers
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; whoever does not keep the pace is let go."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        loop = asyncio.get_running_loop()
        began, sent = loop.time(), 0
        self._readers.now += 1
        try:
            await send(start)
            for piece in self._pieces:
                async with asyncio.timeout_at(began + GRACE_S + sent / PACE):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                sent += len(piece)
                # Where nothing has to be waited for, others have their turn all the same.
                await asyncio.sleep(0)
            await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            state: dict[str, Any] = scope.get("state", {})
            let_go: Callable[[], None] | None = state.get(LET_GO)
            if let_go is None:
                raise
            let_go()
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self._readers.now -= 1


def _cut(packed: bytes) -> Iterator[bytes]:
    whole = memoryview(packed)
    for at in range(0, len(packed), PIECE):
        yield bytes(whole[at : at + PIECE])


def _unpacked(packed: bytes) -> Iterator[bytes]:
    # 16: a gzip header and not zlib's own.
    unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
    whole = memoryview(packed)
    for at in range(0, len(packed), PIECE):
        some: bytes = bytes(whole[at : at + PIECE])
        while some:
            piece = unpack.decompress(some, PIECE)
            some = unpack.unconsumed_tail
            if piece:
                yield piece
    while piece := unpack.flush(PIECE) if not unpack.eof else b"":
        yield piece
