"""Two tables as CSV: the lifecycle events with their latencies, and the relists.

Durations are whole nanoseconds, wall times ISO 8601 in UTC with nanoseconds; an empty cell is not
known. A text that a spreadsheet would take for a formula is made a text by an apostrophe before it.
"""

import csv
import datetime as dt
import heapq
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter

from app.engine.records import Lifecycle, PodCached, PodGone, PodSeen, Record, RelistFinished
from app.export.marks import MOST_NAME, MOST_PODS
from app.export.source import Source

_FORMULA = re.compile(r"[\s\x00-\x20]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\t\r]")
"""What spreadsheets take for a formula's beginning, the full-width forms included."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

LIFECYCLE = (
    "seq",
    "time",
    "t_ns",
    "type",
    "namespace",
    "pod",
    "pod_uid",
    "container",
    "container_id",
    "attempt",
    "sandbox",
    "old_state",
    "new_state",
    "found_by",
    "relist",
    "delivery",
    "exit_code",
    "reason",
    "finished_at",
    "since_finished_ns",
    "stop_event",
    "after_stop_event_ns",
    "sooner_than_polling_ns",
    "first_relist",
)

RELISTS = (
    "seq",
    "start_time",
    "start_t_ns",
    "relist",
    "scope",
    "source",
    "namespace",
    "pod",
    "pod_uid",
    "duration_ns",
    "ok",
    "error",
    "pods",
    "containers",
    "changed",
    "withheld",
    "calls",
    "slowest_call",
    "slowest_call_ns",
)

Cell = str | int | bool | None
_Row = Callable[["_Names", Record], tuple[Cell, ...] | None]


def lifecycle(source: Source) -> Iterator[bytes]:
    """The table of lifecycle events."""
    return _table(source.records(), LIFECYCLE, _lifecycle_row)


def relists(source: Source) -> Iterator[bytes]:
    """The table of relists that ended."""
    return _table(source.records(), RELISTS, _relist_row)


def of_nodes(nodes: Sequence[tuple[str, Source]], table: str) -> Iterator[bytes]:
    """One of the two (``relists``, or the other) of several nodes, in order of time; the first
    column names the node."""
    head, row = (RELISTS, _relist_row) if table == "relists" else (LIFECYCLE, _lifecycle_row)
    each = [_named_rows(name, source.records(), row) for name, source in nodes]
    rows = heapq.merge(*each, key=itemgetter(0))
    return _written(("node", *head), (cells for _t, cells in rows))


class _Names:
    """Names of the pods that are there, at most ``MOST_PODS`` of them, cut to a sane length."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, str]] = {}

    def apply(self, record: Record) -> None:
        if not isinstance(record, PodSeen | PodCached) or not record.name:
            return
        self._names[record.uid[:MOST_NAME]] = (
            record.namespace[:MOST_NAME],
            record.name[:MOST_NAME],
        )
        if len(self._names) > MOST_PODS:
            del self._names[next(iter(self._names))]

    def forget(self, record: Record) -> None:
        if isinstance(record, PodGone):
            self._names.pop(record.uid[:MOST_NAME], None)

    def of(self, uid: str | None) -> tuple[str, str]:
        """Namespace and name."""
        return ("", "") if uid is None else self._names.get(uid[:MOST_NAME], ("", ""))


def _table(records: Iterable[Record], head: tuple[str, ...], row: _Row) -> Iterator[bytes]:
    return _written(head, (cells for _t, cells in _rows(records, row)))


def _named_rows(
    node: str, records: Iterable[Record], row: _Row
) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    for t, cells in _rows(records, row):
        yield t, (node, *cells)


def _rows(records: Iterable[Record], row: _Row) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    """Each row with its time."""
    names = _Names()
    for record in records:
        names.apply(record)
        cells = row(names, record)
        # A pod's last container is found gone before the pod is told to be.
        names.forget(record)
        if cells is not None:
            yield record.t, cells


def _written(head: tuple[str, ...], rows: Iterable[tuple[Cell, ...]]) -> Iterator[bytes]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(head)
    for cells in rows:
        writer.writerow([_cell(cell) for cell in cells])
        yield out.getvalue().encode("utf-8", "replace")
        out.seek(0)
        out.truncate()
    # Nothing at all to tell is still a table.
    yield out.getvalue().encode("utf-8", "replace")


def _lifecycle_row(names: _Names, record: Record) -> tuple[Cell, ...] | None:
    if not isinstance(record, Lifecycle):
        return None
    due = record.poll_due_t
    return (
        record.seq,
        _time(record.wall),
        record.t,
        record.type,
        *names.of(record.uid),
        record.uid,
        record.container_name,
        record.container_id,
        record.attempt,
        record.is_sandbox,
        record.old_state,
        record.new_state,
        record.source,
        record.relist,
        record.delivery,
        record.exit_code,
        record.reason,
        _time(record.finished_at),
        record.since_finished_ns,
        record.event,
        record.after_ns,
        None if due is None or record.source == "global" else max(0, due - record.t),
        record.baseline,
    )


def _relist_row(names: _Names, record: Record) -> tuple[Cell, ...] | None:
    if not isinstance(record, RelistFinished):
        return None
    return (
        record.seq,
        _time(record.wall - record.duration_ns),
        record.started,
        record.relist,
        record.scope,
        record.source,
        *names.of(record.uid),
        record.uid,
        record.duration_ns,
        record.ok,
        record.error,
        record.pods,
        record.containers,
        record.changed,
        record.withheld,
        record.calls,
        record.slowest_method,
        record.slowest_ns,
    )


def _cell(value: Cell) -> str | int:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return value
    text = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", value)
    return f"'{text}" if _FORMULA.match(value) else text


def _time(wall: int) -> str | None:
    """Nanoseconds since 1970 as ``2026-11-29T14:32:40.123456789Z``; None for 0 and nonsense."""
    if wall <= 0:
        return None
    try:
        moment = dt.datetime.fromtimestamp(wall // 1_000_000_000, tz=dt.UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{wall % 1_000_000_000:09}Z"
