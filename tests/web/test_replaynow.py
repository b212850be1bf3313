"""The first minute at a moment of a recording: a page without scripts, and a panel."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.replaying import library
from tests.recording.recorded import info
from tests.replaying.test_joined import file, relist, seen
from tests.web.test_pages import Page
from tests.web.test_recordings import Bench

S = 1_000_000_000


async def words(bench: Bench, query: str, **headers: str) -> str:
    answer = await bench.client.get(f"/replay/now?{query}", headers=headers)
    assert answer.status_code == 200
    return Page(answer.text).words


async def test_it_tells_of_the_moment_and_not_of_what_came_later(bench: Bench) -> None:
    early, late = await words(bench, "t=20s"), await words(bench, "t=40s")
    assert "At 20.000 s" in early
    assert "No container had ended" in early
    assert "100 containers had ended" in late
    assert "And 88 more" in late
    for told in (early, late):
        assert "Healthy. The last global relist had started" in told
        assert "ListPodSandbox" in told
        assert "100 pods." in told
        assert "running" in told


async def test_without_a_time_it_is_the_end_and_now_leads_there_or_to_a_time(
    bench: Bench,
) -> None:
    answer = await bench.client.get("/now")
    assert (answer.status_code, answer.headers["location"]) == (303, "/replay/now")
    answer = await bench.client.get("/now?t=40s%26x")
    assert (answer.status_code, answer.headers["location"]) == (303, "/replay/now?t=40s%26x")
    assert "At 45." in await words(bench, "")
    assert "The recording of this node ended 4 min 15" in await words(bench, "t=5m")


async def test_as_a_panel_it_is_the_inside_and_leads_to_the_marks(bench: Bench) -> None:
    answer = await bench.client.get("/replay/now?t=40s", headers={"HX-Request": "true"})
    assert "<html" not in answer.text
    links = [one for one in Page(answer.text).all("a") if one.get("data-seek")]
    assert len(links) == 12
    assert all(int(str(one["data-seek"])) <= 40 * S for one in links)
    assert str(links[0]["href"]).endswith(f"&sel={links[0]['data-select']}")


@pytest.mark.parametrize(
    ("query", "status"),
    [("t=soon", 422), ("t=-1", 422), ("node=7", 404), ("file=none.mcap", 404), ("file=../x", 404)],
)
async def test_what_cannot_be_is_refused(bench: Bench, query: str, status: int) -> None:
    answer = await bench.client.get(f"/replay/now?{query}")
    assert answer.status_code == status
    assert "This link cannot be opened" in answer.text
    assert 'href="/recordings">The recordings' in answer.text
    assert "/scenarios" not in answer.text


async def test_what_nobody_recorded_is_said(tmp_path: Path) -> None:
    one = info(session="a" * 16, origin=1000 * S, host="n", simulated=False)
    paths = [
        file(tmp_path / "a.mcap", one, [seen(S, 1, "x"), relist(2 * S, 2)]),
        file(tmp_path / "b.mcap", info(session="b" * 16, origin=1900 * S, host="n",
             simulated=False), [relist(S, 1)]),
        file(tmp_path / "c.mcap", info(session="c" * 16, origin=1900 * S, host="m",
             simulated=False), [relist(S, 1)]),
    ]  # fmt: skip
    bench = Bench(tmp_path / "none", paths)
    async with bench.client:
        for film in (await bench.library.open_given()).films:
            while film.advance():
                pass
        assert "Not recorded. For 14" in await words(bench, "t=60s")
        assert "begins 14" in (await words(bench, "node=1&t=60s")).replace(
            "\N{NO-BREAK SPACE}", " "
        )


async def test_what_has_not_been_read_is_not_said_to_be_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "PATIENCE_S", 0.0)
    one = info(session="a" * 16, origin=1000 * S, host="n", simulated=False)
    paths = [
        file(tmp_path / "a.mcap", one,
             [seen(S, 1, "x"), *(relist(2 * S, n) for n in range(2, 1100))]),
        file(tmp_path / "b.mcap", info(session="a" * 16, origin=1000 * S, host="n", part=2,
             simulated=False), [relist(90 * S, 1100)]),
    ]  # fmt: skip
    bench = Bench(tmp_path / "none", paths)
    async with bench.client:
        (film,) = (await bench.library.open_given()).films
        assert (await bench.client.get("/replay/now?t=60s")).status_code == 422
        film.advance()
        assert "This has not been read yet." in await words(bench, "t=60s")
        while film.advance():
            pass
        assert "not been read" not in await words(bench, "t=60s")
        assert "ended 31 s before" in await words(bench, "t=2m")
