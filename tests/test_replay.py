"""A recorded journal: what can be read is shown, what cannot is counted and told."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app import replay
from app.engine.records import Note, Record, RelistFinished
from app.errors import RecordingError
from app.replay import RecordedSession, read_journal
from tests.engine.director import play


def journal(seed: int = 3) -> list[Record]:
    return [
        msgspec.structs.replace(record, seq=number)
        for number, record in enumerate(play(seed, acts=60).stage.records, 1)
    ]


def written(path: Path, records: list[Record], *more: bytes) -> Path:
    lines = [msgspec.json.encode(record) for record in records]
    path.write_bytes(b"".join(line + b"\n" for line in (*lines, *more)))
    return path


def test_what_was_written_is_read_again_record_by_record(tmp_path: Path) -> None:
    records = journal()
    reading = read_journal(written(tmp_path / "a.jsonl", records))
    assert reading.records == records
    assert (reading.unreadable, reading.line) == (0, 0)


def test_a_summary_and_blank_lines_are_no_damage(tmp_path: Path) -> None:
    records = journal()
    reading = read_journal(written(tmp_path / "a.jsonl", records, b"", b'{"kind":"summary","x":1}'))
    assert (len(reading.records), reading.unreadable) == (len(records), 0)


@pytest.mark.parametrize(
    "bad",
    [b"garbage", b"{", b'{"kind":"nobody","t":1,"wall":1}', b'{"kind":"note"}', b"\xff\xfe", b"[]"],
)
def test_a_line_that_cannot_be_read_is_counted_and_the_rest_is_shown(
    tmp_path: Path, bad: bytes
) -> None:
    records = journal()
    path = written(tmp_path / "a.jsonl", records[:5], bad)
    with path.open("ab") as file:
        file.writelines(msgspec.json.encode(record) + b"\n" for record in records[5:])
    reading = read_journal(path)
    assert reading.records == records
    assert (reading.unreadable, reading.line) == (1, 6)


def test_a_line_without_end_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "MOST_LINE", 4096)
    reading = read_journal(written(tmp_path / "a.jsonl", journal(), b"x" * 10_000))
    assert reading.unreadable == 3


def test_of_a_huge_file_the_newest_records_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "MOST_RECORDS", 10)
    records = journal()
    assert read_journal(written(tmp_path / "a.jsonl", records)).records == records[-10:]


def test_no_file_and_no_record_are_sentences_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"cannot be read .*watch --format jsonl"):
        read_journal(tmp_path / "none.jsonl")
    with pytest.raises(RecordingError, match="cannot be read"):
        read_journal(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(RecordingError, match="holds no record"):
        read_journal(tmp_path / "empty.jsonl")


def test_the_session_stands_still_at_the_last_record(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", journal(), b"garbage")
    session = RecordedSession(path, read_journal(path))
    session.play()
    state = session.state()
    last = session.journal.newest(1)[0]
    assert isinstance(last, Note)
    assert "1 lines of a.jsonl could not be read" in last.text
    assert (state.ended, state.engine.t, state.wall) == (True, last.t, last.wall)
    assert state == session.state()
    relists = [r for r in session.journal.since(0) if isinstance(r, RelistFinished)]
    newest = [r.relist for r in relists if r.scope == "global"][-1]
    assert state.engine.last_global is not None
    assert state.engine.last_global.relist == newest
