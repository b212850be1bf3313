"""The "sometimes" catalogue: what every sweep must reach, or its plays have gone stale.

A law that is never put to the test is no law. Each cell of the transition table, every way a
request, a relist, a connection or a call can go, every policy by which something is dropped, every
branch of the backoff and every fault is here by name, as the oracles and the faults name it.
"""

from typing import get_args

from app.engine.inputs import EndCode
from tests.sweep.run import CORE

_STATES = ("running", "exited", "unknown", "non-existent")
_SENT = ("ContainerStarted", "ContainerDied", "ContainerRemoved", "PodSync")

ENGINE = frozenset({
    # Each cell of the transition table, and what becomes of each lifecycle event.
    *(f"{old} to {new}" for old in _STATES for new in _STATES if old != new),
    *(f"{kind} {how}" for kind in _SENT for how in ("sent", "discarded")),
    "ContainerChanged filtered", "PodSync", "inspection failed",
    *(f"found by {one}" for one in ("global", "evented_pleg", "post_sync", "post_allocation")),
    # Which stop told of a death, and how a stop is forgotten.
    "death told of=True", "death told of=False", "stop told twice", "stop refuted",
    "stop of nothing", "stop forgotten for room",
    # Relists: on time and after another; good, failed, and with pods withheld.
    "global on time", "global after another", "global ok withheld=False",
    "global ok withheld=True", "global failed withheld=False", "pod ok withheld=False",
    "pod ok withheld=True", "pod failed withheld=False",
    "pace slowed", "pace capped", "pace told slower", "pace told restored",
    # Whatever can become of a request, from its making to its end.
    *(f"request {one}" for one in ("queued", "held", "coalesced", "dropped")),
    "queued held", "queued coalesced", "queued skipped", "queued cancelled", "held released",
    "held dropped", "held cancelled", "running cancelled", "executed queued", "executed held",
    "executed coalesced", "executed dropped",
    # The stream: every end, every branch of the backoff, and shutdown in each of its states.
    *(f"ended {code}" for code in get_args(EndCode)),
    "retry at once", "retry doubled", "retry at the cap", "retry where there is no stream",
    "backoff began anew", "backoff went on after a short connection", "given up", "stale retry",
    *(f"stopped while {one}" for one in ("connecting", "connected", "waiting", "nothing")),
    # Events and health.
    *(f"event {kind} backlog={old}" for kind in ("created", "started", "stopped", "deleted")
      for old in (True, False)), "event unknown(9) backlog=False",
    "missing_sandbox_status", "missing_metadata", "missing_uid", "gap stream",
    "healthy=True", "healthy=False",
    *(f"for ever: {fault}" for fault in CORE),
})  # fmt: skip

AROUND = frozenset({
    "ring full by number", "ring full by bytes", "ring told of a loss",
    "notice kept in a full ring", "notice in order", "viewer's mailbox full", "hub snapshots",
    "hub resumed", "hub skipped", "hub lost",
})  # fmt: skip

FAULTS = frozenset({
    "list failed", "list hung", "inspection failed", "inspection hung", "rows doubled",
    "rows in another order",
    "call during an outage", "runtime outage", "wall clock stepped", "stale timer", "SyncPod",
    "stop and start", "probe: join", "probe: relist_only", "ring overflow", "event lost",
    "event late", "event doubled", "event malformed", "event from another time",
    "event without a cause",
    *(f"stream refused: {one}" for one in ("unavailable", "unimplemented", "immediate_eof")),
    *(f"stream ended: {one}" for one in ("eof", "error", "deadline", "cancelled")),
})  # fmt: skip
"""Faults that must have happened."""
