"""Pod records: what Generic PLEG last knew of each pod, and who is marked for reinspection.

Source: kubelet pleg/generic.go ``podRecords`` and ``RequestReinspect``.
"""

from app.engine.listing import Pod
from app.engine.outbox import Outbox
from app.engine.records import PodGone, PodSeen

MOST_NAMED = 20_000
"""A stream may name pods without end while lists fail; past this many it names no new ones."""


class PodRecords:
    """UID to the pod as the last published relist left it, plus the names for people.

    ``known`` is wider than ``old``: a pod is named as soon as a listing or an event shows it, even
    while a suspension keeps its record from being made.
    """

    def __init__(self, outbox: Outbox) -> None:
        self._out = outbox
        self.old: dict[str, Pod | None] = {}
        """None: listed, but nothing of it has been published yet."""
        self._known: dict[str, int] = {}
        self.marks: set[str] = set()
        """Pods that the next relist that reaches them inspects in any case."""

    def __len__(self) -> int:
        return sum(pod is not None for pod in self.old.values())

    def see(self, uid: str, name: str, namespace: str) -> None:
        """A pod was named by a listing or an event."""
        if uid in self._known or len(self._known) >= MOST_NAMED:
            return
        self._known[uid] = self._out.t
        self._out.show(
            PodSeen(t=self._out.t, wall=self._out.wall, uid=uid, name=name, namespace=namespace)
        )

    def listed(self, pods: dict[str, Pod]) -> None:
        """A listing shows these pods: each is named, and has a record, published or not."""
        known, old = self._known, self.old
        for uid, pod in pods.items():
            if uid not in known:
                self.see(uid, pod.name, pod.namespace)
            if uid not in old:
                old[uid] = None

    def drop_empty(self, uid: str) -> None:
        """A pod of which nothing was ever published is no longer listed."""
        if self.old.get(uid) is None:
            self.old.pop(uid, None)

    def forget_absent(self, listed: dict[str, Pod], since_t: int) -> None:
        """A global relist is complete: names of pods that are neither listed nor recorded go.

        A pod named after the relist began may be newer than its list and stays.
        """
        gone = [
            uid
            for uid, seen_t in self._known.items()
            if uid not in listed and uid not in self.old and seen_t < since_t
        ]
        for uid in gone:
            del self._known[uid]
            self._out.show(PodGone(t=self._out.t, wall=self._out.wall, uid=uid))

    def advance(self, uid: str, pod: Pod | None) -> None:
        """What was found is published: it is now what the pod is compared with."""
        if pod is None:
            self.old.pop(uid, None)
        else:
            self.old[uid] = pod

    def mark(self, uid: str) -> None:
        """The next relist that reaches this pod inspects it."""
        self.marks.add(uid)

    def take_mark(self, uid: str) -> bool:
        """Whether the pod was marked; the mark is gone afterwards."""
        if uid not in self.marks:
            return False
        self.marks.remove(uid)
        return True
