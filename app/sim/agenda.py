"""Time for the simulated node: a heap of appointments, and processes that wait.

A discrete-event core of the usual kind: whatever happens later is an appointment ``(t, call)``;
appointments of the same time run in the order they were made. A *process* is a generator that
yields how long it waits (ns), or the :class:`Signal` it waits for. So SyncPod reads from top to
bottom, and can be cancelled anywhere: it sees :class:`CancelledError`, and its ``finally`` runs.
One that is merely forgotten, with the whole simulation, only comes to its ``finally``.

The agenda never sleeps and never asks what time it is except through its clock: a driver calls
``run_due`` whenever the clock has reached ``next_time``. Under a :class:`VirtualClock`,
:func:`play` is that driver and a minute takes milliseconds.
"""

import heapq
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import TypeAlias, TypeVar

from app.clock import Clock

T = TypeVar("T")


class Appointment:
    """A call that stands in the agenda until it is made or cancelled."""

    __slots__ = ("call", "cancelled")

    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        """Do not make the call; harmless once it was made."""
        self.cancelled = True


class Signal:
    """Something that happens once. A process waits for it by yielding it."""

    def __init__(self, agenda: "Agenda") -> None:
        self._agenda = agenda
        self._waiting: list[Callable[[], object]] = []
        self.fired = False

    def fire(self) -> None:
        """It has happened: whoever waits goes on at this very time, but not within this call."""
        if self.fired:
            return
        self.fired = True
        for call in self._waiting:
            self._agenda.after(0, call)
        self._waiting.clear()

    def then(self, call: Callable[[], object]) -> None:
        """Make ``call`` when it happens; at once (through the agenda) when it has happened."""
        if self.fired:
            self._agenda.after(0, call)
        else:
            self._waiting.append(call)


Wait: TypeAlias = int | Signal
Steps: TypeAlias = Generator[Wait, None, T]
"""What a process is made of; ``T``: what it returns to one that runs it by ``yield from``."""


class CancelledError(BaseException):
    """Raised in a process where it waits, when it is cancelled."""


class Process:
    """A running generator. ``done`` fires when it returned or was cancelled."""

    def __init__(self, agenda: "Agenda", steps: Steps[None]) -> None:
        self._agenda = agenda
        self._steps = steps
        self._appointment = agenda.after(0, self._go_on)
        self.done = Signal(agenda)

    def cancel(self) -> None:
        """End it where it waits: it is told so, and waits no more. Not from within itself."""
        if self.done.fired:
            return
        self._appointment.cancel()
        self.done.fire()
        with suppress(CancelledError, StopIteration):
            self._steps.throw(CancelledError())
        self._steps.close()

    def _go_on(self) -> None:
        if self.done.fired:
            return
        try:
            wait = next(self._steps)
        except StopIteration:
            self.done.fire()
            return
        if isinstance(wait, Signal):
            wait.then(self._go_on)
        else:
            self._appointment = self._agenda.after(wait, self._go_on)


class Agenda:
    """What will happen, in order of time (monotonic ns of the session).

    ``on_earlier`` is called when an appointment comes before all others, so that a sleeping driver
    can wake up.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.on_earlier: Callable[[], None] | None = None
        self._heap: list[tuple[int, int, Appointment]] = []
        self._made = 0

    def at(self, t: int, call: Callable[[], object]) -> Appointment:
        """Make ``call`` at ``t``; a time that has passed means as soon as possible."""
        appointment = Appointment(call)
        self._made += 1
        entry = (t, self._made, appointment)
        heapq.heappush(self._heap, entry)
        if self.on_earlier is not None and self._heap[0] is entry:
            self.on_earlier()
        return appointment

    def after(self, delay_ns: int, call: Callable[[], object]) -> Appointment:
        """Make ``call`` in ``delay_ns`` from now."""
        return self.at(self.clock.mono() + delay_ns, call)

    def start(self, steps: Steps[None]) -> Process:
        """Begin a process; its first step is made through the agenda, not within this call."""
        return Process(self, steps)

    def signal(self) -> Signal:
        """A new signal of this agenda."""
        return Signal(self)

    def next_time(self) -> int | None:
        """When the next appointment is due; None when nothing will ever happen."""
        while self._heap and self._heap[0][2].cancelled:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run_due(self, limit: int = 1000) -> int:
        """Make the calls that are due, at most ``limit``; returns how many were made.

        The limit lets a real driver give way to others; what is left is still due afterwards.
        """
        made = 0
        while made < limit:
            t = self.next_time()
            if t is None or t > self.clock.mono():
                break
            _, _, appointment = heapq.heappop(self._heap)
            appointment.call()
            made += 1
        return made

    def clear(self) -> None:
        """Forget everything that stands in it."""
        self._heap.clear()


class VirtualClock:
    """A clock that stands still until it is told to move. ``wall_ns``: wall time at its start."""

    def __init__(self, wall_ns: int = 1_800_000_000_000_000_000) -> None:
        self._origin = wall_ns
        self._now = 0

    def mono(self) -> int:
        """Nanoseconds since the session began."""
        return self._now

    def wall(self) -> int:
        """Nanoseconds since 1970."""
        return self._origin + self._now

    def real_s(self, _ns: int) -> float:
        """Nobody waits for it."""
        return 0.0

    def advance_to(self, t: int) -> None:
        """Let it be ``t``; never goes back."""
        self._now = max(self._now, t)


def play(agenda: Agenda, clock: VirtualClock, until: int) -> None:
    """Let virtual time run to ``until`` (monotonic ns), making every call at its exact time."""
    heap = agenda._heap
    while heap and heap[0][0] <= until:
        t, _, appointment = heapq.heappop(heap)
        if not appointment.cancelled:
            clock.advance_to(t)
            appointment.call()
    clock.advance_to(until)
