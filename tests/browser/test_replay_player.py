"""Recordings in a real browser: played, stepped, scrubbed, looped, marked, linked, by keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from app.engine.records import HealthChanged, Note, Record
from app.recording.format import SessionInfo
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from tests.browser.chromium import PATIENCE_MS, fits, heard, keep, listen, until
from tests.browser.test_accessibility import faults
from tests.browser.test_run import address, cursor, same_picture, watched
from tests.build import died, pod_seen
from tests.commands import Command, command, environment
from tests.recording.recorded import info, record_scenario

S = 1_000_000_000
QUIET = ("--port", "0", "--no-browser")

SHOWN_BINS = """() => {
  window.shown = () => {
    const { list } = plegscope.timeline;
    if (!list) return { hatched: [], before: 0, after: 0, later: 0 };
    const now = (player.t - list.from) * list.scale;
    const items = list.lanes.flat();
    const cells = items.filter((item) => item.k === "cells");
    return {
      hatched: items.filter((item) => item.k === "hatch").map((item) => item.text),
      before: cells.filter((item) => item.x1 < now).length,
      after: cells.filter((item) => item.x1 >= now).length,
      later: cells.filter((item) => item.uid === "u2").length,
    };
  };
}"""
"""What the timeline draws of times of which the page has no records."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    yield from watched(browser)


@pytest.fixture
def other(browser: Browser) -> Iterator[Page]:
    yield from watched(browser)


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replay") / "storm.mcap"
    record_scenario(path, "storm", seconds=90)
    return path


@pytest.fixture(scope="module")
def server(storm: Path) -> Iterator[Command]:
    with command("replay", str(storm), *QUIET) as running:
        running.address()
        yield running


def written(path: Path, told: SessionInfo, records: list[Record]) -> Path:
    scribe = Scribe(told, lambda _part: Segment(path))
    for record in records:
        scribe.put_record(record, by_engine=False)
    scribe.turn()
    return path


def note(t: int, text: str, seq: int) -> Note:
    return Note(seq=seq, t=t, wall=1_800_000_000 * S + t, level="info", text=text)


def go(page: Page, server: Command, query: str = "", path: str = "") -> None:
    """Open a recording and wait for it."""
    place = urlsplit(server.address())
    page.goto(server.address())
    page.goto(f"{place.scheme}://{place.netloc}/{path}{'?' if query else ''}{query}")
    expect(page.locator("#player-what")).to_contain_text("Record")


def whole(page: Page) -> None:
    """All of it has been read: before that it is not known what comes after, nor the end."""
    until(
        page,
        "((text) => text && !text.includes('read'))"
        "(document.getElementById('player-end').textContent)",
    )


def sought(page: Page, t: float) -> None:
    """Put the cursor there, and wait for it: its records may be on their way."""
    page.evaluate("(t) => player.seek(t)", t)
    until(page, f"player.t === {t} && player.wanted === null")


def query_of(page: Page) -> str:
    """The query of the address, once it says all that is shown."""
    return urlsplit(address(page)).query


def test_it_is_the_page_of_the_live_node_with_the_player_of_a_run(
    page: Page, server: Command
) -> None:
    go(page, server, "t=33s")
    assert cursor(page)[0] == 33 * S
    expect(page.locator("#sentence")).to_contain_text("Healthy")
    until(page, "document.querySelectorAll('#labels li').length > 10")
    expect(page.locator("#play-state")).to_have_text("Paused")
    page.keyboard.press("Space")
    expect(page.locator("#play-state")).to_have_text("Playing 1×")
    until(page, "player.t > 33.2e9")
    page.keyboard.press("Space")
    keep(page, "replay-1280")


