"""A class over HTTP: the code opens the question and nothing else; forms are guarded."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from starlette.requests import Request

from app.stage.classroom import MOST_CLASSES, MOST_STUDENTS
from app.stage.stage import Stage
from app.web import classroom
from app.web.body import MOST_BYTES
from tests.web.site import Site
from tests.web.test_lessons import HTML, PANEL, site

ORIGIN = {"Origin": "http://127.0.0.1:7780", **HTML}
FORM = {**ORIGIN, "Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage()


@pytest.fixture
def school(stage: Stage) -> Site:
    """With a token, as on an address that a class can reach."""
    return site(stage)


@pytest.fixture
async def teacher(school: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with school.client() as made:
        yield made


@pytest.fixture
async def student(school: Site) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody without the token."""
    async with school.client(headers={}) as made:
        yield made


async def begin(teacher: httpx.AsyncClient, step: int = 4) -> tuple[str, str]:
    """A new class at this step: its code, and its key."""
    answer = await teacher.get(f"/lessons/hint-lost?step={step}&class=new", headers=HTML)
    assert answer.status_code == 303
    key = parse_qs(urlsplit(answer.headers["location"]).query)["class"][0]
    page = await teacher.get(answer.headers["location"], headers=HTML)
    code = re.search(r'href="/class/([\w-]+)"', page.text)
    assert code is not None
    assert len(code[1]) >= 16
    assert key not in code[1]
    return code[1], key


def answered(text: str) -> tuple[int, int]:
    found = re.search(r"<b>(\d+)</b>(?: of (\d+))? answered", text)
    assert found is not None
    return int(found[1]), int(found[2] or found[1])


