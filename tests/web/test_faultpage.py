"""The palette as a page: whole for a plain form, a sentence for htmx, and never believed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlparse

import httpx
import msgspec
import pytest
from fastapi import FastAPI

from app.hub.wire import SessionState
from app.resources import static_dir, templates_dir
from app.web import faultpage
from app.web.faults import BURST, TOO_OFTEN, Allowance
from app.web.pages import PageData, Pages
from tests.web.desk import HOSTILE, S, TestDesk
from tests.web.test_pages import Page, session

HTMX = {"HX-Request": "true"}


class Bench:
    """The page alone, without a guard."""

    def __init__(self) -> None:
        self.desk = TestDesk()
        self.facts: dict[str, object] = {"simulated": True}
        data = PageData(state=self.state, pods=lambda: (), pod_records=lambda _uid: ())
        self.pages = Pages(templates_dir(), data, version="1.2.3", desk=self.desk)
        app = FastAPI()
        app.include_router(self.pages.router())
        app.include_router(faultpage.part(self.pages, self.desk, self.state, Allowance()).router)
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://test", follow_redirects=False
        )

    def state(self) -> SessionState:
        return msgspec.structs.replace(session(), **self.facts)

    async def post(self, htmx: bool = False, **form: str) -> httpx.Response:
        return await self.client.post("/faults", data=form, headers=HTMX if htmx else {})


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    bench = Bench()
    async with bench.client:
        yield bench


async def test_each_button_says_what_it_does_and_imitates(bench: Bench) -> None:
    page = Page((await bench.client.get("/faults")).text)
    buttons = [one for one in page.all("button") if one.get("name") == "press"]
    assert [one["value"] for one in buttons] == ["break-stream", "lose-events", "kill-container"]
    ids = {one["id"] for one in page.all("div") if "id" in one}
    assert {one["aria-describedby"] for one in buttons} <= ids
    assert "The stream breaks. For 10 s. Imitates: A torn cable." in page.words.replace("\xa0", " ")
    assert "None comes. For 1.0 s. one pod, or all Imitates" in page.words.replace("\xa0", " ")
    assert "It is killed. one pod Imitates: A crash." in page.words
    assert page.words.index("Event stream") < page.words.index("Break it")
    options = [one.get("value") for one in page.all("option")]
    assert options == ["", "shop/db", "shop/web"]


async def test_without_scripts_a_form_presses_and_the_page_comes_back(bench: Bench) -> None:
    page = Page((await bench.client.get("/faults")).text)
    (form,) = page.all("form")
    assert (form["method"], form["action"]) == ("post", "/faults")
    assert not [name for name in form if name.startswith("hx-")]
    answer = await bench.post(press="kill-container", target="shop/web")
    assert answer.status_code == 303
    assert bench.desk.asked == [("kill-container", "shop/web", None)]
    again = Page((await bench.client.get(answer.headers["location"])).text)
    assert "Pressed: Kill." in again.words
    assert [one["value"] for one in again.all("option") if "selected" in one] == ["shop/web"]


async def test_as_a_partial_htmx_presses(bench: Bench) -> None:
    page = Page((await bench.client.get("/faults", headers=HTMX)).text)
    (form,) = page.all("form")
    assert (form["hx-post"], form["hx-target"]) == ("/faults", "#palette-said")
    assert not page.all("html")
    answer = await bench.post(htmx=True, press="break-stream", target="shop/web")
    said = Page(answer.text)
    assert (answer.status_code, said.words) == (200, "Break it.")
    assert said.all("p")[0]["data-number"] == "1"
    # The pod that happened to be chosen is none of this button's business.
    assert bench.desk.asked == [("break-stream", "", None)]


async def test_what_is_at_work_can_be_lifted_and_healed(bench: Bench) -> None:
    bench.desk.press("break-stream")
    bench.desk.press("lose-events", "shop/web", 5 * S)
    page = Page((await bench.client.get("/faults")).text)
    lifts = [one["value"] for one in page.all("button") if one.get("name") == "lift"]
    assert lifts == ["1", "2"]
    assert "Break it 10 s Lift Lose events shop/web 5.0 s Lift" in page.words.replace("\xa0", " ")
    assert (await bench.post(htmx=True, lift="1")).text.count("Lifted.") == 1
    refused = await bench.post(htmx=True, lift="1")
    assert refused.status_code == 404
    assert 'class="said-line wrong"' in refused.text
    assert "Back to normal." in (await bench.post(htmx=True, heal="all")).text
    assert "Nothing was wrong." in (await bench.post(htmx=True, heal="all")).text
    assert bench.desk.working == []
    page = Page((await bench.client.get("/faults")).text)
    assert "At work now Nothing." in page.words


async def test_a_refusal_is_shown_whole_or_in_part(bench: Bench) -> None:
    bench.desk.error = f"There is no pod {HOSTILE} now. Choose one that is there."
    whole = await bench.post(press="kill-container", target=HOSTILE)
    part = await bench.post(htmx=True, press="kill-container", target=HOSTILE)
    assert (whole.status_code, part.status_code) == (422, 422)
    for answer in (whole, part):
        assert "<script>alert" not in answer.text
        assert bench.desk.error in Page(answer.text).text


async def test_hostile_pods_and_addresses_stay_text(bench: Bench) -> None:
    bench.desk.pods = (HOSTILE,)
    bench.desk.press("lose-events", HOSTILE)
    answer = await bench.client.get("/faults", params={"done": HOSTILE, "pod": HOSTILE})
    assert "<script>alert" not in answer.text
    assert "Pressed" not in Page(answer.text).words
    sent = await bench.post(press="lose-events", target=f"{HOSTILE}\r\nSet-Cookie: x=1")
    assert sent.status_code == 303
    location = sent.headers["location"]
    assert urlparse(location).path == "/faults"
    assert parse_qs(urlparse(location).query)["done"] == ["lose-events"]
    assert "set-cookie" not in sent.headers


@pytest.mark.parametrize("form", [{}, {"other": "x"}, {"press": ""}, {"target": "shop/web"}])
async def test_a_form_that_presses_nothing(bench: Bench, form: dict[str, str]) -> None:
    bench.desk.error = "There is nothing called '' to press. The palette lists all."
    answer = await bench.post(htmx=True, **form)
    assert answer.status_code in (415, 422)
    assert Page(answer.text).words.endswith(".")


async def test_pressing_by_form_is_paced_as_well(bench: Bench) -> None:
    statuses = [(await bench.post(htmx=True, heal="all")).status_code for _ in range(BURST + 5)]
    assert statuses[:BURST] == [200] * BURST
    assert 429 in statuses
    assert TOO_OFTEN in (await bench.post(htmx=True, heal="all")).text


async def test_the_page_says_how_fast_the_node_lives(bench: Bench) -> None:
    bench.facts["speed"] = 10.0
    page = Page((await bench.client.get("/faults")).text)
    assert "lives 10 times as fast as you" in page.words
    node = Page((await bench.client.get("/")).text)
    assert "×10" in node.words
    assert "calls to the node look 10 times as long" in node.words
    about = Page((await bench.client.get("/about")).text)
    assert "Simulated time: ×10" in about.words
    bench.facts["speed"] = 1.0
    assert "×1" not in Page((await bench.client.get("/")).text).words


async def test_the_node_page_has_the_row_of_faults_only_where_something_is_simulated(
    bench: Bench,
) -> None:
    node = Page((await bench.client.get("/")).text)
    assert [one["id"] for one in node.all("section") if one.get("id") == "faults"]
    assert "Press a fault" in node.words
    data = PageData(state=bench.state, pods=lambda: (), pod_records=lambda _uid: ())
    app = FastAPI()
    app.include_router(Pages(templates_dir(), data, version="1.2.3").router())
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://test"
    ) as client:
        text = (await client.get("/")).text
    for sign in ('id="faults"', "/faults", "faults.css", "Press a fault"):
        assert sign not in text


async def test_the_script_finds_what_it_looks_for(bench: Bench) -> None:
    node = Page((await bench.client.get("/")).text)
    palette = Page((await bench.client.get("/faults", headers=HTMX)).text)
    ids = {attrs.get("id") for _, attrs in (*node.tags, *palette.tags)}
    text = (static_dir() / "js" / "faults.js").read_text()
    wanted = set(re.findall(r'(?:byId|getElementById)\("([\w-]+)"\)', text))
    assert len(wanted) > 4
    assert wanted <= ids
