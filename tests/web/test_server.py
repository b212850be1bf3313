"""Listening and serving: what the socket is like, why it did not work, and how it ends."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from app.errors import ListenError
from app.hub.hub import Hub
from app.journal.journal import Journal
from app.journal.projection import PodTable
from app.web.server import SEND_BUFFER, UNREAD_MS, listen, serve
from tests.build import SESSION, session_state
from tests.patience import PATIENCE_S, Stopwatch
from tests.web.site import serving

# ---------------------------------------------------------------------------------- the socket


def test_any_free_port() -> None:
    with listen("127.0.0.1", 0) as first, listen("127.0.0.1", 0) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
        assert first.getsockname()[0] == "127.0.0.1"


def test_connections_inherit_a_small_buffer_and_a_limit_for_what_stays_unread() -> None:
    with listen("127.0.0.1", 0) as listener:
        listener.setblocking(True)
        with socket.create_connection(listener.getsockname()):
            connection, _ = listener.accept()
            with connection:
                # The kernel doubles what it is asked for, to make room for its own bookkeeping.
                size = connection.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
                assert size <= 2 * SEND_BUFFER
                unread = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
                assert unread == UNREAD_MS


def test_a_port_that_was_just_left_can_be_taken_again() -> None:
    with listen("127.0.0.1", 0) as listener:
        address = listener.getsockname()
        listener.setblocking(True)
        client = socket.create_connection(address)
        connection, _ = listener.accept()
        connection.close()  # the server's end waits in TIME_WAIT or FIN_WAIT now
        client.close()
    with listen(address[0], address[1]) as again:
        assert again.getsockname() == address


def test_the_loopback_of_ipv6() -> None:
    with listen("::1", 0) as listener:
        assert listener.family == socket.AF_INET6


def test_a_port_in_use_says_what_to_do() -> None:
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ListenError, match=rf"Port {port} .* in use.* --port 0\.$"):
            listen("127.0.0.1", port)


def test_an_address_of_somebody_else_says_so() -> None:
    with pytest.raises(ListenError, match=r"has no address 192\.0\.2\.1\. Give --host"):
        listen("192.0.2.1", 0)


@pytest.mark.parametrize(
    "host",
    ["no such host", "http://127.0.0.1", "a" * 300, "1.2.3.4.5", "", " ", "[::1]", "127.0.0.1:80"],
)
def test_what_is_no_address_says_so(host: str) -> None:
    with pytest.raises(ListenError, match="is no address of this machine"):
        listen(host, 0)


@pytest.mark.parametrize("host", ["*", "0", "127.1", "0x7f000001", "2130706433", "127.0.0.1 x"])
def test_an_address_that_no_browser_would_call_us_by_is_refused(host: str) -> None:
    """The resolver takes these, but what a browser then sends as Host is written in full."""
    with pytest.raises(ListenError, match=r"is no address of this machine.* in full"):
        listen(host, 0)


@pytest.mark.parametrize(
    ("number", "words"),
    [(13, "above 1023"), (1, "above 1023"), (98, "in use"), (99, "no address"), (105, "--host")],
)
def test_every_reason_ends_with_what_to_do(
    number: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing(socket.socket):
        def bind(self, _address: object, /) -> None:
            raise OSError(number, "some words of the system")

    monkeypatch.setattr(socket, "socket", Refusing)
    with pytest.raises(ListenError, match=words) as refusal:
        listen("127.0.0.1", 80)
    assert "--" in str(refusal.value)
    assert str(refusal.value).endswith(".")


# ----------------------------------------------------------------------------------- the server


async def test_answers_do_not_tell_what_serves_them() -> None:
    async with serving() as site, site.client() as client:
        answer = await client.get("/healthz")
    assert answer.status_code == 200
    assert "server" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_claims_of_a_proxy_are_not_believed() -> None:
    """X-Forwarded-* could make a plain request look as if it came over https from elsewhere."""
    async with serving() as site, site.client() as client:
        claims = {"X-Forwarded-For": "10.0.0.1", "X-Forwarded-Proto": "https"}
        answer = await client.get("/?token=" + str(site.token), headers=claims)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"


async def test_head_has_no_body_and_the_length_of_one() -> None:
    async with serving() as site, site.client() as client:
        head, full = await client.head("/healthz"), await client.get("/healthz")
    assert head.status_code == full.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == full.headers["content-length"]


async def test_nonsense_is_answered_and_does_not_stop_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with serving() as site, site.client() as client:
            for nonsense in (b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"\r\n\r\n\x00" * 10):
                reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
                writer.write(nonsense)
                writer.write_eof()
                async with asyncio.timeout(PATIENCE_S):
                    await reader.read()
                writer.close()
                await writer.wait_closed()
            assert (await client.get("/healthz")).status_code == 200
    assert not [r for r in caplog.records if r.name.startswith("uvicorn")], "noise on the terminal"


async def test_the_end_is_quick_with_an_idle_connection_open() -> None:
    async with serving() as site:
        client = site.client()
        await client.get("/healthz")  # kept alive
    await client.aclose()
    assert site.ended_after_s < 2


async def test_the_end_is_quick_though_somebody_does_not_read_an_answer() -> None:
    loop = asyncio.get_running_loop()
    async with serving() as site:
        site.happen(10_000, "x" * 2000)
        with site.freeze() as frozen:
            await loop.sock_connect(frozen, ("127.0.0.1", site.port))
            lines = [
                "GET /api/v1/records?limit=10000 HTTP/1.1",
                f"Host: 127.0.0.1:{site.port}",
                *(f"{name}: {value}" for name, value in site.headers.items()),
            ]
            await loop.sock_sendall(frozen, ("\r\n".join(lines) + "\r\n\r\n").encode())
            assert (await loop.sock_recv(frozen, 100)).startswith(b"HTTP/1.1 200")
            site.shutdown.set()
            async with asyncio.timeout(PATIENCE_S):
                await site.ended.wait()
    assert site.ended_after_s < 2.5


async def test_after_the_end_nobody_listens() -> None:
    async with serving() as site:
        port = site.port
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_being_cancelled_is_an_orderly_end_as_well() -> None:
    hub = make_hub()
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    async with asyncio.TaskGroup() as group:
        task = group.create_task(serve(hello, listener, asyncio.Event(), hub=hub))
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"http://127.0.0.1:{port}/")).text == "hello"
        watch = Stopwatch()
        task.cancel()
        await asyncio.wait({task})
    assert task.cancelled()
    assert watch.seconds() < 2
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_a_second_cancel_ends_at_once() -> None:
    listener = listen("127.0.0.1", 0)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(serve(hello, listener, asyncio.Event(), hub=make_hub()))
        for _ in range(10):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait({task})
    assert task.cancelled()
    listener.close()


async def test_a_server_that_breaks_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_server: object, _counter: int) -> bool:
        raise RuntimeError("broken")

    monkeypatch.setattr("uvicorn.Server.on_tick", broken)
    listener = listen("127.0.0.1", 0)
    with pytest.raises(ExceptionGroup) as failure:
        async with asyncio.timeout(PATIENCE_S):
            await serve(hello, listener, asyncio.Event(), hub=make_hub())
    assert failure.group_contains(RuntimeError, match="broken")
    listener.close()


async def test_signals_are_left_alone() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    async with serving() as site, site.client() as client:
        assert (await client.get("/healthz")).status_code == 200
        assert [signal.getsignal(number) for number in numbers] == before


def make_hub() -> Hub:
    return Hub(Journal(), PodTable(), session_state, session=SESSION, version="1")


async def hello(scope: Scope, _receive: Receive, send: Send) -> None:
    assert scope["type"] == "http", "no lifespan is asked for"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})
