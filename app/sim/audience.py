"""Who gets an event of the runtime's stream, and what is kept for whoever comes.

The one place where the rules of sharing, of the backlog and of subscribers that have left are
decided, for the stream over gRPC (``events.py``) and for that in virtual time
(``virtualstream.py``).
"""

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Generic, TypeVar

import msgspec

from app.sim.flavour import RuntimeRules
from app.sim.objects import RuntimeEvent

S = TypeVar("S")


class _Ghost(msgspec.Struct):
    """A subscriber that has left, which the runtime notices when sending has failed."""

    left: int
    """So many events are still sent to it."""


def _always(_one: object) -> bool:
    return True


class Audience(Generic[S]):
    """The subscribers of one runtime; ``rng`` decides how long one that left is not noticed."""

    def __init__(self, rules: RuntimeRules, rng: Random) -> None:
        self._rules = rules
        self._rng = rng
        self._turns: deque[S | _Ghost] = deque()
        """In the order in which they wait for an event: those who had one go to the end."""
        self._kept: deque[RuntimeEvent] = deque()
        self._came = False
        """Whether anybody has subscribed since the runtime's start."""

    def join(self, one: S, now: int) -> tuple[RuntimeEvent, ...]:
        """A subscriber comes at ``now`` (wall ns); returns what was kept for it."""
        self._turns.append(one)
        self._came = True
        age_ns = self._rules.backlog.age_ns
        kept = tuple(
            told for told in self._kept if age_ns is None or told.created_at >= now - age_ns
        )
        self._kept.clear()
        return kept

    def leave(self, one: S, *, noticed: bool) -> None:
        """A subscriber is gone. ``noticed``: the runtime knows, as it ended the stream itself."""
        if one not in self._turns:
            return
        self._turns.remove(one)
        events = 0 if noticed else self._rng.randint(*self._rules.ghosts)
        if events:
            self._turns.append(_Ghost(events))

    def hand(
        self, told: RuntimeEvent, has_room: Callable[[S], bool] = _always
    ) -> tuple[S, ...] | None:
        """Who gets this event now; empty when it was kept, or is lost. None: it has to wait."""
        if self._rules.stream == "none":
            return ()
        if not self._turns:
            self._keep(told)
            return ()
        if self._rules.stream == "one":
            return self._next(has_room)
        there = tuple(one for one in self._turns if not isinstance(one, _Ghost))
        if not all(map(has_room, there)):
            return None
        for ghost in [one for one in self._turns if isinstance(one, _Ghost)]:
            self._haunt(ghost)
        return there

    def restart(self) -> None:
        """The runtime ends: it forgets everybody and everything."""
        self._turns.clear()
        self._kept.clear()
        self._came = False

    def _next(self, has_room: Callable[[S], bool]) -> tuple[S, ...] | None:
        for one in self._turns:
            if isinstance(one, _Ghost):
                self._turns.remove(one)
                self._turns.append(one)
                self._haunt(one)
                return ()
            if has_room(one):
                self._turns.remove(one)
                self._turns.append(one)
                return (one,)
        return None

    def _haunt(self, ghost: _Ghost) -> None:
        ghost.left -= 1
        if not ghost.left:
            self._turns.remove(ghost)

    def _keep(self, told: RuntimeEvent) -> None:
        backlog = self._rules.backlog
        if backlog.once and self._came:
            return
        if len(self._kept) >= backlog.count:
            if backlog.keeps == "oldest" or not self._kept:
                return
            self._kept.popleft()
        self._kept.append(told)
