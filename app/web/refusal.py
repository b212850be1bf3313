"""Answers that say no: a page for people, a JSON sentence for scripts, never a traceback."""

from collections.abc import Callable

import msgspec
from starlette.responses import Response
from starlette.types import Scope

from app.hub.encode import encode
from app.web.access import values

ErrorPage = Callable[[int], Response]
"""Renders the page for an HTTP status."""


class Problem(msgspec.Struct, frozen=True):
    """What went wrong, in a sentence or two that end with what to do."""

    error: str


class Json(Response):
    """A message of ours as JSON."""

    media_type = "application/json"

    def __init__(self, message: msgspec.Struct, status: int = 200) -> None:
        super().__init__(encode(message), status)


def refuse(
    scope: Scope,
    status: int,
    sentence: str,
    page: ErrorPage | None,
    headers: dict[str, str] | None = None,
) -> Response:
    """The answer to a request that is not served.

    Args:
        scope: of the request; what it accepts and where it went decide on page or JSON.
        status: HTTP status.
        sentence: for the JSON; pages have words of their own.
        page: None when there are no pages.
        headers: more headers.
    """
    response: Response
    if page is not None and wants_page(scope):
        response = page(status)
    else:
        response = Json(Problem(sentence), status)
    response.headers.update(headers or {})
    return response


def wants_page(scope: Scope) -> bool:
    """Whether a person's browser asks for a document, rather than a script for data."""
    if scope["type"] != "http" or scope["path"].startswith("/api/"):
        return False
    return any("text/html" in value for value in values(scope["headers"], b"accept"))
