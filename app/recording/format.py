"""What a recording holds: channels, their schemas, and the words that only a recording has.

A recording is an MCAP file of the profile ``plegscope``. Its topics:

    /plegscope/session   what was watched, with which settings; repeated, so that no damage hides it
    /plegscope/inputs    everything the engine was fed, in order: enough to run it again
    /plegscope/records   what the engine told, as in the journal
    /plegscope/stream    what it told of the event stream's state, likewise
    /plegscope/notes     what was told by others than the engine: notes, a runtime that hangs
    /plegscope/state     now and then: the engine's state, as the records so far tell it
    /plegscope/opening   now and then: earlier records, newest of their kind, to begin from
    /plegscope/losses    what the recorder could not keep
    /plegscope/answers   what is told of each answer that the runtime gave (``answers.py``)
    /cri/events          the runtime's events as received, in protobuf
    /cri/sandboxes, /cri/containers, /cri/sandbox_status, /cri/container_status
                         its answers as received, or a list's rows that have changed; each stands
                         before what is told of it

What is of the CRI is protobuf, with the part of the CRI that it takes to be read; all else is JSON
with JSON Schema. An input stands before the records it brought about.
``log_time`` is the session's monotonic time put on the wall clock of its beginning, so that it
never jumps; ``publish_time`` is what the wall clock said. ``sequence`` counts a channel's messages
(inputs: all that were fed; records: the journal's own number), so that a hole shows.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import msgspec

from app import __version__
from app.engine.inputs import (
    EventsTaken,
    PodInspected,
    PodInspectFailed,
    PodsListFailed,
    ReinspectRequested,
    RelistRequested,
    RuntimeProbed,
    Start,
    Stop,
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamLost,
    StreamOpened,
    StreamRenewed,
    SyncEnded,
    SyncStarted,
    TimerFired,
)
from app.engine.records import AnyRecord
from app.engine.settings import EngineSettings
from app.engine.state import EngineState
from app.journal.projection import PodKept
from app.journal.rebuild import Inner
from app.recording import mcapwrite as mcap
from app.recording.answers import Answered
from app.recording.lists import Listed

FORMAT: Final = 1
"""Version of everything above; a reader refuses newer ones."""

PROFILE: Final = "plegscope"
LIBRARY: Final = f"plegscope {__version__}"

MOST_MESSAGE: Final = 8 * 1024 * 1024
"""Bytes of a message; nothing larger is written or read."""

MOST_CHUNK: Final = 16 * 1024 * 1024
"""Bytes of an unpacked chunk that a reader accepts; plegscope ends its own far earlier."""

SESSION, INPUTS, RECORDS, STREAM, NOTES, OPENING, LOSSES, EVENTS, STATES = range(1, 10)
ANSWERS, SANDBOXES, CONTAINERS, SANDBOX_STATUS, CONTAINER_STATUS = range(10, 15)
"""Channel numbers. They are fixed, so that a file whose first bytes are lost can be read."""

TOPICS: Final = {
    SESSION: "/plegscope/session",
    INPUTS: "/plegscope/inputs",
    RECORDS: "/plegscope/records",
    STREAM: "/plegscope/stream",
    NOTES: "/plegscope/notes",
    OPENING: "/plegscope/opening",
    LOSSES: "/plegscope/losses",
    EVENTS: "/cri/events",
    STATES: "/plegscope/state",
    ANSWERS: "/plegscope/answers",
    SANDBOXES: "/cri/sandboxes",
    CONTAINERS: "/cri/containers",
    SANDBOX_STATUS: "/cri/sandbox_status",
    CONTAINER_STATUS: "/cri/container_status",
}
NUMBERS: Final = {topic: number for number, topic in TOPICS.items()}

ANSWERS_OF: Final = {
    "ListPodSandbox": SANDBOXES,
    "ListContainers": CONTAINERS,
    "PodSandboxStatus": SANDBOX_STATUS,
    "ContainerStatus": CONTAINER_STATUS,
}
"""Where the answers of a method are."""

MESSAGES: Final = {
    EVENTS: "ContainerEventResponse",
    SANDBOXES: "ListPodSandboxResponse",
    CONTAINERS: "ListContainersResponse",
    SANDBOX_STATUS: "PodSandboxStatusResponse",
    CONTAINER_STATUS: "ContainerStatusResponse",
}
"""What is the runtime's own: CRI messages (package ``runtime.v1``) of these kinds."""

ENGINE_MADE: Final = frozenset({RECORDS, STREAM})
"""Channels with what the engine told: running the inputs again gives the same."""

TOLD: Final = frozenset({RECORDS, STREAM, NOTES})
"""Channels whose messages are the journal, in order."""

