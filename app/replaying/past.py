"""What the records up to a moment come to, and the piece of a recording that begins there."""

import gzip
from collections.abc import Callable
from typing import Any

import msgspec

from app.engine.hanging import Hanging, OldestCall
from app.engine.records import Record, RelistFinished, RuntimeHung, RuntimeSeen, Watching
from app.engine.state import EngineState
from app.hub.encode import encode
from app.hub.filmwire import Piece
from app.hub.runwire import Change, differences, told_of
from app.hub.wire import PodRow, SessionState
from app.journal.projection import PodTable
from app.journal.rebuild import StateBuilder
from app.recording.format import StateThen

StateOf = Callable[["Past"], SessionState]
"""A film's state as it is once these records have happened."""

_CALLS = frozenset({RuntimeSeen, RuntimeHung, RelistFinished, Watching})


class Past:
    """Follows records. ``seq``: number of the last one (0: none), ``t``: the latest time (ns)."""

    def __init__(self) -> None:
        self.seq = 0
        self.t = 0
        self.builder = StateBuilder()
        self.pods = PodTable()
        self.runtime: RuntimeSeen | None = None
        self._hanging = Hanging()

    @property
    def oldest(self) -> OldestCall | None:
        """The call that hangs, if one does."""
        return self._hanging.call

    def session_begins(self) -> None:
        """What comes is of another session, which counts anew."""
        self.builder = StateBuilder()
        self._hanging = Hanging()

    def apply(self, record: Record) -> None:
        """Take one record into account."""
        self.builder.apply(record)
        self.pods.apply(record)
        if type(record) in _CALLS:
            self._runtime(record)
        self.seq = record.seq
        self.t = max(self.t, record.t)

    def follow(self, record: Record) -> dict[str, Any] | None:
        """The same; returns what ``StateBuilder.follow`` does."""
        told = self.builder.follow(record)
        self.pods.apply(record)
        if type(record) in _CALLS:
            self._runtime(record)
        self.seq = record.seq
        self.t = max(self.t, record.t)
        return told

    def _runtime(self, record: Record) -> None:
        if isinstance(record, RuntimeSeen):
            self.runtime = record
        self._hanging.apply(record)

    def resume(self, then: StateThen) -> bool:
        """Go on from what was told, after the newest records before it were applied; whether it
        fits them. Else this is of no use."""
        if then.inner is None:
            return False
        syncing = [pod.uid for pod in then.pods if pod.syncing]
        self.pods.resume(then.t, then.pods)
        self.t = max(self.t, then.t)
        return self.builder.resume(then.state, then.inner, syncing)

    def engine(self) -> EngineState:
        """The engine's state now."""
        return self.builder.state(self.t if self.seq else 0)

    def rows(self) -> tuple[PodRow, ...]:
        """The pods now, without what a later record tells anyway."""
        return tuple(
            msgspec.structs.replace(row, containers=(), ips=(), sandbox_gone=False)
            for row in self.pods.rows()
        )


class Cutting:
    """A piece while its records come, on top of the past that they change.

    Args:
        past: what was before; each record is applied to it.
        state: of the film.
    """

    def __init__(self, past: Past, state: StateOf) -> None:
        self._past = past
        self._before = state(past)
        self._rows = past.rows()
        self._told = told_of(self._before.engine)
        self._health = self._before.engine.health
        self._oldest = past.oldest
        self._changes: list[Change] = []
        self.records: list[Record] = []

    def add(self, record: Record) -> None:
        """The next record."""
        past = self._past
        changed = past.follow(record)
        self.records.append(record)
        if changed is None:
            changed = told_of(past.builder.state(record.t))
        fields = differences(self._told, changed) if changed else changed
        health = past.builder.health(record.t)
        if health is not self._health and health != self._health:
            fields["health"] = self._health = health
        if fields:
            self._told.update(fields)
        if past.oldest != self._oldest:
            fields["oldest_call"] = self._oldest = past.oldest
        if fields:
            self._changes.append(Change(record.seq, fields))

    def know(self, then: StateThen) -> None:
        """What the recording says itself, right after the last record."""
        past = self._past
        if not past.resume(then):
            past.builder = StateBuilder()
            for record in self.records:
                past.builder.apply(record)
        told = told_of(past.builder.state(self.records[-1].t))
        fields = differences(self._told, told)
        self._told = told
        self._health = told["health"]
        if fields:
            self._changes.append(Change(self.records[-1].seq, fields))

    def told(self, number: int) -> bytes:
        """The piece of this number as JSON of ``Piece``; there must be a record."""
        piece = Piece(
            number=number,
            first=self.records[0].seq,
            state=self._before,
            pods=self._rows,
            changes=tuple(self._changes),
            records=tuple(self.records),  # type: ignore[arg-type]  # all kinds there are
        )
        return encode(piece)


def packed(piece: bytes) -> bytes:
    """What a piece came to, as it goes over the wire."""
    return gzip.compress(piece, compresslevel=1, mtime=0)
