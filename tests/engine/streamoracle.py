"""A naive model of the stream's supervision: when it must be opened, closed, tried again, left.

It knows inputs and effects, and what KEP-3386 says: opened at once, after an end at once, then with
a delay that doubles up to a cap, half of it up to chance; the count begins anew after a connection
that lasted; where there is no stream the longest delay at once. The watcher of 1.37: five ends in
all, no delay, no second beginning.
"""

from collections.abc import Callable

from app.engine.effects import CancelWake, CloseStream, OpenStream, WakeAt
from app.engine.inputs import (
    Input,
    RuntimeProbed,
    Start,
    Stop,
    StreamEnded,
    StreamLive,
    StreamRenewed,
    TimerFired,
)
from app.engine.outbox import Outputs
from app.engine.records import StreamChanged
from app.engine.settings import EngineSettings
from app.engine.state import StreamView

TIMER = "reconnect"


class StreamOracle:
    """What must be true of the stream after each step; ``reach`` is told of situations."""

    def __init__(self, settings: EngineSettings, reach: Callable[[str], None]) -> None:
        self.settings = settings
        self.endless = settings.profile == "kep"
        self.used = settings.profile in ("kep", "1.37")
        self.reach = reach
        self.started = False
        self.allowed = False
        self.open = False
        self.live_t: int | None = None
        self.ends = 0
        self.given_up = False
        self.retry: WakeAt | None = None
        self.opened: list[int] = []
        """When it was opened since the last start or probe, which may open it at any time."""

    def watch(self, happened: Input, outputs: Outputs, t: int) -> None:
        """One step was made; its effects must be those that it needed."""
        wants = self._wants(happened, t)
        effects = outputs.effects
        opens = sum(isinstance(effect, OpenStream) for effect in effects)
        closes = sum(isinstance(effect, CloseStream) for effect in effects)
        cancels = sum(isinstance(one, CancelWake) and one.timer == TIMER for one in effects)
        retries = [one for one in effects if isinstance(one, WakeAt) and one.timer == TIMER]
        assert opens == (wants == "open"), f"{happened}: {wants}, opened {opens} times"
        assert len(retries) == (wants == "wait"), f"{happened}: {wants}, {len(retries)} retries"
        if wants == "close":
            assert (closes, cancels) == (self.open, self.retry is not None), "nothing is left"
            self.open, self.retry, self.live_t = False, None, None
        else:
            assert closes == cancels == 0
        if wants == "open":
            self.open, self.retry, self.live_t = True, None, None
            self._opened(t)
        for retry in retries:
            assert isinstance(happened, StreamEnded)
            self._delayed(happened, retry.at - t)
            self.retry = retry
        for record in outputs.records:
            if isinstance(record, StreamChanged):
                self._told(record, happened)

    def _told(self, record: StreamChanged, happened: Input) -> None:
        assert record.renewed == isinstance(happened, StreamRenewed)
        assert record.attempt == self.ends
        assert record.retry_t == (None if self.retry is None else self.retry.at)
        assert record.code == (happened.code if isinstance(happened, StreamEnded) else None)

    def _wants(self, happened: Input, t: int) -> str:
        match happened:
            case Start() if not self.started:
                self.started = True
                self.opened.clear()
                return self._begin()
            case Stop() if self.started:
                self.started = False
                self.reach(f"stopped while {self.state()}")
                return self._close()
            case RuntimeProbed():
                self.allowed = happened.policy == "join"
                self.opened.clear()
                if not self.allowed:
                    return self._close()
                return self._begin()
            case StreamLive() if self.open and self.live_t is None:
                self.live_t = t
            case StreamEnded() if self.open:
                return self._ended(happened, t)
            case TimerFired() if happened.timer == TIMER:
                if self.retry is not None and happened.token == self.retry.token:
                    return "open"
                self.reach("stale retry")
            case _:
                pass
        return ""

    def _begin(self) -> str:
        idle = not self.open and self.retry is None
        ready = self.started and self.used and self.allowed and not self.given_up
        return "open" if ready and idle else ""

    def _close(self) -> str:
        if self.endless:
            self.ends = 0
        return "close"

    def _ended(self, end: StreamEnded, t: int) -> str:
        lasted = self.live_t is not None and t - self.live_t >= self.settings.healthy_after_ns
        self.open = False
        self.reach(f"ended {end.code}")
        if not self.endless:
            self.ends += 1
            self.given_up = self.ends >= 5
            if self.given_up:
                self.reach("given up")
            return "" if self.given_up else "wait"
        if lasted and self.ends:
            self.reach("backoff began anew")
        elif self.live_t is not None and self.ends:
            self.reach("backoff went on after a short connection")
        self.ends = 1 if lasted else self.ends + 1
        return "wait"

    def _delayed(self, end: StreamEnded, delay: int) -> None:
        cap = self.settings.backoff_cap_ns
        if not self.endless:
            assert delay == 0
        elif end.code == "unimplemented":
            assert delay == cap
            self.reach("retry where there is no stream")
        elif self.ends == 1:
            assert delay == 0
            self.reach("retry at once")
        else:
            full = min(self.settings.backoff_base_ns * 2 ** min(self.ends - 2, 60), cap)
            assert full // 2 <= delay <= full, f"after {self.ends} ends: {delay}, not {full}"
            self.reach("retry at the cap" if full == cap else "retry doubled")

    def _opened(self, t: int) -> None:
        """Attempts are bounded: of three in a row two are apart, or the first of them lasted."""
        self.opened.append(t)
        if self.endless and len(self.opened) >= 3:
            settings = self.settings
            shortest = min(settings.backoff_base_ns, settings.backoff_cap_ns) // 2
            assert t - self.opened[-3] >= min(shortest, settings.healthy_after_ns)

    def state(self) -> str:
        """In the engine's words; ``off`` and ``closed`` are both nothing."""
        if self.open:
            return "connecting" if self.live_t is None else "connected"
        return "nothing" if self.retry is None else "waiting"

    def agrees(self, view: StreamView) -> None:
        """The engine's own account is this one."""
        shown = "nothing" if view.state in ("off", "closed") else view.state
        assert shown == self.state()
        assert view.attempt == self.ends
        assert view.retry_t == (None if self.retry is None else self.retry.at)
