"""What-ifs over HTTP: every answer is a page or JSON, and what is wrong is a sentence."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest
from fastapi import FastAPI

from app.errors import RecordingBusy
from app.replaying.library import Library
from app.resources import templates_dir
from app.web import whatif
from app.web.access import access
from app.web.guard import Guard
from app.web.openapi import describe
from app.web.pages import PageData, Pages
from app.whatif.answer import WhatIf
from app.whatif.desk import Asking, WhatIfs
from tests.recording.recorded import record_scenario
from tests.web.test_pages import Page, session

HOSTILE = '<b onclick="x">.mcap'
HTML = {"Accept": "text/html"}


class Shown(Page):
    """A page, and what it is made of."""

    def __init__(self, html: str) -> None:
        self.html = html
        super().__init__(html)

    @property
    def answer(self) -> dict[str, str | None]:
        """The part that is the answer."""
        (found,) = (one for one in self.all("section") if one.get("id") == "answer")
        return found

    def field(self, name: str) -> str | None:
        """What a field of the form holds."""
        (found,) = (one for one in self.all("input") if one.get("name") == name)
        return found.get("value")

    @property
    def said(self) -> str:
        """Its words, without blanks that keep lines whole."""
        return self.words.replace("\N{NO-BREAK SPACE}", " ")


class Bench:
    """The part alone, behind a guard."""

    def __init__(self, folder: Path) -> None:
        library = Library(folder)
        data = PageData(state=session, pods=lambda: (), pod_records=lambda _uid: ())
        pages = Pages(templates_dir(), data, version="1.2.3", recordings=True)
        self.desk = WhatIfs(library.paths)
        self.app = FastAPI()
        self.parts = [whatif.api(self.desk), whatif.pages(self.desk, pages)]
        for part in self.parts:
            self.app.include_router(part.router)

        @self.app.get("/metrics")
        async def metrics() -> str:
            return ""

        guard = Guard(self.app, access("127.0.0.1", 8000, token=None), None, ())
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(guard), base_url="http://127.0.0.1:8000", timeout=60
        )

    async def page(self, query: str, status: int = 200, **headers: str) -> Shown:
        answer = await self.client.get(f"{whatif.PAGE}?{query}", headers=HTML | headers)
        assert answer.status_code == status, answer.text
        return Shown(answer.text)

    async def json(self, query: str) -> WhatIf:
        answer = await self.client.get(f"{whatif.API}?{query}")
        assert answer.status_code == 200, answer.text
        return msgspec.json.decode(answer.content, type=WhatIf)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recordings")
    record_scenario(folder / "a.mcap", "crash-loop", seconds=40)
    (folder / HOSTILE).write_bytes((folder / "a.mcap").read_bytes())
    return folder


@pytest.fixture
async def bench(folder: Path) -> AsyncIterator[Bench]:
    bench = Bench(folder)
    async with bench.client, asyncio.TaskGroup() as group:
        task = group.create_task(bench.desk.run(), name="what-if")
        yield bench
        task.cancel()


async def test_the_form_then_how_far_it_is_then_the_answer(bench: Bench) -> None:
    page = await bench.page("file=a.mcap")
    assert page.answer["data-state"] == "idle"
    assert "Recorded with profile kep" in page.said
    query = "file=a.mcap&profile=polling&period=5s&hold=&stream=recorded&ask=1"
    page = await bench.page(query)
    assert page.answer["data-state"] == "going"
    assert (page.answer["hx-get"] or "").startswith(
        "/recordings/whatif?file=a.mcap&profile=polling&period=5s"
    )
    assert 'http-equiv="refresh"' in page.html
    told = await bench.json(query)
    page = await bench.page(query)
    assert page.answer["data-state"] == "told"
    assert "hx-get" not in page.answer
    for words in (
        "polling, every 5 s",
        "wrong cache",
        "Found by",
        "Calls to the runtime",
        "What this rests on",
        "What it cannot tell",
        "Polls come at another moment of their period in each run",
    ):
        assert words in page.said, words
    assert told.knows[0].replace("\N{NO-BREAK SPACE}", " ") in page.said
    # The first row leads into the player, at that moment of its clock.
    links = [one["href"] or "" for one in page.all("a")]
    assert sum(link.startswith("/replay?file=a.mcap&t=") for link in links) > len(told.rows)


async def test_the_same_settings_are_a_check(bench: Bench) -> None:
    told = await bench.json("file=a.mcap&ask=1")
    assert told.same is not None
    assert told.same.well
    page = await bench.page("file=a.mcap&ask=1&profile=kep")
    if page.answer["data-state"] == "going":
        await bench.json("file=a.mcap&profile=kep")
        page = await bench.page("file=a.mcap&ask=1&profile=kep")
    assert "The same records, byte for byte" in page.said


@pytest.mark.parametrize(
    ("query", "status", "why"),
    [
        ("file=a.mcap&period=5", 422, "`period`: '5' is no duration"),
        ("file=a.mcap&stream=x", 422, "choose one of recorded"),
        ("file=a.mcap&profile=%3Cb%3E", 422, "is no profile"),
        ("file=a.mcap&node=7&ask=1", 404, "no node 7"),
        ("file=none.mcap&ask=1", 404, "not in reach"),
        ("file=..%2Fa.mcap", 404, "named by its file"),
        ("", 404, "No recording was named"),
    ],
)
async def test_what_is_wrong_is_a_sentence(bench: Bench, query: str, status: int, why: str) -> None:
    page = await bench.page(query, status)
    # A page shows what is quoted as code, without its marks.
    assert why.replace("`", "") in page.said
    assert [one for one in page.all("p") if one.get("role") == "alert"]
    assert ("Run it again" in page.said) == query.startswith("file=a.mcap")
    assert "<b>" not in page.html.partition('id="answer"')[2].partition("</section>")[0]
    # In the page it is put into it is an answer like any other.
    await bench.page(query, 200, **{"HX-Request": "true"})
    answer = await bench.client.get(f"{whatif.API}?{query}")
    assert answer.status_code == status
    assert why in answer.json()["error"]


async def test_names_are_no_markup(bench: Bench) -> None:
    page = await bench.page("file=%3Cb+onclick%3D%22x%22%3E.mcap&profile=best", 422)
    assert "<b onclick" not in page.html
    assert page.field("file") == HOSTILE


async def test_it_can_be_stopped(bench: Bench) -> None:
    query = "file=a.mcap&queue=77&ask=1"
    await bench.page(query)
    page = await bench.page(f"{query}&stop=1")
    assert page.answer["data-state"] == "idle"
    assert page.field("queue") == "77"


async def test_progress_asks_without_wanting(bench: Bench) -> None:
    answer = await bench.client.get(f"{whatif.API}/progress?file=a.mcap&queue=5")
    assert msgspec.json.decode(answer.content, type=Asking).state == "absent"
    answer = await bench.client.get(f"{whatif.API}/progress?queue=x")
    assert answer.status_code == 422


async def test_too_many_questions_are_told_to_come_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(_question: object) -> bytes:
        raise RecordingBusy("Too many. Come again.")

    monkeypatch.setattr(bench.desk, "packed", busy)
    answer = await bench.client.get(f"{whatif.API}?file=a.mcap&queue=9")
    assert answer.status_code == 503
    assert answer.json() == {"error": "Too many. Come again."}


async def test_who_cannot_unpack_gets_it_unpacked(bench: Bench) -> None:
    query = "file=a.mcap&profile=generic"
    question, _ = bench.desk.asked([("file", "a.mcap"), ("profile", "generic")])
    packed = await bench.desk.packed(question)
    for accepts in ("gzip", "identity"):
        answer = await bench.client.get(
            f"{whatif.API}?{query}", headers={"Accept-Encoding": accepts}
        )
        assert answer.content == gzip.decompress(packed)


async def test_the_api_is_described(bench: Bench) -> None:
    document = describe(bench.app, bench.parts[0].answers)()
    operation = document["paths"][whatif.API]["get"]
    names = {one["name"] for one in operation["parameters"]}
    assert names >= {"file", "node", "profile", "period", "queue", "hold", "stream", "loss"}
    assert operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    assert set(operation["responses"]) >= {"200", "404", "422", "503"}
