"""Comparisons over HTTP: JSON, form, frame for scripts, all of it without scripts, refusals."""

from __future__ import annotations

import gzip
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest
from fastapi.openapi.models import OpenAPI

from app.engine.profiles import PROFILES
from app.hub.runwire import RunProgress
from app.resources import static_dir, templates_dir
from app.stage.comparereport import CompareReport
from app.stage.comparison import RunsProgress
from app.stage.stage import Stage
from app.web import compare, runs
from app.web.pages import PageData, Pages, StageLink
from tests.build import engine_state, session_state
from tests.web.site import standing

QUERY = "scenario=crash-loop&seed=3&duration=20s&profile=kep&profile=generic"
HTML = {"Accept": "text/html"}
HOSTILE = "<script>alert(1)</script>"


def rendered(link: StageLink | None) -> Pages:
    data = PageData(
        state=lambda: session_state(engine_state(1)), pods=list, pod_records=lambda _uid: []
    )
    return Pages(templates_dir(), data, version="1.2.3", stage=link)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    stage = Stage()
    pages = rendered(StageLink(""))
    parts = (compare.api(stage.comparisons), compare.pages(stage, pages))
    async with standing(pages=pages, parts=parts).client() as made:
        yield made
    stage.close()


@pytest.fixture
async def watching() -> AsyncIterator[httpx.AsyncClient]:
    pages = rendered(None)
    async with standing(pages=pages, parts=(runs.nowhere(pages),)).client() as made:
        yield made


# JSON


async def test_a_comparison_comes_packed_or_plain(client: httpx.AsyncClient) -> None:
    address = f"/api/v1/compare?{QUERY}"
    async with client.stream("GET", address, headers={"Accept-Encoding": "gzip"}) as answer:
        packed = b"".join([part async for part in answer.aiter_raw()])
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"] == "application/json"
    plain = await client.get(address, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "Accept-Encoding"
    assert gzip.decompress(packed) == plain.content
    told = msgspec.json.decode(plain.content, type=CompareReport)
    assert [run.name for run in told.runs] == ["kep", "generic"]
    assert told.rows


async def test_how_far_the_runs_are(client: httpx.AsyncClient) -> None:
    async def ask() -> RunsProgress:
        answer = await client.get(f"/api/v1/compare/progress?{QUERY}")
        assert answer.status_code == 200
        return msgspec.json.decode(answer.content, type=RunsProgress)

    assert [one.state for one in (await ask()).runs] == ["absent", "absent"]
    await client.get(f"/api/v1/compare?{QUERY}")
    assert (await ask()).runs == (RunProgress("ready", 20 * 10**9, 20 * 10**9),) * 2


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("", 422, "no profiles are chosen: choose 2 or 3"),
        ("scenario=storm&profile=kep", 422, "1 profile is chosen: choose 2 or 3"),
        ("scenario=nothing&profile=kep&profile=generic", 404, "There is no scenario 'nothing'"),
        (f"{QUERY}&press=1s!nonsense", 422, "`press`"),
        (f"{QUERY}&duration=20s", 422, "twice"),
        ("run=scenario%3Dstorm&run=scenario%3Dchurn", 422, "not of the same node"),
    ],
)
@pytest.mark.parametrize("path", compare.PATHS)
async def test_what_cannot_be_compared(
    client: httpx.AsyncClient, path: str, query: str, status: int, words: str
) -> None:
    answer = await client.get(f"{path}?{query}")
    assert answer.status_code == status
    assert words in answer.json()["error"]
    assert answer.json()["error"].endswith(".")


async def test_nothing_is_compared_where_a_node_is_watched(watching: httpx.AsyncClient) -> None:
    for path in compare.PATHS:
        answer = await watching.get(f"{path}?{QUERY}")
        assert answer.status_code == 404
        assert answer.json()["error"] == runs.NO_STAGE
    page = await watching.get("/compare", headers=HTML)
    assert page.status_code == 404
    assert "plegscope demo" in page.text


async def test_a_stranger_is_told_nothing() -> None:
    stage = Stage()
    site = standing(parts=(compare.api(stage.comparisons),))
    async with site.client(headers={}) as stranger:
        for path in compare.PATHS:
            assert (await stranger.get(f"{path}?{QUERY}")).status_code == 401
    stage.close()


async def test_it_is_described(client: httpx.AsyncClient) -> None:
    document: dict[str, Any] = (await client.get("/api/v1/openapi.json")).json()
    OpenAPI.model_validate(document)
    for path in compare.PATHS:
        operation = document["paths"][path]["get"]
        assert operation["description"]
        assert {one["name"] for one in operation["parameters"]} >= {"run", "profile", "against"}
        assert all(one["description"] for one in operation["parameters"])
        assert {"200", "401", "403", "404", "422", "503"} <= set(operation["responses"])


# The page


async def test_the_form_offers_everything_there_is(client: httpx.AsyncClient) -> None:
    answer = await client.get("/compare", headers=HTML)
    assert answer.status_code == 200
    assert 'data-asked="no"' in answer.text
    for name in PROFILES:
        assert f'name="profile" value="{name}"' in answer.text
    assert re.findall(r'value="([\w.]+)" checked', answer.text) == ["kep", "generic", "legacy"]
    for scenario in ("demo", "storm", "lossy-stream"):
        assert f'<option value="{scenario}"' in answer.text


