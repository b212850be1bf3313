"""Runs side by side in a real browser: by pointer, by keyboard, without scripts, from a link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.chromium import fits, frames, keep, until
from tests.browser.test_accessibility import faults
from tests.commands import Command, demo

THREE = "scenario=lossy-stream&seed=7&duration=120s&profile=kep&profile=generic&profile=legacy"
STALE = "scenario=stale-event&profile=kep&profile=legacy"
FORK = (
    "run=scenario%3Ddemo%26seed%3D7%26duration%3D60s"
    "&run=scenario%3Ddemo%26seed%3D7%26duration%3D60s%26press%3D10s!break-stream"
)

#: Where a happening that came in all runs at the same time is drawn, once it is.
SAME = """(() => {
  const { timeline, model } = plegscope;
  const same = model.differences.find(({ row }) => new Set(row.seen.map((s) => s?.t)).size === 1);
  const ticks = timeline.list.lanes[9].filter((item) => item.k === "tick");
  return ticks.filter(({ seq }) => seq === same.id + 1).map(({ x }) => x);
})()"""

#: A finding that differs and is in view, and where it is on the screen.
FIND = """(() => {
  const { timeline, model } = plegscope;
  const box = timeline.canvas.getBoundingClientRect();
  const { shift } = timeline.last;
  const inSight = ({ x, y }) => x + shift > 40 && x + shift < timeline.width - 40
    && y < timeline.height - timeline.top;
  const differs = ({ seq, c }) => c === "died-poll" && model.rows[seq - 1].marks.length;
  const item = timeline.list.lanes[8].find((each) => differs(each) && inSight(each));
  return { id: item.seq - 1, x: box.left + item.x + shift, y: box.top + timeline.top + item.y };
})()"""


@pytest.fixture(scope="module")
def server() -> Iterator[Command]:
    with demo() as command:
        command.address()
        yield command


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that has nothing to complain of at the end."""
    complaints: list[str] = []
    made = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    yield made
    made.close()
    assert complaints == []


def compared(page: Page, server: Command, query: str = THREE) -> None:
    """The comparison is on the page, and its picture drawn in the room that it has."""
    page.goto(f"{server.address()}compare?{query}")
    expect(page.locator("#compared")).to_be_visible()
    frames(page)
    until(page, "plegscope.timeline.list && plegscope.timeline.last")


def window(page: Page) -> list[float]:
    """From and to in seconds."""
    shown = page.evaluate("plegscope.view.window(plegscope.model.end)")
    return [round(t / 1e9, 3) for t in shown]


def chosen(page: Page) -> Any:
    """The number of the chosen row."""
    return page.evaluate("plegscope.selected")


def count(page: Page, kind: str) -> int:
    """How many differences of a kind the button tells of."""
    told = page.locator(f"[data-kind={kind}] b").inner_text()
    return int(told.replace(",", ""))


# The form


def test_the_form_leads_to_the_comparison(page: Page, server: Command) -> None:
    page.goto(server.address() + "compare")
    page.locator("select[name=scenario]").select_option("lossy-stream")
    page.locator("input[name=duration]").fill("60s")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#sentence")).to_contain_text(
        re.compile(r"^legacy .*Nothing of that with kep and generic, whose cache .*\d.s\.$")
    )
    expect(page.locator("#figures-body th")).to_have_text(["kep", "generic reference", "legacy"])
    expect(page.locator("#played")).to_have_text(re.compile("lossy-stream, seed 7, 1.min"))
    keep(page, "compare-1280-light")


def test_the_form_says_what_is_wrong_and_stays_filled_in(browser: Browser, server: Command) -> None:
    # The browser itself complains of the status, so this page may.
    page = browser.new_page()
    page.goto(server.address() + "compare?scenario=storm&profile=kep&profile=legacy&profile=nope")
    expect(page.get_by_role("alert")).to_contain_text("there is no 'nope'")
    expect(page.locator("select[name=scenario]")).to_have_value("storm")
    page.close()


