"""A small disk that is really full: recording says so, counts what it lost, and goes on with room.

The disk is a tmpfs of its own, which takes root to mount.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.engine.inputs import TimerFired
from app.engine.records import Note
from app.recording.format import Loss
from app.recording.reading import Fed, Recording, Told
from app.recording.recorder import Recorder
from app.recording.target import OneFile
from tests.commands import Command, environment, get, until
from tests.patience import PATIENCE_S
from tests.recording.recorded import info, read, told

SIZE = 1024 * 1024
CAPACITY = 400


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one MiB, of this user alone."""
    place = tmp_path / "disk"
    place.mkdir()
    options = f"size={SIZE},mode=700"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "none", place],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no disk can be mounted here ({done.stderr.strip()}): run it as root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path, left: int) -> Path:
    """Somebody else's file, beside which so many bytes are left, or fewer if others write too."""
    seen = os.statvfs(disk)
    ballast = disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        missing = seen.f_bavail * seen.f_frsize - left
        while missing > 0 or left == 0:
            missing -= file.write(bytes(max(1, min(missing, 4096))))
    return ballast


def test_what_is_lost_on_a_full_disk_is_counted_and_the_rest_is_there(disk: Path) -> None:
    path = disk / "a.mcap"
    recorder = Recorder(info(), OneFile(path), flush_s=0.01, capacity=CAPACITY)
    ballast = fill(disk, left=128 * 1024)
    given = 0

    def give(count: int) -> None:
        nonlocal given
        for _ in range(count):
            given += 1
            # What packs badly, so that it fills.
            text = os.urandom(500).hex()
            recorder.took(TimerFired(t=given, wall=given, timer="health", token=given))
            recorder.made()
            recorder.on_record(Note(seq=given, t=given, wall=given, level="info", text=text))

    def trouble() -> str:
        give(20)
        return recorder.state().trouble

    assert until(trouble, "the disk to be full") == "No space left on device"
    began = time.monotonic()
    give(2 * CAPACITY)
    # It would be until there is room.
    assert time.monotonic() - began < PATIENCE_S
    assert recorder.state().lost > CAPACITY
    ((level, stopped), *_rest) = recorder.news()
    assert level == "warning"
    assert stopped.startswith("Recording has stopped (No space left on device). It is tried again")

    def whole() -> bool:
        """As far as it came; but for the moment in which it is tried again."""
        recording, items = read(path)
        assert not recording.finished
        numbers = [one.seq for one in told(items)]
        return not recording.damaged and numbers == list(range(1, len(numbers) + 1))

    until(whole, "a file that is whole")

    ballast.unlink()
    until(lambda: (now := recorder.state()).well and now.waiting == 0, "the recorder to be well")
    give(1)
    assert recorder.close(PATIENCE_S)
    news = [text for _level, text in recorder.news()]
    assert "Recording goes on." in news
    assert any(text.startswith("The recorder could not keep ") for text in news)
    recording, items = read(path)
    assert (recording.damaged, recording.finished) == (0, True)
    losses = [one for one in items if isinstance(one, Loss)]
    assert all(loss.reason == "No space left on device" for loss in losses)
    records = [one.record.seq for one in items if isinstance(one, Told)]
    inputs = [one.number for one in items if isinstance(one, Fed)]
    assert len(records) + sum(loss.records for loss in losses) == given
    assert len(inputs) + sum(loss.inputs for loss in losses) == given
    assert recorder.state().lost == sum(loss.records + loss.inputs for loss in losses) > CAPACITY
    # Each input that is there has the number that it was fed with.
    assert (records[-1], inputs[-1]) == (given, given)


def test_a_demo_whose_disk_is_full_goes_on_and_later_records_again(disk: Path) -> None:
    running = Command(
        "demo", "--port", "0", "--no-browser", "--scenario", "storm",
        env=environment(XDG_STATE_HOME=str(disk / "state")),
    )  # fmt: skip
    try:
        base = running.address().rstrip("/")

        def state() -> dict[str, Any]:
            return dict(get(f"{base}/api/v1/state").json())

        def trouble() -> str:
            now = state()["recording"]
            return "" if now["well"] else str(now["trouble"])

        until(lambda: state()["recording"]["bytes_total"] > 0, "some bytes to be written")
        ballast = fill(disk, left=0)
        told_of = until(trouble, "the disk to be full")
        assert told_of in ("No space left on device", "less than 5 % of the disk are free")
        before = state()["last_seq"]
        until(lambda: state()["last_seq"] > before + 20, "the demo to go on")
        ballast.unlink()
        until(lambda: bool(state()["recording"]["well"]), "the recorder to be well")
        assert state()["recording"]["lost"] == 0
        running.process.send_signal(signal.SIGTERM)
        assert running.ended() == 0
    finally:
        running.close()
    (path,) = (disk / "state" / "plegscope" / "flight").glob("*.mcap")
    with Recording(path) as recording:
        items = list(recording.items())
        assert (recording.damaged, recording.finished) == (0, True)
    numbers = [one.seq for one in told(items)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > before + 20
