"""Bins over HTTP: every answer is what its struct says, every no is a sentence."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import httpx
import msgspec
import pytest
from fastapi import FastAPI

from app.hub.filmwire import Counted
from app.journal.levels import WIDTHS
from app.journal.marks import MARKS
from app.replaying.library import Library
from app.web import recordings
from app.web.bins import MOST_BINS, MOST_PODS, BinsReport, of_given, part
from tests.build import HOSTILE, SECOND, SESSION, chain, pod_gone, pod_seen
from tests.web.site import Site, standing

WIDTH = WIDTHS[1]


@pytest.fixture
def site() -> Site:
    served = standing(capacity=10)
    served.journal.append(pod_seen(HOSTILE, 1, name=HOSTILE))
    for n in range(100):
        for record in chain(n, n * SECOND, HOSTILE):
            served.journal.append(record)
    served.journal.append(pod_gone(HOSTILE, 100 * SECOND))
    return served


async def ask(site: Site, query: str) -> httpx.Response:
    async with site.client() as client:
        return await client.get(f"/api/v1/bins?{query}")


async def bins(site: Site, query: str) -> BinsReport:
    answer = await ask(site, query)
    assert answer.status_code == 200, answer.text
    return msgspec.json.decode(answer.content, type=BinsReport, strict=True)


async def test_what_the_journal_has_given_up_is_still_counted(site: Site) -> None:
    pod = quote(HOSTILE)
    report = await bins(site, f"width={WIDTH}&from_t=0&to_t={60 * SECOND}&pod={pod}&pod=nobody")
    assert (report.session, report.t) == (SESSION, site.journal.last_seq)
    assert (report.first, report.bins, report.marks) == (0, 120, MARKS)
    assert report.known == [(width, 1) for width in WIDTHS]
    assert list(report.pods) == [HOSTILE]
    stops = [
        count
        for place, mark, count in zip(
            *(report.pods[HOSTILE][at::3] for at in range(3)), strict=True
        )
        if MARKS[mark] == "stop"
    ]
    assert stops == [1] * 60
    assert [(pod.uid, pod.gone_t) for pod in report.gone] == [(HOSTILE, 100 * SECOND)]


async def test_a_time_in_which_nothing_was(site: Site) -> None:
    report = await bins(site, f"width={WIDTH}&from_t={500 * SECOND}&to_t={501 * SECOND}")
    assert (report.all, report.pods, report.gone, report.gaps) == ([], {}, [], [])


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "Field required"),
        ("width=5&from_t=0&to_t=9", f"It has to be one of {WIDTHS[0]}"),
        (f"width={WIDTH}&from_t=9&to_t=9", "It has to be after from_t"),
        (f"width={WIDTH}&from_t=-1&to_t=9", "greater than or equal to 0"),
        (f"width={WIDTH}&from_t=0&to_t={2**70}", "less than"),
        (f"width={WIDTH}&from_t=0&to_t={WIDTH * MOST_BINS}", f"more than {MOST_BINS} bins"),
        (f"width={WIDTH}&from_t=0&to_t=9" + "&pod=x" * (MOST_PODS + 1), f"at most {MOST_PODS}"),
        (f"width={WIDTH}&from_t=0&to_t=9&pod={'x' * 1025}", "at most 1024"),
        (f"width={WIDTH}&from_t=0&to_t=9&lane=x", "there is no such parameter"),
    ],
)
async def test_no_is_a_sentence(site: Site, query: str, words: str) -> None:
    answer = await ask(site, query)
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert answer.json()["error"].endswith("describes the parameters.")


async def test_a_recording_is_counted_as_it_is_read(tmp_path: Path) -> None:
    """The session's own address tells of what was given."""
    given = tmp_path / "a.jsonl"
    records = [record for n in range(50) for record in chain(n, n * SECOND, HOSTILE)]
    given.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in records))
    library = Library(None, [given])
    await library.open_given()
    app = FastAPI()
    parts = [recordings.api(library), part(of_given(library, standing(capacity=10).state))]
    for one in parts:
        app.include_router(one.router)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    query = f"width={WIDTH}&from_t=0&to_t={60 * SECOND}&pod={quote(HOSTILE)}"
    path = f"/api/v1/recording/bins?file=a.jsonl&{query}"
    async with client:
        before = msgspec.json.decode((await client.get(path)).content, type=Counted, strict=True)
        assert (before.reading, before.all) == (True, [])
        for show in library.open:
            while show.films[0].advance():
                pass
        counted = msgspec.json.decode((await client.get(path)).content, type=Counted, strict=True)
        assert (counted.reading, counted.t, counted.marks) == (False, records[-1].t, MARKS)
        stops = [n for mark, n in zip(counted.all[1::3], counted.all[2::3], strict=True)
                 if MARKS[mark] == "stop"]  # fmt: skip
        assert stops == [1] * 50
        assert list(counted.pods) == [HOSTILE]
        own = await client.get(f"/api/v1/bins?{query}")
        report = msgspec.json.decode(own.content, type=BinsReport, strict=True)
        assert (report.session, report.all, report.t) == (SESSION, counted.all, counted.t)
        for wrong, status, words in (
            (path.replace("a.jsonl", "b.jsonl"), 404, "b.jsonl"),
            (path.replace("a.jsonl", "..%2Fa"), 404, "by its file's name"),
            (f"{path}&node=3", 404, "no node 3"),
        ):
            answer = await client.get(wrong)
            assert answer.status_code == status
            assert words in answer.json()["error"]
