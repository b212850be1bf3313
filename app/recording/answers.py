"""The runtime's answers as received: lists as keyframes and what changed, statuses whole.

A list is told in whole now and then (a *keyframe*: the answer's own bytes), and in between by its
rows that are new or changed, as received, which together are an answer of the same kind and can be
read as one. Beside each stands a line (``Answered``) that says how it is to be understood.

Rows are compared as messages, by protobuf's own library: a row whose fields come in another order
is the same, as containerd and CRI-O give labels and annotations, which are maps, in another order
each time. What is rebuilt has therefore the rows that were received, not their order. Only where
something has changed are the bytes taken apart: on a node at rest this is what recording costs.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol

import msgspec
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from app.cri.pb import cri_pb2
from app.recording.protowire import MOST_ROWS, Malformed, as_row, split_rows

KEYFRAME_NS: Final = 60_000_000_000
"""A list this much later than the last keyframe is one."""

MOST_PARTS: Final = 8
"""Messages that an answer is in."""

MOST_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a list, which is what a CRI client takes."""

LISTS: Final = frozenset({"ListPodSandbox", "ListContainers"})
"""The calls whose answers are told by what changed. A list's rows are its field 1, a row's id is
its own field 1."""

Form = Literal["whole", "changes", "same"]


class Answer(NamedTuple):
    """A call was answered at ``t`` (monotonic ns; ``wall``: ns since 1970) with ``raw``.

    ``asked_for``: the id of a sandbox or container; the pod's UID for a list of one; empty: all.
    """

    t: int
    wall: int
    method: str
    asked_for: str
    raw: bytes


