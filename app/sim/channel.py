"""The runtime's way from its events to its subscribers: what waits, what is dropped, what hangs.

Who gets an event is decided in ``audience.py``. Here is what a subscriber without room leads to:
events wait. containerd 2.x drops nothing and lets its calls wait instead (``stalled``):
CreateContainer and RunPodSandbox hang for the whole node, and nobody gets anything, until the slow
one reads or leaves. containerd 1.7 and CRI-O drop events once so many wait, and no call hangs.

The stream over gRPC (``events.py``) and that in virtual time (``virtualstream.py``) both have one.
"""

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Generic, TypeVar

from app.sim.agenda import Agenda, Signal
from app.sim.audience import Audience
from app.sim.flavour import RuntimeRules
from app.sim.objects import RuntimeEvent

S = TypeVar("S")

LONGEST_WAIT = 10_000
"""Events that wait while the runtime's calls do, before further ones are dropped: a bound of ours,
for what happens on a node while it is stalled."""

WINDOW = 215
"""Events that are under way to a client that does not read, besides the runtime's own slots: what
HTTP/2 takes (measured on containerd 2.1 with a stopped process: 315 events in all)."""


class Listener:
    """A subscriber whose events nobody looks at. One that does not read takes some, then no more.

    ``on_take`` is called for each event that it is given.
    """

    def __init__(
        self, *, reads: bool, slots: int, on_take: Callable[[], object] | None = None
    ) -> None:
        self._reads = reads
        self._room = slots + WINDOW
        self._on_take = on_take

    @property
    def has_room(self) -> bool:
        """Whether it takes a further event."""
        return self._room > 0

    def take(self) -> None:
        """It is given an event."""
        if not self._reads:
            self._room -= 1
        if self._on_take is not None:
            self._on_take()


class Channel(Generic[S]):
    """Hands events to subscribers of kind ``S``, as the runtime of these ``rules`` does.

    ``send`` gets each event with those who get it, once all of them have room (``has_room``).
    """

    def __init__(
        self,
        rules: RuntimeRules,
        rng: Random,
        send: Callable[[RuntimeEvent, tuple[S, ...]], None],
        has_room: Callable[[S], bool],
    ) -> None:
        self._rules = rules
        self._send = send
        self._has_room = has_room
        self._audience: Audience[S] = Audience(rules, rng)
        self._waiting: deque[RuntimeEvent] = deque()
        self._calls: list[Callable[[], object]] = []
        self.dropped = 0
        """Events that were given up because too many waited."""

    @property
    def stalled(self) -> bool:
        """Whether calls that tell events hang, because a subscriber does not read."""
        return self._rules.channel is None and bool(self._waiting)

    def publish(self, told: RuntimeEvent) -> None:
        """Hand an event to whoever is to get it, or keep it for whoever comes."""
        most = LONGEST_WAIT if self._rules.channel is None else self._rules.channel
        if len(self._waiting) >= most:
            self.dropped += 1
            return
        self._waiting.append(told)
        self.pump()

    def join(self, one: S, now: int) -> tuple[RuntimeEvent, ...]:
        """A subscriber comes at ``now`` (wall ns); returns what it gets at once, however much.

        What was kept on containerd 1.7 has never left the channel: ``pump`` sends it.
        """
        kept = self._audience.join(one, now)
        if self._rules.stream == "each":
            return kept
        self._waiting.extend(kept)
        return ()

    def leave(self, one: S, *, noticed: bool) -> None:
        """A subscriber is gone. ``noticed``: the runtime knows, as it ended the stream itself."""
        self._audience.leave(one, noticed=noticed)
        self.pump()

    def restart(self) -> None:
        """The runtime ends: what was kept for whoever comes is lost, and who was there unknown."""
        self._waiting.clear()
        self._audience.restart()
        self._tell_moved()

    def pump(self) -> None:
        """Send what can be sent: a subscriber has come, gone, or room again."""
        while self._waiting:
            to = self._audience.hand(self._waiting[0], self._has_room)
            if to is None:
                return
            told = self._waiting.popleft()
            if to:
                self._send(told, to)
        self._tell_moved()

    def once_moved(self, call: Callable[[], object]) -> None:
        """Call once, when nothing waits any more."""
        self._calls.append(call)

    def stall(self, agenda: Agenda) -> Signal | None:
        """What calls that told an event have to wait for, if they have to."""
        if not self.stalled:
            return None
        moved = agenda.signal()
        self.once_moved(moved.fire)
        return moved

    def _tell_moved(self) -> None:
        calls, self._calls = self._calls, []
        for call in calls:
            call()
