"""The simulated node, put together: script, workers, world, CRI server, and a driver in real time.

The one task that does anything is the driver: it waits until the next appointment of the agenda is
due (or an earlier one was made) and makes the calls. A :class:`Pacer` decides what waiting means;
the real one waits by the session's clock.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from app.clock import Clock
from app.engine.inputs import Input
from app.engine.records import Record
from app.sim.agenda import Agenda
from app.sim.catalogue import default_node
from app.sim.events import EventHub
from app.sim.flavour import CONTAINERD_2, RuntimeRules
from app.sim.performance import Performance
from app.sim.script import Script, Workload
from app.sim.server import CriServer, remove_socket
from app.sim.workers import PodWorkers, WorkerSettings
from app.sim.world import World
from app.source import Feed


class NodeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the node behaves like. ``lead_ns``: pause before the script begins, so that a viewer
    sees the quiet node first."""

    rules: RuntimeRules = CONTAINERD_2
    workers: WorkerSettings = WorkerSettings()
    lead_ns: int = 1_500_000_000


class Pacer(Protocol):
    """Lets time pass."""

    async def wait(self, t: int | None, wake: asyncio.Event) -> None:
        """Return when the clock has reached ``t`` (None: never) or ``wake`` is set, whichever
        comes first. Gives way to other tasks at least once."""
        ...


class RealPacer:
    """Waits as long as it takes, by a real clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def wait(self, t: int | None, wake: asyncio.Event) -> None:
        """See :class:`Pacer`."""
        delay = None if t is None else max(0, t - self._clock.mono()) / 1e9
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(delay):
                await wake.wait()
        except TimeoutError:
            return


class SimNode:
    """A node made of ``seed`` and ``workload`` (None: that of the demo).

    ``run`` serves it; ``on_record`` must be subscribed to the journal, or no pod worker will ever
    learn that a container died.
    """

    def __init__(
        self,
        seed: int,
        clock: Clock,
        workload: Sequence[Workload] | None = None,
        *,
        settings: NodeSettings | None = None,
        pacer: Pacer | None = None,
    ) -> None:
        settings = settings or NodeSettings()
        self.seed = seed
        self._settings = settings
        self._clock = clock
        self._pacer = pacer or RealPacer(clock)
        self._wake = asyncio.Event()
        self._agenda = Agenda(clock)
        self._agenda.on_earlier = self._wake.set
        self._hub = EventHub(clock, settings.rules.backlog_ns)
        self.world = World(seed, self._hub.publish, settings.rules)
        self._feed: Feed | None = None
        self.workers = PodWorkers(self._agenda, self.world, self._send, seed, settings.workers)
        self.script = Script(seed, default_node() if workload is None else workload)
        self._performance = Performance(self._agenda, self.workers, self.script)
        self._server = CriServer(self.world, self._hub)

    def on_record(self, record: Record) -> None:
        """Take a record of the journal; nothing is fed from within this call."""
        self.workers.on_record(record)

    async def run(self, socket_path: Path, feed: Feed, ready: asyncio.Event) -> None:
        """Be a node until cancelled; once only.

        Args:
            socket_path: where the CRI server listens; removed at the end.
            feed: takes SyncStarted, SyncEnded, RelistRequested and EventsTaken.
            ready: set as soon as the server answers.

        Raises:
            EndpointError: the socket cannot be made there.
        """
        self._feed = feed
        try:
            self._performance.set_the_stage()
            await self._server.start(socket_path)
            ready.set()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._drive(), name="simulated node")
        finally:
            self._feed = None
            self.workers.stop()
            self._agenda.clear()
            await self._server.stop()
            remove_socket(socket_path)

    async def _drive(self) -> None:
        self._performance.begin(self._settings.lead_ns)
        while True:
            self._wake.clear()
            self._agenda.run_due()
            await self._pacer.wait(self._agenda.next_time(), self._wake)

    def _send(self, happened: Input) -> None:
        if self._feed is not None:
            self._feed(happened)
