"""The event stream as hostile as a wire can be: connections that end, events that do not arrive.

Two generators: one is drawn from for each event of the world, the other for each connection, so a
stream that is opened once more leaves the fate of every event as it was.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from app.engine.inputs import (
    EndCode,
    Input,
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamLost,
    StreamOpened,
    StreamRenewed,
)
from app.engine.model import ContainerEvent
from app.sim.chance import generator
from tests.engine.facts import LIE
from tests.engine.node import Item
from tests.engine.play import Clock, container_event
from tests.sweep.knobs import MS, SECOND, Wire, pause
from tests.sweep.nature import Agenda

ENDS: tuple[EndCode, ...] = ("eof", "error", "deadline", "unavailable", "cancelled")
REFUSALS: tuple[EndCode, ...] = ("unavailable", "unimplemented", "immediate_eof", "error")
LACKING: tuple[dict[str, Any], ...] = (
    {"has_sandbox_status": False},
    {"has_metadata": False},
    {"pod_uid": ""},
    {"type": "unknown(9)"},
)
KINDS = ("stopped", "stopped", "created", "started", "deleted", "unknown(9)")


class Link:
    """One runtime's stream towards one engine: at most one connection at a time."""

    def __init__(
        self,
        seed: int,
        wire: Wire,
        clock: Clock,
        agenda: Agenda,
        tell: Callable[[Input], object],
        faults: Counter[str],
    ) -> None:
        self._connection = generator(seed, "connections")
        self._fates = generator(seed, "events")
        self._lies = generator(seed, "false events")
        self._wire = wire
        self._clock = clock
        self._agenda = agenda
        self._tell = tell
        self._faults = faults
        self._number = 0
        """Of the newest connection; what belongs to an older one is void."""
        self.is_open = False
        self.out: Callable[[], bool] = lambda: False
        """Whether the runtime is away."""
        self.healed = False
        self.gone = False
        """For good: no connection is ever accepted again."""

    def begin(self, uids: tuple[str, ...]) -> None:
        """From now on there are events that nothing caused."""
        self._uids = uids
        self._agenda.at(pause(self._lies, self._wire.false_gap), self._false)

    # Connections

    def open(self) -> None:
        """The engine opens the stream."""
        assert not self.is_open, "one connection at a time"
        rng = self._connection
        self._number += 1
        self.is_open = True
        number, wait, life = self._number, pause(rng, 10 * MS), pause(rng, self._wire.life)
        grace, refused = rng.choice((0, 0, 100 * MS, SECOND)), rng.random() < self._wire.refused
        code, end, renewal = rng.choice(REFUSALS), rng.choice(ENDS), rng.random()
        if self.out() or self.gone:
            refused, code = True, "unavailable"
        elif self.healed:
            refused, life = False, 10**18
        at = self._clock.t + wait
        if refused:
            self._faults[f"stream refused: {code}"] += 1
            self._agenda.at(at, lambda: self.end(code, number))
            return
        self._agenda.at(at, lambda: self._say(StreamOpened, number))
        self._agenda.at(at + grace, lambda: self._say(StreamLive, number))
        if renewal < 0.3:
            self._agenda.at(at + life // 2, lambda: self._say(StreamRenewed, number))
        if life < 10**17:
            self._agenda.at(at + life, lambda: self.end(end, number))

    def close(self) -> None:
        """The engine closes it."""
        self.is_open = False
        self._number += 1

    def end(self, code: EndCode, number: int | None = None) -> None:
        """The connection ends, unless it is another one by now."""
        if not self.is_open or number not in (None, self._number):
            return
        self.is_open = False
        self._faults[f"stream ended: {code}"] += 1
        self._tell(StreamEnded(t=self._clock.t, wall=self._clock.wall, code=code, detail="Gone."))

    def _say(
        self, what: type[StreamOpened] | type[StreamLive] | type[StreamRenewed], number: int
    ) -> None:
        if self.is_open and number == self._number:
            self._tell(what(t=self._clock.t, wall=self._clock.wall))

    # Events

    def happened(self, kind: str, item: Item) -> None:
        """Something happened on the node; whether and when the engine hears of it is chance."""
        rng, wire, clock = self._fates, self._wire, self._clock
        lost, late, doubled, malformed, future, overflow = (rng.random() for _ in range(6))
        by, again = pause(rng, wire.lateness), pause(rng, wire.lateness)
        lack, when = rng.choice(LACKING), rng.choice((3600, -7200, None))
        if overflow < wire.overflows:
            self._faults["ring overflow"] += 1
            self._overflow()
        if lost < wire.lost:
            self._faults["event lost"] += 1
            return
        event = _event(item.uid, item.id, kind, clock.wall)
        if malformed < wire.malformed:
            self._faults["event malformed"] += 1
            event = msgspec.structs.replace(event, **lack)
        if future < wire.future:
            self._faults["event from another time"] += 1
            at = 0 if when is None else clock.wall + when * SECOND
            event = msgspec.structs.replace(event, created_at=at)
        number = self._number
        if late < wire.late:
            self._faults["event late"] += 1
            self._agenda.at(clock.t + by, lambda: self._deliver(event, number))
        else:
            self._deliver(event, number)
        if doubled < wire.doubled:
            self._faults["event doubled"] += 1
            self._agenda.at(clock.t + again, lambda: self._deliver(event, number))

    def repeat(self, uid: str, item_id: str) -> None:
        """A stop that is told again and again, for as long as there is a stream."""
        self._deliver(_event(uid, item_id, "stopped", self._clock.wall), None)

    def _false(self) -> None:
        rng, clock = self._lies, self._clock
        uid, item_id = rng.choice((*self._uids, "nobody")), f"c{rng.randrange(30)}"
        kind, stood = rng.choice(KINDS), rng.choice((0, MS, SECOND))
        if self.healed:
            return
        self._faults["event without a cause"] += 1
        self._deliver(_event(uid, item_id, kind, clock.wall), None, stood)
        self._agenda.at(clock.t + pause(rng, self._wire.false_gap), self._false)

    def _deliver(self, event: ContainerEvent, number: int | None, stood: int = 0) -> None:
        """Now, if there is a stream; ``stood``: it waited so long in the source's ring."""
        if not self.is_open or number not in (None, self._number):
            return
        if self.gone or (self.healed and number is not None):
            return  # nothing comes out of what is gone, and what was late is lost by now
        t = max(0, self._clock.t - stood)
        self._tell(StreamEvent(t=t, wall=self._clock.wall - self._clock.t + t, event=event))

    def _overflow(self) -> None:
        if self.is_open:
            t, wall = self._clock.t, self._clock.wall
            self._tell(StreamLost(t=t, wall=wall, count=3, from_t=t))


def _event(uid: str, item_id: str, kind: str, wall: int) -> ContainerEvent:
    return container_event(uid, item_id, kind, wall, exit_code=LIE, reason="LIE", pod_name="LIE")
