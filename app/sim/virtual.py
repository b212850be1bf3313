"""A whole session in virtual time: node, pod workers, script, faults and a shadow PLEG.

No task, no socket, no server: one agenda, one virtual clock, and everything that happens is an
appointment. The same seed plays the same session, record for record, in every process. Everything
that draws has a generator of its own, so one more draw here shifts nothing there.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import msgspec

from app.engine.effects import CancelWake, WakeAt
from app.engine.engine import Engine
from app.engine.hanging import LOOK_NS, HangWatch, oldest_of
from app.engine.inputs import Input, RuntimeProbed, Start, Stop, TimerFired
from app.engine.profiles import PROFILES
from app.engine.records import Lifecycle, Note, Record, RelistFinished
from app.sim.agenda import Agenda, Appointment, VirtualClock, play
from app.sim.chance import generator
from app.sim.difference import Difference, differences
from app.sim.faultplan import ActiveFault, FaultPlan, in_words
from app.sim.flavour import SECOND
from app.sim.ledger import Ledger
from app.sim.nodefaults import NodeFaults
from app.sim.objects import RuntimeEvent
from app.sim.performance import Performance
from app.sim.scenario import Scenario
from app.sim.script import Script
from app.sim.virtualruntime import VirtualRuntime
from app.sim.workers import PodWorkers
from app.sim.world import World
from app.source import Tap

BACKOFF = "reconnect backoff"
"""What the engine's generator is called."""

ENDPOINT = "simulated"
REASON = "This runtime exists only in virtual time, and nobody else listens to it."
HELD = (
    "The script has ended. The node is held still and answers every call, until the shadow has "
    "listed it once more; then both are compared."
)

SETTLE_NS = 300 * SECOND
"""How long the shadow may take at the end to have seen everything: far more than it needs, unless
it is not going to."""
SETTLE_SLOW_NS = 5 * SECOND
"""The same for a profile that relists every few minutes only: what the normal period would need."""


