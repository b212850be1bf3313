"""What a trace is made of: tracks, and slices, instants and numbers on them.

Both trace formats say the same in their own ways; ``tracks.py`` makes it of a journal.
"""

from typing import Any, Final

import msgspec

MOST_REQUESTS: Final = 65_536
"""Requests whose flow is remembered, the newest."""

MOST_PODS: Final = 20_000
"""Pods at a time; beyond it the one that was told first is forgotten, and begins anew."""

MOST_CONTAINERS: Final = 100_000
"""Container tracks at a time; the marks of more lie on their pods' own tracks."""

MOST_NAME: Final = 512
"""Characters of a track's name and of what pods and containers are known by."""

Args = dict[str, Any]


class Track(msgspec.Struct, frozen=True):
    """A track, told before anything that lies on it. ``parent`` 0: none; ``counter``: numbers."""

    id: int
    name: str
    parent: int = 0
    counter: bool = False


class Slice(msgspec.Struct, frozen=True):
    """Something that lasted, from ``start`` to ``end`` (ns of the session)."""

    track: int
    name: str
    start: int
    end: int
    args: Args = {}
    flows: tuple[int, ...] = ()


class Instant(msgspec.Struct, frozen=True):
    """Something that happened at ``t`` (ns of the session)."""

    track: int
    name: str
    t: int
    args: Args = {}
    flows: tuple[int, ...] = ()


class Count(msgspec.Struct, frozen=True):
    """A number from ``t`` on."""

    track: int
    t: int
    value: int


class Clock(msgspec.Struct, frozen=True):
    """The wall time (ns since 1970) of a ``t``; told once, before anything else."""

    t: int
    wall: int


class Dropped(msgspec.Struct, frozen=True):
    """Nothing more comes on these tracks."""

    tracks: tuple[int, ...]


Item = Track | Slice | Instant | Count | Clock | Dropped
