"""What ``make bench`` measures on a real containerd, in small: each figure is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bench import cost, latency, rounds
from tests.bench.node import Node
from tests.lab.containerd import Containerd

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def node(containerd2: Containerd) -> Iterator[Node]:
    """A node of its own; the fixture only says whether there can be one."""
    assert containerd2.pid
    with Node() as node:
        yield node


def test_cost(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "SIZES", (1, 2))
    monkeypatch.setattr(cost, "WINDOWS", 1)
    monkeypatch.setattr(cost, "SETTLE_S", 0.1)
    monkeypatch.setattr(cost, "WINDOW_S", 2.0)
    section = cost.measure(node)
    figures = {row.what: float(row.figure.split()[0]) for row in section.rows}
    assert set(figures) >= {"1 pods: watch", "2 pods: watch to bare loop"}
    assert 0.1 < figures["2 pods: watch to bare loop"] < 100


def test_latency(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latency, "KILLS", 6)
    section = latency.measure(node)
    figures = {row.what: float(row.figure.split()[0]) for row in section.rows}
    assert 0 < figures["event received to ContainerDied recorded: p50"] < 10_000
    assert figures["exit to detection: median, polling"] > 0


def test_rounds(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "PAIRS", 1)
    monkeypatch.setattr(rounds, "PODS", 2)
    section = rounds.measure(node)
    figures = {row.what: row.figure for row in section.rows}
    assert figures["with to without"].endswith(" x")
    assert float(figures["CPU of watch in such a round, for each pod"].split()[0]) > 0
