"""Plays the engine with other settings against the rebuilt runtime, in virtual time."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import NamedTuple

import msgspec

from app.engine.effects import CancelWake, WakeAt
from app.engine.engine import Engine
from app.engine.inputs import (
    Input,
    RelistRequested,
    RuntimeProbed,
    Start,
    StreamEvent,
    StreamLost,
    SyncEnded,
    SyncStarted,
    TimerFired,
)
from app.engine.profiles import PROFILES
from app.engine.records import (
    Lifecycle,
    PodCached,
    PodUncached,
    Record,
    RelistFinished,
    RelistStarted,
)
from app.sim.agenda import Agenda, Appointment, Steps, VirtualClock, play
from app.sim.chance import generator
from app.whatif.cachelog import CacheLog
from app.whatif.evidence import Evidence
from app.whatif.holds import Held, as_recorded, lasting
from app.whatif.options import Options
from app.whatif.reactions import Reactions
from app.whatif.runtime import Look, RebuiltRuntime
from app.whatif.stream import EVENT_NS, RebuiltStream
from app.whatif.timeline import Timeline

JOINED = "The recording did not listen to the stream; this run was asked for a profile, so it does."
NO_STREAM = "This run was asked not to listen to the event stream."


class Played(NamedTuple):
    """What a play came to: found events, looks, relists, calls, and events that were assumed."""

    found: list[Lifecycle]
    looks: list[Look]
    relists: list[tuple[int, int]]
    waited: dict[int, int]
    """Relist number to how long its request had waited (targeted only)."""
    calls: dict[str, int]
    delivered: int
    lost: int
    assumed: int
    skipped: dict[str, list[tuple[int, int]]]
    """SyncPods (from, to) by pod UID that were left out, as they came of a finding that this run
    had not made by then; from when to when they may have acted on the runtime."""
    held: Held
    whole_t: int | None
    """End of the first good global relist."""
    cached: dict[str, list[int]]
    """What its cache said, as ``CacheLog.toggles``."""


class Play:
    """One play; ``run`` once."""

    def __init__(
        self,
        evidence: Evidence,
        timeline: Timeline,
        options: Options,
        on_record: Callable[[Record], None] | None = None,
    ) -> None:
        settings = options.settings(evidence.info.settings)
        self._evidence = evidence
        self._timeline = timeline
        self._options = options
        self._on_record = on_record
        self.clock = VirtualClock(evidence.info.origin)
        self.agenda = Agenda(self.clock)
        self.engine = Engine(settings, Random(evidence.info.chance))  # noqa: S311  no secret
        self.stream = RebuiltStream(
            self.agenda,
            evidence,
            timeline,
            self.feed,
            options=options,
            chance=generator(options.seed, "what-if", "stream loss"),
            payload=PROFILES[settings.profile].hints == "write",
        )
        self.runtime = RebuiltRuntime(self.agenda, evidence, timeline, self.stream, self.feed)
        self._timers: dict[str, Appointment] = {}
        self._found: list[Lifecycle] = []
        self._relists: list[tuple[int, int]] = []
        self._waited: dict[int, int] = {}
        self._whole_t: int | None = None
        self._cache = CacheLog()
        self._reactions = Reactions(evidence.found)
        hold_ns = options.hold_ns
        self._held = (
            lasting(evidence.script, hold_ns, evidence.until_t)
            if hold_ns
            else as_recorded(evidence.script, evidence.syncs)
        )

    def run(self) -> Played:
        """Play it to the recording's end."""
        evidence = self._evidence
        self.clock.advance_to(evidence.begin_t)
        self.agenda.start(self._script())
        self.agenda.start(self._untold())
        play(self.agenda, self.clock, evidence.until_t)
        self._reactions.over(evidence.until_t)
        stream = self.stream
        return Played(
            self._found,
            self.runtime.looks,
            self._relists,
            self._waited,
            dict(sorted(self.runtime.calls.items())),
            stream.delivered,
            stream.lost,
            stream.assumed,
            {
                uid: [self._held.recorded(uid, span) for span in spans]
                for uid, spans in self._reactions.skipped.items()
            },
            self._held,
            self._whole_t,
            self._cache.toggles,
        )

    def _script(self) -> Steps[None]:
        """The engine's start, and then what is played again, at its times."""
        started = False
        for happened in self._held.script:
            wait = happened.t - self.clock.mono()
            # A runtime that hung at first says who it is when the session has long begun.
            if not started and (wait > 0 or not isinstance(happened, RuntimeProbed)):
                started = True
                self._start()
            if wait > 0:
                yield wait
            if isinstance(happened, StreamEvent | StreamLost):
                self.stream.happened(happened)
            elif isinstance(happened, RuntimeProbed):
                self.feed(self._probe(happened))
            elif self._is_due(happened):
                self.feed(self._now_at(happened))
        if not started:
            self._start()

    def _is_due(self, happened: Input) -> bool:
        reactions, is_sync = self._reactions, isinstance(happened, SyncStarted | SyncEnded)
        if isinstance(happened, SyncStarted):
            reactions.sync_began(happened.uid, happened.t)
        if isinstance(happened, SyncStarted | SyncEnded | RelistRequested):
            skipped = reactions.skips(happened.uid)
            if isinstance(happened, SyncEnded):
                reactions.sync_ended(happened.uid, happened.t)
            if skipped and not (
                isinstance(happened, RelistRequested) and happened.source == "post_allocation"
            ):
                return False
        return self._options.hold_ns != 0 or not is_sync

    def _start(self) -> None:
        self.feed(Start(t=self.clock.mono(), wall=self.clock.wall()))

    def _untold(self) -> Steps[None]:
        """Changes that the recorded stream had no chance to tell of."""
        evidence, lives = self._evidence, self._timeline.lives
        for t, number, item_id in self._timeline.changes():
            life = lives[item_id]
            if (life.item.baseline and not number) or evidence.listening(t):
                continue
            wait = t + EVENT_NS - self.clock.mono()
            if wait > 0:
                yield wait
            self.stream.changed(life, number)

    def _probe(self, recorded: RuntimeProbed) -> Input:
        """As recorded, but for who listens. Who names a profile wants to see what it does."""
        probe = self._now_at(recorded)
        if not self._options.stream:
            return msgspec.structs.replace(probe, policy="relist_only", reason=NO_STREAM)
        if self._options.profile is not None and recorded.policy == "relist_only":
            return msgspec.structs.replace(probe, policy="join", reason=JOINED)
        return probe

    def _now_at(self, happened: Input) -> Input:
        return msgspec.structs.replace(happened, t=self.clock.mono(), wall=self.clock.wall())

    # The way of the data, as in app/sim/virtual.py

    def feed(self, happened: Input) -> None:
        """Hand an input to the engine; never from within its step."""
        outputs = self.engine.step(happened)
        for record in outputs.records:
            self._take(record)
        for effect in outputs.effects:
            if isinstance(effect, WakeAt):
                self._forget_timer(effect.timer)
                self._timers[effect.timer] = self.agenda.at(effect.at, partial(self._fire, effect))
            elif isinstance(effect, CancelWake):
                self._forget_timer(effect.timer)
            else:
                self.runtime.perform(effect)

    def _take(self, record: Record) -> None:
        match record:
            case Lifecycle(type="ContainerStarted" | "ContainerDied", is_sandbox=False):
                self._found.append(record)
                self._reactions.found(record)
            case RelistFinished():
                self._relists.append((record.started, record.t))
                if record.scope == "global" and record.ok and self._whole_t is None:
                    self._whole_t = record.t
                    if self._evidence.info.part > 1:
                        # The recorded run knew the pods by then.
                        self.runtime.calls.clear()
            case RelistStarted(scope="pod"):
                self._waited[record.relist] = record.waited_ns or 0
            case PodCached() | PodUncached():
                self._cache.apply(record)
            case _:
                pass
        if self._on_record is not None:
            self._on_record(record)

    def _fire(self, wake: WakeAt) -> None:
        self.feed(
            TimerFired(
                t=self.clock.mono(), wall=self.clock.wall(), timer=wake.timer, token=wake.token
            )
        )

    def _forget_timer(self, timer: str) -> None:
        appointment = self._timers.pop(timer, None)
        if appointment is not None:
            appointment.cancel()
