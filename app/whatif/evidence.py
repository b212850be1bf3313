"""What a recording tells of the runtime: who was seen in which state, and between which looks.

A listing was made somewhere between its call and its answer, so a state is seen in a *window*, and
what changed between two looks changed between the beginning of the earlier window and the end of
the later one. Everything here is monotonic ns of the recorded session. ``reading.py`` fills it in.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from typing import NamedTuple

from app.engine.inputs import (
    EventsTaken,
    FailCode,
    ReinspectRequested,
    RelistRequested,
    RuntimeProbed,
    StreamEnded,
    StreamEvent,
    StreamLost,
    SyncEnded,
    SyncStarted,
)
from app.engine.model import (
    ContainerEvent,
    ContainerStatus,
    Observation,
    RuntimeState,
    SandboxStatus,
)
from app.engine.records import Lifecycle
from app.recording.format import SessionInfo
from app.whatif.cachelog import CacheLog

Status = ContainerStatus | SandboxStatus
Replayed = (
    RuntimeProbed
    | StreamEvent
    | StreamLost
    | SyncStarted
    | SyncEnded
    | RelistRequested
    | ReinspectRequested
    | EventsTaken
)
"""What is played again as it was recorded."""

MOST_TOOK = 3650 * 24 * 3600 * 1_000_000_000


class Sighting(NamedTuple):
    """A change: ``row`` is what was seen instead (None: no longer listed), and it came between
    ``lo`` and ``hi``."""

    lo: int
    hi: int
    row: Observation | None


class Hint(NamedTuple):
    """An event of the stream: when the runtime says it made it, and when it was received."""

    made_t: int
    t: int
    event: ContainerEvent


class Item:
    """One container or sandbox as the recording has it. ``baseline``: the first listing had it."""

    __slots__ = (
        "baseline",
        "first",
        "hints",
        "offset",
        "present",
        "seen_t",
        "sightings",
        "statuses",
    )

    def __init__(self, row: Observation, *, baseline: bool) -> None:
        self.first = row
        self.baseline = baseline
        self.offset = 0
        """Wall time minus monotonic time when it was last seen: the wall clock may be set."""
        self.present: Observation | None = None
        self.seen_t = 0
        """Beginning of the newest window in which ``present`` was seen by a look at its pod."""
        self.sightings: list[Sighting] = []
        self.statuses: dict[RuntimeState, Status] = {}
        self.hints: dict[str, Hint] = {}


class Opened(NamedTuple):
    """The stream was open from ``t`` to ``until_t``; how it ended (None: it did not)."""

    t: int
    until_t: int
    end: StreamEnded | None


class Failed(NamedTuple):
    """What a call failed with, and what that means (None: not told)."""

    error: str
    code: FailCode | None = None


class Calls:
    """Calls of one kind, in order: when they began, how long they took, whether they failed."""

    def __init__(self) -> None:
        self.began = array("q")
        self.took = array("q")
        self.failures: dict[int, Failed] = {}

    def add(self, began: int, took: int, failed: Failed | None = None) -> None:
        """One more; what no call can last is cut."""
        took = min(max(0, took), MOST_TOOK)
        if failed is not None:
            self.failures[len(self.began)] = failed
        self.began.append(began)
        self.took.append(took)

    def near(self, t: int) -> tuple[int, Failed | None] | None:
        """(how long, failure) of the call that began nearest to ``t``; None: there was none."""
        at = self._nearest(t)
        return None if at is None else (self.took[at], self.failures.get(at))

    def nearest(self, t: int) -> tuple[int, Failed | None] | None:
        """(beginning, failure) of that call."""
        at = self._nearest(t)
        return None if at is None else (self.began[at], self.failures.get(at))

    def _nearest(self, t: int) -> int | None:
        began = self.began
        if not began:
            return None
        at = bisect_left(began, t)
        if at == len(began) or (at and t - began[at - 1] <= began[at] - t):
            at -= 1
        return at


class Evidence:
    """Everything that is taken from one recording."""

    def __init__(self, info: SessionInfo) -> None:
        self.info = info
        self.begin_t = 0
        self.until_t = 0
        self.items: dict[str, Item] = {}
        self.pods: dict[str, dict[str, Item]] = {}
        self.script: list[Replayed] = []
        self.sandbox_lists = Calls()
        self.container_lists = Calls()
        self.inspections = Calls()
        self.per_pod: dict[str, Calls] = {}
        self.relists: list[tuple[int, int]] = []
        """(start, end) of each relist of whatever scope."""
        self.first_look_t: int | None = None
        """End of the first good global relist: what it shows is nobody's finding."""
        self.whole_t: int | None = None
        """End of the first good global relist, with all its inspections."""
        self.cache = CacheLog()
        self.syncs: dict[str, list[tuple[int, int]]] = {}
        self.streams: list[Opened] = []
        self.ends: list[StreamEnded] = []
        self.found: list[Lifecycle] = []
        self.calls: Counter[str] = Counter()
        self.listings = 0
        self.events = 0
        self.unlisted: dict[str, dict[str, Hint]] = {}
        """Containers and sandboxes that no listing has shown: what events told of them."""
        self.holes: list[tuple[int, int]] = []
        """(from, to): inputs are missing in between."""
        self.warnings: list[str] = []

    def listening(self, t: int) -> bool:
        """Whether the recorded stream was open at ``t``."""
        at = bisect_right(self.streams, t, key=lambda one: one.t) - 1
        return at >= 0 and t < self.streams[at].until_t

    def listening_between(self, t: int, until_t: int) -> bool:
        """Whether it was opened in between."""
        at = bisect_right(self.streams, t, key=lambda one: one.t)
        return at < len(self.streams) and self.streams[at].t < until_t
