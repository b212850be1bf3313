"""Files are new, private, and whole or not there."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import RecordingError
from app.export.output import write


def test_a_file_is_its_owners_alone(tmp_path: Path) -> None:
    out = tmp_path / "a"
    assert write(out, [b"one", b"two"]) == 6
    assert out.read_bytes() == b"onetwo"
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "a"
    out.write_bytes(b"mine")
    with pytest.raises(RecordingError, match="exists already"):
        write(out, [b"x"])
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(RecordingError):
        write(tmp_path / "link", [b"x"])
    assert out.read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


def test_half_a_file_is_removed(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"x" * 1_000_000
        raise RecordingError("It cannot be read. Give another.")

    with pytest.raises(RecordingError, match="cannot be read"):
        write(tmp_path / "a", pieces())
    assert not (tmp_path / "a").exists()


def test_where_nothing_can_be_written_a_sentence_says_so(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"cannot be written .*elsewhere\.$"):
        write(tmp_path / "no" / "a", [b"x"])
