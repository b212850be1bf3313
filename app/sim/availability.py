"""Whether the runtime answers: up, down (being restarted), or frozen (stopped by a signal).

While it is down every call fails at once; while it is frozen every call waits. What the world did
meanwhile is not lost on a frozen runtime, which tells of it late; a restarted one never learns how
those processes ended (as containerd 1.7 and 2.1 were measured to do).

One that is up may be stalled as well: calls that tell an event do not come back, as a subscriber
does not read (containerd 2.x).
"""

from collections.abc import Callable
from typing import Literal

from app.sim.agenda import Agenda, Signal, Steps
from app.sim.world import WorldError

DOWN = "connection error: the container runtime is not running"


class UnavailableError(WorldError):
    """Nobody answers (gRPC UNAVAILABLE)."""


class Availability:
    """The runtime's process, as far as its callers notice it."""

    def __init__(self, agenda: Agenda) -> None:
        self.state: Literal["up", "down", "frozen"] = "up"
        self.starts = 0
        """How often it has come back."""
        self.stall: Callable[[], Signal | None] = _none
        """What calls that told an event have to wait for, if they have to."""
        self._agenda = agenda
        self._changed = agenda.signal()

    def freeze(self) -> None:
        """SIGSTOP. One that is down cannot be frozen."""
        if self.state == "up":
            self._become("frozen")

    def thaw(self) -> None:
        """SIGCONT."""
        if self.state == "frozen":
            self._become("up")

    def go_down(self) -> None:
        """The process is gone, with whoever was waiting for it."""
        if self.state != "down":
            self._become("down")

    def start(self) -> None:
        """The process is there again."""
        if self.state == "down":
            self.starts += 1
            self._become("up")

    def on_change(self, call: Callable[[], object]) -> None:
        """Call once, when the state is another one (through the agenda)."""
        self._changed.then(call)

    def reach(self) -> Steps[None]:
        """Steps of a call: go on when the runtime answers.

        Raises:
            UnavailableError: it is down, or went down while the call waited.
        """
        while self.state == "frozen":
            yield self._changed
        if self.state == "down":
            raise UnavailableError(DOWN)

    def sent(self) -> Steps[None]:
        """Steps at the end of a call that told an event: go on when that could be sent."""
        while (stall := self.stall()) is not None:
            yield stall

    def _become(self, state: Literal["up", "down", "frozen"]) -> None:
        self.state = state
        changed, self._changed = self._changed, self._agenda.signal()
        changed.fire()


def _none() -> Signal | None:
    """Nothing stalls."""
    return None
