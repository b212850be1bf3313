"""What goes over the WebSocket, message by message (JSON text frames, discriminated by ``type``).

Server to browser: ``hello`` -> ``snapshot`` (or a first ``batch`` when ``since`` could be resumed)
-> ``batch`` and ``state`` ... ; ``lagging`` then a fresh ``snapshot`` when the viewer's queue had
overflowed; ``bye`` before the server closes. Nothing is expected from the browser.

All ``t`` are monotonic nanoseconds of the session (small enough for a JavaScript number), all
``wall`` are nanoseconds since 1970 (exact to 256 ns there, good enough to show).
"""

import msgspec

from app.engine.records import AnyRecord, RuntimeSeen
from app.engine.state import EngineState


class Cost(msgspec.Struct, frozen=True):
    """plegscope's own cost over the last seconds: share of one core, runtime calls and bytes."""

    cpu: float
    calls_per_s: float
    bytes_per_s: float
    rss_bytes: int


class OldestCall(msgspec.Struct, frozen=True):
    """The runtime call that has waited longest; shown as hung from a few seconds on."""

    method: str
    age_ns: int
    hung: bool


class PodRow(msgspec.Struct, frozen=True):
    """A pod as the journal tells: enough to name a lane and to draw its running line."""

    uid: str
    name: str
    namespace: str
    seen_t: int
    gone_t: int | None
    last_t: int
    """Time of the newest record about this pod."""
    running: int
    """Containers (no sandboxes) the pod cache has as running."""
    containers: tuple[dict[str, object], ...] = ()
    """As in ``PodCached.containers``, newest first."""
    ips: tuple[str, ...] = ()
    error: str = ""
    syncing: bool = False


class SessionState(msgspec.Struct, frozen=True):
    """Everything the header shows."""

    session: str
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
    viewers: int
    first_seq: int
    last_seq: int


class Hello(msgspec.Struct, frozen=True, tag_field="type", tag="hello"):
    """First message: who serves. ``session`` changes with every start of the server."""

    session: str
    version: str


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
    """This viewer was too slow: ``skipped`` records were not sent; a snapshot follows."""

    skipped: int


class Bye(msgspec.Struct, frozen=True, tag_field="type", tag="bye"):
    """The server ends the connection; ``reason`` in a sentence."""

    reason: str