def test_without_scripts_the_form_leads_to_tables(browser: Browser, server: Command) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.address() + "compare")
    page.locator("select[name=scenario]").select_option("stale-event")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("h1")).to_contain_text("legacy believed what was not so")
    expect(page.locator("table.figures tbody tr")).to_have_count(3)
    expect(page.get_by_text("an older state won").first).to_be_visible()
    assert "plain=1" in page.url
    context.close()


def test_no_more_profiles_can_be_ticked_than_fit(page: Page, server: Command) -> None:
    page.goto(server.address() + "compare")
    expect(page.locator("input[name=profile]:enabled")).to_have_count(3)
    said = page.locator(".chosen-number")
    expect(said).to_have_text("(3 chosen: untick one to choose another)")
    page.locator("input[name=profile][value=generic]").uncheck()
    expect(page.locator("input[name=profile]:enabled")).to_have_count(5)
    expect(said).to_have_text("(2 chosen: there is room for one more)")
    page.locator("input[name=profile][value=legacy]").uncheck()
    expect(said).to_have_text("(1 chosen: choose 2 or 3)")
    page.get_by_role("button", name="Compare").click()
    # The browser itself says what is missing and asks for nothing.
    assert page.evaluate("document.querySelector('input[name=profile]').validationMessage") == (
        "Choose 2 or 3 profiles; 1 is chosen."
    )
    assert page.url.endswith("/compare")


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_of_the_form_is_cut_off(browser: Browser, server: Command, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(server.address() + "compare")
    cut = """[...document.querySelectorAll('.fields input, .fields select')].map((field) => {
      const text = field.placeholder || field.selectedOptions?.[0]?.text || '';
      const paper = document.createElement('canvas').getContext('2d');
      paper.font = getComputedStyle(field).font;
      const arrow = field.tagName === 'SELECT' ? 20 : 0;
      return [text, paper.measureText(text).width + arrow, field.clientWidth - 16];
    })"""
    for text, needs, has in page.evaluate(cut):
        assert text
        assert needs <= has, text
    page.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_no_figure_and_no_word_is_out_of_sight(
    browser: Browser, server: Command, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 844})
    compared(page, server)
    for cell in page.locator("#figures-body td").all():
        box = cell.bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    for kind in page.locator(".kind").all():
        assert kind.inner_text().split("\n")[-1].strip()
        expect(kind.locator("span").last).to_be_visible()
    weight = "getComputedStyle(document.querySelector('h1')).fontWeight"
    assert page.evaluate(weight) == "600"
    if width == 390:
        said = "getComputedStyle(document.querySelector('#figures-body td'), '::before').content"
        assert page.evaluate(said) == '"missed"'
    page.close()


# While it is played


def test_progress_is_shown_until_the_comparison_is_there(page: Page, server: Command) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/v1/compare?*", hold)
    page.goto(f"{server.address()}compare?{THREE}")
    expect(page.locator("#progress-words")).to_have_text(
        re.compile("of 3 runs are played|Playing run|All runs")
    )
    expect(page.locator("#progress-bar")).to_be_visible()
    expect(page.locator("#compared")).to_be_hidden()
    held[0].continue_()
    expect(page.locator("#compared")).to_be_visible()
    expect(page.locator("#progress")).to_be_hidden()


def test_a_refusal_is_said_in_its_own_words(browser: Browser, server: Command) -> None:
    page = browser.new_page()
    page.route(
        "**/api/v1/compare?*",
        lambda route: route.fulfill(status=503, json={"error": "Too many runs. Try again."}),
    )
    page.goto(f"{server.address()}compare?{THREE}")
    expect(page.locator("#progress-words")).to_have_text("Too many runs. Try again.")
    expect(page.locator("#sentence")).to_have_text("This cannot be compared.")
    page.close()


# Looking


