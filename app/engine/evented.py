"""Evented PLEG: validates events, shows them, and turns stop events into relist requests.

Source: KEP-3386, Design Details; kubelet pleg/evented.go 1.37. It writes no state and emits no
lifecycle event; the payload is shown to people and otherwise used for its type and pod UID only.
The design before the revision, which believed the payload, is ``legacy.py``.
"""

from collections.abc import Callable
from typing import Literal

from app.engine.generic import GenericPleg
from app.engine.inputs import StreamEvent, StreamLost
from app.engine.model import ContainerEvent
from app.engine.outbox import Outbox
from app.engine.profiles import Profile
from app.engine.records import ContainerEventSeen, EventIgnored, Gap
from app.engine.stream import EventStream

KNOWN_TYPES = ("created", "started", "stopped", "deleted")

Problem = Literal["missing_sandbox_status", "missing_metadata", "missing_uid"]


class EventedPleg:
    """What becomes of each event of the stream."""

    def __init__(
        self, outbox: Outbox, profile: Profile, stream: EventStream, generic: GenericPleg
    ) -> None:
        self._out = outbox
        self._profile = profile
        self._stream = stream
        self._generic = generic
        self._events = 0
        self._counts: dict[str, int] = dict.fromkeys(
            (*KNOWN_TYPES, "unknown", "ignored", "backlog", "lost"), 0
        )
        self.believe: Callable[[ContainerEvent], None] | None = None
        """Takes each valid event under the profile whose events write the cache."""

    @property
    def counts(self) -> dict[str, int]:
        """Events by type, those ignored, backlog, lost; streams ``opened`` and ``errors``."""
        stream = self._stream
        return {**self._counts, "opened": stream.opened_count, "errors": stream.error_count}

    def event(self, received: StreamEvent) -> None:
        """One event: validated, shown, and if it is a stop, turned into a request."""
        if not self._stream.is_open:
            return
        out = self._out
        event = received.event
        self._events += 1
        problem = self._problem(event)
        if problem is not None:
            self._counts["ignored"] += 1
            out.show(
                EventIgnored(
                    t=out.t,
                    wall=out.wall,
                    event=self._events,
                    type=event.type,
                    container_id=event.container_id,
                    reason=problem,
                )
            )
            return
        self._counts[event.type if event.type in KNOWN_TYPES else "unknown"] += 1
        if event.pod_uid:
            self._generic.records.see(event.pod_uid, event.pod_name, event.pod_namespace)
        asks = event.type == "stopped" and self._profile.hints == "request"
        number = self._generic.queue.reserve() if asks else None
        backlog = self._show(event, number)
        if event.type == "stopped" and not self._known_dead(event):
            # Its own time, not the step's: it may have stood in the source's ring meanwhile.
            self._generic.stops.remember(
                event.pod_uid, event.container_id, self._events, received.t, backlog=backlog
            )
        if number is not None:
            self._generic.request(event.pod_uid, "evented_pleg", self._events, number)
        elif self.believe is not None:
            self.believe(event)

    def lost(self, loss: StreamLost) -> None:
        """The ring between reader and engine was full."""
        self._counts["lost"] += loss.count
        self._out.show(
            Gap(
                t=self._out.t,
                wall=self._out.wall,
                hop="stream",
                count=loss.count,
                from_t=loss.from_t,
                reason="Events came faster than plegscope could take them; polling finds what "
                "they told of.",
            )
        )

    def _problem(self, event: ContainerEvent) -> Problem | None:
        """Why an event cannot be used (KEP-3386: sandbox status, its metadata, its UID)."""
        if not event.has_sandbox_status:
            return "missing_sandbox_status"
        if not event.has_metadata:
            return "missing_metadata"
        if not event.pod_uid and self._profile.needs_uid:
            return "missing_uid"
        return None

    def _show(self, event: ContainerEvent, number: int | None) -> bool:
        """Show a valid event; returns whether it is older than the subscription."""
        out = self._out
        opened = self._stream.opened_wall
        # A time that was never set (or lies before 1970) tells nothing, not even that it is old.
        timed = event.created_at > 0
        backlog = timed and opened is not None and event.created_at < opened
        latency = out.wall - event.created_at
        self._counts["backlog"] += backlog
        out.show(
            ContainerEventSeen(
                t=out.t,
                wall=out.wall,
                event=self._events,
                type=event.type,
                uid=event.pod_uid,
                container_id=event.container_id,
                container_name=event.container_name,
                is_sandbox=event.container_id == event.sandbox_id,
                created_at=event.created_at,
                latency_ns=latency if timed and not backlog and latency >= 0 else None,
                backlog=backlog,
                request=number,
                exit_code=event.exit_code,
                reason=event.reason,
                finished_at=event.finished_at,
            )
        )
        return backlog

    def _known_dead(self, event: ContainerEvent) -> bool:
        pod = self._generic.records.old.get(event.pod_uid)
        item = pod.find(event.container_id) if pod is not None else None
        return item is not None and item.state == "exited"
