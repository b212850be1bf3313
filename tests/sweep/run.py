"""One seed's life: world, wire, runtime, crew and engine on one agenda, watched at every step."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Literal

from app.engine.effects import Effect, InspectPod, ListPods, WakeAt
from app.engine.inputs import Input
from app.engine.model import CallCost, Observation
from app.engine.outbox import Outputs
from app.engine.records import RelistFinished
from app.engine.stream import RETRY
from app.sim.chance import generator
from tests.engine.convergence import converged
from tests.engine.node import Sight
from tests.engine.oracle import Oracle
from tests.engine.play import WALL, Call, Stage, of
from tests.sweep.crew import Crew
from tests.sweep.knobs import MS, SECOND, Knobs, pause
from tests.sweep.nature import World
from tests.sweep.rebuild import rebuilt
from tests.sweep.weight import weigh
from tests.sweep.wire import Link

Mode = Literal["safety", "liveness"]
MODES: tuple[Mode, ...] = ("safety", "liveness")

STEPS = 600
"""Steps of the engine in one life, before it is healed or ended."""

DEADLINE = 120 * SECOND
"""When a hung call is given up (the kubelet's runtime request timeout)."""

CORE = ("stream", "inspection", "hold", "reader", "targeted lists", "stop storm")
"""Faults that can be for ever."""

QUICK = MS
"""What a healed runtime takes for a call."""

SETTLING, TURNS = 4, 16
"""Global relists that a healed life gets to become quiet, and to show that it stays so."""


class Life(Stage):
    """A stage on which everything follows from ``seed``."""

    def __init__(self, seed: int, mode: Mode) -> None:
        self.seed = seed
        self.mode = mode
        self.knobs = knobs = Knobs(seed)
        self.faults: Counter[str] = Counter()
        self.steps = 0
        self.oracle = Oracle(knobs.settings)
        super().__init__(
            settings=knobs.settings, dice=generator(seed, "backoff"), watcher=self._watched
        )
        self.node.interned = knobs.runtime.interned
        self._lists = generator(seed, "lists")
        self._inspections = generator(seed, "inspections")
        self._alarms = generator(seed, "timers")
        self.link = Link(seed, knobs.wire, self.clock, self, self.tell, self.faults)
        self.world = World(
            seed, knobs.nature, self.node, self, lambda: self.clock.t, self.link.happened
        )
        self.link.out = lambda: self.world.out
        self.world.on_outage = self._outage
        self.world.on_clock = self._clock_step
        self.crew = Crew(seed, knobs.workers, self.world.uids, self, self.faults)
        self.core: frozenset[str] = frozenset()
        self.victim = self.world.uids[0]
        self.healed_t: int | None = None

    # A life

    def live(self, steps: int = STEPS) -> None:
        """So many steps, healed after them or not, then the end."""
        self.world.begin()
        self.link.begin(self.world.uids)
        self.start()
        self.crew.begin()
        while self.steps < steps:
            self.next()
        self.accounts_agree()
        if self.mode == "liveness":
            self._heal()
        rebuilt(self)
        self._end()
        rebuilt(self)

    def accounts_agree(self) -> None:
        """The engine's state, its bounds, and the oracle's account."""
        self.oracle.agrees(self.state())
        assert len(self.engine._generic.stops._stops) <= self.settings.stops_kept, "stops kept"

    def _end(self) -> None:
        """After the stop nothing is left: no timer, no stream, and late answers change nothing."""
        self.stop()
        assert self.timers() == ()
        assert not self.link.is_open
        before = len(self.records)
        for call in tuple(self.calls):
            self._answer(call)
        self.ask(self.victim)
        assert len(self.records) == before, "after the end nothing is told"
        self.accounts_agree()

    # Watching

    def _watched(self, happened: Input, outputs: Outputs) -> None:
        self.steps += 1
        queued, held = self.oracle.requests.count("queued"), self.oracle.requests.count("held")
        rows = self._rows()
        self.oracle.watch(happened, outputs)
        rows += self._rows() + len(self.oracle.listed)
        # Each request moves at most twice, each row and each pod has a few records at most; the
        # stream, health and two relists come on top.
        assert len(outputs.records) <= 16 + 2 * (queued + held) + 4 * rows, "records per step"
        if self.steps % 8 == 0:
            self.accounts_agree()

    def _rows(self) -> int:
        return sum(map(len, self.oracle.published.values()))

    # The runtime

    def _call(self, effect: ListPods | InspectPod) -> None:
        lists = isinstance(effect, ListPods)
        knobs, rng = self.knobs.runtime, self._lists if lists else self._inspections
        takes, looks = 1 + pause(rng, knobs.latency), rng.random()
        fails, hangs, doubles, turns = (rng.random() for _ in range(4))
        often = knobs.fails if lists else knobs.inspection_fails
        for_long = knobs.hangs if lists else knobs.inspection_hangs
        error = ""
        if self.healed_t is not None:
            takes, error = QUICK, self._broken_for_ever(effect)
        elif fails < often:
            error = "The runtime says no."
            self.faults["list failed" if lists else "inspection failed"] += 1
        elif hangs < for_long:
            takes = round(hangs / for_long * 2 * DEADLINE)
            self.faults["list hung" if lists else "inspection hung"] += 1
            if takes >= DEADLINE:
                takes, error = DEADLINE, "The runtime did not answer within 2 minutes."
        call = Call(effect)
        self.calls.append(call)
        self.at(self.clock.t + round(takes * looks), partial(self._see, call, doubles, turns))
        self.at(self.clock.t + takes, partial(self._over, call, error, takes))

    def _broken_for_ever(self, effect: Effect) -> str:
        if isinstance(effect, InspectPod):
            broken = "inspection" in self.core and effect.uid == self.victim
            return "This pod's inspection always fails." if broken else ""
        assert isinstance(effect, ListPods)
        broken = "targeted lists" in self.core and effect.uid is not None
        return "Only the list of all pods works." if broken else ""

    def _see(self, call: Call, doubles: float, turns: float) -> None:
        if call not in self.calls or call.sight is not None:
            return
        knobs = self.knobs.runtime
        sight = call.sight = self._look(call.effect)
        if not isinstance(sight, Sight):
            return
        if turns < knobs.turned_rows:
            self.faults["rows in another order"] += 1
            sight = call.sight = Sight(_turned(sight.sandboxes), _turned(sight.containers))
        if doubles < knobs.doubled_rows and self.healed_t is None:
            self.faults["rows doubled"] += 1
            call.sight = Sight(sight.sandboxes * 2, sight.containers * 2)

    def _over(self, call: Call, error: str, took: int) -> None:
        if call not in self.calls:
            return
        lists = isinstance(call.effect, ListPods)
        names = ("ListPodSandbox", "ListContainers") if lists else ("ContainerStatus",)
        costs = tuple(CallCost(name, took // len(names)) for name in names)
        if self.world.out:
            self.faults["call during an outage"] += 1
            error = error or "The runtime is away."
        if error:
            self._fail(call, error, *costs)
        else:
            self._answer(call, *costs)

    # The stream, the clock, timers

    def _stream_opens(self) -> None:
        self.link.open()

    def _stream_closes(self) -> None:
        self.link.close()

    def _outage(self) -> None:
        self.faults["runtime outage"] += 1
        self.link.end("unavailable")

    def _clock_step(self, skew: int) -> None:
        self.faults["wall clock stepped"] += 1
        self.clock.wall_skew = max(skew, self.clock.t - WALL)

    def _ring(self, wake: WakeAt) -> None:
        if self._timers.get(wake.timer) is not wake and self._alarms.random() < 0.5:
            self.faults["stale timer"] += 1
            self.fire(wake)
        else:
            super()._ring(wake)

    # Liveness

    def _heal(self) -> None:
        """All but a core of faults ends; the rest converges within one global relist and one
        period, and then nothing grows."""
        rng = generator(self.seed, "core")
        self.core = frozenset(rng.sample(CORE, rng.randint(0, 3)))
        for fault in self.core:
            self.oracle.situations.add(f"for ever: {fault}")
        self.victim = rng.choice(self.world.uids)
        self.world.frozen = self.link.healed = True
        self.world.out = False
        self.healed_t = healed_t = self.clock.t
        self.crew.reads = "reader" not in self.core
        self.crew.rest(self.victim if "hold" in self.core else None)
        for call in tuple(self.calls):
            self.at(self.clock.t + QUICK, partial(self._over, call, "", QUICK))
        if "stream" in self.core:
            self.link.gone = True
            self.link.end("unavailable")
        if "stop storm" in self.core:
            self._storm()
        relist = QUICK * (2 + len(self.world.uids))
        # A global relist that runs now had a slow list, and the pause after it may be longer.
        pause = self.oracle.pause
        self._run_until(lambda: not self._lists_globally(), healed_t + relist)
        deadline = healed_t + max(pause, self.oracle.pause) + 3 * relist
        good = self._next_global(healed_t + 1)
        assert good.ok
        assert self.clock.t <= deadline, "one global relist and one period were not enough"
        assert good.withheld <= ("hold" in self.core), "others are not delayed by a held pod"
        self._converged()
        self._stays_idle(relist)

    def _stays_idle(self, relist: int) -> None:
        """The queue empties; from then on relists find nothing and nothing grows.

        Whatever comes once only (the first stop that is folded into a held one, when a stream that
        was just lost is back) may come late: three relists in a row must weigh the same, in time.
        """
        if "stop storm" in self.core:
            # It begins with the stream, which may have been down for long.
            patience = self.clock.t + 2 * self.settings.backoff_cap_ns + 4 * self._gap()
            self._run_until(lambda: RETRY not in self.timers(), patience)
            self._until(self.clock.t + 3 * self._gap())
        patience = (self.oracle.requests.count("queued") + 8) * relist + self._gap()
        weights, told_before = [], []
        for turn in range(TURNS):
            self._next_global(self.clock.t)
            if turn < SETTLING:
                continue
            self._run_until(self._idle, self.clock.t + patience)
            weights.append(weigh(self.engine))
            told_before.append(len(self.records))
            if len(weights) >= 3 and len(set(weights[-3:])) == 1:
                break
        assert len(set(weights[-3:])) == 1, f"an idle engine grows: {weights}"
        before = told_before[-3]
        named = set(self.engine._generic.records._known)
        assert named - {self.victim} == set(self.node.pods()) - {self.victim}, "names stay"
        told = {type(record).__name__ for record in self.records[before:]}
        assert not told & {"Lifecycle", "PodUncached", "EventIgnored"}, told
        if "stop storm" not in self.core:
            assert not told & {"PodSeen", "PodGone"}, "names come and go with a storm only"
        assert ("PodCached" in told) <= ("inspection" in self.core)
        self._converged()
        self.accounts_agree()

    def _storm(self) -> None:
        item = next(iter(self.node.items.values()), None)
        self.link.repeat(self.victim, "nothing" if item is None else item.id)
        self.at(self.clock.t + self._gap(), self._storm)

    def _gap(self) -> int:
        """Between two stop events of a storm: time for what each asks for."""
        return max(self.settings.period_ns // 2, 8 * QUICK * (2 + len(self.world.uids)))

    def _next_global(self, since: int) -> RelistFinished:
        """The next global relist that begins from ``since`` on, when it is over."""
        seen = len(self.records)

        def over() -> bool:
            return bool(self._globals(seen, since))

        self._run_until(over, 10**18)
        return self._globals(seen, since)[0]

    def _globals(self, seen: int, since: int) -> list[RelistFinished]:
        ended = of(self.records[seen:], RelistFinished)
        return [one for one in ended if one.scope == "global" and one.started >= since]

    def _lists_globally(self) -> bool:
        running = self.state().running
        return running is not None and running.scope == "global"

    def _idle(self) -> bool:
        state = self.state()
        return state.running is None and not state.queue.length

    def _run_until(self, reached: Callable[[], bool], deadline: int) -> None:
        while not reached():
            self.next()
            assert self.clock.t <= deadline, "too late"

    def _until(self, t: int) -> None:
        self._run_until(lambda: self.clock.t >= t, 10**18)

    def _converged(self) -> None:
        victims = {self.victim} if self.core & {"inspection", "hold"} else set()
        forward = self.knobs.nature.forward
        converged(self, self.oracle, forward=forward, besides=victims)


def _turned(rows: tuple[Observation, ...]) -> tuple[Observation, ...]:
    middle = len(rows) // 2
    return rows[middle:] + rows[:middle]
