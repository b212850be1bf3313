"""What one container runtime does differently from another, in one object.

World, processes, server and stream ask these rules instead of knowing a runtime by name; a further
runtime is a further value of :class:`RuntimeRules`. Those that there are stand in ``flavours.py``.
"""

from random import Random
from typing import Literal

import msgspec

EventKind = Literal["created", "started", "stopped", "deleted"]

MS = 1_000_000
SECOND = 1_000_000_000


class Backlog(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime keeps of its events while nobody is subscribed, for the next who comes.

    ``count``: so many; of more, the ``oldest`` or the newest stay. ``age_ns``: None keeps them for
    ever. ``once``: only until the first subscriber since the runtime's start.
    """

    count: int
    keeps: Literal["oldest", "newest"]
    age_ns: int | None = None
    once: bool = False


class RuntimeRules(msgspec.Struct, frozen=True, kw_only=True):
    """The behaviour of one runtime.

    ``sandbox_run`` and ``sandbox_removed`` are the events of RunPodSandbox and RemovePodSandbox.
    ``exit_lag`` is the (shortest, usual, longest) time in ns from the end of a process to the
    moment the runtime knows of it, tells of it and lists it. ``crowd_lag``: how much each further
    end that waits to be noticed adds to that (shortest, longest), and ``crowd_shape`` how much the
    long ones prevail (1: not at all).
    """

    like: str
    """The name by which it is chosen."""
    runtime_name: str
    runtime_version: str
    api_version: str = "v1"
    tells_config: bool = False
    """It has the call RuntimeConfig."""
    warns_of_age: bool = False
    """Its Status has a condition about deprecated settings (containerd since 1.7)."""

    stream: Literal["each", "one", "none"] = "each"
    """Who gets an event: each subscriber, one of them, or nobody, as there is no such call."""
    slots: int = 1
    """Events that may wait for a subscriber that does not read."""
    channel: int | None = None
    """Events that wait when that is not enough, before further ones are dropped. None: nothing is
    dropped, the runtime's own calls wait (CreateContainer and RunPodSandbox hang)."""
    backlog: Backlog = Backlog(count=0, keeps="newest")
    ghosts: tuple[int, int] = (0, 0)
    """How many events are still sent to a subscriber that has left (least, most)."""
    stops_with: Literal["error", "eof"] = "error"
    """How a stream ends when the runtime does: UNAVAILABLE, or as if all had been said."""

    sandbox_run: tuple[EventKind, ...] = ("created", "started")
    sandbox_removed: tuple[EventKind, ...] = ("deleted",)
    quiet_removal: bool = False
    """Removing a sandbox tells nothing, not even of the containers that were in it."""
    bare_removal: bool = False
    """A sandbox's last event has neither status nor metadata, only id, type and time."""
    removed_created_at: int | None = None
    """What a sandbox's last event claims as the sandbox's ``created_at`` (None: the truth)."""
    sandbox_labels: dict[str, str] = {}
    """Labels that the runtime adds to each sandbox."""
    names_images: Literal["by digest", "by name, digest and id"] = "by digest"
    """How containers' images are referred to."""
    default_logs: bool = False
    """A container has a log path though none was asked for."""
    order: Literal["random", "newest-first"] = "random"
    """Of lists and of the statuses in an event; random as Go's maps are."""

    start_fails_in: Literal["start", "create"] = "start"
    """Which call fails when a program cannot be started: StartContainer, which leaves an exited
    container behind, or CreateContainer, which leaves nothing."""
    started_lag: tuple[int, int] | None = None
    """From a start to its event (ns), which carries the state of that later moment; None: at once,
    with the state as started."""
    overlooked: Literal["unknown", "true"] = "unknown"
    """What a runtime says of an end while it was down: 255 Unknown at its own return, or how and
    when it truly was. An event there is never."""
    finished_off: tuple[int, int] = (0, 0)
    """How far ``finished_at`` may be off (ns)."""
    exit_lag: tuple[int, int, int] = (32 * MS, 52 * MS, 135 * MS)
    crowd_lag: tuple[int, int] = (19 * MS, 30 * MS)
    crowd_shape: float = 4.0

    def draw_exit_lag(self, rng: Random) -> int:
        """How long this end of a process goes unnoticed (ns)."""
        shortest, usual, longest = self.exit_lag
        return round(rng.triangular(shortest, longest, usual))

    def draw_crowd_lag(self, rng: Random, others: int) -> int:
        """How much longer, as so many other ends wait to be noticed (ns).

        On containerd most come at the very end, all together: of 100 ends at once, 2.1 noticed the
        first after 1.9 s and half of them between 2.95 and 2.97 s. On CRI-O they are spread out.
        """
        shortest, longest = self.crowd_lag
        share: float = rng.random() ** self.crowd_shape
        return others * round(longest - (longest - shortest) * share)

    def draw_finished_off(self, rng: Random) -> int:
        """How far this container's ``finished_at`` is off (ns)."""
        earliest, latest = self.finished_off
        return 0 if earliest == latest else rng.randint(earliest, latest)
