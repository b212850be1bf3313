"""The kubelet's crash loop back-off (client-go util/flowcontrol, kuberuntime doBackOff).

A container's first restart is immediate. Each restart doubles the pause that the *next* one must
keep, counted from when the container finished: 10 s, 20 s, up to 5 min. A container that has run
for twice the longest pause starts over.
"""

import msgspec

from app.sim.flavour import SECOND

KUBELET_BASE_NS = 10 * SECOND
KUBELET_CAP_NS = 300 * SECOND


class _Entry(msgspec.Struct):
    pause_ns: int
    last_restart: int


class CrashLoopBackoff:
    """Pauses by container (key: pod UID and container name). All times wall-clock ns.

    ``scale`` shortens base and cap alike; with 0.1 a second stands for ten.
    """

    def __init__(self, scale: float = 1.0) -> None:
        self._base_ns = round(KUBELET_BASE_NS * scale)
        self._cap_ns = round(KUBELET_CAP_NS * scale)
        self._entries: dict[tuple[str, str], _Entry] = {}

    def until(self, uid: str, name: str, finished_at: int, now: int) -> int | None:
        """When the container may be started again; None when it may be now."""
        entry = self._entries.get((uid, name))
        if entry is None or self._expired(entry, finished_at):
            return None
        due = finished_at + entry.pause_ns
        return due if now < due else None

    def restarted(self, uid: str, name: str, finished_at: int, now: int) -> None:
        """The container is being started again."""
        entry = self._entries.get((uid, name))
        if entry is None or self._expired(entry, finished_at):
            pause = self._base_ns
        else:
            pause = min(2 * entry.pause_ns, self._cap_ns)
        self._entries[uid, name] = _Entry(pause, now)

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        for key in [key for key in self._entries if key[0] == uid]:
            del self._entries[key]

    def _expired(self, entry: _Entry, finished_at: int) -> bool:
        return finished_at - entry.last_restart > 2 * self._cap_ns