def test_everything_goes_by_keyboard(page: Page, server: Command) -> None:
    go(page, server, "t=33s")
    whole(page)
    t, seq = cursor(page)
    page.keyboard.press(".")
    until(page, f"player.seq === {seq + 1}")
    expect(page.locator("#play-state")).to_have_text("Stepping")
    page.keyboard.press(",")
    until(page, f"player.seq === {seq}")
    page.keyboard.press(">")
    until(page, f"player.t > {t} && player.newest.kind === 'relist_finished'")
    page.keyboard.press("<")
    until(page, f"player.t <= {t} && player.newest.kind === 'relist_finished'")
    page.keyboard.press("e")
    expect(page.locator("#player-what")).to_contain_text("No incident comes after this")
    page.keyboard.press("E")
    until(page, "player.t < 33e9")
    expect(page.locator("#player-what")).to_contain_text("was killed for its memory")
    page.keyboard.press("p")
    expect(page.locator("#player-what")).to_contain_text("press the name of a pod first")
    uid = page.evaluate("player.newest.uid")
    page.evaluate("plegscope.select(player.seq)")
    seq = cursor(page)[1]
    page.keyboard.press("p")
    until(page, f"player.seq > {seq} && player.newest.uid === '{uid}'")
    page.keyboard.press("Escape")
    # A slider keeps the keys that move it; the others are the page's.
    box = page.locator("#scrubber").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    expect(page.locator("#scrubber")).to_be_focused()
    until(page, "player.wanted === null && player.t > 15e9 && player.t < 30e9")
    t = cursor(page)[0]
    page.keyboard.press("ArrowRight")
    until(page, f"player.t > {t} && player.t < {t} + 1e9")
    page.keyboard.press("r")
    expect(page.locator("#rate")).to_have_value("2")
    page.keyboard.press("Space")
    expect(page.locator("#play-state")).to_have_text("Playing 2×")
    page.keyboard.press("Space")
    page.keyboard.press("End")
    expect(page.locator("#film-end")).to_contain_text("The recording ends here, at ")
    expect(page.locator("#play-state")).to_have_text("At the end")
    expect(page.locator("#sentence")).to_contain_text("End of the recording. It tells of")
    expect(page.locator("#meaning")).to_contain_text("At its end: Healthy.")
    page.get_by_role("button", name="The incident before").click()
    until(page, "player.t < 60e9 && document.getElementById('main').dataset.state === 'healthy'")
    page.keyboard.press("End")
    page.get_by_role("button", name="Back to the start").focus()
    page.keyboard.press("Enter")
    until(page, "player.t === 0")
    page.keyboard.press("End")
    expect(page.locator("#film-end")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator("#film-end")).to_be_hidden()
    assert cursor(page)[0] == 0
    page.keyboard.press("?")
    sheet = page.locator("#keys-list")
    for words in ("the next incident", "the loop begins here", "markers; mark this time"):
        expect(sheet).to_contain_text(words)


def test_a_link_shows_the_same_wherever_the_file_is(
    page: Page, other: Page, server: Command, storm: Path, tmp_path: Path
) -> None:
    go(page, server, "t=30s&filter=shard&span=30&group=namespace")
    for key in (">", ">", ".", ".", ","):
        before = cursor(page)
        page.keyboard.press(key)
        until(page, f"player.seq !== {before[1]} && player.wanted === null")
    sought(page, 34 * S)
    page.evaluate("plegscope.select(plegscope.store.finds.at(-3).seq)")
    page.keyboard.press("i")
    page.keyboard.press("r")
    query = query_of(page)
    told = parse_qs(query)
    assert told["loop"][0].startswith("34s..")
    assert (told["rate"], told["filter"], len(told["digest"][0])) == (["2"], ["shard"], 16)
    elsewhere = tmp_path / "storm.mcap"
    elsewhere.write_bytes(storm.read_bytes())
    with command("replay", str(elsewhere), *QUIET) as second:
        go(other, second, query)
        assert cursor(other) == cursor(page)
        expect(other.locator("#drawer h2")).to_be_visible()
        assert other.evaluate("player.loop") == page.evaluate("player.loop")
        expect(other.locator("#film-warnings")).to_be_hidden()
        # What was said last is about what was done, not about what is shown.
        for one in (page, other):
            whole(one)
            sought(one, 34 * S)
        same_picture(page, other)


def test_another_file_of_that_name_is_noticed(page: Page, server: Command) -> None:
    go(page, server, "digest=0123456789abcdef&t=3s")
    expect(page.locator("#film-warnings")).to_contain_text("made for another recording")


