"""The node page in a real browser on the demo: looking, selecting, filtering, moving about."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.chromium import PATIENCE_MS, fits, keep, until
from tests.browser.test_accessibility import NEWEST, faults
from tests.commands import Command, demo, get

PAGE_BYTES = 250_000

#: A found death that is in view, and where it is on the screen.
#: The picture is paused, so that it stays where it is; ``still``: and the page hears of no more
#: records, so that lanes, table and drawer stay as they are.
FIND = """(still) => {
  const { timeline, store } = plegscope;
  plegscope.pause();
  timeline.invalidate();
  timeline.frame();
  if (!timeline.list || !timeline.last) return null;
  const box = timeline.canvas.getBoundingClientRect();
  const { shift } = timeline.last;
  for (const item of timeline.list.lanes.flat()) {
    const rec = item.c === "died-req" ? store.record(item.seq) : null;
    if (!rec || rec.source !== "evented_pleg" || rec.is_sandbox || rec.baseline) continue;
    const x = item.x + shift;
    const y = item.y + timeline.top - timeline.scroller.scrollTop;
    if (x < 40 || x > timeline.width - 40 || y > timeline.height - 12 || y < timeline.top) continue;
    if (still) {
      const take = plegscope.take.bind(plegscope);
      plegscope.take = (message) => {
        if (message.type === "batch") plegscope.clock.alive();
        else take(message);
      };
    }
    return { seq: item.seq, x: box.left + x, y: box.top + y, uid: rec.uid };
  }
  return null;
}"""


@pytest.fixture(scope="module")
def server() -> Iterator[Command]:
    with demo() as command:
        command.address()
        yield command


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, server: Command) -> Iterator[Page]:
    """The node page with its first picture, and nothing to complain of at the end."""
    faults: list[str] = []
    opened = context.new_page()
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "console",
        lambda message: faults.append(message.text) if message.type == "error" else None,
    )
    opened.goto(server.address())
    expect(opened.locator("#sentence")).to_contain_text("Healthy")
    yield opened
    assert faults == []


def find(page: Page, *, still: bool = False) -> dict[str, Any]:
    """Wait for a death found by a hint; the picture is paused so that it stays where it is.

    Args:
        page: the node page, live.
        still: nothing comes after it on this page, so that what is seen now is there later.
    """
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while time.monotonic() < deadline:
        page.evaluate("plegscope.live()")
        expect(page.locator("#legend [data-kind=req] b")).not_to_have_text("0")
        found = page.evaluate(FIND, still)
        if found is not None:
            assert isinstance(found, dict)
            return found
        news(page, 5)
    raise AssertionError("no death was found by a hint in time")


def news(page: Page, messages: int) -> None:
    """Let the server say so many things more."""
    page.evaluate(
        """(n) => new Promise((resolve) => {
          const until = plegscope.store.revision + n;
          const look = () => {
            if (plegscope.store.revision >= until) resolve();
            else requestAnimationFrame(look);
          };
          look();
        })""",
        messages,
    )


def selected(page: Page) -> int | None:
    seq = page.evaluate("plegscope.selected")
    return None if seq is None else int(seq)


def test_every_pod_of_the_node_has_a_lane(page: Page, server: Command) -> None:
    pods = get(f"{server.address()}api/v1/pods").json()["pods"]
    present = {pod["uid"] for pod in pods if pod["gone_t"] is None}
    assert len(present) > 5
    # The server may know of one that is on its way here.
    until(page, f"{json.dumps(sorted(present))}.every((uid) => plegscope.store.lanes.has(uid))")
    until(page, "document.querySelectorAll('#labels li.lane a').length > 5")
    labels = page.locator("#labels li.lane a")
    expect(labels.first).to_have_attribute("href", re.compile("^/pods/"))
    # Whoever hears or copies a name has all of it, though its hash is set apart.
    assert page.evaluate(
        "[...document.querySelectorAll('#labels li.lane a')]"
        ".every((a) => a.textContent === plegscope.store.lanes.get(a.dataset.uid).label)"
    )


def test_a_click_on_a_mark_selects_its_chain(page: Page) -> None:
    mark = find(page, still=True)
    page.mouse.click(mark["x"], mark["y"])
    drawer = page.locator("#drawer")
    expect(drawer).to_contain_text(re.compile(r"[Ff]ound by a hint, .*after the stop event"))
    expect(drawer.locator(".chain li")).not_to_have_count(0)
    expect(drawer.locator(".chain")).to_contain_text("Stop event received")
    expect(drawer.locator(".chain")).to_contain_text("ContainerDied found")
    expect(page.locator("#pause")).to_have_text("Paused")
    expect(page).to_have_url(re.compile(r"select=\d+"))
    assert page.evaluate("plegscope.timeline.chain.lane.uid") == mark["uid"]
    # Selected otherwise than by pointing at it, its lane comes into sight.
    page.evaluate("plegscope.select(null); plegscope.setFilter('')")
    page.evaluate("plegscope.timeline.scroller.scrollTop = 1e6")
    page.evaluate("(seq) => plegscope.select(seq)", mark["seq"])
    expect(page.locator("#labels .tall")).to_be_in_viewport(ratio=1)
    page.evaluate("plegscope.timeline.zoomToChain()")
    until(
        page,
        "plegscope.timeline.list.lanes[11].some((i) => i.k === 'say'"
        " && i.text.includes('after the stop'))",
    )
    keep(page, "chain-light-1280")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(page).not_to_have_url(re.compile("select="))


def test_the_address_shows_the_same_again(page: Page, context: BrowserContext) -> None:
    mark = find(page, still=True)
    page.mouse.click(mark["x"], mark["y"])
    page.locator("#lanes-open").click()
    page.locator("#group").select_option("namespace")
    page.keyboard.press("Escape")
    page.locator("#filter").fill("a")
    expect(page).to_have_url(re.compile(r"filter=a.*group=namespace.*end=.*select="))
    other = context.new_page()
    other.goto(page.url)
    expect(other.locator("#drawer")).to_be_visible()
    expect(other.locator("#drawer .verdict")).to_have_text(
        page.locator("#drawer .verdict").inner_text()
    )
    expect(other.locator("#group")).to_have_value("namespace")
    expect(other.locator("#filter")).to_have_value("a")
    end = page.evaluate("plegscope.view.end")
    until(other, f"Math.abs(plegscope.view.end - {end}) <= 1e6")


def test_copy_as_json_gives_the_records(page: Page, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    mark = find(page, still=True)
    page.mouse.click(mark["x"], mark["y"])
    page.get_by_role("button", name="Copy as JSON").click()
    expect(page.locator("#drawer [role=status]")).to_have_text("Copied.")
    records = json.loads(page.evaluate("navigator.clipboard.readText()"))
    kinds = [record["kind"] for record in records]
    assert {"stream_event", "request", "relist_started", "lifecycle"} <= set(kinds)
    assert [record["seq"] for record in records] == sorted(record["seq"] for record in records)


def test_by_keys_alone(page: Page) -> None:
    find(page, still=True)
    plot = page.locator("#plot")
    plot.focus()
    page.keyboard.press("ArrowLeft")
    first = page.evaluate("plegscope.timeline.cursor")
    assert first is not None
    expect(page.locator("#cursor-says")).not_to_be_empty()
    for key in ("ArrowLeft", "ArrowDown", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
        if page.evaluate("plegscope.timeline.cursor") != first:
            break
    assert page.evaluate("plegscope.timeline.cursor") != first
    page.keyboard.press("Enter")
    expect(page.locator("#drawer")).to_be_visible()
    assert selected(page) == page.evaluate("plegscope.timeline.cursor")
    page.keyboard.press("n")
    expect(page.get_by_role("button", name="All pods again")).to_be_visible()
    assert page.evaluate("plegscope.lineup.near[1] - plegscope.lineup.near[0]") == 4e9
    page.keyboard.press("n")
    assert page.evaluate("plegscope.lineup.near") is None
    span = page.evaluate("plegscope.view.span")
    page.keyboard.press("Enter")
    assert page.evaluate("plegscope.view.span") != span, "a second Enter zooms to the chain"
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()


def test_space_pauses_and_goes_on(page: Page) -> None:
    page.locator("body").focus()
    page.keyboard.press(" ")
    expect(page.locator("#back")).to_be_visible()
    end = page.evaluate("plegscope.view.end")
    expect(page.locator("#back-count")).to_contain_text(re.compile(r"\d+.new record"))
    expect(page.locator("#back-text")).to_contain_text("Looking back")
    assert page.evaluate("plegscope.view.end") == end
    page.locator("#back-live").click()
    expect(page.locator("#back")).to_be_hidden()
    assert page.evaluate("plegscope.view.following") is True


def test_wheel_drag_and_keys_move_the_window(page: Page) -> None:
    page.evaluate("plegscope.pause()")
    box = page.locator("#plot").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] * 0.4, box["y"] + 200
    page.mouse.move(x, y)
    at = f"plegscope.timeline.timeAt({x - box['x']})"
    drawn = "plegscope.timeline.invalidate(), plegscope.timeline.frame()"
    before, span = page.evaluate(f"({drawn}, [{at}, plegscope.view.span])")
    page.mouse.wheel(0, -240)
    # A browser says nothing of a wheel's turn but by what it does.
    until(page, f"plegscope.view.span < {span}")
    expect(page).to_have_url(re.compile("span="))
    assert page.evaluate(f"({drawn}, {at})") == pytest.approx(before, abs=span / 100)
    end = page.evaluate("plegscope.view.end")
    page.mouse.down()
    page.mouse.move(x + 200, y, steps=4)
    page.mouse.up()
    until(page, f"plegscope.view.end < {end}")
    assert selected(page) is None, "a drag selects nothing"
    page.locator("#watched").focus()
    page.keyboard.press("-")
    wider = page.evaluate("plegscope.view.span")
    page.keyboard.press("+")
    assert page.evaluate("plegscope.view.span") < wider
    page.get_by_role("button", name="10 s", exact=True).click()
    assert page.evaluate("plegscope.view.span") == 10e9
    # The button that was pressed has the focus, and the arrows go on moving the window.
    end = page.evaluate("plegscope.view.end")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("plegscope.view.end") == end - 2e9


def test_filter_by_key_in_timeline_and_table(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.type("redis")
    lanes = page.locator("#labels li.lane")
    expect(lanes).to_have_count(1)
    expect(lanes).to_contain_text("redis")
    page.keyboard.press("Escape")
    expect(lanes).not_to_have_count(1)


def test_nothing_moves_under_the_pointer(page: Page) -> None:
    page.locator("#labels li.lane").nth(3).hover()
    until(page, "plegscope.lineup.held")
    order = page.evaluate("plegscope.lineup.order.slice(0, 6)")
    page.evaluate("plegscope.lineup.sortedAt = -Infinity")
    news(page, 30)
    assert page.evaluate("plegscope.lineup.order.slice(0, 6)") == order
    # Nor do the buttons beside the legend, when it has something more to count.
    left = "document.querySelector('.save-open').getBoundingClientRect().left"
    before = page.evaluate(left)
    for item in page.locator("#legend .legend-item").all():
        item.evaluate("(one) => one.classList.remove('none')")
    assert page.evaluate(left) == before
    page.locator("#sentence").hover()
    until(page, "!plegscope.lineup.held")


def heads(page: Page) -> list[str]:
    """Names of the lanes in the document, from top to bottom, and what their containers are."""
    rows = page.locator("#labels li:not(.group)")
    texts = rows.evaluate_all(
        "(all) => all.map((li) => (li.className.includes('part') ? '  ' : '')"
        " + (li.querySelector('a, .part-name').lastChild?.textContent ?? ''))"
    )
    return [str(text) for text in texts]


def test_a_pod_folds_out_by_pointer_and_by_key(page: Page) -> None:
    """Beside its name, with the arrow keys on it, and all at once."""
    page.evaluate("plegscope.setFilter('prometheus')")
    fold = page.locator("#labels .fold")
    expect(fold).to_have_count(1)
    expect(fold).to_have_accessible_name(re.compile(r"^2.containers of prometheus-0$"))
    expect(fold).to_have_attribute("aria-expanded", "false")
    fold.click()
    parts = page.locator("#labels li.part")
    expect(parts).to_have_count(2)
    expect(parts.filter(has_text="reloader")).to_contain_text("running")
    expect(page.locator("#cursor-says")).to_contain_text("2 containers of prometheus-0: ")
    expect(page).to_have_url(re.compile(r"open=\w+%2Fprometheus-0"))
    # The list is drawn of it, too: a line for each.
    until(page, "plegscope.timeline.list.lanes[3].filter((i) => i.k === 'run').length >= 3")
    page.reload()
    expect(parts).to_have_count(2)
    link = page.locator("#labels li.lane a")
    link.focus()
    page.keyboard.press("ArrowLeft")
    expect(parts).to_have_count(0)
    expect(link).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(parts).to_have_count(2)
    page.keyboard.press("c")
    expect(parts).to_have_count(0)
    page.keyboard.press("Shift+C")
    expect(parts).to_have_count(2)
    expect(page).to_have_url(re.compile(r"open=all"))


def test_pods_are_sorted_pinned_and_folded_away(page: Page, context: BrowserContext) -> None:
    """By keys and in the menu; told, kept in the address, and the table goes by the same."""
    page.locator("#sentence").click()
    page.keyboard.press("v")
    expect(page.locator("#cursor-says")).to_have_text("Pods by name.")
    # One that comes meanwhile stands at the end until it is sorted anew.
    first = page.evaluate(
        """() => {
          const { lineup, timeline } = plegscope;
          lineup.resort();
          timeline.invalidate();
          timeline.frame();
          return lineup.rows.map((row) => row.lane.label.split("-")[0]);
        }"""
    )
    assert len(set(first)) > 5
    assert first == sorted(first)
    # One that stays, and stands far from the top.
    last = "prometheus-0"
    until(page, f"plegscope.lineup.rows.findIndex((row) => row.lane.name === '{last}') > 5")
    page.evaluate(f"plegscope.setFilter('{last}')")
    row = page.locator("#labels li.lane")
    expect(row).to_have_count(1)
    row.hover()
    pin = row.locator(".pin-lane")
    expect(pin).to_have_accessible_name(f"Keep {last} on top")
    pin.click()
    expect(pin).to_have_attribute("aria-pressed", "true")
    expect(pin).to_be_focused()
    rest = page.locator("#labels .fold-row")
    expect(rest).to_contain_text("do not match")
    rest.get_by_role("button", name="Clear").click()
    until(page, f"plegscope.lineup.rows[0].lane?.name === '{last}'")
    page.evaluate("plegscope.pause(); plegscope.view.show(1e9, 1.001e9, 10e9)")
    page.keyboard.press("h")
    expect(page.locator("#lanes-chosen")).to_have_text("by name, 1 pinned, quiet folded")
    quiet = page.locator("#labels .fold-row")
    expect(quiet).to_contain_text(re.compile(r"\d+.pods are quiet"))
    expect(page).to_have_url(re.compile(r"sort=name&pin=.*&quiet=folded"))
    other = context.new_page()
    other.goto(page.url)
    until(other, f"plegscope.lineup.rows[0]?.lane?.name === '{last}'")
    until(other, "plegscope.lineup.quiet > 0")
    other.close()
    assert faults(page) == []
    keep(page, "lanes-quiet-1280")
    quiet.get_by_role("button", name="Show").click()
    expect(quiet).to_have_count(0)
    page.keyboard.press("t")
    page.locator("#all-records").check()
    until(
        page,
        "new Set([...document.querySelectorAll('#rows-body td.pod b')]"
        ".map((one) => one.textContent)).size > 2",
    )
    # Those that were pinned come first.
    expect(page.locator("#table th[aria-sort=other]")).to_have_text("Pod, by name")
    page.locator("#lanes-open").click()
    assert faults(page) == []
    page.locator("#unpin").click()
    expect(page.locator("#pinned")).to_be_hidden()
    page.locator("#sort").select_option("restarts")
    page.keyboard.press("Escape")
    expect(page.locator("#lanes-chosen")).to_have_text("by restarts")


def test_the_table_shows_the_same_records(page: Page) -> None:
    find(page)
    page.evaluate("plegscope.live()")
    page.keyboard.press("t")
    rows = page.locator("#rows-body tr")
    expect(rows.filter(has_text="ContainerDied").first).to_be_visible()
    seqs = [int(seq or 0) for seq in rows.evaluate_all("(all) => all.map((r) => r.dataset.seq)")]
    assert seqs == sorted(seqs, reverse=True)
    keep(page, "table-light-1280")
    page.locator("#all-records").check()
    expect(rows.filter(has_text="Global relist").first).to_be_visible()
    page.locator("#all-records").uncheck()
    # What came until then is above the row that has the focus; from then on the rows stand still.
    rows.first.focus()
    page.evaluate("plegscope.table.update()")
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#drawer")).to_be_visible()
    expect(page).to_have_url(re.compile(r"view=table.*select="))


def test_the_table_stands_still_under_the_pointer(page: Page) -> None:
    find(page)
    page.evaluate("plegscope.live()")
    page.keyboard.press("t")
    page.locator("#all-records").check()
    rows = page.locator("#rows-body tr")
    expect(rows.first).to_be_visible()
    rows.nth(2).hover()
    page.evaluate("plegscope.table.update()")
    top = rows.first.get_attribute("data-seq")
    button = page.locator("#table-new")
    expect(button).to_contain_text(re.compile(r"new record"))
    assert rows.first.get_attribute("data-seq") == top
    button.click()
    expect(rows.first).not_to_have_attribute("data-seq", top or "")


def test_the_legend_hides_what_it_names(page: Page) -> None:
    find(page, still=True)
    shown = "plegscope.timeline.list.lanes.flat().filter((item) => item.c === 'stop').length"
    until(page, f"{shown} > 0")
    stop = page.locator("#legend [data-kind=stop]")
    stop.click()
    expect(stop).to_have_attribute("aria-pressed", "false")
    until(page, f"{shown} === 0")
    expect(page).to_have_url(re.compile("hide=stop"))
    page.locator("#legend-open").click()
    lines = page.locator("#legend-all [data-kind]")
    expect(lines.first).to_be_visible()
    assert lines.count() == 20
    expect(lines.first).to_contain_text("The runtime said that a container stopped.")
    lines.first.click()
    expect(stop).to_have_attribute("aria-pressed", "true")


def test_a_pods_name_opens_its_story_beside_the_timeline(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("redis")
    link = page.locator("#labels li.lane a")
    expect(link).to_have_count(1)
    # What was typed stays; the next keys are keys again. Esc takes it back, and leaves too.
    page.keyboard.press("Enter")
    page.keyboard.press("t")
    expect(page.locator("#table")).to_be_visible()
    page.keyboard.press("t")
    expect(page.locator("#filter")).to_have_value("redis")
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.locator("#table")).to_be_visible()
    expect(page.locator("#filter")).to_have_value("")
    page.keyboard.press("t")
    page.keyboard.press("/")
    page.keyboard.type("redis")
    expect(link).to_have_count(1)
    link.click()
    panel = page.locator("#panel")
    expect(panel).to_contain_text("Containers, newest first")
    expect(page).not_to_have_url(re.compile("/pods/"))
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    page.locator("#watched").click()
    expect(panel).to_contain_text("Endpoint")
    page.locator("#panel-close").click()
    expect(panel).to_be_hidden()


def test_times_in_utc_or_here_with_the_zone_written(browser: Browser, server: Command) -> None:
    context = browser.new_context(timezone_id="Asia/Kolkata")
    page = context.new_page()
    page.goto(server.address())
    clock = page.locator("#clock")
    expect(clock).to_have_text(re.compile(r"\d\d:\d\d:\d\d UTC$"))
    page.keyboard.press("z")
    expect(clock).to_have_text(re.compile(r"\d\d:\d\d:\d\d UTC\+5:30$"))
    expect(page.locator("#zone")).to_have_text("UTC+5:30")
    context.close()


def test_the_colours_can_be_chosen_and_stay_chosen(page: Page) -> None:
    ground = "getComputedStyle(document.documentElement).getPropertyValue('--ground')"
    assert page.evaluate(ground) == "#FFFFFF"
    page.locator("#theme").click()
    assert page.evaluate(ground) == "#11141A"
    page.reload()
    assert page.evaluate(ground) == "#11141A"
    page.locator("#theme").click()
    page.locator("#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme ?? ''") == ""


def test_the_sheet_of_keys_and_turning_them_off(page: Page) -> None:
    page.keyboard.press("?")
    sheet = page.locator("#keys")
    expect(sheet).to_be_visible()
    expect(sheet).to_contain_text("timeline or table")
    # All of it is in sight; on a narrow screen it is read from its title on.
    expect(page.locator("#keys-on")).to_be_in_viewport()
    page.set_viewport_size({"width": 390, "height": 844})
    assert sheet.evaluate("(one) => [one.scrollTop, one.scrollHeight > one.clientHeight]") == [
        0,
        True,
    ]
    expect(page.locator("#keys-title")).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("#keys-on").uncheck()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.keyboard.press("t")
    expect(page.locator("#timeline")).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_it_fits_its_screen(browser: Browser, server: Command, width: int, scheme: Any) -> None:
    height = {390: 844, 1280: 800, 1920: 1080}[width]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        has_touch=width == 390,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(server.address())
    sentence = page.locator("#sentence")
    expect(sentence).to_contain_text("Healthy")
    find(page)
    page.evaluate("plegscope.live()")
    keep(page, f"node-{scheme}-{width}")
    fits(page)
    filter_box = page.locator("#filter")
    if width == 390:
        drawer = page.locator("#drawer")
        for tab in ("now", "table", "more", "timeline"):
            button = page.locator(f".tabs [data-tab={tab}]")
            button.tap()
            expect(button).to_have_attribute("aria-pressed", "true")
            fits(page)
            keep(page, f"node-{scheme}-390-{tab}")
            if tab == "now":
                # What is chosen there lies over all tabs, and leads back to this one.
                page.locator(".latest-item").first.tap()
                expect(drawer).to_be_visible()
                drawer.get_by_role("button", name="Close").tap()
                expect(page.locator(".latest-item").first).to_be_visible()
            if tab == "more":
                expect(filter_box).to_be_visible()
                assert page.locator("#legend-all [data-kind]").first.is_visible()
        until(page, NEWEST)
        expect(drawer).to_be_visible()
        box = "document.getElementById('drawer').getBoundingClientRect()"
        whole = "top === 0 && left === 0 && width === 390 && height === 844"
        until(page, f"(({{ top, left, width, height }}) => {whole})({box})")
        keep(page, f"node-{scheme}-390-detail")
        drawer.get_by_role("button", name="Close").tap()
        expect(drawer).to_be_hidden()
    else:
        expect(filter_box).to_be_in_viewport(ratio=1)
        page.evaluate("plegscope.zoomTo(300e9)")
        keep(page, f"node-{scheme}-{width}-5min")
        until(page, NEWEST)
        page.evaluate("plegscope.zoomTo(50e6)")
        expect(page.locator("#drawer")).to_be_visible()
        # What is selected stays in sight.
        until(
            page,
            "(([from, to], { t }) => from < t && t < to)"
            "(plegscope.view.window(plegscope.clock.now()), plegscope.timeline.chain.find)",
        )
        keep(page, f"node-{scheme}-{width}-50ms")
    context.close()


def test_first_picture_soon_and_not_heavy(browser: Browser, server: Command) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.address())
    expect(page.locator("#sentence")).to_contain_text("Healthy")
    sizes = page.evaluate(
        """["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
          .map((entry) => [entry.name, entry.transferSize])"""
    )
    total = sum(size for _, size in sizes)
    print(f"page weight {total} bytes in {len(sizes)} requests")
    assert len(sizes) > 10
    assert total <= PAGE_BYTES, sorted(sizes, key=lambda each: -each[1])[:8]
    context.close()


def test_without_scripts_the_documents_are_plain_links(browser: Browser, server: Command) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.address())
    expect(page.locator(".noscript")).to_be_visible()
    page.locator(".noscript").get_by_role("link", name="The pods").click()
    page.locator("tbody a").first.click()
    expect(page.locator("h1")).not_to_be_empty()
    expect(page.locator("article")).to_contain_text("Containers, newest first")
    page.goto(f"{server.address()}nothing-here")
    expect(page.locator("h1")).to_have_text("There is no such page here.")
    for path in ("help", "about", "pods"):
        page.goto(server.address() + path)
        expect(page.locator("article")).to_be_visible()
        keep(page, f"document-{path}")
    context.close()


@pytest.mark.parametrize("profile", ["legacy", "polling"])
def test_another_profile_is_named_and_shows_its_own_marks(browser: Browser, profile: str) -> None:
    mark = {"legacy": "died-event", "polling": "died-poll"}[profile]
    words = {"legacy": "told by an event that was believed", "polling": "only by the global relist"}
    with demo("--profile", profile) as server:
        context = browser.new_context(
            viewport={"width": 1280, "height": 800}, color_scheme="dark", reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(server.address())
        expect(page.locator("#profile")).to_have_text(f"profile {profile}")
        expect(page.locator("#counts")).to_contain_text(words[profile])
        until(page, f"plegscope.timeline.list.lanes.flat().some((one) => one.c === '{mark}')")
        keep(page, f"node-profile-{profile}")
        page.locator("#profile").click()
        expect(page.locator("#panel")).to_contain_text("The profile in force")
        keep(page, f"node-profile-{profile}-about")
        context.close()
