"""A pod's story and a chain's records in a real browser: behind their mark, copied, linked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import fits, keep, resize, until
from tests.browser.test_accessibility import faults
from tests.browser.test_node_page import find
from tests.commands import Command, demo


@pytest.fixture(scope="module")
def server() -> Iterator[Command]:
    with demo() as command:
        command.address()
        yield command


@pytest.fixture(params=[1280, 390])
def page(request: pytest.FixtureRequest, browser: Browser, server: Command) -> Iterator[Page]:
    """The node page with a death selected, and its UID on the page's window."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.goto(server.address())
    expect(opened.locator("#sentence")).to_contain_text("Healthy")
    found = find(opened)
    opened.evaluate("(found) => { window.found = found; plegscope.select(found.seq); }", found)
    resize(opened, request.param, 844)
    yield opened
    context.close()


def clipboard(page: Page) -> str:
    text = page.evaluate("navigator.clipboard.readText()")
    assert isinstance(text, str)
    return text


def test_a_chain_has_its_raw_records_behind_a_mark(page: Page) -> None:
    raw = page.locator("#drawer .raw")
    expect(raw.locator("pre").first).to_be_hidden()
    raw.locator("summary").click()
    expect(raw.locator("pre").first).to_contain_text('"kind"')
    assert faults(page) == []
    # There and back, once there is a stop after this one.
    until(page, "plegscope.stepFinding(1), plegscope.selected !== found.seq")
    page.keyboard.press("[")
    until(page, "plegscope.selected === found.seq")
    page.keyboard.press("]")
    until(page, "plegscope.selected !== found.seq")
    page.keyboard.press("[")
    until(page, "plegscope.selected === found.seq")
    expect(raw.locator("pre").first).to_be_visible()
    expect(page.locator("#drawer .chain")).to_contain_text("it carried exit")
    # Times of day, here, and then since this very mark; the zone is written with them.
    when = page.locator("#drawer .chain .mono")
    expect(when.last).to_have_text(re.compile(r"\d\d:\d\d:\d\d"))
    page.keyboard.press("z")
    page.keyboard.press("z")
    expect(when.first).to_have_text(re.compile(r"^[−+]\d\.\d{4}\ss$"))
    expect(page.locator("#zone")).to_have_text("since the mark")
    expect(page).to_have_url(re.compile("zone=since"))
    page.keyboard.press("Escape")
    expect(page.locator("#zone")).to_have_text("UTC")


def test_a_pods_story_can_be_read_copied_and_linked(page: Page, server: Command) -> None:
    uid = page.evaluate("found.uid")
    page.goto(f"{server.address()}pods/{uid}")
    story = page.locator(".story li").first
    story.locator(".raw summary").first.click()
    expect(story.locator(".raw pre").first).to_contain_text('"kind"')
    # And what the runtime said then, from what has been recorded of it.
    said = story.locator(".raw").last
    said.locator("summary").click()
    expect(said.locator("pre").first).to_contain_text('"id"')
    # The newest of it is about a container, or about the sandbox that ended after it.
    expect(said).to_contain_text(re.compile("ListContainers|ListPodSandbox"))
    said.get_by_text("Copy", exact=True).first.click()
    expect(said.locator("[data-copied]")).to_have_text("Copied.")
    assert isinstance(json.loads(clipboard(page)), dict)
    assert faults(page) == []
    fits(page)
    width = page.evaluate("innerWidth")
    keep(page, f"pod-story-{width}", whole=True)
    page.get_by_text("Copy link", exact=True).click()
    expect(page.locator(".pod-acts [data-copied]")).to_have_text("Copied.")
    assert clipboard(page) == f"{server.address()}pods/{uid}"
    page.get_by_text("Copy as JSON", exact=True).click()
    expect(page.locator(".pod-acts [data-copied]")).to_have_text("Copied.")
    records = json.loads(clipboard(page))["records"]
    assert {record["uid"] for record in records} == {uid}


def test_an_event_of_the_story_leads_to_the_timeline(page: Page, server: Command) -> None:
    page.goto(f"{server.address()}pods/{page.evaluate('found.uid')}")
    page.locator(".story a.mono").first.click()
    expect(page.locator("#drawer .verdict")).to_be_visible()
