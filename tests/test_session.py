"""A session: when the runtime is said to hang, and when it is plegscope itself that did not run."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping

from app.driver import Driver
from app.engine.effects import Effect
from app.engine.engine import Engine
from app.engine.hanging import HUNG_AFTER_NS
from app.engine.inputs import RuntimeProbed
from app.engine.records import RuntimeHung, RuntimeSeen
from app.engine.settings import EngineSettings
from app.hub.wire import FaultAtWork
from app.journal.journal import Journal
from app.session import STALLED_S, TICK_S, CallCount, Session, Subject
from app.source import Feed
from tests.build import relist_finished

SECOND = 1_000_000_000
TICK_NS = int(TICK_S * SECOND)
STALLED_NS = int(STALLED_S * SECOND)


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.t = 7 * SECOND
        self.speed = 1.0

    def mono(self) -> int:
        return self.t

    def wall(self) -> int:
        return 1_795_962_760 * SECOND + self.t

    def real_s(self, ns: int) -> float:
        return ns / SECOND / self.speed


class Calls:
    """One call that waits since ``since``, if any."""

    calls_total = 0
    bytes_total = 0
    counts: Mapping[str, CallCount] = {}

    def __init__(self, clock: Hand) -> None:
        self.clock = clock
        self.since: int | None = None

    def oldest_call(self) -> tuple[str, int] | None:
        return None if self.since is None else ("ListContainers", self.since)


class Nobody:
    """A source that does nothing."""

    async def run(self, feed: Feed) -> None:
        raise AssertionError("nobody runs it")

    def perform(self, effect: Effect) -> None:
        raise AssertionError("nobody asks it")


class Stage:
    """A session whose time passes by hand."""

    def __init__(self) -> None:
        self.clock = Hand()
        self.calls = Calls(self.clock)
        self.journal = Journal()
        driver = Driver(
            Engine(EngineSettings(), random.Random(1)), Nobody(), self.journal, self.clock
        )
        subject = Subject("a node", False, "unix:///x", "given")
        self.session = Session(subject, driver, self.journal, self.calls, self.clock)

    def pass_time(self, ns: int) -> None:
        """plegscope runs and looks twice a second."""
        for _ in range(ns // TICK_NS):
            self.clock.t += TICK_NS
            self.session.watch_calls()

    def told(self) -> list[tuple[bool, int]]:
        """Whether it hangs, and the age, as told so far."""
        return [(r.hung, r.age_ns) for r in self.journal.since(0) if isinstance(r, RuntimeHung)]


def test_a_call_that_waits_too_long_is_told_once_and_again_when_it_was_answered() -> None:
    stage = Stage()
    stage.calls.since = stage.clock.t
    stage.pass_time(HUNG_AFTER_NS - TICK_NS)
    assert stage.told() == []
    stage.pass_time(4 * SECOND)
    assert stage.told() == [(True, HUNG_AFTER_NS)]
    stage.calls.since = None
    stage.pass_time(SECOND)
    assert stage.told() == [
        (True, HUNG_AFTER_NS),
        (False, HUNG_AFTER_NS + 4 * SECOND - TICK_NS),
    ]


def test_a_time_in_which_plegscope_did_not_run_is_no_fault_of_the_runtime() -> None:
    stage = Stage()
    stage.pass_time(SECOND)
    stage.calls.since = stage.clock.t
    stage.clock.t += 60 * SECOND
    stage.session.watch_calls()
    stage.calls.since = None
    stage.pass_time(3 * SECOND)
    assert stage.told() == []


def test_a_runtime_that_hangs_is_told_soon_after_such_a_time_too() -> None:
    stage = Stage()
    stage.pass_time(SECOND)
    stage.calls.since = stage.clock.t
    stage.clock.t += 60 * SECOND
    stage.session.watch_calls()
    stage.pass_time(TICK_NS)
    assert stage.told() == [(True, 60 * SECOND + TICK_NS)]


def test_looks_that_come_a_little_late_are_looks() -> None:
    stage = Stage()
    stage.calls.since = stage.clock.t
    for _ in range(4):
        stage.clock.t += STALLED_NS
        stage.session.watch_calls()
    assert stage.told() == [(True, 3 * STALLED_NS)]


def test_under_a_fast_clock_a_session_that_looks_in_time_is_not_stalled() -> None:
    stage = Stage()
    stage.clock.speed = 20.0
    stage.calls.since = stage.clock.t
    stage.clock.t += 20 * STALLED_NS
    stage.session.watch_calls()
    assert stage.told() == [(True, 20 * STALLED_NS)]
    stage.calls.since = stage.clock.t
    stage.clock.t += 20 * STALLED_NS + SECOND
    stage.session.watch_calls()
    assert len(stage.told()) == 1


def test_the_state_tells_speed_and_faults() -> None:
    stage = Stage()
    assert (stage.session.state().speed, stage.session.state().faults) == (1.0, ())
    fault = FaultAtWork(3, "break-stream", "Break the stream", "", 1, 2, "A torn cable.")
    stage.session.speed = 4.0
    stage.session.faults = lambda: (fault,)
    assert (stage.session.state().speed, stage.session.state().faults) == (4.0, (fault,))


async def test_who_it_is_is_asked_after_each_relist_until_it_has_said_so() -> None:
    """A runtime that hung as the session began; afterwards only when it comes back."""
    stage = Stage()
    asked: asyncio.Queue[int] = asyncio.Queue()

    async def probe() -> RuntimeProbed | None:
        asked.put_nowait(stage.journal.last_seq)
        return None

    def relist(number: int, *, ok: bool = True) -> int:
        stage.journal.append(relist_finished(number, number * SECOND, ok=ok))
        return stage.journal.last_seq

    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(stage.session.reprobe(probe))
        for number in (1, 2):
            seq = relist(number)
            assert await asyncio.wait_for(asked.get(), 5) == seq
        stage.journal.append(
            RuntimeSeen(
                t=0, wall=0, name="n", version="1", api_version="v1", endpoint="e", policy="join",
                reason="r",
            )
        )  # fmt: skip
        relist(3)
        relist(4, ok=False)
        seq = relist(5)
        assert await asyncio.wait_for(asked.get(), 5) == seq
        assert asked.empty()
        asking.cancel()
