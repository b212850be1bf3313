"""What goes over the WebSocket, message by message (JSON text frames, discriminated by ``type``).

Server to browser: ``hello``, then ``snapshot`` (unless ``hello`` says ``resumed``: then what was
missed follows as batches, which may be none), then ``batch`` and ``state`` for ever; ``lagging``
and a fresh ``snapshot`` when the viewer's queue had overflowed; ``bye`` before the server closes.
Nothing is expected from the browser: one that sends something is disconnected.

To resume, connect with ``?since=<seq of the last record>&session=<of the hello>``. Close codes:
1001 the server ends, 1008 the browser sent something, 1013 there are too many viewers.

All ``t`` are monotonic nanoseconds of the session (small enough for a JavaScript number), all
``wall`` are nanoseconds since 1970 (exact to 256 ns there, good enough to show).
"""

import msgspec

from app.engine.hanging import OldestCall
from app.engine.records import AnyRecord, RuntimeSeen
from app.engine.state import EngineState
from app.journal.projection import PodRow

__all__ = [
    "Batch",
    "Bye",
    "Cost",
    "FaultAtWork",
    "Hello",
    "Lagging",
    "OldestCall",
    "PodRow",
    "Recorded",
    "SessionState",
    "Snapshot",
    "State",
]


class Cost(msgspec.Struct, frozen=True):
    """plegscope's own cost over the last seconds: share of one core, runtime calls and bytes."""

    cpu: float
    calls_per_s: float
    bytes_per_s: float
    rss_bytes: int


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """The recorder: where it writes, at which cost, and whether all is well.

    ``cpu`` is a share of one core, ``cpu_ns`` the whole so far. ``waiting``: things to be written;
    ``lost``: how many could not be kept. ``trouble``: what is wrong, in a clause; empty when well.
    """

    well: bool
    file: str
    trouble: str
    bytes_total: int
    bytes_per_s: float
    cpu: float
    cpu_ns: int
    waiting: int
    lost: int


class FaultAtWork(msgspec.Struct, frozen=True):
    """A fault of the simulated node that is at work. Times in monotonic ns of the session.

    ``number``: what lifts it. ``name``: of its button in the palette; empty when the scenario
    brought it. ``target``: the pod it is about, if it is about one. ``until_t``: when it is over by
    itself, if it ever is. ``imitates``: what it is on a real node.
    """

    number: int
    name: str
    text: str
    target: str
    since_t: int
    until_t: int | None
    imitates: str


class SessionState(msgspec.Struct, frozen=True):
    """Everything the header shows."""

    session: str
    """Changes with every start of the server."""
    title: str
    """What is being watched, for people: "Simulated node", "containerd 2.1.9 on host-1"."""
    simulated: bool
    endpoint: str
    endpoint_reason: str
    """Why this endpoint was taken, in a clause."""
    wall: int
    engine: EngineState
    cost: Cost
    runtime: RuntimeSeen | None
    oldest_call: OldestCall | None
    """Of a recording: the one that hangs, if one does."""
    viewers: int
    first_seq: int
    last_seq: int
    recording: Recorded | None = None
    """The recorder; None when nothing is recorded."""
    ended: bool = False
    """Nothing more will come: this is a journal that was recorded, and time stands still."""
    speed: float = 1.0
    """How many times as fast as a real clock the session's time goes: of a simulated node only."""
    faults: tuple[FaultAtWork, ...] = ()
    """The faults at work on a simulated node."""


class Hello(msgspec.Struct, frozen=True, tag_field="type", tag="hello"):
    """First message: who serves. ``session`` changes with every start of the server.

    ``resumed``: keep what you have; no snapshot comes, only what you have not seen yet.
    """

    session: str
    version: str
    resumed: bool = False


class Snapshot(msgspec.Struct, frozen=True, tag_field="type", tag="snapshot"):
    """A fresh start: throw away what you have. ``records`` are the newest ones, oldest first.

    ``truncated``: records older than the first one exist in the journal (ask the API for them).
    """

    state: SessionState
    pods: tuple[PodRow, ...]
    records: tuple[AnyRecord, ...]
    truncated: bool
    seq: int


class Batch(msgspec.Struct, frozen=True, tag_field="type", tag="batch"):
    """The records from ``first`` to ``last`` (seq), without a hole. About 20 a second at most."""

    first: int
    last: int
    records: tuple[AnyRecord, ...]


class State(msgspec.Struct, frozen=True, tag_field="type", tag="state"):
    """The header's state, twice a second."""

    state: SessionState


class Lagging(msgspec.Struct, frozen=True, tag_field="type", tag="lagging"):
    """This viewer was too slow: ``skipped`` records were not sent; a snapshot follows.

    ``lost`` of them are not in that snapshot either (they are older than its first record): a gap.
    """

    skipped: int
    lost: int = 0


class Bye(msgspec.Struct, frozen=True, tag_field="type", tag="bye"):
    """The server ends the connection; ``reason`` in a sentence."""

    reason: str
