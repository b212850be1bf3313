"""Recordings over HTTP: bounded, named by their names alone, and never believed."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args

import httpx
import msgspec
import pytest
from fastapi import FastAPI

from app.hub.filmwire import FilmTold, Markers, Piece, RecordingList
from app.replaying.library import Library
from app.resources import templates_dir
from app.web import body, faults, recordingpages, recordings
from app.web.access import access
from app.web.exports import FormatName
from app.web.guard import Guard
from app.web.pages import PageData, Pages
from tests.recording.recorded import record_scenario
from tests.web.test_pages import Page, session

S = 1_000_000_000
HOSTILE = '<b onclick="x">\u202e.mcap'
OWN = {"Origin": "http://127.0.0.1:8000", "Host": "127.0.0.1:8000"}
MARKERS = recordings.MARKERS


class Bench:
    """The part alone, behind a guard."""

    def __init__(self, folder: Path, given: list[Path], token: str | None = None) -> None:
        self.library = Library(None if given else folder, given)
        data = PageData(state=session, pods=lambda: (), pod_records=lambda _uid: ())
        pages = Pages(templates_dir(), data, version="1.2.3", recordings=True)
        app = FastAPI()
        parts = [
            recordings.api(self.library),
            recordingpages.pages(self.library, pages, home=bool(given)),
            recordings.drop(self.library),
            recordingpages.pods(self.library, pages),
        ]
        for part in parts:
            app.include_router(part.router)
        app.add_exception_handler(body.Refused, faults.refused)
        changes = tuple(path for part in parts for path in part.changes)
        guard = Guard(app, access("127.0.0.1", 8000, token=token), None, changes)
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(guard), base_url="http://127.0.0.1:8000"
        )

    async def told(self, **query: object) -> FilmTold:
        answer = await self.client.get("/api/v1/recording", params=dict(query))  # type: ignore[arg-type]
        assert answer.status_code == 200, answer.text
        return msgspec.json.decode(answer.content, type=FilmTold)

    async def whole(self) -> FilmTold:
        async with asyncio.timeout(60):
            while True:
                told = await self.told(file="a.mcap")
                if told.whole:
                    return told
                await asyncio.sleep(0)

    async def mark(self, order: object, **headers: str) -> httpx.Response:
        return await self.client.post(f"{MARKERS}?file=a.mcap", json=order, headers=OWN | headers)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    record_scenario(tmp_path / "a.mcap", "storm", seconds=40)
    (tmp_path / HOSTILE).write_bytes((tmp_path / "a.mcap").read_bytes())
    (tmp_path / "bad.mcap").write_bytes(b"nothing")
    return tmp_path


@pytest.fixture
async def bench(folder: Path) -> AsyncIterator[Bench]:
    bench = Bench(folder, [])
    async with bench.client, asyncio.TaskGroup() as group:
        task = group.create_task(bench.library.run(), name="library")
        yield bench
        task.cancel()


async def test_a_recording_is_told_in_pieces(bench: Bench) -> None:
    told = await bench.whole()
    records = 0
    for number, span in enumerate(told.pieces):
        answer = await bench.client.get(
            "/api/v1/recording/piece", params={"file": "a.mcap", "number": number}
        )
        piece = msgspec.json.decode(answer.content, type=Piece)
        assert (piece.number, piece.first) == (number, span.first)
        records += len(piece.records)
    assert records == told.records
    later = await bench.told(file="a.mcap", since=1)
    assert later.pieces == told.pieces[1:]


async def test_a_piece_is_packed_for_whoever_takes_it_so(bench: Bench) -> None:
    await bench.whole()
    url = "/api/v1/recording/piece?file=a.mcap&number=0"
    packed = await bench.library.piece(["a.mcap"], 0, 0)
    for accepts in ("gzip", "identity"):
        answer = await bench.client.get(url, headers={"Accept-Encoding": accepts})
        assert answer.headers.get("content-encoding") == ("gzip" if accepts == "gzip" else None)
        assert answer.content == gzip.decompress(packed)


@pytest.mark.parametrize(
    ("query", "status", "why"),
    [
        ("file=none.mcap", 404, "not in reach"),
        ("file=../a.mcap", 404, "named by its file"),
        ("file=%2Fetc%2Fpasswd", 404, "named by its file"),
        ("file=", 404, "named by its file"),
        ("file=a%00b", 404, "named by its file"),
        (f"file={'x' * 300}", 404, "named by its file"),
        ("", 404, "No recording was named"),
        ("file=a.mcap&node=7", 404, "has no node 7"),
        ("file=bad.mcap", 422, "no MCAP file"),
    ],
)
async def test_what_cannot_be_played_is_a_sentence(
    bench: Bench, query: str, status: int, why: str
) -> None:
    for path in ("/api/v1/recording", "/api/v1/recording/piece", "/api/v1/recording/find"):
        more = {"": "", "piece": "&number=0", "find": "&what=relist&seq=0"}
        answer = await bench.client.get(f"{path}?{query}{more.get(path.rsplit('/')[-1], '')}")
        assert answer.status_code == status
        assert why in answer.json()["error"]
    page = await bench.client.get(f"/replay?{query}")
    assert page.status_code == status
    assert why in Page(page.text).words


@pytest.mark.parametrize(
    "query", ["node=-1", "since=-1", "since=x", "node=1e9", "&".join(["file=a.mcap"] * 201)]
)
async def test_a_question_that_is_none_is_refused(bench: Bench, query: str) -> None:
    answer = await bench.client.get(f"/api/v1/recording?file=a.mcap&{query}")
    assert answer.status_code == 422


async def test_the_list_shows_names_as_text(bench: Bench) -> None:
    page = Page((await bench.client.get("/recordings")).text)
    links = [one.get("href", "") for one in page.all("a")]
    assert "/replay?file=a.mcap" in links
    assert any("%3Cb+onclick" in str(link) for link in links)
    assert not any(one.get("onclick") for one in page.all("b"))
    assert "is no MCAP file" in page.words
    told = await bench.client.get("/api/v1/recordings")
    listed = msgspec.json.decode(told.content, type=RecordingList)
    assert {row.name for row in listed.recordings} == {"a.mcap", "bad.mcap", HOSTILE}


async def test_a_name_is_followed_whatever_it_is(bench: Bench) -> None:
    page = await bench.client.get("/replay", params={"file": HOSTILE})
    assert page.status_code == 200
    assert "onclick=" not in page.text.replace("onclick=&#34;", "").replace("onclick%3D", "")


async def test_each_can_be_exported_without_scripts(bench: Bench) -> None:
    page = Page((await bench.client.get("/recordings")).text)
    links = [str(one.get("href", "")) for one in page.all("a")]
    (link,) = [one for one in links if one == "/recordings/export?file=a.mcap"]
    answer = await bench.client.get(link)
    assert answer.status_code == 200
    form = Page(answer.text)
    assert [one.get("action") for one in form.all("form")] == ["/api/v1/recording/export"]
    fields = {str(one.get("name")) for one in (*form.all("input"), *form.all("select"))}
    assert fields == {"file", "format", "table", "from", "to", "redact", "container_names"}
    formats = {one.get("value") for one in form.all("input") if one.get("name") == "format"}
    assert formats == set(get_args(FormatName))
    hostile = await bench.client.get("/recordings/export", params={"file": HOSTILE})
    assert hostile.status_code == 200
    assert not any(one.get("onclick") for one in Page(hostile.text).all("b"))
    gone = await bench.client.get("/recordings/export?file=none.mcap")
    assert (gone.status_code, "not in reach" in Page(gone.text).words) == (404, True)


async def test_a_directory_without_recordings_says_how_to_get_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "none", [])
    async with bench.client:
        page = Page((await bench.client.get("/recordings")).text)
    assert "There is no recording here yet" in page.words


async def test_what_was_given_is_played_at_the_root(folder: Path) -> None:
    bench = Bench(folder, [folder / "a.mcap"])
    async with bench.client:
        page = await bench.client.get("/")
        assert page.status_code == 200
        assert 'data-page="replay"' in page.text
        assert (await bench.told()).name == "a.mcap"


async def test_started_without_a_file_the_root_is_the_list(folder: Path) -> None:
    bench = Bench(folder, [])
    app = FastAPI()
    data = PageData(state=session, pods=lambda: (), pod_records=lambda _uid: ())
    pages = Pages(templates_dir(), data, version="1.2.3", recordings=True)
    app.include_router(recordingpages.pages(bench.library, pages, home=True).router)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/recordings")


async def test_a_file_is_taken_and_opened(tmp_path: Path, folder: Path) -> None:
    bench = Bench(tmp_path / "none", [])
    url = f"{recordings.DROPPED}?name=b.mcap"
    data = (folder / "a.mcap").read_bytes()
    async with bench.client:
        answer = await bench.client.post(url, content=data, headers=OWN)
        assert answer.json() == {"name": "b.mcap"}
        assert (await bench.told(file="b.mcap")).name == "b.mcap"
        refused = await bench.client.post(url, content=b"no", headers=OWN)
        assert refused.status_code == 422
        assert "no MCAP file" in refused.json()["error"]
        stranger = OWN | {"Origin": "http://evil.example"}
        assert (await bench.client.post(url, content=data, headers=stranger)).status_code == 403
    bench.library.close()


# Markers


async def test_a_marker_is_put_and_taken_away(bench: Bench, folder: Path) -> None:
    answer = await bench.mark({"t": 5 * S, "note": "here"})
    told = msgspec.json.decode(answer.content, type=Markers)
    assert [(one.t, one.note) for one in told.markers] == [(5 * S, "here")]
    assert (folder / "a.mcap.markers.json").exists()
    again = await bench.client.get(f"{MARKERS}?file=a.mcap")
    assert again.content == answer.content
    gone = await bench.mark({"remove": told.markers[0].number})
    assert gone.json()["markers"] == []


@pytest.mark.parametrize(
    "order",
    [{}, {"t": 1}, {"note": "x"}, {"t": "1", "note": "x"}, {"t": 1.5, "note": "x"},
     {"t": 1, "note": 7}, {"t": 1, "note": "x", "more": 1}, {"remove": "1"}, {"t": -1, "note": "x"},
     {"t": 1, "note": ""}, {"remove": 99}, {"t": True, "note": "x"}, {"remove": True}],
)  # fmt: skip
async def test_what_is_no_marker_is_refused(bench: Bench, order: object) -> None:
    answer = await bench.mark(order)
    assert answer.status_code == 422
    assert answer.json()["error"]


async def test_nobody_else_marks(bench: Bench, folder: Path) -> None:
    order = {"t": 1, "note": "x"}
    assert (await bench.mark(order, Origin="http://evil.example")).status_code == 403
    plain = await bench.client.post(f"{MARKERS}?file=a.mcap", json=order)
    assert plain.status_code == 403
    assert (
        await bench.client.post("/api/v1/recording?file=a.mcap", headers=OWN)
    ).status_code == 405
    big = await bench.mark({"t": 1, "note": "x" * 5000})
    assert big.status_code == 413
    orders = [bench.mark({"remove": 99}) for _ in range(2 * faults.BURST)]
    statuses = [answer.status_code for answer in await asyncio.gather(*orders)]
    assert set(statuses) == {422, 429}
    assert not (folder / "a.mcap.markers.json").exists()


async def test_a_stranger_sees_nothing(folder: Path) -> None:
    bench = Bench(folder, [], token="secret-of-this-start")
    async with bench.client:
        for path in ("/recordings", "/replay?file=a.mcap", "/api/v1/recordings",
                     "/api/v1/recording?file=a.mcap", f"{MARKERS}?file=a.mcap"):  # fmt: skip
            assert (await bench.client.get(path)).status_code == 401


async def test_who_sends_a_byte_now_and_then_does_not_keep_others_away(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "PATIENCE_S", 0.1)
    monkeypatch.setattr(recordings, "PACE", 1_000_000)

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0)

    bench = Bench(folder, [folder / "a.mcap"])
    try:
        async with asyncio.timeout(60):
            answer = await bench.client.post(
                f"{recordings.DROPPED}?name=b.mcap", content=endless(), headers=OWN
            )
        assert answer.status_code == 422
        assert "did not come" in answer.json()["error"]
    finally:
        bench.library.close()
        await bench.client.aclose()
