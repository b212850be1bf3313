"""The event stream of the rebuilt runtime: recorded events as they came, or made worse.

Where the recorded stream was open its events are delivered at the recorded times, to whoever
listens then. Where nobody listened (the recorded profile had no stream, or had given up), nobody
can know what would have come; then each change of the timeline is taken to have been told of, as a
runtime does. An attempt to open it fails as the recorded attempts around it did, and while lists
fail.
"""

from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from random import Random

import msgspec

from app.engine.inputs import (
    Input,
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamLost,
    StreamOpened,
)
from app.engine.model import ContainerEvent
from app.sim.agenda import Agenda
from app.whatif.evidence import Evidence, Opened
from app.whatif.options import Options
from app.whatif.timeline import Life, Timeline, container_status

MS = 1_000_000
OPENING_NS = MS
GRACE_NS = 1_000 * MS
"""A stream without events counts as working after this time (as in ``app/cri/stream.py``)."""
EVENT_NS = MS
"""From the making of an event to its receipt (measured on containerd: 0.7 ms)."""
DOWN_FOR_NS = 500 * MS
"""An attempt so soon after one that is recorded to have failed fails as well."""
NOBODY = "the runtime did not answer"

_TYPES = {
    "created": "created",
    "running": "started",
    "exited": "stopped",
    "ready": "started",
    "notready": "stopped",
}


