"""What can go wrong between the runtime and the PLEG, in the runtime, in the kubelet, on the node.

A fault is declared: what, from when, for how long, to whom, how often. It says what it imitates in
the real world. ``faultplan.py`` decides which are at work. ``virtualstream.py`` and
``virtualruntime.py`` carry them out in virtual time, ``livestream.py`` and ``livecalls.py`` over
gRPC, and ``nodefaults.py`` in both. All of them end by themselves when they have an end.
"""

from fnmatch import fnmatchcase
from typing import Annotated, ClassVar, Literal

import msgspec

from app.sim.flavour import EventKind
from app.sim.units import Ns, Offset, Span, millis, seconds
from app.sim.workloadparts import EndingName

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
"""Of how many, from 0 (none) to 1 (all)."""

Glob = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
"""Pods by ``namespace/name``, with ``*`` and ``?`` as in file names."""

Text = Annotated[str, msgspec.Meta(max_length=500)]

Missing = Literal["uid", "metadata", "sandbox-status", "statuses"]
"""What a damaged event lacks."""

Family = Literal["stream", "lists", "inspections", "runtime", "kubelet", "node"]
"""Where a fault sits: the event stream; calls; the runtime's process; the kubelet's sync loop and
pod workers; the processes on the node."""


class Fault(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True
):
    """Something that goes wrong from ``at`` on, for ``lasts`` (None: to the end)."""

    family: ClassVar[Family]
    imitates: ClassVar[str]
    """What this is on a real node, in a sentence."""
    pressed_ns: ClassVar[Ns] = seconds(20)
    """How long one lasts that is pressed and has no end of its own."""

    at: Ns
    lasts: Ns | None = msgspec.field(default=None, name="for")

    def __post_init__(self) -> None:
        by = getattr(self, "by", None)
        if isinstance(by, tuple) and by[0] > by[1]:
            raise ValueError("`by` is the shortest and the longest, in this order")

    @property
    def kind(self) -> str:
        """What it is called in a scenario file."""
        return str(self.__struct_config__.tag)


class PodFault(Fault, frozen=True, kw_only=True):
    """A fault of calls about some pods, of which ``share`` are hit."""

    pods: Glob = "*"
    share: Share = 1.0

    def concerns(self, namespace: str, name: str) -> bool:
        """Whether this pod is one of them."""
        return self.pods == "*" or fnmatchcase(f"{namespace}/{name}", self.pods)


class EventFault(PodFault, frozen=True, kw_only=True):
    """A fault of single events: of some pods and ``events`` types (none named: all)."""

    family: ClassVar[Family] = "stream"

    events: tuple[EventKind, ...] = ()


# --------------------------------------------------------------------- the stream as a whole


class StreamRefused(Fault, frozen=True, kw_only=True, tag="stream-refused"):
    """The stream ends, and cannot be opened again while this lasts."""

    family: ClassVar[Family] = "stream"
    imitates: ClassVar[str] = (
        "A runtime without an event stream (containerd 1.6 answers Unimplemented), such as one "
        "that was downgraded."
    )

    answer: Literal["unimplemented", "unavailable"] = "unimplemented"


class StreamEnds(Fault, frozen=True, kw_only=True, tag="stream-ends"):
    """The open stream ends; each that is opened while this lasts ends as well, ``after`` a while.

    Without ``for`` it happens once.
    """

    family: ClassVar[Family] = "stream"
    imitates: ClassVar[str] = (
        "A runtime that closes its streams: CRI-O does so without an error when it stops, and at "
        "once when its events are switched off; a broken connection is an error."
    )

    lasts: Ns | None = msgspec.field(default=Ns(0), name="for")
    how: Literal["cleanly", "broken", "unavailable"] = "broken"
    after: Ns = Ns(0)


class StreamSilent(Fault, frozen=True, kw_only=True, tag="stream-silent"):
    """The stream stays open and brings nothing; afterwards nothing is made good, unless ``late``:
    then all of it comes at once."""

    family: ClassVar[Family] = "stream"
    imitates: ClassVar[str] = (
        "A runtime whose event service is stuck, or a proxy that holds messages back: no error "
        "tells of it."
    )

    late: bool = False


class StreamDelayed(Fault, frozen=True, kw_only=True, tag="stream-delayed"):
    """Every event comes ``by`` (shortest, longest) later; their order is kept."""

    family: ClassVar[Family] = "stream"
    imitates: ClassVar[str] = "A busy runtime or kubelet: events stand in a queue."

    by: Span


