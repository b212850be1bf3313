"""Somebody else's MCAP reader opens our files, and finds in them all that it needs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from mcap.exceptions import EndOfFile
from mcap.reader import McapReader, make_reader
from mcap.stream_reader import StreamReader

from app.cri.pb import cri_pb2
from app.recording.format import TOPICS
from app.recording.recorder import Recorder
from app.recording.target import OneFile
from tests.recording.recorded import SECOND, fed, info, read, record_scenario, storm, told
from tests.recording.test_recorder import note


@pytest.fixture
def theirs() -> McapReader:
    return make_reader(io.BytesIO(storm()), validate_crcs=True)


def test_it_counts_what_we_count(theirs: McapReader, tmp_path: Path) -> None:
    (tmp_path / "a.mcap").write_bytes(storm())
    _recording, items = read(tmp_path / "a.mcap")
    summary = theirs.get_summary()
    assert summary is not None
    assert summary.statistics is not None
    counts = summary.statistics.channel_message_counts
    by_topic = {summary.channels[number].topic: count for number, count in counts.items()}
    assert by_topic["/plegscope/inputs"] == len(fed(items))
    assert summary.statistics.message_count == sum(1 for _ in theirs.iter_messages())
    assert summary.statistics.chunk_count == len(summary.chunk_indexes) > 1
    assert {channel.topic for channel in summary.channels.values()} == set(TOPICS.values())


def test_it_finds_records_by_topic_and_time(theirs: McapReader, tmp_path: Path) -> None:
    (tmp_path / "a.mcap").write_bytes(storm())
    recording, items = read(tmp_path / "a.mcap")
    assert recording.info is not None
    start = recording.info.origin + 10 * SECOND
    found = [
        json.loads(message.data)["seq"]
        for _schema, _channel, message in theirs.iter_messages(
            topics=["/plegscope/records"], starting_at=start, ending_before=start + 5 * SECOND
        )
    ]
    stream = ("stream", "note")
    right = [
        one.seq
        for one in told(items)
        if 10 * SECOND <= one.t < 15 * SECOND and one.__struct_config__.tag not in stream
    ]
    assert sorted(found) == right
    assert found


def test_every_record_carries_what_its_schema_names(theirs: McapReader) -> None:
    schemas: dict[str, Any] = {}
    for schema, channel, message in theirs.iter_messages():
        assert schema is not None
        if channel.topic.startswith("/cri/"):
            continue
        assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
        described = schemas.setdefault(schema.name, None) or json.loads(schema.data)
        schemas[schema.name] = described
        data = json.loads(message.data)
        if schema.name != "plegscope.Record":
            continue
        ref = described["discriminator"]["mapping"][data["kind"]]
        kind = described["$defs"][ref.rpartition("/")[2]]
        assert set(data) <= set(kind["properties"])
        assert set(kind["required"]) <= set(data)


def test_it_understands_events_with_nothing_but_the_file(tmp_path: Path) -> None:
    event = cri_pb2.ContainerEventResponse(
        container_id="c1", container_event_type=cri_pb2.CONTAINER_STOPPED_EVENT, created_at=5
    )
    recorder = Recorder(info(), OneFile(tmp_path / "a.mcap"), flush_s=0.01)
    recorder.on_event(1, 2, event.SerializeToString())
    assert recorder.close()
    with (tmp_path / "a.mcap").open("rb") as file:
        ((schema, _channel, message),) = make_reader(file).iter_messages(topics=["/cri/events"])
    assert schema is not None
    assert schema.encoding == "protobuf"
    pool = descriptor_pool.DescriptorPool()
    for described in descriptor_pb2.FileDescriptorSet.FromString(schema.data).file:
        pool.Add(described)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name))
    again = kind.FromString(message.data)
    assert (again.container_id, again.container_event_type) == ("c1", 2)  # type: ignore[attr-defined]


def test_a_file_that_was_cut_off_is_read_by_streaming_up_to_there(tmp_path: Path) -> None:
    recorder = Recorder(info(), OneFile(tmp_path / "a.mcap"), flush_s=0.01)
    for number in range(1, 50):
        recorder.on_record(note(number))
    assert recorder.close()
    raw = (tmp_path / "a.mcap").read_bytes()
    cut = raw[: raw.rindex(b"\x0f\x04\0\0\0\0\0\0\0")]
    kinds: list[str] = []
    found = StreamReader(io.BytesIO(cut), validate_crcs=True).records
    with pytest.raises(EndOfFile):
        kinds.extend(type(record).__name__ for record in found)
    assert kinds.count("Message") == 50


@pytest.mark.parametrize("name", ["churn", "runtime-restart"])
def test_the_same_holds_for_others(name: str, tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", name, seconds=40)
    with (tmp_path / "a.mcap").open("rb") as file:
        theirs = make_reader(file, validate_crcs=True)
        assert theirs.get_header().profile == "plegscope"
        times = [message.log_time for _s, _c, message in theirs.iter_messages()]
    assert times == sorted(times)
