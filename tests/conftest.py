"""What holds for every test: where CI runs, nothing is left out.

A skipped test is a hole that nobody sees. On a developer's machine a skip says what is
missing; with ``CI=true`` it is a failure.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import hypothesis
import pytest

# A busy machine is no failing example; in CI hypothesis takes its own profile, which repeats.
hypothesis.settings.register_profile(
    "default", hypothesis.settings.get_profile("default"), deadline=None
)

# The real containerd: fixtures containerd2, pods2, …
pytest_plugins = ["tests.lab.fixtures"]

IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip (an expected failure too) into a failure that keeps the reason."""
    if not (IN_CI and report.skipped):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if isinstance(report, pytest.TestReport) and hasattr(report, "wasxfail"):
        reason = f"an expected failure ({report.wasxfail or 'no reason given'})"
        del report.wasxfail  # or reporters count it among the expected ones all the same
    report.outcome = "failed"
    report.longrepr = f"Left out, which CI does not allow: {reason}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Look at each phase of each test."""
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Look at each collected file: a whole module can skip itself."""
    report = yield
    _forbid_skip(report)
    return report
