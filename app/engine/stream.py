"""The event stream's supervision: open it, notice its end, try again.

Sources: KEP-3386, Design Details (endless, with backoff); kubelet pleg/evented.go 1.26 to 1.37
(five tries in all). Whatever the stream does, nothing here touches Generic PLEG.
"""

from collections.abc import Callable
from typing import Literal, Protocol

from app.engine.effects import CancelWake, CloseStream, OpenStream, WakeAt
from app.engine.inputs import EndCode, RuntimeProbed, StreamEnded, StreamPolicy, StreamRenewed
from app.engine.outbox import Outbox
from app.engine.profiles import Profile
from app.engine.records import RuntimeSeen, StreamChanged, StreamState
from app.engine.settings import EngineSettings
from app.engine.state import StreamView

RETRY = "reconnect"
"""Name of the retry timer."""

MAX_TRIES = 5
"""kubelet.go ``eventedPlegMaxStreamRetries``."""

CONNECTED: dict[Literal["none", "request", "write"], str] = {
    "none": "",
    "request": "A container that stops asks for a relist of its pod at once.",
    "write": "Events are believed: each writes the pod cache itself.",
}
CONNECTING = "The event stream is being opened; polling finds every change meanwhile."
NO_STREAM_NOW = "This runtime has no event stream. Polling finds every change."
"""What ``unimplemented`` means where nobody waits for an upgrade."""

UNPROBED = "plegscope has not yet learned which runtime this is."
STOPPED = "plegscope was stopped."
NO_HINTS = "This profile does not use the event stream; polling finds every change."
GIVEN_UP = "The event stream ended five times, and this profile does not try again until a restart."

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


class Uniform(Protocol):
    """A seeded generator, handed in."""

    def random(self) -> float:
        """A number from 0 up to but not including 1."""
        ...


class EventStream:
    """Opens the stream, backs off, or gives up, as the profile says.

    ``on_end`` is called after each end with whether this was the last one.
    """

    def __init__(
        self, outbox: Outbox, settings: EngineSettings, profile: Profile, chance: Uniform
    ) -> None:
        self._out = outbox
        self._settings = settings
        self._profile = profile
        self._chance = chance
        self._started = False
        self._given_up = False
        self._state: StreamState = "off"
        self._since_t = 0
        self._policy: StreamPolicy = "relist_only"
        self._reason = UNPROBED
        self._meaning = UNPROBED
        self._code: EndCode | None = None
        self._detail = ""
        self._failures = 0
        """Ends since the last healthy connection; with ``five``: over the whole life."""
        self._retry_t: int | None = None
        self._token = 0
        self._connected_t: int | None = None
        self.opened_wall: int | None = None
        """When the present subscription began; what was made before is backlog."""
        self.opened_count = 0
        self.error_count = 0
        self.on_end: Callable[[bool], None] = _nobody_minds
        self.must_wait: Callable[[], bool] = _never
        """Whether a retry that is due has to wait until ``resume`` is called."""
        self._overdue = False

    @property
    def is_open(self) -> bool:
        """Whether events may come."""
        return self._state in ("connecting", "connected")

    @property
    def joined(self) -> bool:
        """Whether the profile has its stream: not refused, not given up, not left alone."""
        return self._policy == "join" and not self._given_up

    # Life

    def start(self) -> None:
        """Open the stream, if the profile wants it and the runtime is known to allow it."""
        self._started = True
        if self._policy == "relist_only" or self._profile.hints == "none":
            self._close("off", self._why_off())
        elif self._given_up:
            self._close("closed", GIVEN_UP)
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
            self._close("off", self._why_off())
        else:
            self._consider()

    def _why_off(self) -> str:
        return NO_HINTS if self._profile.hints == "none" else self._reason

    def _consider(self) -> None:
        wanted = self._started and self._profile.hints != "none" and not self._given_up
        if wanted and self._policy == "join" and self._state in ("off", "closed"):
            self._open()

    def _close(self, state: StreamState, meaning: str) -> None:
        if self.is_open:
            self._out.want(CloseStream())
        if self._state == "waiting":
            self._out.want(CancelWake(timer=RETRY))
        self._retry_t = None
        self._overdue = False
        self._connected_t = None
        if self._profile.retry == "endless":
            self._failures = 0
        self._token += 1
        if (state, meaning) != (self._state, self._meaning):
            self._change(state, meaning)

    # Connecting

    def _open(self) -> None:
        self._retry_t = None
        self._overdue = False
        self.opened_wall = None
        self._connected_t = None
        self._change("connecting", CONNECTING)
        self._out.want(OpenStream())

    def opened(self) -> None:
        """A stream object was obtained (where the kubelet counts a success)."""
        if self._state == "connecting":
            self.opened_count += 1
            self.opened_wall = self._out.wall

    def live(self) -> None:
        """The stream works."""
        if self._state == "connecting":
            self._connected_t = self._out.t
            self._change("connected", CONNECTED[self._profile.hints])

    def renewed(self, renewal: StreamRenewed) -> None:
        """The stream was replaced before its deadline; nothing was missed."""
        del renewal  # What came twice is the source's business.
        if self._state == "connected":
            self._change("connected", CONNECTED[self._profile.hints], renewed=True)

    def ended(self, end: StreamEnded) -> None:
        """The stream ended, in whichever way: wait and try again, or give up."""
        if not self.is_open:
            return
        out = self._out
        self.error_count += 1
        lasted = None if self._connected_t is None else out.t - self._connected_t
        healthy = lasted is not None and lasted >= self._settings.healthy_after_ns
        if healthy and self._profile.retry == "endless":
            self._failures = 0
        self._failures += 1
        self._token += 1
        self._given_up = self._profile.retry == "five" and self._failures >= MAX_TRIES
        if self._given_up:
            self._retry_t = None
            self._change("closed", GIVEN_UP, code=end.code, detail=end.detail, lasted=lasted)
        else:
            self._retry_t = out.t + self._delay(end.code)
            five = self._profile.retry == "five"
            meaning = NO_STREAM_NOW if five and end.code == "unimplemented" else ENDED[end.code]
            self._change("waiting", meaning, code=end.code, detail=end.detail, lasted=lasted)
            out.want(WakeAt(timer=RETRY, token=self._token, at=self._retry_t))
        self.on_end(self._given_up)

    def retry(self, token: int) -> None:
        """The retry timer fired."""
        if self._state == "waiting" and token == self._token:
            self._overdue = True
            self.resume()

    def resume(self) -> None:
        """A retry that was due and had to wait is made now."""
        if self._overdue and not self.must_wait():
            self._open()

    def _delay(self, code: EndCode) -> int:
        """First at once, then 1 s doubling with up to half taken off at random, at most the cap."""
        settings = self._settings
        if self._profile.retry == "five":
            return 0
        if code == "unimplemented":
            return settings.backoff_cap_ns
        if self._failures == 1:
            return 0
        # Shifting further than the cap could ever need would only make huge numbers.
        doublings = min(self._failures - 2, 40)
        full = min(settings.backoff_base_ns << doublings, settings.backoff_cap_ns)
        return full // 2 + int(full / 2 * self._chance.random())

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


def _nobody_minds(_last: bool) -> None:
    """The end of a stream changes nothing else (KEP-3386)."""


def _never() -> bool:
    """Nobody holds up a retry (KEP-3386)."""
    return False
