"""The live driver: inputs in order, records before effects, timers never early, nothing left."""

import asyncio
import random

from app.clock import RealClock
from app.driver import Driver
from app.engine.effects import Effect, ListPods, OpenStream
from app.engine.engine import Engine
from app.engine.inputs import Input, PodsListed, ReinspectRequested, RuntimeProbed, Stop
from app.engine.records import HealthChanged, Record, RelistFinished, RelistStarted
from app.engine.settings import EngineSettings
from app.engine.stream import UNPROBED
from app.journal.journal import Journal
from app.source import Feed

MILLI = 1_000_000


class Recorder:
    """A source that carries out nothing and remembers what was wanted."""

    def __init__(self, journal: Journal) -> None:
        self.effects: list[Effect] = []
        self.journal = journal
        self.records_seen: list[int] = []
        self.wanted = asyncio.Event()

    async def run(self, feed: Feed) -> None:
        await asyncio.Event().wait()

    def perform(self, effect: Effect) -> None:
        self.effects.append(effect)
        self.records_seen.append(self.journal.last_seq)
        self.wanted.set()

    async def lists(self, count: int) -> list[ListPods]:
        """Wait until so many lists were wanted."""
        while True:
            found = [effect for effect in self.effects if isinstance(effect, ListPods)]
            if len(found) >= count:
                return found
            self.wanted.clear()
            await self.wanted.wait()


class Stage:
    """A driver with its parts."""

    def __init__(self, period_ns: int = 5 * MILLI) -> None:
        self.clock = RealClock()
        self.journal = Journal()
        self.source = Recorder(self.journal)
        self.engine = Engine(
            EngineSettings(period_ns=period_ns, health_poll_ns=5 * MILLI), random.Random(1)
        )
        self.driver = Driver(self.engine, self.source, self.journal, self.clock)

    def now(self) -> dict[str, int]:
        return {"t": self.clock.mono(), "wall": self.clock.wall()}

    def probed(self) -> RuntimeProbed:
        return RuntimeProbed(
            **self.now(),
            name="containerd",
            version="2.1.9",
            api_version="v1",
            endpoint="unix:///x",
            policy="join",
            reason="Each subscriber gets every event.",
        )

    def start(self) -> None:
        self.driver.start(self.probed())

    def answer(self, call: int) -> None:
        t, wall = self.clock.mono(), self.clock.wall()
        self.driver.feed(PodsListed(t=t, wall=wall, call=call, sandboxes=(), containers=()))

    def records(self) -> tuple[Record, ...]:
        return self.journal.since(0)


async def test_start_lists_at_once_and_opens_the_stream() -> None:
    stage = Stage()
    stage.start()
    assert [type(effect) for effect in stage.source.effects] == [ListPods, OpenStream]
    stage.driver.stop()


async def test_a_runtime_that_has_not_said_who_it_is_is_polled_until_it_does() -> None:
    stage = Stage()
    stage.driver.start(None)
    assert [type(effect) for effect in stage.source.effects] == [ListPods]
    assert stage.driver.state().stream.meaning == UNPROBED
    stage.driver.feed(stage.probed())
    assert [type(effect) for effect in stage.source.effects] == [ListPods, OpenStream]
    stage.driver.stop()


async def test_a_record_is_in_the_journal_before_its_effect_is_carried_out() -> None:
    stage = Stage()
    stage.start()
    started = next(r for r in stage.records() if isinstance(r, RelistStarted))
    assert stage.source.records_seen[0] >= started.seq
    stage.driver.stop()


async def test_the_next_global_relist_comes_a_period_after_the_end_of_the_last() -> None:
    stage = Stage()
    stage.start()
    stage.answer((await stage.source.lists(1))[0].call)
    await stage.source.lists(2)
    finished = next(r for r in stage.records() if isinstance(r, RelistFinished))
    again = [r for r in stage.records() if isinstance(r, RelistStarted)][1]
    assert again.t - finished.t >= 5 * MILLI
    stage.driver.stop()


async def test_health_is_polled_by_a_timer() -> None:
    stage = Stage()
    told = asyncio.Event()
    stage.journal.subscribe(lambda r: told.set() if isinstance(r, HealthChanged) else None)
    stage.start()
    stage.answer((await stage.source.lists(1))[0].call)
    await told.wait()
    assert stage.driver.state().health.last_seen is not None
    stage.driver.stop()


async def test_an_input_fed_while_a_step_is_in_progress_waits_for_its_end() -> None:
    stage = Stage()
    order: list[str] = []

    def reader(record: Record) -> None:
        if isinstance(record, RelistFinished) and not order:
            order.append("read")
            stage.driver.feed(ReinspectRequested(**stage.now(), uid="u"))
            order.append("fed")

    stage.journal.subscribe(reader)
    stage.start()
    stage.answer((await stage.source.lists(1))[0].call)
    assert order == ["read", "fed"]
    stage.driver.stop()


async def test_after_stop_no_timer_is_left_and_inputs_are_ignored() -> None:
    stage = Stage()
    stage.start()
    call = (await stage.source.lists(1))[0].call
    stage.driver.stop()
    count = stage.journal.last_seq
    stage.answer(call)
    stage.driver.stop()
    assert stage.journal.last_seq == count
    await asyncio.sleep(0)
    assert [type(e) for e in stage.source.effects].count(ListPods) == 1


class Tapped:
    """Writes down what it is told, among the records."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def took(self, happened: Input) -> None:
        self.told.append(happened)

    def made(self) -> None:
        self.told.append("made")


async def test_whoever_taps_hears_each_input_before_its_records_and_their_end() -> None:
    stage = Stage()
    tap = Tapped()
    driver = Driver(stage.engine, stage.source, stage.journal, stage.clock, tap)
    stage.journal.subscribe(tap.told.append)
    driver.start(RuntimeProbed(t=1, wall=1, name="n", version="v", api_version="v1", endpoint="e",
                               policy="join", reason="r"))  # fmt: skip
    driver.stop()
    kinds = [one if isinstance(one, str) else type(one).__name__ for one in tap.told]
    assert kinds[:5] == ["RuntimeProbed", "RuntimeSeen", "made", "Start", "Watching"]
    assert kinds.count("made") == 3
    assert kinds[-1] == "made"
    assert isinstance(next(one for one in reversed(tap.told) if isinstance(one, Input)), Stop)
