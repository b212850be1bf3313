"""The first minute in a real browser: the panel by its key, the page by itself, what is saved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from app.engine.records import AnyRecord
from app.recording.reading import Recording, Told
from tests.browser.chromium import fits, heard, keep, listen
from tests.browser.test_accessibility import faults
from tests.commands import Command, demo, get, until

SIZES = {1280: 800, 390: 844}


@pytest.fixture(scope="module")
def server() -> Iterator[Command]:
    """A demo in which a container has ended."""
    with demo() as command:
        address = command.address()
        until(lambda: _deaths(address), "a container that ended")
        yield command


def _deaths(address: str) -> bool:
    asked = f"{address}api/v1/records?kind=lifecycle&limit=10000"
    records = get(asked).json()["records"]
    return any(
        one["type"] == "ContainerDied" and not one["baseline"] and not one["is_sandbox"]
        for one in records
    )


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page with nothing to complain of at the end."""
    complaints: list[str] = []
    opened = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    yield opened
    opened.close()
    assert complaints == []


def opened(page: Page, server: Command) -> Page:
    page.goto(server.address())
    expect(page.locator("#sentence")).to_contain_text("Healthy")
    return page


def test_one_key_opens_the_panel_and_closes_it(page: Page, server: Command) -> None:
    opened(page, server).keyboard.press("o")
    expect(page.locator("#panel #now h1")).to_have_text("Now")
    expect(page.locator("#panel-close")).to_be_focused()
    expect(page.locator(".now-verdict")).to_contain_text("Healthy.")
    expect(page.locator(".now-deaths li").first).to_be_visible()
    expect(page.locator(".now-command")).to_have_text(re.compile("^plegscope demo"))
    expect(page.locator(".now-table tbody tr").nth(5)).to_be_attached()
    assert faults(page) == []
    keep(page, "now-panel-1280")
    page.keyboard.press("o")
    expect(page.locator("#panel")).to_be_hidden()


def test_the_keys_are_in_the_sheet(page: Page, server: Command) -> None:
    opened(page, server).keyboard.press("?")
    expect(page.locator("#keys-list")).to_contain_text("save the last 5 minutes")
    expect(page.locator("#keys-list")).to_contain_text("what just ended")


def test_the_panel_comes_up_to_date_under_a_focus_that_stays(page: Page, server: Command) -> None:
    opened(page, server).locator(".now-open").click()
    command = page.locator(".now-save a").first
    command.focus()
    before = page.locator(".now-verdict").inner_text()
    expect(page.locator(".now-verdict")).not_to_have_text(before)
    expect(page.locator(".now-save a").first).to_be_focused()
    expect(page.locator("#panel #now")).to_have_count(1)


def test_one_key_saves_a_recording_of_the_last_minutes(
    page: Page, server: Command, tmp_path: Path
) -> None:
    opened(page, server)
    listen(page, "#spoken")
    with page.expect_download() as download:
        page.keyboard.press("s")
    heard(page, "#spoken", "Saving the last 5 minutes")
    assert download.value.suggested_filename.endswith(".mcap")
    path = tmp_path / "saved.mcap"
    download.value.save_as(path)
    with Recording(path) as recording:
        told = [item.record for item in recording.items() if isinstance(item, Told)]
    assert recording.finished
    assert not recording.damaged
    assert len(told) > 50


def test_another_saves_json_lines(page: Page, server: Command, tmp_path: Path) -> None:
    opened(page, server)
    with page.expect_download() as download:
        page.keyboard.press("Shift+S")
    path = tmp_path / "saved.jsonl"
    download.value.save_as(path)
    records = [msgspec.json.decode(line, type=AnyRecord) for line in path.read_bytes().splitlines()]
    assert len(records) > 50


def test_a_death_leads_to_its_chain_and_its_pods_story(page: Page, server: Command) -> None:
    opened(page, server).keyboard.press("o")
    page.locator(".now-deaths p a").first.click()
    expect(page.locator("#panel article.pod h1")).to_be_visible()
    page.keyboard.press("o")
    page.locator(".now-deaths .exit-code").first.click()
    expect(page.locator("#drawer .verdict")).to_contain_text("Found")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_the_page_shuts_nobody_out(
    browser: Browser, server: Command, width: int, scheme: str
) -> None:
    size = {"width": width, "height": SIZES[width]}
    page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(f"{server.address()}now")
    expect(page.locator(".now-table tbody tr").first).to_be_attached()
    fits(page)
    assert faults(page) == []
    keep(page, f"now-page-{width}-{scheme}", whole=True)
    page.close()
