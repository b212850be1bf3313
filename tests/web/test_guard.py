"""The guard: nothing gets past it, whatever is asked and in whichever way."""

from __future__ import annotations

import itertools
import logging

import pytest
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from app.web.access import access
from app.web.guard import Guard
from tests.build import HOSTILE
from tests.web.asgi import Answer, Pairs, connect, get

TOKEN = "a-token-of-this-start"
HOST = ("Host", "localhost:7780")
BEARER = ("Authorization", f"Bearer {TOKEN}")
ORIGIN = ("Origin", "http://localhost:7780")
HTML = ("Accept", "text/html,application/xhtml+xml")


class Inner:
    """The application behind the guard; remembers what reached it."""

    def __init__(self) -> None:
        self.reached: list[Scope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reached.append(scope)
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": 1000})
            return
        await PlainTextResponse("inside")(scope, receive, send)


class Behind:
    """A guarded application and how to knock at it."""

    def __init__(self, token: str | None = TOKEN, *, pages: bool = False) -> None:
        self.inner = Inner()
        self.access = access("127.0.0.1", 7780, token=token)
        page = (lambda status: HTMLResponse(f"<h1>{status}</h1>", status)) if pages else None
        self.guard = Guard(self.inner, self.access, page)

    @property
    def cookie(self) -> tuple[str, str]:
        return ("Cookie", f"{self.access.cookie_name}={self.access.cookie_value}")

    async def get(
        self, target: str = "/", *headers: tuple[str, str], method: str = "GET"
    ) -> Answer:
        return await get(self.guard, target, [HOST, *headers], method)

    async def connect(self, *headers: tuple[str, str]) -> Answer:
        return await connect(self.guard, "/ws", [HOST, *headers])


# ----------------------------------------------------------------------------------------- hosts

REBOUND: list[Pairs] = [
    [],
    [("Host", "evil.example:7780")],
    [("Host", "evil.example")],
    [("Host", "localhost:7781")],
    [("Host", "")],
    [HOST, ("Host", "evil.example:7780")],
    [HOST, HOST],
    [("Host", "localhost:7780\xff")],
]


@pytest.mark.parametrize("headers", REBOUND)
@pytest.mark.parametrize("path", ["/", "/ws", "/api/v1/pods", "/healthz", "/static/x.js"])
async def test_a_rebound_name_reaches_nothing_even_with_the_token(
    headers: Pairs, path: str
) -> None:
    behind = Behind()
    answer = await get(behind.guard, path, [*headers, BEARER, behind.cookie])
    assert answer.status == 403
    assert "--allow-host" in answer.error
    socket = await connect(behind.guard, path, [*headers, BEARER, ORIGIN, behind.cookie])
    assert socket.status == 403
    assert not socket.accepted
    assert not behind.inner.reached


@pytest.mark.parametrize("token", [None, TOKEN])
async def test_a_rebound_page_is_refused_though_its_origin_matches_its_host(
    token: str | None,
) -> None:
    behind = Behind(token)
    rebound = [("Host", "evil.example:7780"), ("Origin", "http://evil.example:7780")]
    assert (await get(behind.guard, "/api/v1/pods", rebound)).status == 403
    assert not (await connect(behind.guard, "/ws", rebound)).accepted
    assert not behind.inner.reached


async def test_hosts_are_compared_without_regard_to_case() -> None:
    behind = Behind(token=None)
    assert (await get(behind.guard, "/", [("Host", "LocalHost:7780")])).status == 200


# ---------------------------------------------------------------------------------------- methods


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", ""]
)
async def test_nothing_can_be_changed(method: str) -> None:
    behind = Behind()
    answer = await behind.get("/api/v1/pods", BEARER, ORIGIN, method=method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"
    assert not behind.inner.reached


async def test_head_is_get_without_the_body() -> None:
    behind = Behind()
    full, head = await behind.get("/x", BEARER), await behind.get("/x", BEARER, method="HEAD")
    assert (head.status, head.headers) == (full.status, full.headers)
    assert (head.body, full.body) == (b"", b"inside")


# ---------------------------------------------------------------------------------------- origins

FOREIGN = ["http://evil.example", "null", "http://localhost:3000", "http://127.0.0.1:7780", ""]


@pytest.mark.parametrize("origin", FOREIGN)
async def test_a_page_of_another_origin_gets_nothing(origin: str) -> None:
    behind = Behind()
    answer = await behind.get("/api/v1/pods", BEARER, behind.cookie, ("Origin", origin))
    assert answer.status == 403
    socket = await behind.connect(BEARER, behind.cookie, ("Origin", origin))
    assert socket.status == 403
    assert not socket.accepted
    assert not behind.inner.reached


async def test_our_own_pages_are_served() -> None:
    behind = Behind()
    assert (await behind.get("/api/v1/pods", behind.cookie, ORIGIN)).status == 200
    assert (await behind.connect(behind.cookie, ORIGIN)).accepted


async def test_two_origins_are_none() -> None:
    behind = Behind()
    assert (await behind.get("/", behind.cookie, ORIGIN, ORIGIN)).status == 403
    assert not (await behind.connect(behind.cookie, ORIGIN, ORIGIN)).accepted


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_an_image_or_script_on_another_page_gets_nothing(site: str) -> None:
    behind = Behind()
    for mode, kind in (("no-cors", "image"), ("no-cors", "script"), ("navigate", "iframe")):
        fetched = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", kind)]
        assert (await behind.get("/api/v1/pods", behind.cookie, *fetched)).status == 403
    assert not behind.inner.reached


async def test_following_a_link_from_elsewhere_is_fine() -> None:
    link = [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
    ]
    assert (await Behind(token=None).get("/", *link)).status == 200


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_ones_own_requests_are_fine(site: str) -> None:
    assert (await Behind().get("/", BEARER, ("Sec-Fetch-Site", site))).status == 200


async def test_a_websocket_without_origin_needs_the_bearer() -> None:
    behind = Behind()
    assert (await behind.connect(BEARER)).accepted
    assert not (await behind.connect(behind.cookie)).accepted
    assert not (await behind.connect()).accepted
    assert not (await Behind(token=None).connect()).accepted
    assert (await Behind(token=None).connect(ORIGIN)).accepted


# ------------------------------------------------------------------------------------------ token


@pytest.mark.parametrize("path", ["/", "/ws", "/pods", "/api/v1/state", "/nothing", "/metrics/"])
async def test_without_the_token_nothing_is_served(path: str) -> None:
    behind = Behind()
    answer = await behind.get(path)
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "Open the address that plegscope printed" in answer.error
    assert not behind.inner.reached


async def test_a_websocket_without_the_token_is_refused_before_it_is_accepted() -> None:
    behind = Behind()
    answer = await behind.connect(ORIGIN)
    assert (answer.status, answer.accepted) == (401, False)
    assert not behind.inner.reached


async def test_a_server_that_cannot_refuse_in_words_closes() -> None:
    behind = Behind()
    answer = await connect(behind.guard, "/ws", [HOST, ORIGIN], extensions={})
    assert answer.messages == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/static/css/page.css"])
async def test_what_names_nothing_is_open(path: str) -> None:
    assert (await Behind().get(path)).status == 200


@pytest.mark.parametrize("path", ["/healthz/x", "/metricsx", "/static", "/x/static/", "//healthz"])
async def test_but_only_exactly_that(path: str) -> None:
    assert (await Behind().get(path)).status == 401


async def test_even_open_paths_are_closed_to_websockets() -> None:
    behind = Behind()
    assert not (await connect(behind.guard, "/healthz", [HOST, ORIGIN])).accepted


async def test_bearer_and_cookie_are_admitted() -> None:
    behind = Behind()
    assert (await behind.get("/", BEARER)).status == 200
    assert (await behind.get("/", behind.cookie)).status == 200
    assert (await behind.get("/", ("Cookie", "plegscope_7780=wrong"))).status == 401


async def test_the_token_in_the_address_is_exchanged_for_a_cookie() -> None:
    behind = Behind()
    answer = await behind.get(f"/pods?a=1&token={TOKEN}&b=x%26y")
    assert answer.status == 303
    assert answer.headers["location"] == "/pods?a=1&b=x%26y"
    assert TOKEN not in answer.headers["location"]
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "same-origin"
    name_and_value, *attributes = answer.headers["set-cookie"].split("; ")
    assert name_and_value == behind.cookie[1]
    assert {a.lower() for a in attributes} == {"httponly", "samesite=strict", "path=/"}
    assert not behind.inner.reached
    assert (await behind.get("/pods?a=1", ("Cookie", name_and_value))).status == 200


async def test_a_wrong_token_is_refused_and_gets_no_cookie() -> None:
    answer = await Behind().get("/?token=wrong")
    assert answer.status == 401
    assert "set-cookie" not in answer.headers


async def test_an_old_address_in_a_browser_that_has_the_cookie_just_works() -> None:
    behind = Behind()
    answer = await behind.get("/?token=of-an-earlier-start", behind.cookie)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("//evil.example/x", "/evil.example/x"),
        ("/\\evil.example", "/evil.example"),
        ("///evil.example", "/evil.example"),
        ("/a\r\nSet-Cookie: x=y", "/a%0D%0ASet-Cookie%3A%20x%3Dy"),
        ("/a?", "/a"),
    ],
)
async def test_the_exchange_never_leads_elsewhere(path: str, location: str) -> None:
    target = f"{path}{'' if path.endswith('?') else '?'}token={TOKEN}"
    answer = await Behind().get(target)
    assert answer.status == 303
    assert answer.headers["location"] == location


