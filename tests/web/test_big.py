"""Large answers go out in pieces: readers share them, and those who hardly read are let go."""

from __future__ import annotations

import asyncio
import gzip
import random
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message

from app.web import big
from app.web.big import PIECE, SMALL, Readers

PLAIN = random.Random(1).randbytes(3 * PIECE) * 5 + b"0" * 10 * PIECE
PACKED = gzip.compress(PLAIN, 1, mtime=0)
LARGE = gzip.compress(random.Random(2).randbytes(SMALL + 5), 1, mtime=0)


def asking(*, packed: bool) -> Request:
    headers = [(b"accept-encoding", b"gzip")] if packed else []
    return Request({"type": "http", "method": "GET", "headers": headers, "state": {}})


class Reader:
    """Takes pieces; stops after ``stops`` messages, and goes when let go."""

    def __init__(self, stops: int = 1000) -> None:
        self.got: list[Message] = []
        self.stops = stops
        self.gone = asyncio.Event()
        self.stopped = asyncio.Event()

    async def send(self, message: Message) -> None:
        if len(self.got) >= self.stops:
            self.stopped.set()
            await asyncio.Event().wait()
        self.got.append(message)

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    @property
    def scope(self) -> dict[str, Any]:
        return {"type": "http", "method": "GET", "headers": [], "state": {"let_go": self.gone.set}}

    @property
    def body(self) -> bytes:
        return b"".join(one.get("body", b"") for one in self.got)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("whole", [PACKED, LARGE])
async def test_a_large_answer_comes_whole_and_in_pieces(whole: bytes, *, packed: bool) -> None:
    readers, reader = Readers(), Reader()
    answer = readers.answer(whole, asking(packed=packed))
    await answer(reader.scope, reader.receive, reader.send)
    assert reader.body == (whole if packed else gzip.decompress(whole))
    assert max(len(one.get("body", b"")) for one in reader.got) <= PIECE
    assert readers.now == 0
    names = [name for name, _ in reader.got[0]["headers"]]
    assert (b"content-length" in names, b"content-encoding" in names) == (packed, packed)


async def test_a_small_packed_answer_is_sent_at_once() -> None:
    small = gzip.compress(b"{}")
    assert Readers(0).answer(small, asking(packed=True)).body == small


@pytest.mark.parametrize("packed", [True, False])
async def test_who_hardly_reads_is_let_go(monkeypatch: pytest.MonkeyPatch, *, packed: bool) -> None:
    monkeypatch.setattr(big, "GRACE_S", 0.02)
    monkeypatch.setattr(big, "PACE", 1e9)
    readers, reader = Readers(), Reader(stops=3)
    answer = readers.answer(LARGE, asking(packed=packed))
    async with asyncio.timeout(60):
        await answer(reader.scope, reader.receive, reader.send)
    assert reader.gone.is_set()
    assert readers.now == 0


async def test_so_many_read_at_a_time_and_one_more_is_told_so() -> None:
    readers, reader = Readers(1), Reader(stops=2)
    answer = readers.answer(LARGE, asking(packed=False))
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(answer(reader.scope, reader.receive, reader.send))
        await reader.stopped.wait()
        refused = readers.answer(LARGE, asking(packed=True))
        assert refused.status_code == 503
        assert b"Ask again" in bytes(refused.body)
        reading.cancel()
    assert readers.answer(LARGE, asking(packed=True)).status_code == 200