def test_the_scrubber_and_the_overview_lead_anywhere(page: Page, server: Command) -> None:
    go(page, server, "t=1s")
    whole(page)
    page.locator("#scrubber").fill("60000")
    until(page, "player.t === 60e9")
    box = page.locator("#overview").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 3, box["y"] + 10)
    until(page, "Math.abs(player.t - player.duration / 3) < 2e9")
    page.keyboard.press("j")
    for text, condition in (
        ("65s", "player.t === 65e9"),
        ("+1.5s", "player.t === 66.5e9"),
        ("-60s", "player.t === 6.5e9"),
        ("08:00:20", "Math.abs(player.t - 20e9) < 1e9"),
    ):
        page.locator("#jump-to").fill(text)
        page.keyboard.press("Enter")
        until(page, condition)
    # What is accepted gives the keys back, and so does who gives up; what is wrong can be mended.
    page.keyboard.press("j")
    page.keyboard.type("soon")
    page.keyboard.press("Enter")
    expect(page.locator("#player-what")).to_contain_text("“soon” is no time")
    expect(page.locator("#jump-to")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#jump-to")).not_to_be_focused()
    page.keyboard.press("w")
    expect(page.locator("#now-at")).to_be_visible()


def test_a_loop_goes_round(page: Page, server: Command) -> None:
    go(page, server, "t=10s&loop=9s..10.5s&rate=5")
    expect(page.locator("#loop-words")).to_contain_text("9.000")
    page.evaluate("""() => {
      window.most = 0;
      window.rounds = 0;
      let last = player.t;
      player.onCursor.push((t) => {
        window.most = Math.max(window.most, t);
        if (t < last) window.rounds += 1;
        last = t;
      });
    }""")
    page.keyboard.press("Space")
    until(page, "window.rounds >= 2")
    page.keyboard.press("Space")
    assert page.evaluate("window.most") <= 10.5 * S
    page.keyboard.press("x")
    expect(page.locator("#loop-words")).to_have_text("off")
    # Set from its end, as is usual, it is played from its beginning.
    for t, key in ((20, "i"), (20.5, "o")):
        sought(page, int(t * S))
        page.keyboard.press(key)
    # Half a second, at a rate at which it is more than a frame wherever this runs.
    page.evaluate("player.setRate(1), Object.assign(window, { rounds: 0, most: 0 }), null")
    page.keyboard.press("Space")
    until(page, "window.rounds >= 3")
    page.keyboard.press("Space")
    assert page.evaluate("window.most") <= 20.5 * S
    assert page.evaluate("player.t") >= 20 * S


def test_a_loop_is_drawn_and_a_part_exported(page: Page, server: Command) -> None:
    go(page, server, "t=80s")
    whole(page)
    box = page.locator("#overview").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2

    def drag(start: float, end: float) -> None:
        page.mouse.move(box["x"] + box["width"] * start, y)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * (start + end) / 2, y)
        page.mouse.move(box["x"] + box["width"] * end, y)

    drag(0.25, 0.5)
    page.keyboard.press("Escape")
    page.mouse.up()
    assert page.evaluate("player.loop") is None
    drag(0.5, 0.25)
    listen(page, "#player-says")
    page.mouse.up()
    until(page, "player.loop && Math.abs(player.loop[0] - player.duration / 4) < 1e9")
    # What is looped can be played at once, and is told.
    until(page, "player.t === player.loop[0]")
    heard(page, "#player-says", "Looped from")
    drag(0.5, 0.375)
    page.mouse.up()
    until(page, "Math.abs(player.loop[1] - player.duration * 0.375) < 1e9")
    assert "loop=" in query_of(page)
    loop = page.evaluate("player.loop")
    page.keyboard.press("s")
    page.get_by_role("button", name="The loop").click()
    page.get_by_label("JSON lines").check()
    with page.expect_download() as coming:
        page.locator("#export").get_by_role("button", name="Export").click()
    assert coming.value.suggested_filename == "plegscope-storm-part.jsonl"
    expect(page.locator("#export [data-says]")).to_contain_text("plegscope-storm-part.jsonl: ")
    lines = [json.loads(line) for line in Path(coming.value.path()).read_text().splitlines()]
    gap = next(number for number, one in enumerate(lines) if one["kind"] == "gap")
    assert all(loop[0] <= one["t"] <= loop[1] for one in lines[gap + 1 :])
    assert len(lines) - gap > 10
    page.keyboard.press("Escape")
    expect(page.locator("#export")).to_be_hidden()
    assert page.evaluate("player.loop") == loop
    page.keyboard.press("Escape")
    expect(page.locator("#loop-words")).to_have_text("off")


