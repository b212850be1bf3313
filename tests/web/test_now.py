"""The page of the first minute: whole and as a panel, hostile names, and what it saves."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

import httpx
import msgspec
import pytest
from fastapi import FastAPI

from app.engine.records import Record
from app.engine.state import RelistState
from app.errors import RecordingError
from app.hub.wire import PodRow, Recorded, SessionState
from app.journal.journal import Journal
from app.resources import templates_dir
from app.web import now
from app.web.nowfacts import MOST_DEATHS, MOST_ROWS
from app.web.pages import PageData, Pages
from tests.build import note, relist_finished
from tests.web.test_pages import HOSTILE, Page, S, container, died, pod, session

HTMX = {"HX-Request": "true"}
RECORDER = Recorded(
    well=True, file="/state/a.mcap", trouble="", bytes_total=1, bytes_per_s=5.0,
    cpu=0.0, cpu_ns=1, waiting=0, lost=0,
)  # fmt: skip


class Bench:
    """The page alone, without a guard."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.facts: dict[str, object] = {}
        self.there: list[PodRow] = [pod("a", containers=(container(),))]
        self.asked: list[int] = []
        self.trouble = ""
        data = PageData(state=self.state, pods=lambda: self.there, pod_records=lambda _uid: ())
        pages = Pages(templates_dir(), data, version="1.2.3", now=True)
        part = now.part(
            pages,
            state=self.state,
            pods=lambda: self.there,
            journal=self.journal,
            saving=now.Saving(self.lines, self.recording),
            command="plegscope demo --seed 3",
        )
        app = FastAPI()
        app.include_router(pages.router())
        app.include_router(part.router)
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://test", follow_redirects=False
        )

    def state(self) -> SessionState:
        return msgspec.structs.replace(session(), **self.facts)

    def lines(self, since_t: int) -> Iterator[bytes]:
        self.asked.append(since_t)
        yield b'{"kind":"note"}\n'
        yield b'{"kind":"note"}\n'

    async def recording(self, since_t: int) -> bytes:
        self.asked.append(since_t)
        if self.trouble:
            raise RecordingError(self.trouble)
        return b"\x89MCAP"

    def happened(self, *records: Record) -> None:
        for record in records:
            self.journal.append(record)

    async def page(self, **headers: str) -> Page:
        answer = await self.client.get("/now", headers=headers)
        assert answer.status_code == 200
        return Page(answer.text)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    bench = Bench()
    async with bench.client:
        yield bench


def words(page: Page) -> str:
    return page.words.replace("\xa0", " ")


async def test_in_one_look(bench: Bench) -> None:
    slow = msgspec.structs.replace(
        relist_finished(4, 80 * S), slowest_method="ContainerStatus", slowest_ns=2 * S,
        slowest_uid="a",
    )  # fmt: skip
    bench.happened(slow, died("a", t=88 * S, reason="", exit_code=143))
    told = words(await bench.page())
    assert "Healthy. The last global relist started 1.0 s ago" in told
    assert "1 container ended in the last 5 min: 1 found by a hint, median 6.3 ms." in told
    assert "143 pod-a main Ended by SIGTERM. 2.0 s ago" in told
    assert "ContainerStatus took 2.0 s, 10 s ago; it was about pod-a." in told
    assert "plegscope demo --seed 3" in told
    assert "pod-a shop main exited 3 137, killed by SIGKILL: out of memory" in told


@pytest.mark.parametrize(
    ("code", "reason", "meaning"),
    [
        (137, "", "Killed by SIGKILL; the runtime does not say out of memory."),
        (137, "OOMKilled", "Killed by SIGKILL: out of memory."),
        (255, "Unknown", "The runtime lost track of it and does not know how it ended."),
        (255, "Error", "Error, or a code out of range."),
        (None, "", "Exit code not known."),
    ],
)
async def test_each_death_says_what_its_code_means(
    bench: Bench, code: int | None, reason: str, meaning: str
) -> None:
    bench.happened(died("a", t=88 * S, exit_code=code, reason=reason))
    assert meaning in words(await bench.page())


async def test_a_pod_without_its_sandbox_is_named(bench: Bench) -> None:
    assert "a kubelet would" not in words(await bench.page())
    bench.there = [pod("a", sandbox_gone=True), pod("b", sandbox_gone=True, gone_t=1)]
    told = words(await bench.page())
    assert "The sandbox of pod-a is gone, and containers still run: a kubelet would make" in told


async def test_what_is_older_is_not_among_the_last_minutes(bench: Bench) -> None:
    bench.facts["engine"] = msgspec.structs.replace(session().engine, t=1000 * S)
    bench.happened(died("a", t=600 * S))
    told = words(await bench.page())
    assert "No container ended in the last 5 min." in told
    assert "Slowest call to the runtime None in the last 5 min." in told


async def test_the_panel_is_the_inside_and_comes_again(bench: Bench) -> None:
    whole, part = await bench.page(), await bench.page(**HTMX)
    assert part.all("html") == part.all("script") == []
    (article,) = part.all("article")
    assert (article["hx-get"], article["hx-target"]) == ("/now", "#now")
    assert [len(page.all("h1")) for page in (whole, part)] == [1, 1]
    bench.facts["ended"] = True
    (article,) = (await bench.page(**HTMX)).all("article")
    assert "hx-get" not in article