# ----------------------------------------------------------------------------- single events


class OtherSubscriber(Fault, frozen=True, kw_only=True, tag="other-subscriber"):
    """Somebody else subscribes as well. One that does not read (``reads = false``) takes a few
    hundred events, and then none. When it leaves, containerd sends it an event or two more."""

    family: ClassVar[Family] = "stream"
    imitates: ClassVar[str] = (
        "A dashboard or an agent on the runtime's socket: on containerd 1.7 it takes every other "
        "event away; on 2.x one that does not read stalls the node."
    )

    reads: bool = True


class EventsLost(EventFault, frozen=True, kw_only=True, tag="events-lost"):
    """These events never come."""

    imitates: ClassVar[str] = (
        "A full event channel (containerd 1.7 and CRI-O drop beyond 1000), a second subscriber "
        "that takes them away, or a runtime's bug."
    )


class EventsDoubled(EventFault, frozen=True, kw_only=True, tag="events-doubled"):
    """These events come twice."""

    imitates: ClassVar[str] = "Two streams that overlap, or a runtime that repeats itself."


class EventsRepeated(EventFault, frozen=True, kw_only=True, tag="events-repeated"):
    """Each of these events comes ``times`` times more, all at once: enough stop events to fill the
    queue of relist requests."""

    imitates: ClassVar[str] = (
        "A runtime that is caught in a loop. Outside SyncPod requests are not merged: each copy of "
        "a stop event asks for one more relist, and the queue has 200 places."
    )

    events: tuple[EventKind, ...] = ("stopped",)
    times: Annotated[int, msgspec.Meta(ge=1, le=900)] = 300


class EventsReordered(EventFault, frozen=True, kw_only=True, tag="events-reordered"):
    """These events come ``by`` (shortest, longest) later and are overtaken by others."""

    imitates: ClassVar[str] = "A runtime that sends events from several threads."

    by: Span = (millis(50), millis(500))


class EventsDamaged(EventFault, frozen=True, kw_only=True, tag="events-damaged"):
    """These events come ``without`` the pod's UID, its metadata, or any sandbox status; or without
    the containers' statuses, which only a PLEG that believes events could miss."""

    imitates: ClassVar[str] = (
        "containerd 1.7's last event of a sandbox, which names no pod, a runtime that could no "
        "longer find the sandbox, or one that does not fill in what the CRI leaves open."
    )

    without: Missing


class EventsMisdated(EventFault, frozen=True, kw_only=True, tag="events-misdated"):
    """These events' ``created_at`` is off ``by`` this much, or never set (``by`` left out)."""

    imitates: ClassVar[str] = (
        "Clocks that disagree, seconds taken for nanoseconds, or Go's zero time in the field."
    )

    by: Offset | None = None


# ----------------------------------------------------------------------- lists, inspections


class ListsSlow(Fault, frozen=True, kw_only=True, tag="lists-slow"):
    """Every list call takes ``by`` (shortest, longest) longer."""

    family: ClassVar[Family] = "lists"
    imitates: ClassVar[str] = "A runtime on a slow disk, or with thousands of dead containers."

    by: Span


class ListsFail(Fault, frozen=True, kw_only=True, tag="lists-fail"):
    """Of the list calls, ``share`` fail."""

    family: ClassVar[Family] = "lists"
    imitates: ClassVar[str] = "A runtime whose metadata store is locked or damaged."

    share: Share = 1.0
    error: Text = "Unknown: failed to list: context canceled"


class ListsHang(Fault, frozen=True, kw_only=True, tag="lists-hang"):
    """List calls are answered only when this is over, or fail at their deadline."""

    family: ClassVar[Family] = "lists"
    imitates: ClassVar[str] = "A runtime that waits for a lock: calls hang, and nothing fails."


class InspectionsFail(PodFault, frozen=True, kw_only=True, tag="inspections-fail"):
    """Of the inspections of these pods, ``share`` fail."""

    family: ClassVar[Family] = "inspections"
    imitates: ClassVar[str] = "One pod whose state the runtime cannot read."

    error: Text = "Unknown: failed to get sandbox status"


