"""Whatever is pressed, once it is healed the shadow knows the node again: for every kind of fault,
in virtual time and over gRPC."""

import asyncio
import random
import time
import typing
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from app.clock import RealClock
from app.cri.client import CriClient
from app.cri.probe import Probe, probe
from app.cri.source import CriSource
from app.driver import Driver
from app.engine.engine import Engine
from app.engine.inputs import Input
from app.engine.profiles import PROFILES
from app.engine.records import Lifecycle, Record
from app.engine.settings import EngineSettings
from app.journal.journal import Journal
from app.sim.account import Account
from app.sim.difference import differences
from app.sim.faults import (
    AnyFault,
    EventsDamaged,
    EventsDoubled,
    EventsLost,
    EventsMisdated,
    EventsReordered,
    EventsRepeated,
    Fault,
    InspectionsFail,
    InspectionsSlow,
    ListsFail,
    ListsHang,
    ListsSlow,
    OtherSubscriber,
    RuntimeFreezes,
    RuntimeRestarts,
    ShortLivedPods,
    StreamDelayed,
    StreamEnds,
    StreamRefused,
    StreamSilent,
    SyncLoopStalls,
    SyncPodsSlow,
    TerminationStorm,
)
from app.sim.node import SimNode
from app.sim.pods import ERROR
from app.sim.scenario import Scenario
from app.sim.units import Ns, Offset, millis, seconds
from app.sim.virtual import VirtualSession
from app.sim.workers import WorkerSettings
from app.sim.workloads import Mishap, Replicas
from tests.sim.orders import runs_on

NOW = Ns(0)
LONG = seconds(600)

FAULTS: tuple[Fault, ...] = (
    StreamRefused(at=NOW, lasts=LONG),
    StreamRefused(at=NOW, lasts=LONG, answer="unavailable"),
    StreamEnds(at=NOW, lasts=LONG, how="cleanly"),
    StreamEnds(at=NOW, lasts=LONG, how="broken", after=millis(300)),
    StreamSilent(at=NOW, lasts=LONG),
    StreamSilent(at=NOW, lasts=LONG, late=True),
    StreamDelayed(at=NOW, lasts=LONG, by=(millis(200), seconds(2))),
    OtherSubscriber(at=NOW, lasts=LONG),
    OtherSubscriber(at=NOW, lasts=LONG, reads=False),
    EventsLost(at=NOW, lasts=LONG),
    EventsDoubled(at=NOW, lasts=LONG),
    EventsRepeated(at=NOW, lasts=LONG),
    EventsReordered(at=NOW, lasts=LONG),
    EventsDamaged(at=NOW, lasts=LONG, without="uid"),
    EventsDamaged(at=NOW, lasts=LONG, without="metadata"),
    EventsDamaged(at=NOW, lasts=LONG, without="sandbox-status"),
    EventsDamaged(at=NOW, lasts=LONG, without="statuses"),
    EventsMisdated(at=NOW, lasts=LONG, by=Offset(3600 * 10**9)),
    EventsMisdated(at=NOW, lasts=LONG),
    ListsSlow(at=NOW, lasts=LONG, by=(millis(100), millis(400))),
    ListsFail(at=NOW, lasts=LONG),
    ListsHang(at=NOW, lasts=LONG),
    InspectionsFail(at=NOW, lasts=LONG),
    InspectionsFail(at=NOW, lasts=LONG, pods="shop/web-0"),
    InspectionsSlow(at=NOW, lasts=LONG, by=(millis(100), millis(400))),
    RuntimeRestarts(at=NOW, lasts=LONG),
    RuntimeFreezes(at=NOW, lasts=LONG),
    SyncPodsSlow(at=NOW, lasts=LONG, by=(seconds(300), seconds(300))),
    SyncLoopStalls(at=NOW, lasts=LONG, room=3),
    ShortLivedPods(at=NOW, lasts=LONG, ttl=(seconds(1), seconds(2))),
    TerminationStorm(at=NOW),
)


def in_words(fault: Fault) -> str:
    return "-".join([fault.kind, str(getattr(fault, "without", getattr(fault, "how", "")))])


def lively(engine: EngineSettings | None = None) -> Scenario:
    """A few pods of which one dies each second or so."""
    return Scenario(
        name="heal",
        title="A node to be healed",
        shows="That it can be.",
        workloads=(
            Replicas(
                namespace="shop",
                name="web",
                kind="StatefulSet",
                containers=(runs_on("app"), runs_on("side")),
                count=5,
                mishaps=(
                    Mishap(
                        every=(millis(500), millis(1500)),
                        containers=("app", "side"),
                        ending=ERROR,
                    ),
                ),
            ),
        ),
        engine=engine or EngineSettings(event_channel=1000),
        workers=WorkerSettings(backoff_scale=0.01),
    )


def test_every_kind_is_healed_here() -> None:
    assert {type(one) for one in FAULTS} == set(typing.get_args(AnyFault))


# ----------------------------------------------------------------------------------- virtual time