async def test_a_status_says_how_it_is_without_what_ticks(bench: Bench) -> None:
    text = (await bench.client.get("/now")).text
    status = re.search(r'role="status"[^>]*>([^<]*)<', text)
    assert status is not None
    assert status[1].replace("\xa0", " ") == "Healthy. 0 containers ended in the last 5 min."


async def test_a_relist_that_has_not_come_back_is_not_told_with_the_time_of_the_last(
    bench: Bench,
) -> None:
    engine = session().engine
    began = engine.t - 9 * S
    engine = msgspec.structs.replace(
        engine,
        running=RelistState(9, "global", "global", began),
        health=msgspec.structs.replace(engine.health, last_start_t=began),
    )
    bench.facts = {"engine": engine}
    told = words(await bench.page())
    assert "The global relist that began 9.0 s ago has not come back; the limit is 3 min." in told
    assert "and took" not in told
    # One that has only just begun is not the one that began before it, and that one came back.
    engine = msgspec.structs.replace(
        engine,
        running=RelistState(9, "global", "global", engine.t - S // 100),
        health=msgspec.structs.replace(engine.health, last_start_t=engine.t - 2 * S),
    )
    bench.facts = {"engine": engine}
    told = words(await bench.page())
    assert "The last global relist started 2.0 s ago; the limit is 3 min." in told


async def test_hostile_names_are_text(bench: Bench) -> None:
    bench.there = [pod("a", name=HOSTILE, namespace=HOSTILE, containers=(container(name=HOSTILE),))]
    bench.happened(died("a", t=88 * S, container_name=HOSTILE, reason=HOSTILE))
    headers = {"HX-Current-URL": f"http://test/?filter={HOSTILE}".encode("ascii").decode()}
    page = await bench.page(**headers)
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert all(attrs.get("src") for attrs in page.all("script"))


async def test_much_is_bounded_and_says_so(bench: Bench) -> None:
    many = tuple(container(name=f"c{i}", id=f"{i}") for i in range(MOST_ROWS + 7))
    bench.there = [pod("a", containers=many)]
    bench.happened(*(died("a", t=88 * S, container_id=f"{i}") for i in range(MOST_DEATHS + 3)))
    page = await bench.page()
    assert len(page.all("tr")) == MOST_ROWS + 1
    assert "7 more containers are on the page of pods" in words(page)
    assert "And 3 more: the table has them." in words(page)


async def test_an_empty_node_says_so(bench: Bench) -> None:
    bench.there = []
    assert "No pods on this node." in words(await bench.page())
    bench.there = [pod("a")]
    assert "1 pod, and no container that the pod cache has." in words(await bench.page())


async def test_the_newest_stop_is_a_picture_for_the_help(bench: Bench) -> None:
    assert (await bench.client.get("/now/picture")).status_code == 204
    stop = died("a", container_name=HOSTILE)
    bench.journal.append(
        msgspec.structs.replace(stop, relist=3, source="global", after_ns=640_000_000)
    )
    answer = await bench.client.get("/now/picture", headers=HTMX)
    assert "640\N{NO-BREAK SPACE}ms later" in answer.text
    assert "only the global relist found it" in answer.text
    assert "<img" not in answer.text
    help_page = (await bench.client.get("/help")).text
    assert 'hx-get="/now/picture"' in help_page


async def test_the_view_that_is_shown_is_told_with_the_command(bench: Bench) -> None:
    page = await bench.page(**{"HX-Current-URL": "http://test/?view=table", **HTMX})
    assert "and then /?view=table" in words(page)


async def test_lines_are_saved_as_a_file_from_five_minutes_ago_on(bench: Bench) -> None:
    answer = await bench.client.get("/now/records.jsonl")
    assert answer.content == b'{"kind":"note"}\n' * 2
    assert re.fullmatch(
        r'attachment; filename="plegscope-containerd-on-host-1-\d{8}T\d{6}Z\.jsonl"',
        answer.headers["content-disposition"],
    )
    assert bench.asked == [90 * S - 300 * S]


async def test_a_recording_is_saved_if_there_is_one(bench: Bench) -> None:
    answer = await bench.client.get("/now/recording.mcap")
    assert answer.status_code == 404
    assert "Save the records as JSON lines" in answer.text
    assert "recording.mcap" not in (await bench.client.get("/now")).text
    bench.facts["recording"] = RECORDER
    answer = await bench.client.get("/now/recording.mcap")
    assert answer.content == b"\x89MCAP"
    assert answer.headers["content-disposition"].endswith('Z.mcap"')
    assert "recording.mcap" in (await bench.client.get("/now")).text


async def test_what_cannot_be_cut_out_is_told_in_a_sentence(bench: Bench) -> None:
    bench.facts["recording"] = RECORDER
    bench.trouble = "Nothing was recorded. Try again in a moment."
    answer = await bench.client.get("/now/recording.mcap")
    assert answer.status_code == 404
    assert bench.trouble in Page(answer.text).words


async def test_the_other_pages_lead_here(bench: Bench) -> None:
    bench.happened(note(1))
    for path in ("/", "/pods", "/help"):
        page = Page((await bench.client.get(path)).text)
        assert "/now" in [attrs.get("href") for attrs in page.all("a")]
