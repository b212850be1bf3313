"""Browsers without a screen: many WebSockets to one dashboard, in a process of their own.

    python -m tests.bench.viewing ADDRESS COUNT

Says ``ready`` when all have their snapshot. From then on it notes when each frame comes, until it
is sent a line; then it prints one line of JSON: how long after each record's time its frame came.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from urllib.parse import urlsplit

import uvloop
from websockets.asyncio.client import connect
from websockets.typing import Origin

Frame = tuple[int, str]


class Viewers:
    """``count`` viewers; frames are kept as they come and looked into at the end."""

    def __init__(self, address: str, count: int) -> None:
        parts = urlsplit(address)
        self._url = f"ws://{parts.netloc}/ws"
        self._origin = Origin(f"http://{parts.netloc}")
        self._count = count
        self._started = 0
        self._all_started = asyncio.Event()
        self.measuring = False
        self.frames: list[list[Frame]] = [[] for _ in range(count)]

    async def started(self) -> None:
        """Wait until each has its snapshot."""
        await self._all_started.wait()

    async def view(self, number: int) -> None:
        """One viewer, until cancelled."""
        frames = self.frames[number]
        async with connect(self._url, origin=self._origin, max_size=None) as socket:
            async for text in socket:
                if self.measuring:
                    frames.append((time.time_ns(), str(text)))
                elif '"type":"snapshot"' in text[:40]:
                    self._started += 1
                    if self._started == self._count:
                        self._all_started.set()

    def findings(self) -> dict[str, object]:
        """``late_ms``: of each record at each viewer. ``lost``: holes in the numbers, if any."""
        late: list[float] = []
        lost = 0
        read: dict[str, tuple[int, int, list[int]]] = {}
        for frames in self.frames:
            last = None
            for received, text in frames:
                if text not in read:
                    read[text] = walls(text)
                first, end, times = read[text]
                if not times:
                    continue
                lost += 0 if last is None else first - last - 1
                last = end
                late += [(received - wall) / 1e6 for wall in times]
        return {"late_ms": late, "lost": lost}


def walls(text: str) -> tuple[int, int, list[int]]:
    """Of a batch: first and last number, and the records' wall times; else nothing."""
    message = json.loads(text)
    if message["type"] != "batch":
        return 0, 0, []
    return message["first"], message["last"], [record["wall"] for record in message["records"]]


async def main(address: str, count: int) -> None:
    """View until a line comes on standard input."""
    viewers = Viewers(address, count)
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(viewers.view(number)) for number in range(count)]
        await viewers.started()
        viewers.measuring = True
        print("ready", flush=True)
        await loop.run_in_executor(None, sys.stdin.readline)
        viewers.measuring = False
        for task in tasks:
            task.cancel()
    print(json.dumps(viewers.findings()), flush=True)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2])))
