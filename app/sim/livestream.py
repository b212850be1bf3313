"""The way of events to a node's subscribers over gRPC, through whatever faults are at work.

The twin of ``virtualstream.py``. What becomes of an event is decided once for all subscribers, so
that a seed loses the same events however many of them there are; each has its own queue of what is
late, and what is in it when its stream ends is lost.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import grpc
import msgspec

from app.cri.pb import cri_pb2 as pb
from app.sim.agenda import Agenda
from app.sim.events import EventHub, StreamEnd, Subscriber
from app.sim.faultplan import ActiveFault, FaultPlan
from app.sim.faults import RuntimeRestarts, StreamEnds, StreamRefused, StreamSilent
from app.sim.messages import event_message, shape
from app.sim.objects import RuntimeEvent
from app.sim.passage import BROKEN, CLOSED, REFUSED, Passage, passage

UNIMPLEMENTED = StreamEnd(grpc.StatusCode.UNIMPLEMENTED, REFUSED)
UNAVAILABLE = StreamEnd(grpc.StatusCode.UNAVAILABLE, CLOSED)
ENDS = {
    "cleanly": StreamEnd(grpc.StatusCode.OK, ""),
    "broken": StreamEnd(grpc.StatusCode.INTERNAL, BROKEN),
    "unavailable": UNAVAILABLE,
}


class _Lane(msgspec.Struct):
    """What is on its way to one subscriber. ``due``: when the last event in order arrives;
    ``under_way``: how many of those have not arrived yet."""

    due: int = 0
    under_way: int = 0
    held: list[RuntimeEvent] = []


class ShapedWay:
    """Carries a hub's events to its subscribers as the plan says, and ends their streams."""

    def __init__(self, agenda: Agenda, plan: FaultPlan, hub: EventHub) -> None:
        self._agenda = agenda
        self._plan = plan
        self._hub = hub
        self._lanes: dict[Subscriber, _Lane] = {}
        plan.on_begin.append(self._fault_begins)
        plan.on_end.append(self._fault_ends)

    def opened(self, subscriber: Subscriber) -> None:
        """A stream was opened."""
        self._lanes[subscriber] = _Lane()
        for ending in self._plan.at_work(StreamEnds):
            self._agenda.after(ending.fault.after, partial(self._end_one, subscriber, ending))

    def left(self, subscriber: Subscriber) -> None:
        """A stream is no more."""
        self._lanes.pop(subscriber, None)

    def send(self, told: RuntimeEvent, to: Sequence[Subscriber], *, old: bool) -> None:
        """Let an event go its way; an ``old`` one comes from the backlog."""
        way = passage(self._plan, told)
        if way == "held":
            for one in to:
                self._lanes[one].held.append(told)
        elif isinstance(way, Passage):
            message = shaped(told, way).SerializeToString()
            for one in to:
                if way.overtaken:
                    late = partial(self._arrive, one, message, old)
                    self._agenda.after(way.later_ns, late)
                else:
                    self._pass(one, message, way.later_ns, old)
                for _ in range(way.copies):
                    self._pass(one, message, way.later_ns, old)

    def _pass(self, to: Subscriber, message: bytes, later_ns: int, old: bool) -> None:
        """Send a message behind those that were sent before it."""
        lane, now = self._lanes[to], self._agenda.clock.mono()
        lane.due = max(lane.due, now + later_ns)
        if lane.under_way or lane.due > now:
            # Even one that is not late waits for those before it: the agenda may be behind.
            lane.under_way += 1
            self._agenda.at(lane.due, partial(self._arrive_in_order, to, lane, message, old))
        else:
            self._arrive(to, message, old)

    def _arrive_in_order(self, to: Subscriber, lane: _Lane, message: bytes, old: bool) -> None:
        lane.under_way -= 1
        self._arrive(to, message, old)

    def _arrive(self, to: Subscriber, message: bytes, old: bool) -> None:
        if to in self._lanes:
            if old:
                to.fill([message])
            else:
                to.put(message)

    def _fault_begins(self, active: ActiveFault[Any]) -> None:
        fault = active.fault
        if isinstance(fault, RuntimeRestarts):
            self._hub.forget()
            self._end_all(active, self._hub.gone)
        elif isinstance(fault, StreamRefused):
            refused = fault.answer == "unimplemented"
            self._end_all(active, UNIMPLEMENTED if refused else UNAVAILABLE)
        elif isinstance(fault, StreamEnds):
            for one in self._lanes:
                self._agenda.after(fault.after, partial(self._end_one, one, active))

    def _fault_ends(self, active: ActiveFault[Any]) -> None:
        if isinstance(active.fault, StreamSilent):
            for one, lane in self._lanes.items():
                held, lane.held = lane.held, []
                for told in held:
                    self.send(told, (one,), old=True)

    def _end_all(self, active: ActiveFault[Any], end: StreamEnd) -> None:
        for one in tuple(self._lanes):
            active.hits += 1
            self._end(one, end)

    def _end_one(self, one: Subscriber, active: ActiveFault[StreamEnds]) -> None:
        if one in self._lanes:
            active.hits += 1
            self._end(one, ENDS[active.fault.how])

    def _end(self, one: Subscriber, end: StreamEnd) -> None:
        del self._lanes[one]
        one.end(end)


def shaped(told: RuntimeEvent, way: Passage) -> pb.ContainerEventResponse:
    """The message as it arrives."""
    message = event_message(told)
    shape(message, way.created_at, way.without)
    return message
