"""A real server on a free port, fed by hand, and real clients for it.

``serving`` is also what a benchmark needs: append records to ``site.journal``, and time their
arrival at as many ``site.watch()`` as wanted.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
from starlette.types import ASGIApp
from websockets.asyncio.client import ClientConnection, connect

from app.hub.hub import Hub
from app.hub.limits import Limits
from app.hub.wire import SessionState
from app.journal.journal import Journal
from app.journal.levels import Levels
from app.journal.projection import PodTable
from app.metrics.metrics import Metrics
from app.metrics.own import Figures
from app.web import bins
from app.web.access import Access, access
from app.web.app import Pages, create_app
from app.web.desk import Desk
from app.web.part import Part
from app.web.server import listen, serve
from tests.build import SESSION, engine_state, note, session_state
from tests.patience import PATIENCE_S, Stopwatch

TOKEN = "a-token-of-this-start"
QUICK = Limits(flush_interval=0.01, gather=0.002, state_interval=0.05)

Message = dict[str, Any]


class Site:
    """Everything behind one address."""

    def __init__(self, limits: Limits, capacity: int, token: str | None) -> None:
        self.journal = Journal(capacity)
        self.pods = PodTable()
        self.journal.subscribe(self.pods.apply)
        self.levels = Levels()
        self.journal.subscribe(self.levels.apply)
        self.metrics = Metrics(
            lambda: self.state().engine, lambda: Figures(version="1.2.3", viewers=self.viewers)
        )
        self.journal.subscribe(self.metrics.apply)
        self.hub = Hub(
            self.journal, self.pods, self.state, session=SESSION, version="1.2.3", limits=limits
        )
        self.token = token
        self.shutdown = asyncio.Event()
        self.ended = asyncio.Event()
        self.ended_after_s = 0.0
        """How long the server took to end once told to; without what others had the core for."""
        self.port = 0
        self.engine: dict[str, Any] = {}
        """Fields of the engine's state that are to be as given."""
        self.transport: httpx.AsyncBaseTransport | None = None

    @property
    def viewers(self) -> int:
        """Connected now."""
        return self.hub.stats.viewers

    @property
    def url(self) -> str:
        """Where it is, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        """What admits a script."""
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    def state(self) -> SessionState:
        """The header's state."""
        return session_state(
            engine_state(**{"t": self.journal.last_seq, **self.engine}),
            viewers=self.hub.stats.viewers,
            last_seq=self.journal.last_seq,
        )

    def happen(self, count: int = 1, text: str = "something") -> None:
        """Append records."""
        for _ in range(count):
            self.journal.append(note(self.journal.last_seq + 1, text))

    def app(
        self,
        rules: Access,
        pages: Pages | None,
        static: Path | None,
        desk: Desk | None = None,
        parts: Sequence[Part] = (),
    ) -> ASGIApp:
        """The guarded application."""
        return create_app(
            hub=self.hub,
            journal=self.journal,
            pods=self.pods,
            state=self.state,
            metrics=self.metrics.render,
            access=rules,
            version="1.2.3",
            pages=pages,
            static=static,
            desk=desk,
            parts=[bins.part(bins.of_session(self.levels, self.state)), *parts],
        )

    def client(self, **options: Any) -> httpx.AsyncClient:
        """An HTTP client that is admitted."""
        options.setdefault("headers", self.headers)
        return httpx.AsyncClient(
            base_url=self.url,
            timeout=PATIENCE_S,
            trust_env=False,
            verify=False,  # nothing here is https, and loading certificates takes long
            transport=self.transport,
            **options,
        )

    def watch(self, query: str = "", **options: Any) -> connect:
        """A WebSocket client; use with ``async with``."""
        options.setdefault("origin", self.url)
        options.setdefault("additional_headers", self.headers)
        options.setdefault("compression", None)
        return connect(
            f"ws://127.0.0.1:{self.port}/ws{query}",
            proxy=None,
            open_timeout=PATIENCE_S,
            close_timeout=1,
            max_size=None,
            **options,
        )

    def freeze(self) -> socket.socket:
        """A viewer that connects and then never reads: a bare socket with a small buffer."""
        frozen = socket.socket()
        frozen.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        frozen.setblocking(False)
        return frozen

    async def freeze_in(self, frozen: socket.socket) -> None:
        """Let it ask for the WebSocket."""
        loop = asyncio.get_running_loop()
        await loop.sock_connect(frozen, ("127.0.0.1", self.port))
        lines = [
            "GET /ws HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Origin: {self.url}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        await loop.sock_sendall(frozen, ("\r\n".join(lines) + "\r\n\r\n").encode())


def standing(
    *,
    token: str | None = TOKEN,
    capacity: int = 100_000,
    desk: Desk | None = None,
    pages: Pages | None = None,
    parts: Sequence[Part] = (),
) -> Site:
    """The same application without a server: its clients call it directly, which is quicker."""
    site = Site(QUICK, capacity, token)
    site.port = 7780
    rules = access("127.0.0.1", site.port, token=token)
    site.transport = httpx.ASGITransport(site.app(rules, pages, None, desk, parts))
    return site


@asynccontextmanager
async def serving(
    limits: Limits = QUICK,
    *,
    token: str | None = TOKEN,
    capacity: int = 100_000,
    pages: Pages | None = None,
    static: Path | None = None,
    allow_hosts: tuple[str, ...] = (),
) -> AsyncIterator[Site]:
    """Serve on a free port of 127.0.0.1; ends with an orderly shutdown."""
    site = Site(limits, capacity, token)
    listener = listen("127.0.0.1", 0)
    site.port = listener.getsockname()[1]
    rules = access("127.0.0.1", site.port, token=token, allow_hosts=allow_hosts)
    app = site.app(rules, pages, static)

    async def run_server() -> None:
        try:
            await serve(app, listener, site.shutdown, hub=site.hub)
        finally:
            site.ended.set()

    async def time_the_end() -> None:
        await site.shutdown.wait()
        watch = Stopwatch()
        await site.ended.wait()
        site.ended_after_s = watch.seconds()

    async with asyncio.TaskGroup() as group:
        hub = group.create_task(site.hub.run())
        group.create_task(run_server())
        group.create_task(time_the_end())
        try:
            yield site
        finally:
            site.shutdown.set()
            await site.ended.wait()
            hub.cancel()


async def read(viewer: ClientConnection) -> Message:
    """The next message."""
    async with asyncio.timeout(PATIENCE_S):
        data = await viewer.recv()
    assert isinstance(data, str), "text frames only"
    message: Message = msgspec.json.decode(data)
    return message


async def read_until(viewer: ClientConnection, kind: str) -> Message:
    """The next message of this type; others are dropped."""
    while (message := await read(viewer))["type"] != kind:
        pass
    return message
