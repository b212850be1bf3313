"""A real Chromium for tests: started as Debian ships it, talking to nobody but plegscope."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

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


def until(page: Page, condition: str, patience_ms: int = 20_000) -> None:
    """Wait for what is true on the page.

    Playwright's own way to wait for an expression evaluates a text there, which the page's policy
    forbids as soon as it is not true at once.
    """
    page.evaluate(
        f"""() => new Promise((resolve, reject) => {{
          const end = performance.now() + {patience_ms};
          const look = () => {{
            if ({condition}) resolve();
            else if (performance.now() > end) reject(new Error(`never: {condition}`));
            else setTimeout(look, 20);
          }};
          look();
        }})"""
    )
