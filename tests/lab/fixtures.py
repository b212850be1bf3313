"""pytest fixtures for tests on a real containerd; `tests/conftest.py` loads them as a plugin.

``containerd16``, ``containerd17``, ``containerd2``: one running instance per version and test
session, purged at its end. ``pods16``, ``pods17``, ``pods2``: a `Pods` on it that removes what
the test made, and brings the instance back if the test stopped or froze it.
``each_containerd`` and ``each_pods`` run a test on all three.

An instance keeps the events of earlier tests for its next subscriber (up to 1000 on 1.7, those
of five minutes on 2.x). A test that cannot have that begins with ``containerd.restart()``.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn

import pytest

from tests.lab.containerd import Containerd, check_machine, sweep
from tests.lab.errors import LabError, LabUnavailable
from tests.lab.packages import SUITES, fetch
from tests.lab.packages import promtool as fetch_promtool
from tests.lab.pods import Pods

FIXTURES = {"containerd16": "1.6", "containerd17": "1.7", "containerd2": "2"}
PROBLEMS = pytest.StashKey[dict[str, LabError]]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Download what the collected tests need before the first runs: no test's time limit counts
    the download, and its failure is the fixture's to report.
    """
    problems = session.config.stash.setdefault(PROBLEMS, {})
    used = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    each = "each_containerd" in used or "every_version" in used
    wanted = [version for name, version in FIXTURES.items() if each or name in used]
    if session.config.option.collectonly or not (wanted or "promtool" in used):
        return
    writer = session.config.get_terminal_writer()
    if "promtool" in used:
        try:
            writer.line(f"lab: {fetch_promtool()}")
        except LabError as error:
            problems["promtool"] = error
    for version in wanted:
        try:
            check_machine()
            writer.line(f"lab: {fetch(version).text}")
        except LabError as error:
            problems[version] = error


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Iterator[dict[str, LabError]]:
    """Sweep up after runs that were killed, and let SIGTERM end this one in an orderly way.

    Yields the versions that cannot be had, with the reason.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    problems = request.config.stash.setdefault(PROBLEMS, {})
    if not any(isinstance(error, LabUnavailable) for error in problems.values()):
        sweep()
    before = signal.signal(signal.SIGTERM, interrupt)
    yield problems
    signal.signal(signal.SIGTERM, before)


def _require(version: str, problems: dict[str, LabError]) -> None:
    problem = problems.get(version)
    if isinstance(problem, LabUnavailable):
        pytest.skip(str(problem))
    if problem:
        raise problem


def _instance(version: str, problems: dict[str, LabError]) -> Iterator[Containerd]:
    _require(version, problems)
    with Containerd(version) as containerd:
        yield containerd


@pytest.fixture(params=SUITES)
def every_version(request: pytest.FixtureRequest, lab: dict[str, LabError]) -> str:
    """Each version in turn, for tests that start a containerd of their own."""
    version = str(request.param)
    _require(version, lab)
    return version


@pytest.fixture(scope="session")
def containerd16(lab: dict[str, LabError]) -> Iterator[Containerd]:
    """containerd 1.6, which has no event stream."""
    yield from _instance("1.6", lab)


@pytest.fixture(scope="session")
def containerd17(lab: dict[str, LabError]) -> Iterator[Containerd]:
    """containerd 1.7, whose subscribers share one event stream."""
    yield from _instance("1.7", lab)


@pytest.fixture(scope="session")
def containerd2(lab: dict[str, LabError]) -> Iterator[Containerd]:
    """containerd 2.x, which gives each subscriber all events."""
    yield from _instance("2", lab)


@pytest.fixture(scope="session")
def promtool(request: pytest.FixtureRequest) -> Path:
    """Prometheus' checker of metrics and rules; it needs no runtime and no root."""
    _require("promtool", request.config.stash.setdefault(PROBLEMS, {}))
    return fetch_promtool()


@pytest.fixture(params=FIXTURES, ids=list(SUITES))
def each_containerd(request: pytest.FixtureRequest) -> Iterator[Containerd]:
    """Each of the three in turn."""
    containerd = request.getfixturevalue(request.param)
    assert isinstance(containerd, Containerd)
    yield containerd
    containerd.recover()


def _pods(containerd: Containerd) -> Iterator[Pods]:
    containerd.recover()
    pods = Pods(containerd.endpoint, cgroup_parent=containerd.cgroup)
    try:
        yield pods
        containerd.recover()
        pods.remove_all()
    except BaseException:
        # What cannot be removed must not be there for the next test.
        containerd.purge()
        raise
    finally:
        pods.close()


@pytest.fixture
def pods16(containerd16: Containerd) -> Iterator[Pods]:
    """Pods on containerd 1.6."""
    yield from _pods(containerd16)


@pytest.fixture
def pods17(containerd17: Containerd) -> Iterator[Pods]:
    """Pods on containerd 1.7."""
    yield from _pods(containerd17)


@pytest.fixture
def pods2(containerd2: Containerd) -> Iterator[Pods]:
    """Pods on containerd 2.x."""
    yield from _pods(containerd2)


@pytest.fixture
def each_pods(each_containerd: Containerd) -> Iterator[Pods]:
    """Pods on each of the three in turn."""
    yield from _pods(each_containerd)
