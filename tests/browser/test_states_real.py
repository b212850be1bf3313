"""The node page's states as a real server comes into them: one page on one address, from the first
relist that does not come to a server that is stopped, ended and started again.

The node is simulated, and its faults are pressed over its API; plegscope watches it as any other.
The disk that is full is a limit of plegscope's process, and what becomes of the connection is what
becomes of that process. ``test_states.py`` plays every state there is; here the real thing says so.
"""

from __future__ import annotations

import re
import resource
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import heard, keep, listen, resize, until
from tests.browser.test_accessibility import faults
from tests.browser.test_states import STOP_TRYING
from tests.commands import Command, command, demo

pytestmark = pytest.mark.timeout(600)


NOTHING = """
title = "A node without pods"
shows = "Nothing."
duration = "1h"
"""

LOOKS: tuple[tuple[int, int, Any], ...] = (
    (1280, 800, "dark"),
    (390, 844, "light"),
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Node:
    """A simulated node, and what is pressed on it."""

    def __init__(self, running: Command) -> None:
        self.endpoint = running.endpoint()
        url = running.address().rstrip("/")
        self._client = httpx.Client(
            base_url=url, headers={"Origin": url}, trust_env=False, timeout=60
        )

    def heal(self) -> None:
        assert self._client.post("/api/v1/faults/heal").status_code == 200

    def press(self, name: str) -> None:
        answer = self._client.post("/api/v1/faults", json={"name": name, "for": "10m"})
        assert answer.status_code == 200, answer.text


class Walk:
    """One page, looked at when it first comes into a state: wide and dark, narrow and light."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.seen: list[str] = []

    def comes(self, name: str, sentence: str, action: str = "") -> None:
        """The state comes, is one that shuts nobody out, and what one can do is at hand."""
        page = self.page
        expect(page.locator("#main")).to_have_attribute("data-state", name)
        expect(page.locator("#sentence")).to_contain_text(re.compile(sentence))
        if name in self.seen:
            return
        self.seen.append(name)
        for look, (width, height, scheme) in enumerate(LOOKS):
            resize(page, width, height)
            page.emulate_media(color_scheme=scheme)
            act = page.locator("#meaning").get_by_text(action, exact=True)
            if action:
                expect(act).to_be_in_viewport(ratio=1)
            # The played walk has axe in every look; here by turns.
            if look == len(self.seen) % len(LOOKS):
                assert (name, width, faults(page)) == (name, width, [])
            keep(page, f"real-{len(self.seen)}-{name}-{scheme}-{width}")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    wrong: list[str] = []
    context = browser.new_context(reduced_motion="reduce")
    opened = context.new_page()
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    yield opened
    context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with demo("--no-record") as running:
        node = Node(running)
        with node._client:
            yield node


def test_a_node_and_its_server_come_into_each_state_and_out_of_it(
    page: Page, node: Node, tmp_path: Path
) -> None:
    port = str(free_port())
    recording = str(tmp_path / "watched.mcap")
    walk = Walk(page)
    gone = r"plegscope is gone\. Last heard .*; (the connection|next try|trying)"
    node.press("fail-lists")
    watch = ("watch", "--runtime-endpoint", node.endpoint, "--port", port, "--no-browser")
    with command(*watch, "--record-to", recording) as running:
        page.goto(running.address())
        walk.comes("failing", r"No relist succeeds\. The runtime", "What to check first")
        node.heal()
        walk.comes("healthy", r"Healthy\. The last global relist started")
        node.press("fail-lists")
        walk.comes("failing", "Healthy, but relists fail", "What to check first")
        node.heal()
        node.press("freeze-runtime")
        walk.comes("hung", r"Runtime hung\. Oldest call", "What to check first")
        node.heal()
        walk.comes("healthy", "Healthy")
        node.press("break-stream")
        walk.comes("stream-down", r"Reconnecting\. Stream down for", "What this means")
        node.heal()
        walk.comes("healthy", "Healthy")
        node.press("refuse-stream")
        polling = r"Polling only\. This runtime has no event stream\."
        walk.comes("polling", polling, "Which runtimes have one")

        # As a disk that is full: the kernel refuses what goes beyond.
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (1, -1))
        walk.comes("recording-stopped", "Recording stopped", "Choose another place")
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (-1, -1))
        walk.comes("polling", polling, "Which runtimes have one")

        # It does not run: the connection stays open, and nothing comes.
        running.process.send_signal(signal.SIGSTOP)
        walk.comes("gone", gone, "Try now")
        running.process.send_signal(signal.SIGCONT)
        walk.comes("polling", polling, "Which runtimes have one")

        running.process.send_signal(signal.SIGTERM)
        assert running.ended() == 0
    walk.comes("gone", gone, "Try now")
    expect(page.locator("#meaning")).to_contain_text("The picture is frozen, not live.")
    page.context.set_offline(True)
    walk.comes("offline", r"This browser is offline\. Last heard", "Try now")
    page.context.set_offline(False)
    walk.comes("gone", gone, "Try now")

    # It is there again, and wants the token of this start.
    with command(*watch, "--no-record") as running:
        running.address()
        walk.comes("barred", r"plegscope was started again\.", "Try now")
    # From here on it tries when it is asked to, and no sooner.
    until(page, STOP_TRYING)

    # It is started again on another node: nothing of the one before is left.
    scenario = tmp_path / "nothing.toml"
    scenario.write_text(NOTHING)
    with command(
        *("demo", "--scenario", str(scenario), "--no-record", "--port", port, "--no-browser")
    ) as running:
        running.address()
        listen(page, "#spoken")
        page.keyboard.press("r")
        walk.comes("empty", r"Healthy\. No pods on this node\.", "What comes here")
        expect(page.locator("#labels li.lane")).to_have_count(0)
        heard(page, "#spoken", "Connected again.")


def test_a_stream_that_is_left_alone_for_the_nodes_safety(browser: Browser) -> None:
    """containerd 1.7 shares one channel: who listens takes events away from a kubelet."""
    with demo("--runtime-like", "containerd-1.7", "--no-record") as node:
        quiet = ("--no-browser", "--no-record", "--port", "0")
        with command("watch", "--runtime-endpoint", node.endpoint(), *quiet) as watch:
            page = browser.new_page(reduced_motion="reduce")
            page.goto(watch.address())
            words = "Polling only, for the node’s safety."
            Walk(page).comes("safety", words, "What joining costs")
            page.close()
