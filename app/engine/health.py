"""PLEG health: how long ago the last relist whose list succeeded began.

Source: kubelet pleg/generic.go ``Healthy``. The stream's state never matters here (KEP-3386).
"""

from collections.abc import Callable

from app.engine.goduration import go_duration
from app.engine.outbox import Outbox
from app.engine.records import HealthChanged
from app.engine.state import HealthState

_SECOND = 1_000_000_000
NEVER = "pleg has yet to be successful"


class Health:
    """Answers the health check and remembers the kubelet's last-seen gauge."""

    def __init__(self, outbox: Outbox, threshold_ns: int) -> None:
        self._out = outbox
        self.threshold_ns = threshold_ns
        self.relist_t: int | None = None
        """Start of the newest global relist whose list succeeded (kubelet: relist time)."""
        self._relist_wall = 0
        self.last_seen: int | None = None
        self.also: Callable[[], str] | None = None
        """A second check, Evented PLEG's own (legacy only): what it complains of, or nothing."""
        self._told: bool | None = None

    def listed(self, started_t: int, started_wall: int) -> None:
        """A global relist that began then has its list; called before any inspection."""
        self.relist_t = started_t
        self._relist_wall = started_wall

    def poll(self) -> None:
        """What the kubelet's sync loop does: ask, write the gauge, tell when the answer turned."""
        if self.relist_t is not None:
            self.last_seen = self._relist_wall // _SECOND
        if self.also is not None and not self.also():
            # Both checks write the one gauge, and this one comes last and always says now.
            self.last_seen = self._out.wall // _SECOND
        state = self.at(self._out.t)
        if state.healthy == self._told:
            return
        if self._told is None and not state.healthy:
            # Before the first relist nothing is wrong yet; people see "no relist yet".
            return
        self._told = state.healthy
        self._out.show(
            HealthChanged(
                t=self._out.t, wall=self._out.wall, healthy=state.healthy, message=state.message
            )
        )

    def at(self, t: int) -> HealthState:
        """The answer at ``t``; unhealthy only when strictly more than the threshold has passed."""
        complaints = [
            complaint(t, self.relist_t, self.threshold_ns),
            self.also() if self.also is not None else "",
        ]
        texts = [text for text in complaints if text]
        message = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]" if texts else ""
        return HealthState(not texts, message, self.relist_t, self.threshold_ns, self.last_seen)


def complaint(t: int, relist_t: int | None, threshold_ns: int) -> str:
    """What is wrong at ``t``, in the kubelet's words; empty when nothing is."""
    if relist_t is None:
        return NEVER
    elapsed = t - relist_t
    if elapsed <= threshold_ns:
        return ""
    return (
        f"pleg was last seen active {go_duration(elapsed)} ago; "
        f"threshold is {go_duration(threshold_ns)}"
    )
