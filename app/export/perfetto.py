"""A Perfetto trace: opens at ui.perfetto.dev, and in whatever reads Perfetto's protobufs.

Each packet is written as a trace of its own; joined, they are one. ``proto/perfetto.proto`` has
the messages.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from app.export.marks import Args, Clock, Count, Instant, Item, Slice, Track
from app.export.pb import perfetto_pb2 as pb
from app.export.source import Source
from app.export.tracks import items

SEQUENCE: Final = 1
CLEARED: Final = 1
"""Flag of the first packet: nothing was interned before it."""

BATCH: Final = 64 * 1024
"""Bytes that are handed out at once."""

_INT64: Final = 1 << 63


def trace(source: Source) -> Iterator[bytes]:
    """The trace, piece by piece."""
    return written(items(source.records()))


def written(drawn: Iterable[Item]) -> Iterator[bytes]:
    """A trace of what was drawn, piece by piece."""
    piece = bytearray()
    first = True
    for item in drawn:
        for packet in _packets(item):
            packet.trusted_packet_sequence_id = SEQUENCE
            if first:
                packet.sequence_flags = CLEARED
                first = False
            piece += pb.Trace(packet=[packet]).SerializeToString()
        if len(piece) >= BATCH:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _packets(item: Item) -> Iterator[pb.TracePacket]:
    match item:
        case Slice():
            begin = _event(item.track, pb.TrackEvent.TYPE_SLICE_BEGIN, item.name, item.args)
            begin.flow_ids.extend(map(_time, item.flows))
            yield pb.TracePacket(timestamp=_time(item.start), track_event=begin)
            end = pb.TrackEvent(type=pb.TrackEvent.TYPE_SLICE_END, track_uuid=item.track)
            yield pb.TracePacket(timestamp=_time(item.end), track_event=end)
        case Instant():
            event = _event(item.track, pb.TrackEvent.TYPE_INSTANT, item.name, item.args)
            event.flow_ids.extend(map(_time, item.flows))
            yield pb.TracePacket(timestamp=_time(item.t), track_event=event)
        case Count():
            count = pb.TrackEvent(
                type=pb.TrackEvent.TYPE_COUNTER,
                track_uuid=item.track,
                counter_value=min(item.value, _INT64 - 1),
            )
            yield pb.TracePacket(timestamp=_time(item.t), track_event=count)
        case Track():
            yield pb.TracePacket(track_descriptor=_track(item))
        case Clock():
            clock = pb.ClockSnapshot.Clock
            clocks = [
                clock(clock_id=pb.BUILTIN_CLOCK_BOOTTIME, timestamp=_time(item.t)),
                clock(clock_id=pb.BUILTIN_CLOCK_REALTIME, timestamp=_time(item.wall)),
            ]
            snapshot = pb.ClockSnapshot(
                clocks=clocks, primary_trace_clock=pb.BUILTIN_CLOCK_BOOTTIME
            )
            yield pb.TracePacket(timestamp=_time(item.t), clock_snapshot=snapshot)


def _track(track: Track) -> pb.TrackDescriptor:
    told = pb.TrackDescriptor(
        uuid=track.id,
        name=_text(track.name),
        child_ordering=pb.TrackDescriptor.EXPLICIT,
        sibling_order_rank=min(track.id, (1 << 31) - 1),
        # A pod that is made again under its name (of a StatefulSet) is another pod.
        sibling_merge_behavior=pb.TrackDescriptor.SIBLING_MERGE_BEHAVIOR_NONE,
    )
    if track.parent:
        told.parent_uuid = track.parent
    if track.counter:
        told.counter.unit_name = "requests"
    return told


def _event(track: int, kind: pb.TrackEvent.Type, name: str, args: Args) -> pb.TrackEvent:
    event = pb.TrackEvent(type=kind, track_uuid=track, name=_text(name), categories=["pleg"])
    for key, value in args.items():
        note = event.debug_annotations.add(name=key)
        if isinstance(value, bool):
            note.bool_value = value
        elif isinstance(value, int) and -_INT64 <= value < _INT64:
            note.int_value = value
        else:
            note.string_value = _text(str(value))
    return event


def _text(text: str) -> str:
    """Protobuf takes Unicode only."""
    return text.encode("utf-8", "replace").decode()


def _time(ns: int) -> int:
    """A time (ns) or a flow as the format can tell it; what lies before 0 lies at it."""
    return min(max(0, ns), 2 * _INT64 - 1)
