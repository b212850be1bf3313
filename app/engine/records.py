"""What is worth showing: everything that leaves the engine for people.

A record is immutable. ``seq`` is 0 until the journal numbers it; ``t`` is the session's monotonic
time (ns) and ``wall`` the wall time (ns since 1970) of what it tells. Relists, requests and stream
events are numbered by the engine (``relist``, ``request``, ``event``: counting from 1, each kind
for itself), and these numbers tie a chain together: event, request, relist, lifecycle event.
"""

from typing import Literal

import msgspec

from app.engine.inputs import EndCode, FailCode, StreamPolicy
from app.engine.model import (
    ContainerStatus,
    EventType,
    RelistSource,
    SandboxStatus,
    State,
)

Scope = Literal["global", "pod"]
Outcome = Literal["queued", "held", "coalesced", "dropped", "released", "skipped", "cancelled"]
"""What became of a relist request. Final are ``coalesced``, ``dropped``, ``skipped`` and
``cancelled``; a request that was executed is named by its ``RelistStarted`` instead."""

StreamState = Literal["off", "connecting", "connected", "waiting", "closed"]
Delivery = Literal["sent", "filtered", "discarded"]


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """One line of the journal."""

    seq: int = 0
    t: int
    wall: int


class Watching(Record, frozen=True, tag="watching"):
    """The session began with these settings."""

    profile: str
    period_ns: int
    threshold_ns: int
    queue_capacity: int


class RuntimeSeen(Record, frozen=True, tag="runtime"):
    """Who answered ``Version``, and whether its event stream is joined, with the reason."""

    name: str
    version: str
    api_version: str
    endpoint: str
    policy: StreamPolicy
    reason: str


class PodSeen(Record, frozen=True, tag="pod_seen"):
    """A pod was listed (or named by an event) for the first time."""

    uid: str
    name: str
    namespace: str


class PodGone(Record, frozen=True, tag="pod_gone"):
    """The pod is no longer listed; its pod record is gone."""

    uid: str


class ContainerEventSeen(Record, frozen=True, tag="stream_event"):
    """The stream delivered an event that names a pod.

    ``latency_ns`` is receipt minus the runtime's ``created_at``; None when the event is older than
    the subscription (``backlog``) or its time is nonsense. ``request`` is the relist request it
    made (stop events only). Exit code, reason and time are the payload's claim, shown, never used.
    """

    event: int
    type: str
    uid: str
    container_id: str
    container_name: str
    is_sandbox: bool
    created_at: int
    latency_ns: int | None
    backlog: bool
    request: int | None
    exit_code: int | None = None
    reason: str = ""
    finished_at: int = 0


class EventIgnored(Record, frozen=True, tag="event_ignored"):
    """An event that could not be used (KEP-3386: no sandbox status, no metadata, no pod UID)."""

    event: int
    type: str
    container_id: str
    reason: Literal["missing_sandbox_status", "missing_metadata", "missing_uid"]


class EventRefused(Record, frozen=True, tag="event_refused"):
    """The pod cache refused what an event said, as its entry carries a later time (``legacy``)."""

    uid: str
    type: str
    container_id: str
    behind_ns: int


class RequestMade(Record, frozen=True, tag="request"):
    """A relist of one pod was asked for. ``depth`` is the queue's length afterwards."""

    request: int
    uid: str
    source: RelistSource
    event: int | None
    outcome: Outcome
    depth: int


class RequestMoved(Record, frozen=True, tag="request_moved"):
    """A waiting request was held, released, skipped, coalesced, dropped or cancelled.

    ``relist`` is the newer global relist that covered a skipped request, or the targeted relist
    whose result was withheld because the pod's SyncPod had begun.
    """

    request: int
    uid: str
    source: RelistSource
    outcome: Outcome
    depth: int
    relist: int | None = None


class RelistStarted(Record, frozen=True, tag="relist_started"):
    """A relist began. ``waited_ns``: from the request's making to now (targeted only)."""

    relist: int
    scope: Scope
    source: RelistSource
    uid: str | None = None
    request: int | None = None
    waited_ns: int | None = None


class RelistListed(Record, frozen=True, tag="relist_listed"):
    """A global relist has its list and goes on to inspect pods; health is renewed from here on.

    A relist that has nothing to inspect ends in the same moment and is told by its end alone.
    ``pause_ns``: as in :class:`RelistFinished`.
    """

    relist: int
    started: int
    pause_ns: int


class RelistFinished(Record, frozen=True, tag="relist_finished"):
    """A relist ended. ``started`` is its monotonic start; counts are of what it listed.

    ``error`` says why it failed, ``code`` what that means (None: it did not, or that is not told).
    ``withheld``: pods whose result was not published because of SyncPod. The ``running_*`` numbers
    are those of the kubelet's gauges (global relists whose list succeeded; else None).
    ``pause_ns``: the pause in force between two global relists (global only; None at the stop).
    ``slowest_uid``: the pod whose inspection made the slowest call; empty when it was a list.
    """

    relist: int
    scope: Scope
    source: RelistSource
    started: int
    duration_ns: int
    ok: bool
    uid: str | None = None
    request: int | None = None
    error: str = ""
    code: FailCode | None = None
    pods: int = 0
    containers: int = 0
    changed: int = 0
    withheld: int = 0
    calls: int = 0
    slowest_method: str = ""
    slowest_ns: int = 0
    slowest_uid: str = ""
    running_pods: int | None = None
    containers_by_state: dict[str, int] | None = None
    pause_ns: int | None = None