class RebuiltStream:
    """Feeds StreamOpened, StreamLive, StreamEvent, StreamLost and StreamEnded.

    ``payload``: events carry their statuses, for the profile that believes them.
    """

    def __init__(
        self,
        agenda: Agenda,
        evidence: Evidence,
        timeline: Timeline,
        feed: Callable[[Input], None],
        *,
        options: Options,
        chance: Random,
        payload: bool,
    ) -> None:
        self._agenda = agenda
        self._evidence = evidence
        self._timeline = timeline
        self._feed = feed
        self._options = options
        self._chance = chance
        self._payload = payload
        self._now: object | None = None
        self._is_open = False
        self._live = False
        self._opens = [one.t for one in evidence.streams]
        self._end_times = [one.t for one in evidence.ends]
        self.delivered = 0
        self.lost = 0
        self.assumed = 0
        """Events that nobody had recorded, delivered all the same."""
        self.stops: dict[str, int] = {}
        """When the first stop event of a container was received."""

    def open(self) -> None:
        """Subscribe; an earlier subscription is left."""
        self.close()
        self._now = token = object()
        self._agenda.after(OPENING_NS, lambda: self._answer(token))

    def close(self) -> None:
        """Leave it."""
        self._now = None
        self._is_open = self._live = False

    def happened(self, recorded: StreamEvent | StreamLost) -> None:
        """What the recorded stream brought, at its time."""
        if not self._is_open:
            return
        if isinstance(recorded, StreamLost):
            self._feed(recorded)
        else:
            self._send(recorded.event)

    def changed(self, life: Life, number: int) -> None:
        """The runtime changed, and nobody had listened then: take it to have told of it."""
        phase = life.phases[number]
        first = life.item.first
        kind = "deleted" if phase.row is None else _TYPES.get(phase.row.runtime_state, "")
        if not self._is_open or not kind or kind in life.item.hints:
            return
        sandbox_id = first.id if first.kind == "sandbox" else first.sandbox_id
        status = None
        if first.kind == "container" and kind == "stopped" and phase.row is not None:
            status = container_status(life.item, phase.row)
        self.assumed += 1
        self._send(
            ContainerEvent(
                type=kind,
                container_id=first.id,
                created_at=self._evidence.info.origin + phase.t,
                has_sandbox_status=True,
                has_metadata=True,
                pod_uid=first.pod_uid,
                pod_name=first.pod_name,
                pod_namespace=first.pod_namespace,
                sandbox_id=sandbox_id,
                container_name=first.name,
                exit_code=None if status is None else status.exit_code,
                reason="" if status is None else status.reason,
                finished_at=0 if status is None else status.finished_at,
            )
        )

    def _answer(self, token: object) -> None:
        if token is not self._now:
            return
        t, wall = self._time()
        known = self._opened_at(t)
        refused = None if known is not None else self._refusal(t)
        if refused is not None:
            self._now = None
            self._feed(StreamEnded(t=t, wall=wall, code=refused.code, detail=refused.detail))
            return
        self._is_open = True
        self._feed(StreamOpened(t=t, wall=wall))
        self._agenda.after(GRACE_NS, lambda: self._works(token))
        if known is not None and known.end is not None:
            self._agenda.at(known.until_t, partial(self._end, token, known.end))

    def _opened_at(self, t: int) -> Opened | None:
        at = bisect_right(self._opens, t) - 1
        streams = self._evidence.streams
        return streams[at] if at >= 0 and t < streams[at].until_t else None

    def _refusal(self, t: int) -> StreamEnded | None:
        """How the recorded stream answered about then; None: it would have opened."""
        known = self._evidence
        lists = known.sandbox_lists.near(t)
        at = bisect_right(self._end_times, t) - 1
        before = known.ends[at] if at >= 0 else None
        after = known.ends[at + 1] if at + 1 < len(known.ends) else None
        if after is not None and known.listening_between(t, after.t):
            after = None  # It ends a stream that had opened.
        if lists is not None and lists[1]:
            return after or StreamEnded(t=t, wall=0, code="unavailable", detail=NOBODY)
        if before is None or after is not None or before.code == "unimplemented":
            return after or before
        if t - before.t >= DOWN_FOR_NS:
            return None
        if known.listening(before.t - 1):
            return StreamEnded(t=t, wall=0, code="unavailable", detail=NOBODY)
        return before

    def _works(self, token: object) -> None:
        if token is self._now and not self._live:
            self._live = True
            t, wall = self._time()
            self._feed(StreamLive(t=t, wall=wall))

    def _end(self, token: object, end: StreamEnded) -> None:
        if token is not self._now:
            return
        self.close()
        t, wall = self._time()
        self._feed(StreamEnded(t=t, wall=wall, code=end.code, detail=end.detail))

    # Events

    def _send(self, event: ContainerEvent) -> None:
        options = self._options
        if options.loss and self._chance.random() < options.loss:
            self.lost += 1
            return
        token = self._now
        if options.delay_ns:
            self._agenda.after(options.delay_ns, lambda: self._receive(token, event))
        else:
            self._receive(token, event)

    def _receive(self, token: object, event: ContainerEvent) -> None:
        if token is None or token is not self._now:
            return
        self._works(token)
        t, wall = self._time()
        if self._payload and event.has_sandbox_status and event.sandbox is None:
            event = self._with_payload(event)
        self.delivered += 1
        if event.type == "stopped":
            self.stops.setdefault(event.container_id, t)
        self._feed(StreamEvent(t=t, wall=wall, event=event))

    def _with_payload(self, event: ContainerEvent) -> ContainerEvent:
        """What the event would have carried, by the timeline: the pod at the event's making."""
        timeline = self._timeline
        made_t = event.created_at - self._evidence.info.origin
        t = made_t if 0 <= made_t <= self._agenda.clock.mono() else self._agenda.clock.mono()
        containers = [
            timeline.container_status(life.item.first.id, t)
            for life in timeline.pods.get(event.pod_uid, ())
            if life.item.first.sandbox_id == event.sandbox_id
        ]
        sandbox = timeline.sandbox_status(event.sandbox_id, t)
        return msgspec.structs.replace(
            event,
            sandbox=sandbox,
            containers=tuple(one for one in containers if one is not None),
        )

    def _time(self) -> tuple[int, int]:
        clock = self._agenda.clock
        return clock.mono(), clock.wall()
