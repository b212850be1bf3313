"""Real Chromium on real containerd: a container is killed, and the page shows how it was found."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Playwright, expect

from tests.browser.chromium import chromium, keep
from tests.commands import Command, command
from tests.lab.containerd import Containerd
from tests.lab.pods import Pods

MOST_KILLS = 5


@pytest.fixture(scope="module")
def watch(containerd2: Containerd) -> Iterator[Command]:
    """``plegscope watch`` with its dashboard on a real containerd."""
    containerd2.recover()
    with command(
        "watch", "--port", "0", "--no-browser", "--runtime-endpoint", containerd2.endpoint
    ) as running:
        running.address()
        yield running


def opened(browser: Browser, watch: Command, faults: list[str]) -> Page:
    page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="dark")
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console",
        lambda message: faults.append(message.text) if message.type == "error" else None,
    )
    page.goto(watch.address())
    expect(page.locator("#sentence")).to_contain_text("Healthy.")
    return page


def killed(page: Page, pods: Pods) -> Locator:
    """The row of a kill that a hint told of: a global relist that has just begun may be quicker."""
    for number in range(MOST_KILLS):
        pod = pods.run(f"victim-{number}")
        page.locator("#filter").fill(f"victim-{number}")
        started = page.locator("#rows-body tr", has_text="ContainerStarted").filter(has_text="c0")
        expect(started).to_have_count(1)
        pods.kill(pod)
        row = page.locator("#rows-body tr", has_text="ContainerDied").filter(has_text="137")
        expect(row).to_have_count(1)
        if "hint" in row.inner_text():
            return row
    raise AssertionError("no kill was found by a hint")


def test_the_page_shows_the_whole_chain_of_a_kill(
    browser: Browser, watch: Command, pods2: Pods
) -> None:
    faults: list[str] = []
    page = opened(browser, watch, faults)
    assert "token" not in page.url
    expect(page.locator("#watched")).to_contain_text("containerd 2")
    page.locator("#show-table").click()
    row = killed(page, pods2)
    expect(row).to_contain_text(re.compile(r"\d\sms"))
    row.click()
    drawer = page.locator("#drawer")
    expect(drawer).to_contain_text(re.compile(r"Found by a hint, .* after the stop event"))
    for hop in ("Stop event received", "Relist asked for", "Targeted relist", "ContainerDied"):
        expect(drawer).to_contain_text(hop)
    expect(drawer).to_contain_text("SIGKILL")
    page.locator("#show-timeline").click()
    expect(page.locator("#plot")).to_be_visible()
    assert keep(page, "real-containerd-chain").stat().st_size > 20_000
    assert faults == []
    page.close()


def test_two_viewers_one_frozen_the_other_goes_on(
    driver: Playwright, browser: Browser, watch: Command, pods2: Pods
) -> None:
    """The frozen one runs nothing and reads nothing: its page's main thread is stopped."""
    faults: list[str] = []
    with chromium(driver) as other:
        frozen = opened(other, watch, faults)
        session = frozen.context.new_cdp_session(frozen)
        session.send("Debugger.enable")
        session.send("Debugger.pause")
        page = opened(browser, watch, faults)
        page.locator("#show-table").click()
        page.locator("#filter").fill("again")
        pod = pods2.run("again")
        pods2.kill(pod)
        expect(
            page.locator("#rows-body tr", has_text="ContainerDied").filter(has_text="137")
        ).to_have_count(1)
        assert faults == []
        page.close()
