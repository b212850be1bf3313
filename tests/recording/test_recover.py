"""``plegscope recover``: a clean file of what can be read, and a word on what cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import main
from app.errors import RecordingError
from app.recording.recover import recover
from app.recording.rerun import compare
from tests.recording.recorded import read, storm, told
from tests.recording.test_recorder import note


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "whole.mcap"
    path.write_bytes(storm())
    return path


def broken(path: Path, at: int) -> Path:
    raw = bytearray(path.read_bytes())
    raw[at] ^= 0xFF
    out = path.with_name("broken.mcap")
    out.write_bytes(raw)
    return out


def test_an_undamaged_file_comes_out_the_same(whole: Path, tmp_path: Path) -> None:
    done = recover(whole, tmp_path / "clean.mcap")
    assert (done.damaged, done.finished, done.foreign) == (0, True, 0)
    assert read(tmp_path / "clean.mcap")[1] == read(whole)[1]
    again = recover(tmp_path / "clean.mcap", tmp_path / "again.mcap")
    assert again.messages == done.messages
    assert (tmp_path / "again.mcap").read_bytes() == (tmp_path / "clean.mcap").read_bytes()


def test_what_was_cut_off_is_ended(whole: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(storm()[:100_000])
    done = recover(cut, tmp_path / "clean.mcap")
    recording, items = read(tmp_path / "clean.mcap")
    assert (recording.damaged, recording.finished) == (0, True)
    assert told(items) == told(read(whole)[1])[: len(told(items))]
    assert len(told(items)) > 0
    assert not done.finished
    assert compare([tmp_path / "clean.mcap"]).differs is None


def test_a_damaged_chunk_is_left_out_and_inputs_know_of_the_hole(
    whole: Path, tmp_path: Path
) -> None:
    done = recover(broken(whole, 60_000), tmp_path / "clean.mcap")
    (damage,) = done.damage
    assert damage.lost
    assert damage.offset <= 60_000 < damage.offset + damage.length
    same = compare([tmp_path / "clean.mcap"])
    assert same.hole == same.inputs + 1


def test_the_command_tells_what_it_found(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "clean.mcap"
    assert main(["recover", str(broken(whole, 60_000)), "-o", str(out)]) == 0
    text = capsys.readouterr().out
    assert "a chunk is damaged and could not be read" in text
    assert "At byte " in text
    assert main(["recover", str(whole), "-o", str(out)]) == 1
    assert "exists already. Give another name after -o." in capsys.readouterr().err
    assert main(["recover", str(whole)]) == 1
    assert "-o: give the clean file's name" in capsys.readouterr().err
    out.unlink()
    assert main(["recover", str(whole), "-o", str(out)]) == 0
    assert "is not damaged." in capsys.readouterr().out


def test_of_a_file_that_was_not_ended_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = storm()
    reader_end = raw.rindex(b"\x0f\x04\0\0\0\0\0\0\0")
    (tmp_path / "cut.mcap").write_bytes(raw[:reader_end])
    assert main(["recover", str(tmp_path / "cut.mcap"), "-o", str(tmp_path / "out.mcap")]) == 0
    assert "was not ended: plegscope was stopped by force" in capsys.readouterr().out


def test_where_nothing_can_be_read_no_file_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.mcap").write_bytes(storm()[:2000])
    with pytest.raises(RecordingError, match=r"Nothing can be read in .* the file ends within"):
        recover(tmp_path / "a.mcap", tmp_path / "out.mcap")
    (tmp_path / "text.mcap").write_text(note(1).text)
    with pytest.raises(RecordingError, match="is no MCAP file"):
        recover(tmp_path / "text.mcap", tmp_path / "out.mcap")
    assert not (tmp_path / "out.mcap").exists()


def test_half_a_copy_is_not_left_behind(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.recording.segment.os.pwrite", full)
    with pytest.raises(RecordingError, match=r"cannot be written \(No space left on device\)"):
        recover(whole, tmp_path / "out.mcap")
    assert not (tmp_path / "out.mcap").exists()