async def test_a_token_in_the_address_means_nothing_where_none_is_asked_for() -> None:
    behind = Behind(token=None)
    assert (await behind.get("/?token=x")).status == 200
    assert behind.inner.reached[0]["query_string"] == b"token=x"


@pytest.mark.parametrize("query", ["&" * 500, "%", "token", "token=%ff", "=".join("ab" * 200)])
async def test_odd_queries_are_no_way_in(query: str) -> None:
    assert (await Behind().get(f"/?{query}")).status == 401


# ------------------------------------------------------------------------------- how it says no


async def test_people_get_a_page_and_scripts_get_json() -> None:
    behind = Behind(pages=True)
    assert (await behind.get("/", HTML)).body == b"<h1>401</h1>"
    assert "error" in (await behind.get("/")).body.decode()
    assert (await behind.get("/api/v1/pods", HTML)).error
    refused = await get(behind.guard, "/", [("Host", "evil.example"), HTML])
    assert (refused.status, refused.body) == (403, b"<h1>403</h1>")


async def test_refusals_do_not_repeat_what_was_sent() -> None:
    for headers in ([("Host", "<script>")], [HOST, ("Origin", "<script>")]):
        answer = await get(Behind().guard, "/?<script>", headers)
        assert b"<script>" not in answer.body


