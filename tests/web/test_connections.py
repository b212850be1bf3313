"""A stranger who sends without end, or nothing, costs little and locks nobody out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from app.web import connections
from app.web.connections import HEAD_BYTES, RequestProtocol
from app.web.server import listen
from tests.patience import PATIENCE_S
from tests.web.site import Site, serving

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

ASK = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"


@asynccontextmanager
async def connected(site: Site) -> AsyncIterator[Streams]:
    """A bare connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def everything(reader: asyncio.StreamReader) -> bytes:
    """What comes until the connection is over."""
    got = b""
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(ConnectionResetError):
            while some := await reader.read(65536):
                got += some
    return got


async def answer(streams: Streams) -> bytes:
    """The first line of the next answer."""
    async with asyncio.timeout(PATIENCE_S):
        return await streams[0].readline()


@pytest.mark.parametrize(
    ("start", "more"),
    [(b"GET /", b"a" * 4096), (ASK % 0, b"X: " + b"b" * 4000 + b"\r\n"), (ASK % 0, b"Y: z\r\n")],
)
async def test_a_head_without_end_is_refused(start: bytes, more: bytes) -> None:
    async with serving() as site, connected(site) as (reader, writer):
        writer.write(start)
        sent = 0
        # Refused, it takes no more; were it not, this would end by itself.
        with contextlib.suppress(ConnectionError):
            while sent < 64 * HEAD_BYTES and not reader.at_eof():
                writer.write(more)
                sent += len(more)
                await writer.drain()
        got = await everything(reader)
    assert sent < 64 * HEAD_BYTES
    # The reset that follows may overtake the answer.
    assert not got or got.startswith(b"HTTP/1.1 431 ")


async def test_a_long_head_that_fits_is_served() -> None:
    padding = b"X-Long: " + b"x" * (HEAD_BYTES - 2000) + b"\r\n"
    async with serving() as site, connected(site) as streams:
        streams[1].write(ASK % site.port + padding + b"\r\n")
        assert (await answer(streams)).startswith(b"HTTP/1.1 200 ")


async def test_many_requests_on_one_connection_have_each_its_own_measure() -> None:
    padding = b"X-Long: " + b"x" * (HEAD_BYTES // 2) + b"\r\n"
    async with serving() as site, connected(site) as (reader, writer):
        for _ in range(5):
            writer.write(ASK % site.port + padding + b"\r\n")
            async with asyncio.timeout(PATIENCE_S):
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
            assert head.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("sent", [b"", b"GET /", ASK % 0])
async def test_who_does_not_finish_asking_is_let_go(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.05)
    async with serving() as site, connected(site) as (reader, writer):
        writer.write(sent)
        assert await everything(reader) == b""


async def test_who_asks_again_slowly_is_let_go_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.3)
    async with serving() as site, connected(site) as (reader, writer):
        writer.write(ASK % site.port + b"\r\n")
        assert (await answer((reader, writer))).startswith(b"HTTP/1.1 200 ")
        writer.write(ASK % site.port)
        assert b"HTTP/1.1" not in await everything(reader)


async def test_a_viewer_is_not_bound_by_the_time_of_a_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.05)
    async with serving() as site, site.watch() as viewer:
        async with asyncio.timeout(PATIENCE_S):
            # States come twenty times a second here: these take ten times HEAD_S.
            for _ in range(12):
                await viewer.recv()


async def test_those_who_only_hold_connections_lock_nobody_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS", 10)
    async with serving() as site, contextlib.AsyncExitStack() as stack:
        idle = [await stack.enter_async_context(connected(site)) for _ in range(40)]
        idle[-1][1].write(b"GET /")
        async with connected(site) as streams:
            streams[1].write(ASK % site.port + b"\r\n")
            assert (await answer(streams)).startswith(b"HTTP/1.1 200 ")
        # Whoever has waited longest had to make room.
        assert await everything(idle[0][0]) == b""
        idle[-1][1].write(ASK[5:] % site.port + b"\r\n")
        assert (await answer(idle[-1])).startswith(b"HTTP/1.1 200 ")


async def test_viewers_stay_when_room_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS", 10)
    async with serving() as site, site.watch() as viewer, contextlib.AsyncExitStack() as stack:
        for _ in range(40):
            await stack.enter_async_context(connected(site))
        async with asyncio.timeout(PATIENCE_S):
            for _ in range(5):
                await viewer.recv()
        assert site.viewers == 1


async def test_when_one_leaves_whose_requests_queue_all_of_them_are_over() -> None:
    """What is being answered is then not what was read last, which alone uvicorn would tell."""
    begun, over = asyncio.Event(), asyncio.Event()
    served: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        served.append(scope["path"])
        await receive()
        begun.set()
        assert (await receive())["type"] == "http.disconnect"
        # uvloop would raise, had this still been written to the connection.
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"late"})
        over.set()

    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app, http=RequestProtocol, lifespan="off", log_level="critical", log_config=None
    )
    server = uvicorn.Server(config)
    async with asyncio.TaskGroup() as group:
        group.create_task(server._serve([listener]))
        _, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(b"".join(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % n for n in range(5)))
        async with asyncio.timeout(PATIENCE_S):
            await begun.wait()
            writer.transport.abort()
            await over.wait()
        server.should_exit = True
    assert served == ["/0"]


async def test_those_who_hold_back_a_body_lock_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS", 10)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.request":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app,
        http=RequestProtocol,
        lifespan="off",
        limit_concurrency=10,
        log_level="critical",
        log_config=None,
    )
    server = uvicorn.Server(config)
    async with asyncio.TaskGroup() as group, contextlib.AsyncExitStack() as stack:
        group.create_task(server._serve([listener]))
        held = []
        for _ in range(40):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            stack.callback(writer.close)
            writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nname=x")
            held.append((reader, writer))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        stack.callback(writer.close)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await answer((reader, writer))).startswith(b"HTTP/1.1 200 ")
        # Whoever sends the rest is served; whoever has held it back longest had to make room.
        held[-1][1].write(b"yz.")
        assert (await answer(held[-1])).startswith(b"HTTP/1.1 200 ")
        assert await everything(held[0][0]) == b""
        server.should_exit = True


async def test_who_is_sent_something_and_does_not_read_is_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "READ_S", 0.05)
    monkeypatch.setattr(connections, "READ_PACE", 1e9)
    left = asyncio.Event()

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"0" * 2**25, "more_body": True})
        assert (await receive())["type"] == "http.disconnect"
        left.set()

    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app, http=RequestProtocol, lifespan="off", log_level="critical", log_config=None
    )
    server = uvicorn.Server(config)
    async with asyncio.TaskGroup() as group:
        group.create_task(server._serve([listener]))
        _, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        async with asyncio.timeout(PATIENCE_S):
            await left.wait()
        writer.close()
        server.should_exit = True
