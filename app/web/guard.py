"""The guard: decides before anything is accepted, for HTTP and WebSocket alike.

Pure ASGI and the outermost layer, so that nothing gets past it: neither a static file, nor an
error, nor the WebSocket's handshake. The order is host, method, origin, token.
"""

import logging
from collections.abc import Callable
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.access import Access, same_origin, values
from app.web.headers import secured
from app.web.refusal import ErrorPage, refuse

OPEN_PATHS = ("/healthz", "/metrics")
"""Served without the token: they carry no name of anything on the node."""
OPEN_PREFIX = "/static/"

WRONG_HOST = (
    "plegscope does not serve this host. Open the address that it printed when it started, or "
    "start it with --allow-host NAME."
)
WRONG_ORIGIN = (
    "This request comes from another site, or does not say where from. Open the address that "
    "plegscope printed when it started; a script sends the token as `Authorization: Bearer`, or, "
    "where there is none, that address as Origin."
)
WRONG_METHOD = "plegscope only answers GET and HEAD: nothing can be changed through it."
NOT_HERE = "This address only answers {}. /api/v1/openapi.json lists what can be asked for."
STRANGER = (
    "This needs the token of this start. Open the address that plegscope printed when it started; "
    "a script sends the token as `Authorization: Bearer`."
)
MISTAKE = (
    "plegscope made a mistake with this request. The terminal it runs in says more; please report "
    "it with those lines."
)

READS = ("GET", "HEAD")
CHANGES = ("POST", "DELETE")

_log = logging.getLogger("plegscope.web")


class Guard:
    """Wraps an ASGI application.

    Args:
        app: what is guarded.
        access: who may come in.
        page: renders the pages for 401 and 403; None for JSON only.
        changes: addresses that take POST and DELETE besides, with all below them. None unless what
            is watched is simulated. A browser always names the origin of such a request: it must be
            ours, or somebody with the token asks by hand.
        is_door: whether an address needs no token, because it carries a secret of its own that is
            as hard to guess. The other rules hold for it as for any.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        page: ErrorPage | None = None,
        changes: tuple[str, ...] = (),
        is_door: Callable[[str], bool] = lambda _path: False,
    ) -> None:
        self.app = app
        self._access = access
        self._page = page
        self._changes = changes
        self._is_door = is_door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        found = values(scope["headers"], b"host")
        host = found[0].lower() if len(found) == 1 and found[0].isascii() else ""
        if not self._access.serves(host):
            host = ""
        guarded = _Answer(scope, send, host)
        refusal = self._check(scope, host)
        if refusal is not None:
            await guarded.refuse(refusal, receive)
            return
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}  # the answer's body is held back
        try:
            await self.app(scope, receive, guarded.send)
        except ClientDisconnect:
            # Whoever leaves in the middle of a request is no mistake of ours.
            return
        except Exception:
            _log.exception("A mistake in answering %r", scope["path"])
            if not guarded.started:
                await guarded.refuse(refuse(scope, 500, MISTAKE, self._page), receive)

    def _check(self, scope: Scope, host: str) -> Response | None:
        """The answer for a request that is not served; None for one that is."""
        headers = scope["headers"]
        if not host:
            return refuse(scope, 403, WRONG_HOST, self._page)
        websocket = scope["type"] == "websocket"
        reads = not websocket and scope["method"] in READS
        if not websocket and not reads and scope["method"] not in self._taken(scope["path"]):
            return self._wrong_method(scope)
        if not (_http_origin(scope, host) if reads else self._named_origin(scope, host)):
            return refuse(scope, 403, WRONG_ORIGIN, self._page)
        if self._access.token is None:
            return None
        admitted = self._access.admits(headers)
        if not websocket:
            given = _token_in(scope)
            if given is not None and (admitted or self._access.is_token(given)):
                return self._exchange(scope, given)
            if scope["path"] in OPEN_PATHS or scope["path"].startswith(OPEN_PREFIX):
                return None
            if self._is_door(scope["path"]):
                return None
        if not admitted:
            challenge = {"WWW-Authenticate": 'Bearer realm="plegscope"'}
            return refuse(scope, 401, STRANGER, self._page, challenge)
        return None

    def _taken(self, path: str) -> tuple[str, ...]:
        """The methods that an address takes."""
        changes = any(path == one or path.startswith(f"{one}/") for one in self._changes)
        return (*READS, *CHANGES) if changes else READS

    def _wrong_method(self, scope: Scope) -> Response:
        allowed = ", ".join(self._taken(scope["path"]))
        sentence = NOT_HERE.format(allowed) if self._changes else WRONG_METHOD
        return refuse(scope, 405, sentence, None, {"Allow": allowed})

    def _named_origin(self, scope: Scope, host: str) -> bool:
        """Browsers always name the origin of a WebSocket, and of a request that changes something;
        a script has the token instead."""
        origins = values(scope["headers"], b"origin")
        if not origins:
            return self._access.has_bearer(scope["headers"])
        return len(origins) == 1 and same_origin(origins[0].lower(), host)

    def _exchange(self, scope: Scope, given: str) -> Response:
        """Take the token out of the address, where it would be seen, kept and copied."""
        rest = [pair for pair in _query(scope) if pair[0] != "token"]
        # One leading slash: "//name" would lead to another site.
        target = "/" + quote(scope["path"].lstrip("/\\"), safe="/")
        response = RedirectResponse(target + (f"?{urlencode(rest)}" if rest else ""), 303)
        if self._access.is_token(given):
            response.set_cookie(
                self._access.cookie_name,
                self._access.cookie_value,
                path="/",
                httponly=True,
                samesite="strict",
            )
        return response


class _Answer:
    """Sends an answer with the headers that every answer carries."""

    def __init__(self, scope: Scope, send: Send, host: str) -> None:
        self._scope = scope
        self._send = send
        self._host = host or None
        self._headless = scope["type"] == "http" and scope["method"] == "HEAD"
        self.started = False

    async def send(self, message: Message) -> None:
        """What the application sends, completed."""
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = secured(message.get("headers", ()), self._scope, self._host)
            message = {**message, "headers": headers}
        elif message["type"] == "http.response.body" and self._headless:
            message = {**message, "body": b""}
        self.started = True
        await self._send(message)

    async def refuse(self, response: Response, receive: Receive) -> None:
        """Answer in place of the application; a WebSocket is refused before it is accepted."""
        if self._scope["type"] == "websocket" and (
            "websocket.http.response" not in self._scope.get("extensions", {})
        ):
            await self._send({"type": "websocket.close", "code": 1008})
        else:
            await response(self._scope, receive, self.send)


def _http_origin(scope: Scope, host: str) -> bool:
    """Origin, if it is named, must be ours. Browsers name none for images and scripts, but say in
    Sec-Fetch-Site whose page asks; following a link from elsewhere is fine."""
    origins = values(scope["headers"], b"origin")
    if origins:
        return len(origins) == 1 and same_origin(origins[0].lower(), host)
    site = values(scope["headers"], b"sec-fetch-site")
    if not site or site[0] in ("same-origin", "none"):
        return True
    return values(scope["headers"], b"sec-fetch-mode") == ["navigate"] and values(
        scope["headers"], b"sec-fetch-dest"
    ) == ["document"]


def _token_in(scope: Scope) -> str | None:
    return next((value for name, value in _query(scope) if name == "token"), None)


def _query(scope: Scope) -> list[tuple[str, str]]:
    try:
        text = scope["query_string"].decode("ascii")
        return parse_qsl(text, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return []
