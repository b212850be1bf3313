"""What the recorded kubelet did because it had found something: not to be believed by a run that
has not found it yet.

A SyncPod that restarts a container began because its end was found, and the relist that it asks for
afterwards shows that end. To a run that polls, that relist would tell of the end sooner than its
own next poll: an effect before its cause. So a SyncPod that began after a finding that this run has
not made is left out, with its request. What it did to the runtime stays: it was recorded.
"""

from collections import deque
from collections.abc import Iterable

from app.engine.records import Lifecycle

Key = tuple[str, str]


class Reactions:
    """Which SyncPods are left out. Times in monotonic ns; calls come in the order of time."""

    def __init__(self, recorded: Iterable[Lifecycle]) -> None:
        self._then: dict[str, deque[tuple[int, Key]]] = {}
        for one in recorded:
            if not one.baseline:
                self._then.setdefault(one.uid, deque()).append(
                    (one.t, (one.container_id, one.type))
                )
        self._waiting: dict[str, dict[Key, None]] = {}
        self._found: set[Key] = set()
        self._left_out: dict[str, int | None] = {}
        """Pods whose newest SyncPod is left out: when it began, None once it has ended."""
        self.skipped: dict[str, list[tuple[int, int]]] = {}

    def found(self, record: Lifecycle) -> None:
        """This run has found something."""
        key = (record.container_id, record.type)
        self._found.add(key)
        waiting = self._waiting.get(record.uid)
        if waiting is not None:
            waiting.pop(key, None)

    def sync_began(self, uid: str, t: int) -> None:
        """A recorded SyncPod begins."""
        then = self._then.get(uid, deque())
        waiting = self._waiting.setdefault(uid, {})
        while then and then[0][0] <= t:
            key = then.popleft()[1]
            if key not in self._found:
                waiting[key] = None
        self._left_out.pop(uid, None)
        if waiting:
            self._left_out[uid] = t

    def sync_ended(self, uid: str, t: int) -> None:
        """A recorded SyncPod ends."""
        began = self._left_out.get(uid)
        if began is not None:
            self.skipped.setdefault(uid, []).append((began, t))
            self._left_out[uid] = None

    def over(self, t: int) -> None:
        """The recording ends."""
        for uid, began in self._left_out.items():
            if began is not None:
                self.skipped.setdefault(uid, []).append((began, t))

    def skips(self, uid: str) -> bool:
        """Whether the pod's newest SyncPod, and what it asked for, is left out."""
        return uid in self._left_out
