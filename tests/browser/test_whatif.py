"""A recording asked again in a real browser: with and without scripts, and under axe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.chromium import fits, keep, resize, until
from tests.browser.test_accessibility import faults
from tests.browser.test_run import watched
from tests.commands import Command, command
from tests.recording.recorded import record_scenario

Look = tuple[int, int, Literal["light", "dark"]]
WIDE: Look = (1280, 800, "light")
LARGE: Look = (1920, 1000, "dark")
NARROW: Look = (390, 844, "dark")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    yield from watched(browser)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    path: Path = tmp_path_factory.mktemp("whatif") / "loop.mcap"
    record_scenario(path, "crash-loop", seconds=60)
    with command("replay", str(path), "--port", "0", "--no-browser") as running:
        running.address()
        yield running


def looked_at(page: Page, name: str, *looks: Look) -> None:
    """Under axe, and kept as pictures."""
    for width, height, colours in looks:
        resize(page, width, height)
        page.emulate_media(color_scheme=colours)
        keep(page, f"whatif-{name}-{width}-{colours}")
        fits(page)
        assert faults(page) == []
    resize(page, 1280, 800)
    page.emulate_media(color_scheme="light")


def test_from_the_list_to_the_answer_and_into_the_player(page: Page, server: Command) -> None:
    held: list[Route] = []
    holds = [True]

    def pause(route: Route) -> None:
        """Polls wait while the page is looked at."""
        if holds[0] and "hx-request" in route.request.headers:
            held.append(route)
        else:
            route.continue_()

    page.route("**/recordings/whatif?*", pause)
    page.goto(f"{server.address()}recordings")
    page.get_by_role("link", name="What if: run loop.mcap again").click()
    looked_at(page, "form", NARROW)
    expect(page.get_by_label("of them lost")).to_be_hidden()
    page.get_by_label("Stream").select_option("lost")
    expect(page.get_by_label("of them lost")).to_be_visible()
    page.get_by_label("Stream").select_option("recorded")
    page.get_by_label("Profile").select_option("polling")
    page.get_by_label("Period").fill("5s")
    page.get_by_role("button", name="Run it again").click()
    expect(page.locator("#answer")).to_have_attribute("data-state", "going")
    asked = parse_qs(urlsplit(page.url).query)
    assert (asked["file"], asked["profile"], asked["period"]) == (
        ["loop.mcap"],
        ["polling"],
        ["5s"],
    )
    looked_at(page, "going", WIDE)
    holds[0] = False
    for route in held:
        route.continue_()
    expect(page.locator("#answer")).to_have_attribute("data-state", "told")
    # It is said, and who had the focus on what is gone finds it on the answer.
    until(page, "document.getElementById('whatif-says').textContent.includes('polling, every 5')")
    for summary in page.get_by_text("As a table").all():
        summary.click()
    looked_at(page, "told", LARGE, NARROW, WIDE)
    expect(page.get_by_label("Period")).to_have_value("5s")
    page.get_by_role("link", name="in order of time").click()
    # The answer of before was told, too: this is the one in that order.
    expect(page.locator(".whatif-sorts [aria-current]")).to_have_text("in order of time")
    expect(page.locator("#answer")).to_have_attribute("data-state", "told")
    first = page.locator(".whatif-rows tbody a").first
    at = parse_qs(urlsplit(first.get_attribute("href") or "").query)["t"][0]
    first.click()
    expect(page.locator("#player-what")).to_contain_text("Record")
    # What the link leads to may still be read.
    until(page, f"Math.abs(player.t - {float(at.rstrip('s')) * 1e9}) <= 1e6")
    page.locator("#whatif-open").click()
    expect(page.locator("#answer")).to_have_attribute("data-state", "idle")


def test_without_scripts_the_page_loads_itself_until_it_is_told(
    browser: Browser, server: Command
) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server.address()}recordings/whatif?profile=generic&period=zz")
        expect(page.get_by_role("alert")).to_contain_text("'zz' is no duration")
        page.get_by_label("Period").fill("3s")
        page.get_by_role("button", name="Run it again").click()
        told = page.locator("#answer[data-state=told]")
        expect(told).to_be_visible()
        expect(told).to_contain_text("generic, every 3 s")
