"""Runs over HTTP: pages, API, refusals in sentences, and nothing of it where a node is watched."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import msgspec
import pytest
from fastapi.openapi.models import OpenAPI
from starlette.requests import Request

from app.errors import StageError
from app.hub.runwire import RunRecords
from app.resources import templates_dir
from app.sim.library import names
from app.stage.classroom import Classroom
from app.stage.stage import Stage
from app.web import compare, lessons, runs
from app.web.pages import PageData, Pages, StageLink
from tests.build import engine_state, session_state
from tests.web.scripts import brought_in, ids_of, missing
from tests.web.site import standing

QUERY = "scenario=storm&duration=10s"
HTML = {"Accept": "text/html"}


def pages(link: StageLink | None) -> Pages:
    data = PageData(
        state=lambda: session_state(engine_state(1)), pods=list, pod_records=lambda _uid: []
    )
    return Pages(templates_dir(), data, version="1.2.3", stage=link)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    stage = Stage()
    rendered = pages(StageLink("scenario=demo&seed=7&profile=kep&duration=600s"))
    site = standing(pages=rendered, parts=(runs.api(stage), runs.pages(stage, rendered)))
    async with site.client() as made:
        yield made
    stage.close()


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@pytest.fixture
async def school(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    """With everything that a stage serves."""
    rendered = pages(StageLink("scenario=demo&seed=7&profile=kep&duration=600s"))
    room = Classroom(lambda: "secret", lambda: 0.0)
    parts = (
        *(runs.api(stage), runs.pages(stage, rendered), compare.api(stage.comparisons)),
        *(compare.pages(stage, rendered), lessons.part(stage.lessons, room, rendered)),
    )
    async with standing(pages=rendered, parts=parts).client() as made:
        yield made


@pytest.fixture
async def watching() -> AsyncIterator[httpx.AsyncClient]:
    rendered = pages(None)
    async with standing(pages=rendered, parts=(runs.nowhere(rendered),)).client() as made:
        yield made


async def test_a_whole_run_comes_compressed(client: httpx.AsyncClient) -> None:
    async with client.stream("GET", f"/api/v1/run/records?{QUERY}") as answer:
        packed = b"".join([part async for part in answer.aiter_raw()])
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"] == "application/json"
    told = msgspec.json.decode(gzip.decompress(packed), type=RunRecords)
    assert told.run.query.startswith("scenario=storm&seed=")
    assert told.records


async def test_who_cannot_unpack_gets_it_plain(client: httpx.AsyncClient) -> None:
    packed = await client.get(f"/api/v1/run/records?{QUERY}")
    plain = await client.get(
        f"/api/v1/run/records?{QUERY}", headers={"Accept-Encoding": "identity"}
    )
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "Accept-Encoding"
    assert plain.json() == packed.json()


async def test_the_state_of_each_moment(client: httpx.AsyncClient) -> None:
    whole = (await client.get(f"/api/v1/run/records?{QUERY}")).json()
    last = whole["records"][-1]["seq"]
    state = (await client.get(f"/api/v1/run/state?{QUERY}")).json()
    assert state["last_seq"] == last
    early = (await client.get(f"/api/v1/run/state?{QUERY}&seq=3")).json()
    assert early["last_seq"] == 3
    assert early["engine"]["t"] == whole["records"][2]["t"]


async def test_progress_asks_without_wanting(client: httpx.AsyncClient) -> None:
    told = (await client.get(f"/api/v1/run/progress?{QUERY}")).json()
    assert told == {"state": "absent", "t": 0, "duration_ns": 10_000_000_000, "ahead": 0}
    await client.get(f"/api/v1/run/records?{QUERY}")
    told = (await client.get(f"/api/v1/run/progress?{QUERY}")).json()
    assert told["state"] == "ready"


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("", 422, "names no scenario"),
        ("scenario=nothing", 404, "choose one"),
        ("scenario=%2Fetc%2Fpasswd", 404, "There is no scenario"),
        ("scenario=storm&seed=x", 422, "`seed`"),
        ("scenario=storm&press=1s!explode", 422, "`press`"),
        ("scenario=storm&duration=99h", 422, "1h at most"),
        (f"{QUERY}&seq=-1", 422, "seq"),
        (f"{QUERY}&seq=99999999", 422, "give a number"),
        (f"{QUERY}&seq={10**30}", 422, "seq"),
    ],
)
async def test_what_cannot_be_played_is_refused_in_a_sentence(
    client: httpx.AsyncClient, query: str, status: int, says: str
) -> None:
    answer = await client.get(f"/api/v1/run/state?{query}", headers=HTML)
    assert answer.status_code == status
    told = answer.json()["error"]
    assert says in told
    assert told.endswith(".")


async def test_a_person_gets_the_sentence_on_a_page(client: httpx.AsyncClient) -> None:
    answer = await client.get("/run?scenario=<b>nothing</b>", headers=HTML)
    assert answer.status_code == 404
    assert "There is no scenario" in answer.text
    assert "<b>nothing" not in answer.text
    assert 'href="/scenarios"' in answer.text


async def test_the_page_of_a_run(client: httpx.AsyncClient) -> None:
    answer = await client.get(
        f"/run?{QUERY}&profile=legacy&press=3s!break-stream&t=5", headers=HTML
    )
    assert answer.status_code == 200
    assert "scenario=storm&amp;seed=" in answer.text
    assert "profile legacy" in answer.text
    assert "Break the stream" in answer.text
    # What a button imitates is said.
    assert "A connection that is torn down" in answer.text


async def test_scripts_find_what_they_look_for(client: httpx.AsyncClient) -> None:
    ids = ids_of((await client.get(f"/run?{QUERY}", headers=HTML)).text)
    for script in brought_in("run.js"):
        assert missing(script, ids) == set(), script.name


async def test_all_scenarios_are_listed_with_play_and_command(client: httpx.AsyncClient) -> None:
    answer = await client.get("/scenarios", headers=HTML)
    assert answer.status_code == 200
    for name in names():
        assert f'href="/run?scenario={name}&amp;' in answer.text
        assert f"plegscope demo --scenario {name}<" in answer.text
    assert answer.text.index(">Start here</h2>") < answer.text.index('id="hint-lost"')
    assert answer.text.index('id="hint-lost"') < answer.text.index('id="big-node"')


async def test_what_texts_quote_is_code_and_not_in_backticks(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/scenarios", headers=HTML)).text
    assert "<code>kep</code>" in listed
    refused = (await client.get("/run?scenario=storm&duration=never", headers=HTML)).text
    run = (await client.get("/run?scenario=stale-event", headers=HTML)).text
    for text in (listed, refused, run):
        assert "`" not in text


async def test_the_navigation_leads_to_the_stage_where_there_is_one(
    client: httpx.AsyncClient, watching: httpx.AsyncClient
) -> None:
    for path in ("/scenarios", "/lessons", "/compare"):
        assert f'href="{path}"' in (await client.get("/", headers=HTML)).text
        assert f'href="{path}"' not in (await watching.get("/", headers=HTML)).text


async def test_the_node_page_leads_to_the_run_of_what_it_plays(client: httpx.AsyncClient) -> None:
    text = (await client.get("/", headers=HTML)).text
    assert 'href="/run?scenario=demo&amp;seed=7&amp;profile=kep&amp;duration=600s"' in text


@pytest.mark.parametrize("path", [*runs.STAGE_PAGES, "/lessons/hint"])
async def test_where_a_node_is_watched_a_page_says_how_to_get_it(
    watching: httpx.AsyncClient, path: str
) -> None:
    answer = await watching.get(f"{path}?scenario=<i>storm", headers=HTML)
    assert answer.status_code == 404
    assert "plegscope demo" in answer.text
    assert "<i>" not in answer.text
    api = await watching.get("/api/v1/run/records?scenario=storm")
    assert (api.status_code, api.json()["error"]) == (404, runs.NO_STAGE)


async def test_a_stranger_gets_nothing() -> None:
    stage = Stage()
    site = standing(parts=(runs.api(stage),))
    async with site.client(headers={}) as stranger:
        for path in ("records", "state", "progress"):
            answer = await stranger.get(f"/api/v1/run/{path}?{QUERY}")
            assert answer.status_code == 401
    assert stage.progress([("scenario", "storm")]).state == "absent"
    stage.close()


async def test_it_is_described(client: httpx.AsyncClient) -> None:
    document: dict[str, Any] = (await client.get("/api/v1/openapi.json")).json()
    OpenAPI.model_validate(document)
    for name in ("records", "state", "progress"):
        operation = document["paths"][f"/api/v1/run/{name}"]["get"]
        assert operation["description"]
        asked = {one["name"]: one for one in operation["parameters"]}
        assert {"scenario", "seed", "profile", "runtime", "duration", "press"} <= set(asked)
        assert all(one["description"] for one in asked.values())
        assert {"200", "401", "403", "404", "422", "503"} <= set(operation["responses"])
    state = document["paths"]["/api/v1/run/state"]["get"]
    assert [one["name"] for one in state["parameters"]].count("seq") == 1


class Asking:
    """A request of somebody who leaves when told to."""

    def __init__(self) -> None:
        self.left = asyncio.Event()
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
        self.request = Request(scope, self._receive)
        self._sent = False

    async def _receive(self) -> dict[str, Any]:
        if not self._sent:
            self._sent = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}


async def test_who_leaves_ends_what_was_done_for_him() -> None:
    asking, ended = Asking(), asyncio.Event()

    async def work() -> str:
        try:
            asking.left.set()
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "done"

    assert await runs.while_there(asking.request, work()) is None
    assert ended.is_set()


async def test_who_stays_gets_what_came_of_it() -> None:
    async def work() -> str:
        return "done"

    async def refuse() -> str:
        raise StageError("No.")

    assert await runs.while_there(Asking().request, work()) == "done"
    with pytest.raises(StageError, match="No"):
        await runs.while_there(Asking().request, refuse())


SPEC = {"scenario": "storm", "duration": "10s"}
EMPTY = {
    "/run": ("scenario", "seed", "profile", "runtime", "duration", "press"),
    "/api/v1/run/records": ("scenario", "seed", "profile", "runtime", "duration", "press"),
    "/api/v1/run/progress": ("scenario", "seed", "profile", "runtime", "duration", "press"),
    "/api/v1/run/state": ("profile", "seq"),
    "/compare": ("scenario", "profile", "run", "against", "plain", "seed", "press"),
    "/api/v1/compare": ("scenario", "profile", "run", "against"),
    "/api/v1/records": ("since", "limit", "pod", "kind"),
    "/lessons/hint-lost": (
        *("step", "choice", "at", "show", "class", "profile", "press", "name", "ended", "t"),
        "target",
    ),
    "/lessons/hint-lost/law": ("step", "t", "profile", "press"),
    "/class/none/tally": ("step",),
    "/class/none/now": ("seen",),
}


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
@pytest.mark.parametrize(
    ("path", "name"), [(path, name) for path, names_ in EMPTY.items() for name in names_]
)
async def test_what_is_given_but_empty_is_no_mistake(
    school: httpx.AsyncClient, path: str, name: str, accept: str
) -> None:
    query = {**SPEC, name: ""} if path.startswith(("/run", "/api/v1/run")) else {name: ""}
    answer = await school.get(path, params=query, headers={"Accept": accept})
    assert answer.status_code < 500
    if name == "profile" and path.startswith(("/run", "/api/v1/run")):
        assert answer.status_code == 200
