"""Static files from memory: as from the disk, packed where it is asked for, new when changed."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from app.web import files
from app.web.files import Files

SCRIPT = "export const word = 1;\n" * 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "static" / "js").mkdir(parents=True)
    (tmp_path / "static" / "js" / "long.js").write_text(SCRIPT)
    (tmp_path / "static" / "short.css").write_text("a{}")
    (tmp_path / "secret").write_text("no")
    return tmp_path / "static"


@pytest.fixture
def client(folder: Path) -> httpx.AsyncClient:
    app = Starlette()
    app.mount("/static", Files(folder))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://it")


PLAIN = {"accept-encoding": "identity"}


async def test_it_is_packed_for_whoever_can_unpack_it(client: httpx.AsyncClient) -> None:
    packed = await client.get("/static/js/long.js", headers={"accept-encoding": "gzip, br"})
    plain = await client.get("/static/js/long.js", headers=PLAIN)
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(SCRIPT) / 4
    assert "content-encoding" not in plain.headers
    for answer in (packed, plain):
        assert answer.text == SCRIPT
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert answer.headers["vary"] == "Accept-Encoding"


async def test_a_small_one_is_sent_as_it_is(client: httpx.AsyncClient) -> None:
    answer = await client.get("/static/short.css", headers={"accept-encoding": "gzip"})
    assert (answer.text, answer.headers.get("content-encoding")) == ("a{}", None)


async def test_who_has_it_already_is_told_so_until_it_changes(
    client: httpx.AsyncClient, folder: Path
) -> None:
    first = await client.get("/static/js/long.js")
    known = {"if-none-match": first.headers["etag"]}
    assert (await client.get("/static/js/long.js", headers=known)).status_code == 304
    (folder / "js" / "long.js").write_text("export const other = 2;\n")
    os.utime(folder / "js" / "long.js", ns=(1, 1))
    again = await client.get("/static/js/long.js", headers=known)
    assert (again.status_code, again.text) == (200, "export const other = 2;\n")


async def test_it_is_read_once(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    packed: list[int] = []

    whole = gzip.compress

    def compress(content: bytes, *_: object, **__: object) -> bytes:
        packed.append(len(content))
        return whole(content)

    monkeypatch.setattr(gzip, "compress", compress)
    for _ in range(3):
        assert (await client.get("/static/js/long.js")).status_code == 200
    assert packed == [len(SCRIPT)]


async def test_what_is_large_comes_from_the_disk(
    client: httpx.AsyncClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_KEPT", 100)
    answer = await client.get("/static/js/long.js")
    assert (answer.status_code, answer.text) == (200, SCRIPT)


@pytest.mark.parametrize("path", ["nothing.js", "js", "js/", "%2e%2e/secret", "..%2fsecret"])
async def test_nothing_else_is_there(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(f"/static/{path}")).status_code == 404


async def test_only_reading_is_allowed(client: httpx.AsyncClient) -> None:
    assert (await client.head("/static/js/long.js")).status_code == 200
    assert (await client.post("/static/js/long.js")).status_code == 405


async def test_a_file_that_cannot_be_read_is_not_there(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*_: object) -> object:
        raise PermissionError(13, "no")

    monkeypatch.setattr(Files, "_read", unreadable)
    assert (await client.get("/static/js/long.js")).status_code == 404