def test_how_it_was_at_the_cursor(page: Page, server: Command) -> None:
    go(page, server, "t=20s")
    page.keyboard.press("w")
    panel = page.locator("#panel-body")
    expect(panel).to_contain_text("No container had ended")
    whole(page)
    page.evaluate("player.seek(40e9)")
    expect(panel).to_contain_text("100 containers had ended")
    link = panel.locator("a[data-seek]").first
    t = int(str(link.get_attribute("data-seek")))
    link.click()
    expect(page.locator("#drawer h2")).to_be_visible()
    assert cursor(page)[0] == t
    expect(page.locator("#panel")).to_be_hidden()
    # A pod's name opens its story at the cursor, with what the runtime said then.
    name = page.locator("#drawer a[data-uid]").first
    name.click()
    expect(panel.locator("h1")).to_be_visible()
    expect(page.locator("#player-what")).to_contain_text("p and P step through the events of")
    ended = panel.locator(".story li", has_text="ContainerDied").first
    ended.get_by_text("What the runtime said").click()
    expect(ended.locator(".raw").last.locator("pre").first).to_contain_text("CONTAINER_EXITED")
    assert faults(page) == []
    page.evaluate("player.seek(20e9)")
    expect(panel.locator(".story")).not_to_contain_text("ContainerDied")
    page.evaluate(f"player.seek({t})")
    expect(panel.locator(".story")).to_contain_text("ContainerDied")
    panel.locator(".story a[data-seek]").first.click()
    expect(page.locator("#drawer h2")).to_be_visible()
    assert cursor(page)[0] == t


def test_a_link_waits_for_what_has_not_been_read(page: Page, server: Command) -> None:
    held = {"on": True, "empty": False}

    def told(route: Route) -> None:
        answer = route.fetch()
        film = answer.json()
        if held["on"]:
            film |= {"whole": False, "known": False, "read": 0.25, "end_t": 20 * S}
            film |= {"incidents": [], "incidents_total": 0}
        if held["empty"]:
            film |= {"pieces": [], "records": 0, "end_t": 0}
        route.fulfill(response=answer, json=film)

    def found(route: Route) -> None:
        if held["on"] and "what=incident" in route.request.url:
            route.fulfill(json={"seq": None, "t": None})
        else:
            route.continue_()

    page.route("**/api/v1/recording?*", told)
    page.route("**/api/v1/recording/find?*", found)
    go(page, server, "t=33s&loop=32s..34s")
    wait = page.locator("#film-wait")
    expect(wait).to_contain_text("Going to 33.000 s, which has not been read yet: 20.000 s have.")
    expect(wait.get_by_role("progressbar")).to_have_attribute("value", "60")
    assert cursor(page)[0] == 20 * S
    # The link stays what it was, and the page can be used.
    assert "t=33s" in page.url
    held["on"] = False
    until(page, "player.t === 33e9")
    expect(wait).to_be_hidden()
    held["on"] = True
    page.reload()
    expect(wait).to_be_visible()
    page.locator("#scrubber").fill("5000")
    expect(wait).to_be_hidden()
    held["on"] = False
    whole(page)
    assert cursor(page)[0] == 5 * S
    address(page)
    # To the end, and to the next incident.
    held["on"] = True
    page.reload()
    expect(page.locator("#play-state")).to_have_text("Paused")
    page.keyboard.press("End")
    expect(wait).to_contain_text("Going to the end, which has not been read yet: 20.000")
    expect(wait.get_by_role("progressbar")).to_have_attribute("value", "25")
    assert cursor(page)[0] == 5 * S
    page.keyboard.press("e")
    expect(wait).to_contain_text("Looking for the next incident")
    held["on"] = False
    expect(page.locator("#player-what")).to_contain_text("Incident at")
    expect(wait).to_be_hidden()
    held["on"] = True
    page.reload()
    expect(page.locator("#play-state")).not_to_have_text("Loading")
    page.locator("#scrubber").focus()
    page.keyboard.press("End")
    expect(wait).to_contain_text("Going to the end")
    held["on"] = False
    until(page, "player.t === player.duration && player.t > 80e9")
    # Nor is a key lost while nothing is here.
    held["empty"] = held["on"] = True
    page.reload()
    expect(page.locator("#player-what")).to_contain_text("Reading storm.mcap")
    page.keyboard.press("End")
    held["empty"] = False
    expect(wait).to_contain_text("Going to the end")
    held["on"] = False
    until(page, "player.t === player.duration && player.t > 80e9")