async def test_a_class_from_the_question_to_the_answer(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    code, key = await begin(teacher)
    asked = await student.get(f"/class/{code}", headers=HTML)
    assert asked.status_code == 200
    assert "When will PLEG notice?" in asked.text
    assert answered((await teacher.get(f"/class/{key}/tally?step=4")).text) == (0, 0)
    slider = re.search(r'name="at" min="(\d+)" max="(\d+)"', asked.text)
    assert slider is not None
    sent = await student.post(
        f"/class/{code}", content=f"step=4&choice=poll&at={slider[2]}", headers=FORM
    )
    assert (sent.status_code, sent.headers["location"]) == (303, f"/class/{code}")
    told = await student.get(f"/class/{code}", headers=HTML)
    assert "Your answer is in." in told.text
    assert "It took" not in told.text
    tally = (await teacher.get(f"/class/{key}/tally?step=4")).text
    assert answered(tally) == (1, 1)
    assert re.search(r'data-bins="(0,)+1"', tally)
    await teacher.get(f"/lessons/hint-lost?step=4&show=1&class={key}", headers=PANEL)
    shown = await student.get(f"/class/{code}", headers=HTML)
    assert "Right choice; your moment is" in shown.text


async def test_one_browser_one_answer(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient, school: Site
) -> None:
    code, key = await begin(teacher)
    await student.get(f"/class/{code}", headers=HTML)
    for choice in ("poll", "never", "at-once"):
        await student.post(f"/class/{code}", content=f"step=4&choice={choice}", headers=FORM)
    async with school.client(headers={}) as another:
        await another.post(f"/class/{code}", content="step=4&choice=never", headers=FORM)
    tally = (await teacher.get(f"/class/{key}/tally?step=4")).text
    assert answered(tally) == (2, 2)
    assert 'aria-label="At the next global relist: 1"' in tally
    assert 'aria-label="Never: 1"' in tally


async def test_the_page_asks_for_news_and_gets_none_while_there_is_none(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    code, key = await begin(teacher)
    page = (await student.get(f"/class/{code}", headers=HTML)).text
    found = re.search(r'hx-get="(/class/[^"]+/now\?seen=[^"]+)"', page)
    assert found is not None
    assert (await student.get(found[1])).status_code == 204
    await teacher.get(f"/lessons/hint-lost?step=6&class={key}", headers=PANEL)
    news = await student.get(found[1])
    assert news.status_code == 200
    assert "old stop event" in news.text
    assert "<html" not in news.text


async def test_a_step_that_asks_nothing_says_so(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    code, _ = await begin(teacher, step=1)
    page = (await student.get(f"/class/{code}", headers=HTML)).text
    assert "Nothing is asked now." in page
    assert "<form" not in page


async def test_the_code_opens_the_question_and_nothing_else(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    code, key = await begin(teacher)
    await student.get(f"/class/{code}", headers=HTML)
    for path in (
        "/",
        "/lessons",
        "/lessons/hint-lost",
        f"/lessons/hint-lost?step=4&class={key}",
        f"/lessons/hint-lost?step=4&class={code}",
        f"/class/{key}/tally?step=4",
        f"/class/{key}",
        "/api/v1/records",
        f"/class/../class/{code}/../../lessons",
    ):
        assert (await student.get(path)).status_code in (401, 404), path
    assert (await student.get(f"/class/{code}/tally?step=4")).status_code == 404
    assert (await student.post(f"/class/{code}/end", headers=ORIGIN)).status_code == 404
    assert (await student.post(f"/class/{key}/end", headers=ORIGIN)).status_code == 401
    assert (await student.get("/class/not-a-code-at-all")).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "application/x-www-form-urlencoded"},
        {**FORM, "Origin": "http://evil.example"},
        {**FORM, "Origin": "null"},
    ],
)
async def test_a_form_of_another_site_is_refused(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    code, key = await begin(teacher)
    sent = await student.post(f"/class/{code}", content="step=4&choice=poll", headers=headers)
    assert sent.status_code == 403
    assert answered((await teacher.get(f"/class/{key}/tally?step=4")).text) == (0, 0)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "application/x-www-form-urlencoded"),
        (b"step=4", "application/x-www-form-urlencoded"),
        (b"choice=poll", "application/x-www-form-urlencoded"),
        (b"step=4&choice=nothing", "application/x-www-form-urlencoded"),
        (b"step=4&at=99999999999999", "application/x-www-form-urlencoded"),
        (b"step=1&choice=poll", "application/x-www-form-urlencoded"),
        (b"step=2&choice=hint", "application/x-www-form-urlencoded"),
        (b"step=4&choice=\xff", "application/x-www-form-urlencoded"),
        (b"a=1&" * 30, "application/x-www-form-urlencoded"),
        (b"step=4&choice=" + b"p" * 5000, "application/x-www-form-urlencoded"),
        (b'{"step": 4, "choice": "poll"}', "application/json"),
        (b"step=4&choice=poll", "text/plain"),
    ],
)
async def test_what_is_no_answer_is_refused_in_a_sentence(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient, body: bytes, kind: str
) -> None:
    code, key = await begin(teacher)
    sent = await student.post(
        f"/class/{code}", content=body, headers={"Origin": ORIGIN["Origin"], "Content-Type": kind}
    )
    assert sent.status_code == (413 if len(body) > MOST_BYTES else 422)
    assert sent.json()["error"].endswith(".")
    assert answered((await teacher.get(f"/class/{key}/tally?step=4")).text)[0] == 0


async def test_other_sites_cannot_open_classes(teacher: httpx.AsyncClient) -> None:
    address = "/lessons/hint-lost?step=4&class=new"
    navigation = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    assert (await teacher.get(address, headers=navigation)).status_code == 422
    for site_ in ("none", "same-origin"):
        answer = await teacher.get(address, headers={"Sec-Fetch-Site": site_})
        assert answer.status_code == 303


