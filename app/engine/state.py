"""The engine's present state in one immutable picture, for the header and the API."""

import msgspec

from app.engine.inputs import EndCode, FailCode, StreamPolicy
from app.engine.model import RelistSource
from app.engine.records import Scope, StreamState


class HealthState(msgspec.Struct, frozen=True):
    """PLEG health. ``last_start_t``: start of the last global relist whose list succeeded (None:
    never). ``last_seen``: the kubelet's gauge, whole Unix seconds, written only when polled."""

    healthy: bool
    message: str
    last_start_t: int | None
    threshold_ns: int
    last_seen: int | None


class RelistState(msgspec.Struct, frozen=True):
    """A relist: the one in progress, or the last one of its scope. ``code``: what its failure
    means, if it failed and that is told."""

    relist: int
    scope: Scope
    source: RelistSource
    started: int
    uid: str | None = None
    duration_ns: int | None = None
    ok: bool | None = None
    pods: int = 0
    containers: int = 0
    code: FailCode | None = None


class StreamView(msgspec.Struct, frozen=True):
    """The event stream: state, since when, and what that means in a sentence."""

    state: StreamState
    since_t: int
    meaning: str
    policy: StreamPolicy
    attempt: int = 0
    retry_t: int | None = None
    code: EndCode | None = None
    detail: str = ""


class QueueState(msgspec.Struct, frozen=True):
    """On-demand requests waiting, and pods under SyncPod (``suspended``) with requests ``held``."""

    length: int
    capacity: int
    held: int
    suspended: int


class EngineState(msgspec.Struct, frozen=True):
    """Everything at time ``t`` (monotonic ns). Counters count since the session's start.

    ``events``: lifecycle events (sent or discarded) by relist source. ``requests``: by outcome
    (queued, executed, skipped, coalesced, dropped, cancelled, and held at this moment).
    ``stream_events``: by event type, with ``ignored``.
    """

    t: int
    profile: str
    period_ns: int
    pace_ns: int
    """Pause between two global relists now in force; above ``period_ns`` when slowed."""
    health: HealthState
    stream: StreamView
    queue: QueueState
    running: RelistState | None
    last_global: RelistState | None
    next_global_t: int | None
    pods: int
    containers: int
    events: dict[str, int]
    requests: dict[str, int]
    stream_events: dict[str, int]
