"""What the oracles share: words, what a change is called, and what is known of a relist.

Written from the facts, not from the engine.
"""

from app.engine.effects import InspectPod
from app.engine.model import Observation
from app.engine.records import RelistStarted

LIE = 4242
"""The exit code that events of a random play claim; no container ever has it."""

WORDS = {
    "created": "unknown",
    "running": "running",
    "exited": "exited",
    "unknown": "unknown",
    "ready": "running",
    "notready": "exited",
}

ENDED = {"executed", "skipped", "coalesced", "dropped", "cancelled"}

Rows = dict[str, Observation]


def expected_types(old: str, new: str) -> list[str]:
    """What a change of one item is called, written from the facts and not from the table."""
    if new == "running":
        return ["ContainerStarted"]
    if new == "exited":
        return ["ContainerDied"]
    if new == "unknown":
        return ["ContainerChanged"]
    return ["ContainerRemoved"] if old == "exited" else ["ContainerDied", "ContainerRemoved"]


class Relist:
    """A relist in progress, as its records and the answers to its calls tell."""

    def __init__(self, record: RelistStarted, step: int) -> None:
        self.number = record.relist
        self.scope = record.scope
        self.source = record.source
        self.uid = record.uid
        self.request = record.request
        self.t = record.t
        self.step = step
        self.listing: dict[str, Rows] | None = None
        self.containers = 0
        """Rows of containers in it."""
        self.inspecting: InspectPod | None = None
        self.by_mark = False
        self.failed: set[str] = set()
        self.withheld: set[str] = set()
        """Pods that surely were: something of them is still to be published."""