def test_every_pod_has_a_lane_per_run_on_one_axis(page: Page, server: Command) -> None:
    compared(page, server)
    names = page.locator("#labels .run-name")
    expect(names.first).to_have_text("kep")
    assert names.all_inner_texts()[:3] == ["kep", "generic", "legacy"]
    # The same happening is at the same place in time in all lanes where it came at the same time.
    xs = until(page, SAME)
    assert len(xs) == 3
    assert len(set(xs)) == 1


def test_figures_and_kinds_tell_the_same_as_the_report(page: Page, server: Command) -> None:
    with page.expect_response("**/api/v1/compare?*") as answer:
        compared(page, server)
    told = answer.value.json()
    cells = page.locator("#figures-body tr").nth(2).locator("td").all_inner_texts()
    legacy = told["runs"][2]["figures"]
    assert cells[8] == f"{legacy['calls']:,}"
    assert cells[2] == str(legacy["ends"]["over_minute"] + legacy["starts"]["over_minute"])
    assert cells[1] == str(legacy["ends"]["waiting"] + legacy["starts"]["waiting"])
    count_shared = legacy["shared"]["count"]
    expect(page.locator("#shared")).to_contain_text(re.compile(rf"\* of {count_shared}\Wends that"))
    for kind in ("sooner", "later", "never", "wrong", "absent"):
        rows = [row for row in told["rows"] if any(mark["kind"] == kind for mark in row["marks"])]
        assert count(page, kind) == len(rows)


def test_a_click_on_a_mark_chooses_it_and_says_all_about_it(page: Page, server: Command) -> None:
    compared(page, server)
    place = until(page, FIND)
    page.mouse.move(place["x"], place["y"])
    expect(page.locator("#hover")).to_contain_text("end of web")
    page.mouse.click(place["x"], place["y"])
    assert chosen(page) == place["id"]
    expect(page.locator("#chosen-body tr")).to_have_count(3)
    expect(page.locator("#chosen-title")).to_contain_text("shop/web-")
    link = page.locator("#chosen-body a").first.get_attribute("href")
    assert link is not None
    assert re.match(r"/run\?scenario=lossy-stream&seed=7&profile=kep&duration=120s&t=\d+", link)
    page.locator("#chosen-close").click()
    expect(page.locator("#chosen")).to_be_hidden()


def test_a_run_is_opened_where_it_differs(page: Page, server: Command) -> None:
    compared(page, server)
    page.keyboard.press("d")
    title = page.locator("#chosen-title").inner_text()
    page.locator("#chosen-body a").first.click()
    expect(page.locator("#drawer")).to_contain_text("Found by")
    pod = title.partition(":")[0].removeprefix("shop/")
    expect(page.locator("#drawer")).to_contain_text(pod)


def test_who_noticed_and_what_is_measured_is_said(page: Page, server: Command) -> None:
    compared(page, server)
    page.get_by_text("By who noticed").click()
    expect(page.locator("#sources-body tr").first).to_have_text(re.compile("^kep.*ends.*hint"))
    expect(page.locator(".measured")).to_contain_text("summed over all containers")


def test_pan_zoom_and_the_strip_move_the_window(page: Page, server: Command) -> None:
    compared(page, server)
    box = page.locator("#plot").bounding_box()
    assert box is not None
    before = window(page)
    page.mouse.move(box["x"] + 500, box["y"] + 200)
    page.mouse.wheel(0, -300)
    # A browser says nothing of a wheel's turn but by what it does.
    until(page, f"plegscope.view.span < {before[1] - before[0]}e9")
    zoomed = window(page)
    assert before[0] < zoomed[0] < zoomed[1] < before[1]
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 200, steps=4)
    page.mouse.up()
    assert window(page)[0] > zoomed[0]
    strip = page.locator("#minimap").bounding_box()
    assert strip is not None
    page.mouse.click(strip["x"] + strip["width"] * 0.75, strip["y"] + 20)
    left, right = window(page)
    assert left < 90 < right
    page.get_by_role("button", name="all", exact=True).click()
    assert window(page) == [0, 120]


