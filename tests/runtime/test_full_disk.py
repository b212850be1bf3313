"""A small disk that is really full: recording says so, counts what it lost, and goes on with room.

The disk is a tmpfs of its own, which takes root to mount.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.engine.inputs import TimerFired
from app.engine.records import Note
from app.recording.format import Loss
from app.recording.reading import Fed, Recording, Told
from app.recording.recorder import Recorder
from app.recording.target import OneFile
from tests.commands import Command, environment
from tests.recording.recorded import info, read, told

SIZE = 1024 * 1024
PATIENCE_S = 60.0
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


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    tick = threading.Event()
    while not what():
        assert time.monotonic() < deadline, "it did not come to pass"
        tick.wait(0.02)


def fill(disk: Path, left: int) -> Path:
    """Somebody else's file, beside which so many bytes are left."""
    seen = os.statvfs(disk)
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(seen.f_bavail * seen.f_frsize - left))
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

    def full() -> bool:
        give(20)
        return not recorder.state().well

    wait_for(full)
    assert recorder.state().trouble == "No space left on device"
    began = time.monotonic()
    give(2 * CAPACITY)
    assert time.monotonic() - began < 5
    assert recorder.state().lost > CAPACITY
    ((level, stopped), *_rest) = recorder.news()
    assert level == "warning"
    assert stopped.startswith("Recording has stopped (No space left on device). It is tried again")
    # As far as it came it is whole, even now.
    recording, items = read(path)
    assert (recording.damaged, recording.finished) == (0, False)
    assert [one.seq for one in told(items)] == list(range(1, len(told(items)) + 1))

    ballast.unlink()
    wait_for(lambda: recorder.state().well and recorder.state().waiting == 0)
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
            return dict(httpx.get(f"{base}/api/v1/state").json())

        wait_for(lambda: state()["recording"]["bytes_total"] > 0)
        ballast = fill(disk, left=0)
        wait_for(lambda: not state()["recording"]["well"])
        before = state()["last_seq"]
        wait_for(lambda: state()["last_seq"] > before + 20)
        told_of = state()["recording"]["trouble"]
        assert told_of in ("No space left on device", "less than 5 % of the disk are free")
        ballast.unlink()
        wait_for(lambda: bool(state()["recording"]["well"]))
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
