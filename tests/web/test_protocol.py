"""The WebSocket protocol lets go of a peer that has stopped reading, and of no other."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from app.web import protocol
from app.web.protocol import ViewerProtocol
from app.web.server import listen
from tests.patience import PATIENCE_S

MUCH = "x" * 8_000_000
"""More than both ends' buffers hold."""

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)

Talk = Callable[[Receive, Send], Awaitable[None]]


class Watched(ViewerProtocol):
    """Tells when a connection is really over."""

    lost: asyncio.Event

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.lost.set()


@asynccontextmanager
async def server_of(talk: Talk) -> AsyncIterator[tuple[uvicorn.Server, int]]:
    """A server whose every WebSocket is accepted and then ``talk``'s."""

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})
        await talk(receive, send)

    Watched.lost = asyncio.Event()
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app,
        ws=Watched,
        lifespan="off",
        log_level="critical",
        log_config=None,
        timeout_graceful_shutdown=30,
    )
    server = uvicorn.Server(config)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server._serve([listener]))
        try:
            yield server, listener.getsockname()[1]
        finally:
            server.should_exit = True
            await asyncio.wait({serving})


async def frozen_peer(port: int) -> socket.socket:
    """Asks for a WebSocket and never reads."""
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(peer, ("127.0.0.1", port))
    await loop.sock_sendall(
        peer,
        HANDSHAKE,
    )
    return peer


async def gone(peer: socket.socket) -> None:
    """Read what there is until the connection is over."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(PATIENCE_S):
        try:
            while await loop.sock_recv(peer, 1 << 20):
                pass
        except ConnectionResetError:
            return


async def test_when_the_application_is_done_a_peer_that_does_not_read_is_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "FLUSH_GRACE", 0.05)

    async def talk(_receive: Receive, send: Send) -> None:
        await send({"type": "websocket.send", "text": MUCH})

    async with server_of(talk) as (_, port):
        peer = await frozen_peer(port)
        async with asyncio.timeout(PATIENCE_S):
            await Watched.lost.wait()
        await gone(peer)
        peer.close()


async def test_a_peer_that_reads_gets_everything_and_an_orderly_close() -> None:
    async def talk(receive: Receive, send: Send) -> None:
        await send({"type": "websocket.send", "text": MUCH})
        await send({"type": "websocket.close", "code": 1001})
        while (await receive())["type"] != "websocket.disconnect":
            pass

    async with server_of(talk) as (_, port):
        async with connect(f"ws://127.0.0.1:{port}/", proxy=None, max_size=None) as peer:
            assert await peer.recv() == MUCH
            with pytest.raises(ConnectionClosed) as end:
                await peer.recv()
        assert end.value.rcvd is not None
        assert end.value.rcvd.code == 1001


async def test_the_servers_end_waits_for_nobody_who_does_not_read() -> None:
    written = asyncio.Event()

    async def talk(receive: Receive, send: Send) -> None:
        await send({"type": "websocket.send", "text": MUCH})
        written.set()
        while (await receive())["type"] != "websocket.disconnect":
            pass

    async with server_of(talk) as (server, port):
        peer = await frozen_peer(port)
        async with asyncio.timeout(PATIENCE_S):
            await written.wait()
            server.should_exit = True
            await Watched.lost.wait()
        peer.close()


@pytest.mark.parametrize(
    "more",
    [
        b"Content-Length: 5\r\n\r\nhello",
        b"Transfer-Encoding: chunked\r\n\r\n",
        b"X-Long: " + b"x" * 20_000 + b"\r\n\r\n",
        b"".join(b"X-%d: y\r\n" % number for number in range(500)) + b"\r\n",
    ],
    ids=["a body", "a body in chunks", "a long header", "many headers"],
)
async def test_a_handshake_that_cannot_be_read_is_refused_at_once(more: bytes) -> None:
    async def talk(_receive: Receive, _send: Send) -> None:
        raise AssertionError("nobody was let in")

    async with server_of(talk) as (server, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HANDSHAKE[:-2] + more)
        async with asyncio.timeout(PATIENCE_S):
            assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
            await Watched.lost.wait()
        assert not server.server_state.connections
        writer.close()


async def test_who_breaks_the_protocol_has_gone_for_what_is_sent_meanwhile() -> None:
    outcomes: list[Exception] = []
    over = asyncio.Event()

    async def talk(receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "websocket.disconnect":
            pass
        for message in ({"type": "websocket.send", "text": "x"}, {"type": "websocket.close"}):
            try:
                await send(message)
            except (OSError, RuntimeError) as error:
                outcomes.append(error)
        over.set()

    async with server_of(talk) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HANDSHAKE)
        async with asyncio.timeout(PATIENCE_S):
            await reader.readuntil(b"\r\n\r\n")
            # No frame begins so.
            writer.write(b"\xff\x80" + b"\0" * 4)
            await over.wait()
        writer.close()
    assert [type(one) for one in outcomes] == [ClientDisconnected] * 2
