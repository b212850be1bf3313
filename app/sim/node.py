"""The simulated node, put together: a scenario's script and faults, workers, world, CRI server, and
a driver in real time.

The task that does nearly everything is the driver: it waits until the next appointment of the
agenda is due (or an earlier one was made) and makes the calls. A :class:`Pacer` decides what
waiting means; the real one waits by the session's clock. The other task takes the server away while
the runtime is down, and puts it back.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

from app.clock import Clock
from app.engine.inputs import Input
from app.engine.records import Record
from app.sim.agenda import Agenda
from app.sim.changes import Changes
from app.sim.events import EventHub
from app.sim.faultplan import ActiveFault, FaultPlan, in_words
from app.sim.hand import Hand
from app.sim.livecalls import CallFaults
from app.sim.livestream import ShapedWay
from app.sim.nodefaults import NodeFaults
from app.sim.others import OtherSubscribers
from app.sim.performance import Performance
from app.sim.scenario import Scenario, claim
from app.sim.script import Script
from app.sim.server import CriServer, remove_socket
from app.sim.units import shown
from app.sim.workers import PodWorkers
from app.sim.world import World
from app.source import Feed

LEAD_NS = 1_500_000_000
"""Pause before the scenario begins, so that a viewer sees the quiet node first."""

Level = Literal["info", "warning"]
Tell = Callable[[Level, str], None]
"""Takes what people should know, in a sentence."""


def _unheard(_level: Level, _text: str) -> None:
    """Nobody wants to know."""


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
        delay = None if t is None else self._clock.real_s(max(0, t - self._clock.mono()))
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(delay):
                await wake.wait()
        except TimeoutError:
            return


class SimNode:
    """A node that plays ``scenario`` in real time.

    ``run`` serves it; ``on_record`` must be subscribed to the journal, or no pod worker will ever
    learn that a container died. ``tell`` is told when a fault begins and ends. When the scenario's
    time is over no fault is left and none begins any more, while its workloads go on: it does not
    begin anew, as its times are those of a node that has just started. An ``endless`` one is of a
    kind that nobody waits to end: then nothing is told of it.

    ``seed``: None takes the scenario's own. The scenario's latencies are not played: gRPC takes its
    own time.
    """

    def __init__(
        self,
        scenario: Scenario,
        clock: Clock,
        *,
        seed: int | None = None,
        tell: Tell = _unheard,
        endless: bool = False,
        lead_ns: int = LEAD_NS,
        pacer: Pacer | None = None,
    ) -> None:
        self.scenario = scenario
        self.seed = scenario.seed if seed is None else seed
        self._tell = tell
        self._endless = endless
        self._lead_ns = lead_ns
        self._pacer = pacer or RealPacer(clock)
        self._wake = asyncio.Event()
        self._agenda = Agenda(clock)
        self._agenda.on_earlier = self._wake.set
        self._hub = EventHub(clock, scenario.rules, seed=self.seed)
        self.world = World(self.seed, self._hub.publish, scenario.rules)
        self._feed: Feed | None = None
        self.workers = PodWorkers(self._agenda, self.world, self._send, self.seed, scenario.workers)
        self.script = Script(self.seed, scenario.workloads)
        self._performance = Performance(self._agenda, self.workers, self.script)
        runtime = self.workers.runtime
        self.plan = FaultPlan(self._agenda, runtime, self.seed)
        self.plan.on_begin.append(self._tell_fault)
        self.plan.on_end.append(self._tell_fault)
        NodeFaults(self._agenda, self.plan, self.workers, channel=scenario.engine.event_channel)
        self.hand = Hand(
            self._agenda,
            self.plan,
            self._performance.act,
            lambda: self.workers.pods,
            seed=self.seed,
            tell=tell,
        )
        """Presses on this node, from the task that ``run`` runs in."""
        self._hub.way = ShapedWay(self._agenda, self.plan, self._hub)
        faults = CallFaults(self._agenda, self.world, self.plan, runtime)
        runtime.stall = partial(self._hub.stall, self._agenda)
        OtherSubscribers(
            self.plan, scenario.rules.slots, join=self._hub.attend, leave=self._hub.dismiss
        )
        changes = Changes(
            self._agenda,
            self.world,
            self.workers.processes,
            self._hub,
            seed=self.seed,
            timings=scenario.workers.timings,
        )
        self._server = CriServer(
            self.world,
            self._hub,
            changes=changes,
            latency=faults.before,
            fault=faults.fault,
            lag=faults.after,
        )

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
                tasks.create_task(self._follow_runtime(socket_path), name="simulated runtime")
        finally:
            self._feed = None
            self.workers.stop()
            self._agenda.clear()
            await self._server.stop()
            remove_socket(socket_path)

    async def _drive(self) -> None:
        lead_ns, scenario = self._lead_ns, self.scenario
        self.plan.schedule(scenario.faults, lead_ns)
        self._performance.begin(lead_ns)
        if not self._endless:
            begin = partial(self._tell, "info", f"{scenario.title}. {claim(scenario.shows)}")
            self._agenda.after(lead_ns, begin)
            self._agenda.after(lead_ns + scenario.duration_ns, self._end)
        while True:
            self._wake.clear()
            self._agenda.run_due()
            await self._pacer.wait(self._agenda.next_time(), self._wake)

    async def _follow_runtime(self, socket_path: Path) -> None:
        """While the runtime is down nobody listens on the socket."""
        runtime, server = self.workers.runtime, self._server
        while True:
            changed = asyncio.Event()
            runtime.on_change(changed.set)
            if runtime.state == "down" and server.listening:
                await server.stop()
                remove_socket(socket_path)
            elif runtime.state != "down" and not server.listening:
                await server.start(socket_path)
            await changed.wait()

    def _end(self) -> None:
        """The scenario has been played."""
        self.plan.close()
        length = shown(self.scenario.duration_ns)
        self._tell(
            "info",
            f"The scenario {self.scenario.name} has been played to its end ({length}): nothing "
            "goes wrong any more, and the node runs on. Start plegscope again to see it once more.",
        )

    def _tell_fault(self, active: ActiveFault[Any]) -> None:
        self._tell(*in_words(active))

    def _send(self, happened: Input) -> None:
        if self._feed is not None:
            self._feed(happened)
