"""SyncPods of another length: what a longer or shorter hold makes of the recorded ones.

While a pod's SyncPod runs its relists are suspended (KEP-3386), and its pod worker asks for one
when it returns. With another length a recorded SyncPod begins when it did, returns so much later
and asks then. A pod has one worker: a SyncPod whose time comes while the one before still runs
waits for it, and all that wait become one (kubelet ``pod_workers.go``: one pending update). What a
SyncPod did to the runtime was recorded and stays where it was.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from app.engine.inputs import RelistRequested, SyncEnded, SyncStarted
from app.whatif.evidence import Replayed

ASKS_WITHIN_NS = 5_000_000
"""A pod worker's request so soon after its SyncPod's return belongs to it."""

Span = tuple[int, int]


class Held(NamedTuple):
    """The inputs to be played and the SyncPods in them. Times in monotonic ns of the session.

    ``spans``: (from, to) of each SyncPod by pod UID, as played. ``then``: by pod UID and a played
    SyncPod's beginning, from when to when what it stands for was recorded.
    """

    script: Sequence[Replayed]
    spans: dict[str, list[Span]]
    then: dict[tuple[str, int], Span]

    def recorded(self, uid: str, span: Span) -> Span:
        """When what a played SyncPod stands for may have acted on the runtime."""
        began, ended = self.then.get((uid, span[0]), span)
        return min(began, span[0]), max(ended, span[1])

    def at(self, uid: str, t: int) -> bool:
        """Whether the pod's relists were suspended at ``t``."""
        return any(began <= t <= ended for began, ended in self.spans.get(uid, ()))


class _Sync:
    """A SyncPod as recorded: its inputs, and its place among all of them."""

    __slots__ = ("asked", "began", "ended", "place")

    def __init__(self, began: SyncStarted, place: tuple[int, int]) -> None:
        self.began = began
        self.ended: SyncEnded | None = None
        self.asked: RelistRequested | None = None
        self.place = place
        """(time that had been reached, number)"""

    def takes_in(self, later: "_Sync") -> None:
        """Another one waits as well: both become one."""
        self.ended = later.ended
        self.asked = later.asked or self.asked


def as_recorded(script: Sequence[Replayed], spans: dict[str, list[Span]]) -> Held:
    """Nothing is moved."""
    return Held(script, spans, {})


def lasting(script: Sequence[Replayed], hold_ns: int, until_t: int) -> Held:
    """The same inputs with SyncPods that each take ``hold_ns``."""
    rest: list[tuple[tuple[int, int], Replayed]] = []
    syncs: dict[str, list[_Sync]] = {}
    running: dict[str, _Sync] = {}
    reached = -(2**63)
    for number, happened in enumerate(script):
        reached = max(reached, happened.t)
        place = (reached, number)
        match happened:
            case SyncStarted():
                if happened.uid not in running:
                    one = running[happened.uid] = _Sync(happened, place)
                    syncs.setdefault(happened.uid, []).append(one)
            case SyncEnded():
                ended = running.pop(happened.uid, None)
                if ended is not None:
                    ended.ended = happened
            case RelistRequested(source="post_sync") if _asks(syncs.get(happened.uid), happened):
                syncs[happened.uid][-1].asked = happened
            case _:
                rest.append((place, happened))
    held = Held([], {}, {})
    for uid, some in syncs.items():
        rest += _moved(uid, some, hold_ns, until_t, held)
    rest.sort(key=lambda one: one[0])
    return held._replace(script=[happened for _, happened in rest])


def _asks(syncs: list[_Sync] | None, asked: RelistRequested) -> bool:
    """Whether this is what a pod worker asks for when its newest SyncPod has returned."""
    last = syncs[-1].ended if syncs else None
    return last is not None and 0 <= asked.t - last.t <= ASKS_WITHIN_NS


def _moved(
    uid: str, syncs: list[_Sync], hold_ns: int, until_t: int, held: Held
) -> list[tuple[tuple[int, int], Replayed]]:
    """A pod's SyncPods one after the other; notes them in ``held``."""
    made: list[tuple[tuple[int, int], Replayed]] = []
    free_t = -(2**63)
    waiting: tuple[_Sync, int] | None = None

    def run(one: _Sync, began: int, then_began: int) -> int:
        ended = began + hold_ns
        reached, number = one.place
        start = msgspec.structs.replace(one.began, t=began)
        made.append(((max(reached, began), number), start))
        end = one.ended or SyncEnded(t=ended, wall=one.began.wall, uid=uid)
        then_ended = until_t if one.ended is None else one.ended.t
        made.append(((max(reached, ended), number), msgspec.structs.replace(end, t=ended)))
        if one.asked is not None:
            asked = msgspec.structs.replace(one.asked, t=ended)
            made.append(((max(reached, ended), number), asked))
        held.spans.setdefault(uid, []).append((began, ended))
        held.then[uid, began] = (then_began, then_ended)
        return ended

    for one in syncs:
        t = one.began.t
        while waiting is not None and free_t <= t:
            free_t, waiting = run(waiting[0], free_t, waiting[1]), None
        if t >= free_t:
            free_t = run(one, t, t)
        elif waiting is None:
            waiting = (one, t)
        else:
            waiting[0].takes_in(one)
    if waiting is not None:
        run(waiting[0], free_t, waiting[1])
    return made