class Answered(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is told of an answer; the message before it, of the method's topic, has its bytes.

    ``number`` counts these from 1; the message before it has the same. ``size``: bytes as received.
    ``rows``: of a list. ``form``: ``whole``, the message is the answer; ``changes``, it has those
    rows that are not as in the list of number ``base``, and is left out if there are none;
    ``same``: there is none, and nothing has changed since ``base``. ``gone_ids``: rows of that list
    which are in this one no more.
    """

    t: int
    wall: int
    number: int
    method: str
    asked_for: str = ""
    size: int
    rows: int = 0
    form: Form = "whole"
    base: int = 0
    told: int = 0
    """Rows in the message."""
    parts: int = 1
    """Messages it is in: a list may be larger than a message; each has some of its rows."""
    gone_ids: tuple[str, ...] = ()


def in_parts(method: str, raw: bytes, most: int) -> list[bytes]:
    """An answer of more than ``most`` bytes in parts of no more than half of that, each an answer
    of its kind, and one after another the answer itself. As it is: one that is no list."""
    if len(raw) <= most or method not in LISTS:
        return [raw]
    try:
        rows = split_rows(raw)
    except Malformed:
        return [raw]
    parts = [bytearray()]
    for row in map(as_row, rows.values()):
        if parts[-1] and len(parts[-1]) + len(row) > most // 2:
            parts.append(bytearray())
        parts[-1] += row
    return [bytes(part) for part in parts]


class Unknowable(ValueError):
    """An answer builds on one that was told in a part of the recording that is lost."""


class _Row(Protocol):
    """A row of either list, as a message."""

    @property
    def id(self) -> str: ...


class _Table:
    """A list as it was told last: the messages of its rows by their ids."""

    def __init__(self, number: int, begun: int, rows: Mapping[str, _Row]) -> None:
        self.number = number
        self.begun = begun
        self.rows = rows


class AnswerWriter:
    """Turns answers into what is recorded of them."""

    def __init__(self, keyframe_ns: int = KEYFRAME_NS) -> None:
        self._keyframe_ns = keyframe_ns
        self._tables: dict[str, _Table] = {}

    def restart(self) -> None:
        """The next list of each kind is a keyframe."""
        self._tables.clear()

    def write(self, answer: Answer, number: int) -> tuple[Answered, bytes | None]:
        """The line, and the message that stands before it (None: there is none)."""
        told = Answered(
            t=answer.t,
            wall=answer.wall,
            number=number,
            method=answer.method,
            asked_for=answer.asked_for,
            size=len(answer.raw),
        )
        if answer.method not in LISTS:
            return told, answer.raw
        try:
            if answer.asked_for:
                # Of one pod: small, and no list to build on.
                rows = len(split_rows(answer.raw))
                return msgspec.structs.replace(told, rows=rows, told=rows), answer.raw
            return self._list(answer, told)
        except Malformed:
            self._tables.pop(answer.method, None)
            return told, answer.raw

    def _list(self, answer: Answer, told: Answered) -> tuple[Answered, bytes | None]:
        rows = _rows(answer)
        table = self._tables.get(answer.method)
        if table is not None and answer.t - table.begun < self._keyframe_ns:
            changed = [row_id for row_id, row in rows.items() if table.rows.get(row_id) != row]
            gone = _gone(table.rows, rows)
            raws: list[bytes] = []
            if changed:
                found = _taken_apart(answer, rows)
                raws = [found[row_id] for row_id in changed]
            size = sum(map(len, raws))
            if 2 * (size + 64 * len(gone)) <= len(answer.raw):
                told = msgspec.structs.replace(
                    told,
                    rows=len(rows),
                    form="changes" if changed or gone else "same",
                    base=table.number,
                    told=len(changed),
                    gone_ids=tuple(gone),
                )
                # All of them: one row of an answer keeps the memory of the whole answer.
                table.number, table.rows = told.number, rows
                return told, b"".join(map(as_row, raws)) if raws else None
        # Whoever reads it must be able to take it apart.
        told = msgspec.structs.replace(told, rows=len(rows), told=len(_taken_apart(answer, rows)))
        self._tables[answer.method] = _Table(told.number, answer.t, rows)
        return told, answer.raw


def _rows(answer: Answer) -> dict[str, _Row]:
    """A list's rows by their ids.

    Raises:
        Malformed: as ``split_rows``.
    """
    try:
        message: cri_pb2.ListPodSandboxResponse | cri_pb2.ListContainersResponse
        received: Sequence[_Row]
        if answer.method == "ListPodSandbox":
            message = cri_pb2.ListPodSandboxResponse.FromString(answer.raw)
            received = message.items
        else:
            message = cri_pb2.ListContainersResponse.FromString(answer.raw)
            received = message.containers
    except DecodeError as error:
        raise Malformed("an answer is no list") from error
    rows: dict[str, _Row] = {row.id: row for row in received}
    if len(rows) != len(received) or len(rows) > MOST_ROWS or "" in rows:
        raise Malformed("a row of a list has no id, or another one's, or there are too many")
    if len(UnknownFieldSet(message)):
        raise Malformed("a list has other fields than rows")
    return rows


def _taken_apart(answer: Answer, rows: Mapping[str, _Row]) -> dict[str, bytes]:
    """A list's rows as received, by their ids.

    Raises:
        Malformed: they are other ones than protobuf's library found, as of two ids in a row the
            last one counts.
    """
    found = {row_id.decode(errors="replace"): raw for row_id, raw in split_rows(answer.raw).items()}
    if found.keys() != rows.keys():
        raise Malformed("a row of a list has several ids")
    return found


def _gone(known: Mapping[str, _Row], rows: Mapping[str, _Row]) -> list[str]:
    """Ids of rows that are no more."""
    return [] if known.keys() == rows.keys() else [one for one in known if one not in rows]


class AnswerReader:
    """Turns them back: each answer with all its rows.

    What it keeps is bounded by ``MOST_BYTES`` for each kind of list.
    """

    def __init__(self) -> None:
        self._tables: dict[str, tuple[int, dict[bytes, bytes]]] = {}

    def read(self, told: Answered, raw: bytes | None) -> Answer:
        """The answer; ``raw``: the message that stood before the line (None: none did).

        Raises:
            Unknowable: what it builds on is lost; or it is nonsense.
        """
        raw = b"" if raw is None else raw
        if told.method not in LISTS or told.asked_for:
            return _whole(told, raw)
        try:
            rows = split_rows(raw)
            if told.form == "whole":
                self._tables[told.method] = (told.number, rows)
                return _whole(told, raw)
            number, known = self._tables.get(told.method, (-1, {}))
            if number != told.base or len(rows) != told.told:
                raise Unknowable("an answer builds on one that is lost")
            for one in told.gone_ids:
                known.pop(one.encode(), None)
            known.update(rows)
        except Malformed as error:
            self._tables.pop(told.method, None)
            if told.form == "whole":
                return _whole(told, raw)
            raise Unknowable(str(error)) from error
        self._tables[told.method] = (told.number, known)
        if len(known) > MOST_ROWS or sum(map(len, known.values())) > MOST_BYTES:
            del self._tables[told.method]
            raise Unknowable("an answer is larger than one can be")
        return _whole(told, b"".join(map(as_row, known.values())))


def _whole(told: Answered, raw: bytes) -> Answer:
    return Answer(told.t, told.wall, told.method, told.asked_for, raw)
