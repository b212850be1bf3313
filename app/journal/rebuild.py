"""The engine's state, rebuilt from its records alone, so that a journal can be shown without it.

The sweep compares it with the engine at the end of every life it plays (tests/sweep/rebuild.py),
and tests/journal/test_rebuild.py does all along lives under each profile. Not in records, and
therefore not told: how often the stream was opened, when the gauge of the last relist was last
written, that the engine was stopped, and what the second health check of ``legacy`` says.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from app.engine.health import complaint
from app.engine.inputs import StreamPolicy
from app.engine.profiles import PROFILES
from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    Gap,
    Lifecycle,
    Record,
    RelistFinished,
    RelistListed,
    RelistStarted,
    RequestMade,
    RequestMoved,
    Retuned,
    RuntimeSeen,
    StreamChanged,
    SyncBegan,
    SyncFinished,
    Watching,
)
from app.engine.state import (
    EngineState,
    HealthState,
    QueueState,
    RelistState,
    StreamView,
)

NOT_TOLD = "The journal does not tell of the event stream."
SOURCES = ("post_sync", "post_allocation", "evented_pleg", "global")
ENDS = ("skipped", "coalesced", "dropped", "cancelled")
TYPES = ("created", "started", "stopped", "deleted")


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    """What a ``StateBuilder`` knows beside the state it tells and the newest records of each kind.

    Numbers of requests (``held``, ``waiting``, the one that is executed); wall times (ns) at which
    relists began.
    """

    held: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    request: int | None = None
    relist_wall: int = 0
    running_wall: int = 0


class StateBuilder:
    """Follows a journal's records; ``state`` is the engine's as far as they tell.

    Two counters are not in records and stay 0: streams opened, and stream ends (they are counted
    from what ``StreamChanged`` shows instead).
    """

    def __init__(self) -> None:
        self._watching = Watching(
            t=0, wall=0, profile="kep", period_ns=0, threshold_ns=0, queue_capacity=0
        )
        self._pause_ns = 0
        self._policy: StreamPolicy = "relist_only"
        self._stream: StreamChanged | None = None
        self._stream_since = 0
        self._relist_start: int | None = None
        self._relist_wall = 0
        self._running_wall = 0
        self._running: RelistState | None = None
        self._last_global: RelistState | None = None
        self._depth = 0
        self._held: set[int] = set()
        self._waiting: set[int] = set()
        self._running_request: int | None = None
        self._syncing: set[str] = set()
        self._pods: dict[str, dict[str, bool]] = {}
        """Pod records as lifecycle events made them: what is a container, and what a sandbox."""
        self._containers = 0
        self._next_t: int | None = None
        self._events = dict.fromkeys(SOURCES, 0)
        self._requests = dict.fromkeys(("queued", "executed", *ENDS), 0)
        self._heard = dict.fromkeys(
            (*TYPES, "unknown", "ignored", "backlog", "lost", "opened", "errors"), 0
        )
        self._takers: dict[type[Record], Callable[[Any], None]] = {
            Watching: self._began,
            RuntimeSeen: self._runtime,
            StreamChanged: self._stream_changed,
            ContainerEventSeen: self._event,
            EventIgnored: self._ignored,
            Gap: self._gap,
            RequestMade: self._made,
            RequestMoved: self._moved,
            RelistStarted: self._started,
            RelistFinished: self._finished,
            Lifecycle: self._found,
            RelistListed: self._listed,
            Retuned: self._retuned,
            SyncBegan: self._sync_began,
            SyncFinished: self._sync_ended,
        }
        self._tellers: dict[type[Record], Callable[[Any], dict[str, Any]]] = {
            ContainerEventSeen: self._event_told,
            RelistStarted: self._start_told,
            RelistFinished: self._end_told,
            Lifecycle: self._find_told,
            SyncBegan: self._sync_told,
            SyncFinished: self._sync_told,
            RequestMade: self._request_told,
            RequestMoved: self._request_told,
            EventIgnored: self._ignored_told,
            Gap: self._gap_told,
        }
        self._well: HealthState | None = None

    def apply(self, record: Record) -> None:
        """Take one record into account; to be subscribed to a ``Journal``."""
        taker = self._takers.get(type(record))
        if taker is not None:
            taker(record)

    def follow(self, record: Record) -> dict[str, Any] | None:
        """The same; and what of the state, but for its health, it can have changed, as it is now;
        None: it can be anything. ``requests.queued`` is the entry of that name in the field
        ``requests``. Costs far less than ``state``."""
        kind = type(record)
        taker = self._takers.get(kind)
        if taker is None:
            return {}
        taker(record)
        teller = self._tellers.get(kind)
        return None if teller is None else teller(record)

    def _event_told(self, record: ContainerEventSeen) -> dict[str, Any]:
        kind = record.type if record.type in TYPES else "unknown"
        heard = self._heard
        return {f"stream_events.{kind}": heard[kind], "stream_events.backlog": heard["backlog"]}

    def _start_told(self, _record: RelistStarted) -> dict[str, Any]:
        return {
            "queue": self._queue(),
            "running": self._running,
            "next_global_t": self._next_t,
        }

    def _end_told(self, _record: RelistFinished) -> dict[str, Any]:
        return {
            "running": self._running,
            "requests.executed": self._requests["executed"],
            "pace_ns": self._pause_ns,
            "next_global_t": self._next_t,
            "last_global": self._last_global,
        }

    def _find_told(self, record: Lifecycle) -> dict[str, Any]:
        return {
            "pods": len(self._pods),
            "containers": self._containers,
            f"events.{record.source}": self._events[record.source],
        }

    def _sync_told(self, _record: SyncBegan | SyncFinished) -> dict[str, Any]:
        return {"queue": self._queue()}

    def _request_told(self, record: RequestMade | RequestMoved) -> dict[str, Any]:
        told: dict[str, Any] = {
            "queue": self._queue(),
            "requests.queued": self._requests["queued"],
            "requests.held": len(self._held),
        }
        if record.outcome in ENDS:
            told[f"requests.{record.outcome}"] = self._requests[record.outcome]
        return told

    def _ignored_told(self, _record: EventIgnored) -> dict[str, Any]:
        return {"stream_events.ignored": self._heard["ignored"]}

    def _gap_told(self, _record: Gap) -> dict[str, Any]:
        return {"stream_events.lost": self._heard["lost"]}

    def state(self, t: int) -> EngineState:
        """The state at ``t`` (monotonic ns of the recorded session)."""
        stream = self._stream
        return EngineState(
            t=t,
            profile=self._watching.profile,
            period_ns=self._watching.period_ns,
            pace_ns=self._pause_ns,
            health=self.health(t),
            stream=StreamView("off", 0, NOT_TOLD, self._policy)
            if stream is None
            else StreamView(
                stream.state,
                self._stream_since,
                stream.meaning,
                self._policy,
                stream.attempt,
                stream.retry_t,
                stream.code,
                stream.detail,
            ),
            queue=self._queue(),
            running=self._running,
            last_global=self._last_global,
            next_global_t=self._next_t,
            pods=len(self._pods),
            containers=self._containers,
            events=dict(self._events),
            requests=self._outcomes(),
            stream_events=dict(self._heard),
        )

    def _queue(self) -> QueueState:
        return QueueState(
            self._depth, self._watching.queue_capacity, len(self._held), self._suspended()
        )

    def _outcomes(self) -> dict[str, int]:
        return {**self._requests, "held": len(self._held)}

    def inner(self) -> Inner:
        """What ``resume`` needs beside a state and records to begin from."""
        return Inner(
            held=tuple(sorted(self._held)),
            waiting=tuple(sorted(self._waiting)),
            request=self._running_request,
            relist_wall=self._relist_wall,
            running_wall=self._running_wall,
        )

    def resume(self, then: EngineState, inner: Inner, syncing: Iterable[str]) -> bool:
        """Go on from a state that was told, after the newest records before it were applied.

        ``syncing``: UIDs of the pods under SyncPod. Returns whether the same state is told now;
        else this builder is of no use.
        """
        self._watching = msgspec.structs.replace(
            self._watching,
            profile=then.profile,
            period_ns=then.period_ns,
            threshold_ns=then.health.threshold_ns,
            queue_capacity=then.queue.capacity,
        )
        self._pause_ns, self._next_t = then.pace_ns, then.next_global_t
        self._stream_since = then.stream.since_t
        self._running, self._last_global = then.running, then.last_global
        self._relist_start = then.health.last_start_t
        self._relist_wall, self._running_wall = inner.relist_wall, inner.running_wall
        self._depth, self._running_request = then.queue.length, inner.request
        self._held, self._waiting, self._syncing = set(inner.held), set(inner.waiting), set(syncing)
        self._events, self._heard = dict(then.events), dict(then.stream_events)
        self._requests = {name: then.requests.get(name, 0) for name in self._requests}
        return self.state(then.t) == then

    def _suspended(self) -> int:
        """Pods whose relists wait for SyncPod; without suspension its times hold nothing."""
        profile = PROFILES.get(self._watching.profile)
        return len(self._syncing) if profile is not None and profile.suspension else 0

    def health(self, t: int) -> HealthState:
        """The health at ``t``: of the state, what changes though nothing happens. The same object
        as long as it is well and stays the same."""
        threshold, start = self._watching.threshold_ns, self._relist_start
        seen = None if start is None else self._relist_wall // 1_000_000_000
        well = self._well
        if (
            well is not None
            and start is not None
            and t - start <= threshold
            and (well.last_start_t, well.last_seen) == (start, seen)
            and well.threshold_ns == threshold
        ):
            return well
        message = complaint(t, start, threshold)
        health = HealthState(not message, message, start, threshold, seen)
        self._well = None if message else health
        return health

    def _began(self, record: Watching) -> None:
        self._watching = record
        self._pause_ns = record.period_ns
        self._next_t = record.t

    def _runtime(self, record: RuntimeSeen) -> None:
        self._policy = record.policy

    def _stream_changed(self, record: StreamChanged) -> None:
        if self._stream is None or record.state != self._stream.state:
            self._stream_since = record.t
            self._heard["opened"] += record.state == "connected"
        self._heard["errors"] += record.code is not None
        self._stream = record

    def _event(self, record: ContainerEventSeen) -> None:
        self._heard[record.type if record.type in TYPES else "unknown"] += 1
        self._heard["backlog"] += record.backlog

    def _ignored(self, _record: EventIgnored) -> None:
        self._heard["ignored"] += 1

    def _gap(self, record: Gap) -> None:
        if record.hop == "stream":
            self._heard["lost"] += record.count

    def _made(self, record: RequestMade) -> None:
        self._request(record)

    def _moved(self, record: RequestMoved) -> None:
        self._request(record)

    def _request(self, record: RequestMade | RequestMoved) -> None:
        number, outcome = record.request, record.outcome
        self._depth = record.depth
        if outcome in ("queued", "released"):
            # A request may enter the queue again; it is counted as queued once.
            self._requests["queued"] += number not in self._waiting
            self._waiting.add(number)
        if outcome == "held":
            self._held.add(number)
        else:
            self._held.discard(number)
        if outcome in ENDS:
            self._requests[outcome] += 1
            self._waiting.discard(number)
            if self._running is not None and number == self._running_request:
                self._running_request = None

    def _started(self, record: RelistStarted) -> None:
        if record.request is not None:
            self._depth = max(0, self._depth - 1)
        self._running_request = record.request
        if record.scope == "global":
            self._next_t = None
            self._running_wall = record.wall
        self._running = RelistState(
            record.relist, record.scope, record.source, record.t, record.uid
        )

    def _finished(self, record: RelistFinished) -> None:
        self._running = None
        if self._running_request is not None and not record.withheld:
            # Not one that was cancelled while its relist ran.
            self._requests["executed"] += 1
            self._waiting.discard(self._running_request)
        self._running_request = None
        if record.scope != "global":
            return
        if record.running_pods is not None:
            # Its list succeeded, whatever became of the rest.
            self._renew(record.started)
        if record.pause_ns is not None:
            self._pause_ns = record.pause_ns
            self._next_t = record.t + record.pause_ns
        self._last_global = RelistState(
            record.relist,
            record.scope,
            record.source,
            record.started,
            None,
            record.duration_ns,
            record.ok,
            record.pods,
            record.containers,
            record.code,
        )

    def _listed(self, record: RelistListed) -> None:
        self._renew(record.started)
        self._pause_ns = record.pause_ns

    def _renew(self, started: int) -> None:
        self._relist_start = started
        self._relist_wall = self._running_wall

    def _retuned(self, record: Retuned) -> None:
        self._watching = msgspec.structs.replace(
            self._watching, period_ns=record.period_ns, threshold_ns=record.threshold_ns
        )
        self._pause_ns = record.period_ns

    def _found(self, record: Lifecycle) -> None:
        if record.delivery != "filtered":
            self._events[record.source] += 1
        if record.relist == 0 or record.type == "PodSync":
            # An event that was believed leaves the pod records as they are (legacy).
            return
        pod = self._pods.setdefault(record.uid, {})
        self._containers -= pod.pop(record.container_id, False)
        if record.new_state != "non-existent":
            pod[record.container_id] = not record.is_sandbox
            self._containers += not record.is_sandbox
        if not pod:
            del self._pods[record.uid]

    def _sync_began(self, record: SyncBegan) -> None:
        self._syncing.add(record.uid)

    def _sync_ended(self, record: SyncFinished) -> None:
        self._syncing.discard(record.uid)
