"""Evented PLEG: watches the CRI event stream and turns stop events into relist requests.

Source: KEP-3386, Design Details. It writes no state and emits no lifecycle event; the payload is
shown to people and otherwise used for its type and pod UID only.
"""

from typing import Literal, Protocol

from app.engine.effects import CancelWake, CloseStream, OpenStream, WakeAt
from app.engine.generic import GenericPleg
from app.engine.inputs import (
    EndCode,
    RuntimeProbed,
    StreamEnded,
    StreamEvent,
    StreamLost,
    StreamPolicy,
    StreamRenewed,
)
from app.engine.model import ContainerEvent
from app.engine.outbox import Outbox
from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    Gap,
    RuntimeSeen,
    StreamChanged,
    StreamState,
)
from app.engine.settings import EngineSettings
from app.engine.state import StreamView

RETRY = "reconnect"
"""Name of the retry timer."""

CONNECTED = "A container that stops asks for a relist of its pod at once."
CONNECTING = "The event stream is being opened; polling finds every change meanwhile."
UNPROBED = "plegscope has not yet learned which runtime this is."
STOPPED = "plegscope was stopped."

ENDED: dict[EndCode, str] = {
    "eof": "The runtime closed the event stream without an error. Polling finds every change.",
    "immediate_eof": "The runtime ends the stream at once, without an error: its events are "
    "switched off (CRI-O: set enable_pod_events=true). Polling finds every change.",
    "unimplemented": "This runtime has no event stream. Polling finds every change; the stream is "
    "tried again each minute, in case the runtime is upgraded.",
    "unavailable": "The runtime cannot be reached. It may be restarting.",
    "deadline": "The event stream reached its deadline before a new one was open. Polling finds "
    "every change.",
    "cancelled": "The event stream was cancelled. Polling finds every change.",
    "error": "The event stream broke. Polling finds every change.",
}

KNOWN_TYPES = ("created", "started", "stopped", "deleted")


class Uniform(Protocol):
    """A seeded generator, handed in."""

    def random(self) -> float:
        """A number from 0 up to but not including 1."""
        ...