class InspectionsSlow(PodFault, frozen=True, kw_only=True, tag="inspections-slow"):
    """Of the inspections of these pods, ``share`` take ``by`` (shortest, longest) longer."""

    family: ClassVar[Family] = "inspections"
    imitates: ClassVar[str] = "A container whose shim answers slowly."

    by: Span


# ------------------------------------------------------------------------------- the runtime


class RuntimeRestarts(Fault, frozen=True, kw_only=True, tag="runtime-restarts"):
    """The runtime is gone for ``for``: calls fail, the stream breaks, ends go unnoticed."""

    family: ClassVar[Family] = "runtime"
    imitates: ClassVar[str] = (
        "systemctl restart containerd: containers run on, and one that dies meanwhile never gets "
        "an event."
    )

    lasts: Ns | None = msgspec.field(default=millis(400), name="for")


class RuntimeFreezes(Fault, frozen=True, kw_only=True, tag="runtime-freezes"):
    """The runtime answers nothing for ``for``, and fails nothing; the stream is open and silent."""

    family: ClassVar[Family] = "runtime"
    imitates: ClassVar[str] = "A runtime under SIGSTOP, or one whose disk no longer answers."

    lasts: Ns | None = msgspec.field(default=seconds(20), name="for")


# ------------------------------------------------------------------------------- the kubelet


class SyncPodsSlow(PodFault, frozen=True, kw_only=True, tag="syncpods-slow"):
    """Of the SyncPods of these pods, ``share`` wait ``by`` (shortest, longest) before they do
    anything, but not beyond the end of this fault."""

    family: ClassVar[Family] = "kubelet"
    imitates: ClassVar[str] = (
        "A SyncPod that waits: for a volume to be attached, for an image, for a secret that cannot "
        "be read. As long as it runs, its pod's relists are suspended."
    )

    by: Span = (seconds(5), seconds(10))


class SyncLoopStalls(Fault, frozen=True, kw_only=True, tag="sync-loop-stalls"):
    """Nobody takes lifecycle events from their channel. ``room``: how many more it takes until it
    is full (left out: as many as it has places)."""

    family: ClassVar[Family] = "kubelet"
    imitates: ClassVar[str] = (
        "A sync loop that waits for a lock, or skips its turns because the runtime is not ready: "
        "the event channel (1000 places) fills, and events that find no place are discarded."
    )

    room: Annotated[int, msgspec.Meta(ge=0, le=100_000)] | None = None


# --------------------------------------------------------------------------------- the node


class ShortLivedPods(Fault, frozen=True, kw_only=True, tag="short-lived-pods"):
    """A pod comes ``every`` so often whose container lives for ``runs`` only; it is deleted ``ttl``
    after it came (the shortest and the longest of each)."""

    family: ClassVar[Family] = "node"
    imitates: ClassVar[str] = (
        "Jobs, checks and hooks that are done in a moment: a container that begins and ends "
        "between two relists is only ever seen dead, or never."
    )

    every: Span = (millis(400), millis(1200))
    runs: Span = (millis(20), millis(200))
    ttl: Span = (seconds(2), seconds(4))

    def __post_init__(self) -> None:
        for span in (self.every, self.runs, self.ttl):
            if span[0] > span[1]:
                raise ValueError("a span is the shortest and the longest, in this order")
        if self.every[0] < millis(10):
            raise ValueError("`every` is 10 ms at least")


class TerminationStorm(PodFault, frozen=True, kw_only=True, tag="termination-storm"):
    """The processes of ``share`` of these pods end at once, all ``within`` this time."""

    family: ClassVar[Family] = "node"
    imitates: ClassVar[str] = (
        "The kernel's OOM killer gone wild, a node-wide kill, a shared volume that went away."
    )

    lasts: Ns | None = msgspec.field(default=Ns(0), name="for")
    within: Ns = millis(1)
    ending: EndingName = "oom-killed"


AnyFault = (
    StreamRefused
    | StreamEnds
    | StreamSilent
    | StreamDelayed
    | OtherSubscriber
    | EventsLost
    | EventsDoubled
    | EventsRepeated
    | EventsReordered
    | EventsDamaged
    | EventsMisdated
    | ListsSlow
    | ListsFail
    | ListsHang
    | InspectionsFail
    | InspectionsSlow
    | RuntimeRestarts
    | RuntimeFreezes
    | SyncPodsSlow
    | SyncLoopStalls
    | ShortLivedPods
    | TerminationStorm
)
