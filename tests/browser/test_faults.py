"""Faults, live, from the page of the demo: pressed by hand and by key, seen, lifted, healed.

The node is a real simulated one over gRPC; the page is a real Chromium's. Each test heals the node
before it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import PATIENCE_MS, heard, keep, listen, until
from tests.browser.test_accessibility import faults
from tests.commands import Command, demo
from tests.commands import until as until_found

FAST = "4"
LONG = "10m"
"""Whatever is pressed is still at work when it is looked at, and healed after it."""
#: What happens once and does not last.
ONCE = ("kill-container", "oom-kill", "delete-pod", "storm")


@pytest.fixture(scope="module")
def server() -> Iterator[Command]:
    with demo() as command:
        command.address()
        yield command


class Desk:
    """The faults' API, from beside the page."""

    def __init__(self, address: str) -> None:
        self.url = address.rstrip("/")
        self.client = httpx.Client(
            base_url=self.url, headers={"Origin": self.url}, trust_env=False, timeout=60
        )

    def heal(self) -> None:
        assert self.client.post("/api/v1/faults/heal").status_code == 200

    def press(self, name: str, target: str = "", lasts: str = LONG) -> None:
        order = {"name": name, "target": target, "for": lasts}
        answer = self.client.post("/api/v1/faults", json=order)
        assert answer.status_code == 200, answer.text

    def report(self) -> Any:
        return self.client.get("/api/v1/faults").json()

    def notes(self) -> list[str]:
        """What the timeline was told, newest last."""
        page = self.client.get("/api/v1/records", params={"kind": "note", "limit": 10_000}).json()
        return [one["text"] for one in page["records"]]

    def told(self, words: str) -> None:
        """The timeline is told this, or has been."""
        until_found(lambda: any(one.startswith(words) for one in self.notes()), words)

    def quiet_pod(self) -> str:
        """A pod that lives on by itself."""
        pods: list[str] = self.report()["pods"]
        return next(one for one in pods if one.startswith("monitoring/grafana"))


@pytest.fixture
def desk(server: Command) -> Iterator[Desk]:
    desk = Desk(server.address())
    with desk.client:
        desk.heal()
        yield desk


HEALED = re.compile("true|false")


def opened(browser: Browser, url: str, wrong: list[str], **options: Any) -> Page:
    options.setdefault("viewport", {"width": 1440, "height": 900})
    page = browser.new_page(reduced_motion="reduce", **options)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        lambda message: wrong.append(message.text) if message.type == "error" else None,
    )
    page.goto(url)
    expect(page.locator("#sentence")).not_to_contain_text("Starting")
    # What is at work already is no news to it.
    expect(page.locator("#faults-working .heal")).to_have_attribute("aria-disabled", HEALED)
    return page


@pytest.fixture
def wrong() -> list[str]:
    """What went wrong in the page."""
    return []


@pytest.fixture
def page(browser: Browser, desk: Desk, wrong: list[str]) -> Iterator[Page]:
    page = opened(browser, desk.url, wrong)
    yield page
    page.close()
    assert wrong == []


def palette(page: Page) -> None:
    """Open it by its key."""
    page.keyboard.press("f")
    expect(page.locator("#palette")).to_be_visible()


def lasting(page: Page, form: str, lasts: str = LONG) -> None:
    """What this form presses is at work for so long; by itself some of it is over in seconds."""
    page.evaluate(
        """([form, lasts]) => {
          document.querySelector(`${form} [name=for]`)?.remove();
          if (!lasts) return;
          const field = document.createElement("input");
          Object.assign(field, { type: "hidden", name: "for", value: lasts });
          document.querySelector(form).append(field);
        }""",
        [form, lasts],
    )


def press(page: Page, name: str) -> None:
    """Press it, and wait for what is said of it."""
    lasting(page, "#palette", "" if name in ONCE else LONG)
    button = page.locator(f'#palette [value="{name}"]')
    words = button.locator("span").first.inner_text()
    button.click()
    expect(page.locator("#palette-said .said-line")).to_contain_text(words)


# ------------------------------------------------------------------------- each group, its effect

EFFECTS = [
    ("break-stream", "#sentence", re.compile("Reconnecting")),
    ("freeze-runtime", "#sentence", re.compile("hung|hang", re.IGNORECASE)),
    ("restart-runtime", "#sentence", re.compile("Reconnecting|fail|Runtime", re.IGNORECASE)),
    ("hang-lists", "#sentence", re.compile("hung|hang", re.IGNORECASE)),
    ("slow-lists", "#sentence", re.compile("slow", re.IGNORECASE)),
]


