"""Which faults are at work now: begun and ended by the agenda, or by hand.

Two ways in. A scenario's faults are ``schedule``d. Whoever sits before the node presses one at any
moment: ``begin_now`` begins it, ``active`` says what is at work, ``lift`` ends one, ``heal_all``
ends all of them. What is pressed always ends by itself. All of it is to be called where the agenda
runs (one task, never another thread).

A fault draws from a generator of its own (seed, kind, its number among those of its kind that were
scheduled, or pressed), so one fault more shifts nothing in the others. What a fault did is counted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random
from typing import Any, Generic, Literal, TypeVar

import msgspec

from app.sim.agenda import Agenda, Appointment
from app.sim.availability import Availability
from app.sim.chance import generator
from app.sim.faultnames import about, named
from app.sim.faults import EventFault, Family, Fault, PodFault, RuntimeFreezes, RuntimeRestarts
from app.sim.objects import RuntimeEvent
from app.sim.units import Ns

F = TypeVar("F", bound=Fault)
P = TypeVar("P", bound=PodFault)
E = TypeVar("E", bound=EventFault)

MOST_AT_WORK = 100
"""Faults at the same time; no more can be pressed."""
MOST_REMEMBERED = 5_000
"""Faults that are over and still told of; the oldest are forgotten."""


class FaultTally(msgspec.Struct, frozen=True):
    """What became of one fault: when it was at work (monotonic ns), and what it hit.

    ``ended_t`` is None for one that was at work to the end. ``hits``: events, calls or streams that
    it changed.
    """

    kind: str
    began_t: int
    ended_t: int | None
    hits: int


class AtWork(msgspec.Struct, frozen=True, kw_only=True):
    """A fault at work, for people and pages. Times in monotonic ns of the session.

    ``number`` is its own within the plan, counted from 1 in order of beginning: what ``lift``
    takes. ``until_t``: when it ends by itself; None when it does not. ``hits``: events, calls or
    streams that it has changed so far. ``pressed``: begun by hand, not by the scenario. ``text``:
    its name, as on its button. ``about``: the pods it is about; empty for all, or none.
    """

    number: int
    kind: str
    text: str
    about: str
    since_t: int
    until_t: int | None
    hits: int
    imitates: str
    pressed: bool


class PressError(ValueError):
    """A fault that cannot be pressed now; says why and what to do."""


class ActiveFault(Generic[F]):
    """One fault at work."""

    def __init__(
        self, fault: F, rng: Random, began_t: int, number: int = 0, *, pressed: bool = False
    ) -> None:
        self.fault = fault
        self.rng = rng
        self.began_t = began_t
        self.number = number
        self.pressed = pressed
        self.ended_t: int | None = None
        self.hits = 0

    def at_work(self) -> AtWork:
        """What is to be told of it."""
        fault = self.fault
        words = named(fault)
        return AtWork(
            number=self.number,
            kind=fault.kind,
            text=words.text,
            about=about(fault),
            since_t=self.began_t,
            until_t=None if fault.lasts is None else self.began_t + int(fault.lasts),
            hits=self.hits,
            imitates=words.imitates,
            pressed=self.pressed,
        )

    def strikes(self, share: float) -> bool:
        """Whether this one is hit, of which ``share`` are; counted when it is."""
        hit = share >= 1 or self.rng.random() < share
        self.hits += hit
        return hit


def in_words(active: ActiveFault[Any]) -> tuple[Literal["info", "warning"], str]:
    """What to tell of a fault that has just begun or ended, and how loudly."""
    words, pods = named(active.fault), about(active.fault)
    text = f"{words.text} ({pods})" if pods else words.text
    if active.ended_t is None:
        return "warning", f"Fault begins: {text}. It imitates: {words.imitates}"
    return "info", f"Fault is over: {text}."


class FaultPlan:
    """The faults of one node; those of the runtime as a whole change its ``availability``.

    ``on_begin`` and ``on_end`` are called after each change.
    """

    def __init__(self, agenda: Agenda, availability: Availability, seed: int) -> None:
        self._agenda = agenda
        self._availability = availability
        self._seed = seed
        self._changed = agenda.signal()
        self._scheduled: list[Appointment] = []
        self._numbers: Counter[str] = Counter()
        self._begun = 0
        self._active: dict[type[Fault], list[ActiveFault[Any]]] = {}
        self._all: list[ActiveFault[Any]] = []
        self.on_begin: list[Callable[[ActiveFault[Any]], None]] = []
        self.on_end: list[Callable[[ActiveFault[Any]], None]] = []
        self.quiet = True
        """Whether none is at work, so that nobody needs to ask for each kind."""

    def schedule(self, faults: Iterable[Fault], lead_ns: int = 0) -> None:
        """Let each begin at its time, counted from ``lead_ns`` from now."""
        for fault in faults:
            begin = partial(self.begin, fault)
            self._scheduled.append(self._agenda.after(lead_ns + fault.at, begin))

    # By hand

    def begin_now(self, fault: Fault, lasts: int | None = None) -> AtWork:
        """Press: this fault begins now, whatever its own ``at`` says.

        It lasts for ``lasts`` (ns); without it for the fault's own ``lasts``, and without that for
        its kind's ``pressed_ns``: what is pressed always ends by itself. The same presses at the
        same times of the same seed have the same effect.

        Raises:
            PressError: too many faults are at work; lift some first.
        """
        if sum(map(len, self._active.values())) >= MOST_AT_WORK:
            raise PressError(
                f"{MOST_AT_WORK} faults are at work already. Lift some of them, or heal all."
            )
        if lasts is None:
            lasts = fault.pressed_ns if fault.lasts is None else fault.lasts
        now = self._agenda.clock.mono()
        pressed = msgspec.structs.replace(fault, at=Ns(now), lasts=Ns(lasts))
        return self._begin(pressed, pressed=True).at_work()

    def active(self) -> tuple[AtWork, ...]:
        """What is at work now, in order of beginning."""
        working = (one for some in self._active.values() for one in some)
        return tuple(one.at_work() for one in sorted(working, key=lambda one: one.number))

    def lift(self, number: int) -> bool:
        """End the one with this number; whether it was at work."""
        for some in self._active.values():
            for one in some:
                if one.number == number:
                    self.end(one)
                    return True
        return False

    def heal_all(self) -> int:
        """End all that are at work, pressed or not; returns how many. Those which the scenario has
        yet to bring still come."""
        working = self.active()
        for one in working:
            self.lift(one.number)
        return len(working)

    # By the scenario

    def begin(self, fault: F) -> ActiveFault[F]:
        """It is at work from now on, until its time is over or ``end`` is called."""
        return self._begin(fault)

    def _begin(self, fault: F, *, pressed: bool = False) -> ActiveFault[F]:
        kind = fault.kind
        names = (kind, "pressed") if pressed else (kind,)
        self._numbers["/".join(names)] += 1
        rng = generator(self._seed, "fault", *names, self._numbers["/".join(names)])
        self._begun += 1
        now = self._agenda.clock.mono()
        active = ActiveFault(fault, rng, now, self._begun, pressed=pressed)
        self._active.setdefault(type(fault), []).append(active)
        self._remember(active)
        self.quiet = False
        if isinstance(fault, RuntimeRestarts):
            self._availability.go_down()
        elif isinstance(fault, RuntimeFreezes):
            self._availability.freeze()
        self._tell_change()
        for call in self.on_begin:
            call(active)
        if fault.lasts is not None:
            self._agenda.after(fault.lasts, lambda: self.end(active))
        return active

    def end(self, active: ActiveFault[Any]) -> None:
        """It is over; harmless when it was already."""
        if active.ended_t is not None:
            return
        active.ended_t = self._agenda.clock.mono()
        self._active[type(active.fault)].remove(active)
        self.quiet = not any(self._active.values())
        if not self.at_work(RuntimeRestarts):
            self._availability.start()
        if not self.at_work(RuntimeFreezes):
            self._availability.thaw()
        self._tell_change()
        for call in self.on_end:
            call(active)

    def heal(self, *families: Family) -> None:
        """End all faults of these families."""
        for active in tuple(self._all):
            if active.fault.family in families:
                self.end(active)

    def close(self) -> None:
        """End all faults; those that are scheduled do not begin any more."""
        for appointment in self._scheduled:
            appointment.cancel()
        for active in tuple(self._all):
            self.end(active)

    def on_change(self, call: Callable[[], object]) -> None:
        """Call once, when a fault has begun or ended (through the agenda)."""
        self._changed.then(call)

    def at_work(self, kind: type[F]) -> Sequence[ActiveFault[F]]:
        """The faults of one kind that are at work now, oldest first."""
        return self._active.get(kind, ())

    def hit_event(self, kind: type[E], told: RuntimeEvent) -> ActiveFault[E] | None:
        """The first fault of a kind that hits this event; counted."""
        pod = told.sandbox.config
        for active in self.at_work(kind):
            fault = active.fault
            if fault.events and told.kind not in fault.events:
                continue
            if fault.concerns(pod.namespace, pod.name) and active.strikes(fault.share):
                return active
        return None

    def hit_pod(self, kind: type[P], namespace: str, name: str) -> ActiveFault[P] | None:
        """The first fault of a kind that hits a call about this pod; counted."""
        for active in self.at_work(kind):
            fault = active.fault
            if fault.concerns(namespace, name) and active.strikes(fault.share):
                return active
        return None

    def tallies(self) -> tuple[FaultTally, ...]:
        """All faults that have begun so far (the newest 5,000 or so), in that order."""
        return tuple(
            FaultTally(one.fault.kind, one.began_t, one.ended_t, one.hits) for one in self._all
        )

    def _remember(self, active: ActiveFault[Any]) -> None:
        self._all.append(active)
        if len(self._all) > MOST_REMEMBERED + MOST_AT_WORK:
            over = [one for one in self._all if one.ended_t is not None]
            forgotten = set(over[: len(self._all) - MOST_REMEMBERED])
            self._all = [one for one in self._all if one not in forgotten]

    def _tell_change(self) -> None:
        changed, self._changed = self._changed, self._agenda.signal()
        changed.fire()
