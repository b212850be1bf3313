"""A real Chromium for tests: started as Debian ships it, talking to nobody but plegscope.

How tests of a live page wait: for a condition and never for a time; what is compared is read in one
look, as the page goes on between two; what is said only for a moment is listened to
(:func:`listen`), as whoever looks later finds the next thing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tests.patience import PATIENCE_S

PATIENCE_MS = round(1000 * PATIENCE_S)
expect.set_options(timeout=PATIENCE_MS)

CHROMIUM = os.environ.get("PLEGSCOPE_CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ARTIFACTS = Path(os.environ.get("PLEGSCOPE_ARTIFACTS", "artifacts"))


@contextmanager
def playwright() -> Iterator[Playwright]:
    """The driver; there can be only one at a time."""
    with sync_playwright() as started:
        yield started


@contextmanager
def chromium(driver: Playwright) -> Iterator[Browser]:
    """A headless browser of its own, gone at the end."""
    browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    try:
        yield browser
    finally:
        browser.close()


def keep(page: Page, name: str, *, whole: bool = False) -> Path:
    """Keep a screenshot among the artifacts; ``whole``: also what is below the window's edge."""
    ARTIFACTS.mkdir(exist_ok=True)
    path = ARTIFACTS / f"{name}.png"
    page.screenshot(path=path, full_page=whole)
    return path


def until(page: Page, condition: str, patience_ms: int = PATIENCE_MS) -> Any:
    """Wait for what is true on the page, and return it; what cannot be asked yet is not true yet.

    Playwright's own way to wait for an expression evaluates a text there, which the page's policy
    forbids as soon as it is not true at once.
    """
    return page.evaluate(
        f"""($never) => new Promise(($resolve, $reject) => {{
          const $ask = async () => ({condition});
          const $end = performance.now() + {patience_ms};
          const $look = async () => {{
            let $told;
            let $why = $never;
            try {{
              $told = await $ask();
            }} catch ($error) {{
              $why = `${{$never}} (${{$error}})`;
            }}
            if ($told) $resolve($told);
            else if (performance.now() > $end) $reject(new Error($why));
            else setTimeout($look, 20);
          }};
          void $look();
        }})""",
        f"never: {condition}",
    )


def resize(page: Page, width: int, height: int) -> None:
    """Give the window another size, and wait until the page is laid out in it."""
    page.set_viewport_size({"width": width, "height": height})
    until(page, f"innerWidth === {width} && innerHeight === {height}")
    frames(page)


def frames(page: Page) -> None:
    """What is measured after layout is drawn with the next frame."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def fits(page: Page) -> None:
    """Nothing is wider than the window."""
    assert page.viewport_size is not None
    width = page.viewport_size["width"]
    until(page, f"innerWidth === {width} && document.documentElement.scrollWidth <= {width}")


def listen(page: Page, *selectors: str) -> None:
    """From now on, remember all that these say, for :func:`heard`; until the page is left."""
    page.evaluate(
        """(selectors) => {
          window.heard = {};
          for (const selector of selectors) {
            const place = document.querySelector(selector);
            const texts = window.heard[selector] = [];
            const take = () => texts.push(place.textContent.replace(/\\s+/g, " "));
            new MutationObserver(take).observe(place, {
              childList: true, characterData: true, subtree: true,
            });
          }
        }""",
        list(selectors),
    )


def heard(page: Page, selector: str, words: str) -> None:
    """It was said since :func:`listen`, whatever has been said after it."""
    place, wanted = json.dumps(selector), json.dumps(words)
    until(page, f"window.heard[{place}].some((text) => text.includes({wanted}))")
