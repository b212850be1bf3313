"""uvicorn's WebSocket protocol, which lets go of a peer that has stopped reading.

Closing a transport waits until its buffer is empty, which for such a peer is never: uvicorn's own
keepalive and shutdown both wait there. ``TCP_USER_TIMEOUT`` (see ``server``) ends it as well,
where the kernel has it, but later.
"""

from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

FLUSH_GRACE = 1.0
"""Seconds that a connection which has ended gets to take what was written before."""


_SAID = ("websocket.send", "websocket.close")
_UNREADABLE = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class ViewerProtocol(WebSocketsSansIOProtocol):
    """Ends a connection for good when it has ended in words, or never began."""

    def data_received(self, data: bytes) -> None:
        """The handshake, whole, and then frames.

        One with a body, or with more headers than websockets reads, is none; uvicorn would answer
        nothing and keep the connection for ever.
        """
        super().data_received(data)
        if not self.handshake_initiated and not self.transport.is_closing():
            self.transport.write(_UNREADABLE)
            self.transport.close()

    async def send(self, message: Any) -> None:
        """What the application says.

        A peer that closes, or breaks the protocol, may do so while the next frame is on its way
        here: it has gone then, which uvicorn would call a mistake of the application's.
        """
        if self.close_sent and self.initial_response is None and message["type"] in _SAID:
            raise ClientDisconnected
        await super().send(message)

    def shutdown(self) -> None:
        """The server ends; the farewell has been said, and had its time, before."""
        super().shutdown()
        self._abort_if_stuck()

    async def run_asgi(self) -> None:
        """The application is done with this connection when this returns."""
        await super().run_asgi()
        self.loop.call_later(FLUSH_GRACE, self._abort_if_stuck)

    def _abort_if_stuck(self) -> None:
        if self.transport.get_write_buffer_size() > 0:
            self.transport.abort()