class Lifecycle(Record, frozen=True, tag="lifecycle"):
    """A pod lifecycle event the shadow's relist found (a prediction, not the kubelet's event).

    ``relist`` is 0 when an event was believed instead (``legacy``).
    ``event`` and ``stop_t`` name the stop event that told of this container before, if one did,
    whichever relist found it; ``after_ns`` is from its receipt to the finding (None for backlog).
    ``since_finished_ns`` is from the runtime's ``finished_at`` to the finding, by wall clock; None
    when that time is nonsense.
    ``poll_due_t``: when the next global relist would begin (monotonic ns), which would have
    found it. ``baseline``: found by the session's first global relist, so nobody was late: it may
    have happened long before plegscope was there.
    """

    type: EventType
    uid: str
    container_id: str
    container_name: str
    is_sandbox: bool
    old_state: State
    new_state: State
    relist: int
    source: RelistSource
    delivery: Delivery
    attempt: int = 0
    request: int | None = None
    event: int | None = None
    stop_t: int | None = None
    after_ns: int | None = None
    since_finished_ns: int | None = None
    finished_at: int = 0
    exit_code: int | None = None
    reason: str = ""
    poll_due_t: int | None = None
    baseline: bool = False


class PodCached(Record, frozen=True, tag="pod_cached"):
    """The pod cache got a new entry. With ``error``, the inspection failed and is tried again."""

    uid: str
    name: str
    namespace: str
    relist: int
    ips: tuple[str, ...] = ()
    containers: tuple[ContainerStatus, ...] = ()
    sandboxes: tuple[SandboxStatus, ...] = ()
    error: str = ""


class PodUncached(Record, frozen=True, tag="pod_uncached"):
    """The pod cache's entry was deleted."""

    uid: str
    relist: int


class CacheTimeMoved(Record, frozen=True, tag="cache_time"):
    """The pod cache's global time was moved by a ticker instead of a relist (``legacy``): whoever
    waits for something newer is let go, with what the cache has."""


class RunningMoved(Record, frozen=True, tag="running_moved"):
    """An event moved the kubelet's running gauges by so much (``legacy``; else only a global
    relist sets them)."""

    uid: str
    running_pods: int
    containers_by_state: dict[str, int]


class StreamChanged(Record, frozen=True, tag="stream"):
    """The event stream's state changed (or it was renewed: ``renewed``).

    ``meaning`` says in a sentence what this is and what it costs. ``retry_t``: monotonic time of
    the next try while ``waiting``. ``attempt`` counts tries since the last healthy connection.
    """

    state: StreamState
    meaning: str
    code: EndCode | None = None
    detail: str = ""
    attempt: int = 0
    retry_t: int | None = None
    connected_ns: int | None = None
    renewed: bool = False


class SyncBegan(Record, frozen=True, tag="sync_started"):
    """SyncPod began: this pod's relists wait."""

    uid: str


class SyncFinished(Record, frozen=True, tag="sync_finished"):
    """SyncPod returned after ``duration_ns``; ``held``: requests that were waiting for it."""

    uid: str
    duration_ns: int
    did_work: bool
    failed: bool
    held: int


class HealthChanged(Record, frozen=True, tag="health"):
    """The PLEG health check's answer changed. ``message`` is the kubelet's wording."""

    healthy: bool
    message: str


class PaceChanged(Record, frozen=True, tag="pace"):
    """The shadow slowed (or restored) its own global relist to spare a slow runtime."""

    period_ns: int
    reason: str


class Retuned(Record, frozen=True, tag="retuned"):
    """Another period and health threshold from now on (``legacy``: with the stream, or without)."""

    period_ns: int
    threshold_ns: int


class RuntimeHung(Record, frozen=True, tag="runtime_hung"):
    """A call has been waiting for ``age_ns`` and the runtime is taken for hung (``hung``), or
    answered again (not ``hung``; the age the oldest call reached)."""

    hung: bool
    method: str
    age_ns: int


class Gap(Record, frozen=True, tag="gap"):
    """``count`` things were lost at ``hop`` between ``from_t`` and ``t``: not known here."""

    hop: Literal["stream", "journal", "viewer", "paused"]
    count: int
    from_t: int
    reason: str


class Note(Record, frozen=True, tag="note"):
    """Something people should know, in a sentence."""

    level: Literal["info", "warning"]
    text: str


AnyRecord = (
    Watching
    | RuntimeSeen
    | PodSeen
    | PodGone
    | ContainerEventSeen
    | EventIgnored
    | EventRefused
    | RequestMade
    | RequestMoved
    | RelistStarted
    | RelistListed
    | RelistFinished
    | Lifecycle
    | PodCached
    | PodUncached
    | CacheTimeMoved
    | RunningMoved
    | StreamChanged
    | SyncBegan
    | SyncFinished
    | HealthChanged
    | PaceChanged
    | Retuned
    | RuntimeHung
    | Gap
    | Note
)
