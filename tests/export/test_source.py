"""Sources give the same records as often as they are asked, and say what is missing."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.engine.records import Gap
from app.errors import RecordingError
from app.export.source import JsonLines, RecordingFile, open_source
from app.recording.format import Loss
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from tests.build import note
from tests.export.made import kept, played, scenario, story
from tests.recording.recorded import info


def lines(path: Path, *records: object) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in records))
    return path


def test_a_recording_is_read_as_often_as_somebody_asks(tmp_path: Path) -> None:
    source = open_source(scenario(tmp_path))
    assert isinstance(source, RecordingFile)
    assert tuple(source.records()) == tuple(source.records()) == played()[1]
    assert source.missing == []
    assert source.simulated
    assert "loses half" in source.title


def test_json_lines_are_read_as_often_as_somebody_asks(tmp_path: Path) -> None:
    source = open_source(lines(tmp_path / "a.jsonl", *story(), {"kind": "summary"}))
    assert isinstance(source, JsonLines)
    assert tuple(source.records()) == tuple(source.records()) == story()
    assert source.missing == []


def test_lines_that_are_no_records_are_counted(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", *story())
    path.write_bytes(path.read_bytes() + b"\xff\n[]\n" + b"[" * 200_000 + b"\n")
    source = open_source(path)
    assert tuple(source.records()) == story()
    assert source.missing == ["3\xa0lines could not be read."]


def test_what_a_recorder_lost_is_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    scribe = Scribe(info(), lambda _part: Segment(path))
    scribe.put_record(note(1), by_engine=False)
    scribe.put_loss(Loss(t=9, wall=9, from_t=5, records=7, reason="no room"))
    scribe.turn()
    last = list(open_source(path).records())[-1]
    assert isinstance(last, Gap)
    assert (last.from_t, last.t, last.count) == (5, 9, 7)


@pytest.mark.parametrize("content", [b"", b"nothing\n", b"\x89MCAP0\r\n"])
def test_a_file_without_records_is_refused_with_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=r"\.$"):
        list(open_source(path).records())


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no regular file"):
        list(open_source(tmp_path).records())


def test_records_in_memory_are_a_source() -> None:
    source = kept(*story())
    assert tuple(source.records()) == tuple(source.records()) == story()
