"""The event stream of a runtime that is not reached over gRPC: subscription, backlog, and damage.

What a real stream and its keeper do, in virtual time: a stream counts as live with its first event
or after a grace time; what is told while nobody is subscribed is kept for the next subscriber as
the runtime's rules say (``channel.py``); what is under way when a stream breaks is lost. The
plan's faults act on streams and on single events.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from app.engine.inputs import EndCode, Input, StreamEnded, StreamEvent, StreamLive, StreamOpened
from app.engine.model import ContainerEvent
from app.sim.agenda import Agenda
from app.sim.availability import DOWN, Availability
from app.sim.chance import generator
from app.sim.channel import Channel, Listener
from app.sim.faultplan import ActiveFault, FaultPlan
from app.sim.faults import RuntimeRestarts, StreamEnds, StreamRefused, StreamSilent
from app.sim.flavour import RuntimeRules
from app.sim.latency import Draw, Latencies
from app.sim.objects import RuntimeEvent
from app.sim.others import OtherSubscribers
from app.sim.passage import BROKEN, CLOSED, REFUSED, Passage, passage
from app.sim.rows import container_event
from app.sim.wire import Wire

ENDS: dict[str, EndCode] = {"cleanly": "eof", "broken": "error", "unavailable": "unavailable"}
TOLD = {
    "cleanly": "",
    "broken": f"Internal: {BROKEN}",
    "unavailable": f"Unavailable: {CLOSED}",
}


class _Subscription:
    """One open stream, or an attempt at one. ``due``: when its last event in order arrives."""

    def __init__(self) -> None:
        self.opened = False
        self.live = False
        self.due = 0
        self.held: list[RuntimeEvent] = []


class VirtualStream:
    """Feeds StreamOpened, StreamLive, StreamEvent and StreamEnded.

    ``payload``: events carry their statuses. ``rules``: the runtime's.
    """

    def __init__(
        self,
        agenda: Agenda,
        plan: FaultPlan,
        availability: Availability,
        feed: Callable[[Input], None],
        *,
        seed: int,
        latencies: Latencies,
        payload: bool,
        rules: RuntimeRules,
    ) -> None:
        self._agenda = agenda
        self._plan = plan
        self._availability = availability
        self._feed = feed
        self._latencies = latencies
        self._payload = payload
        self._rules = rules
        self._draw = Draw(generator(seed, "stream latency"))
        self.wire: Wire | None = None
        """Who wants the messages that would have been sent."""
        self._now: _Subscription | None = None
        self._channel: Channel[_Subscription | Listener] = Channel(
            rules, generator(seed, "event audience"), self._send, _has_room
        )
        availability.stall = partial(self._channel.stall, agenda)
        plan.on_begin.append(self._fault_begins)
        plan.on_end.append(self._fault_ends)
        OtherSubscribers(plan, rules.slots, join=self._attend, leave=self._dismiss)

    # Subscribing

    def open(self) -> None:
        """Subscribe; an earlier subscription is left."""
        self.close()
        self._now = sub = _Subscription()
        self._agenda.after(self._draw.of(self._latencies.opening), lambda: self._answer(sub))

    def close(self) -> None:
        """Leave the stream; nothing more comes."""
        if self._now is not None:
            self._channel.leave(self._now, noticed=False)
            self._now = None

    def _answer(self, sub: _Subscription) -> None:
        if sub is not self._now:
            return
        if self._availability.state == "frozen":
            self._availability.on_change(lambda: self._answer(sub))
            return
        if self._availability.state == "down":
            self._end("unavailable", DOWN)
            return
        for refusal in self._plan.at_work(StreamRefused):
            refusal.hits += 1
            self._refuse(refusal.fault)
            return
        if self._rules.stream == "none":
            self._refuse_for_good()
            return
        sub.opened = True
        t, wall = self._time()
        self._feed(StreamOpened(t=t, wall=wall))
        self._agenda.after(self._latencies.grace, lambda: self._works(sub))
        for ending in self._plan.at_work(StreamEnds):
            self._agenda.after(ending.fault.after, partial(self._end_one, sub, ending))
        for told in self._channel.join(sub, wall):
            self._pass_damaged(sub, told)
        self._channel.pump()

    def _refuse(self, refused: StreamRefused) -> None:
        if refused.answer == "unimplemented":
            self._refuse_for_good()
        else:
            self._end("unavailable", TOLD["unavailable"])

    def _refuse_for_good(self) -> None:
        # A stream object is there before the runtime has said no (as with gRPC).
        t, wall = self._time()
        self._feed(StreamOpened(t=t, wall=wall))
        self._end("unimplemented", REFUSED)

    def _works(self, sub: _Subscription) -> None:
        if sub is self._now and not sub.live:
            sub.live = True
            t, wall = self._time()
            self._feed(StreamLive(t=t, wall=wall))

    def _end(self, code: EndCode, detail: str) -> None:
        sub, self._now = self._now, None
        if sub is None:
            return
        self._channel.leave(sub, noticed=True)
        if code == "eof" and not sub.live:
            code = "immediate_eof"
        t, wall = self._time()
        self._feed(StreamEnded(t=t, wall=wall, code=code, detail=detail))

    # Events

    def publish(self, told: RuntimeEvent) -> None:
        """The runtime tells of something."""
        self._channel.publish(told)

    def _send(self, told: RuntimeEvent, to: tuple[_Subscription | Listener, ...]) -> None:
        for sub in to:
            if isinstance(sub, Listener):
                sub.take()
            elif self._plan.quiet:
                raw = b"" if self.wire is None else self.wire.event(told)
                self._pass(sub, container_event(told, payload=self._payload), 0, raw)
            else:
                self._pass_damaged(sub, told)

    def _attend(self, listener: Listener) -> None:
        for _ in self._channel.join(listener, self._agenda.clock.wall()):
            listener.take()
        self._channel.pump()

    def _dismiss(self, listener: Listener) -> None:
        self._channel.leave(listener, noticed=False)

    def _pass(self, sub: _Subscription, event: ContainerEvent, later_ns: int, raw: bytes) -> None:
        """Send an event behind those that were sent before it."""
        due = self._agenda.clock.mono() + self._draw.of(self._latencies.event) + later_ns
        sub.due = max(sub.due, due)
        self._agenda.at(sub.due, partial(self._receive, sub, event, raw))

    def _receive(self, sub: _Subscription, event: ContainerEvent, raw: bytes) -> None:
        if sub is self._now:
            self._works(sub)
            t, wall = self._time()
            if self.wire is not None:
                self.wire.heard(raw)
            self._feed(StreamEvent(t=t, wall=wall, event=event))

    def _pass_damaged(self, sub: _Subscription, told: RuntimeEvent) -> None:
        """Send an event through whatever faults are at work."""
        way = passage(self._plan, told)
        if way == "held":
            sub.held.append(told)
        elif isinstance(way, Passage):
            event = _shaped(container_event(told, payload=self._payload), way)
            raw = b"" if self.wire is None else self.wire.event(told, way)
            later = way.later_ns
            if way.overtaken:
                later += self._draw.of(self._latencies.event)
                self._agenda.after(later, partial(self._receive, sub, event, raw))
            else:
                self._pass(sub, event, later, raw)
            for _ in range(way.copies):
                self._pass(sub, event, later, raw)

    # Faults that begin and end

    def _fault_begins(self, active: ActiveFault[Any]) -> None:
        fault, sub = active.fault, self._now
        if isinstance(fault, RuntimeRestarts):
            self._channel.restart()
        if sub is None or not sub.opened:
            return
        if isinstance(fault, StreamRefused):
            active.hits += 1
            if fault.answer == "unimplemented":
                self._end("unimplemented", REFUSED)
            else:
                self._end("unavailable", TOLD["unavailable"])
        elif isinstance(fault, StreamEnds):
            self._agenda.after(fault.after, partial(self._end_one, sub, active))
        elif isinstance(fault, RuntimeRestarts):
            active.hits += 1
            how = "cleanly" if self._rules.stops_with == "eof" else "unavailable"
            self._end(ENDS[how], TOLD[how])

    def _fault_ends(self, active: ActiveFault[Any]) -> None:
        sub = self._now
        if isinstance(active.fault, StreamSilent) and sub is not None:
            held, sub.held = sub.held, []
            for told in held:
                self._pass_damaged(sub, told)

    def _end_one(self, sub: _Subscription, active: ActiveFault[StreamEnds]) -> None:
        if sub is self._now:
            active.hits += 1
            how = active.fault.how
            self._end(ENDS[how], TOLD[how])

    def _time(self) -> tuple[int, int]:
        clock = self._agenda.clock
        return clock.mono(), clock.wall()


def _has_room(one: _Subscription | Listener) -> bool:
    """Our own subscription is always read."""
    return not isinstance(one, Listener) or one.has_room


def _shaped(event: ContainerEvent, way: Passage) -> ContainerEvent:
    """The event as it arrives."""
    changed: dict[str, object] = {}
    if way.created_at != event.created_at:
        changed["created_at"] = way.created_at
    if way.without == "uid":
        changed["pod_uid"] = ""
    elif way.without == "statuses":
        changed |= {"container_name": "", "exit_code": None, "reason": "", "finished_at": 0}
        changed["containers"] = ()
    elif way.without:
        changed |= {"pod_uid": "", "pod_name": "", "pod_namespace": "", "has_metadata": False}
    if way.without == "sandbox-status":
        changed |= {"has_sandbox_status": False, "sandbox_id": "", "sandbox": None}
    return msgspec.structs.replace(event, **changed) if changed else event