def test_kinds_hide_and_show(page: Page, server: Command) -> None:
    compared(page, server)
    page.locator("[data-kind=sooner]").click()
    page.locator("[data-kind=absent]").click()
    expect(page.locator("[data-kind=sooner]")).to_have_attribute("aria-pressed", "false")
    # One that is also sooner or absent in another run stays, for what it is else.
    shown = page.evaluate("plegscope.shown().map(({ kinds }) => kinds)")
    assert shown
    assert all({"later", "never", "wrong"} & set(each) for each in shown)
    page.locator("#filter").fill("no such pod")
    expect(page.locator("#no-lanes")).to_have_text("No pod matches.")
    page.locator("#filter").fill("")
    expect(page.locator("#no-lanes")).to_be_hidden()


def test_a_link_opens_the_same_picture_elsewhere(
    page: Page, browser: Browser, server: Command
) -> None:
    compared(page, server)
    page.keyboard.press("d")
    page.keyboard.press("d")
    page.keyboard.press("+")
    page.locator("[data-kind=absent]").click()
    expect(page).to_have_url(re.compile(r"sel=\d+.*hide=absent"))
    there = browser.new_page(viewport={"width": 900, "height": 700}, color_scheme="dark")
    there.goto(page.url)
    expect(there.locator("#compared")).to_be_visible()
    assert chosen(there) == chosen(page)
    assert window(there) == pytest.approx(window(page), abs=0.01)
    expect(there.locator("[data-kind=absent]")).to_have_attribute("aria-pressed", "false")
    assert there.locator("#chosen-title").inner_text() == page.locator("#chosen-title").inner_text()
    there.close()


def test_a_fork_is_held_against_its_parent(page: Page, server: Command) -> None:
    compared(page, server, FORK)
    names = page.locator("#figures-body th").all_inner_texts()
    assert [name.replace("\xa0", " ") for name in names] == [
        "kep (nothing pressed) reference",
        "kep (break-stream at 10 s)",
    ]
    expect(page.locator(".watched strong")).to_have_text("Same node, other presses")
    assert count(page, "later") > 0
    assert count(page, "sooner") == 0
    # Before the press nothing differs.
    assert page.evaluate("Math.min(...plegscope.model.differences.map(({ t }) => t))") >= 10e9


def test_an_older_state_that_won_is_marked_wrong_in_words(page: Page, server: Command) -> None:
    compared(page, server, STALE)
    for kind in ("sooner", "later", "absent"):
        page.locator(f"[data-kind={kind}]").click()
    page.keyboard.press("d")
    expect(page.locator("#chosen-body")).to_contain_text("an older state won")
    until(
        page,
        "plegscope.timeline.list.lanes[11].some(({ k, text }) => k === 'say'"
        " && text.includes('an older state won'))",
    )
    keep(page, "compare-wrong-1280-light")


def test_five_hundred_pods_stay_bounded(page: Page, server: Command) -> None:
    compared(page, server, "scenario=big-node&profile=kep&profile=generic")
    height = "document.getElementById('labels').offsetHeight"
    few = page.evaluate(height)
    page.locator("#all-pods").check()
    until(page, f"{height} > {few}")
    assert page.locator("#labels li").count() < 120
    page.locator("#lanes").evaluate("(lanes) => { lanes.scrollTop = lanes.scrollHeight; }")
    expect(page.locator("#labels li").last).to_be_visible()
    assert page.locator("#labels li").count() < 120


# By keyboard


def test_d_goes_from_difference_to_difference_and_says_them(page: Page, server: Command) -> None:
    compared(page, server)
    ids = page.evaluate("plegscope.shown().map(({ id }) => id)")
    for n in range(3):
        page.keyboard.press("d")
        assert chosen(page) == ids[n]
        expect(page.locator("#spoken")).to_contain_text(f"Difference {n + 1} of {len(ids)}. web-")
        left, right = window(page)
        t = page.evaluate(f"plegscope.model.differences.find((d) => d.id === {ids[n]}).t") / 1e9
        assert left <= t <= right
    page.keyboard.press("Shift+D")
    assert chosen(page) == ids[1]
    page.keyboard.press("Escape")
    expect(page.locator("#chosen")).to_be_hidden()
    # Beyond the last there is none, and that is said.
    page.evaluate("plegscope.select(plegscope.shown().at(-1).id)")
    page.keyboard.press("d")
    expect(page.locator("#spoken")).to_have_text("No further difference.")


