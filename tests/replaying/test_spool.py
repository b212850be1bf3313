"""Pieces in a private file: found at once, bounded, gone with the process."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from app.errors import RecordingError
from app.replaying.spool import Full, Spool


def test_what_was_put_is_got_by_its_number() -> None:
    spool = Spool()
    texts = [bytes([65 + n]) * n for n in range(1, 6)]
    for n, text in enumerate(texts):
        spool.put(text, 10 * n + 1, 100 * n)
    assert [spool.get(n) for n in range(5)] == texts
    assert spool.span(3) == (31, 300)
    assert len(spool) == 5
    for number in (-1, 5):
        with pytest.raises(IndexError):
            spool.get(number)


def test_the_piece_that_holds_a_record_is_found() -> None:
    spool = Spool()
    for first in (1, 11, 21):
        spool.put(b"x", first, first)
    assert [spool.holding(seq) for seq in (0, 1, 10, 11, 20, 21, 99)] == [0, 0, 0, 1, 1, 2, 2]


def test_it_does_not_grow_for_ever() -> None:
    spool = Spool(most_bytes=10)
    spool.put(b"123456", 1, 1)
    with pytest.raises(Full, match="more than 0 MiB"):
        spool.put(b"12345", 2, 2)
    assert len(spool) == 1


def test_it_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spool = Spool()
    spool.put(b"secret", 1, 1)
    assert list(tmp_path.iterdir()) == []
    assert spool.get(0) == b"secret"


def test_no_place_for_it_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(RecordingError, match="There is no room to lay out a recording"):
        Spool()
