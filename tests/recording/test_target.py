"""The flight recorder keeps to its bounds, and touches nothing that is not its own."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest

from app.errors import RecordingError
from app.recording.recorder import Recorder
from app.recording.segment import Segment
from app.recording.target import Bounds, Flight, state_folder
from tests.recording.recorded import info, read, told
from tests.recording.test_recorder import note, wait_for

NOW = 1_800_000_000.0


DISK = 100_000
"""Bytes of the tests' disk."""


def flight(folder: Path, free: int = DISK, **bounds: float) -> Flight:
    chosen = Bounds(**bounds)  # type: ignore[arg-type]
    return Flight(
        folder, "watch", "0123abcd", chosen, wall_s=lambda: NOW, disk=lambda _: (free, DISK)
    )


def old(
    folder: Path, number: int, *, size: int = 1000, age_s: float = 0.0, command: str = "demo"
) -> Path:
    """A file of an earlier session."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"20270101T0000{number:02}Z-{command}-0123abcd-000001.mcap"
    path.write_bytes(bytes(size))
    os.utime(path, (NOW - age_s, NOW - age_s))
    return path


def test_its_folder_and_files_are_the_users_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        segment = flight(tmp_path / "state" / "plegscope" / "flight").open_file(1)
    finally:
        os.umask(before)
    assert segment.path.name == "20270115T080000Z-watch-0123abcd-000001.mcap"
    assert stat.S_IMODE(segment.path.stat().st_mode) == 0o600
    for folder in segment.path.parents[:3]:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    segment.drop()


def test_the_oldest_go_when_there_is_too_much(tmp_path: Path) -> None:
    files = [old(tmp_path, n, age_s=100 - n) for n in range(10)]
    flight(tmp_path, total_bytes=6000, file_bytes=1000).make_room()
    assert [path.exists() for path in files] == [False] * 5 + [True] * 5


def test_a_node_is_kept_before_a_demo(tmp_path: Path) -> None:
    """Whoever teaches on a machine that is watched does not lose what it recorded."""
    commands = ["watch", "record", "demo", "watch", "demo", "record"]
    files = [old(tmp_path, n, age_s=100 - n, command=each) for n, each in enumerate(commands)]
    flight(tmp_path, total_bytes=5000, file_bytes=1000).make_room()
    assert [path.exists() for path in files] == [True, True, False, True, False, True]
    flight(tmp_path, total_bytes=4000, file_bytes=1000).make_room()
    assert [path.exists() for path in files] == [False, True, False, True, False, True]


def test_what_is_too_old_goes(tmp_path: Path) -> None:
    files = [old(tmp_path, n, age_s=age) for n, age in enumerate((500.0, 200.0, 99.0, 0.0))]
    flight(tmp_path, age_s=100).open_file(1).drop()
    assert [path.exists() for path in files] == [False, False, True, True]


def test_a_clock_that_jumps_does_not_take_the_past_with_it(tmp_path: Path) -> None:
    files = [old(tmp_path, n, age_s=3 * 24 * 3600.0 - n) for n in range(5)]
    target = flight(tmp_path)
    for _ in range(10):
        target.make_room()  # as it is once a second
    assert all(path.exists() for path in files)
    target.open_file(1).drop()
    assert [path.exists() for path in files] == [False] * 2 + [True] * 3


def test_a_share_of_the_disk_stays_free(tmp_path: Path) -> None:
    files = [old(tmp_path, n, age_s=100 - n) for n in range(5)]
    target = Flight(
        tmp_path, "demo", "0123abcd", Bounds(free_share=0.05), wall_s=lambda: NOW,
        # Each of the files that went has freed its bytes.
        disk=lambda _: (2_500 + 1000 * sum(not path.exists() for path in files), DISK),
    )  # fmt: skip
    target.make_room()
    assert [path.exists() for path in files] == [False] * 3 + [True] * 2


def test_the_directory_is_read_now_and_then_only(tmp_path: Path) -> None:
    now, free = NOW, DISK
    target = Flight(
        tmp_path,
        "watch",
        "0123abcd",
        Bounds(total_bytes=6000, file_bytes=1000),
        wall_s=lambda: now,
        disk=lambda _: (free, DISK),
    )
    target.make_room()
    files = [old(tmp_path, n, age_s=100 - n) for n in range(10)]
    for later in (1, 9, 9.9):
        now = NOW + later
        target.make_room()
    assert all(path.exists() for path in files)
    now = NOW + 10
    target.make_room()
    assert [path.exists() for path in files] == [False] * 5 + [True] * 5
    # At once where the disk lacks room, where a file begins, and where the clock was put back.
    free = 4_000
    with pytest.raises(OSError, match="free"):
        target.make_room()
    assert not any(path.exists() for path in files)
    free = DISK
    files = [old(tmp_path, n, age_s=100 - n) for n in range(10)]
    target.open_file(1).drop()
    assert sum(path.exists() for path in files) == 5
    now -= 5
    files = [old(tmp_path, n, age_s=100 - n) for n in range(10)]
    target.make_room()
    assert sum(path.exists() for path in files) == 5


def test_where_nothing_is_left_to_drop_it_stops(tmp_path: Path) -> None:
    path = old(tmp_path, 1)
    with pytest.raises(OSError, match=r"less than 5 % of the disk are free"):
        flight(tmp_path, free=4_000).make_room()  # it has the 1,000 bytes, but they change nothing
    assert not path.exists()
    with pytest.raises(OSError, match="are free"):
        flight(tmp_path, free=4_000).open_file(1)
    assert list(tmp_path.iterdir()) == []


def test_where_the_past_does_not_help_it_stays(tmp_path: Path) -> None:
    files = [old(tmp_path, n, age_s=100 - n) for n in range(3)]
    with pytest.raises(OSError, match=r"less than 5 % of the disk are free"):
        flight(tmp_path, free=1_500).make_room()  # somebody else fills the disk
    assert all(path.exists() for path in files)


def test_only_its_own_files_are_dropped(tmp_path: Path) -> None:
    old(tmp_path, 1, age_s=1e6)
    others = [tmp_path / name for name in ("notes.mcap", "20270101T000000Z-demo-x-000001.mcap")]
    for path in others:
        path.write_text("dear")
        os.utime(path, (0, 0))
    link = tmp_path / "20270101T000000Z-demo-0123abcd-000007.mcap"
    link.symlink_to(others[0])
    folder = tmp_path / "20270101T000000Z-demo-0123abcd-000008.mcap"
    folder.mkdir()
    flight(tmp_path, age_s=100, total_bytes=0).open_file(1).drop()
    assert sorted(tmp_path.iterdir()) == sorted([*others, link, folder])
    assert others[0].read_text() == "dear"


def test_what_another_process_writes_is_left_alone(tmp_path: Path) -> None:
    busy = old(tmp_path, 1, age_s=1e6)
    idle = old(tmp_path, 2, age_s=1e6)
    with busy.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        flight(tmp_path, age_s=100).open_file(1).drop()
        assert (busy.exists(), idle.exists()) == (True, False)
    flight(tmp_path, age_s=100).open_file(2).drop()
    assert not busy.exists()


def test_it_does_not_drop_what_it_writes(tmp_path: Path) -> None:
    target = flight(tmp_path, age_s=-1, total_bytes=0)
    segment = target.open_file(1)
    target.make_room()
    assert segment.is_there()
    segment.close()


def test_a_file_is_over_when_large_or_old(tmp_path: Path) -> None:
    now = [NOW]
    target = Flight(
        tmp_path, "demo", "0123abcd", Bounds(file_bytes=500, file_s=10),
        wall_s=lambda: now[0], disk=lambda _: (DISK, DISK),
    )  # fmt: skip
    segment = target.open_file(1)
    assert not target.is_over(segment)
    now[0] += 10
    assert target.is_over(segment)
    now[0] -= 5
    segment.size = 500
    assert target.is_over(segment)
    segment.close()


def test_a_session_in_many_files_is_all_there(tmp_path: Path) -> None:
    recorder = Recorder(info(), flight(tmp_path, file_bytes=1, age_s=1e12), flush_s=0.01)
    for number in range(1, 8):
        before = len(list(tmp_path.iterdir()))
        recorder.on_record(note(number))
        wait_for(lambda before=before: len(list(tmp_path.iterdir())) > before)  # type: ignore[misc]
    assert recorder.close()
    journal = []
    parts = []
    for path in sorted(tmp_path.iterdir()):
        recording, items = read(path)
        assert recording.finished
        assert recording.info is not None
        parts.append(recording.info.part)
        journal += told(items)
    assert parts == list(range(1, 8))
    assert journal == [note(number) for number in range(1, 8)]


def test_a_name_in_use_is_not_written_over(tmp_path: Path) -> None:
    first = flight(tmp_path).open_file(1)
    with pytest.raises(FileExistsError):
        flight(tmp_path).open_file(1)
    assert first.is_there()
    first.close()
    (tmp_path / "link.mcap").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        Segment(tmp_path / "link.mcap")


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_STATE_HOME": "/var/state"}, "/var/state/plegscope/flight"),
        ({"XDG_STATE_HOME": ""}, "/home/me/.local/state/plegscope/flight"),
        ({"XDG_STATE_HOME": "relative"}, "/home/me/.local/state/plegscope/flight"),
        ({}, "/home/me/.local/state/plegscope/flight"),
    ],
)
def test_the_state_folder_is_where_xdg_has_it(environment: dict[str, str], folder: str) -> None:
    assert str(state_folder(environment, lambda: Path("/home/me"))) == folder


def test_no_home_is_a_sentence() -> None:
    def nowhere() -> Path:
        raise RuntimeError("no home")

    with pytest.raises(RecordingError, match="Set XDG_STATE_HOME, or give --no-record"):
        state_folder({}, nowhere)