def test_the_table_is_the_canvas_equal_by_keyboard(page: Page, server: Command) -> None:
    compared(page, server)
    page.keyboard.press("t")
    rows = page.locator("#differences-body tr")
    shown = page.evaluate("plegscope.shown().length")
    expect(rows).to_have_count(min(200, shown))
    heads = page.locator("#differences-head th").all_inner_texts()
    assert heads[3:] == ["kep", "generic", "legacy", "Difference"]
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows.nth(2)).to_have_attribute("aria-selected", "true")
    expect(page.locator("#chosen")).to_be_visible()
    page.keyboard.press("Home")
    expect(rows.first).to_be_focused()
    # One stop of the Tab key for all rows.
    assert page.locator("#differences-body tr[tabindex='0']").count() == 1
    page.keyboard.press("t")
    expect(page.locator("#plot")).to_be_visible()


def test_more_rows_come_when_wished(page: Page, server: Command) -> None:
    compared(page, server, THREE.replace("120s", "600s"))
    page.keyboard.press("t")
    rows = page.locator("#differences-body tr")
    expect(rows).to_have_count(200)
    page.locator("#differences-more").click()
    expect(rows.nth(200)).to_be_focused()
    assert rows.count() > 200


def test_keys_have_a_sheet_and_can_be_turned_off(page: Page, server: Command) -> None:
    compared(page, server)
    # A filter is left by Enter, which keeps it, and by Esc, which does not.
    field = page.locator("#filter")
    page.keyboard.press("/")
    page.keyboard.type("a")
    page.keyboard.press("Enter")
    page.keyboard.press("d")
    expect(field).to_have_value("a")
    assert chosen(page) is not None
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(field).to_have_value("")
    expect(field).not_to_be_focused()
    page.keyboard.press("Escape")
    assert chosen(page) is None
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    expect(page.locator("#keys-title")).to_be_in_viewport()
    expect(page.locator("#keys-list")).to_contain_text("next difference")
    page.locator("#keys-on").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("d")
    assert chosen(page) is None


def test_everything_is_reached_with_tab(page: Page, server: Command) -> None:
    compared(page, server)
    seen: list[str] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("document.activeElement.id || document.activeElement.dataset.kind || ''")
        )
    for wanted in ("keys-open", "sooner", "absent", "next", "all-pods", "filter", "plot"):
        assert wanted in seen


# Who else may be here


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nobody_shut_out(
    browser: Browser, server: Command, scheme: Any, width: int
) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(server.address() + "compare")
    expect(page.locator("h1")).to_be_visible()
    assert faults(page) == []
    page.goto(f"{server.address()}compare?{STALE}&plain=1")
    expect(page.locator("h1")).to_contain_text("legacy believed")
    assert faults(page) == []
    compared(page, server)
    assert faults(page) == []
    page.keyboard.press("d")
    expect(page.locator("#chosen")).to_be_visible()
    assert faults(page) == []
    keep(page, f"compare-{width}-{scheme}", whole=True)
    page.keyboard.press("t")
    expect(page.locator("#differences")).to_be_visible()
    assert faults(page) == []
    fits(page)
    if width > 1000:
        page.get_by_role("button", name="Other runs").click()
        expect(page.locator("#choose form")).to_be_visible()
        assert faults(page) == []
    page.close()


def test_forced_colours_keep_marks_and_words(browser: Browser, server: Command) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800}, forced_colors="active")
    compared(page, server)
    page.keyboard.press("d")
    expect(page.locator("#chosen-body")).to_contain_text("sooner")
    expect(page.locator("[data-kind=sooner]")).to_be_visible()
    keep(page, "compare-forced-1280")
    page.close()
