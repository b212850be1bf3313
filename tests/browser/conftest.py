"""A browser for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright

from tests.browser.chromium import chromium, playwright


@pytest.fixture(scope="module")
def driver() -> Iterator[Playwright]:
    """What drives it."""
    with playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(driver: Playwright) -> Iterator[Browser]:
    """A Chromium of its own, gone at the end."""
    with chromium(driver) as started:
        yield started
