"""The kubelet's sync loop: who takes lifecycle events and orders to the pod workers, and when not.

As long as the PLEG is unhealthy the loop skips its turns (kubelet.go syncLoop, "Skipping pod
synchronization"): events wait in their channel, orders of the API server and the work queue wait
too, and the loop looks again after 100 ms, then after pauses that double up to 5 s. Pod workers
that are at work go on. So the longest pause is what a node needs after its runtime is back.
"""

from collections import deque
from collections.abc import Callable

from app.engine.records import Lifecycle
from app.sim.agenda import Agenda, Steps
from app.sim.flavour import MS, SECOND

TICK_NS = SECOND
"""kubelet.go syncTicker: how often the loop looks into the pod workers' work queue."""

SKIP_NS = (100 * MS, 5 * SECOND)
"""kubelet.go syncLoop: the first and the longest pause while it skips."""


class SyncLoop:
    """``handle`` gets each lifecycle event as it is taken from the channel."""

    def __init__(self, agenda: Agenda, handle: Callable[[Lifecycle], None]) -> None:
        self._agenda = agenda
        self._handle = handle
        self._channel: deque[Lifecycle] = deque()
        self._orders: deque[Callable[[], object]] = deque()
        self._stalled = False
        self._healthy = True
        self._skipping = False

    def __len__(self) -> int:
        """Events that nobody has taken yet."""
        return len(self._channel)

    def receive(self, event: Lifecycle) -> None:
        """An event comes through the channel."""
        self._channel.append(event)
        self._catch_up()

    def order(self, call: Callable[[], object]) -> None:
        """Something else wants a turn: the API server, a probe, the work queue."""
        if self._skipping:
            self._orders.append(call)
        else:
            call()

    def stall(self) -> None:
        """No event is taken from now on; they wait in their channel."""
        self._stalled = True

    def resume(self) -> int:
        """It goes on, with what waits first; returns how many events that is."""
        self._stalled = False
        self._agenda.after(0, self._catch_up)
        return len(self._channel)

    def on_health(self, *, healthy: bool) -> None:
        """The PLEG's health check answers otherwise than before."""
        self._healthy = healthy
        if not healthy and not self._skipping:
            self._skipping = True
            self._agenda.start(self._skip())

    def clear(self) -> None:
        """Nothing that waits is done any more."""
        self._channel.clear()
        self._orders.clear()

    def _skip(self) -> Steps[None]:
        pause, longest = SKIP_NS
        while not self._healthy:
            yield pause
            pause = min(2 * pause, longest)
        self._skipping = False
        while self._orders and not self._skipping:
            self._orders.popleft()()
        self._catch_up()

    def _catch_up(self) -> None:
        while self._channel and not self._stalled and not self._skipping:
            self._handle(self._channel.popleft())
