"""The shipped scenarios by what they are for: a newcomer's first ones first, the lessons' own last.

What each stands for in KEP-3386 says ``scenarios/README.md``.
"""

from collections.abc import Mapping

START = "Start here"
FILES = "From files"
"""Of scenarios that plegscope was given as files."""

SHELVES: Mapping[str, tuple[str, ...]] = {
    START: ("hint-lost", "demo", "runtime-restart", "storm", "five-minute-blindness"),
    "What KEP-3386 says can go wrong": (
        "flapping-stream",
        "event-without-uid",
        "delayed-events",
        "duplicate-events",
        "queue-full",
        "unhealthy-pleg",
        "frozen-runtime",
        "stream-interruption",
        "lossy-stream",
        "stale-after-reconnect",
        "no-stream",
        "silent-stream",
        "no-replay",
        "long-sync",
        "polling-cost",
        "redundant-relists",
        "event-channel-full",
    ),
    "Incidents of the design before the revision": (
        "lost-fast-path",
        "doubled-containers",
        "stale-event",
        "wrong-created-at",
    ),
    "Workloads": (
        "churn",
        "crash-loop",
        "training-group",
        "short-lived",
        "kubelet-waits",
        "big-node",
    ),
    "What differs by runtime": ("shared-stream", "stalled-node", "failed-start"),
    "Exercises, and the lessons' own nodes": (
        "relist-loop",
        "which-pleg",
        "lesson-hint",
        "lesson-loop",
        "lesson-which",
        "lesson-trap",
        "lesson-arena",
    ),
}
"""Each scenario stands on one shelf, in the order in which they are worth looking at."""

_SHELF_OF = {name: title for title, some in SHELVES.items() for name in some}


def shelf_of(name: str) -> str:
    """The title of the shelf of a shipped scenario."""
    return _SHELF_OF[name]


def in_order() -> tuple[str, ...]:
    """All names, shelf by shelf."""
    return tuple(_SHELF_OF)
