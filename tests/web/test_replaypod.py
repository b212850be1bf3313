"""A pod at a moment of a recording, and what the runtime had said of it: pages, panels, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from app.engine.records import Lifecycle, PodSeen
from app.hub.podthen import PodThen
from app.hub.received import Received
from tests.web.test_pages import Page
from tests.web.test_recordings import Bench

S = 1_000_000_000


async def end_of(bench: Bench) -> Lifecycle:
    """One that is in the middle of the storm."""
    moment = await bench.library.moment([], 0, 44 * S, 20 * S)
    ends = [
        one
        for one in moment.records
        if isinstance(one, Lifecycle) and one.type == "ContainerDied" and not one.is_sandbox
    ]
    return ends[len(ends) // 2]


async def then(bench: Bench, uid: str, t: int) -> PodThen:
    answer = await bench.client.get(f"/api/v1/recording/pod?uid={uid}&t={t}")
    assert answer.status_code == 200
    return msgspec.json.decode(answer.content, type=PodThen)


async def test_a_pod_as_it_was_with_what_had_happened_to_it(bench: Bench) -> None:
    end = await end_of(bench)
    before, after = await then(bench, end.uid, end.t - 1), await then(bench, end.uid, end.t)
    for told in (before, after):
        assert told.pod is not None
        assert told.pod.uid == end.uid
        assert told.whole
        assert isinstance(told.records[0], PodSeen)
        assert all(getattr(one, "uid", None) == end.uid for one in told.records)
        assert [one.seq for one in told.records] == sorted(one.seq for one in told.records)
    assert end not in before.records
    assert after.records[: len(before.records)] == before.records
    assert end in after.records
    # Without a time it is the end.
    answer = await bench.client.get(f"/api/v1/recording/pod?uid={end.uid}")
    assert msgspec.json.decode(answer.content, type=PodThen).t > 44 * S


async def test_its_page_leads_to_the_player_and_to_the_words_of_the_runtime(bench: Bench) -> None:
    end = await end_of(bench)
    answer = await bench.client.get(f"/replay/pod?uid={end.uid}&t={end.t}")
    page = Page(answer.text)
    assert "found by a hint" in page.words or "found by the global relist" in page.words
    assert f"exit {end.exit_code}" in page.words
    marks = [one for one in page.all("a") if one.get("data-seek")]
    assert f"/replay?t={end.t}&sel={end.seq}" in [one["href"] for one in marks]
    asked = [str(one["hx-get"]) for one in page.all("details") if one.get("hx-get")]
    about = next(one for one in asked if f"t={end.t}&" in one and end.container_id in one)
    inside = await bench.client.get(about, headers={"HX-Request": "true"})
    assert "<html" not in inside.text
    words = Page(inside.text).words
    assert "ListContainers" in words
    assert "CONTAINER_EXITED" in words
    assert "ContainerStatus" in words
    # As a page of its own, and as JSON.
    whole = await bench.client.get(about)
    assert end.container_id in Page(whole.text).words
    answer = await bench.client.get(about.replace("/replay/received", "/api/v1/recording/received"))
    told = msgspec.json.decode(answer.content, type=Received)
    assert told.trouble == ""
    assert {json.loads(one.text).get("id", end.container_id) for one in told.said} == {
        end.container_id
    }
    # A panel has the inside only.
    panel = await bench.client.get(
        f"/replay/pod?uid={end.uid}&t={end.t}", headers={"HX-Request": "true"}
    )
    assert "<html" not in panel.text


@pytest.mark.parametrize(
    ("query", "status", "why"),
    [
        ("uid=nobody", 404, "not there at"),
        ("uid=x&t=soon", 422, "is no time"),
        ("uid=x&node=7", 404, "has no node 7"),
        ("uid=x&file=../x", 404, "named by its file"),
        ("uid=x&file=none.mcap", 404, "not in reach"),
    ],
)
async def test_what_cannot_be_is_refused(bench: Bench, query: str, status: int, why: str) -> None:
    answer = await bench.client.get(f"/replay/pod?{query}")
    assert answer.status_code == status
    assert why in Page(answer.text).words
    if "t=" not in query:
        asked = await bench.client.get(f"/api/v1/recording/received?{query}&t=0")
        assert asked.status_code == (200 if query == "uid=nobody" else status)


async def test_what_was_not_recorded_is_said(bench: Bench, tmp_path: Path) -> None:
    end = await end_of(bench)
    bench.library._listing._given = (tmp_path / "lines.jsonl",)
    told = await bench.library.pod([], 0, end.uid, end.t)
    (tmp_path / "lines.jsonl").write_bytes(
        b"\n".join(msgspec.json.encode(record) for record in told.records) + b"\n"
    )
    lines = Bench(tmp_path, [tmp_path / "lines.jsonl"])
    async with lines.client:
        show = await lines.library.open_given()
        while show.films[0].advance():
            pass
        answer = await lines.client.get(
            f"/replay/received?uid={end.uid}&t={end.t}", headers={"HX-Request": "true"}
        )
        assert "JSON lines" in Page(answer.text).words
        page = await lines.client.get(f"/replay/pod?uid={end.uid}")
        assert "What the runtime said" in Page(page.text).words