async def test_there_are_so_many_classes_and_a_class_can_be_ended(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    keys = [await begin(teacher) for _ in range(MOST_CLASSES)]
    # Each is held: its teacher has opened it just now.
    full = await teacher.get("/lessons/hint-lost?class=new")
    assert full.status_code == 503
    assert full.json()["error"].endswith(".")
    code, key = keys[0]
    assert (await student.get(f"/class/{code}", headers=HTML)).status_code == 200
    ended = await teacher.post(f"/class/{key}/end", headers=ORIGIN)
    assert ended.headers["location"] == "/lessons/hint-lost?step=4&ended=1"
    after = await teacher.get(ended.headers["location"], headers=HTML)
    assert "The class is over." in after.text
    await begin(teacher)


async def test_links_that_nobody_holds_a_class_with_take_no_room(
    teacher: httpx.AsyncClient,
) -> None:
    held = await begin(teacher)
    for _ in range(2 * MOST_CLASSES):
        answer = await teacher.get("/lessons/hint-lost?step=4&class=new", headers=HTML)
        assert answer.status_code == 303
    await begin(teacher)
    assert (await teacher.get(f"/class/{held[1]}/tally?step=4")).status_code == 200


async def test_to_look_fills_no_class(
    school: Site, teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    code, key = await begin(teacher)
    for number in range(MOST_STUDENTS + 5):
        known = {"Cookie": f"plegscope_student={number:020d}"}
        sent = await student.post(
            f"/class/{code}", content="step=4&choice=poll", headers={**FORM, **known}
        )
        assert sent.status_code == (303 if number < MOST_STUDENTS else 503)
    async with school.client(headers={}) as late:
        for _ in range(2):
            page = await late.get(f"/class/{code}", headers=HTML)
            assert page.status_code == 200, "to watch is always possible"
            late.cookies.clear()
    tally = (await teacher.get(f"/class/{key}/tally?step=4")).text
    assert answered(tally) == (MOST_STUDENTS, MOST_STUDENTS)


async def test_a_class_belongs_to_its_lesson(teacher: httpx.AsyncClient) -> None:
    _, key = await begin(teacher)
    answer = await teacher.get(f"/lessons/relist-loop?step=1&class={key}")
    assert answer.status_code == 422


async def test_the_cookie_says_nothing_and_goes_nowhere_else(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    code, _ = await begin(teacher)
    cookie = (await student.get(f"/class/{code}", headers=HTML)).headers["set-cookie"]
    assert f"Path=/class/{code}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "set-cookie" not in (await student.get(f"/class/{code}", headers=HTML)).headers


async def test_a_teacher_whose_address_nobody_reaches_is_told_so(
    teacher: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nowhere(port: int) -> str | None:
        return None

    monkeypatch.setattr(classroom, "reachable_at", nowhere)
    _, key = await begin(teacher)
    page = await teacher.get(f"/lessons/hint-lost?step=4&class={key}", headers=HTML)
    assert "Only this machine reaches that address." in page.text
    assert "--host 0.0.0.0" in page.text


async def test_those_who_wait_for_a_class_that_is_over_are_told_in_their_page(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    code, key = await begin(teacher)
    await student.get(f"/class/{code}", headers=HTML)
    await teacher.post(f"/class/{key}/end", headers=ORIGIN)
    inside = await student.get(f"/class/{code}/now?seen=1.0", headers=PANEL)
    assert inside.status_code == 200
    assert "This class is over." in inside.text
    assert "<header" not in inside.text
    assert "<html" not in inside.text
    assert "hx-trigger" not in inside.text, "it asks no more"
    whole = await student.get(f"/class/{code}", headers=HTML)
    late = await student.post(f"/class/{code}", content="step=4&choice=poll", headers=FORM)
    for page in (whole, late):
        assert page.status_code == 404
        assert "This class is over." in page.text
        assert page.text.count("<html") == 1
        assert "cannot be opened" not in page.text


async def test_a_teacher_goes_back_into_the_lesson_when_the_class_is_over(
    teacher: httpx.AsyncClient,
) -> None:
    _, key = await begin(teacher)
    await teacher.post(f"/class/{key}/end", headers=ORIGIN)
    page = await teacher.get(f"/lessons/hint-lost?step=4&class={key}", headers=HTML)
    assert page.status_code == 200
    assert "The class is over." in page.text
    assert key not in page.text, "no address leads back into it"
    tally = await teacher.get(f"/class/{key}/tally?step=4", headers=PANEL)
    assert "<html" not in tally.text


async def test_to_end_a_class_is_asked_twice(teacher: httpx.AsyncClient) -> None:
    _, key = await begin(teacher)
    page = await teacher.get(f"/lessons/hint-lost?step=4&class={key}", headers=HTML)
    found = re.search(r"<summary>End the class</summary>(.*?)</details>", page.text, re.DOTALL)
    assert found is not None
    assert "all answers are gone" in found[1]
    assert f'action="/class/{key}/end"' in found[1]
    assert page.text.count(f"/class/{key}/end") == 1


async def test_an_answer_that_comes_too_late_leads_to_what_is_asked_now(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    code, key = await begin(teacher, step=2)
    await teacher.get(f"/lessons/hint-lost?step=4&class={key}", headers=PANEL)
    sent = await student.post(f"/class/{code}", content="step=2&choice=hint", headers=FORM)
    assert (sent.status_code, sent.headers["location"]) == (303, f"/class/{code}")
    assert answered((await teacher.get(f"/class/{key}/tally?step=2")).text)[0] == 0


async def test_a_slider_that_nobody_touched_is_not_counted(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    code, key = await begin(teacher)
    asked = (await student.get(f"/class/{code}", headers=HTML)).text
    slider = re.search(r'name="at" min="(\d+)"', asked)
    assert slider is not None
    nothing = await student.post(f"/class/{code}", content=f"step=4&at={slider[1]}", headers=FORM)
    assert nothing.status_code == 422
    body = f"step=4&choice=poll&at={slider[1]}"
    await student.post(f"/class/{code}", content=body, headers=FORM)
    tally = (await teacher.get(f"/class/{key}/tally?step=4")).text
    assert answered(tally) == (1, 1)
    assert re.search(r'data-bins="(0,)+0"', tally)
    assert "Nobody has given a moment" in tally
    assert "<svg" not in tally


async def test_votes_stand_once_on_the_teachers_page(
    teacher: httpx.AsyncClient, student: httpx.AsyncClient
) -> None:
    code, key = await begin(teacher)
    asked = (await student.get(f"/class/{code}", headers=HTML)).text
    slider = re.search(r'name="at" min="\d+" max="(\d+)"', asked)
    assert slider is not None
    body = f"step=4&choice=never&at={slider[1]}"
    await student.post(f"/class/{code}", content=body, headers=FORM)
    page = (await teacher.get(f"/lessons/hint-lost?step=4&show=1&class={key}", headers=PANEL)).text
    assert page.count("<span>When the stream is back") == 1
    assert "Moments chosen, 1 in all" in page
    assert "tally-axis" in page
    assert re.search(r'<li class="right"><span>At the next global relist', page)


async def test_students_get_an_address_that_they_reach(
    teacher: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(port: int) -> str | None:
        return "192.0.2.7" if port == 7780 else None

    monkeypatch.setattr(classroom, "reachable_at", found)
    _, key = await begin(teacher)
    page = await teacher.get(f"/lessons/hint-lost?step=4&class={key}", headers=HTML)
    assert "http://192.0.2.7:7780/class/" in page.text
    assert "Only this machine reaches that address." not in page.text


async def test_the_address_of_all_addresses_is_handed_out_to_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def there(port: int) -> str | None:
        return "10.1.2.3"

    monkeypatch.setattr(classroom, "reachable_at", there)
    scope = {
        "type": "http", "scheme": "http", "path": "/", "query_string": b"",
        "server": ("0.0.0.0", 7785), "headers": [(b"host", b"0.0.0.0:7785")],
    }  # fmt: skip
    told = await classroom.students_address(Request(scope), "code")
    assert told == ("http://10.1.2.3:7785/class/code", True)
