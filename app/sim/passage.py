"""What the faults at work make of one event on its way, for both ways that an event can go.

Decided here once, carried out by ``virtualstream.py`` (in virtual time) and ``livestream.py`` (over
gRPC), so that a scenario's faults hit alike in both.
"""

from typing import Literal

import msgspec

from app.sim.chance import between
from app.sim.faultplan import FaultPlan
from app.sim.faults import (
    EventsDamaged,
    EventsDoubled,
    EventsLost,
    EventsMisdated,
    EventsReordered,
    EventsRepeated,
    Missing,
    StreamDelayed,
    StreamSilent,
)
from app.sim.objects import RuntimeEvent

REFUSED = "unknown method GetContainerEvents for service runtime.v1.RuntimeService"
"""What a runtime without an event stream says."""

BROKEN = "the stream was broken off"
CLOSED = "socket closed"


class Passage(msgspec.Struct, frozen=True):
    """How one event arrives.

    ``created_at`` is what it claims (wall ns); ``without`` names what is missing in it.
    ``later_ns``: by how much it is late. ``overtaken``: later ones may come before it. ``copies``:
    so many times it comes once more, in its order.
    """

    created_at: int
    without: Missing | Literal[""] = ""
    later_ns: int = 0
    overtaken: bool = False
    copies: int = 0


def passage(plan: FaultPlan, told: RuntimeEvent) -> Passage | Literal["held", "lost"]:
    """What becomes of this event now; each fault that hits it counts it.

    ``held``: it is to be kept until the silence is over. ``lost``: it never comes.
    """
    if plan.quiet:
        return Passage(told.created_at)
    for silence in plan.at_work(StreamSilent):
        silence.hits += 1
        return "held" if silence.fault.late else "lost"
    if plan.hit_event(EventsLost, told) is not None:
        return "lost"
    damage = plan.hit_event(EventsDamaged, told)
    later = 0
    created_at = _dated(plan, told)
    for delay in plan.at_work(StreamDelayed):
        delay.hits += 1
        later += between(delay.rng, delay.fault.by)
    overtaken = plan.hit_event(EventsReordered, told)
    if overtaken is not None:
        later += between(overtaken.rng, overtaken.fault.by)
    return Passage(
        created_at,
        "" if damage is None else damage.fault.without,
        later,
        overtaken is not None,
        _copies(plan, told),
    )


def _copies(plan: FaultPlan, told: RuntimeEvent) -> int:
    repeated = plan.hit_event(EventsRepeated, told)
    doubled = plan.hit_event(EventsDoubled, told) is not None
    return doubled + (0 if repeated is None else repeated.fault.times)


def _dated(plan: FaultPlan, told: RuntimeEvent) -> int:
    misdated = plan.hit_event(EventsMisdated, told)
    if misdated is None:
        return told.created_at
    by = misdated.fault.by
    return 0 if by is None else told.created_at + by
