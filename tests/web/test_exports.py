"""Exports over HTTP: attachments, few at a time; what is wrong is told before the first byte."""

from __future__ import annotations

import asyncio
import csv
import html
import io
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
from starlette.types import ASGIApp

from app.errors import RecordingError, RecordingUnknown, StageError
from app.resources import templates_dir
from app.values import EXPORTS
from app.web import exports
from app.web.exports import Asked, Cut, Made
from app.web.making import PIECE, Desk
from app.web.pages import PageData, Pages
from tests.web.site import standing
from tests.web.test_big import Reader, asking
from tests.web.test_pages import session


class Exporter:
    """Makes what it is told to."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.pieces: Iterable[bytes] = (b"one", b"two")
        self.name = "node.csv"

    def _made(self, *asked: Any) -> Made:
        self.asked.append(asked)
        return Made(self.name, "text/csv", iter(self.pieces))

    def live(self, asked: Asked) -> Made:
        return self._made(asked)

    async def run(self, pairs: Iterable[tuple[str, str]], asked: Asked) -> Made:
        given = dict(pairs)
        if given.get("scenario") == "bad":
            raise StageError("There is no such scenario. Choose another.")
        return self._made(given, asked)

    async def recording(self, files: Sequence[str], asked: Asked, cut: Cut) -> Made:
        if files == ["gone"]:
            raise RecordingUnknown("It is not in reach. Choose another.")
        return self._made(files, asked, cut)


@pytest.fixture
def exporter() -> Exporter:
    return Exporter()


def client(exporter: Exporter, *, more: bool = True) -> Any:
    data = PageData(state=session, pods=lambda: (), pod_records=lambda _uid: ())
    pages = Pages(templates_dir(), data, version="1.2.3")
    part = exports.part(exporter, runs=more, recordings=more, pages=pages)
    return standing(parts=(part,)).client()


async def test_an_export_is_a_file_to_be_kept(exporter: Exporter) -> None:
    exporter.name = 'a "b"\r\nc/../d.csv'
    async with client(exporter) as web:
        answer = await web.get("/api/v1/export?format=csv&table=relists&redact=true")
    assert (answer.status_code, answer.content) == (200, b"onetwo")
    assert answer.headers["content-disposition"] == 'attachment; filename="a-b-c-..-d.csv"'
    assert answer.headers["content-type"].startswith("text/csv")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    ((asked,),) = exporter.asked
    assert (asked.format, asked.table, asked.redact, asked.container_names) == (
        "csv",
        "relists",
        True,
        False,
    )


@pytest.mark.parametrize("query", ["", "format=pdf", "format=csv&table=x", "format=csv&redact=?"])
async def test_what_cannot_be_asked_is_refused(exporter: Exporter, query: str) -> None:
    async with client(exporter) as web:
        answer = await web.get(f"/api/v1/export?{query}")
    assert answer.status_code == 422
    assert answer.json()["error"].endswith(".")
    assert exporter.asked == []


async def test_runs_and_recordings_are_named_by_the_link(exporter: Exporter) -> None:
    async with client(exporter) as web:
        run = await web.get("/api/v1/run/export?scenario=storm&seed=3&format=jsonl")
        recording = await web.get("/api/v1/recording/export?file=a.mcap&format=html")
        bad = await web.get("/api/v1/run/export?scenario=bad&format=jsonl")
        gone = await web.get("/api/v1/recording/export?file=gone&format=html")
        several = await web.get(
            "/api/v1/recording/export?file=a&file=b&format=html&node=1&from=1m2.5s&to=1:30"
        )
        every = await web.get("/api/v1/recording/export?file=a&file=b&format=csv&node=all")
        none = await web.get("/api/v1/recording/export?file=a&format=csv&node=-1")
    answers = (run, recording, bad, gone, several, every, none)
    assert [one.status_code for one in answers] == [200, 200, 422, 404, 200, 200, 422]
    assert exporter.asked[3][2] == Cut(None)
    assert exporter.asked[0][0]["seed"] == "3"
    assert (exporter.asked[1][0], exporter.asked[1][2]) == (["a.mcap"], Cut())
    assert exporter.asked[2][0] == ["a", "b"]
    assert exporter.asked[2][2] == Cut(1, 62_500_000_000, 90_000_000_000)
    assert gone.json()["error"] == "It is not in reach. Choose another."


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("from=soon", "`from`: 'soon' is no time"),
        ("from=5&to=1", "not after"),
        ("to=0", "not after"),
    ],
)
async def test_a_stretch_that_is_none_is_refused(exporter: Exporter, query: str, why: str) -> None:
    async with client(exporter) as web:
        address = f"/api/v1/recording/export?file=a&format=csv&{query}"
        answer = await web.get(address)
        page = await web.get(address, headers={"Accept": "text/html,*/*"})
    assert (answer.status_code, page.status_code) == (422, 422)
    assert why in answer.json()["error"]
    # Whoever sent a form has a page to read.
    assert page.headers["content-type"].startswith("text/html")
    assert "This link cannot be opened" in page.text
    assert exporter.asked == []


async def test_where_there_are_none_there_is_nothing_to_export(exporter: Exporter) -> None:
    async with client(exporter, more=False) as web:
        run = await web.get("/api/v1/run/export?format=jsonl")
        recording = await web.get("/api/v1/recording/export?format=jsonl")
    assert (run.status_code, recording.status_code) == (404, 404)


async def test_what_goes_wrong_at_once_is_a_sentence(exporter: Exporter) -> None:
    def failing(number: int) -> bytes:
        raise RecordingError(f"Too many names: {number}. Redact a shorter recording.")

    exporter.pieces = map(failing, range(3))
    async with client(exporter) as web:
        answer = await web.get("/api/v1/export?format=csv")
        assert answer.status_code == 422
        assert answer.json()["error"] == "Too many names: 0. Redact a shorter recording."
        exporter.pieces = [b"x"]
        for _ in range(3):
            assert (await web.get("/api/v1/export?format=csv")).content == b"x"


async def test_what_breaks_off_is_cut_off_and_told_in_a_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def breaking() -> Iterator[bytes]:
        yield b"x" * PIECE
        raise RecordingError("b.mcap cannot be read. Give another.")

    desk, reader = Desk(None), Reader()
    made = Made("a.jsonl", "text/plain", breaking())
    answer = await desk.answer(asking(packed=False), made)
    await answer(reader.scope, reader.receive, reader.send)
    assert reader.gone.is_set()
    assert reader.body == b"x" * PIECE
    assert caplog.messages == [
        "The export a.jsonl was cut off. b.mcap cannot be read. Give another."
    ]
    assert desk.told().exports == ()


async def test_no_more_than_two_are_made_at_once(exporter: Exporter) -> None:
    gate, begun = threading.Event(), threading.Semaphore(0)

    def slow() -> Iterator[bytes]:
        begun.release()
        assert gate.wait(60)
        yield b"done"

    exporter.pieces = slow()
    async with client(exporter) as web:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(web.get("/api/v1/export?format=csv"))
            assert await asyncio.to_thread(begun.acquire, timeout=60)
            exporter.pieces = slow()
            second = group.create_task(web.get("/api/v1/export?format=csv"))
            assert await asyncio.to_thread(begun.acquire, timeout=60)
            third = await web.get("/api/v1/export?format=csv")
            making = (await web.get("/api/v1/exports")).json()["exports"]
            assert [one["name"] for one in making] == ["node.csv", "node.csv"]
            gate.set()
        assert (third.status_code, third.json()["error"]) == (503, exports.BUSY)
        answers: list[httpx.Response] = [first.result(), second.result()]
        assert [one.content for one in answers] == [b"done", b"done"]
        assert (await web.get("/api/v1/exports")).json() == {"exports": []}
        exporter.pieces = [b"x"]
        assert (await web.get("/api/v1/export?format=csv")).content == b"x"


async def test_a_large_export_comes_in_pieces(exporter: Exporter) -> None:
    row = "x" * 99 + "\n"
    exporter.pieces = (row.encode() for _ in range(20_000))
    async with client(exporter) as web:
        answer = await web.get("/api/v1/export?format=csv")
    assert len(list(csv.reader(io.StringIO(answer.text)))) == 20_000


def test_the_links_on_the_page_ask_for_what_there_is() -> None:
    text = (templates_dir() / "about.html").read_text(encoding="utf-8")
    links = re.findall(r'href="/api/v1/export\?([^"]*)"', text)
    asked = [Asked.model_validate(dict(parse_qsl(html.unescape(one)))) for one in links]
    assert {one.format for one in asked} == set(EXPORTS)
    assert any(one.table == "relists" for one in asked)
    assert any(one.redact for one in asked)


def test_it_is_described(exporter: Exporter) -> None:
    part = exports.part(exporter, runs=True, recordings=True)
    app: ASGIApp = part.router
    assert app is not None
    assert ("/api/v1/export", "503") in part.answers
    assert len(part.answers) == 10
