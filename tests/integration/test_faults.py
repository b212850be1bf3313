"""``plegscope demo``: everything in the palette is pressed over HTTP on a node that really serves.

The node lives fast, so that faults are soon over. Whatever was pressed, the node is well afterwards
and plegscope has said nothing on standard error.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from app.sim.presses import PALETTE
from tests.commands import Command, command, demo, until
from tests.patience import PATIENCE_S

URL = "/api/v1/faults"


class Node:
    """A demo over its API, as a page of its own would use it."""

    def __init__(self, running: Command) -> None:
        self.command = running
        self.url = running.address().rstrip("/")
        self.client = httpx.Client(
            base_url=self.url, headers={"Origin": self.url}, trust_env=False, timeout=PATIENCE_S
        )

    def get(self, path: str) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def some_pod(self) -> str:
        """A pod to press on; one of a StatefulSet is not there until it has been made anew."""

        def there() -> list[str]:
            return [one for one in self.get(URL)["pods"] if one.startswith("monitoring/prometheus")]

        return until(there, "the pod to be there")[0]

    def press(self, button: dict[str, Any], lasts: str = "") -> Any:
        """What a press was answered with, once it was taken: nobody presses faster than is allowed,
        and a pod may go between being chosen and being pressed on.
        """

        def taken() -> Any:
            target = self.some_pod() if button["target"] == "pod" else ""
            order = {"name": button["name"], "target": target, "for": lasts}
            answer = self.client.post(URL, json=order)
            assert answer.status_code in (200, 422, 429), answer.text
            return answer.json() if answer.status_code == 200 else None

        return until(taken, f"{button['name']} to be taken")

    def notes(self, since: int = 0) -> list[str]:
        """What has been told since the record of this number."""
        found = self.get(f"/api/v1/records?kind=note&limit=10000&since={since}")
        return [one["text"] for one in found["records"]]

    def is_well(self) -> bool:
        """No fault is at work, hints come, and the last relist saw everything quickly."""
        state = self.get("/api/v1/state")
        engine = state["engine"]
        return bool(
            not state["faults"]
            and engine["health"]["healthy"]
            and engine["stream"]["state"] == "connected"
            and engine["last_global"] is not None  # healthy counts from a relist's beginning
            and engine["last_global"]["ok"]
            and engine["queue"]["length"] == 0
            and state["oldest_call"] is None
        )


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with demo("--speed", "20") as running:
        node = Node(running)
        with node.client:
            until(node.is_well, "the node to be well")
            yield node
            running.process.terminate()
            assert running.ended() == 0
            assert running.err == ""


@pytest.mark.parametrize("name", [button.name for button in PALETTE])
def test_after_each_fault_the_node_is_well_again_by_itself(node: Node, name: str) -> None:
    button = next(one for one in node.get(URL)["palette"] if one["name"] == name)
    before = node.get("/api/v1/state")["last_seq"]
    lasts = button["lasts_ns"] is not None
    pressed = node.press(button, "4s" if lasts else "")
    assert pressed["text"] == button["text"]
    began = f"{'Fault begins' if lasts else 'Pressed'}: {pressed['text']}"
    assert any(text.startswith(began) for text in node.notes(before))
    until(node.is_well, f"the node to be well after {name}")
    over = f"Fault is over: {pressed['text']}"
    assert any(text.startswith(over) for text in node.notes(before)) is lasts


def test_all_at_once_and_back_to_normal(node: Node) -> None:
    buttons = [one for one in node.get(URL)["palette"] if one["lasts_ns"]]
    pressed = [node.press(button, "10m") for button in buttons]
    last = pressed[-1]["number"]
    state = node.get("/api/v1/state")
    working = {fault["number"] for fault in state["faults"]}
    # Ten minutes are half of a minute here, and on a slow machine the first may have had them.
    lasting = {one["number"] for one in pressed if one["until_t"] > state["engine"]["t"]}
    assert last in lasting <= working
    until(lambda: node.client.delete(f"{URL}/{last}").status_code in (200, 404), "one to be lifted")
    assert last not in [fault["number"] for fault in node.get("/api/v1/state")["faults"]]
    until(lambda: node.client.post(f"{URL}/heal").status_code == 200, "healing")
    assert node.get("/api/v1/state")["faults"] == []
    until(node.is_well, "the node to be well after everything")


def test_another_site_can_press_nothing(node: Node) -> None:
    for origin in ("https://evil.example", "null", ""):
        answer = httpx.post(
            f"{node.url}{URL}",
            json={"name": "freeze-runtime"},
            headers={"Origin": origin} if origin else {},
            timeout=PATIENCE_S,
        )
        assert answer.status_code == 403
    assert node.get("/api/v1/state")["faults"] == []


def test_a_recorded_node_has_nothing_to_press(tmp_path: Path) -> None:
    """The same page on a recording: there is no row of faults, and no address for them."""
    recording = tmp_path / "churn.jsonl"
    with command("simulate", "churn", "--duration", "20s", "--format", "jsonl") as simulated:
        assert simulated.ended() == 0
        recording.write_text(simulated.out)
    with command("replay", str(recording), "--port", "0", "--no-browser") as running:
        address = urlsplit(running.address())
        base = f"{address.scheme}://{address.netloc}"
        headers = {"Origin": base}
        with httpx.Client(
            base_url=base, headers=headers, follow_redirects=True, timeout=PATIENCE_S
        ) as client:
            page = client.get(f"/?{address.query}")
            assert page.status_code == 200
            assert "Press a fault" not in page.text
            gone = client.get(URL)
            assert gone.status_code == 404
            assert "plegscope never touches a real node" in gone.json()["error"]
            assert client.get("/faults").status_code == 404
            for path in ("/faults", URL, f"{URL}/heal"):
                assert client.post(path, json={"name": "storm"}).status_code == 405
            assert client.get("/api/v1/state").json()["faults"] == []
