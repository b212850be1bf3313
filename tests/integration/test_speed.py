"""``plegscope demo --speed``: all of the session goes by one clock, faster than real time."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from app.sim.library import load
from tests.commands import Command, command, demo, until
from tests.patience import PATIENCE_S

S = 1_000_000_000
SPEED = 20


class Node:
    """A demo over its API."""

    def __init__(self, running: Command) -> None:
        self.url = running.address().rstrip("/")
        self.client = httpx.Client(
            base_url=self.url, headers={"Origin": self.url}, trust_env=False, timeout=PATIENCE_S
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
        return until(found, "what the node is to tell")

    def passed_ns(self, lasts_s: float) -> tuple[float, float, int, int]:
        """Between two looks at the state: the least and the most seconds that really passed, and
        how far the session's time and its wall time went.
        """
        asked = time.monotonic()
        first = self.state()
        answered = time.monotonic()
        self.until(lambda: time.monotonic() > answered + lasts_s)
        asked_again = time.monotonic()
        last = self.state()
        longest = time.monotonic() - asked
        passed = last["engine"]["t"] - first["engine"]["t"]
        return asked_again - answered, longest, passed, last["wall"] - first["wall"]

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
    assert node.state()["speed"] == SPEED
    least, most, passed, wall = node.passed_ns(2)
    assert SPEED * least <= passed / S <= SPEED * most
    # Wall time goes with it: it is what people and the runtime's own times are told by.
    assert SPEED * least <= wall / S <= SPEED * most


def test_relists_come_once_a_second_of_the_session(node: Node) -> None:
    def pauses() -> list[int]:
        """Behind each relist that was not slowed down, which on a busy machine some are."""
        found, period, before = [], S, None
        for one in node.records("relist_finished", "pace"):
            if one["kind"] == "pace":
                period, before = one["period_ns"], None
            elif one["scope"] == "global":
                if before is not None:
                    found.append(one["started"] - before["t"])
                before = one if one["ok"] and period == S else None
        return found if len(found) > 20 else []

    found = node.until(pauses)
    assert min(found) >= S
    # By any other clock it would be twenty.
    assert sorted(found)[len(found) // 2] < 3 * S


def test_every_record_has_the_same_distance_between_its_two_times(node: Node) -> None:
    kinds = ("relist_finished", "stream_event", "note", "lifecycle", "stream")
    node.until(lambda: node.records(*kinds)[-1]["t"] > 60 * S)
    distances = sorted(one["wall"] - one["t"] for one in node.records(*kinds))
    # Whoever is interrupted between reading the one and the other is twenty times as late.
    many = distances[len(distances) // 10 : -len(distances) // 10]
    assert many[-1] - many[0] < 0.1 * S
    assert distances[-1] - distances[0] < 20 * S


def test_an_events_latency_is_measured_by_the_same_clock(node: Node) -> None:
    def measured() -> list[dict[str, Any]]:
        events = [one for one in node.records("stream_event") if one["t"] > 60 * S]
        found = [one for one in events if one["latency_ns"] is not None]
        return found if len(found) > 5 else []

    # By two clocks it would be off by nearly all that has passed since the beginning.
    assert all(0 <= one["latency_ns"] < one["t"] / 3 for one in node.until(measured))


def test_the_stream_is_renewed_before_its_deadline(node: Node) -> None:
    def renewals() -> list[dict[str, Any]]:
        return [one for one in node.records("stream") if one["renewed"]]

    def in_time() -> list[int]:
        """From one to the next where nothing came between; its deadline is after 45 s."""
        told = itertools.pairwise(node.records("stream"))
        return [
            after["t"] - before["t"]
            for before, after in told
            if before["renewed"] and after["renewed"]
        ]

    # A real fifth of a second too late is enough to miss one: then the stream is opened anew.
    assert all(30 * S < pause < 50 * S for pause in node.until(in_time))
    times = [one["t"] for one in renewals()]
    assert all(after - before > 30 * S for before, after in itertools.pairwise(times))


def test_a_scenario_ends_at_its_time(node: Node) -> None:
    (ended,) = node.until(lambda: node.notes("The scenario runtime-restart has been played"))
    assert 0 < ended - load("runtime-restart").duration_ns < 60 * S


def test_a_fault_lasts_its_time_and_a_frozen_call_is_as_old_as_it_looks(node: Node) -> None:
    # No restart of the scenario's may fall into it.
    node.until(lambda: node.notes("The scenario runtime-restart has been played"))
    order = {"name": "freeze-runtime", "for": "40s"}
    pressed = node.client.post("/api/v1/faults", json=order)
    assert pressed.status_code == 200
    since, until_t = pressed.json()["since_t"], pressed.json()["until_t"]
    assert until_t - since == 40 * S

    def told(text: str) -> list[int]:
        return [t for t in node.notes(text) if t >= since]

    (began,) = told("Fault begins: Freeze the runtime")
    (ended,) = node.until(lambda: told("Fault is over: Freeze the runtime"))
    # By a real clock the forty seconds would be eight hundred.
    assert 40 * S <= ended - since < 100 * S
    assert began < since + 40 * S

    def answered() -> list[dict[str, Any]]:
        hung = [one for one in node.records("runtime_hung") if one["t"] >= until_t]
        return [one for one in hung if not one["hung"]]

    # A call of the next relist, which waits from then on; on a busy machine that is not at once.
    answer = node.until(answered)[0]
    assert 5 * S < answer["age_ns"] < answer["t"] - since + 20 * S


def test_slower_than_life() -> None:
    with demo("--speed", "0.5") as running:
        node = Node(running)
        with node.client:
            least, most, passed, _wall = node.passed_ns(1.5)
    assert 0.5 * least <= passed / S <= 0.5 * most


@pytest.mark.parametrize("speed", ["0", "50", "fast"])
def test_other_speeds_are_refused_in_a_sentence(speed: str) -> None:
    with command("demo", "--speed", speed, "--no-browser") as running:
        assert running.ended() == 1
        assert f"--speed: '{speed}' is no speed" in running.err