class EventedPleg:
    """The stream's supervision: open, validate, request, back off, for as long as the session."""

    def __init__(
        self, outbox: Outbox, settings: EngineSettings, generic: GenericPleg, chance: Uniform
    ) -> None:
        self._out = outbox
        self._settings = settings
        self._generic = generic
        self._chance = chance
        self._started = False
        self._state: StreamState = "off"
        self._since_t = 0
        self._meaning = UNPROBED
        self._policy: StreamPolicy = "relist_only"
        self._reason = UNPROBED
        self._code: EndCode | None = None
        self._detail = ""
        self._failures = 0
        """Ends of the stream since the last healthy connection."""
        self._retry_t: int | None = None
        self._token = 0
        self._opened_wall: int | None = None
        self._connected_t: int | None = None
        self._events = 0
        self.counts: dict[str, int] = dict.fromkeys(
            (*KNOWN_TYPES, "unknown", "ignored", "backlog", "lost", "opened", "errors"), 0
        )

    # Life

    def start(self) -> None:
        """Open the stream, if the runtime is known to allow it."""
        self._started = True
        if self._policy == "relist_only":
            self._close("off", self._reason)
        self._consider()

    def stop(self) -> None:
        """Cancel the stream and a retry that is pending (KEP-3386: shutdown)."""
        self._started = False
        self._close("closed", STOPPED)

    def probed(self, probe: RuntimeProbed) -> None:
        """The runtime was asked who it is; a later answer may change what is allowed."""
        out = self._out
        self._policy, self._reason = probe.policy, probe.reason
        out.show(
            RuntimeSeen(
                t=out.t,
                wall=out.wall,
                name=probe.name,
                version=probe.version,
                api_version=probe.api_version,
                endpoint=probe.endpoint,
                policy=probe.policy,
                reason=probe.reason,
            )
        )
        if probe.policy == "relist_only":
            self._close("off", probe.reason)
        else:
            self._consider()

    def _consider(self) -> None:
        if self._started and self._policy == "join" and self._state in ("off", "closed"):
            self._open()

    def _close(self, state: StreamState, meaning: str) -> None:
        if self._state in ("connecting", "connected"):
            self._out.want(CloseStream())
        if self._state == "waiting":
            self._out.want(CancelWake(timer=RETRY))
        self._retry_t = None
        self._connected_t = None
        self._failures = 0
        self._token += 1
        if (state, meaning) != (self._state, self._meaning):
            self._change(state, meaning)

    # Connecting

    def _open(self) -> None:
        self._retry_t = None
        self._opened_wall = None
        self._connected_t = None
        self._change("connecting", CONNECTING)
        self._out.want(OpenStream())

    def opened(self) -> None:
        """A stream object was obtained; events made before now are backlog."""
        if self._state == "connecting":
            self.counts["opened"] += 1
            self._opened_wall = self._out.wall

    def live(self) -> None:
        """The stream works."""
        if self._state == "connecting":
            self._connected_t = self._out.t
            self._change("connected", CONNECTED)

    def renewed(self, renewal: StreamRenewed) -> None:
        """The stream was replaced before its deadline; nothing was missed."""
        del renewal  # What came twice is the source's business.
        if self._state == "connected":
            self._change("connected", CONNECTED, renewed=True)

    def ended(self, end: StreamEnded) -> None:
        """The stream broke, in whichever way: wait, then try again, for ever."""
        if self._state not in ("connecting", "connected"):
            return
        out = self._out
        self.counts["errors"] += 1
        lasted = None if self._connected_t is None else out.t - self._connected_t
        if lasted is not None and lasted >= self._settings.healthy_after_ns:
            self._failures = 0
        self._failures += 1
        delay = self._delay(end.code)
        self._retry_t = out.t + delay
        self._token += 1
        self._change("waiting", ENDED[end.code], code=end.code, detail=end.detail, lasted=lasted)
        out.want(WakeAt(timer=RETRY, token=self._token, at=self._retry_t))

    def retry(self, token: int) -> None:
        """The retry timer fired."""
        if self._state == "waiting" and token == self._token:
            self._open()

    def _delay(self, code: EndCode) -> int:
        """First at once, then 1 s doubling with up to half taken off at random, at most the cap."""
        settings = self._settings
        if code == "unimplemented":
            return settings.backoff_cap_ns
        if self._failures == 1:
            return 0
        # Shifting further than the cap could ever need would only make huge numbers.
        doublings = min(self._failures - 2, 40)
        full = min(settings.backoff_base_ns << doublings, settings.backoff_cap_ns)
        return full // 2 + int(full / 2 * self._chance.random())

    # Events

    def event(self, received: StreamEvent) -> None:
        """One event: validated, shown, and if it is a stop, turned into a request."""
        if self._state not in ("connecting", "connected"):
            return
        out = self._out
        event = received.event
        self._events += 1
        problem = _problem(event)
        if problem is not None:
            self.counts["ignored"] += 1
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
        stopped = event.type == "stopped"
        # A time that was never set (or lies before 1970) tells nothing, not even that it is old.
        timed = event.created_at > 0
        backlog = timed and self._opened_wall is not None and event.created_at < self._opened_wall
        latency = out.wall - event.created_at
        self.counts[event.type if event.type in KNOWN_TYPES else "unknown"] += 1
        self.counts["backlog"] += backlog
        number = self._generic.queue.reserve() if stopped else None
        self._generic.records.see(event.pod_uid, event.pod_name, event.pod_namespace)
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
        if stopped:
            if not self._known_dead(event):
                # Its own time, not the step's: it may have stood in the source's ring meanwhile.
                self._generic.stops.remember(
                    event.pod_uid, event.container_id, self._events, received.t, backlog=backlog
                )
            self._generic.request(event.pod_uid, "evented_pleg", self._events, number)

    def lost(self, loss: StreamLost) -> None:
        """The ring between reader and engine was full."""
        self.counts["lost"] += loss.count
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

    def _known_dead(self, event: ContainerEvent) -> bool:
        pod = self._generic.records.old.get(event.pod_uid)
        item = pod.find(event.container_id) if pod is not None else None
        return item is not None and item.state == "exited"

    # State

    def view(self) -> StreamView:
        """The stream as the header shows it."""
        return StreamView(
            self._state,
            self._since_t,
            self._meaning,
            self._policy,
            self._failures,
            self._retry_t,
            self._code,
            self._detail,
        )

    def _change(
        self,
        state: StreamState,
        meaning: str,
        *,
        code: EndCode | None = None,
        detail: str = "",
        lasted: int | None = None,
        renewed: bool = False,
    ) -> None:
        out = self._out
        if state != self._state:
            self._since_t = out.t
        self._state, self._meaning, self._code, self._detail = state, meaning, code, detail
        out.show(
            StreamChanged(
                t=out.t,
                wall=out.wall,
                state=state,
                meaning=meaning,
                code=code,
                detail=detail,
                attempt=self._failures,
                retry_t=self._retry_t,
                connected_ns=lasted,
                renewed=renewed,
            )
        )


def _problem(
    event: ContainerEvent,
) -> Literal["missing_sandbox_status", "missing_metadata", "missing_uid"] | None:
    """Why an event cannot be used (KEP-3386: sandbox status, its metadata, its UID)."""
    if not event.has_sandbox_status:
        return "missing_sandbox_status"
    if not event.has_metadata:
        return "missing_metadata"
    if not event.pod_uid:
        return "missing_uid"
    return None
