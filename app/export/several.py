"""Several nodes on one clock as one export.

A trace has the tracks of each node apart from the others', a table names the node in its first
column, a page has a pane for each. JSON lines are of one node, as whoever reads them again takes
them for one, so there is a file for each, in one archive.
"""

import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from app.errors import RecordingError
from app.export import chrome, jsonl, page, perfetto, tables
from app.export.marks import Clock, Count, Dropped, Instant, Item, Slice, Track
from app.export.redact import Redacted, Redactor
from app.export.source import Source
from app.export.tracks import items
from app.replaying.excerpt import NOTHING, Excerpt

Node = tuple[str, Source]

APART: Final = frozenset({"jsonl"})
"""Formats that hold one node only: of several there is a file each."""

FLOWS: Final = 1 << 42
"""Flows of one node, in their numbers; some thousand nodes fit into what a browser can count."""

ZIP: Final = "application/zip"

_OTHER: Final = re.compile(r"[^\w.-]+", re.ASCII)


def nodes_in(
    excerpts: Sequence[Excerpt], *, whole: bool, counted: Callable[[Source], Source]
) -> list[Node]:
    """Those that have anything in the stretch; ``whole``: it is all there is.

    Raises:
        RecordingError: none has.
    """
    there = [one for one in excerpts if whole or one.has_any()]
    if not there:
        raise RecordingError(NOTHING)
    return [(one.node, counted(one)) for one in there]


def redacted(nodes: Sequence[Node], redactor: Redactor) -> list[Node]:
    """Without names; all of them are known before the first one is written."""
    for name, _source in nodes:
        redactor.meet("node", name)
    sources = [Redacted(source, redactor) for _name, source in nodes]
    return [
        (redactor.scrub(name), source)
        for (name, _source), source in zip(nodes, sources, strict=True)
    ]


def one_file(
    nodes: Sequence[Node],
    format_: str,
    origin: int,
    table: str = "",
    since_t: int | None = None,
) -> Iterator[bytes]:
    """All nodes in one file of a format that can hold them, which is not one of ``APART``.

    Args:
        nodes: their names and records.
        format_: its name.
        origin: wall time (ns) at time 0 of the clock of all.
        table: which one, of ``csv``.
        since_t: what is before is only there to begin from (ns), on a page.
    """
    if format_ == "csv":
        return tables.of_nodes(nodes, table)
    if format_ == "html":
        zero = since_t or 0
        return page.page_of_nodes(nodes, (zero, origin + zero), since_t)
    if format_ == "chrome":
        told = {
            "title": ", ".join(name for name, _source in nodes),
            "simulated": all(source.simulated for _name, source in nodes),
        }
        return chrome.written(drawn(nodes, nested=False), told)
    return perfetto.written(drawn(nodes, nested=True))


def drawn(nodes: Sequence[Node], *, nested: bool) -> Iterator[Item]:
    """What to draw of all nodes, one after another: their tracks have numbers of their own.
    ``nested``: below a track of the node; else its name stands before those of its groups."""
    last = 0
    for place, (name, source) in enumerate(nodes):
        root = last = last + 1
        if nested:
            yield Track(root, name)
        for item in items(source.records()):
            match item:
                case Track():
                    last = max(last, item.id + root)
                    parent = item.parent + root if item.parent else root if nested else 0
                    told = item.name if nested or item.parent else f"{name}: {item.name}"
                    yield Track(item.id + root, told, parent, item.counter)
                case Slice() | Instant():
                    flows = tuple(flow + place * FLOWS for flow in item.flows)
                    yield msgspec.structs.replace(item, track=item.track + root, flows=flows)
                case Count():
                    yield msgspec.structs.replace(item, track=item.track + root)
                case Dropped():
                    yield Dropped(tuple(track + root for track in item.tracks))
                case Clock():
                    # It is one clock.
                    if not place:
                        yield item


def each_apart(nodes: Sequence[Node]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """A file of JSON lines for each node: its name, and what is in it."""
    taken: set[str] = set()
    for name, source in nodes:
        yield f"{_free(_safe(name), taken)}.jsonl", jsonl.lines(source)


def archive(files: Iterator[tuple[str, Iterator[bytes]]]) -> Iterator[bytes]:
    """A ZIP archive of files, piece by piece."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, pieces in files:
            # The time of an entry would tell when it was made, and nothing of what is in it.
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            with packed.open(entry, "w", force_zip64=True) as file:
                for piece in pieces:
                    file.write(piece)
                    yield sink.take()
    yield sink.take()


class _Sink:
    """Takes what an archive writes, which looks back at nothing."""

    def __init__(self) -> None:
        self._data = bytearray()

    def write(self, data: bytes) -> int:
        self._data += data
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """There is nothing to be closed."""

    def take(self) -> bytes:
        data = bytes(self._data)
        self._data.clear()
        return data


def _safe(name: str) -> str:
    """A file's name of a node's, which may be anything."""
    stem = name.removesuffix(".jsonl")
    return _OTHER.sub("-", stem).strip("-.")[:80] or "node"


def _free(name: str, taken: set[str]) -> str:
    number = 1
    free = name
    while free.lower() in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free.lower())
    return free
