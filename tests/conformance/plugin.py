"""A pytest plugin: only tests that carry a row, under one profile, and what became of each.

``--rows-report PATH`` leaves out every test without a row and writes outcomes to a JSON file.
``--rows-profile NAME`` puts that profile in the place of the engine's default one and leaves out
what does not have to hold under it: so one test shows its row under every profile of the row.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.engine.profiles import PROFILES
from app.engine.settings import EngineSettings
from tests.conformance.rows import by_id, ids_of, load

DEFAULT = EngineSettings().profile

CHOOSE_THEMSELVES = ("test_profiles.py", "test_legacy.py")
"""Their tests say which profile they are about; run once is enough."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The two options."""
    group = parser.getgroup("conformance")
    group.addoption("--rows-report", type=Path, help="run tests with a row, write outcomes here")
    group.addoption("--rows-profile", choices=list(PROFILES), default=DEFAULT)


def pytest_configure(config: pytest.Config) -> None:
    """Put the wanted profile in the default's place, and keep a report."""
    report: Path | None = config.option.rows_report
    if report is not None:
        profile: str = config.option.rows_profile
        PROFILES[DEFAULT] = PROFILES[profile]
        config.pluginmanager.register(Outcomes(report, profile))


class Outcomes:
    """Chooses tests, remembers what became of each, and writes it down at the end."""

    def __init__(self, report: Path, profile: str) -> None:
        self._report = report
        self._profile = profile
        self._rows = by_id(load())
        self._outcomes: dict[str, tuple[str, str]] = {}

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what shows no row, or none that must hold under this profile."""
        left_out = [item for item in items if not self._wanted(item)]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if self._wanted(item)]

    def _wanted(self, item: pytest.Item) -> bool:
        rows = ids_of(_function(item.nodeid).rpartition("::")[2])
        if self._profile == DEFAULT:
            return bool(rows)
        holds = all(row in self._rows and self._profile in self._rows[row].profiles for row in rows)
        return bool(rows) and holds and item.path.name not in CHOOSE_THEMSELVES

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Each test has three phases and perhaps many parameters: the worst of all counts."""
        node = _function(report.nodeid)
        worst, why = self._outcomes.get(node, ("", ""))
        if report.failed:
            worst, why = "failed", report.nodeid
        elif report.skipped and worst != "failed":
            told = report.longrepr
            worst, why = "left out", told[2] if isinstance(told, tuple) else str(told)
        elif report.when == "call" and not worst:
            worst = "passed"
        self._outcomes[node] = (worst, why)

    def pytest_sessionfinish(self) -> None:
        """Write the outcomes."""
        self._report.write_text(json.dumps(self._outcomes))


def _function(nodeid: str) -> str:
    return nodeid.partition("[")[0]
