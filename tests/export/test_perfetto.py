"""Perfetto traces, read by Perfetto's own schema.

The package ``perfetto`` has the whole official schema; its trace processor is a program that it
would fetch when asked, so it is not asked. ``Reader`` does here what that program does with track
events: sorts them by time, nests slices on their tracks, joins flows.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from typing import Any

from app.engine.records import Lifecycle, Record, RelistFinished
from app.export.pb import perfetto_pb2
from app.export.perfetto import trace
from tests.build import SECOND, WALL, pod_gone, pod_seen
from tests.export.made import hostile, kept, numbered, played, story

official: Any = importlib.import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")


class Reader:
    """A trace as a viewer has it."""

    def __init__(self, data: bytes) -> None:
        told = official.Trace.FromString(data)
        assert told.SerializeToString() == data
        self.packets = list(told.packet)
        self.tracks: dict[int, Any] = {}
        self.slices: list[tuple[int, str, int, int]] = []
        """Track, name, start, end."""
        self.instants: list[tuple[int, str, int]] = []
        self.counts: list[tuple[int, int, int]] = []
        self.flows: dict[int, list[tuple[str, int]]] = defaultdict(list)
        events = []
        for packet in self.packets:
            assert packet.trusted_packet_sequence_id == 1
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.HasField("track_event"):
                assert packet.track_event.track_uuid in self.tracks
                events.append(packet)
        self._read(sorted(events, key=lambda packet: packet.timestamp))

    def _read(self, events: list[Any]) -> None:
        stacks: dict[int, list[tuple[str, int]]] = defaultdict(list)
        kinds = official.TrackEvent
        for packet in events:
            event, t = packet.track_event, packet.timestamp
            track = event.track_uuid
            if event.type == kinds.TYPE_SLICE_BEGIN:
                stacks[track].append((event.name, t))
            elif event.type == kinds.TYPE_SLICE_END:
                name, start = stacks[track].pop()
                self.slices.append((track, name, start, t))
            elif event.type == kinds.TYPE_INSTANT:
                self.instants.append((track, event.name, t))
            else:
                assert event.type == kinds.TYPE_COUNTER
                assert self.tracks[track].HasField("counter")
                self.counts.append((track, t, event.counter_value))
            for flow in event.flow_ids:
                self.flows[flow].append((event.name, t))
        assert not any(stacks.values()), "a slice has no end"

    def named(self, name: str) -> int:
        return next(uuid for uuid, track in self.tracks.items() if track.name == name)


def read(*records: Record) -> Reader:
    return Reader(b"".join(trace(kept(*records))))


def test_each_field_of_ours_is_the_official_one() -> None:
    for name, ours in perfetto_pb2.DESCRIPTOR.message_types_by_name.items():
        theirs = getattr(official, name).DESCRIPTOR
        for field in ours.fields:
            other = theirs.fields_by_name[field.name]
            assert (field.number, field.type, field.is_repeated) == (
                other.number,
                other.type,
                other.is_repeated,
            ), (name, field.name)
        for enum in ours.enum_types:
            known = theirs.enum_types_by_name[enum.name].values_by_name
            for value in enum.values:
                assert known[value.name].number == value.number
    for value in perfetto_pb2.DESCRIPTOR.enum_types_by_name["BuiltinClock"].values:
        assert official.BuiltinClock.Value(value.name) == value.number


def test_a_pod_is_a_track_with_a_child_for_each_container() -> None:
    found = read(*story())
    pod = found.named("shop/web-1")
    children = {track.name for track in found.tracks.values() if track.parent_uuid == pod}
    assert children == {"Requests", "Relists", "app c1"}
    assert found.tracks[pod].parent_uuid == 0


def test_a_pod_that_is_made_again_is_another_track() -> None:
    again = [pod_seen(), pod_gone(t=1), pod_seen("u2", t=2)]
    found = read(*numbered(*again))
    pods = [track for track in found.tracks.values() if track.name == "shop/web-1"]
    assert len(pods) == 2
    none = official.TrackDescriptor.SIBLING_MERGE_BEHAVIOR_NONE
    assert all(track.sibling_merge_behavior == none for track in pods)


def test_the_flow_of_a_stop_is_in_order() -> None:
    assert [name for name, _t in read(*story()).flows[1]] == [
        "stopped event",
        "request queued",
        "relist (evented_pleg)",
        "ContainerDied",
    ]


def test_in_a_whole_run_everything_is_where_the_records_have_it() -> None:
    records = played()[1]
    found = read(*records)
    relists = {(start, end) for _track, name, start, end in found.slices if "relist" in name}
    for one in records:
        if isinstance(one, RelistFinished):
            assert (one.started, one.t) in relists
        if isinstance(one, Lifecycle):
            assert any(
                (name, t) == (one.type, one.t) and one.container_id[:12] in found.tracks[track].name
                for track, name, t in found.instants
            )
        if isinstance(one, Lifecycle) and one.event is not None:
            names = [name for name, _t in found.flows[one.event]]
            assert names[0] == "stopped event"
            assert one.type in names
    global_relists = found.named("Global relists")
    assert len([1 for track, *_rest in found.slices if track == global_relists]) > 30
    assert found.counts


def test_the_clock_says_which_wall_time_it_is() -> None:
    snapshot = read(*story()).packets[0].clock_snapshot
    assert {clock.clock_id: clock.timestamp for clock in snapshot.clocks} == {
        official.BUILTIN_CLOCK_BOOTTIME: 0,
        official.BUILTIN_CLOCK_REALTIME: WALL,
    }


def test_what_a_record_says_is_on_its_mark() -> None:
    found = read(*story())
    event = next(
        packet.track_event for packet in found.packets if packet.track_event.name == "ContainerDied"
    )
    notes = {note.name: note for note in event.debug_annotations}
    assert notes["after_ns"].int_value == 4_000_000
    assert notes["new_state"].string_value == "exited"
    assert notes["is_sandbox"].HasField("bool_value")


def test_hostile_names_are_only_text() -> None:
    found = read(*hostile())
    assert any("</script>" in track.name for track in found.tracks.values())


def test_times_that_cannot_be_are_held_in_bounds() -> None:
    found = read(*numbered(pod_seen(t=-5), pod_seen("u2", t=2**64)))
    assert [t for _track, name, t in found.instants] == [0, 2**64 - 1]


def test_pieces_joined_are_one_trace() -> None:
    pieces = list(trace(kept(*played("storm")[1])))
    assert len(pieces) > 3
    assert len(Reader(b"".join(pieces)).slices) > 100
    assert max(end for *_rest, end in Reader(b"".join(pieces)).slices) > SECOND
