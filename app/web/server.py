"""The listening socket and the HTTP server on it."""

import asyncio
import contextlib
import errno
import ipaddress
import socket
from collections.abc import Iterator
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from app.errors import ListenError
from app.hub.hub import Hub
from app.web import connections
from app.web.connections import RequestProtocol
from app.web.protocol import ViewerProtocol

UNREAD_MS = 4000
"""TCP_USER_TIMEOUT: a peer that takes nothing for this long is gone."""
SEND_BUFFER = 128 * 1024
"""A small buffer in the kernel, so that a viewer that does not read is noticed soon: the default
hides megabytes, which is seconds."""
BACKLOG = 128
GRACEFUL_S = 1
"""What requests that are being answered may take when the server ends."""
DATE_S = 1.0
"""How old the Date header of an answer may be."""
GOODBYE = "plegscope was stopped. Start it again, then load this page."


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; connections are accepted from now on and served once ``serve`` runs.

    Args:
        host: an address or a name of this machine.
        port: 0 for any free one; ``getsockname()[1]`` tells which.

    Raises:
        ListenError: it cannot be listened on; the text says why and what to do.
    """
    try:
        if _is_shorthand(host):
            raise ValueError("an address that a browser writes otherwise")
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICSERV
        )
    except (OSError, ValueError) as error:
        raise ListenError(
            f"{host!r} is no address of this machine. Give --host an IP address, written in full, "
            "or leave it out for 127.0.0.1."
        ) from error
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted connections inherit these two.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
        listener.bind(address)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise ListenError(_why_not(error, host, port)) from error
    return listener


def _is_shorthand(host: str) -> bool:
    """Whether the resolver takes ``host`` for an address that is not written so: ``*``, ``0``,
    ``127.1``. A browser sends the full one as Host, which then would not be served."""
    if host == "*":
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        try:
            socket.inet_aton(host)
        except (OSError, ValueError):
            return False
        return True
    return False


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is in use, perhaps by another plegscope. Choose another with "
            "--port, or take any free one with --port 0."
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return (
            f"Listening on port {port} is not allowed for this user. Choose a port above 1023 with "
            "--port, or take any free one with --port 0."
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return (
            f"This machine has no address {host}. Give --host one that it has, or leave it out for "
            "127.0.0.1."
        )
    return (
        f"Listening on {host}, port {port}, did not work: {error.strerror}. Choose others with "
        "--host and --port."
    )


async def serve(
    app: ASGIApp, listener: socket.socket, shutdown: asyncio.Event, *, hub: Hub
) -> None:
    """Serve until ``shutdown`` is set (or this is cancelled), then say goodbye and end.

    Signals are not touched. Viewers get ``Limits.farewell`` to take the last words; requests that
    are being answered get ``GRACEFUL_S``. Who does not read delays nothing.
    """
    server = _Server(_config(app))
    cancelled: asyncio.CancelledError | None = None
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(sockets=[listener]), name="web: server")
        waiting = group.create_task(shutdown.wait(), name="web: shutdown")
        try:
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError as cancel:
            # Whoever cancels wants the end as well, and an orderly one is quick.
            cancelled = cancel
        waiting.cancel()
        hub.close(GOODBYE)
        if not serving.done():  # else it broke, which the group tells
            emptied = group.create_task(hub.emptied(), name="web: farewell")
            await asyncio.wait({emptied}, timeout=hub.limits.farewell)
            emptied.cancel()
            server.end()
            await asyncio.wait({serving})
    if cancelled is not None:
        raise cancelled


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        # Starlette and uvicorn describe the same thing in types of their own.
        cast("uvicorn._types.ASGIApplication", app),
        interface="asgi3",
        loop="none",
        http=RequestProtocol,
        lifespan="off",
        ws=ViewerProtocol,
        ws_max_size=4096,
        ws_per_message_deflate=False,
        # What goes wrong in a request is logged by the guard; uvicorn would add the noise of
        # every client that breaks off.
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        # Addresses and schemes that a client claims in headers are not believed.
        proxy_headers=False,
        limit_concurrency=connections.CONNECTIONS,
        backlog=BACKLOG,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=GRACEFUL_S,
    )


class _Server(uvicorn.Server):
    """uvicorn's server without its ten looks a second at whether it should exit.

    With nobody looking at the page they would cost as much CPU as polling the runtime does.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Let ``serve`` return, after what is being answered."""
        self.should_exit = True
        self._ending.set()

    async def main_loop(self) -> None:
        """Once a second is what the Date header needs."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(DATE_S):
                    await self._ending.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to the command line."""
        yield