AnyInput = (
    Start
    | Stop
    | TimerFired
    | RuntimeProbed
    | Listed
    | PodsListFailed
    | PodInspected
    | PodInspectFailed
    | StreamOpened
    | StreamLive
    | StreamRenewed
    | StreamEvent
    | StreamLost
    | StreamEnded
    | SyncStarted
    | SyncEnded
    | RelistRequested
    | ReinspectRequested
    | EventsTaken
)
"""The inputs as a recording has them: ``Listed`` for ``PodsListed``."""


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What was watched, and all that running it again takes beside the inputs.

    ``chance``: what the engine's generator was seeded with (``random.Random(chance)``). ``origin``:
    wall time (ns since 1970) at the session's time 0. ``part`` counts the files of one session from
    1; ``inputs``: how many had been fed when this was told. ``seed`` None: nothing was simulated.
    """

    format: int = FORMAT
    plegscope: str = __version__
    session: str
    part: int = 1
    inputs: int = 0
    command: str
    title: str
    simulated: bool
    endpoint: str = ""
    endpoint_reason: str = ""
    host: str = ""
    scenario: str = ""
    seed: int | None = None
    chance: int | str
    settings: EngineSettings
    origin: int


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """What the recorder could not keep between ``from_t`` and ``t`` (monotonic ns), and why."""

    t: int
    wall: int
    from_t: int
    inputs: int = 0
    records: int = 0
    events: int = 0
    answers: int = 0
    reason: str


class StateThen(msgspec.Struct, frozen=True, kw_only=True):
    """The engine's state at ``t``, as the records up to number ``seq`` tell it.

    With the opening that comes before it, a reader can begin here instead of at the beginning; it
    is given at the beginning of each file but the first, once a minute, and after some thousand
    records. ``inner`` and ``pods``: what else is to be known to go on exactly from here (None: not
    told).
    """

    t: int
    wall: int
    seq: int
    state: EngineState
    inner: Inner | None = None
    pods: tuple[PodKept, ...] = ()


class Versions(msgspec.Struct, frozen=True):
    """What is understood of a session's beginning whatever wrote it."""

    format: int
    plegscope: str = ""


def _json_schema(kind: Any) -> bytes:
    return msgspec.json.encode(msgspec.json.schema(kind))


def _cri_schema(message: str) -> bytes:
    """A ``FileDescriptorSet`` of one file with this message and all that is in it."""
    # Here, as reading needs no protobuf.
    from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

    from app.cri.pb import cri_pb2

    whole = FileDescriptorProto.FromString(cri_pb2.DESCRIPTOR.serialized_pb)
    messages = {one.name: one for one in whole.message_type}
    needed: set[str] = set()
    wanted = [message]
    while wanted:
        name = wanted.pop()
        if name not in needed:
            needed.add(name)
            if name in messages:
                described = messages[name]
                for one in (described, *described.nested_type):
                    wanted += [field.type_name.rpartition(".")[2] for field in one.field]
    part = FileDescriptorProto(
        name=whole.name,
        package=whole.package,
        syntax=whole.syntax,
        message_type=[one for one in whole.message_type if one.name in needed],
        enum_type=[one for one in whole.enum_type if one.name in needed],
    )
    return FileDescriptorSet(file=[part]).SerializeToString(deterministic=True)


_Schema = tuple[str, str, Callable[[], bytes]]

_SCHEMAS: Final[dict[int, _Schema]] = {
    1: ("plegscope.Session", "jsonschema", lambda: _json_schema(SessionInfo)),
    2: ("plegscope.Input", "jsonschema", lambda: _json_schema(AnyInput)),
    3: ("plegscope.Record", "jsonschema", lambda: _json_schema(AnyRecord)),
    4: ("plegscope.Loss", "jsonschema", lambda: _json_schema(Loss)),
    6: ("plegscope.State", "jsonschema", lambda: _json_schema(StateThen)),
    7: ("plegscope.Answered", "jsonschema", lambda: _json_schema(Answered)),
    **{
        number: (f"runtime.v1.{kind}", "protobuf", partial(_cri_schema, kind))
        for number, kind in zip((5, 8, 9, 10, 11), MESSAGES.values(), strict=True)
    },
}
_SCHEMA_OF: Final = {
    SESSION: 1,
    INPUTS: 2,
    RECORDS: 3,
    STREAM: 3,
    NOTES: 3,
    OPENING: 3,
    LOSSES: 4,
    STATES: 6,
    ANSWERS: 7,
    **dict(zip(MESSAGES, (5, 8, 9, 10, 11), strict=True)),
}


@cache
def schema_records() -> bytes:
    """All schemas as MCAP records."""
    return b"".join(
        mcap.schema(number, name, encoding, make())
        for number, (name, encoding, make) in _SCHEMAS.items()
    )


@cache
def channel_records() -> bytes:
    """All channels as MCAP records."""
    return b"".join(
        mcap.channel(
            number,
            _SCHEMA_OF[number],
            topic,
            "protobuf" if number in MESSAGES else "json",
            {"format": str(FORMAT)},
        )
        for number, topic in TOPICS.items()
    )


SCHEMAS: Final = len(_SCHEMAS)
