"""What happened: everything that enters the engine.

Each input carries the session's monotonic time ``t`` (ns, durations come from it alone) and the
wall time ``wall`` (ns since 1970, shown and compared with the runtime's times only).
"""

from typing import Literal

import msgspec

from app.engine.model import (
    CallCost,
    ContainerEvent,
    ContainerStatus,
    Observation,
    RelistSource,
    SandboxStatus,
)

StreamPolicy = Literal["join", "relist_only"]

EndCode = Literal[
    "eof", "immediate_eof", "unimplemented", "unavailable", "deadline", "cancelled", "error"
]
"""How an event stream ended: ``eof`` closed without an error, ``immediate_eof`` the same within the
grace time after it was opened, ``deadline`` ran into its own deadline without a successor."""

FailCode = Literal["silent", "unreachable", "error", "stopped"]
"""Why a call failed: the runtime did not answer in time, could not be reached, or answered with an
error; or plegscope itself was stopped before the answer."""


class Input(msgspec.Struct, frozen=True, kw_only=True, tag_field="input"):
    """Something that happened at ``t`` (monotonic ns) and ``wall`` (ns since 1970)."""

    t: int
    wall: int


class Start(Input, frozen=True, tag="start"):
    """Begin: the first global relist is due at once, the stream is opened if policy allows."""


class Stop(Input, frozen=True, tag="stop"):
    """End: nothing new is begun, waiting requests are cancelled, the stream is closed."""


class TimerFired(Input, frozen=True, tag="timer"):
    """The answer to a ``WakeAt``; one whose token is not the newest of its timer is ignored."""

    timer: str
    token: int


class RuntimeProbed(Input, frozen=True, tag="probed"):
    """What ``Version`` answered and what follows for the stream, with the reason in a sentence."""

    name: str
    version: str
    api_version: str
    endpoint: str
    policy: StreamPolicy
    reason: str


class PodsListed(Input, frozen=True, tag="listed"):
    """The answer to ``ListPods``: all (or one pod's) sandboxes and containers."""

    call: int
    sandboxes: tuple[Observation, ...]
    containers: tuple[Observation, ...]
    calls: tuple[CallCost, ...] = ()


class PodsListFailed(Input, frozen=True, tag="list_failed"):
    """``ListPods`` failed; ``error`` is a sentence for people, ``code`` what it means (None: not
    told, as by recordings of earlier versions)."""

    call: int
    error: str
    calls: tuple[CallCost, ...] = ()
    code: FailCode | None = None


class PodInspected(Input, frozen=True, tag="inspected"):
    """The answer to ``InspectPod``. What the runtime no longer knew (NotFound) is left out."""

    call: int
    sandboxes: tuple[SandboxStatus, ...]
    containers: tuple[ContainerStatus, ...]
    calls: tuple[CallCost, ...] = ()


class PodInspectFailed(Input, frozen=True, tag="inspect_failed"):
    """``InspectPod`` failed for a reason other than NotFound."""

    call: int
    error: str
    calls: tuple[CallCost, ...] = ()


class StreamOpened(Input, frozen=True, tag="stream_opened"):
    """A stream object was obtained (where the kubelet counts a success); nothing is proven yet."""


class StreamLive(Input, frozen=True, tag="stream_live"):
    """The stream delivered an event, or stayed open for the grace time without an error."""


class StreamRenewed(Input, frozen=True, tag="stream_renewed"):
    """The stream was replaced before its deadline by an overlapping one; no connection error."""

    duplicates: int = 0


class StreamEvent(Input, frozen=True, tag="stream_event"):
    """One event taken from the stream; ``t`` and ``wall`` are the time of its receipt."""

    event: ContainerEvent


class StreamLost(Input, frozen=True, tag="stream_lost"):
    """``count`` events were dropped by the bounded ring since ``from_t``."""

    count: int
    from_t: int


class StreamEnded(Input, frozen=True, tag="stream_ended"):
    """The stream is gone; ``detail`` is the runtime's own text, hostile until shown as text."""

    code: EndCode
    detail: str = ""


class SyncStarted(Input, frozen=True, tag="sync_started"):
    """A pod worker entered SyncPod: this pod's relists are suspended from now on."""

    uid: str


class SyncEnded(Input, frozen=True, tag="sync_ended"):
    """SyncPod returned, well or not: the suspension is lifted (KEP-3386: also on error)."""

    uid: str
    did_work: bool = False
    failed: bool = False


class RelistRequested(Input, frozen=True, tag="relist_requested"):
    """Somebody other than the stream asks for one pod's relist."""

    uid: str
    source: RelistSource


class ReinspectRequested(Input, frozen=True, tag="reinspect_requested"):
    """The next relist that reaches this pod inspects it even if nothing changed."""

    uid: str


class EventsTaken(Input, frozen=True, tag="events_taken"):
    """The reader of the lifecycle event channel took ``count`` events from it; a negative count
    says that so many which are not the PLEG's were put in."""

    count: int
