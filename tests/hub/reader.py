"""Reads what a viewer would be sent, and checks that its picture never has a hole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from app.hub.hub import Hub
from app.hub.viewer import Viewer
from tests.patience import PATIENCE_S

Message = dict[str, Any]


@asynccontextmanager
async def running(hub: Hub) -> AsyncIterator[None]:
    """The hub's tasks, for as long as the block lasts."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(hub.run())
        try:
            yield
        finally:
            task.cancel()


async def take(viewer: Viewer) -> Message | None:
    """The next message; fails when none comes."""
    async with asyncio.timeout(PATIENCE_S):
        frame = await viewer.take()
    if frame is None:
        return None
    assert frame.size == len(frame.text.encode())
    message: Message = msgspec.json.decode(frame.text)
    return message


async def take_until(viewer: Viewer, kind: str) -> Message:
    """The next message of this type; the others are dropped."""
    while True:
        message = await take(viewer)
        assert message is not None, f"the end came before any {kind}"
        if message["type"] == kind:
            return message


class Picture:
    """What a browser keeps: a snapshot replaces everything, a batch goes on without a hole."""

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.position: int | None = None
        self.skipped = 0
        self.lost = 0
        self.snapshots = 0
        self.batches = 0
        self._lagging: Message | None = None

    def show(self, message: Message) -> None:
        match message["type"]:
            case "snapshot":
                numbers = [record["seq"] for record in message["records"]]
                assert numbers == list(range(message["seq"] - len(numbers) + 1, message["seq"] + 1))
                if self.position is not None:
                    assert self._lagging is not None, "a fresh start comes with its reason"
                    first = numbers[0] if numbers else message["seq"] + 1
                    assert self._lagging["skipped"] == message["seq"] - self.position
                    assert self._lagging["lost"] == max(0, first - 1 - self.position)
                self._lagging = None
                self.seqs, self.position = numbers, message["seq"]
                self.snapshots += 1
            case "batch":
                numbers = [record["seq"] for record in message["records"]]
                assert numbers == list(range(message["first"], message["last"] + 1))
                assert self.position is not None, "a batch before the first picture"
                assert message["first"] == self.position + 1, "a hole"
                self.seqs += numbers
                self.position = message["last"]
                self.batches += 1
            case "lagging":
                self._lagging = message
                self.skipped += message["skipped"]
                self.lost += message["lost"]
            case kind:
                assert kind in ("hello", "state", "bye")
