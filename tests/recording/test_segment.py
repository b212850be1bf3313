"""One file being written: after each step it is what it should be."""

from __future__ import annotations

import errno
import fcntl
import stat
from pathlib import Path

import pytest

from app.recording.packer import CHUNK_MESSAGES, Packer
from app.recording.segment import Packed, Segment
from app.recording.syncer import Syncer
from tests.recording.recorded import read


def packed(text: bytes = b'{"kind":"note","t":1,"wall":1,"level":"info","text":"x"}') -> Packed:
    packer = Packer()
    assert not packer
    packer.put(5, 1, 1, 1, text)
    assert packer
    return packer.take()


def test_a_file_grows_chunk_by_chunk_and_then_ends(tmp_path: Path) -> None:
    segment = Segment(tmp_path / "a.mcap")
    for number in range(1, 4):
        segment.append(packed())
        assert segment.sync(Syncer())
        assert segment.chunks == number
        assert segment.size == (tmp_path / "a.mcap").stat().st_size
        recording, items = read(tmp_path / "a.mcap")
        assert (len(items), recording.finished, recording.damaged) == (number, False, 0)
    segment.finish()
    recording, items = read(tmp_path / "a.mcap")
    assert (len(items), recording.finished, recording.damaged) == (3, True, 0)


def test_it_is_locked_while_it_is_written(tmp_path: Path) -> None:
    segment = Segment(tmp_path / "a.mcap")
    with (tmp_path / "a.mcap").open("rb") as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        segment.finish()
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_where_there_are_no_locks_it_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_given: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("app.recording.segment.fcntl.flock", none)
    segment = Segment(tmp_path / "a.mcap")
    segment.append(packed())
    segment.finish()
    assert len(read(tmp_path / "a.mcap")[1]) == 1


def test_without_a_beginning_there_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("app.recording.segment.os.pwrite", full)
    with pytest.raises(OSError, match="No space"):
        Segment(tmp_path / "a.mcap")
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_its_end_is_closed_and_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = Segment(tmp_path / "a.mcap")
    segment.append(packed())
    size = segment.size
    with monkeypatch.context() as patch:
        patch.setattr(
            "app.recording.segment.os.pwrite",
            lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")),
        )
        with pytest.raises(OSError, match="full"):
            segment.finish()
    segment.close()
    assert (tmp_path / "a.mcap").stat().st_size == size
    assert len(read(tmp_path / "a.mcap")[1]) == 1


def test_it_knows_whether_its_name_still_leads_to_it(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    segment = Segment(path)
    assert segment.is_there()
    path.rename(tmp_path / "b.mcap")
    assert not segment.is_there()
    path.write_text("another")
    assert not segment.is_there()
    segment.drop()
    assert path.read_text() == "another"
    assert stat.S_ISREG((tmp_path / "b.mcap").stat().st_mode)


def test_a_chunk_is_full_by_number_or_by_size() -> None:
    packer = Packer()
    assert not any(packer.put(1, 1, 1, 1, b"") for _ in range(CHUNK_MESSAGES - 1))
    assert packer.put(1, 1, 1, 1, b"")
    packer.take()
    assert not packer.put(1, 1, 1, 1, bytes(1000))
    assert packer.put(1, 1, 1, 1, bytes(1024 * 1024))


def test_times_beyond_what_can_be_written_are_put_within_it() -> None:
    packer = Packer()
    packer.put(1, 1, -5, -(1 << 80), b"")
    packer.put(1, 1, 1 << 80, 1 << 70, b"")
    chunk = packer.take()
    assert (chunk.start, chunk.end) == (0, (1 << 63) - 1)
