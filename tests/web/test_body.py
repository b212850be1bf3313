"""A body that does not come, is too large, or whose sender leaves costs little."""

from __future__ import annotations

import asyncio
import logging

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from app.web import body
from app.web.access import access
from app.web.body import MOST_BYTES, Refused, read_body
from app.web.guard import Guard
from tests.web.asgi import get


def request_of(*messages: Message) -> Request:
    """A request whose body comes so; after the last part nothing comes any more."""
    incoming = list(messages)

    async def receive() -> Message:
        if not incoming:
            await asyncio.Event().wait()
        return incoming.pop(0)

    return Request({"type": "http", "headers": [], "method": "POST"}, receive)


def part(content: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": content, "more_body": more}


async def test_a_whole_body_is_read() -> None:
    request = request_of(part(b"ab", more=True), part(b"c", more=False))
    assert await read_body(request, "Too much.") == b"abc"


async def test_what_is_too_large_is_not_read_on() -> None:
    request = request_of(part(b"a" * MOST_BYTES, more=True), part(b"b", more=True))
    with pytest.raises(Refused) as refused:
        await read_body(request, "Too much.")
    assert (refused.value.status, refused.value.sentence) == (413, "Too much.")


@pytest.mark.parametrize("leaves", [True, False])
async def test_what_does_not_come_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, *, leaves: bool
) -> None:
    monkeypatch.setattr(body, "PATIENCE_S", 0.01)
    last: list[Message] = [{"type": "http.disconnect"}] if leaves else []
    with pytest.raises(Refused) as refused:
        await read_body(request_of(part(b"a", more=True), *last), "Too much.")
    assert refused.value.status == 408
    assert refused.value.headers == {"Connection": "close"}


async def test_who_leaves_is_no_mistake(caplog: pytest.LogCaptureFixture) -> None:
    async def left(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise ClientDisconnect

    guard = Guard(left, access("127.0.0.1", 7780, token=None))
    with caplog.at_level(logging.DEBUG):
        answer = await get(guard, "/", [("Host", "127.0.0.1:7780")])
    assert answer.messages == []
    assert not [one for one in caplog.records if one.name == "plegscope.web"]
