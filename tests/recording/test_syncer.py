"""The disk is asked to hold what was written, and nobody waits for it."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from app.recording.syncer import Syncer
from tests.patience import PATIENCE_S


def settled(syncer: Syncer) -> None:
    assert syncer._thread is not None
    syncer._thread.join(PATIENCE_S)
    assert not syncer.busy


def test_one_at_a_time_and_its_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    go_on = threading.Event()

    def fdatasync(file: int) -> None:
        assert go_on.wait(PATIENCE_S)
        synced.append(os.fstat(file).st_ino)

    monkeypatch.setattr("app.recording.syncer.os.fdatasync", fdatasync)
    syncer = Syncer()
    with (tmp_path / "a").open("w") as first, (tmp_path / "b").open("w") as second:
        assert syncer.sync(first.fileno())
        assert syncer.busy
        assert not syncer.sync(second.fileno())
    # The file was closed meanwhile, and is synced all the same.
    go_on.set()
    settled(syncer)
    with (tmp_path / "b").open("w") as second:
        assert syncer.sync(second.fileno())
        settled(syncer)
    assert synced == [(tmp_path / name).stat().st_ino for name in "ab"]


def test_a_failure_is_told_once_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fdatasync(_file: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("app.recording.syncer.os.fdatasync", fdatasync)
    syncer = Syncer()
    with (tmp_path / "a").open("w") as file:
        assert syncer.sync(file.fileno())
        settled(syncer)
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            syncer.sync(file.fileno())
        monkeypatch.undo()
        assert syncer.sync(file.fileno())
        settled(syncer)
