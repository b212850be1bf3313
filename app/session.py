"""One session: what is being watched, and the state that every page's header shows."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import msgspec

from app.clock import Clock
from app.cost import CostMeter, Traffic
from app.driver import Driver
from app.engine.hanging import LOOK_NS, HangWatch, OldestCall, oldest_of
from app.engine.inputs import RuntimeProbed
from app.engine.records import Note, Record, RelistFinished, RuntimeSeen
from app.histogram import Histogram
from app.hub.wire import FaultAtWork, Recorded, SessionState
from app.journal.journal import Journal

TICK_S = LOOK_NS / 1e9
SHORTEST_TICK_S = 0.05

STALLED_S = 2.0
"""Not having looked for so long, plegscope itself did not run: stopped, starved, or asleep with the
machine. An answer may be there, unread: no call's age says anything about the runtime then."""


class CallCount(Protocol):
    """What calls of one method amounted to."""

    @property
    def calls(self) -> int:
        """How many were made."""
        ...

    @property
    def failed(self) -> int:
        """How many of them failed."""
        ...

    @property
    def durations(self) -> Histogram:
        """How long the unary ones took."""
        ...


class Calls(Traffic, Protocol):
    """Who makes the calls to the runtime."""

    @property
    def counts(self) -> Mapping[str, CallCount]:
        """Calls made so far, by CRI method name."""
        ...

    def oldest_call(self) -> tuple[str, int] | None:
        """(method, when it began, ns) of the unary call that has waited longest."""
        ...


class Subject(msgspec.Struct, frozen=True):
    """What is being watched, in words for people."""

    title: str
    simulated: bool
    endpoint: str
    endpoint_reason: str


class Session:
    """Holds a session's parts together for whoever asks for its state."""

    def __init__(
        self, subject: Subject, driver: Driver, journal: Journal, calls: Calls, clock: Clock
    ) -> None:
        self.id = secrets.token_hex(8)
        self.subject = subject
        self._driver = driver
        self._journal = journal
        self.calls = calls
        self._clock = clock
        self._meter = CostMeter(calls)
        self._runtime: RuntimeSeen | None = None
        self._hangs = HangWatch()
        self._watched = clock.mono()
        self._failed = False
        self._answers_again = asyncio.Event()
        self.viewers: Callable[[], int] = lambda: 0
        """How many browsers are connected; set by whoever serves them."""
        self.recorded: Callable[[], Recorded | None] = lambda: None
        """The recorder's state; set by whoever has one."""
        self.speed = 1.0
        """How many times as fast as real time ``clock`` goes."""
        self.faults: Callable[[], tuple[FaultAtWork, ...]] = tuple
        """The faults at work on a simulated node; set by whoever knows them."""
        journal.subscribe(self._on_record)

    def state(self) -> SessionState:
        """Everything the header shows, as of now."""
        engine = self._driver.state()
        return SessionState(
            session=self.id,
            title=self.subject.title,
            simulated=self.subject.simulated,
            endpoint=self.subject.endpoint,
            endpoint_reason=self.subject.endpoint_reason,
            wall=self._clock.wall(),
            engine=engine,
            cost=self._meter.cost(),
            runtime=self._runtime,
            oldest_call=self._oldest(engine.t),
            viewers=self.viewers(),
            first_seq=self._journal.first_seq,
            last_seq=self._journal.last_seq,
            recording=self.recorded(),
            speed=self.speed,
            faults=self.faults(),
        )

    @property
    def runtime(self) -> RuntimeSeen | None:
        """Who answered last."""
        return self._runtime

    def warn(self, text: str) -> None:
        """Put a warning on the timeline."""
        self._journal.append(
            Note(t=self._clock.mono(), wall=self._clock.wall(), level="warning", text=text)
        )

    async def tick(self) -> None:
        """Each second own cost; twice a second of the session whether the runtime hangs (and not
        more than twenty times a real one). Runs until cancelled."""
        tick_s = max(SHORTEST_TICK_S, min(TICK_S, self._clock.real_s(round(TICK_S * 1e9))))
        ticks = 0
        while True:
            await asyncio.sleep(tick_s)
            ticks += 1
            if ticks * tick_s >= 1:
                ticks = 0
                self._meter.sample()
            self.watch_calls()

    def watch_calls(self) -> None:
        """Tell when a call begins to hang, and when the runtime answers again."""
        now = self._clock.mono()
        stalled = self._clock.real_s(now - self._watched) > STALLED_S
        self._watched = now
        if stalled:
            return
        told = self._hangs.look(self._oldest(now), now, self._clock.wall())
        if told is not None:
            self._journal.append(told)

    async def reprobe(self, probe: Callable[[], Awaitable[RuntimeProbed | None]]) -> None:
        """Ask the runtime who it is each time it answers again after it had failed, and as long as
        it has not said so.

        It may have been replaced by another version, which decides about the stream. ``probe``
        returns None when nobody answered, or nothing has changed. Runs until cancelled.
        """
        while True:
            await self._answers_again.wait()
            self._answers_again.clear()
            probed = await probe()
            if probed is not None:
                self._driver.feed(probed)

    def _oldest(self, now: int) -> OldestCall | None:
        return oldest_of(self.calls.oldest_call(), now)

    def _on_record(self, record: Record) -> None:
        if isinstance(record, RuntimeSeen):
            self._runtime = record
        elif isinstance(record, RelistFinished) and record.scope == "global":
            if record.ok and (self._failed or self._runtime is None):
                self._answers_again.set()
            self._failed = not record.ok
