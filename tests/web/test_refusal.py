"""Answers that say no: pages for people, JSON for scripts."""

from __future__ import annotations

import json

import pytest
from starlette.responses import HTMLResponse, Response

from app.web.refusal import Json, Problem, refuse, wants_page
from tests.build import HOSTILE
from tests.web.asgi import scope_of

HTML = [("Accept", "text/html,*/*;q=0.8")]


def page(status: int) -> Response:
    return HTMLResponse(f"page {status}", status)


@pytest.mark.parametrize(
    ("kind", "target", "headers", "expected"),
    [
        ("http", "/", HTML, True),
        ("http", "/pods/x", HTML, True),
        ("http", "/", [], False),
        ("http", "/", [("Accept", "*/*")], False),
        ("http", "/", [("Accept", "application/json")], False),
        ("http", "/api/v1/pods", HTML, False),
        ("websocket", "/ws", HTML, False),
    ],
)
def test_who_wants_a_page(
    kind: str, target: str, headers: list[tuple[str, str]], expected: bool
) -> None:
    assert wants_page(scope_of(kind, "GET", target, headers)) is expected


def test_people_get_the_page() -> None:
    answer = refuse(scope_of("http", "GET", "/", HTML), 403, "A sentence.", page, {"Allow": "GET"})
    assert (answer.status_code, answer.body) == (403, b"page 403")
    assert answer.headers["allow"] == "GET"


def test_scripts_get_the_sentence() -> None:
    answer = refuse(scope_of("http", "GET", "/", []), 403, "A sentence.", page)
    assert (answer.status_code, json.loads(bytes(answer.body))) == (403, {"error": "A sentence."})
    assert answer.headers["content-type"] == "application/json"


def test_without_pages_people_get_the_sentence_too() -> None:
    answer = refuse(scope_of("http", "GET", "/", HTML), 404, "A sentence.", None)
    assert json.loads(bytes(answer.body)) == {"error": "A sentence."}


def test_json_of_hostile_text_is_json() -> None:
    assert json.loads(bytes(Json(Problem(HOSTILE)).body)) == {"error": HOSTILE}