async def test_the_frame_for_scripts_leads_those_without_to_the_whole_answer(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get(f"/compare?{QUERY}&press=5s!break-stream", headers=HTML)
    assert answer.status_code == 200
    assert 'data-asked="yes"' in answer.text
    (way,) = re.findall(r'<meta http-equiv="refresh" content="0; url=([^"]+)">', answer.text)
    whole = await client.get(way.replace("&amp;", "&"), headers=HTML)
    assert whole.status_code == 200
    assert "With kep" in whole.text
    assert "marked against generic" in whole.text
    # Nothing sends it on again.
    assert "http-equiv" not in whole.text
    assert 'value="5s!break-stream" checked' in whole.text


async def test_the_whole_answer_without_scripts(client: httpx.AsyncClient) -> None:
    told = (await client.get(f"/api/v1/compare?{QUERY}")).json()
    page = (await client.get(f"/compare?{QUERY}&plain=1", headers=HTML)).text
    text = re.sub(r"<[^>]+>", "", page)
    for said in ("sentence", "meaning", "notes"):
        assert "".join(part for part, _ in told[said]) in text
    assert f"{told['premise']}." in text
    # Each figure has its words with it, for where lines are stacked.
    cells = re.findall(r'<td data-label="([^"]+)">', page)
    assert len(cells) == 9 * len(told["runs"])
    assert "wrong cache, summed container-time" in cells
    shared = told["runs"][0]["figures"]["shared"]["count"]
    assert f"* of {shared} ends that both had and noticed" in text
    differing = [row for row in told["rows"] if row["marks"]]
    assert differing
    for row in differing:
        for mark in row["marks"]:
            assert f"{told['runs'][mark['run']]['name']}: {mark['words']}" in text
    assert f"{told['runs'][0]['figures']['calls']:,}" in text


async def test_harm_is_the_headline_and_speed_is_not(client: httpx.AsyncClient) -> None:
    for scenario in ("stale-event", "doubled-containers", "silent-stream"):
        address = f"/compare?scenario={scenario}&profile=kep&profile=legacy&plain=1"
        page = (await client.get(address, headers=HTML)).text
        (head,) = re.findall(r"<h1>(.*?)</h1>", page, re.DOTALL)
        assert re.match(r"<b>legacy (believed what was not so|left \d+\Wend)", head)
        assert "Nothing of that with kep" in head
        assert "sooner" not in head
        assert "fewer" not in head


async def test_forks_are_not_said_to_have_the_same_faults(client: httpx.AsyncClient) -> None:
    one = "scenario%3Dlesson-arena%26duration%3D10s"
    address = f"/compare?run={one}&run={one}%26press%3D2s!lose-stops"
    for more in ("", "&plain=1"):
        page = (await client.get(address + more, headers=HTML)).text
        assert "Same node, other presses" in page
        assert "same faults<" not in page


async def test_no_difference_is_said(client: httpx.AsyncClient) -> None:
    alike = "scenario=polling-cost&duration=5s&profile=kep&profile=generic&plain=1"
    page = (await client.get(f"/compare?{alike}", headers=HTML)).text
    assert "Nothing to compare." in page
    assert "There is none." in page


async def test_what_is_wrong_with_the_form_is_said_above_it(client: httpx.AsyncClient) -> None:
    answer = await client.get(
        "/compare?scenario=storm&profile=kep&seed=12&duration=&runtime=", headers=HTML
    )
    assert answer.status_code == 422
    assert 'role="alert">Two or three profiles can be compared, and 1 profile is' in answer.text
    # It stays filled in.
    assert '<option value="storm" selected>' in answer.text
    assert 'name="seed"' in answer.text
    assert 'value="12"' in answer.text
    assert re.findall(r'value="([\w.]+)" checked', answer.text) == ["kep"]


async def test_hostile_words_are_text(client: httpx.AsyncClient) -> None:
    for key in ("scenario", "seed", "duration", "runtime", "press", "against", "profile", "run"):
        answer = await client.get(
            "/compare", params=[("scenario", "storm"), (key, HOSTILE)], headers=HTML
        )
        assert HOSTILE not in answer.text
        assert answer.status_code in (404, 422)


# The scripts


async def test_scripts_find_what_they_look_for(client: httpx.AsyncClient) -> None:
    page = (await client.get(f"/compare?{QUERY}", headers=HTML)).text
    ids = re.findall(r'\bid="([\w-]+)"', page)
    assert len(ids) == len(set(ids))
    for script in sorted((static_dir() / "js").glob("compare*.js")):
        text = script.read_text()
        wanted = set(re.findall(r'byId\("([\w-]+)"\)', text))
        assert wanted <= set(ids), f"{script.name} looks for {wanted - set(ids)}"
    kinds = re.findall(r'\{ id: "(\w+)"', (static_dir() / "js" / "compare-model.js").read_text())
    assert len(kinds) == 5
    assert {f"g-{kind}" for kind in kinds} <= set(ids)


async def test_nothing_is_inline(client: httpx.AsyncClient) -> None:
    for address in ("/compare", f"/compare?{QUERY}", f"/compare?{QUERY}&plain=1"):
        page = (await client.get(address, headers=HTML)).text
        assert "style=" not in page
        assert not re.search(r"\son\w+=", page)
        assert not re.search(r"<script(?![^>]*\bsrc=)", page)


async def test_profiles_can_be_named_as_on_the_command_line(client: httpx.AsyncClient) -> None:
    query = QUERY.replace("&profile=kep&profile=generic", "&profiles=kep,generic")
    assert (await client.get(f"/compare?{query}&plain=1", headers=HTML)).status_code == 200
    page = await client.get("/compare?profiles=kep", headers=HTML)
    assert page.status_code == 422
    assert "1 profile is" in page.text
