"""Chrome's JSON trace (the Trace Event Format): opens in Perfetto's page and in chrome://tracing.

A pod is a process, its tracks are threads. Times are microseconds of the session; ``otherData``
says which wall time its beginning was. Only slices can carry arrows there, so an instant is a slice
of one nanosecond.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from app import __version__
from app.export.marks import (
    MOST_REQUESTS,
    Clock,
    Count,
    Dropped,
    Instant,
    Item,
    Slice,
    Track,
)
from app.export.source import Source
from app.export.tracks import items
from app.hub.encode import encode

BATCH: Final = 64 * 1024
"""Bytes that are handed out at once."""

Event = dict[str, Any]


def trace(source: Source) -> Iterator[bytes]:
    """The trace, piece by piece."""
    told = {"title": source.title, "simulated": source.simulated}
    return written(items(source.records()), told)


def written(drawn: Iterable[Item], told: dict[str, Any]) -> Iterator[bytes]:
    """A trace of what was drawn, piece by piece; ``told``: what is said of the whole."""
    writer = _Writer()
    piece = bytearray(b'{"displayTimeUnit":"ms","otherData":')
    piece += encode({"generator": f"plegscope {__version__}", **told})
    piece += b',"traceEvents":['
    first = True
    for item in drawn:
        for event in writer.events(item):
            piece += b"\n" if first else b",\n"
            piece += encode(event)
            first = False
        if len(piece) >= BATCH:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece) + b"\n]}\n"


class _Writer:
    def __init__(self) -> None:
        self._places: dict[int, tuple[int, int]] = {}
        """Track to process and thread."""
        self._names: dict[int, str] = {}
        self._threads: dict[int, int] = {}
        self._flowing: dict[int, None] = {}

    def events(self, item: Item) -> Iterator[Event]:
        match item:
            case Track():
                yield from self._track(item)
            case Slice():
                yield from self._slice(item, item.start, item.end - item.start)
            case Instant():
                yield from self._slice(item, item.t, 1)
            case Count():
                pid, tid = self._places[item.track]
                name = self._names[item.track]
                at = {"pid": pid, "tid": tid, "ts": _us(item.t)}
                yield {"ph": "C", "name": name, **at, "args": {"requests": item.value}}
            case Dropped():
                for track in item.tracks:
                    self._places.pop(track, None)
            case Clock():
                yield {
                    "ph": "M",
                    "name": "plegscope_clock",
                    "pid": 0,
                    "args": {"t_ns": str(item.t), "wall_ns": str(item.wall)},
                }

    def _track(self, track: Track) -> Iterator[Event]:
        if not track.parent:
            known = track.id in self._places
            self._places[track.id] = (track.id, 0)
            yield _named("process_name", track.id, 0, track.name)
            if not known:
                yield _named("thread_name", track.id, 0, "itself")
                order = {"sort_index": track.id}
                yield {"ph": "M", "name": "process_sort_index", "pid": track.id, "args": order}
            return
        pid = track.parent
        self._places[track.id] = (pid, track.id)
        if track.counter:
            self._names[track.id] = track.name
            return
        yield _named("thread_name", pid, track.id, track.name)
        order = {"sort_index": track.id}
        yield {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": track.id, "args": order}

    def _slice(self, item: Slice | Instant, start: int, duration: int) -> Iterator[Event]:
        pid, tid = self._places[item.track]
        at = {"pid": pid, "tid": tid, "ts": _us(start)}
        yield {"ph": "X", "name": item.name, **at, "dur": _us(duration), "args": item.args}
        for flow in item.flows:
            # "t" goes on what an "s" of the same number began; which comes first is told by ts.
            ph = "t" if flow in self._flowing else "s"
            self._flowing[flow] = None
            if len(self._flowing) > MOST_REQUESTS:
                del self._flowing[next(iter(self._flowing))]
            yield {"ph": ph, "bp": "e", "id": flow, "cat": "chain", "name": "chain", **at}


def _named(kind: str, pid: int, tid: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}


def _us(ns: int) -> float:
    """Microseconds; exact to the nanosecond for a hundred days of session."""
    return ns / 1000