class VirtualSession:
    """One scenario under one profile. ``on_record`` gets every record (not numbered: ``seq`` 0).

    ``seed``: None takes the scenario's own.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int | None = None,
        profile: str = "kep",
        on_record: Callable[[Record], None] | None = None,
    ) -> None:
        self.scenario = scenario
        self.seed = scenario.seed if seed is None else seed
        self.profile = PROFILES[profile]
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.ledger = Ledger()
        self.world = World(self.seed, self._publish, scenario.rules)
        self.workers = PodWorkers(
            self.agenda,
            self.world,
            self.feed,
            self.seed,
            scenario.workers,
            witness=self.ledger,
        )
        self.plan = FaultPlan(self.agenda, self.workers.runtime, self.seed)
        NodeFaults(self.agenda, self.plan, self.workers, channel=scenario.engine.event_channel)
        self.runtime = VirtualRuntime(
            self.agenda,
            self.world,
            self.workers.runtime,
            self.plan,
            self.feed,
            seed=self.seed,
            latencies=scenario.latencies,
            payload=self.profile.hints == "write",
        )
        self.engine = Engine(
            msgspec.structs.replace(scenario.engine, profile=profile),
            generator(self.seed, BACKOFF),
        )
        self.performance = Performance(
            self.agenda, self.workers, Script(self.seed, scenario.workloads)
        )
        self.listeners: list[Callable[[Record], None]] = [self._watch]
        if on_record is not None:
            self.listeners.append(on_record)
        self.tap: Tap | None = None
        """Is told what the engine is fed; set before the start."""
        self._hangs = HangWatch()
        self._timers: dict[str, Appointment] = {}
        self._stepping = False
        self._listed_t = -1
        """Start of the newest global relist that ended well and withheld nothing."""
        self._changed_t = 0
        """When the world last changed."""
        self.world.on_change.append(self._note_change)

    # The session's life

    def start(self) -> None:
        """Residents are on the node, the script begins, and the engine starts at time 0."""
        self.plan.on_begin.append(self._tell_fault)
        self.plan.on_end.append(self._tell_fault)
        self.performance.set_the_stage()
        t, wall = self._now()
        rules = self.scenario.rules
        self.feed(
            RuntimeProbed(
                t=t,
                wall=wall,
                name=rules.runtime_name,
                version=rules.runtime_version,
                api_version=rules.api_version,
                endpoint=ENDPOINT,
                policy="join",
                reason=REASON,
            )
        )
        self.feed(Start(t=t, wall=wall))
        self.plan.schedule(self.scenario.faults)
        self.performance.begin()
        self.agenda.after(LOOK_NS, self._look)

    def run_until(self, t: int) -> None:
        """Let virtual time run to ``t`` (ns since the beginning)."""
        play(self.agenda, self.clock, int(t))

    def settle(self) -> bool:
        """Hold the node still and let the shadow look at it once more.

        All faults are lifted but those of the stream, as losing it must never matter. Returns
        whether the shadow had its look; a profile with a slow global relist is not waited for
        longer than a quick one would need.
        """
        self.performance.end()
        self.workers.hold()
        self.plan.heal("lists", "inspections", "runtime", "kubelet", "node")
        self.note("info", HELD)
        slow = self.engine.state(self.clock.mono()).period_ns > 60 * SECOND
        limit = self.clock.mono() + (SETTLE_SLOW_NS if slow else SETTLE_NS)
        self._changed_t = self.clock.mono()
        while (t := self.agenda.next_time()) is not None and t <= limit:
            self.run_until(t)
            if self._listed_t >= self._changed_t and self._idle():
                return True
        return False

    def stop(self) -> None:
        """The engine stops; what waited is cancelled."""
        t, wall = self._now()
        self.feed(Stop(t=t, wall=wall))
        self.agenda.clear()

    def differences(self) -> tuple[Difference, ...]:
        """What the shadow's records and cache have otherwise than the runtime, now."""
        return differences(self.engine, self.world)

    def note(self, level: Literal["info", "warning"], text: str) -> None:
        """Put a sentence among the records, now."""
        t, wall = self._now()
        self._take(Note(t=t, wall=wall, level=level, text=text))

    # The way of the data

    def feed(self, happened: Input) -> None:
        """Hand an input to the engine; never from within its step."""
        assert not self._stepping, "an input was fed from within the engine's step"
        self._stepping = True
        if self.tap is not None:
            self.tap.took(happened)
        outputs = self.engine.step(happened)
        for record in outputs.records:
            self._take(record)
        if self.tap is not None:
            self.tap.made()
        self._stepping = False
        for effect in outputs.effects:
            if isinstance(effect, WakeAt):
                self._forget_timer(effect.timer)
                self._timers[effect.timer] = self.agenda.at(effect.at, partial(self._fire, effect))
            elif isinstance(effect, CancelWake):
                self._forget_timer(effect.timer)
            else:
                self.runtime.perform(effect)

    def _take(self, record: Record) -> None:
        self.workers.on_record(record)
        for listener in self.listeners:
            listener(record)

    def _watch(self, record: Record) -> None:
        if isinstance(record, Lifecycle):
            self.ledger.on_record(record)
        elif (
            isinstance(record, RelistFinished)
            and record.scope == "global"
            and record.ok
            and not record.withheld
        ):
            self._listed_t = record.started

    def _look(self) -> None:
        """Whether a call hangs, as a session looks that watches a real runtime."""
        t, wall = self._now()
        told = self._hangs.look(oldest_of(self.runtime.oldest_call(), t), t, wall)
        if told is not None:
            self._take(told)
        self.agenda.after(LOOK_NS, self._look)

    def _publish(self, told: RuntimeEvent) -> None:
        self.ledger.told(told, self.clock.mono())
        self.runtime.stream.publish(told)

    def _note_change(self, _item_id: str) -> None:
        self._changed_t = self.clock.mono()

    def _fire(self, wake: WakeAt) -> None:
        t, wall = self._now()
        self.feed(TimerFired(t=t, wall=wall, timer=wake.timer, token=wake.token))

    def _forget_timer(self, timer: str) -> None:
        appointment = self._timers.pop(timer, None)
        if appointment is not None:
            appointment.cancel()

    def _idle(self) -> bool:
        if self.workers.processes.unnoticed:
            return False
        state = self.engine.state(self.clock.mono())
        queue = state.queue
        return state.running is None and not (queue.length or queue.held or queue.suspended)

    def _tell_fault(self, active: ActiveFault[Any]) -> None:
        self.note(*in_words(active))

    def _now(self) -> tuple[int, int]:
        return self.clock.mono(), self.clock.wall()
