"""A browser for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright

from tests.browser.chromium import chromium, playwright

HERE = Path(__file__).parent
TIMEOUT_S = 300
"""Ends a test that hangs, and not one that is slow: a test waits for much, one after the other."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests have longer than others, wherever the machine is busy with something else."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TIMEOUT_S))


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
