"""How a node was at a moment of its recording: the state, the pods with their containers, and the
records of the minutes before, put together from the pieces around it.

A piece knows the pods but not their containers, which the newest ``PodCached`` of each tells.
"""

import gzip
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from app.engine.records import AnyRecord, Gap, PodCached, Record
from app.engine.state import EngineState
from app.errors import RecordingError
from app.hub.filmwire import Moment, Piece
from app.hub.runwire import Change
from app.hub.wire import OldestCall, PodRow, SessionState
from app.journal.projection import PodKept, PodTable
from app.replaying.film import Film
from app.replaying.joined import NOT_RECORDED

MOST_BEFORE = 64
"""Pieces that the minutes before may be in; what is older is left out."""
NOTHING = "Nothing of this recording has been read yet. Wait a moment, and load this page again."
NO_MORE = (
    "Nothing of this recording can be read any more: its file was changed or cut off. Put it back, "
    "start plegscope again, and open it then."
)


def moment(film: Film, t: int, recent_ns: int) -> Moment:
    """How it was at ``t`` (ns), with the records of the ``recent_ns`` before.

    Raises:
        RecordingError: nothing has been read yet, or it cannot be read.
    """
    try:
        return _moment(film, max(0, t), recent_ns)
    except IndexError:
        raise nothing(film) from None


def nothing(film: Film) -> RecordingError:
    """Why there is no piece to begin from."""
    return RecordingError(NO_MORE if film.whole else NOTHING)


def _moment(film: Film, t: int, recent_ns: int) -> Moment:
    at = film.at(t)
    piece = _piece(film, at)
    happened = [record for record in piece.records if record.t <= t]
    table = PodTable()
    table.resume(piece.records[0].t, _kept(piece.pods))
    for cached in film.cache_told(at, [pod.uid for pod in piece.pods]):
        # On whatever clock it was told: only what it says of the containers counts.
        table.apply(msgspec.structs.replace(cached, t=0))
    for record in happened:
        table.apply(record)
    rows = table.rows()
    told = {record.uid for record in happened if isinstance(record, PodCached)}
    unknown = sum(
        pod.gone_t is None and not pod.containers and pod.running > 0 and pod.uid not in told
        for pod in rows
    )
    records, whole = _recent(film, at, happened, t - recent_ns)
    return Moment(
        t=t,
        began_t=film.span(0)[1],
        ended_t=film.end_t,
        known=film.known,
        state=_state(film, piece, happened, t),
        pods=rows,
        records=tuple(records),
        whole=whole,
        unknown=unknown,
        unrecorded=_unrecorded(film, at, piece.records, t),
    )


def _piece(film: Film, number: int) -> Piece:
    return msgspec.json.decode(gzip.decompress(film.piece(number)), type=Piece)


def _kept(pods: Iterable[PodRow]) -> list[PodKept]:
    return [
        PodKept(
            pod.uid, pod.name, pod.namespace, pod.seen_t, pod.gone_t, pod.last_t, pod.running,
            pod.error, pod.syncing,
        )
        for pod in pods
    ]  # fmt: skip


def _recent(
    film: Film, at: int, happened: Sequence[AnyRecord], since_t: int
) -> tuple[list[AnyRecord], bool]:
    """The records from ``since_t`` on, and whether that is all of them."""
    parts = [[record for record in happened if record.t >= since_t]]
    number = at
    while number > 0 and film.span(number)[1] >= since_t:
        number -= 1
        if at - number > MOST_BEFORE:
            return [record for part in reversed(parts) for record in part], False
        parts.append([one for one in film.records(number) if one.t >= since_t])
    return [record for part in reversed(parts) for record in part], True


def _state(film: Film, piece: Piece, happened: Sequence[Record], t: int) -> SessionState:
    """The header's state, as the player's page has it."""
    last = happened[-1].seq if happened else piece.first - 1
    engine: dict[str, Any] = msgspec.to_builtins(piece.state.engine)
    oldest: Any = msgspec.to_builtins(piece.state.oldest_call)
    runtime = piece.state.runtime
    for change in piece.changes:
        if change.seq > last:
            break
        oldest = _apply(engine, change, oldest)
    for record in happened:
        if record.__struct_config__.tag == "runtime":
            runtime = record  # type: ignore[assignment]  # of that tag
    engine["t"] = t
    return msgspec.structs.replace(
        piece.state,
        engine=msgspec.convert(engine, EngineState),
        oldest_call=msgspec.convert(oldest, OldestCall | None),
        runtime=runtime,
        wall=film.origin + t,
        last_seq=last,
    )


def _apply(engine: dict[str, Any], change: Change, oldest: Any) -> Any:
    """Change the engine's state; returns the oldest call after it."""
    for name, value in change.fields.items():
        field, _, key = name.partition(".")
        if name == "oldest_call":
            oldest = value
        elif name == "faults":
            continue
        elif key:
            engine[field] = engine[field] | {key: value}
        else:
            engine[field] = value
    return oldest


def _unrecorded(film: Film, at: int, records: Sequence[Record], t: int) -> tuple[int, int] | None:
    """From when to when nobody recorded, where ``t`` is in such a time."""
    following = next((record for record in records if record.t > t), None)
    if following is None and at + 1 < film.pieces:
        following = film.records(at + 1)[0]
    if isinstance(following, Gap) and following.reason in NOT_RECORDED:
        return (following.from_t, following.t) if following.from_t < t else None
    return None
