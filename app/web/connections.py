"""uvicorn's HTTP protocol, made so that strangers cost little and lock nobody out.

Whoever reaches the port may connect, before any Host or token is looked at, and uvicorn lets him:
an address or a header grows in memory as long as it is sent, a request that never gets finished is
waited for without end, and as many idle connections as are allowed keep everybody else out.
"""

import asyncio
from collections import deque

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.web.big import LET_GO

HEAD_BYTES = 64 * 1024
"""What a request's line and headers may amount to, give or take what is read at a time."""
HEAD_S = 10.0
"""How long a request's line and headers may take, in seconds; also until the first byte comes."""
READ_S = 30.0
READ_PACE = 16 * 1024
"""Whoever is sent something takes it within ``READ_S`` seconds, and one more for each so many bytes
that wait for him."""
CONNECTIONS = 512
"""Requests and viewers at a time. One more takes the place of whoever has waited longest without
asking for anything, or else without sending all of what he asks; if nobody has, it is answered with
503."""

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class RequestProtocol(HttpToolsProtocol):
    """One connection, from its first byte until it ends or becomes a WebSocket."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn's own narrowing
        """Somebody has connected."""
        super().connection_made(transport)
        self._asking = True
        self._head_bytes = 0
        self._answering = False
        self._sending = False
        self._cycles: deque[RequestResponseCycle] = deque()
        self._waits_since = self.loop.time()
        self._patience = self.loop.call_later(HEAD_S, transport.abort)
        self._reading: asyncio.TimerHandle | None = None
        if len(self.connections) >= CONNECTIONS:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over, and so is every request that came by it."""
        self._patience.cancel()
        self._has_read()
        self.pipeline.clear()
        for cycle in self._cycles:
            cycle.disconnected = True
            cycle.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request, of several, or of none."""
        if self._asking:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._asking and self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        # For answers to somebody who hardly reads them.
        self.scope["state"][LET_GO] = self.transport.abort
        if not self._asking:
            self._asking = True
            self._patience = self.loop.call_later(HEAD_S, self.transport.abort)

    def on_headers_complete(self) -> None:
        """Its line and headers are there."""
        self._patience.cancel()
        self._asking = False
        self._head_bytes = 0
        self._answering = True
        self._sending = True
        self._waits_since = self.loop.time()
        super().on_headers_complete()
        # uvicorn knows the last one that was read; what is being answered may be one before it.
        while self._cycles and self._cycles[0].response_complete:
            self._cycles.popleft()
        if self.cycle is not None:
            self._cycles.append(self.cycle)

    def on_message_complete(self) -> None:
        """Its body is there as well."""
        self._sending = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """It has been answered."""
        self._answering = bool(self.pipeline)
        self._waits_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """More waits for the reader than he takes at the moment."""
        super().pause_writing()
        self._has_read()
        patience = READ_S + self.transport.get_write_buffer_size() / READ_PACE
        self._reading = self.loop.call_later(patience, self.transport.abort)

    def resume_writing(self) -> None:
        """He has taken most of it."""
        self._has_read()
        super().resume_writing()

    def _has_read(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _make_room(self) -> None:
        others = (
            one
            for one in self.connections
            if isinstance(one, RequestProtocol)
            and one is not self
            and (one._sending or not one._answering)
        )
        # Those who have begun to ask come after those who ask for nothing.
        longest = min(others, key=lambda one: (one._answering, one._waits_since), default=None)
        if longest is not None:
            # Not counted any more from now on; it is told a little later that it is gone.
            self.connections.discard(longest)
            longest.transport.abort()
