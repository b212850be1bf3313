"""The files that are played: what can be read is, what cannot is counted and told."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from app.engine.records import Gap, Note, Record
from app.errors import RecordingError
from app.recording import lines
from app.recording.format import Loss
from app.recording.recover import recover
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.replaying.sources import Source
from tests.engine.director import play
from tests.recording.recorded import info, record_scenario


def journal(seed: int = 3) -> list[Record]:
    return [
        msgspec.structs.replace(record, seq=number)
        for number, record in enumerate(play(seed, acts=60).stage.records, 1)
    ]


def written(path: Path, records: list[Record], *more: bytes) -> Path:
    lines = [msgspec.json.encode(record) for record in records]
    path.write_bytes(b"".join(line + b"\n" for line in (*lines, *more)))
    return path


def told(source: Source) -> list[Record]:
    return [record for record, opening in source.records() if not opening]


def test_what_was_written_is_read_again_record_by_record(tmp_path: Path) -> None:
    records = journal()
    source = Source(written(tmp_path / "a.jsonl", records))
    assert told(source) == records
    assert source.warnings == []
    assert source.peek() == records[0]


def test_a_summary_and_blank_lines_are_no_damage(tmp_path: Path) -> None:
    records = journal()
    source = Source(written(tmp_path / "a.jsonl", records, b"", b'{"kind":"summary","x":1}'))
    assert (len(told(source)), source.unreadable) == (len(records), 0)


@pytest.mark.parametrize(
    "bad",
    [b"garbage", b"{", b'{"kind":"nobody","t":1,"wall":1}', b'{"kind":"note"}', b"\xff\xfe", b"[]"],
)
def test_a_line_that_cannot_be_read_is_counted_and_the_rest_is_played(
    tmp_path: Path, bad: bytes
) -> None:
    records = journal()
    path = written(tmp_path / "a.jsonl", records[:5], bad)
    with path.open("ab") as file:
        file.writelines(msgspec.json.encode(record) + b"\n" for record in records[5:])
    source = Source(path)
    assert told(source) == records
    assert source.warnings == ["Line 6 of a.jsonl could not be read; what it told is missing here."]


def test_of_several_lines_that_cannot_be_read_the_first_is_named(tmp_path: Path) -> None:
    source = Source(written(tmp_path / "a.jsonl", journal()[:5], b"garbage\n{"))
    assert len(told(source)) == 5
    assert source.warnings == [
        "2 lines of a.jsonl could not be read, the first is line 6; what they told is missing here."
    ]


def test_a_line_without_end_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST_LINE", 4096)
    source = Source(written(tmp_path / "a.jsonl", journal(), b"x" * 10_000))
    assert told(source)
    assert source.unreadable == 3


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "fifo"])
def test_what_may_never_end_or_begin_is_not_read(path: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(RecordingError, match=r"cannot be read \(it is no regular file\)"):
        Source(tmp_path / path)


@pytest.mark.parametrize("name", ["x" * 5000, "none.jsonl", ""])
def test_a_name_that_leads_nowhere_is_a_sentence_with_a_way_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordingError, match=r"cannot be read .*record -o FILE.*--format jsonl"):
        Source(tmp_path / name)


def test_reading_ends_when_plegscope_does(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", journal())
    answers = iter([False] * 5)
    assert len(told(Source(path, lambda: next(answers, True)))) == 5
    record_scenario(tmp_path / "a.mcap", "storm", seconds=10)
    assert told(Source(tmp_path / "a.mcap", lambda: True)) == []


def test_a_recording_is_played_as_its_journal(tmp_path: Path) -> None:
    records = record_scenario(tmp_path / "a.mcap", "storm", seconds=60)
    source = Source(tmp_path / "a.mcap")
    assert told(source) == records
    assert source.warnings == []
    assert source.info is not None
    assert source.info.title == "A hundred ends at once, seed 7, in virtual time"


def test_what_is_damaged_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    record_scenario(path, "storm", seconds=60)
    raw = bytearray(path.read_bytes())
    raw[60_000] ^= 0xFF
    path.write_bytes(raw)
    source = Source(path)
    assert told(source)
    (warning,) = source.warnings
    assert "a chunk is damaged and could not be read" in warning


def test_what_the_recorder_lost_is_a_gap(tmp_path: Path) -> None:
    scribe = Scribe(info(), lambda _part: Segment(tmp_path / "a.mcap"))
    scribe.put_record(Note(seq=1, t=1, wall=1, level="info", text="a"), by_engine=False)
    scribe.put_loss(Loss(t=9, wall=9, from_t=2, records=5, inputs=3, reason="the disk was slow"))
    scribe.turn()
    assert told(Source(tmp_path / "a.mcap"))[1:] == [
        Gap(t=9, wall=9, hop="journal", count=5, from_t=2,
            reason="The recorder could not keep them: the disk was slow.")
    ]  # fmt: skip


def test_a_recording_is_the_same_while_it_is_written_and_once_it_was_recovered(
    tmp_path: Path,
) -> None:
    """A link that was made meanwhile is right the next day."""
    told = info(session="ab" * 8, command="demo", origin=5)
    path, cut = tmp_path / "a.mcap", tmp_path / "b.mcap"
    scribe = Scribe(told, lambda _part: Segment(path))
    records = iter(journal()[:6])
    scribe.put_record(next(records), by_engine=True)
    scribe.flush()
    digest = Source(path).digest
    for record in records:
        scribe.put_record(record, by_engine=True)
    scribe.flush()
    assert Source(path).digest == digest
    scribe.turn()
    assert Source(path).digest == digest
    cut.write_bytes(path.read_bytes()[:-40])
    recover(cut, tmp_path / "c.mcap")
    assert Source(tmp_path / "c.mcap").digest == Source(cut).digest == digest
    # Another part of the session, another session, and one that begins elsewhere are others.
    other = msgspec.structs.replace(told, session="cd" * 8)
    for number, (whose, skipped) in enumerate([(told, 0), (told, 1), (other, 0)]):
        there = tmp_path / f"{number}.mcap"
        scribe = Scribe(whose, lambda _part, there=there: Segment(there))  # type: ignore[misc]
        if not number:
            scribe.leave()
            scribe._part = 1
        for record in journal()[skipped:]:
            scribe.put_record(record, by_engine=True)
        scribe.turn()
        assert Source(there).digest != digest


def test_a_digest_tells_files_of_one_name_apart(tmp_path: Path) -> None:
    one = Source(written(tmp_path / "a.jsonl", journal())).digest
    assert Source(written(tmp_path / "b.jsonl", journal())).digest == one
    assert Source(written(tmp_path / "a.jsonl", journal(4))).digest != one