# --------------------------------------------------------------------------------------- headers

STRICT = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self' ws://localhost:7780 wss://localhost:7780",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


def policy(answer: Answer) -> dict[str, str]:
    parts = answer.headers["content-security-policy"].split("; ")
    return {name: value for name, _, value in (part.partition(" ") for part in parts)}


@pytest.mark.parametrize(
    ("headers", "status"), [([BEARER], 200), ([], 401), ([("Origin", "null")], 403)]
)
async def test_every_answer_carries_the_strict_headers(headers: Pairs, status: int) -> None:
    answer = await Behind().get("/", *headers)
    assert answer.status == status
    assert policy(answer) == STRICT
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in answer.headers["permissions-policy"]
    assert answer.headers["cache-control"] == "no-store"


async def test_a_refused_host_is_not_repeated_in_the_policy() -> None:
    answer = await get(Behind().guard, "/", [("Host", "evil.example; script-src *")])
    assert policy(answer) == {**STRICT, "connect-src": "'self'"}


async def test_static_files_may_be_kept_if_asked_for_again() -> None:
    assert (await Behind().get("/static/x.js")).headers["cache-control"] == "no-cache"


class Says:
    """An application that sets headers of its own."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {"Cache-Control": "max-age=5", "X-Frame-Options": "ALLOW", "X-Own": "1"}
        await Response("", headers=headers)(scope, receive, send)


async def test_the_guards_headers_win_except_for_cache_control() -> None:
    guard = Guard(Says(), access("127.0.0.1", 7780, token=None))
    headers = (await get(guard, "/", [HOST])).headers
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "max-age=5"
    assert headers["x-own"] == "1"


# -------------------------------------------------------------------------------------- mistakes


class Broken:
    """An application with a mistake in it, before or after it has begun to answer."""

    def __init__(self, *, begun: bool) -> None:
        self.begun = begun

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError(HOSTILE)


@pytest.mark.parametrize("begun", [False, True])
async def test_a_mistake_is_a_sentence_for_people_and_a_traceback_in_the_log(
    begun: bool, caplog: pytest.LogCaptureFixture
) -> None:
    guard = Guard(Broken(begun=begun), access("127.0.0.1", 7780, token=None))
    with caplog.at_level(logging.ERROR, "plegscope.web"):
        answer = await get(guard, "/x\r\ny", [HOST])
    assert answer.status == (200 if begun else 500)
    if not begun:
        assert "please report it" in answer.error
    assert b"RuntimeError" not in answer.body
    assert "RuntimeError" in caplog.text
    assert "'/x\\r\\ny'" in caplog.text, "a path cannot write lines of its own into the log"


async def test_a_mistake_before_a_websocket_is_accepted_refuses_it() -> None:
    guard = Guard(Broken(begun=False), access("127.0.0.1", 7780, token=None))
    answer = await connect(guard, "/ws", [HOST, ORIGIN])
    assert (answer.status, answer.accepted) == (500, False)


# ------------------------------------------------------------------------------------ the matrix


@pytest.mark.parametrize(
    ("host", "origin", "key"),
    list(
        itertools.product(
            ["localhost:7780", "evil.example:7780", None],
            ["http://localhost:7780", "http://evil.example", None],
            ["bearer", "cookie", "wrong", None],
        )
    ),
)
async def test_the_whole_matrix(host: str | None, origin: str | None, key: str | None) -> None:
    """Every combination, with the rule written down once more in plain words."""
    behind = Behind()
    headers: Pairs = []
    if host is not None:
        headers.append(("Host", host))
    if origin is not None:
        headers.append(("Origin", origin))
    headers += {
        "bearer": [BEARER],
        "cookie": [behind.cookie],
        "wrong": [("Authorization", "Bearer wrong")],
        None: [],
    }[key]
    knows, ours = key in ("bearer", "cookie"), host == "localhost:7780"
    same = origin == "http://localhost:7780"

    answer = await get(behind.guard, "/api/v1/state", headers)
    assert (answer.status == 200) == (ours and (same or origin is None) and knows)

    socket = await connect(behind.guard, "/ws", headers)
    assert socket.accepted == (ours and ((same and knows) or (origin is None and key == "bearer")))


# --------------------------------------------------------- what may be changed, of a simulated node

CHANGES = ("/faults", "/api/v1/faults")


class Changeable(Behind):
    """A guard that lets some addresses be changed."""

    def __init__(self, token: str | None = None) -> None:
        super().__init__(token)
        self.guard = Guard(self.inner, self.access, None, CHANGES)


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("path", ["/faults", "/api/v1/faults", "/api/v1/faults/7"])
async def test_a_page_of_ours_may_change_what_is_simulated(method: str, path: str) -> None:
    behind = Changeable()
    assert (await behind.get(path, ORIGIN, method=method)).status == 200
    (scope,) = behind.inner.reached
    assert scope["method"] == method


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Origin", "https://evil.example")],
        [("Origin", "http://localhost:7781")],
        [("Origin", "http://localhost")],
        [("Origin", "http://localhost:7780.evil.example")],
        [("Origin", "null")],
        [("Origin", "")],
        [ORIGIN, ORIGIN],
        [ORIGIN, ("Origin", "https://evil.example")],
        # What a form on a foreign page sends besides; following links is fine, posting is not.
        [
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "document"),
        ],
        [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "same-origin")],
        [("Referer", "http://localhost:7780/")],
        [("Sec-Fetch-Site", "same-origin")],
        [("Sec-Fetch-Site", "none")],
    ],
)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_no_page_of_another_site_can(headers: Pairs, method: str) -> None:
    behind = Changeable()
    answer = await behind.get("/api/v1/faults", *headers, method=method)
    assert answer.status == 403
    assert "comes from another site" in answer.error
    assert not behind.inner.reached


async def test_where_there_is_a_token_it_is_asked_for_as_well() -> None:
    behind = Changeable(TOKEN)
    assert (await behind.get("/faults", ORIGIN, method="POST")).status == 401
    foreign = ("Origin", "https://evil.example")
    for known in (behind.cookie, BEARER):
        assert (await behind.get("/faults", known, foreign, method="POST")).status == 403
    assert (await behind.get("/faults", behind.cookie, method="POST")).status == 403
    assert not behind.inner.reached
    assert (await behind.get("/faults", BEARER, method="POST")).status == 200
    assert (await behind.get("/faults", behind.cookie, ORIGIN, method="POST")).status == 200


async def test_a_rebound_name_can_change_nothing() -> None:
    behind = Changeable()
    evil = [("Host", "evil.example:7780"), ("Origin", "http://evil.example:7780")]
    answer = await get(behind.guard, "/faults", evil, "POST")
    assert (answer.status, behind.inner.reached) == (403, [])


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("/", "POST", "GET, HEAD"),
        ("/faultsx", "POST", "GET, HEAD"),
        ("/api/v1/fault", "DELETE", "GET, HEAD"),
        ("/api/v1/pods", "DELETE", "GET, HEAD"),
        ("/metrics", "POST", "GET, HEAD"),
        ("/faults", "PUT", "GET, HEAD, POST, DELETE"),
        ("/faults", "OPTIONS", "GET, HEAD, POST, DELETE"),
        ("/faults", "post", "GET, HEAD, POST, DELETE"),
    ],
)
async def test_nothing_else_can_be_changed(path: str, method: str, allowed: str) -> None:
    behind = Changeable()
    answer = await behind.get(path, ORIGIN, method=method)
    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    assert f"only answers {allowed}." in answer.error
    assert not behind.inner.reached


async def test_reading_such_an_address_is_reading() -> None:
    behind = Changeable()
    assert (await behind.get("/faults")).status == 200
    assert (await behind.get("/faults", method="HEAD")).body == b""