@pytest.mark.parametrize("fault", FAULTS, ids=in_words)
@pytest.mark.parametrize("profile", ["kep", "generic", "1.37"])
def test_in_virtual_time(fault: Fault, profile: str) -> None:
    session = VirtualSession(lively(), profile=profile)
    account = Account(session)
    session.start()
    session.run_until(seconds(70))
    pressed = session.plan.begin_now(fault)
    session.run_until(seconds(90))
    assert session.plan.heal_all() == (0 if fault.lasts == 0 else 1)
    # Unimplemented is tried once a minute; everything else is over sooner.
    session.run_until(seconds(155))
    assert session.plan.active() == ()
    assert session.workers.runtime.state == "up"
    assert session.engine.state(session.clock.mono()).health.healthy
    settled = session.settle()
    last = account.look()
    summary = account.summary(seconds(155), last, settled=settled)
    assert settled
    assert summary.difference == ()
    assert (summary.ends.never, summary.ends.waiting, summary.ends.twice) == (0, 0, 0)
    if profile == "kep":
        assert summary.stream.state == "connected"
    told = {one.kind: one for one in summary.faults}[pressed.kind]
    stream = fault.family == "stream"
    assert told.hits > 0 or (stream and PROFILES[profile].hints == "none")


@pytest.mark.parametrize("fault", FAULTS, ids=in_words)
def test_by_itself_in_virtual_time(fault: Fault) -> None:
    """Nobody heals: it ends after the time that it was pressed for."""
    session = VirtualSession(lively())
    session.start()
    session.run_until(seconds(20))
    session.plan.begin_now(fault, lasts=seconds(10))
    session.run_until(seconds(31))
    assert session.plan.active() == ()
    session.run_until(seconds(100))
    assert session.engine.state(session.clock.mono()).health.healthy
    assert session.settle()
    assert session.differences() == ()


# -------------------------------------------------------------------------------------- over gRPC

SPEED = 20
PATIENCE_S = 60.0


class Live:
    """A node that is served over gRPC, and a shadow that watches it, at twenty times the speed."""

    def __init__(self, folder: Path) -> None:
        self.clock = RealClock(SPEED)
        self.path = folder / "cri.sock"
        scenario = lively(
            EngineSettings(
                event_channel=1000, backoff_cap_ns=seconds(2), healthy_after_ns=seconds(5)
            )
        )
        self.node = SimNode(scenario, self.clock, endless=True, lead_ns=0)
        self.journal = Journal()
        self.journal.subscribe(self.node.on_record)
        self.engine = Engine(scenario.engine, random.Random(1))
        self.driver: Driver | None = None

    def feed(self, happened: Input) -> None:
        if self.driver is not None:
            self.driver.feed(happened)

    async def begin(self, client: CriClient, tasks: asyncio.TaskGroup) -> asyncio.Task[None]:
        """Start everything; returns the node's task, whose end is the end of all."""
        ready = asyncio.Event()
        node = tasks.create_task(self.node.run(self.path, self.feed, ready))
        await ready.wait()
        found = await probe(client, self.address, self.clock, join_shared_stream=True)
        first = Probe(found.seen, found.shared)
        source = CriSource(client, self.clock, first, join_shared_stream=True)
        self.driver = Driver(self.engine, source, self.journal, self.clock)
        reader = tasks.create_task(source.run(self.driver.feed))
        node.add_done_callback(lambda _: reader.cancel())
        self.driver.start(first.seen)
        return node

    @property
    def address(self) -> str:
        return f"unix://{self.path}"

    async def passes(self, time_s: float) -> None:
        """So much of the session's time."""
        until = self.clock.mono() + seconds(time_s)
        await self.until(lambda: self.clock.mono() >= until)

    async def until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < deadline, "it never became so"
            await asyncio.sleep(0.005)

    def has_hit(self, number: int) -> bool:
        """Whether the fault of this number has hit anything so far."""
        return self.node.plan.tallies()[number - 1].hits > 0

    def well(self) -> bool:
        """Everything is as if nothing had ever been pressed."""
        state = self.engine.state(self.clock.mono())
        return (
            state.health.healthy
            and state.stream.state == "connected"
            and self.node.workers.runtime.state == "up"
            and differences(self.engine, self.node.world) == ()
        )


async def test_over_grpc_one_after_the_other(tmp_path: Path) -> None:
    live = Live(tmp_path)
    async with CriClient(live.address, live.clock) as client, asyncio.TaskGroup() as tasks:
        node = await live.begin(client, tasks)
        await live.until(live.well)
        for fault in FAULTS:
            number = live.node.plan.begin_now(fault).number
            if isinstance(fault, SyncLoopStalls):
                # What it hit is known when it is over.
                await live.passes(5)
            else:
                await live.until(partial(live.has_hit, number))
                await live.passes(1)
            live.node.plan.heal_all()
            await live.until(live.well)
            assert live.has_hit(number), fault
        assert live.driver is not None
        live.driver.stop()
        node.cancel()


async def test_over_grpc_the_queue_and_the_event_channel_fill(tmp_path: Path) -> None:
    live = Live(tmp_path)
    lost: list[Lifecycle] = []

    def listen(record: Record) -> None:
        if isinstance(record, Lifecycle) and record.delivery == "discarded":
            lost.append(record)

    live.journal.subscribe(listen)
    async with CriClient(live.address, live.clock) as client, asyncio.TaskGroup() as tasks:
        node = await live.begin(client, tasks)
        await live.until(live.well)
        plan = live.node.plan
        plan.begin_now(EventsRepeated(at=NOW, lasts=LONG))
        state = live.engine.state
        await live.until(lambda: state(live.clock.mono()).requests["dropped"] > 0)
        plan.heal_all()
        await live.until(live.well)
        assert not lost
        plan.begin_now(SyncLoopStalls(at=NOW, lasts=LONG, room=1))
        await live.until(lambda: len(lost) > 0)
        plan.heal_all()
        await live.until(live.well)
        assert live.driver is not None
        live.driver.stop()
        node.cancel()