@pytest.mark.parametrize(("name", "where", "words"), EFFECTS, ids=lambda one: str(one)[:20])
def test_a_fault_is_seen_and_the_page_is_well_again_after_healing(
    page: Page, desk: Desk, name: str, where: str, words: re.Pattern[str]
) -> None:
    palette(page)
    press(page, name)
    expect(page.locator(f'#palette [value="{name}"]')).to_have_attribute("data-on", "")
    expect(page.locator(f'#palette [data-name="{name}"] .left')).to_have_text(
        re.compile(r"at work, \d+\s")
    )
    expect(page.locator(where)).to_contain_text(words)
    page.locator("#palette .heal").click()
    expect(page.locator("#palette-said")).to_contain_text("Back to normal.")
    expect(page.locator("#faults-working")).to_be_hidden()
    expect(page.locator(f'#palette [value="{name}"]')).not_to_have_attribute("data-on", "")
    expect(page.locator("#sentence")).to_contain_text("Healthy", timeout=2 * PATIENCE_MS)
    assert desk.report()["at_work"] == []


def test_an_event_that_is_lost_is_found_by_the_poll(page: Page, desk: Desk) -> None:
    pod = desk.quiet_pod()
    palette(page)
    page.locator("#palette-target").select_option(pod)
    press(page, "lose-stops")
    expect(page.locator("#palette-working")).to_contain_text(pod)
    press(page, "kill-container")
    expect(page.locator("#palette-said")).to_contain_text(f"Kill a container ({pod}).")
    page.locator("#show-table").click()
    page.locator("#filter").fill(pod.partition("/")[2])
    row = page.locator("#rows-body tr", has_text="ContainerDied").filter(has_text="137").first
    expect(row).to_contain_text("poll")
    page.locator("#palette .heal").click()
    expect(page.locator("#faults-working")).to_be_hidden()


def test_a_container_that_is_killed_is_found_dead(page: Page, desk: Desk) -> None:
    pod = next(one for one in desk.report()["pods"] if one.startswith("monitoring/prometheus"))
    palette(page)
    page.locator("#palette-target").select_option(pod)
    press(page, "oom-kill")
    page.locator("#show-table").click()
    page.locator("#filter").fill("prometheus")
    row = page.locator("#rows-body tr", has_text="ContainerDied").filter(has_text="137").first
    expect(row).to_contain_text("out of memory")


def test_a_storm_is_seen_and_a_stalled_sync_loop_leaves_the_dead_alone(
    page: Page, desk: Desk
) -> None:
    palette(page)
    press(page, "stall-sync-loop")
    press(page, "storm")
    expect(page.locator("#counts")).to_contain_text(re.compile(r"\d\d\scontainers stopped"))
    desk.heal()
    expect(page.locator("#faults-working")).to_be_hidden()
    desk.told("Fault begins: Termination storm")
    desk.told("Fault is over: Stall the sync loop.")


def test_short_lives_come_and_go(page: Page, desk: Desk) -> None:
    palette(page)
    press(page, "short-lived")
    page.locator("#filter").fill("blink")
    expect(page.locator("#labels")).to_contain_text("blink")
    desk.heal()


def test_a_pod_that_must_be_chosen_is_asked_for(page: Page, wrong: list[str]) -> None:
    palette(page)
    press(page, "delete-pod")
    said = page.locator("#palette-said .wrong")
    expect(said).to_have_text("Delete the pod is about one pod. Choose a pod.")
    # It is chosen next, and then what was to be pressed is at hand.
    choice = page.locator("#palette-target")
    expect(choice).to_be_focused()
    expect(choice).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator('#palette [value="delete-pod"]')).to_be_focused()
    # The browser itself tells of an answer that refuses.
    assert all("422" in one for one in wrong)
    wrong.clear()


# --------------------------------------------------------------------- the row, keys, and the ear


def test_the_row_presses_shows_what_is_at_work_and_lifts(page: Page, desk: Desk) -> None:
    lasting(page, ".faults-quick", "59s")
    page.locator('.faults-quick [value="lose-stops"]').click()
    chip = page.locator("#faults-list li")
    expect(chip).to_contain_text("Lose stop events")
    expect(chip.locator(".left")).to_have_text(re.compile(r"^\d+\ss$"))
    expect(page.locator('.faults-quick [value="lose-stops"]')).to_have_attribute("data-on", "")
    # The timeline has a row for it, named, as long as it is in view.
    expect(page.locator("#head-faults")).to_be_visible()
    drawn = (
        "plegscope.timeline.list.rows.flat().filter((i) => i.k === 'fault' && i.x2 === Infinity)"
    )
    until(page, f"{drawn}.length === 1")
    page.get_by_role("button", name="Lift: Lose stop events").click()
    expect(page.locator("#faults-working")).to_be_hidden()
    assert desk.report()["at_work"] == []


