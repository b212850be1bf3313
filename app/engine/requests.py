"""On-demand relist requests: a bounded queue, and suspension while SyncPod runs.

A request ends in exactly one of executed, skipped, coalesced, dropped or cancelled. Outside a
suspension nothing is merged (KEP-3386, behaviours P10); inside one, the first request is kept and
the others are folded into it (P1 to P3). Requests that wait in the queue when SyncPod begins wait
on with those that come during it, so that one relist follows it and not two.
"""

from collections import deque

import msgspec

from app.engine.model import RelistSource
from app.engine.outbox import Outbox
from app.engine.records import Outcome, RequestMade, RequestMoved

FINAL = ("executed", "skipped", "coalesced", "dropped", "cancelled")


class Request(msgspec.Struct):
    """One pod's relist, asked for. ``made_t``: when it was made; ``enqueued_t``: when it last
    entered the queue, which the skip rule compares (monotonic ns)."""

    number: int
    uid: str
    source: RelistSource
    event: int | None
    made_t: int
    enqueued_t: int
    counted: bool = False
    """Whether it was counted as queued: once, however often it enters the queue."""


class RequestQueue:
    """The queue of at most ``capacity`` requests, and the requests held for suspended pods.

    Without ``suspends`` (the profiles before 1.38) SyncPod's times are known and hold nothing.
    """

    def __init__(self, outbox: Outbox, capacity: int, *, suspends: bool = True) -> None:
        self._out = outbox
        self._suspends = suspends
        self.capacity = capacity
        self._queue: deque[Request] = deque()
        self._held: dict[str, Request] = {}
        self._suspended: dict[str, int] = {}
        self._folded: dict[str, int] = {}
        self._numbers = 0
        self.outcomes: dict[str, int] = dict.fromkeys(("queued", *FINAL), 0)

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def held(self) -> int:
        """Requests waiting for a SyncPod to end."""
        return len(self._held)

    @property
    def suspended(self) -> int:
        """Pods whose relists are suspended."""
        return len(self._suspended) if self._suspends else 0

    def is_syncing(self, uid: str) -> bool:
        """Whether this pod's SyncPod runs."""
        return uid in self._suspended

    def is_suspended(self, uid: str) -> bool:
        """Whether this pod's relists wait for its SyncPod."""
        return self._suspends and uid in self._suspended

    def reserve(self) -> int:
        """The number of the next request, so that its cause can name it first."""
        self._numbers += 1
        return self._numbers

    def make(self, number: int, uid: str, source: RelistSource, event: int | None) -> bool:
        """A request enters; True when it stands in the queue."""
        now = self._out.t
        request = Request(number, uid, source, event, now, now)
        outcome = self._place(request)
        self._out.show(
            RequestMade(
                t=now,
                wall=self._out.wall,
                request=number,
                uid=uid,
                source=source,
                event=event,
                outcome=outcome,
                depth=len(self._queue),
            )
        )
        return outcome == "queued"

    def pop(self) -> Request | None:
        """The oldest request; none of them is a suspended pod's."""
        return self._queue.popleft() if self._queue else None

    def put_back(self, request: Request, relist: int) -> None:
        """A relist's result was withheld because of SyncPod: the request waits on (or again).

        If SyncPod has returned meanwhile and a request of this pod stands in the queue, that one
        will see what this one would have seen.
        """
        if any(waiting.uid == request.uid for waiting in self._queue):
            self.outcomes["coalesced"] += 1
            self._moved(request, "coalesced", relist)
            return
        request.enqueued_t = self._out.t
        self._moved(request, self._place(request), relist)

    def settle(self, request: Request, outcome: Outcome | None, relist: int | None = None) -> None:
        """A request has ended; ``outcome`` None means executed, which its relist's records tell."""
        if outcome is None:
            self.outcomes["executed"] += 1
            return
        self.outcomes[outcome] += 1
        self._moved(request, outcome, relist)

    def suspend(self, uid: str) -> None:
        """SyncPod began (a second time changes nothing): what waits for this pod is held."""
        if uid in self._suspended:
            return
        self._suspended[uid] = self._out.t
        if not self._suspends:
            return
        for request in [waiting for waiting in self._queue if waiting.uid == uid]:
            self._queue.remove(request)
            self._moved(request, self._hold(request))

    def release(self, uid: str) -> tuple[int, int] | None:
        """SyncPod returned: one relist is queued if any was asked for.

        Returns (how long it was suspended in ns, how many requests had waited), or None when the
        pod was not suspended.
        """
        began = self._suspended.pop(uid, None)
        if began is None:
            return None
        request = self._held.pop(uid, None)
        waited = self._folded.pop(uid, 0) + (request is not None)
        if request is not None:
            request.enqueued_t = self._out.t
            outcome = self._place(request)
            self._moved(request, "released" if outcome == "queued" else outcome)
        return self._out.t - began, waited

    def cancel_all(self) -> None:
        """Shutdown: whatever waits is cancelled."""
        held, self._held = tuple(self._held.values()), {}
        self._folded.clear()
        while self._queue:
            self.settle(self._queue.popleft(), "cancelled")
        for request in held:
            self.settle(request, "cancelled")

    def _place(self, request: Request) -> Outcome:
        if self.is_suspended(request.uid):
            return self._hold(request)
        if len(self._queue) >= self.capacity:
            self.outcomes["dropped"] += 1
            return "dropped"
        self._queue.append(request)
        self.outcomes["queued"] += not request.counted
        request.counted = True
        return "queued"

    def _hold(self, request: Request) -> Outcome:
        if request.uid in self._held:
            self._folded[request.uid] = self._folded.get(request.uid, 0) + 1
            self.outcomes["coalesced"] += 1
            return "coalesced"
        self._held[request.uid] = request
        return "held"

    def _moved(self, request: Request, outcome: Outcome, relist: int | None = None) -> None:
        self._out.show(
            RequestMoved(
                t=self._out.t,
                wall=self._out.wall,
                request=request.number,
                uid=request.uid,
                source=request.source,
                outcome=outcome,
                depth=len(self._queue),
                relist=relist,
            )
        )
