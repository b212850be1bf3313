"""A recorded journal: what can be read is shown, what cannot is counted and told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from app import replay
from app.engine.records import Gap, Note, Record, RelistFinished
from app.errors import RecordingError
from app.recording.format import Loss
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.replay import RecordedSession, read, read_journal
from tests.commands import environment
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


def test_of_heavy_records_the_newest_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "MOST_WEIGHT", 1000)
    heavy: list[Record] = [
        Note(seq=n, t=n, wall=n, level="info", text="x" * 300) for n in range(1, 9)
    ]
    path = written(tmp_path / "a.jsonl", [*journal(), *heavy])
    assert read_journal(path).records == heavy[-3:]


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "fifo"])
def test_what_may_never_end_or_begin_is_not_read(path: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(RecordingError, match=r"cannot be read \(it is no regular file\)"):
        read_journal(tmp_path / path)


def test_a_name_that_is_no_path_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"cannot be read"):
        read_journal(tmp_path / ("x" * 5000))


def test_reading_ends_when_plegscope_does(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", journal())
    answers = iter([False] * 5)
    assert len(read_journal(path, lambda: next(answers, True)).records) == 5
    assert read_journal(path, lambda: True).records == []


@pytest.mark.parametrize("redirect", ["", ">/dev/full"])
def test_the_file_name_is_text_and_a_full_disk_a_sentence(redirect: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a\x1b[2J\n.jsonl", journal())
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirect}', "sh", sys.executable, "-m", "app", "replay",
         str(path), "--port", "0", "--no-browser", "--duration", "1s"],
        capture_output=True, text=True, check=False, timeout=30, env=environment(),
    )  # fmt: skip
    if redirect:
        assert done.returncode == 1
        assert done.stderr.startswith("plegscope: Standard output cannot be written: No space")
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("plegscope shows a\\x1b[2J\\n.jsonl, ")


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


def recording(path: Path, *, damage: int | None = None) -> Path:
    record_scenario(path, "storm", seconds=60)
    if damage is not None:
        raw = bytearray(path.read_bytes())
        raw[damage] ^= 0xFF
        path.write_bytes(raw)
    return path


def test_a_recording_is_shown_as_its_journal(tmp_path: Path) -> None:
    journal = record_scenario(tmp_path / "a.mcap", "storm", seconds=60)
    reading = read(tmp_path / "a.mcap")
    assert (reading.records, reading.warnings) == (journal, [])
    session = RecordedSession(tmp_path / "a.mcap", reading)
    session.play()
    assert session.journal.last_seq == len(journal)
    assert session.subject.simulated
    assert session.subject.title == ("a.mcap: A hundred ends at once, seed 7, in virtual time")
    assert session.state().ended


def test_what_is_damaged_in_a_recording_is_told_with_its_place(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.mcap", damage=60_000)
    reading = read(path)
    (warning,) = reading.warnings
    assert "a chunk is damaged and could not be read" in warning
    session = RecordedSession(path, reading)
    session.play()
    last = session.journal.newest(1)[0]
    assert isinstance(last, Note)
    assert last.text == warning


def test_what_the_recorder_lost_is_a_gap(tmp_path: Path) -> None:
    scribe = Scribe(info(), lambda _part: Segment(tmp_path / "a.mcap"))
    scribe.put_record(Note(seq=1, t=1, wall=1, level="info", text="a"), by_engine=False)
    scribe.put_loss(Loss(t=9, wall=9, from_t=2, records=5, inputs=3, reason="the disk was slow"))
    scribe.turn()
    assert read(tmp_path / "a.mcap").records[1:] == [
        Gap(t=9, wall=9, hop="journal", count=5, from_t=2,
            reason="The recorder could not keep them: the disk was slow.")
    ]  # fmt: skip


def test_of_a_huge_recording_the_newest_records_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "MOST_RECORDS", 10)
    journal = record_scenario(tmp_path / "a.mcap", "storm", seconds=10)
    assert read(tmp_path / "a.mcap").records == journal[-10:]


def test_a_recording_without_records_is_refused(tmp_path: Path) -> None:
    scribe = Scribe(info(), lambda _part: Segment(tmp_path / "a.mcap"))
    scribe.put_event(1, 1, b"raw")
    scribe.turn()
    with pytest.raises(RecordingError, match="holds no record: it is empty"):
        read(tmp_path / "a.mcap")


def test_reading_a_recording_ends_when_plegscope_does(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.mcap")
    assert read(path, lambda: True).records == []