def test_without_a_time_it_opens_before_the_first_incident(page: Page, server: Command) -> None:
    held = {"on": True}

    def told(route: Route) -> None:
        answer = route.fetch()
        film = answer.json()
        if held["on"]:
            film |= {"whole": False, "incidents": [], "incidents_total": 0}
        route.fulfill(response=answer, json=film)

    page.route("**/api/v1/recording?*", told)
    page.goto(server.address())
    what = page.locator("#player-what")
    expect(what).to_contain_text("after the first relist")
    expect(page.locator("#labels li.lane").first).to_be_visible()
    expect(page.locator("#film-wait")).to_contain_text("Looking for the first incident")
    held["on"] = False
    expect(what).to_contain_text("a moment before the first incident")
    expect(page.locator("#film-wait")).to_be_hidden()
    t = page.evaluate("player.film.told.incidents[0].t")
    assert cursor(page)[0] == t - 2 * S
    query = query_of(page)
    page.goto(server.address())
    expect(what).to_contain_text("a moment before the first incident")
    assert query_of(page) == query
    # At its very beginning it does not speak of what somebody should wait for.
    page.keyboard.press("Home")
    expect(page.locator("#sentence")).to_contain_text("No relist yet.")
    expect(page.locator("#meaning")).to_contain_text("Space plays on")
    expect(page.locator("#empty")).to_have_text(
        "Before the first relist nothing is known of the pods."
    )


def test_a_marker_is_kept_beside_the_recording(
    page: Page, other: Page, storm: Path, tmp_path: Path
) -> None:
    path = tmp_path / "storm.mcap"
    path.write_bytes(storm.read_bytes())
    with command("replay", str(path), *QUIET) as running:
        go(page, running, "t=32s")
        page.keyboard.press("m")
        expect(page.locator("#mark-note")).to_be_focused()
        page.keyboard.type('<img src=x onerror="alert(1)"> here')
        page.keyboard.press("Enter")
        expect(page.locator("#marker-list li")).to_contain_text("here")
        saved = tmp_path / "storm.mcap.markers.json"
        assert saved.stat().st_mode & 0o777 == 0o600
        (marker,) = json.loads(saved.read_text())["markers"]
        assert marker["wall"] == 1_800_000_032 * S
        go(other, running, "t=1s")
        expect(other.locator("#markers-count")).to_have_text("1")
        other.keyboard.press("m")
        other.locator("#marker-list button", has_text="32.000").click()
        until(other, "player.t === 32e9")
        other.locator("#marker-list button", has_text="Remove").click()
        expect(other.locator("#markers-count")).to_have_text("0")


