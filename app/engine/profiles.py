"""Profiles: which PLEG the engine is, from the polling of old to the KEP as revised.

A profile is a set of switches, each of which stands for a difference that is in the kubelet's
source (or, for ``kep``, in the KEP). The texts are shown in the application.
"""

from typing import Literal

import msgspec

SECOND = 1_000_000_000

ProfileName = Literal["kep", "generic", "polling", "1.37", "legacy"]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One way a kubelet's PLEG has worked, works, or is meant to work.

    ``hints``: what a stream event may do: nothing (the stream is not opened), request a relist, or
    write the pod cache itself. ``retry``: for ever with a backoff, or five times in all.
    """

    name: ProfileName
    title: str
    since: str
    explanation: str
    """One paragraph for people."""
    hints: Literal["none", "request", "write"]
    retry: Literal["endless", "five"] = "endless"
    needs_uid: bool = True
    """An event without a pod UID is ignored."""
    on_demand: bool = True
    """Relists of one pod can be asked for (kubelet gate PLEGOnDemandRelist)."""
    suspension: bool = False
    """A pod's relists wait while its SyncPod runs."""
    pod_sync: bool = True
    """A reinspection that finds no change is told as a PodSync event (1.36 and later)."""
    stamps_listing: bool = True
    """A cached status carries the time before its pod's listing (1.36 and later), else the time
    before its inspection."""
    trusting_period_ns: int | None = None
    """Global relist period while the stream is trusted; None: the normal one."""
    trusting_threshold_ns: int | None = None


_KEP = Profile(
    name="kep",
    title="KEP-3386 as revised",
    since="planned for 1.38",
    explanation=(
        "Generic PLEG polls once a second and is the only one to write the pod cache and to tell "
        "of lifecycle events. A stop event on the runtime's stream asks for a relist of that pod "
        "at once. While a pod's SyncPod runs its relists wait, and what was asked for meanwhile "
        "becomes one relist afterwards. A stream that breaks is opened again for ever: at once, "
        "then after pauses that double up to a minute. Losing it costs time, never truth."
    ),
    hints="request",
    suspension=True,
)

_GENERIC = Profile(
    name="generic",
    title="Generic PLEG with on-demand relists",
    since="1.36 and later, EventedPLEG off",
    explanation=(
        "Generic PLEG polls once a second. A pod worker that has just changed something asks for a "
        "relist of its pod and need not wait for the next poll; an end that nobody asked for, such "
        "as a crash, is found by the poll only, on average half a second late. The event stream is "
        "not opened."
    ),
    hints="none",
)

_POLLING = Profile(
    name="polling",
    title="Polling only",
    since="up to 1.35, EventedPLEG off",
    explanation=(
        "Every change is found by the global relist, once a second plus the time it takes: also "
        "what the kubelet did itself, so each step of starting a pod waits for the next poll. No "
        "relist can be asked for, and the event stream is not opened."
    ),
    hints="none",
    on_demand=False,
    pod_sync=False,
    stamps_listing=False,
)

_1_37 = Profile(
    name="1.37",
    title="The watcher that was merged for 1.37",
    since="1.37, EventedPLEG on",
    explanation=(
        "As in the KEP, a stop event only asks for a relist. But the watcher gives up for good "
        "after five ends of the stream, counted over the kubelet's whole life and tried again "
        "without a pause: a runtime that restarts for half a second can use them all up. An event "
        "without a pod UID is not refused, and relists do not wait for SyncPod."
    ),
    hints="request",
    retry="five",
    needs_uid=False,
)

_LEGACY = Profile(
    name="legacy",
    title="The design before the revision",
    since="1.26 to 1.36, EventedPLEG on",
    explanation=(
        "Events are believed: each writes the pod cache and is told as a lifecycle event itself, "
        "and the global relist is slowed from one second to five minutes. Two writers with two "
        "clocks then race for the cache, a write that carries an older time is refused, and an "
        "event that is lost is missed for up to five minutes. After five ends of the stream it "
        "falls back to polling until the kubelet is restarted."
    ),
    hints="write",
    retry="five",
    needs_uid=False,
    on_demand=False,
    pod_sync=False,
    stamps_listing=False,
    trusting_period_ns=300 * SECOND,
    trusting_threshold_ns=600 * SECOND,
)

PROFILES: dict[str, Profile] = {
    profile.name: profile for profile in (_KEP, _GENERIC, _POLLING, _1_37, _LEGACY)
}
"""By name; the first is the default."""
