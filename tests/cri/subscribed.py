"""A process of its own that subscribes as ``watch`` does, to be stopped by its terminal.

``python -m tests.cri.subscribed ADDRESS``: prints the name of each input it is fed, one a line,
and subscribes again whenever the stream has ended.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

from app.clock import RealClock
from app.cri.client import CriClient
from app.cri.probe import probe
from app.cri.source import CriSource
from app.engine.effects import OpenStream
from app.engine.inputs import Input, StreamEnded


async def subscribe(address: str) -> None:
    """Run until killed."""
    clock = RealClock()
    async with CriClient(address, clock) as client:
        source = CriSource(client, clock, await probe(client, address, clock))
        source.install_stop_signal(asyncio.get_running_loop())

        def feed(happened: Input) -> None:
            print(type(happened).__name__, flush=True)
            if isinstance(happened, StreamEnded):
                source.perform(OpenStream())

        source.perform(OpenStream())
        await source.run(feed)


if __name__ == "__main__":
    uvloop.run(subscribe(sys.argv[1]))
