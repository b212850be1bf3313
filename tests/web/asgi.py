"""Calls an ASGI application by hand, so that tests see exactly what it was asked and answered."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from starlette.types import ASGIApp, Message, Scope

Pairs = list[tuple[str, str]]


@dataclasses.dataclass
class Answer:
    """What an application sent.

    Attributes:
        messages: every ASGI message, in order.
    """

    messages: list[Message]

    @property
    def status(self) -> int:
        """The HTTP status; of a WebSocket that was not accepted, too."""
        return int(self._start()["status"])

    @property
    def headers(self) -> dict[str, str]:
        """Header names in lower case; one that came twice fails."""
        pairs = [(k.decode().lower(), v.decode()) for k, v in self._start()["headers"]]
        assert len(dict(pairs)) == len(pairs), f"a header came twice: {pairs}"
        return dict(pairs)

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(m.get("body", b"") for m in self.messages if m["type"].endswith(".body"))

    @property
    def error(self) -> str:
        """The sentence of a JSON refusal."""
        sentence = json.loads(self.body)["error"]
        assert isinstance(sentence, str)
        return sentence

    @property
    def accepted(self) -> bool:
        """Whether a WebSocket was accepted."""
        return any(m["type"] == "websocket.accept" for m in self.messages)

    def _start(self) -> Message:
        return next(m for m in self.messages if m["type"].endswith("response.start"))


def scope_of(
    kind: str, method: str, target: str, headers: Pairs, extensions: dict[str, Any] | None = None
) -> Scope:
    """A scope as uvicorn makes it."""
    path, _, query = target.partition("?")
    scope: Scope = {
        "type": kind,
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "ws" if kind == "websocket" else "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 7780),
        "extensions": {"websocket.http.response": {}} if extensions is None else extensions,
    }
    if kind == "http":
        scope["method"] = method
    else:
        scope["subprotocols"] = []
    return scope


async def call(app: ASGIApp, scope: Scope) -> Answer:
    """One request, or one attempt at a WebSocket."""
    sent: list[Message] = []
    incoming: list[Message] = (
        [{"type": "http.request", "body": b"", "more_body": False}]
        if scope["type"] == "http"
        else [{"type": "websocket.connect"}]
    )

    async def receive() -> Message:
        return incoming.pop(0) if incoming else {"type": "websocket.disconnect", "code": 1005}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return Answer(sent)


async def get(app: ASGIApp, target: str, headers: Pairs, method: str = "GET") -> Answer:
    """One HTTP request."""
    return await call(app, scope_of("http", method, target, headers))


async def connect(app: ASGIApp, target: str, headers: Pairs, **options: Any) -> Answer:
    """One attempt at a WebSocket."""
    return await call(app, scope_of("websocket", "", target, headers, **options))
