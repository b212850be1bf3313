"""``plegscope demo --speed``: all of the session goes by one clock, faster than real time."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from app.sim.library import load
from tests.commands import Command, command, demo
from tests.lab.pods import wait_for

S = 1_000_000_000
SPEED = 20
PATIENCE_S = 40.0


class Node:
    """A demo over its API."""

    def __init__(self, running: Command) -> None:
        self.url = running.address().rstrip("/")
        self.client = httpx.Client(
            base_url=self.url, headers={"Origin": self.url}, trust_env=False, timeout=20
        )

    def state(self) -> Any:
        return self.client.get("/api/v1/state").json()

    def records(self, *kinds: str) -> list[dict[str, Any]]:
        """All records of these kinds so far."""
        asked = {"kind": ",".join(kinds), "limit": "10000"}
        found: list[dict[str, Any]] = self.client.get("/api/v1/records", params=asked).json()[
            "records"
        ]
        return found

    def until(self, found: Callable[[], Any]) -> Any:
        """What ``found`` gives as soon as it gives something."""
        values: list[Any] = []

        def is_there() -> bool:
            values[:] = [found()]
            return bool(values[0])

        wait_for(is_there, "what the node is to tell", PATIENCE_S)
        return values[0]

    def notes(self, text: str) -> list[int]:
        """Session times of the notes that begin so."""
        return [one["t"] for one in self.records("note") if one["text"].startswith(text)]


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with demo("--speed", str(SPEED), "--scenario", "runtime-restart") as running:
        node = Node(running)
        with node.client:
            yield node


def test_the_session_goes_as_fast_as_it_is_told(node: Node) -> None:
    first, at = node.state(), time.monotonic()
    assert first["speed"] == SPEED
    node.until(lambda: time.monotonic() > at + 2)
    last, now = node.state(), time.monotonic()
    passed = (last["engine"]["t"] - first["engine"]["t"]) / S
    assert passed / (now - at) == pytest.approx(SPEED, rel=0.3)
    # Wall time goes with it: it is what people and the runtime's own times are told by.
    assert last["wall"] - first["wall"] == pytest.approx(passed * S, abs=0.2 * S)


def test_relists_come_once_a_second_of_the_session(node: Node) -> None:
    node.until(lambda: node.state()["engine"]["t"] > 60 * S)
    relists = [one for one in node.records("relist_finished") if one["scope"] == "global"]
    pairs = itertools.pairwise(relists)
    pauses = [after["started"] - before["t"] for before, after in pairs if before["ok"]]
    assert len(pauses) > 20
    assert min(pauses) >= S
    assert sorted(pauses)[len(pauses) // 2] < 1.6 * S


def test_every_record_has_the_same_distance_between_its_two_times(node: Node) -> None:
    records = node.records("relist_finished", "stream_event", "note", "lifecycle", "stream")
    distances = [one["wall"] - one["t"] for one in records]
    assert max(distances) - min(distances) < 0.1 * S


def test_an_events_latency_is_measured_by_the_same_clock(node: Node) -> None:
    def latencies() -> list[int]:
        events = node.records("stream_event")
        return [one["latency_ns"] for one in events if one["latency_ns"] is not None]

    found = node.until(lambda: (seen := latencies()) and len(seen) > 5 and seen)
    assert min(found) >= 0
    assert sorted(found)[len(found) // 2] < 2 * S


def test_the_stream_is_renewed_before_its_deadline(node: Node) -> None:
    def renewals() -> list[dict[str, Any]]:
        return [one for one in node.records("stream") if one["renewed"]]

    node.until(lambda: len(renewals()) > 1)
    times = [one["t"] for one in renewals()]
    assert all(after - before > 30 * S for before, after in itertools.pairwise(times))
    assert not [one for one in node.records("stream") if one["code"] == "deadline"]


def test_a_scenario_ends_at_its_time(node: Node) -> None:
    (ended,) = node.until(lambda: node.notes("The scenario runtime-restart has been played"))
    assert 0 < ended - load("runtime-restart").duration_ns < 10 * S


def test_a_fault_lasts_its_time_and_a_frozen_call_is_as_old_as_it_looks(node: Node) -> None:
    node.client.post("/api/v1/faults/heal")
    before = len(node.notes("Fault is over: Freeze the runtime"))
    order = {"name": "freeze-runtime", "for": "40s"}
    assert node.client.post("/api/v1/faults", json=order).status_code == 200
    began = node.notes("Fault begins: Freeze the runtime")[-1]
    node.until(lambda: len(node.notes("Fault is over: Freeze the runtime")) > before)
    ended = node.notes("Fault is over: Freeze the runtime")[-1]
    assert 40 * S <= ended - began < 44 * S
    hung = node.until(
        lambda: [
            one for one in node.records("runtime_hung") if not one["hung"] and one["t"] > began
        ]
    )
    assert 20 * S < hung[-1]["age_ns"] < 60 * S


def test_slower_than_life() -> None:
    with demo("--speed", "0.5") as running:
        node = Node(running)
        with node.client:
            first, at = node.state(), time.monotonic()
            node.until(lambda: time.monotonic() > at + 1.5)
            last, now = node.state(), time.monotonic()
    passed = (last["engine"]["t"] - first["engine"]["t"]) / S
    assert passed / (now - at) == pytest.approx(0.5, rel=0.3)


@pytest.mark.parametrize("speed", ["0", "50", "fast"])
def test_other_speeds_are_refused_in_a_sentence(speed: str) -> None:
    with command("demo", "--speed", speed, "--no-browser") as running:
        assert running.ended() == 1
        assert f"--speed: '{speed}' is no speed" in running.err
