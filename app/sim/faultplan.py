"""Which faults are at work now: begun and ended by the agenda, or by hand.

A fault draws from a generator of its own (seed, kind, its number among those of its kind), so one
fault more shifts nothing in the others. What a fault did is counted.
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
from app.sim.faults import EventFault, Family, Fault, PodFault, RuntimeFreezes, RuntimeRestarts
from app.sim.objects import RuntimeEvent

F = TypeVar("F", bound=Fault)
P = TypeVar("P", bound=PodFault)
E = TypeVar("E", bound=EventFault)


class FaultTally(msgspec.Struct, frozen=True):
    """What became of one fault: when it was at work (monotonic ns), and what it hit.

    ``ended_t`` is None for one that was at work to the end. ``hits``: events, calls or streams that
    it changed.
    """

    kind: str
    began_t: int
    ended_t: int | None
    hits: int


class ActiveFault(Generic[F]):
    """One fault at work."""

    def __init__(self, fault: F, rng: Random, began_t: int) -> None:
        self.fault = fault
        self.rng = rng
        self.began_t = began_t
        self.ended_t: int | None = None
        self.hits = 0

    def strikes(self, share: float) -> bool:
        """Whether this one is hit, of which ``share`` are; counted when it is."""
        hit = share >= 1 or self.rng.random() < share
        self.hits += hit
        return hit


def in_words(active: ActiveFault[Any]) -> tuple[Literal["info", "warning"], str]:
    """What to tell of a fault that has just begun or ended, and how loudly."""
    fault = active.fault
    if active.ended_t is None:
        return "warning", f"Fault begins: {fault.kind}. It imitates: {fault.imitates}"
    return "info", f"Fault is over: {fault.kind}."


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

    def begin(self, fault: F) -> ActiveFault[F]:
        """It is at work from now on, until its time is over or ``end`` is called."""
        kind = fault.kind
        self._numbers[kind] += 1
        rng = generator(self._seed, "fault", kind, self._numbers[kind])
        active = ActiveFault(fault, rng, self._agenda.clock.mono())
        self._active.setdefault(type(fault), []).append(active)
        self._all.append(active)
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
        """All faults that have begun so far, in that order."""
        return tuple(
            FaultTally(one.fault.kind, one.began_t, one.ended_t, one.hits) for one in self._all
        )

    def _tell_change(self) -> None:
        changed, self._changed = self._changed, self._agenda.signal()
        changed.fire()
