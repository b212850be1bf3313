"""What is told of a run that was played ahead, as JSON.

All of it comes at once: the records, and the header's state as it was after each of them. That
would be long, so it is told as the state before the first record and what each one changed in it.
"""

from typing import Any

import msgspec

from app.engine.records import AnyRecord
from app.engine.state import EngineState
from app.hub.wire import SessionState

_FIELDS = tuple(name for name in EngineState.__struct_fields__ if name != "t")


class PressTold(msgspec.Struct, frozen=True):
    """A fault or mishap at ``t`` (ns): its name in the palette, and the pod it is about, if any."""

    t: int
    name: str
    target: str = ""


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """What a run follows from. ``query``: the same as the query of a link, for ``/run``."""

    query: str
    scenario: str
    title: str
    shows: str
    seed: int
    profile: str
    runtime: str
    duration_ns: int
    presses: tuple[PressTold, ...]


class Change(msgspec.Struct, frozen=True, array_like=True):
    """What changed with record ``seq``, as an array: the number, and the new values by field.

    The fields are those of ``SessionState.engine``; ``requests.queued`` is the entry of that name
    in the field ``requests``; ``faults`` and ``oldest_call`` are those of ``SessionState`` itself.
    Not told: ``engine.t`` and ``wall`` are those of the record, ``runtime`` is the newest record of
    that kind, and ``last_seq`` is its number.
    """

    seq: int
    fields: dict[str, Any]


class RunRecords(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run. ``state``: before its first record. ``changes``: in order of ``seq``."""

    run: Played
    state: SessionState
    changes: tuple[Change, ...]
    records: tuple[AnyRecord, ...]


class RunProgress(msgspec.Struct, frozen=True):
    """How far a run is.

    ``state``: ``absent`` (nobody has asked for it), ``waiting`` (others come first), ``playing``
    or ``ready``. ``t``: the time reached (ns), of ``duration_ns``. ``ahead``: how many runs come
    before it.
    """

    state: str
    t: int
    duration_ns: int
    ahead: int = 0


def told_of(state: EngineState) -> dict[str, Any]:
    """What a :class:`Change` may say of a state, by name."""
    told: dict[str, Any] = {}
    for name in _FIELDS:
        value = getattr(state, name)
        if isinstance(value, dict):
            told |= {f"{name}.{key}": one for key, one in value.items()}
        else:
            told[name] = value
    return told


def differing(before: EngineState, after: EngineState) -> dict[str, Any]:
    """What a :class:`Change` says of two states."""
    fields: dict[str, Any] = {}
    for name in _FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue
        if isinstance(new, dict):
            fields |= {f"{name}.{key}": new[key] for key in new if old.get(key) != new[key]}
        else:
            fields[name] = new
    return fields


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The same of what ``told_of`` tells, or of a part of it: what is in ``after``."""
    return {
        name: new
        for name, new in after.items()
        if (old := before.get(name)) is not new and old != new
    }
