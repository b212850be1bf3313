"""What is told of a recording that is played, as JSON.

A recording may be far larger than a browser, so it is told in *pieces* of some hundred records:
each with the header's state and the pods as they were before it, and what each record changed. A
page gets the table of pieces first (``FilmTold.pieces``) and then only those it shows.

All times ``t`` are monotonic nanoseconds from the beginning of the recording (of the first, where
several are played as one).
"""

import msgspec

from app.engine.records import AnyRecord
from app.hub.runwire import Change
from app.hub.wire import PodRow, SessionState
from app.journal.cut import Cut


class Incident(msgspec.Struct, frozen=True):
    """Something that somebody would look for: with record ``seq``, at ``t``; ``text`` in words.

    ``kind``: ``unhealthy``, ``stream_down``, ``hung``, ``gap``, ``discarded``, ``dropped``,
    ``oom`` or ``late`` (a container that failed, and was found by polling only). ``count``: how
    many of its kind came in one go.
    """

    seq: int
    t: int
    kind: str
    text: str
    count: int = 1


class Span(msgspec.Struct, frozen=True, array_like=True):
    """A piece, as an array: number of its first record, time before which none of it is."""

    first: int
    t: int


class Idle(msgspec.Struct, frozen=True, array_like=True):
    """From when to when no record is, as an array; ``gap``: because nothing was recorded."""

    from_t: int
    to_t: int
    gap: bool = False


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """A whole recording in bins of ``width`` ns; bin 0 begins at time 0.

    ``records``: how many; ``early`` and ``late``: ends of containers that a hint, or polling only,
    led to; ``trouble``: 1 the health check failed, 2 the stream was down, 3 both. Of bins from
    number ``read`` on only ``records`` is known, and roughly: they have not been read through.
    """

    width: int
    records: tuple[int, ...]
    early: tuple[int, ...]
    late: tuple[int, ...]
    trouble: tuple[int, ...]
    read: int


class NodeTold(msgspec.Struct, frozen=True, kw_only=True):
    """One of the nodes that were recorded: its number here, its name, and its files."""

    number: int
    name: str
    files: tuple[str, ...]


class FilmTold(msgspec.Struct, frozen=True, kw_only=True):
    """What is played. ``records`` and ``end_t``: as far as it has been read; ``whole``: to its end.

    ``digest`` tells whether another file of the same name is the same. ``origin``: wall time (ns
    since 1970) at time 0. ``pieces``: from the one that was asked for. ``idle``: the longest
    stretches without a record. ``incidents``: the first ones; ``incidents_total`` counts all.
    ``read``: share of the files that has been read. ``layout``: which table of pieces this is; a
    later one takes an earlier one's place, and is always told whole. ``known``: ``end_t`` is the
    end, as an index tells it or all was read.
    """

    name: str
    digest: str
    title: str
    node: int
    nodes: tuple[NodeTold, ...]
    simulated: bool
    origin: int
    records: int
    end_t: int
    whole: bool
    read: float
    warnings: tuple[str, ...]
    state: SessionState
    pieces: tuple[Span, ...]
    idle: tuple[Idle, ...]
    incidents: tuple[Incident, ...]
    incidents_total: int
    overview: Overview
    layout: int = 1
    known: bool = False


class Counted(Cut, frozen=True, kw_only=True):
    """A stretch of a recording in bins, as far as it has been read.

    ``t``: up to when all is counted (ns); what comes later is not in here, and comes if it is being
    read still (``reading``). ``layout``: as in ``FilmTold``; of another one this means nothing.
    ``marks``: the kinds by their place, the worst last. ``known``: for each width there is, from
    when on all is known.
    """

    t: int
    reading: bool
    layout: int
    marks: tuple[str, ...]
    known: list[tuple[int, int]]


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """Some records in order, numbered without a hole from ``first``.

    ``state`` and ``pods``: before the first of them; the wall time of ``state`` is that of time 0.
    """

    number: int
    first: int
    state: SessionState
    pods: tuple[PodRow, ...]
    changes: tuple[Change, ...]
    records: tuple[AnyRecord, ...]


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """How a node was at ``t``: ``pods`` with their containers, and the ``records`` of the minutes
    before. ``whole``: those are all; else the oldest are left out. ``unknown``: pods whose
    containers were told too long before to be looked for. ``unrecorded``: from when to when nobody
    recorded, if ``t`` is in such a time. ``began_t`` and ``ended_t``: when the recording of this
    node does, as far as it has been read; ``known``: that is to its end."""

    t: int
    began_t: int
    ended_t: int
    known: bool
    state: SessionState
    pods: tuple[PodRow, ...]
    records: tuple[AnyRecord, ...]
    whole: bool
    unknown: int
    unrecorded: tuple[int, int] | None


class Sought(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for, after record ``seq`` or (``back``) before it: ``relist`` (the end of
    one), ``pod`` (anything about the pod ``uid``) or ``incident``."""

    what: str
    seq: int
    back: bool = False
    uid: str = ""


class Found(msgspec.Struct, frozen=True):
    """The record that was looked for; both None: there is none."""

    seq: int | None
    t: int | None = None


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a recording with a note; ``number`` tells it from the others."""

    number: int
    t: int
    note: str


class Markers(msgspec.Struct, frozen=True, kw_only=True):
    """The markers in order of time. ``trouble``: why they cannot be saved; empty if they can."""

    markers: tuple[Marker, ...]
    trouble: str = ""


class Taken(msgspec.Struct, frozen=True):
    """A file that was dropped can be opened by this name."""

    name: str


class RecordingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A recording in the list. Times are wall times (ns since 1970); None: not known.

    ``group``: names all files of the session, as a link may. ``incidents`` None: nobody has looked.
    ``trouble``: why it cannot be opened.
    """

    name: str
    size: int
    began: int | None = None
    ended: int | None = None
    node: str = ""
    title: str = ""
    group: str = ""
    incidents: int | None = None
    trouble: str = ""


class RecordingList(msgspec.Struct, frozen=True, kw_only=True):
    """The recordings that can be opened here, the newest first, and where they are."""

    folder: str
    recordings: tuple[RecordingRow, ...]
    more: int = 0
