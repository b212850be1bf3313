"""How long a node's work takes (spans of shortest and longest, ns), drawn per pod.

The runtime calls were measured on containerd 2.1.9; a pod network adds to RunPodSandbox. Cleaning
up after a pod is the kubelet's garbage collection, which runs each minute: shortened here, so that
one sees it happen.
"""

from random import Random

import msgspec

from app.sim.chance import mostly_short
from app.sim.flavour import MS, SECOND

Span = tuple[int, int]


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """Spans of durations in ns."""

    look: Span = (2 * MS, 9 * MS)
    """A SyncPod that finds nothing to do, and the beginning of any other."""
    prepare: Span = (40 * MS, 700 * MS)
    """Volumes, secrets and a look at the image, before a new pod's sandbox."""
    run_sandbox: Span = (70 * MS, 320 * MS)
    create: Span = (9 * MS, 30 * MS)
    start: Span = (38 * MS, 90 * MS)
    update: Span = (6 * MS, 25 * MS)
    """UpdateContainerResources, with the cgroup writes around it."""
    allocate: Span = (1 * MS, 8 * MS)
    """From a resize's arrival to its allocation: admission, and a checkpoint on the disk."""
    answer: Span = (MS // 5, MS)
    """From what the runtime did last to the sync's return: the answer's way back, and what the
    kubelet writes down. An event of it was made before that."""
    stop_sandbox: Span = (40 * MS, 120 * MS)
    remove: Span = (5 * MS, 14 * MS)
    unmount: Span = (60 * MS, 400 * MS)
    """SyncTerminatedPod: volumes and cgroups."""
    collect: Span = (SECOND, 4 * SECOND)
    """From a pod's end to its removal from the runtime."""


class Pace:
    """Draws durations from spans, for one pod."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def of(self, span: Span) -> int:
        """How long it takes this time (ns)."""
        return mostly_short(self._rng, span)
