"""(l) What a page weighs, and how soon there is a picture."""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import Browser, CDPSession

from tests.bench.node import say
from tests.bench.report import Section, median
from tests.browser.chromium import chromium, playwright, until
from tests.commands import command

ROUNDS = 7
FIRST_PICTURE_MS = 1000.0
WEIGHT_KB = 250.0
PAGES = ("/", "/now", "/help", "/about", "/scenarios", "/lessons", "/compare", "/run")
"""The dashboard first; documents whose pictures are their text; and the stages, without a run."""

PAINTED = "performance.getEntriesByName('first-contentful-paint').length > 0"
DRAWN = (
    f"{PAINTED} && typeof plegscope === 'object' && plegscope.timeline.last !== null"
    " && plegscope.store.lanes.size > 0"
)


def measure() -> Section:
    """Open each page in a browser that has never seen it."""
    section = Section("(l) opening a page")
    with (
        command("demo", "--no-browser", "--no-record", "--port", "0") as server,
        playwright() as driver,
        chromium(driver) as browser,
    ):
        address = server.address().split("?")[0].rstrip("/")
        for path in PAGES:
            say(f"(l) {path}")
            found = [opened(browser, address + path, path == "/") for _ in range(ROUNDS)]
            weight = max(weight for _, weight in found) / 1000
            section.at_most(
                f"{path}: first picture", median([ms for ms, _ in found]), FIRST_PICTURE_MS, "ms", 0
            )
            section.at_most(f"{path}: sent", weight, WEIGHT_KB, "kB", 0)
    section.note = (
        f"A demo on loopback, {ROUNDS} browsers with empty caches for each page, medians. Sent is "
        "everything that came over HTTP, headers included, as it was packed. Of the dashboard the "
        "first picture is the one with lanes in it, of the others the first text painted."
    )
    return section


def opened(browser: Browser, url: str, lanes: bool) -> tuple[float, int]:
    """Milliseconds to the first picture, and bytes sent until all is loaded."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    traffic: CDPSession = context.new_cdp_session(page)
    traffic.send("Network.enable")
    sent: list[int] = []

    def finished(event: dict[str, Any]) -> None:
        sent.append(int(event["encodedDataLength"]))

    traffic.on("Network.loadingFinished", finished)
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    until(page, DRAWN if lanes else PAINTED)
    took = 1000 * (time.perf_counter() - began)
    page.wait_for_load_state("load")
    context.close()
    return took, sum(sent)
