"""What faults are called, and what each imitates: the same words on its button, in the list of what
is at work, in the journal's notes and on the timeline, whether it was pressed or is a scenario's.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from app.sim.faults import (
    EventFault,
    EventsDamaged,
    EventsDoubled,
    EventsLost,
    EventsMisdated,
    EventsReordered,
    EventsRepeated,
    Fault,
    InspectionsFail,
    InspectionsSlow,
    ListsFail,
    ListsHang,
    ListsSlow,
    OtherSubscriber,
    PodFault,
    RuntimeFreezes,
    RuntimeRestarts,
    ShortLivedPods,
    StreamDelayed,
    StreamEnds,
    StreamRefused,
    StreamSilent,
    SyncLoopStalls,
    SyncPodsSlow,
    TerminationStorm,
)


class Words(msgspec.Struct, frozen=True):
    """``text``: its name. ``imitates``: what it is on a real node, in a sentence."""

    text: str
    imitates: str


def named(fault: Fault) -> Words:
    """The words for a fault, as exact as its settings allow."""
    more = _EXACT.get(type(fault))
    exact = more(fault) if more is not None else None
    if exact is not None:
        return Words(exact[0], exact[1] or fault.imitates)
    return Words(_NAMES[type(fault)], fault.imitates)


def about(fault: Fault) -> str:
    """The pods that it is about, as ``namespace/name``; empty when it is about all, or none."""
    return fault.pods if isinstance(fault, PodFault) and fault.pods != "*" else ""


_NAMES: Mapping[type[Fault], str] = {
    StreamRefused: "Refuse the stream",
    StreamEnds: "Break the stream",
    StreamSilent: "Silence the stream",
    StreamDelayed: "Delay events",
    OtherSubscriber: "Add a subscriber",
    EventsLost: "Lose events",
    EventsDoubled: "Double events",
    EventsRepeated: "Fill the request queue",
    EventsReordered: "Reorder events",
    EventsDamaged: "Damage events",
    EventsMisdated: "Misdate events",
    ListsSlow: "Slow lists",
    ListsFail: "Failing lists",
    ListsHang: "Hanging lists",
    InspectionsFail: "Failing inspection",
    InspectionsSlow: "Slow inspection",
    RuntimeRestarts: "Restart the runtime",
    RuntimeFreezes: "Freeze the runtime",
    SyncPodsSlow: "Long SyncPod",
    SyncLoopStalls: "Stall the sync loop",
    ShortLivedPods: "Short-lived containers",
    TerminationStorm: "Termination storm",
}

Exact = tuple[str, str]
"""Name and what it imitates; empty: what all of its kind imitate."""


def _ends(fault: StreamEnds) -> Exact | None:
    if fault.how == "cleanly":
        return (
            "End the stream cleanly",
            (
                "CRI-O, which closes its streams without an error when it stops, and at once "
                "when its events are switched off."
            ),
        )
    return (
        "Break the stream",
        "A connection that is torn down, as by a runtime that crashes.",
    )


def _silent(fault: StreamSilent) -> Exact | None:
    if not fault.late:
        return None
    return (
        "Hold events back",
        "A proxy, or a runtime's full buffer, that holds messages back for a while.",
    )


def _other(fault: OtherSubscriber) -> Exact | None:
    if fault.reads:
        return (
            "Add a subscriber",
            (
                "A dashboard or an agent on the runtime's socket: on containerd 1.7 it takes every "
                "other event away, elsewhere it costs nothing."
            ),
        )
    return (
        "Add one that does not read",
        (
            "A client under SIGSTOP (Ctrl-Z): on containerd 2.x CreateContainer and RunPodSandbox "
            "hang for the whole node, and nobody gets events, while lists answer."
        ),
    )


def _lost(fault: EventFault) -> Exact | None:
    return ("Lose stop events", "") if fault.events == ("stopped",) else None


def _damaged(fault: EventsDamaged) -> Exact | None:
    match fault.without:
        case "uid":
            return (
                "Take the UID away",
                "A sandbox that was not made by a kubelet, or a runtime that leaves it out.",
            )
        case "metadata":
            return (
                "Take the metadata away",
                "containerd 1.7's last event of a sandbox, which names no pod.",
            )
        case "sandbox-status":
            return (
                "Take the sandbox status away",
                "A runtime that could no longer find the sandbox when it sent the event.",
            )
        case "statuses":
            return (
                "Take the statuses away",
                "A runtime that does not fill in what the CRI leaves open.",
            )


def _misdated(fault: EventsMisdated) -> Exact | None:
    if fault.by is None:
        return (
            "Leave created_at out",
            "Go's zero time in the field, as containerd sends it for a removed sandbox.",
        )
    return (
        "Set created_at back" if fault.by < 0 else "Set created_at forward",
        "Clocks that disagree, or a runtime that tells the container's own birth.",
    )


def _stalls(fault: SyncLoopStalls) -> Exact | None:
    if fault.room is not None:
        return (
            "Fill the event channel",
            (
                "A sync loop that has stood still for long: 1000 events wait, and what finds no "
                "place is discarded and never told again."
            ),
        )
    return (
        "Stall the sync loop",
        "A sync loop that waits for a lock, or skips its turns because the runtime is not ready.",
    )


_EXACT: Mapping[type[Fault], Callable[[Any], Exact | None]] = {
    StreamEnds: _ends,
    StreamSilent: _silent,
    OtherSubscriber: _other,
    EventsLost: _lost,
    EventsDamaged: _damaged,
    EventsMisdated: _misdated,
    SyncLoopStalls: _stalls,
}
