"""Lessons' pages over HTTP: whole without scripts, panels with them; everything stands in links."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from functools import cache

import httpx
import msgspec
import pytest

from app.resources import templates_dir
from app.stage.classroom import Classroom
from app.stage.lessonfile import lessons
from app.stage.stage import Stage
from app.web import lessons as web
from app.web.classroom import new_secret
from app.web.pages import PageData, Pages, StageLink
from tests.build import engine_state, session_state
from tests.web.scripts import SCRIPTS, ids_of, missing
from tests.web.site import TOKEN, Site, standing

HTML = {"Accept": "text/html"}
PANEL = {**HTML, "HX-Request": "true"}
STEPS = [(one.name, number) for one in lessons() for number in range(1, len(one.steps) + 1)]


@cache
def pages() -> Pages:
    data = PageData(
        state=lambda: session_state(engine_state(1)), pods=list, pod_records=lambda _uid: []
    )
    return Pages(templates_dir(), data, version="1.2.3", stage=StageLink(""))


def site(stage: Stage, token: str | None = TOKEN) -> Site:
    room = Classroom(new_secret, lambda: 5.0)
    part = web.part(stage.lessons, room, pages())
    return standing(token=token, pages=pages(), parts=(part,))


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage()


@pytest.fixture
async def client(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    async with site(stage).client() as made:
        yield made


def facts(text: str) -> dict[str, object]:
    found = re.search(r'data-facts="([^"]+)"', text)
    assert found is not None
    read: dict[str, object] = msgspec.json.decode(html.unescape(found[1]))
    return read


async def test_the_list_of_lessons(client: httpx.AsyncClient) -> None:
    answer = await client.get("/lessons", headers=HTML)
    assert answer.status_code == 200
    for one in lessons():
        assert f'href="/lessons/{one.name}"' in answer.text
        assert one.file.title in answer.text
    assert "<html" not in (await client.get("/lessons", headers=PANEL)).text


@pytest.mark.parametrize(("name", "number"), STEPS)
async def test_every_step_is_a_page_and_a_panel(
    client: httpx.AsyncClient, name: str, number: int
) -> None:
    whole = await client.get(f"/lessons/{name}?step={number}", headers=HTML)
    panel = await client.get(f"/lessons/{name}?step={number}", headers=PANEL)
    assert (whole.status_code, panel.status_code) == (200, 200)
    assert whole.text.lstrip().startswith("<!doctype html>")
    assert panel.text.lstrip().startswith('<section class="lesson"')
    assert 'hx-swap-oob="true"' in panel.text
    assert "hx-swap-oob" not in whole.text
    assert facts(whole.text) == facts(panel.text)
    for text in (whole.text, panel.text):
        ids = re.findall(r'\sid="([^"]+)"', text)
        assert len(ids) == len(set(ids))
    assert "{" not in re.sub(r"<[^>]*>", "", panel.text)


async def test_an_answer_is_a_form_that_needs_no_script(client: httpx.AsyncClient) -> None:
    asked = (await client.get("/lessons/hint-lost?step=4", headers=HTML)).text
    assert re.search(r'<form class="lesson-ask" action="/lessons/hint-lost" method="get"', asked)
    assert 'name="choice" value="poll"' in asked
    slider = re.search(r'name="at" min="(\d+)" max="(\d+)"', asked)
    assert slider is not None
    assert "lesson-outcome" not in asked
    address = f"/lessons/hint-lost?step=4&choice=poll&at={slider[2]}"
    told = (await client.get(address, headers=HTML)).text
    assert "Right choice; your moment is" in told
    untouched = re.search(r'name="at" min="(\d+)"[^>]* value="(\d+)"', asked)
    assert untouched is not None
    assert untouched[1] == untouched[2], "it stands where no moment is given"
    sent = f"/lessons/hint-lost?step=4&choice=poll&at={untouched[1]}"
    alone = (await client.get(sent, headers=HTML)).text
    assert "Right. It took" in alone
    assert "you said" not in alone
    assert 'data-address="/lessons/hint-lost?step=4&amp;choice=poll"' in alone
    assert f'data-address="{html.escape(address)}"' in told
    shown = (await client.get("/lessons/hint-lost?step=4&show=1", headers=HTML)).text
    assert "At the next global relist. It took" in shown


async def test_what_a_question_hides_is_not_in_its_page(client: httpx.AsyncClient) -> None:
    told = facts((await client.get("/lessons/hint-lost?step=4&show=1")).text)
    asked = (await client.get("/lessons/hint-lost?step=4")).text
    ask = told["ask"]
    assert isinstance(ask, dict)
    assert str(ask["engine"]) not in asked
    assert ask["engineText"] not in html.unescape(asked)


async def test_steps_lead_back_and_on(client: httpx.AsyncClient) -> None:
    text = (await client.get("/lessons/hint-lost?step=3", headers=HTML)).text
    assert 'rel="prev" href="/lessons/hint-lost?step=2"' in text
    assert 'rel="next" href="/lessons/hint-lost?step=4"' in text
    assert 'aria-current="step"' in text
    asks = (await client.get("/lessons/hint-lost?step=4", headers=HTML)).text
    assert 'rel="next"' not in asks, "a question is passed by an answer"
    assert "Just show me" in asks


async def test_the_law_at_any_moment(client: httpx.AsyncClient) -> None:
    early = await client.get("/lessons/legacy-trap/law?step=4&t=14000000000")
    late = await client.get("/lessons/legacy-trap/law?step=4&t=20000000000")
    assert "Law, holding:" in early.text
    assert "Law, broken:" in late.text
    assert late.text.strip().startswith('<section class="lesson-law broken" id="lesson-law"')
    for path in ("law?step=3&t=1", "law?step=4&t=-1", "law?step=99&t=1", "law?step=4&t=x"):
        assert (await client.get(f"/lessons/legacy-trap/{path}")).status_code in (404, 422)


async def test_a_press_becomes_part_of_the_address(client: httpx.AsyncClient) -> None:
    button = "/lessons/hint-lost?step=8&profile=legacy&t=11000000000&name=lose-stops&target="
    answer = await client.get(button, headers=HTML)
    assert answer.status_code == 303
    target = answer.headers["location"]
    assert target == "/lessons/hint-lost?step=8&profile=legacy&press=11s!lose-stops"
    text = (await client.get(target, headers=HTML)).text
    assert "Law, broken:" in text
    assert "What you pressed" in text
    panel = (await client.get(button, headers=PANEL)).text
    assert f'data-address="{html.escape(target)}"' in panel
    under_kep = (await client.get(target.replace("legacy", "kep"), headers=HTML)).text
    assert "Law, holding:" in under_kep
    assert "/compare?run=" in under_kep


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/lessons/nothing", 404),
        ("/lessons/..%2Fhint-lost", 404),
        ("/lessons/hint-lost?step=50", 404),
        ("/lessons/hint-lost?step=0", 422),
        ("/lessons/hint-lost?step=x", 422),
        ("/lessons/hint-lost?step=4&choice=x", 422),
        ("/lessons/hint-lost?step=4&at=-1", 422),
        ("/lessons/hint-lost?step=1&show=1", 422),
        ("/lessons/hint-lost?step=8&press=1s!nothing", 422),
        ("/lessons/hint-lost?step=8&profile=polling", 422),
        ("/lessons/hint-lost?step=8&name=lose-stops&t=99000000000", 422),
        ("/lessons/hint-lost?step=2&class=nobody", 404),
        ("/lessons/nothing?class=new", 404),
        ("/lessons/hint-lost?" + "&".join(["step=8", *["press=1s!heal"] * 21]), 422),
    ],
)
async def test_what_cannot_be_is_refused_in_a_sentence(
    client: httpx.AsyncClient, path: str, status: int
) -> None:
    answer = await client.get(path)
    assert answer.status_code == status
    assert answer.json()["error"].endswith((".", "!"))
    assert "Traceback" not in answer.text


async def test_a_link_to_no_lesson_leads_to_the_lessons(client: httpx.AsyncClient) -> None:
    page = await client.get("/lessons/nothing", headers=HTML)
    assert page.status_code == 404
    assert 'class="button" href="/lessons">The lessons' in page.text


async def test_hostile_words_stay_words(client: httpx.AsyncClient) -> None:
    answer = await client.get(
        "/lessons/hint-lost?step=8&name=<script>&t=1&target=<script>", headers=HTML
    )
    assert answer.status_code == 422
    assert "<script>" not in answer.text.replace("<script src", "").replace("<script type", "")


async def test_scripts_find_what_they_look_for(client: httpx.AsyncClient) -> None:
    ids: set[str] = set()
    for path in ("/lessons/hint-lost?step=4", "/lessons/hint-lost?step=8&press=11s!lose-stops"):
        ids |= ids_of((await client.get(path, headers=HTML)).text)
    for script in (*SCRIPTS.glob("lesson*.js"), SCRIPTS / "nodepage.js"):
        assert missing(script, ids) == set(), script.name


async def test_a_link_to_a_step_is_the_same_for_everybody(stage: Stage) -> None:
    texts = []
    for _ in range(2):
        async with site(stage).client() as made:
            texts.append((await made.get("/lessons/relist-loop?step=8", headers=HTML)).text)
    assert texts[0] == texts[1]
