"""Headers that every answer carries."""

from __future__ import annotations

import pytest

from app.web.headers import content_security_policy, secured
from tests.web.asgi import scope_of


def headers_of(path: str, *given: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    return secured(given, scope_of("http", "GET", path, []), "localhost:7780")


def test_nothing_inline_and_nothing_from_elsewhere() -> None:
    policy = content_security_policy("localhost:7780")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "http:" not in policy
    assert policy.startswith("default-src 'none'; ")


def test_the_websocket_is_named_for_browsers_that_do_not_take_self_for_it() -> None:
    assert "connect-src 'self' ws://[::1]:7780 wss://[::1]:7780;" in content_security_policy(
        "[::1]:7780"
    )
    assert "connect-src 'self';" in content_security_policy(None)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/", b"no-store"), ("/api/v1/pods", b"no-store"), ("/static/js/x.js", b"no-cache")],
)
def test_only_static_files_are_kept_by_the_browser(path: str, expected: bytes) -> None:
    assert (b"cache-control", expected) in headers_of(path)


def test_an_answers_own_cache_control_stays_and_nothing_comes_twice() -> None:
    given = ((b"Cache-Control", b"max-age=1"), (b"X-Content-Type-Options", b"sniff"), (b"a", b"1"))
    names = [name.lower() for name, _ in headers_of("/", *given)]
    assert len(set(names)) == len(names)
    assert dict(headers_of("/", *given))[b"Cache-Control"] == b"max-age=1"
    assert dict(headers_of("/", *given))[b"x-content-type-options"] == b"nosniff"
    assert dict(headers_of("/", *given))[b"a"] == b"1"