def test_a_page_holds_only_what_is_around_the_cursor(page: Page, tmp_path: Path) -> None:
    """Forty thousand records; the page gets a few pieces, and what it keeps is bounded. The rest is
    shown in bins, before and after, once the server has read so far."""
    told = info(session="a" * 16, origin=1_800_000_000 * S, simulated=True)
    records: list[Record] = [note(n * S // 50, f"note {n}", n) for n in range(1, 40_001)]
    records[500] = pod_seen("u1", 10 * S, "web")
    records[29_999] = pod_seen("u2", 600 * S, "later")
    for n in range(1000, 40_000, 500):
        uid = "u1" if n < 30_000 else "u2"
        records[n] = died(uid, (n + 1) * S // 50)
    records = [msgspec.structs.replace(one, seq=n) for n, one in enumerate(records, 1)]
    path = written(tmp_path / "long.mcap", told, records)
    held = {"on": True}

    def counted(route: Route) -> None:
        answer = route.fetch()
        cut = answer.json()
        if held["on"]:
            cut |= {"reading": True, "t": -1, "all": [], "pods": {}, "relists": []}
        route.fulfill(response=answer, json=cut)

    page.route("**/api/v1/recording/bins?*", counted)
    with command("replay", str(path), *QUIET) as running:
        pieces: list[str] = []

        def asked(request: Request) -> None:
            if "/piece?" in request.url:
                pieces.append(request.url)

        page.on("request", asked)
        go(page, running, "t=600s")
        first = len(pieces)
        assert first <= 8
        # Whoever only seeks gets no farther than what has been read.
        until(page, "player.duration >= 799e9")
        for place in range(0, 800, 25):
            sought(page, place * S)
            assert page.evaluate("player.newest ? player.newest.t : 0") <= place * S
        assert page.evaluate("player.film.here.size") <= 64
        assert page.evaluate("plegscope.store.records.length") <= 66_000
        page.evaluate("player.setRate(100)")
        sought(page, 100 * S)
        page.keyboard.press("Space")
        until(page, "player.t > 400e9", 2 * PATIENCE_MS)
        assert page.evaluate("plegscope.store.gaps.length") == 0
        page.keyboard.press("Space")
        sought(page, 400 * S)
        assert page.evaluate("plegscope.store.firstT") > 100 * S
        page.evaluate(SHOWN_BINS)
        page.evaluate("Object.assign(plegscope.view, { span: 700e9, end: 740e9 })")
        page.evaluate("plegscope.timeline.invalidate()")
        until(
            page,
            "(({ hatched, before, after }) => before + after === 0"
            " && hatched.join() === 'not read yet,not read yet')(shown())",
        )
        held["on"] = False
        until(page, "shown().before > 0 && shown().after > 0 && !shown().hatched.length")
        # A pod that comes later has a lane as long as that is in view, and then no longer.
        until(page, "plegscope.store.lanes.get('u2')?.ahead && shown().later > 0")
        page.evaluate("plegscope.live()")
        until(page, "!plegscope.store.lanes.has('u2') && shown().after === 0")


def test_time_without_records_is_a_break_and_is_played_over(page: Page, tmp_path: Path) -> None:
    told = info(session="a" * 16, origin=1_800_000_000 * S, simulated=True)
    later = msgspec.structs.replace(told, session="b" * 16, origin=1_800_007_200 * S)
    paths = [
        written(tmp_path / "a.mcap", told, [note(n * S, f"note {n}", n) for n in range(1, 20)]),
        written(tmp_path / "b.mcap", later, [note(n * S, f"more {n}", n) for n in range(1, 20)]),
    ]
    with command("replay", *map(str, paths), *QUIET) as running:
        go(page, running, "t=19s&rate=5")
        until(page, "Number(document.getElementById('scrubber').max) < 60000")
        page.keyboard.press("Space")
        until(page, "player.t > 7200e9")
        expect(page.locator("#player-what")).to_contain_text("Record")
        page.keyboard.press("End")
        expect(page.locator("#player-what")).to_contain_text("more 19")
        # The break has its place on the scrubber, too.
        page.locator("#scrubber").fill("20000")
        until(page, "player.t > 18e9 && player.t < 7201e9")
        keep(page, "replay-break-1280")


def test_several_nodes_share_a_clock(page: Page, tmp_path: Path) -> None:
    one = info(session="a" * 16, origin=1_800_000_000 * S, simulated=False, host="node-a")
    two = msgspec.structs.replace(one, session="b" * 16, host="node-b")
    bad = HealthChanged(seq=7, t=12 * S, wall=1_800_000_012 * S, healthy=False, message="late")
    paths = [
        written(tmp_path / "a.mcap", one, [note(n * S, f"a {n}", n) for n in range(1, 20)]),
        written(tmp_path / "b.mcap", two, [note(5 * S, "b 5", 1), bad]),
    ]
    with command("replay", *map(str, paths), *QUIET) as running:
        go(page, running)
        # All of them, each with how it was then.
        expect(page.locator(".pane")).to_have_count(2)
        sought(page, 10 * S)
        expect(page.locator("#player-what")).to_contain_text("a 11")
        until(page, "panes.panes[0].follower.seq === 1")
        expect(page.locator(".pane-head").nth(1)).to_contain_text("node-b")
        expect(page.locator("#incident-count")).to_have_text("1 incident")
        expect(page.locator("#export [name=node]")).to_have_value("all")
        page.keyboard.press("e")
        expect(page.locator("#player-what")).to_contain_text("Incident on node-b at 11.000")
        # One steps through the records of all; the picture below has what has happened there.
        until(page, "player.t === 11e9 && panes.panes[0].follower.seq === 2")
        page.keyboard.press(",")
        until(page, "player.newest.text === 'a 12' && panes.panes[0].follower.seq === 1")
        assert page.evaluate("player.t") == 11 * S
        expect(page.locator("#player-what")).to_contain_text("node-a: ")
        query = query_of(page)
        page.keyboard.press(".")
        until(page, "panes.panes[0].follower.seq === 2")
        assert parse_qs(query)["at"] == ["13"], query
        go(page, running, query)
        until(page, "panes?.panes[0]?.follower.seq === 1 && player.newest?.text === 'a 12'")
        page.evaluate("player.seek(15e9)")
        # This node was recorded up to here: behind it nothing is known.
        expect(page.locator(".pane-head").nth(1)).to_contain_text("Not recorded.")
        expect(page.locator(".pane-head").nth(0)).not_to_contain_text("Not recorded.")
        until(page, "panes.panes[0].store.gaps.length === 1")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert faults(page) == []
        sought(page, 11 * S)
        with page.expect_navigation():
            page.get_by_role("button", name="Show first").click()
        expect(page.locator(".pane-head").nth(0)).to_contain_text("node-b")
        until(page, f"player.ready && player.t === {11 * S}")
        with page.expect_navigation():
            page.locator("#node-choice").select_option(label="node-a")
        expect(page.locator("#player-what")).to_contain_text("a 12")
        expect(page.locator(".pane")).to_have_count(0)
        assert cursor(page)[0] == 11 * S
        expect(page.locator("#incident-count")).to_have_text("0\N{NO-BREAK SPACE}incidents")


def test_a_mark_of_another_node_is_selected_and_linked(
    page: Page, other: Page, storm: Path, tmp_path: Path
) -> None:
    second = tmp_path / "lossy.mcap"
    record_scenario(second, "lossy-stream", seconds=40)
    with command("replay", str(storm), str(second), *QUIET) as running:
        go(page, running, "t=30s")
        expect(page.locator(".pane")).to_have_count(2)
        pane = page.locator(".pane").nth(1)
        until(page, "panes.panes[0].store.finds.length > 3")
        # Its heads fold and pin, and the legend counts its marks with those of the others.
        pane.locator(".fold").first.click()
        expect(pane.locator("li.part")).to_have_count(1)
        expect(page.locator("#labels li.part")).to_have_count(0)
        pane.locator("li.lane").nth(2).hover()
        page.locator("#labels li.lane a").first.focus()
        page.keyboard.press("u")
        pane.locator(".pin-lane").nth(2).click()
        until(page, "plegscope.lineup.pins.map((pin) => pin[0]).join() === '0,1'")
        expect(pane.locator("li.pinned")).to_have_count(1)
        expect(page.locator("#labels li.pinned")).to_have_count(1)
        expect(page.locator(".legend-view")).to_have_text("in view, all 2 nodes")
        until(
            page,
            "Number(document.querySelector('#legend [data-kind=stop] b').textContent)"
            " === [plegscope, ...plegscope.besides].flatMap((one) => one.store.records)"
            ".filter((rec) => rec.kind === 'stream_event' && rec.type === 'stopped').length",
        )
        pane.locator("canvas").focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        expect(page.locator("#drawer h2")).to_be_visible()
        assert page.evaluate("plegscope.selected") is None
        for _ in range(2):
            page.keyboard.press("z")
        expect(page.locator("#clock")).to_contain_text("since the mark")
        page.keyboard.press("z")
        expect(page.locator("#clock")).to_contain_text("UTC")
        chosen = page.evaluate("panes.selected")
        before = page.evaluate("player.t")
        page.keyboard.press("P")
        until(page, f"player.t < {before}")
        # Of several at a time none stays behind.
        page.evaluate("plegscope.select(plegscope.store.finds.at(-1).seq)")
        assert page.evaluate("panes.selected") is None
        sought(page, before)
        page.evaluate(f"panes.select({chosen['number']}, {chosen['seq']})")
        query = query_of(page)
        assert f"sel={chosen['seq']}&of={chosen['number']}" in query
        go(other, running, query)
        expect(other.locator("#drawer h2")).to_be_visible()
        assert other.evaluate("panes.selected") == chosen
        other.keyboard.press("t")
        other.get_by_label("records of").select_option(index=1)
        expect(other.locator("#rows-body tr").first).to_contain_text("web")
        other.keyboard.press("Escape")
        expect(other.locator("#drawer")).to_be_hidden()


def test_the_list_leads_to_the_player(page: Page, storm: Path, tmp_path: Path) -> None:
    folder = tmp_path / "plegscope" / "flight"
    folder.mkdir(parents=True)
    name = "20260101T000000Z-watch-0123abcd-000001.mcap"
    (folder / name).write_bytes(storm.read_bytes())
    environ = environment(XDG_STATE_HOME=str(tmp_path))
    with command("replay", *QUIET, env=environ) as running:
        page.goto(running.address())
        expect(page.locator("h1")).to_have_text("Recordings")
        assert faults(page) == []
        keep(page, "recordings-1280")
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.locator("#player-what")).to_contain_text("Record")
        whole(page)
        page.keyboard.press("End")
        query = parse_qs(query_of(page))
        assert query["file"] == [name]
        page.goto(f"{page.url.split('/replay')[0]}/recordings")
        expect(page.locator("tbody .num").nth(2)).to_have_text("1")


def test_a_file_is_dropped_or_chosen(browser: Browser, storm: Path, tmp_path: Path) -> None:
    # A refusal that the test orders is an error in the console.
    page = browser.new_page()
    environ = environment(XDG_STATE_HOME=str(tmp_path))
    bad = tmp_path / "bad.mcap"
    bad.write_bytes(b"nothing")
    with command("replay", *QUIET, env=environ) as running:
        page.goto(running.address())
        page.locator("#drop-file").set_input_files(bad)
        expect(page.locator("#drop-says")).to_contain_text("is no MCAP file")
        page.locator("#drop-file").set_input_files(storm)
        expect(page.locator("#player-what")).to_contain_text("Record")
        page.evaluate("""async () => {
          const answer = await fetch("/api/v1/recording/piece?file=storm.mcap&number=0");
          const lines = (await answer.json()).records.map((rec) => JSON.stringify(rec)).join("\\n");
          const held = new DataTransfer();
          held.items.add(new File([lines], "lines.jsonl"));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: held, bubbles: true }));
        }""")
        page.wait_for_url("**file=lines.jsonl*")
        expect(page.locator("#player-what")).to_contain_text("Record")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_accessibility(browser: Browser, server: Command, width: int, scheme: str) -> None:
    options: dict[str, Any] = {
        "viewport": {"width": width, "height": 800}, "color_scheme": scheme,
    }  # fmt: skip
    for page in watched(browser, **options):
        go(page, server, "t=40s")
        assert faults(page) == []
        keep(page, f"replay-{width}-{scheme}")
        page.evaluate("document.getElementById('markers').showPopover()")
        assert faults(page) == []
        page.evaluate("document.getElementById('markers').hidePopover()")
        page.evaluate("document.getElementById('export').showPopover()")
        assert faults(page) == []
        page.evaluate("document.getElementById('export').hidePopover()")
        page.keyboard.press("w")
        expect(page.locator("#panel-body")).to_contain_text("100 containers had ended")
        assert faults(page) == []
        page.keyboard.press("w")
        whole(page)
        page.evaluate("player.toEnd()")
        expect(page.locator("#play-state")).to_have_text("At the end")
        assert faults(page) == []
        fits(page)
