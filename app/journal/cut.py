"""What is told of a stretch of time in bins."""

import msgspec

from app.engine.inputs import EndCode
from app.engine.records import StreamState


class Outline(msgspec.Struct, frozen=True):
    """A pod that something is known of, ``gone_t`` None while it is there; times in ns."""

    uid: str
    name: str
    namespace: str
    seen_t: int
    gone_t: int | None


class Turn(msgspec.Struct, frozen=True):
    """The event stream from ``t`` on: its state, what that means, in a sentence, and how the one
    before ended."""

    t: int
    state: StreamState
    meaning: str
    code: EndCode | None


class Hole(msgspec.Struct, frozen=True):
    """``count`` things were lost between two times (ns) at ``hop``, for ``reason``."""

    from_t: int
    to_t: int
    hop: str
    count: int
    reason: str


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a stretch of time, in bins of one width.

    Counts stand in flat lists: a bin's place (0 begins at ``first * width``), the mark's place in
    ``MARKS``, how many; again and again, in order of time. ``pods``: by UID, of those that were
    asked for and have any. ``all``: of everything, whatever it is about. ``relists``: global ones
    by their end; the bin's place, how many, the longest of them (ns), how many failed. ``began``:
    when the first record was. ``since``: before this time (ns) less than everything is known at
    this width; as long as nothing was given up it is ``began``. ``gone``: pods with something in
    this stretch that are no longer there, and of a recording also those that stay. ``stream``: its
    states, the first of them from before.
    """

    width: int
    first: int
    bins: int
    began: int
    since: int
    pods: dict[str, list[int]]
    all: list[int]
    relists: list[int]
    gone: list[Outline]
    stream: list[Turn]
    gaps: list[Hole]
