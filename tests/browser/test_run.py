"""The page of a run in a real browser: played, stepped both ways, forked, linked, by keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.chromium import PATIENCE_MS, fits, frames, keep, until
from tests.browser.steps import BIG, STEPS, TIME_STEPS
from tests.browser.test_accessibility import faults
from tests.commands import Command, demo

S = 1_000_000_000
#: What is on the screen: every pixel of the timeline, and every word around it that can be seen.
#: A line more in a bar takes its room from the lanes, and the page sees that one frame later; the
#: trend is drawn once a second.
PICTURE = """async () => {
  for (const spoken of document.querySelectorAll(".sr")) spoken.hidden = true;
  plegscope.trend.drawnAt = -Infinity;
  plegscope.header();
  for (let i = 0; i < 2; i += 1) await new Promise(requestAnimationFrame);
  plegscope.timeline.invalidate();
  plegscope.timeline.frame();
  return [plegscope.timeline.canvas.toDataURL(), document.body.innerText];
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    file = tmp_path_factory.mktemp("scenario") / "hundred-ten.toml"
    file.write_text(BIG)
    with demo("--scenario", str(file), "--seed", "11") as command:
        command.address()
        yield command


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Command]:
    """Another machine, as far as a link can tell."""
    with demo() as command:
        command.address()
        yield command


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    yield from watched(browser)


@pytest.fixture
def other(browser: Browser) -> Iterator[Page]:
    """Somebody else's browser."""
    yield from watched(browser)


