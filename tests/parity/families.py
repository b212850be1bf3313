"""What families of runtimes do differently: what a client has to expect, by family.

Written down from what real runtimes were seen to send (``tests/captures``), not from what the
simulation says of itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["CREATED", "STARTED", "STOPPED", "DELETED"]


@dataclass(frozen=True, kw_only=True)
class Family:
    """One family; times in seconds, codes are gRPC's names."""

    name: str
    runtime: str
    """What Version calls it, and what its version begins with."""
    version: str
    stream: bool = True
    shares: bool = False
    """Whether an event goes to one subscriber only."""
    box_run: tuple[Kind, ...] = ("CREATED", "STARTED")
    box_removed: tuple[Kind, ...] = ("DELETED",)
    quiet_removal: bool = False
    """RemovePodSandbox tells nothing of what is still in the sandbox."""
    bare_removal: bool = False
    """The last event of a sandbox has no sandbox status."""
    zero_removal: bool = False
    """The last event of a sandbox has Go's zero time for its creation."""
    box_label: bool = False
    """Sandboxes carry the container name POD."""
    fails_in: Literal["CreateContainer", "StartContainer"] = "StartContainer"
    newest_first: bool = False
    """Statuses and lists are ordered so; otherwise in any order."""
    early_exit: bool = False
    """STARTED may carry an exit already."""
    overlooked: tuple[int, str] = (137, "Error")
    """How a process that was killed while the runtime was down is told to have ended."""
    ends_with: Literal["UNAVAILABLE", "EOF"] = "UNAVAILABLE"
    """How the stream ends with the runtime."""
    swallowed: tuple[int, int] = (0, 0)
    """Events that a subscriber which has left costs one that stays (least, most)."""
    stalls: bool = False
    """A subscriber that does not read makes calls hang."""
    keeps_always: bool = True
    """Events are kept for the next subscriber also after there was one."""
    pause: bool = True
    """There is a pause process, and it was seen what its end brings."""


CONTAINERD_1_6 = Family(name="containerd-1.6", runtime="containerd", version="1.6.", stream=False)
CONTAINERD_1_7 = Family(
    name="containerd-1.7",
    runtime="containerd",
    version="1.7.",
    shares=True,
    bare_removal=True,
    overlooked=(255, "Unknown"),
    swallowed=(1, 2),
)
CONTAINERD_2 = Family(
    name="containerd-2",
    runtime="containerd",
    version="2.",
    zero_removal=True,
    stalls=True,
    overlooked=(255, "Unknown"),
)
CRI_O = Family(
    name="cri-o",
    runtime="cri-o",
    version="1.",
    box_run=("STARTED",),
    box_removed=(),
    quiet_removal=True,
    box_label=True,
    fails_in="CreateContainer",
    newest_first=True,
    early_exit=True,
    ends_with="EOF",
    keeps_always=False,
    pause=False,
)

FAMILIES = {one.name: one for one in (CONTAINERD_1_6, CONTAINERD_1_7, CONTAINERD_2, CRI_O)}
