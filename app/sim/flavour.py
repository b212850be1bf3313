"""What one container runtime does differently from another, in one object.

The world and the server ask these rules instead of knowing a runtime by name; a further runtime
is a further value of :class:`RuntimeRules`. The values below were measured on containerd 2.1.9
(times of an exit, payload of the last event, backlog) or read in containerd's source (#9661).
"""

from random import Random
from typing import Literal

import msgspec

EventKind = Literal["created", "started", "stopped", "deleted"]

MS = 1_000_000
SECOND = 1_000_000_000


class RuntimeRules(msgspec.Struct, frozen=True, kw_only=True):
    """The behaviour of one runtime.

    ``sandbox_run`` and ``sandbox_removed`` are the events of RunPodSandbox and RemovePodSandbox.
    ``removed_created_at`` is what a sandbox's last event claims as the sandbox's ``created_at``
    (None: the truth). ``exit_lag`` is the (shortest, usual, longest) time in ns from the end of a
    process to the moment the runtime knows of it, tells of it and lists it. ``crowd_lag``: how much
    each further end that waits to be noticed adds to that (shortest, longest). ``backlog_ns``: how
    old an event may be that is kept for the next subscriber while there is none.
    """

    runtime_name: str
    runtime_version: str
    api_version: str = "v1"
    sandbox_run: tuple[EventKind, ...] = ("created", "started")
    sandbox_removed: tuple[EventKind, ...] = ("deleted",)
    removed_created_at: int | None = None
    random_order: bool = True
    """Lists and the statuses in an event come in random order (Go's map order)."""
    exit_lag: tuple[int, int, int] = (32 * MS, 52 * MS, 135 * MS)
    crowd_lag: tuple[int, int] = (19 * MS, 30 * MS)
    backlog_ns: int = 300 * SECOND

    def draw_exit_lag(self, rng: Random) -> int:
        """How long this end of a process goes unnoticed (ns)."""
        shortest, usual, longest = self.exit_lag
        return round(rng.triangular(shortest, longest, usual))

    def draw_crowd_lag(self, rng: Random, others: int) -> int:
        """How much longer, as so many other ends wait to be noticed (ns).

        Most come at the very end, all together: of 100 ends at once, the first was seen after 1.9 s
        and half of them between 2.95 and 2.97 s.
        """
        shortest, longest = self.crowd_lag
        return others * round(longest - (longest - shortest) * rng.random() ** 4)


CONTAINERD_2 = RuntimeRules(
    runtime_name="containerd",
    # A version that sorts as 2.1 everywhere and that nobody takes for a real one.
    runtime_version="2.1.0+plegscope.sim",
    # Go's zero time in nanoseconds, overflowed; seen in every DELETED event of a sandbox.
    removed_created_at=-6795364578871345152,
)
