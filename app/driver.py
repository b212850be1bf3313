"""The live driver: one engine under a real clock, one source, one journal.

It is the only place where inputs meet the engine. Records go into the journal before the effects
are carried out, so that whatever an effect brings about comes later in the journal too.
"""

import asyncio
from collections import deque

from app.clock import Clock
from app.engine.effects import CancelWake, WakeAt
from app.engine.engine import Engine
from app.engine.inputs import Input, RuntimeProbed, Start, Stop, TimerFired
from app.engine.state import EngineState
from app.journal.journal import Journal
from app.source import Source, Tap


class Driver:
    """Feeds the engine, numbers its records, keeps its timers; effects go to the source."""

    def __init__(
        self,
        engine: Engine,
        source: Source,
        journal: Journal,
        clock: Clock,
        tap: Tap | None = None,
    ) -> None:
        self._engine = engine
        self._source = source
        self._journal = journal
        self._clock = clock
        self._tap = tap
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._inputs: deque[Input] = deque()
        self._stepping = False
        self._stopped = False

    def feed(self, happened: Input) -> None:
        """Take in an input; returns when the engine has dealt with it and all before it."""
        if self._stopped:
            return
        self._inputs.append(happened)
        if self._stepping:
            # A reader of the journal fed an input: it waits for the step in progress.
            return
        self._stepping = True
        try:
            while self._inputs:
                self._step(self._inputs.popleft())
        finally:
            self._stepping = False

    def start(self, probe: RuntimeProbed | None) -> None:
        """Begin, with what is known about the runtime (None: it has not said who it is)."""
        if probe is not None:
            self.feed(probe)
        self.feed(Start(t=self._clock.mono(), wall=self._clock.wall()))

    def stop(self) -> None:
        """End: the engine cancels what it waits for, and no timer is left."""
        if self._stopped:
            return
        self.feed(Stop(t=self._clock.mono(), wall=self._clock.wall()))
        self._stopped = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def state(self) -> EngineState:
        """The engine's state now."""
        return self._engine.state(self._clock.mono())

    def _step(self, happened: Input) -> None:
        if self._tap is not None:
            # Before the step: should the engine fail, what made it fail is known.
            self._tap.took(happened)
        outputs = self._engine.step(happened)
        for record in outputs.records:
            self._journal.append(record)
        if self._tap is not None:
            self._tap.made()
        for effect in outputs.effects:
            match effect:
                case WakeAt():
                    self._wake_at(effect)
                case CancelWake():
                    self._cancel(effect.timer)
                case _:
                    self._source.perform(effect)

    def _wake_at(self, wake: WakeAt) -> None:
        self._cancel(wake.timer)
        delay = self._clock.real_s(max(0, wake.at - self._clock.mono()))
        loop = asyncio.get_running_loop()
        self._timers[wake.timer] = loop.call_later(delay, self._fire, wake)

    def _fire(self, wake: WakeAt) -> None:
        self._timers.pop(wake.timer, None)
        now = self._clock.mono()
        if now < wake.at:
            # The loop's clock is coarser than ours: an early timer is set again, not believed.
            self._wake_at(wake)
            return
        self.feed(TimerFired(t=now, wall=self._clock.wall(), timer=wake.timer, token=wake.token))

    def _cancel(self, timer: str) -> None:
        handle = self._timers.pop(timer, None)
        if handle is not None:
            handle.cancel()
