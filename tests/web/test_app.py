"""The application put together: pages, static files, errors, nothing left open."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from fastapi import APIRouter
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from tests.web.site import Site, serving

HTML = {"Accept": "text/html"}


class Papers:
    """Pages as the front end has them: a router, and a page for each status."""

    def router(self) -> APIRouter:
        router = APIRouter(default_response_class=HTMLResponse)

        @router.get("/")
        async def node() -> str:
            return "<h1>the node</h1>"

        @router.get("/broken")
        async def broken() -> str:
            raise RuntimeError("secret detail")

        return router

    def refused(self, status: int, sentence: str, *, lessons: bool = False) -> Response:
        return PlainTextResponse(sentence, status)

    def error(self, status: int) -> Response:
        return HTMLResponse(f"<h1>page {status}</h1>", status)


@pytest.fixture
def static(tmp_path: Path) -> Path:
    directory = tmp_path / "static"
    (directory / "js").mkdir(parents=True)
    (directory / "js" / "x.js").write_text("export {};\n")
    (tmp_path / "secret.txt").write_text("secret")
    (directory / "link.txt").symlink_to(tmp_path / "secret.txt")
    return directory


async def page(site: Site, target: str, **headers: str) -> tuple[int, str]:
    async with site.client(headers={**site.headers, **HTML, **headers}) as client:
        answer = await client.get(target)
    return answer.status_code, answer.text


async def test_pages_are_served() -> None:
    async with serving(pages=Papers()) as site:
        assert await page(site, "/") == (200, "<h1>the node</h1>")


async def test_people_get_pages_for_errors() -> None:
    async with serving(pages=Papers()) as site:
        assert await page(site, "/nothing") == (404, "<h1>page 404</h1>")
        assert await page(site, "/", Authorization="Bearer no") == (401, "<h1>page 401</h1>")
        assert await page(site, "/", Origin="http://evil.example") == (403, "<h1>page 403</h1>")


async def test_a_mistake_is_a_page_without_details_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        async with serving(pages=Papers()) as site:
            assert await page(site, "/broken") == (500, "<h1>page 500</h1>")
            async with site.client() as client:
                answer = await client.get("/broken")
            assert answer.status_code == 500
            assert "please report it" in answer.json()["error"]
            assert "secret detail" not in answer.text
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
            assert await page(site, "/") == (200, "<h1>the node</h1>"), "the rest goes on"
    assert [record.name for record in caplog.records] == ["plegscope.web"] * 2, "once each"
    assert "secret detail" in caplog.text


async def test_without_pages_the_rest_is_served() -> None:
    async with serving() as site, site.client(headers={**HTML}) as client:
        answer = await client.get("/", headers=site.headers)
        assert answer.status_code == 404
        assert "/api/v1/openapi.json" in answer.json()["error"]


async def test_static_files_are_open_and_asked_for_again(static: Path) -> None:
    async with serving(static=static) as site, site.client(headers={}) as client:
        first = await client.get("/static/js/x.js?v=1")
        assert (first.status_code, first.text) == (200, "export {};\n")
        assert first.headers["content-type"].startswith("text/javascript")
        assert first.headers["cache-control"] == "no-cache"
        assert first.headers["x-content-type-options"] == "nosniff"
        etag = {"If-None-Match": first.headers["etag"]}
        assert (await client.get("/static/js/x.js", headers=etag)).status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "/static/../secret.txt",
        "/static/%2e%2e/secret.txt",
        "/static/..%2fsecret.txt",
        "/static/js/../../secret.txt",
        "/static//../secret.txt",
        "/static/link.txt",
        "/static/js",
        "/static/js/",
        "/static/",
        "/static/%00",
        "/static/../api/v1/state",
    ],
)
async def test_nothing_else_gets_out_that_way(static: Path, path: str) -> None:
    async with serving(static=static) as site:
        reader_status, body = await raw(site, path)
    assert reader_status in (400, 401, 404), path
    assert b"secret" not in body
    assert b"test-session" not in body


async def raw(site: Site, path: str) -> tuple[int, bytes]:
    """A request whose path no client has tidied up."""
    import asyncio

    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nConnection: close\r\n\r\n"
    writer.write(request.encode())
    async with asyncio.timeout(60):
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(head.split()[1]), body


async def test_two_instances_do_not_share_anything() -> None:
    async with serving(token="one") as first, serving(token="two") as second:
        first.happen(3)
        async with first.client() as client:
            assert (await client.get("/api/v1/state")).json()["last_seq"] == 3
        async with second.client() as client:
            assert (await client.get("/api/v1/state")).json()["last_seq"] == 0
        async with second.client(headers=first.headers) as client:
            assert (await client.get("/api/v1/state")).status_code == 401


async def test_a_browser_opens_the_printed_address(static: Path) -> None:
    """Address with token, redirect, cookie, page: as a browser does it, redirects included."""
    async with (
        serving(pages=Papers(), static=static) as site,
        site.client(headers=HTML, follow_redirects=True) as browser,
    ):
        assert (await browser.get("/")).status_code == 401
        opened = await browser.get(f"/?token={site.token}")
        assert (opened.status_code, opened.text) == (200, "<h1>the node</h1>")
        assert "token" not in str(opened.url)
        assert (await browser.get("/api/v1/pods")).status_code == 200


async def test_every_route_only_reads() -> None:
    def routes(of: list[BaseRoute]) -> list[Route]:
        found = [route for route in of if isinstance(route, Route)]
        for mount in of:
            if isinstance(mount, Mount):
                found += routes(list(mount.routes))
        return found

    async with serving(pages=Papers()) as site:
        from app.web.access import access

        guard = site.app(access("127.0.0.1", 1, token=None), Papers(), None)
        inner = guard.app  # type: ignore[attr-defined] # the guard's
        assert routes(inner.routes)
        for route in routes(inner.routes):
            assert (route.methods or set()) <= {"GET", "HEAD"}, route.path
