"""Pressing faults over the API: what is taken, what is refused, and that a real node has none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi.openapi.models import OpenAPI
from starlette.requests import Request
from starlette.types import Message

from app.web import body, faults
from app.web.body import MOST_BYTES, Refused
from app.web.faults import BURST, PATHS, Allowance
from tests.build import SESSION
from tests.web.desk import S, TestDesk
from tests.web.site import standing

ORIGIN = {"Origin": "http://127.0.0.1:7780"}
URL = "/api/v1/faults"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def desk() -> TestDesk:
    return TestDesk()


@pytest.fixture
async def client(desk: TestDesk) -> AsyncIterator[httpx.AsyncClient]:
    async with standing(token=None, desk=desk).client(headers=ORIGIN) as client:
        yield client


async def test_what_can_be_pressed_and_what_is_at_work(
    client: httpx.AsyncClient, desk: TestDesk
) -> None:
    desk.press("lose-events", "shop/web")
    report = (await client.get(URL)).json()
    assert report["pods"] == ["shop/db", "shop/web"]
    assert [one["name"] for one in report["palette"]] == [
        "break-stream",
        "lose-events",
        "kill-container",
    ]
    assert report["palette"][2] == {
        "name": "kill-container",
        "text": "Kill",
        "group": "pods",
        "does": "It is killed.",
        "imitates": "A crash.",
        "lasts_ns": None,
        "target": "pod",
    }
    (one,) = report["at_work"]
    assert (one["number"], one["target"], one["until_t"]) == (1, "shop/web", 91 * S)
    assert (report["session"], report["t"]) == (SESSION, 0)


@pytest.mark.parametrize("kind", ["json", "form"])
async def test_pressing(client: httpx.AsyncClient, desk: TestDesk, kind: str) -> None:
    given = {"name": "lose-events", "target": "shop/web", "for": "1m30s"}
    sent: dict[str, Any] = {"json": given} if kind == "json" else {"data": given}
    answer = await client.post(URL, **sent)
    assert answer.status_code == 200
    assert answer.json() == {
        "number": 1,
        "name": "lose-events",
        "text": "Lose events",
        "target": "shop/web",
        "since_t": 90 * S,
        "until_t": 180 * S,
        "imitates": "A full channel.",
    }
    assert desk.asked == [("lose-events", "shop/web", 90 * S)]


async def test_a_name_is_enough_and_what_happens_once_has_no_number(
    client: httpx.AsyncClient, desk: TestDesk
) -> None:
    answer = await client.post(URL, json={"name": "kill-container", "target": "shop/db"})
    assert (answer.json()["number"], answer.json()["until_t"]) == (None, None)
    await client.post(URL, json={"name": "break-stream"})
    assert desk.asked[1] == ("break-stream", "", None)


async def test_lifting_one_and_all(client: httpx.AsyncClient, desk: TestDesk) -> None:
    for _ in range(3):
        desk.press("break-stream")
    assert (await client.delete(f"{URL}/2")).json() == {"lifted": 1}
    gone = await client.delete(f"{URL}/2")
    assert (gone.status_code, gone.json()["error"]) == (404, faults.NOT_AT_WORK)
    assert (await client.delete(URL)).json() == {"lifted": 2}
    desk.press("break-stream")
    assert (await client.post(f"{URL}/heal")).json() == {"lifted": 1}


@pytest.mark.parametrize("number", ["0x1", "-1", "1.0", "%D9%A1", "9" * 40, "heal", "a%00b"])
async def test_a_number_is_a_number(client: httpx.AsyncClient, desk: TestDesk, number: str) -> None:
    desk.press("break-stream")
    assert (await client.delete(f"{URL}/{number}")).status_code == 404
    assert len(desk.working) == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "no JSON object"),
        (b"[]", "no JSON object"),
        (b"null", "no JSON object"),
        (b'"x"', "no JSON object"),
        (b"{", "no JSON object"),
        (b"[" * 4000, "no JSON object"),
        (b'{"name": "\xff"}', "no JSON object"),
        (b"{}", "`name`"),
        (b'{"name": 7}', "`$.name`"),
        (b'{"name": null}', "`$.name`"),
        (b'{"name": ["break-stream"]}', "`$.name`"),
        (b'{"name": "break-stream", "at": 1}', "`at`"),
        (b'{"name": "break-stream", "for": 10}', "`$.for`"),
        (b'{"name": "break-stream", "for": "ten"}', "'ten' is no duration"),
        (b'{"name": "break-stream", "for": "0s"}', "longer than nothing"),
    ],
)
async def test_json_that_says_nothing_usable(
    client: httpx.AsyncClient, desk: TestDesk, body: bytes, words: str
) -> None:
    answer = await client.post(URL, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert answer.json()["error"].endswith(".")
    assert desk.asked == []


@pytest.mark.parametrize(
    "body",
    [
        b"name=break-stream&name=lose-events",
        b"name=%FF",
        b"&".join(b"a%d=1" % n for n in range(30)),
        b"name=break-stream&other=1",
        b"",
    ],
)
async def test_forms_that_cannot_be(client: httpx.AsyncClient, desk: TestDesk, body: bytes) -> None:
    answer = await client.post(URL, content=body, headers={"Content-Type": FORM})
    assert answer.status_code == 422
    assert desk.asked == []


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "multipart/form-data; boundary=x", "application/jsonp", "text/json", "*/*"],
)
async def test_other_kinds_of_bodies_are_refused(
    client: httpx.AsyncClient, desk: TestDesk, kind: str
) -> None:
    answer = await client.post(
        URL, content=b'{"name": "break-stream"}', headers={"Content-Type": kind}
    )
    assert (answer.status_code, answer.json()["error"]) == (415, faults.UNKNOWN_KIND)
    assert desk.asked == []


async def test_parameters_of_a_kind_do_not_matter(
    client: httpx.AsyncClient, desk: TestDesk
) -> None:
    await client.post(
        URL,
        content=b'{"name": "break-stream"}',
        headers={"Content-Type": "Application/JSON; charset=utf-8"},
    )
    assert desk.asked == [("break-stream", "", None)]


async def test_a_large_body_is_refused_before_it_is_read(
    client: httpx.AsyncClient, desk: TestDesk
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 1024

    answer = await asyncio.wait_for(
        client.post(URL, content=endless(), headers={"Content-Type": "application/json"}), 60
    )
    assert (answer.status_code, answer.json()["error"]) == (413, faults.TOO_LARGE)
    assert sent <= 2 + MOST_BYTES // 1024
    assert desk.asked == []


def request_of(*messages: Message) -> Request:
    """A request whose body comes so; after the last part nothing comes any more."""
    incoming = list(messages)

    async def receive() -> Message:
        if not incoming:
            await asyncio.Event().wait()
        return incoming.pop(0)

    scope = {"type": "http", "headers": [(b"content-type", b"application/json")], "method": "POST"}
    return Request(scope, receive)


async def test_a_body_that_does_not_come_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(body, "PATIENCE_S", 0.01)
    part: Message = {"type": "http.request", "body": b"{", "more_body": True}
    with pytest.raises(Refused) as slow:
        await faults.fields(request_of(part))
    with pytest.raises(Refused) as gone:
        await faults.fields(request_of(part, {"type": "http.disconnect"}))
    assert (slow.value.status, gone.value.status) == (408, 408)


async def test_a_refusal_of_the_node_is_told_in_its_words(
    client: httpx.AsyncClient, desk: TestDesk
) -> None:
    desk.error = "There is no pod 'x/<b>' now. Choose one that is there."
    answer = await client.post(URL, json={"name": "kill-container", "target": "x/<b>"})
    assert (answer.status_code, answer.json()["error"]) == (422, desk.error)
    assert answer.headers["content-type"] == "application/json"


async def test_nobody_presses_too_often(client: httpx.AsyncClient, desk: TestDesk) -> None:
    answers = [await client.post(URL, json={"name": "kill-container"}) for _ in range(BURST + 5)]
    statuses = [answer.status_code for answer in answers]
    assert statuses[:BURST] == [200] * BURST
    assert 429 in statuses
    refused = answers[statuses.index(429)]
    assert refused.json()["error"] == faults.TOO_OFTEN
    assert int(refused.headers["retry-after"]) >= 1
    assert len(desk.asked) == statuses.count(200)


async def test_what_was_used_grows_back(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(loop, "time", lambda: now)
    allowance = Allowance(burst=2, per_second=4)
    allowance.take()
    allowance.take()
    with pytest.raises(Refused):
        allowance.take()
    now += 0.25
    allowance.take()
    with pytest.raises(Refused):
        allowance.take()
    now += 1000
    allowance.take()
    allowance.take()
    with pytest.raises(Refused):
        allowance.take()


# -------------------------------------------------------------------- who may, and where at all


@pytest.mark.parametrize("path", [URL, f"{URL}/heal", f"{URL}/1", "/faults"])
async def test_a_page_of_another_site_cannot_press(desk: TestDesk, path: str) -> None:
    """What a form or script on a foreign page can send, and what a rebound name adds."""
    desk.press("break-stream")
    desk.asked.clear()
    attacks = [
        {"Origin": "https://evil.example", "Content-Type": FORM},
        {"Origin": "null", "Content-Type": FORM},
        {"Content-Type": "text/plain"},
        {"Host": "evil.example:7780", "Origin": "http://evil.example:7780"},
        {"Origin": "http://127.0.0.1:7781", "Content-Type": "application/json"},
    ]
    async with standing(token=None, desk=desk).client(headers={}) as client:
        for headers in attacks:
            for method in ("POST", "DELETE"):
                answer = await client.request(
                    method, path, content=b"name=break-stream&heal=all", headers=headers
                )
                assert answer.status_code == 403, headers
    assert (desk.asked, len(desk.working)) == ([], 1)


@pytest.mark.parametrize("path", PATHS)
async def test_a_real_node_has_nothing_to_press(path: str) -> None:
    async with standing(token=None).client(headers=ORIGIN) as client:
        answer = await client.get(path)
        assert (answer.status_code, answer.json()["error"]) == (404, faults.NOTHING_HERE)
        for method in ("POST", "DELETE", "PUT"):
            assert (await client.request(method, path)).status_code == 405
        assert (await client.post(f"{URL}/heal")).status_code == 405
        document = (await client.get("/api/v1/openapi.json")).json()
    assert not [one for one in document["paths"] if "fault" in one]


async def test_the_description_is_valid_and_names_what_is_asked(
    client: httpx.AsyncClient,
) -> None:
    document = (await client.get("/api/v1/openapi.json")).json()
    OpenAPI.model_validate(document)
    methods = {path: sorted(one) for path, one in document["paths"].items() if "fault" in path}
    assert methods == {
        URL: ["delete", "get", "post"],
        f"{URL}/heal": ["post"],
        f"{URL}/{{number}}": ["delete"],
    }
    press = document["paths"][URL]["post"]
    assert set(press["requestBody"]["content"]) == {"application/json", FORM}
    schema = document["components"]["schemas"]["PressOrder"]
    assert set(schema["properties"]) == {"name", "target", "for"}
    assert press["responses"]["429"]["content"]["application/json"]
    assert press["security"] == [{"token": []}]
    text = json.dumps(document)
    assert "`None`" not in text
