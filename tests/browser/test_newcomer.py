"""What somebody meets who has a large font, a small window, no scripts, or comes back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import resize, until
from tests.browser.stage import UNTIL, S, Stage
from tests.commands import Command, demo

RUN = "run?scenario=hint-lost&seed=7&profile=kep&duration=10s&t=10000000000"
OVERFLOW = """() => Math.max(...[...document.querySelectorAll("body *")]
  .filter((one) => one.checkVisibility() && !one.closest(".foot, .sr, .skip, svg, .table-scroll"))
  .map((one) => one.getBoundingClientRect().right - innerWidth))"""


@pytest.fixture(scope="module")
def server() -> Iterator[Command]:
    with demo("--speed", "5") as command:
        command.address()
        yield command


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="dark")
    yield opened
    opened.close()


# ----------------------------------------------------------------------------------- large text


@pytest.mark.parametrize(
    ("path", "percent"),
    [("", 150), (RUN, 150), ("", 200), (RUN, 200), ("lessons/hint-lost?step=2", 200)],
)
def test_text_of_twice_the_size_wraps_and_nothing_sticks_out(
    page: Page, server: Command, path: str, percent: int
) -> None:
    page.goto(server.address() + path)
    page.evaluate(f"document.documentElement.style.fontSize = '{percent}%'")
    if path in ("", RUN):
        expect(page.locator("#sentence")).to_contain_text("End of the run" if path else "relist")
    until(page, f"({OVERFLOW})() <= 0")
    if path in ("", RUN):
        em = 16 * percent / 100
        until(
            page,
            f"""(() => {{
              const [said, gauge] = [".say", ".gauge"]
                .map((one) => document.querySelector(one).getBoundingClientRect());
              const apart = said.right <= gauge.left || said.bottom <= gauge.top;
              return said.width > {20 * em} && apart;
            }})()""",
        )


def test_a_window_of_a_quarter_scrolls_to_the_lanes(page: Page, server: Command) -> None:
    resize(page, 640, 400)
    page.goto(server.address() + RUN)
    label = page.locator("#labels .lane").first
    label.scroll_into_view_if_needed()
    expect(label).to_be_in_viewport()
    expect(page.locator(".tabs")).to_be_in_viewport()
    page.locator("#play").scroll_into_view_if_needed()
    expect(page.locator("#play")).to_be_in_viewport()


# ----------------------------------------------------------------------------------- navigation


@pytest.mark.parametrize("path", ["", RUN, "scenarios", "lessons/hint-lost"])
def test_the_same_pages_are_in_the_navigation_everywhere(
    page: Page, server: Command, path: str
) -> None:
    page.goto(server.address() + path)
    for name in ("Node", "Pods", "Scenarios", "Lessons", "Compare", "Help"):
        expect(page.locator(".nav").get_by_role("link", name=name, exact=True)).to_be_visible()


def test_the_title_is_readable_beside_everything_else(page: Page, server: Command) -> None:
    page.goto(server.address())
    expect(page.locator("#speed")).to_be_visible()
    wide = "document.querySelector('{0}').getBoundingClientRect().width"
    box, name = wide.format("#watched"), wide.format("#watched strong")
    until(page, f"{box} >= 9 * 16 && {name} <= {box} + 60")


def test_on_a_phone_the_navigation_of_a_document_is_seen_whole(page: Page, server: Command) -> None:
    resize(page, 390, 844)
    page.goto(server.address() + "help")
    for link in page.locator(".nav a").all():
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["height"] >= 44


def test_without_scripts_the_page_says_so_and_leads_on(browser: Browser, server: Command) -> None:
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        for path, way in (("", "/pods"), (RUN, "/scenarios#hint-lost")):
            page.goto(server.address() + path)
            expect(page.locator(f'.noscript a[href="{way}"]')).to_be_visible()
            expect(page.locator("#sentence")).to_be_hidden()
            expect(page.locator("#filter")).to_be_hidden()
        assert page.locator('.noscript a[href="/pods"]').count() == 0
    finally:
        context.close()


# --------------------------------------------------------------------------------- what is told


def test_the_legend_keeps_as_many_names_as_fit(page: Page, server: Command) -> None:
    page.goto(server.address())
    expect(page.locator("#legend .legend-item").first).to_be_visible()
    page.locator("#legend").evaluate("(row) => { row.style.maxWidth = '31rem'; }")
    expect(page.locator("#legend")).to_have_class(re.compile("bare"))
    expect(page.locator('#legend [data-kind="stop"] .legend-short')).to_be_visible()
    # The row is fitted anew with the next look at the counts.
    until(page, "((one) => one.scrollWidth <= one.clientWidth)(document.querySelector('#legend'))")
    page.locator("#legend").evaluate("(row) => { row.style.maxWidth = ''; }")
    resize(page, 1920, 1080)
    expect(page.locator('#legend [data-kind="stop"] .legend-name')).to_be_visible()


def test_who_opens_the_past_is_not_told_that_all_of_it_is_new(page: Page, server: Command) -> None:
    stage = Stage(page)
    stage.number(stage.pod("a", "cart-0"))
    for i in range(5):
        for record in stage.chain("a", UNTIL - (30 - 4 * i) * S):
            stage.number(record)
    page.goto(server.address())
    expect(page.locator("#sentence")).to_contain_text("Healthy")
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("end="))
    page.reload()
    expect(page.locator("#sentence")).to_contain_text("Healthy")
    expect(page.locator("#back")).to_be_visible()
    expect(page.locator("#back-count")).to_have_text("")
    stage.happen(*stage.chain("a", stage.t))
    expect(page.locator("#back-count")).to_have_text(re.compile(r"^6\snew records,$"))


def test_a_short_run_fills_the_picture(page: Page, server: Command) -> None:
    page.goto(server.address() + RUN)
    expect(page.locator("#sentence")).to_contain_text("End of the run")
    until(page, "Math.abs(plegscope.view.span / 1e9 - 10.3) < 1e-4")


def test_the_moment_of_a_press_is_seen_beside_the_panel(page: Page, server: Command) -> None:
    page.goto(server.address() + RUN.replace("t=10000000000", "t=9000000000"))
    expect(page.locator("#play-state")).to_have_text("Paused")
    before = page.evaluate("plegscope.view.end")
    page.keyboard.press("f")
    panel = page.locator("#presses")
    expect(panel).to_be_visible()
    # A browser tells of an opened or closed panel after it has done so.
    until(
        page,
        """(() => {
          const { view, timeline } = plegscope;
          const [from, to] = view.window(player.t);
          const plot = timeline.canvas.getBoundingClientRect();
          const x = plot.left + (player.t - from) / (to - from) * plot.width;
          return x < document.querySelector("#presses").getBoundingClientRect().left;
        })()""",
    )
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    until(page, f"plegscope.view.end === {json.dumps(before)}")


def test_all_faults_at_work_are_told_whole(page: Page, server: Command) -> None:
    page.goto(server.address())
    names = ("break-stream", "slow-lists", "hang-lists", "double-events", "reorder-events")
    answers = [
        page.request.post(
            server.address() + "api/v1/faults",
            data={"name": name, "for": "10m"},
            headers={"Origin": server.address().rstrip("/")},
        ).status
        for name in names
    ]
    assert answers == [200] * len(names)
    chips = page.locator("#faults-list li")
    expect(chips).to_have_count(len(names))
    for chip in chips.all():
        expect(chip.locator(".left")).to_be_in_viewport()
        expect(chip.get_by_role("button")).to_be_in_viewport()
    expect(page.locator("#faults-working .heal")).to_be_in_viewport()
    page.locator("#faults-working .heal").click()
    expect(chips).to_have_count(0)