def watched(browser: Browser, **options: Any) -> Iterator[Page]:
    options = {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light", **options}
    context = browser.new_context(**options)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    yield opened
    # What a test holds or changes on its way may be under way still.
    opened.unroute_all(behavior="ignoreErrors")
    # A refusal or an end of the server that a test has ordered is told in the console too.
    ordered = ("503", "ERR_CONNECTION_REFUSED")
    assert [text for text in complaints if not any(one in text for one in ordered)] == []
    context.close()


def go(page: Page, server: Command, query: str) -> None:
    """Open a run and wait for it."""
    page.goto(f"{server.address()}run?{query}")
    expect(page.locator("#player-what")).to_contain_text("Record")


def cursor(page: Page) -> tuple[int, int]:
    """(time in ns, records that have happened)."""
    t, seq = page.evaluate("[player.t, player.seq]")
    return int(t), int(seq)


def address(page: Page) -> str:
    """The address, once it says all that is shown: it is written a moment after the last change.

    A browser runs timers in the order in which they end, however late it is.
    """
    page.evaluate(
        """() => new Promise((resolve) => {
          const look = () => {
            const [written, before] = [plegscope.addressTimer, player.t];
            setTimeout(() => {
              const still = written === plegscope.addressTimer && before === player.t;
              if (still && player.wanted === null && !player.playing) resolve();
              else look();
            }, 160);
          };
          look();
        })"""
    )
    return str(page.evaluate("location.href"))


def same_picture(page: Page, other: Page) -> None:
    """Both show the same, in pixels and in words, once they have come to rest."""
    for _ in range(20):
        page.mouse.move(0, 0)
        other.mouse.move(0, 0)
        mine, theirs = page.evaluate(PICTURE), other.evaluate(PICTURE)
        if mine == theirs:
            return
        frames(page)
        frames(other)
    assert theirs[1] == mine[1]
    assert theirs[0] == mine[0]


def test_a_link_shows_the_same_on_another_machine(
    page: Page, other: Page, server: Command, elsewhere: Command
) -> None:
    go(page, server, "scenario=storm&seed=5&t=30000000000")
    for key in (">", ">", ".", ".", ",", ">"):
        page.keyboard.press(key)
    found = page.evaluate(
        "player.records.findLast((r) => r.kind === 'lifecycle' && r.seq <= player.seq).seq"
    )
    page.evaluate("(seq) => plegscope.select(seq)", found)
    query = urlsplit(address(page)).query
    assert parse_qs(query)["sel"] == [str(found)]
    go(other, elsewhere, query)
    assert cursor(other) == cursor(page)
    expect(other.locator("#drawer h2")).to_be_visible()
    same_picture(page, other)
    keep(other, "run-1280")


def test_the_middle_of_a_moment_has_its_place_in_the_link(
    page: Page, other: Page, server: Command, elsewhere: Command
) -> None:
    go(page, server, "scenario=storm&t=34000000000")
    # Findings and cache entries of one relist are told at one and the same time.
    same = page.evaluate("player.records.findIndex((r, i, all) => i > 200 && all[i + 1].t === r.t)")
    page.evaluate("(seq) => player.seekTo(seq)", same + 1)
    query = urlsplit(address(page)).query
    assert parse_qs(query)["at"] == [str(same + 1)]
    go(other, elsewhere, query)
    assert cursor(other) == cursor(page)


def test_everything_goes_by_keyboard_and_is_told(page: Page, server: Command) -> None:
    go(page, server, "scenario=storm&t=33000000000")
    said = page.locator("#player-says")
    t, seq = cursor(page)
    page.keyboard.press(".")
    assert cursor(page)[1] == seq + 1
    expect(page.locator("#play-state")).to_have_text("Stepping")
    expect(said).to_contain_text("Stepping at 33.")
    page.keyboard.press(",")
    assert cursor(page)[1] == seq
    page.keyboard.press(">")
    assert page.evaluate("player.newest.kind") == "relist_finished"
    assert cursor(page)[0] > t
    page.keyboard.press("p")
    expect(said).to_contain_text("press the name of a pod first")
    pod = page.evaluate("player.records.find((r) => r.kind === 'lifecycle' && !r.baseline).seq")
    page.evaluate("(seq) => { player.seekTo(seq); plegscope.select(seq); }", pod)
    uid = page.evaluate("player.newest.uid")
    page.keyboard.press("p")
    assert page.evaluate("player.newest.uid") == uid
    assert cursor(page)[1] > pod
    page.keyboard.press("P")
    assert page.evaluate("player.newest.uid") == uid
    assert cursor(page)[1] <= pod
    name = page.locator("#labels a").first
    name.focus()
    # Which lane is the first follows the moment.
    uid = page.evaluate("document.activeElement.dataset.uid")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("p and P step through the events of")
    page.keyboard.press("p")
    assert page.evaluate("player.newest.uid") == uid
    page.keyboard.press("Home")
    assert cursor(page)[0] == 0
    page.keyboard.press("End")
    # What came after is not known; it is hatched.
    expect(page.locator("#sentence")).to_have_text("End of the run. It was played for 2 min.")
    until(page, "plegscope.timeline.painter.frame.endX < plegscope.timeline.width")
    assert cursor(page)[0] == 120 * S
    expect(page.locator("#play-state")).to_have_text("At the end")
    page.keyboard.press("j")
    page.keyboard.type("1m 3.5s")
    page.keyboard.press("Enter")
    assert cursor(page)[0] == 63.5 * S
    # A time that is one gives the keys back.
    page.keyboard.press("j")
    page.keyboard.type("soon")
    page.keyboard.press("Enter")
    expect(page.locator("#jump-to")).to_have_attribute("aria-invalid", "true")
    expect(said).to_contain_text("write it like 12.5")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.keyboard.press(" ")
    expect(page.locator("#play-state")).to_have_text("Playing 2×")
    expect(said).to_contain_text("Playing 2×, from 1 min 3.500 s")
    # Time goes on with the first frame after the key.
    until(page, f"player.t > {63.5 * S}")
    page.keyboard.press(" ")
    expect(page.locator("#play-state")).to_have_text("Paused")
    stopped = cursor(page)
    expect(said).to_contain_text("Paused at 1 min")
    assert cursor(page) == stopped


def test_the_scrubber_is_reached_by_key_and_says_where_it_is(page: Page, server: Command) -> None:
    go(page, server, "scenario=storm&t=10000000000")
    scrubber = page.locator("#scrubber")
    scrubber.focus()
    page.keyboard.press("PageUp")
    until(page, f"player.t > {10 * S}")
    expect(scrubber).to_have_attribute("aria-valuetext", re.compile(r"^\d+\.\d{3} s of 2 min"))


def test_the_sheet_lists_all_keys_and_none_twice(page: Page, server: Command) -> None:
    go(page, server, "scenario=storm&t=1")
    page.keyboard.press("?")
    sheet = page.locator("#keys-list")
    expect(sheet).to_be_visible()
    keys = [text.strip() for text in sheet.locator("dt").all_inner_texts()]
    for key in ("Space", ",", ".", "<", ">", "p", "P", "r", "R", "j", "Home", "End", "f", "b"):
        assert key in keys
    assert len(keys) == len(set(keys))


def test_what_lies_ahead_is_on_no_part_of_the_page(page: Page, server: Command) -> None:
    go(page, server, "scenario=storm&t=33000000000&view=table")
    page.locator("#all-records").check()
    last = "Math.max(...plegscope.store.records.map((r) => r.seq))"
    for _ in range(3):
        page.keyboard.press(",")
        assert page.evaluate(last) == cursor(page)[1]
        page.evaluate("plegscope.header()")
        shown = page.evaluate(
            "[...document.querySelectorAll('#rows-body tr')].map((row) => Number(row.dataset.seq))"
        )
        assert max(shown) == cursor(page)[1]


def test_the_header_of_each_moment_is_the_servers(page: Page, server: Command) -> None:
    """The browser adds up what each record changed; the server rebuilds the state anew."""
    query = "scenario=lossy-stream&press=20s!break-stream&press=40s!slow-lists"
    go(page, server, f"{query}&t=0")
    total = int(page.evaluate("player.records.length"))
    for seq in (0, 1, 255, 256, 257, total // 2, total - 1, total):
        told = page.evaluate(
            """async ([query, seq]) => {
              player.seekTo(seq);
              const answer = await fetch(`/api/v1/run/state?${query}&seq=${seq}`);
              return [plegscope.store.state, await answer.json()];
            }""",
            [query, seq],
        )
        assert told[0] == told[1], seq


def test_a_fault_pressed_in_the_past_opens_a_branch(page: Page, server: Command) -> None:
    go(page, server, "scenario=storm&t=20000000000")
    before = page.evaluate("player.records.slice(0, player.seq).map((r) => JSON.stringify(r))")
    page.keyboard.press("f")
    button = page.locator('[data-press="break-stream"]')
    expect(page.get_by_role("searchbox", name="Find a fault")).to_be_focused()
    page.keyboard.type("break")
    page.keyboard.press("Enter")
    expect(button).to_be_focused()
    expect(page.locator("#presses [data-press]:visible")).to_have_count(1)
    expect(button).to_have_accessible_description(re.compile("Imitates: A connection"))
    button.click()
    page.wait_for_url(re.compile("[&]press="))
    expect(page.locator("#player-what")).to_contain_text("Record")
    # Right after the record that tells of the fault.
    expect(page.locator("#play-state")).to_have_text("Stepping")
    expect(page.locator("#player-faults")).to_contain_text("Break the stream")
    t, seq = cursor(page)
    assert t == 20 * S + 1
    now = page.evaluate("player.records.map((r) => JSON.stringify(r))")
    assert now[: len(before)] == before
    assert seq > len(before)
    given = dict(parse_qsl(urlsplit(page.url).query))
    assert given["press"] == "20.000000001s!break-stream"
    assert given["branch"].startswith("scenario=storm&")
    page.keyboard.press("b")
    branch = page.locator("#branch-list li").nth(1)
    expect(branch).to_contain_text("nothing pressed")
    compare = branch.get_by_role("link", name=re.compile("Compare")).get_attribute("href")
    assert compare is not None
    runs = parse_qs(urlsplit(compare).query)["run"]
    assert len(runs) == 2
    assert [("press=" in run) for run in runs] == [True, False]
    # Over to the other branch at the same moment, and this one is in its list.
    branch.get_by_role("link", name="nothing pressed", exact=True).click()
    page.wait_for_url(re.compile(r"branch=[^&]*press"))
    expect(page.locator("#player-what")).to_contain_text("Record")
    assert cursor(page)[0] == 20 * S + 1
    assert "press" not in dict(parse_qsl(urlsplit(page.url).query))
    page.keyboard.press("b")
    expect(page.locator("#branch-list li")).to_have_count(2)
    page.get_by_role("button", name=re.compile("Remove")).click()
    expect(page.locator("#branch-list li")).to_have_count(1)
    expect(page.locator("#branches-count")).to_have_text("1")


def test_the_same_history_under_another_profile(page: Page, server: Command) -> None:
    go(page, server, "scenario=storm&t=33000000000&press=3s!break-stream")
    page.keyboard.press("b")
    page.get_by_role("link", name="legacy", exact=True).click()
    page.wait_for_url(re.compile("profile=legacy"))
    expect(page.locator("#player-what")).to_contain_text("Record")
    assert page.evaluate("plegscope.store.state.engine.profile") == "legacy"
    assert cursor(page)[0] == 33 * S
    page.keyboard.press("b")
    expect(page.locator("#branch-list li").nth(1)).to_contain_text("profile kep")


def test_how_far_it_is_played_is_said(page: Page, server: Command) -> None:
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/api/v1/run/records*", hold)
    told = {"state": "playing", "t": 62 * S, "duration_ns": 120 * S, "ahead": 0}
    page.route("**/api/v1/run/progress*", lambda route: route.fulfill(json=told))
    page.goto(f"{server.address()}run?scenario=storm&t=1")
    expect(page.locator("#player-what")).to_contain_text(
        "Played ahead as far as 1 min 2.000 s of 2 min"
    )
    expect(page.locator("#play-state")).to_have_text("Loading")
    waiting.pop().continue_()
    expect(page.locator("#player-what")).to_contain_text("Record")


def test_a_press_on_a_pod_needs_the_pod(page: Page, server: Command) -> None:
    go(page, server, "scenario=storm&t=20000000000")
    page.locator("#press-open").click()
    expect(page.get_by_role("searchbox", name="Find a fault")).to_be_focused()
    page.locator('[data-press="kill-container"]').click()
    expect(page.locator("#press-trouble")).to_contain_text("choose it here first")
    pod = page.locator("#press-pod option").nth(1).get_attribute("value")
    page.locator("#press-pod").select_option(pod)
    page.locator('[data-press="kill-container"]').click()
    page.wait_for_url(re.compile("[&]press="))
    assert dict(parse_qsl(urlsplit(page.url).query))["press"].endswith(f"!kill-container!{pod}")


def test_at_its_end_nothing_can_be_pressed(page: Page, server: Command) -> None:
    go(page, server, "scenario=storm&t=120000000000")
    page.keyboard.press("f")
    expect(page.get_by_role("searchbox", name="Find a fault")).to_be_focused()
    page.locator('[data-press="break-stream"]').click()
    expect(page.locator("#press-trouble")).to_contain_text("go back in time")


def test_a_link_without_a_time_plays(page: Page, server: Command) -> None:
    go(page, server, "scenario=storm")
    expect(page.locator("#play-state")).to_have_text("Playing 1×")
    until(page, "player.t > 0")
    page.keyboard.press(" ")
    expect(page.locator("#play-state")).not_to_have_text("Playing 1×")


def test_where_less_motion_is_wanted_nothing_starts_by_itself(
    browser: Browser, server: Command
) -> None:
    for page in watched(browser, reduced_motion="reduce"):
        go(page, server, "scenario=storm")
        expect(page.locator("#play-state")).to_have_text("Paused")
        until(page, f"player.t === {10 * S} && !player.playing")


def test_the_node_page_leads_to_the_run_of_what_it_plays(page: Page, server: Command) -> None:
    page.goto(server.address())
    page.get_by_role("link", name="Step through").first.click()
    # Ten minutes of a hundred and ten pods are played ahead first.
    expect(page.locator("#player-what")).to_contain_text("Record", timeout=2 * PATIENCE_MS)
    given = parse_qs(urlsplit(page.url).query)
    assert (given["scenario"], given["seed"]) == (["hundred-ten"], ["11"])


def test_scenarios_lead_to_their_runs(page: Page, server: Command) -> None:
    page.goto(f"{server.address()}scenarios")
    page.locator("#storm").get_by_role("link", name=re.compile("Play")).click()
    expect(page.locator("#player-what")).to_contain_text("Record")
    expect(page).to_have_title(re.compile("ends at once"))


def test_a_run_that_cannot_be_had_says_why(page: Page, server: Command) -> None:
    page.route(
        "**/api/v1/run/records*",
        lambda route: route.fulfill(status=503, json={"error": "Too many. Load this page again."}),
    )
    page.goto(f"{server.address()}run?scenario=storm")
    expect(page.locator("#player-what")).to_have_text("Too many. Load this page again.")
    expect(page.locator("#play-state")).to_have_text("Not played")


def test_steps_back_over_ten_minutes_of_a_hundred_and_ten_pods(page: Page, server: Command) -> None:
    go(page, server, "scenario=hundred-ten&t=599000000000")
    records = int(page.evaluate("player.records.length"))
    assert records > 8000
    assert int(page.evaluate("plegscope.store.lanes.size")) >= 110
    seq = cursor(page)[1]
    look = """() => JSON.stringify([plegscope.store.records.length, plegscope.store.state,
      plegscope.store.finds.length, plegscope.store.lanes.size])"""
    page.evaluate("(seq) => player.seekTo(seq)", seq - STEPS)
    forward = page.evaluate(look)
    page.evaluate("(seq) => player.seekTo(seq)", seq)
    took = sorted(page.evaluate(TIME_STEPS, STEPS))
    assert cursor(page)[1] == seq - STEPS
    assert page.evaluate(look) == forward
    middle, most = took[STEPS // 2], took[-1]
    print(f"a step back over {records} records: median {middle:.1f} ms, longest {most:.1f} ms")


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nobody_is_shut_out(browser: Browser, server: Command, width: int, scheme: str) -> None:
    size = {"width": width, "height": 844 if width < 700 else 800}
    options: dict[str, Any] = {"color_scheme": scheme, "reduced_motion": "reduce"}
    for page in watched(browser, viewport=size, **options):
        go(
            page,
            server,
            "scenario=storm&t=40000000000&press=30s!break-stream&branch=scenario=storm",
        )
        assert faults(page) == []
        keep(page, f"run-{width}-{scheme}")
        page.evaluate("document.getElementById('presses').showPopover()")
        assert faults(page) == []
        keep(page, f"run-presses-{width}-{scheme}")
        page.evaluate("document.getElementById('branches').showPopover()")
        assert faults(page) == []
        fits(page)
        page.goto(f"{server.address()}scenarios")
        assert faults(page) == []
        fits(page)
        keep(page, f"scenarios-{width}-{scheme}")