def test_time_that_is_left_runs_down_and_the_fault_is_over_by_itself(
    page: Page, desk: Desk
) -> None:
    page.locator("#show-table").click()
    page.locator("#all-records").check()
    # Each second is there for one only: all that is written is kept.
    listen(page, "#faults-list")
    desk.press("delay-stream", lasts="6s")
    note = page.locator("#rows-body tr", has_text="Fault begins: Delay events")
    expect(note).to_have_count(1)
    heard(page, "#faults-list", "Delay events")
    expect(page.locator("#faults-working")).to_be_hidden()
    texts = page.evaluate("window.heard['#faults-list']")
    left = [int(second) for text in texts for second in re.findall(r"(\d+) s", text)]
    assert left == sorted(left, reverse=True)
    assert left[0] > left[-1]
    assert left[-1] <= 3
    desk.told("Fault is over: Delay events.")


def test_all_of_it_by_keyboard(page: Page, desk: Desk) -> None:
    page.keyboard.press("f")
    first = page.locator("#palette .fault-button").first
    find = page.get_by_role("searchbox", name="Find a fault")
    expect(find).to_be_focused()
    # Nothing is pressed that was not chosen: Enter goes there, Enter there presses.
    page.keyboard.press("Enter")
    expect(find).to_be_focused()
    page.keyboard.type("Break")
    expect(page.locator("#palette .finder")).to_contain_text("Enter goes to “Break the stream”")
    expect(page.locator("#palette .fault:visible")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator('#palette [value="break-stream"]')).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(find).to_be_focused()
    page.keyboard.type(" nothing")
    expect(page.locator("#palette .finder")).to_contain_text("No fault is called “Break nothing”.")
    page.keyboard.press("Escape")
    expect(find).to_have_value("")
    assert desk.report()["at_work"] == []
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(page.locator('#palette [value="break-stream"]')).to_be_focused()
    page.keyboard.press("End")
    expect(page.locator("#palette .fault-button").last).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#palette .fault-button").last).to_be_focused()
    page.keyboard.press("Home")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowDown")
    lasting(page, "#palette")
    page.keyboard.press("Enter")
    expect(page.locator("#faults-list")).to_contain_text("End the stream")
    expect(page.locator('#palette [value="end-stream"]')).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    lift = page.locator("#palette-working").get_by_role("button", name="Lift: End the stream")
    expect(lift).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#faults-working")).to_be_hidden()
    # What had the focus is gone: it goes to the palette, not to the top of the page.
    expect(first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#faults-open")).to_be_focused()
    assert desk.report()["at_work"] == []


def test_the_key_is_in_the_sheet_and_closes_the_palette_too(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.locator("#keys-list")).to_contain_text("press a fault")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    palette(page)
    page.keyboard.press("ArrowDown")
    # Another document in the panel is read from its beginning, wherever this one was.
    page.locator("#panel").evaluate("(one) => { one.scrollTop = 600; }")
    page.locator(".now-open").click()
    expect(page.locator("#panel #now")).to_be_visible()
    until(page, "document.getElementById('panel').scrollTop === 0")
    page.keyboard.press("f")
    expect(page.locator("#palette .finder input")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("f")
    expect(page.locator("#panel")).to_be_hidden()


def test_what_begins_and_ends_is_spoken(page: Page, desk: Desk) -> None:
    spoken = page.locator("#faults-spoken")
    assert spoken.get_attribute("aria-live") == "polite"
    listen(page, "#faults-spoken")
    desk.press("double-events")
    heard(page, "#faults-spoken", "Fault begins: Double events.")
    desk.heal()
    heard(page, "#faults-spoken", "Fault is over: Double events.")


def test_two_pages_see_the_same(browser: Browser, page: Page, desk: Desk, wrong: list[str]) -> None:
    other = opened(browser, desk.url, wrong)
    lasting(page, ".faults-quick")
    page.locator('.faults-quick [value="slow-lists"]').click()
    expect(other.locator("#faults-list")).to_contain_text("Slow lists")
    other.locator("#faults-working .heal").click()
    expect(page.locator("#faults-working")).to_be_hidden()
    other.close()


# ------------------------------------------------------------------------- small, plain, for all


def test_narrow_the_palette_is_a_page_of_its_own(
    browser: Browser, desk: Desk, wrong: list[str]
) -> None:
    page = opened(browser, desk.url, wrong, viewport={"width": 390, "height": 844})
    expect(page.locator(".faults-quick")).to_be_hidden()
    page.locator('.tabs [data-tab="more"]').click()
    page.locator(".more").get_by_role("link", name="Press a fault").click()
    expect(page.locator("#palette")).to_be_visible()
    lasting(page, "#palette", "59s")
    page.locator('[value="break-stream"]').click()
    expect(page.locator("#palette-said")).to_have_text("Pressed: Break the stream.")
    lift = page.get_by_role("button", name="Lift: Break the stream")
    expect(lift).to_be_visible()
    box = lift.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    # What is left of it runs down here, too.
    left = page.locator("#palette-working .left")
    before = left.inner_text()
    expect(left).not_to_have_text(before)
    # What others do is seen here as well.
    desk.press("slow-lists")
    expect(page.locator("#palette-working")).to_contain_text("Slow lists")
    newest = desk.report()["at_work"][-1]
    assert newest["name"] == "slow-lists"
    desk.client.delete(f"/api/v1/faults/{newest['number']}")
    expect(page.locator("#palette-working")).not_to_contain_text("Slow lists")
    widest = """Math.max(...[...document.querySelectorAll("main *")]
      .map((one) => one.getBoundingClientRect().right))"""
    until(page, f"{widest} <= 390")
    desk.press("break-stream")
    page.goto(desk.url)
    expect(page.locator("#faults-list")).to_contain_text("Break the stream")
    page.locator("#faults-working .heal").click()
    expect(page.locator("#faults-working")).to_be_hidden()
    page.close()
    assert wrong == []


def test_without_scripts(browser: Browser, desk: Desk) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"{desk.url}/faults")
    page.locator("#palette-target").select_option(desk.quiet_pod())
    lasting(page, "#palette")
    page.locator('[value="lose-events"]').click()
    expect(page.locator("#palette-said")).to_have_text("Pressed: Lose events.")
    expect(page.locator("#palette-working")).to_contain_text(desk.quiet_pod())
    page.locator('[name="lift"]').click()
    expect(page.locator("#palette-working")).to_contain_text("Nothing.")
    page.locator('[value="kill-container"]').first.click()
    expect(page.locator("#palette-said")).to_have_text("Pressed: Kill a container.")
    page.goto(f"{desk.url}/faults")
    page.locator('[value="kill-container"]').click()
    expect(page.locator("#palette-said")).to_contain_text("Choose a pod.")
    expect(page.locator("#palette-target")).to_be_focused()
    page.close()


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("width", [1440, 1280, 390])
def test_axe_finds_nothing(
    browser: Browser, desk: Desk, wrong: list[str], scheme: Any, width: int
) -> None:
    desk.press("lose-events", desk.quiet_pod())
    desk.press("slow-inspection", desk.quiet_pod())
    size = {"width": width, "height": 844}
    page = opened(browser, desk.url, wrong, viewport=size, color_scheme=scheme)
    expect(page.locator("#faults-list li")).to_have_count(2)
    if width > 700:
        palette(page)
        press(page, "kill-container")
        wrong.clear()
    assert faults(page) == []
    keep(page, f"faults-{scheme}-{width}")
    page.goto(f"{desk.url}/faults")
    assert faults(page) == []
    page.close()
    assert wrong == []


# ---------------------------------------------------------------------------------------- its speed


@pytest.fixture
def fast(browser: Browser, wrong: list[str]) -> Iterator[Page]:
    """The page of a node that lives faster."""
    with demo("--speed", FAST) as command:
        page = opened(browser, command.address(), wrong)
        yield page
        page.close()
    assert wrong == []


def test_the_page_keeps_up_with_a_fast_node(fast: Page) -> None:
    """The page's clock goes as fast as the node's, between messages and not only with them."""
    page = fast
    palette(page)
    press(page, "refuse-stream")
    expect(page.locator("#sentence")).to_contain_text("Polling only")
    page.locator("#palette .heal").click()
    # After Unimplemented a minute passes until the next try.
    expect(page.locator("#sentence")).to_contain_text("Healthy", timeout=2 * PATIENCE_MS)
    expect(page.locator("#speed")).to_contain_text(f"×{FAST}")
    expect(page.locator(".foot-speed")).to_contain_text(f"look {FAST} times as long")
    # A busy machine may read one time later than the other, and often: not always.
    until(
        page,
        f"""await (async () => {{
          const {{ clock }} = plegscope;
          const [at, now] = [performance.now(), clock.now()];
          await new Promise((done) => setTimeout(done, 1000));
          return Math.abs((clock.now() - now) / 1e6 / (performance.now() - at) / {FAST} - 1) < 0.15;
        }})()""",
    )
    ahead = "plegscope.clock.now() - plegscope.store.state.engine.t"
    until(page, f"-0.5e9 < ({ahead}) && ({ahead}) < 6e9")
