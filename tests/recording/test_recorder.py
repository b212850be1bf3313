"""The recorder never makes anybody wait, says what is wrong, counts what it lost, and goes on."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.engine.inputs import Start, TimerFired
from app.engine.records import Note, PodGone, StreamChanged
from app.recording import recorder as module
from app.recording.answers import Answer
from app.recording.bulletin import STOPPED
from app.recording.format import Loss
from app.recording.reading import Fed, Heard, Recording, Told
from app.recording.recorder import Recorder
from app.recording.tally import in_words
from app.recording.target import OneFile
from tests.patience import PATIENCE_S
from tests.recording.recorded import SECOND, info, read, told


def note(number: int, text: str = "") -> Note:
    return Note(
        seq=number, t=number * SECOND, wall=number * SECOND, level="info", text=text or f"{number}"
    )


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    tick = threading.Event()
    while not what():
        assert time.monotonic() < deadline, "it did not come to pass"
        tick.wait(0.01)


def next_news(recorder: Recorder) -> list[tuple[str, str]]:
    news: list[tuple[str, str]] = []

    def came() -> bool:
        news.extend(recorder.news())
        return bool(news)

    wait_for(came)
    return news


class Disk:
    """Lets writes through, fails them, or holds them up."""

    def __init__(self) -> None:
        self.error = 0
        self.room: int | None = None
        self.open = threading.Event()
        self.open.set()
        self.held = threading.Event()
        self._write = os.pwrite

    def pwrite(self, file: int, data: bytes, offset: int) -> int:
        if not self.open.is_set():
            self.held.set()
            assert self.open.wait(PATIENCE_S)
        if self.room is not None:
            # As a disk that fills up: some of it still gets through.
            data = data[: self.room]
            if not data:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.room -= len(data)
        elif self.error:
            raise OSError(self.error, os.strerror(self.error))
        return self._write(file, data, offset)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    disk = Disk()
    monkeypatch.setattr("app.recording.segment.os.pwrite", disk.pwrite)
    monkeypatch.setattr(module, "RETRY_S", 0.02)
    yield disk
    disk.open.set()
    disk.error, disk.room = 0, None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.mcap"


def start(path: Path, **settings: int | float) -> Recorder:
    return Recorder(info(), OneFile(path), flush_s=0.01, **settings)  # type: ignore[arg-type]


def test_everything_is_in_the_file_soon_and_in_order(path: Path) -> None:
    recorder = start(path)
    recorder.on_record(note(1))
    recorder.took(Start(t=1, wall=1))
    recorder.on_record(PodGone(seq=2, t=1, wall=1, uid="u"))
    recorder.on_record(StreamChanged(seq=3, t=1, wall=1, state="off", meaning="none"))
    recorder.made()
    recorder.on_event(2, 3, b"\x01\x02")
    recorder.on_record(note(4))
    wait_for(lambda: len(read(path)[1]) == 6)
    assert recorder.close()
    recording, items = read(path)
    assert [type(item) for item in items] == [Told, Fed, Told, Told, Heard, Told]
    assert [item.by_engine for item in items if isinstance(item, Told)] == [
        False, True, True, False,
    ]  # fmt: skip
    assert items[4] == Heard(2, 3, b"\x01\x02")
    assert recording.finished
    assert recorder.news() == []


def test_where_nothing_happened_there_is_no_file(path: Path) -> None:
    assert start(path).close()
    assert not path.exists()
    assert start(path).close()


def test_its_cost_is_told(path: Path) -> None:
    recorder = start(path)
    for number in range(1, 200):
        recorder.on_record(note(number))
    assert recorder.close()
    state = recorder.state()
    assert state.bytes_total == path.stat().st_size
    assert state.cpu_ns > 0
    assert (state.well, state.trouble, state.lost, state.waiting) == (True, "", 0, 0)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS])
def test_what_cannot_be_written_waits_and_nothing_is_lost(
    path: Path, disk: Disk, code: int
) -> None:
    recorder = start(path)
    recorder.on_record(note(1))
    wait_for(lambda: len(read(path)[1]) == 1)
    disk.error = code
    recorder.on_record(note(2))
    wait_for(lambda: not recorder.state().well)
    news = recorder.news()
    assert news == [("warning", STOPPED.format(os.strerror(code)))]
    assert news[0][1].startswith(f"Recording has stopped ({os.strerror(code)}). It is tried again")
    assert recorder.state().trouble == os.strerror(code)
    recorder.on_record(note(3))
    disk.error = 0
    wait_for(lambda: recorder.state().well)
    assert recorder.news() == [("info", "Recording goes on.")]
    assert recorder.close()
    recording, items = read(path)
    assert told(items) == [note(1), note(2), note(3)]
    assert (recording.damaged, recorder.state().lost) == (0, 0)


@pytest.mark.parametrize("room", [0, 1, 9, 50, 200])
def test_a_chunk_that_got_through_in_part_is_taken_back(path: Path, disk: Disk, room: int) -> None:
    recorder = start(path)
    recorder.on_record(note(1))
    wait_for(lambda: len(read(path)[1]) == 1)
    size = path.stat().st_size
    disk.room = room
    recorder.on_record(note(2, "x" * 300 + os.urandom(100).hex()))
    wait_for(lambda: not recorder.state().well)
    assert path.stat().st_size == size
    disk.room = None
    assert recorder.close()
    recording, items = read(path)
    assert len(told(items)) == 2
    assert recording.damaged == 0


def test_a_slow_disk_holds_nobody_up_and_what_is_lost_is_counted(path: Path, disk: Disk) -> None:
    recorder = start(path, capacity=100)
    recorder.on_record(note(1))
    wait_for(lambda: len(read(path)[1]) == 1)
    disk.open.clear()
    recorder.on_record(note(2))
    assert disk.held.wait(PATIENCE_S)
    began = time.monotonic()
    for number in range(3, 1003):
        recorder.took(TimerFired(t=number, wall=number, timer="health", token=number))
        recorder.made()
        recorder.on_record(note(number))
    recorder.on_event(7, 7, b"raw")
    # It would be for ever.
    assert time.monotonic() - began < PATIENCE_S
    state = recorder.state()
    assert state.waiting <= 100
    assert state.lost == 2001 - state.waiting
    disk.open.set()
    wait_for(lambda: recorder.state().waiting == 0)
    recorder.on_record(note(2000))
    assert recorder.close()
    (told_of,) = recorder.news()
    _recording, items = read(path)
    (loss,) = [item for item in items if isinstance(item, Loss)]
    inputs = [item for item in items if isinstance(item, Fed)]
    assert loss.inputs + len(inputs) == 1000
    assert loss.records + len(told(items)) == 1003
    assert loss.events == 1
    assert "slow" in loss.reason
    assert told_of == ("warning", in_words(loss))
    assert (
        f"{loss.inputs}\xa0inputs, {loss.records}\xa0records, 1\xa0event and 0\xa0answers"
        in told_of[1]
    )
    assert told(items)[-1] == note(2000)
    # A hole shows in the numbers of what comes after it, too.
    assert [one.number for one in inputs] == list(range(1, len(inputs) + 1))


def test_after_a_loss_inputs_are_numbered_as_they_were_fed(path: Path, disk: Disk) -> None:
    recorder = start(path, capacity=10)
    recorder.on_record(note(1))
    wait_for(lambda: len(read(path)[1]) == 1)
    disk.open.clear()
    recorder.on_record(note(2))
    assert disk.held.wait(PATIENCE_S)
    for number in range(1, 51):
        recorder.took(TimerFired(t=number, wall=number, timer="health", token=number))
    disk.open.set()
    wait_for(lambda: recorder.state().waiting == 0)
    recorder.took(TimerFired(t=51, wall=51, timer="health", token=51))
    assert recorder.close()
    numbers = [item.number for item in read(path)[1] if isinstance(item, Fed)]
    assert numbers == [*range(1, 11), 51]


def test_a_slow_disk_is_told_while_it_lasts(
    path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BEHIND_S", 0.05)
    recorder = start(path)
    disk.open.clear()
    recorder.on_record(note(1))
    assert disk.held.wait(PATIENCE_S)
    assert next_news(recorder) == [("warning", "Recording is behind: the disk is slow to take it.")]
    assert not recorder.state().well
    disk.open.set()
    assert next_news(recorder) == [("info", "Recording has caught up.")]
    assert recorder.close()


def test_heavy_things_are_bounded_by_what_they_weigh(path: Path, disk: Disk) -> None:
    recorder = start(path, max_heft=100_000)
    recorder.on_record(note(1))
    wait_for(lambda: len(read(path)[1]) == 1)
    disk.open.clear()
    recorder.on_record(note(2))
    assert disk.held.wait(PATIENCE_S)
    for number in range(10):
        recorder.on_event(number, number, bytes(30_000))
    assert recorder.state().waiting == 3
    disk.open.set()
    assert recorder.close()
    assert sum(isinstance(item, Heard) for item in read(path)[1]) == 3


def test_what_is_larger_than_a_message_may_be_is_a_loss(path: Path) -> None:
    recorder = start(path)
    recorder.on_event(1, 1, bytes(8 * 1024 * 1024 + 1))
    recorder.on_record(note(1))
    assert recorder.close()
    (loss, record) = read(path)[1]
    assert isinstance(loss, Loss)
    assert (loss.events, loss.inputs, loss.records) == (1, 0, 0)
    assert isinstance(record, Told)
    assert recorder.state().lost == 1


def test_answers_that_wait_do_not_take_the_place_of_what_the_engine_was_fed(
    path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_ANSWERS", 100_000)
    recorder = start(path)
    recorder.on_record(note(1))
    wait_for(lambda: len(read(path)[1]) == 1)
    disk.open.clear()
    recorder.on_record(note(2))
    assert disk.held.wait(PATIENCE_S)
    for number in range(1, 11):
        recorder.on_answer(number, number, "ContainerStatus", "c1", bytes(30_000))
        recorder.took(TimerFired(t=number, wall=number, timer="health", token=number))
    assert recorder.state().lost == 7
    disk.open.set()
    wait_for(lambda: recorder.state().waiting == 0)
    recorder.on_answer(11, 11, "ContainerStatus", "c1", b"")
    assert recorder.close()
    with Recording(path, answers=True) as recording:
        items = list(recording.items())
    assert [one.t for one in items if isinstance(one, Answer)] == [1, 2, 3, 11]
    assert sum(isinstance(one, Fed) for one in items) == 10
    (loss,) = [one for one in items if isinstance(one, Loss)]
    assert (loss.answers, loss.inputs, loss.from_t) == (7, 0, 4)
    assert recorder.news() == [("warning", in_words(loss))]


def test_it_is_the_age_of_the_first_that_makes_it_write(path: Path) -> None:
    """Not how long ago it wrote the last time: on a quiet node it sleeps, and is woken."""
    recorder = Recorder(info(), OneFile(path), flush_s=0.2)
    began = time.monotonic()
    recorder.on_record(note(1))
    wait_for(lambda: len(read(path)[1]) == 1)
    assert time.monotonic() - began > 0.15
    for number in range(2, 2 + module.HURRY + 2):
        recorder.on_record(note(number))
    # So many are not left to wait.
    assert recorder.close()
    assert 0.2 <= recorder.slowest_s < PATIENCE_S
    assert len(told(read(path)[1])) == module.HURRY + 3


def test_a_disk_that_takes_its_time_to_hold_it_holds_up_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a disk that takes seconds: what comes meanwhile survives this process all the same."""
    asked, held = threading.Event(), threading.Event()

    def fdatasync(_file: int) -> None:
        asked.set()
        held.wait(PATIENCE_S)

    monkeypatch.setattr("app.recording.syncer.os.fdatasync", fdatasync)
    recorder = start(path)
    recorder.on_record(note(1))
    assert asked.wait(PATIENCE_S)
    recorder.on_record(note(2))
    wait_for(lambda: len(read(path)[1]) == 2)
    held.set()
    assert recorder.close()


def test_a_disk_that_cannot_hold_it_is_trouble(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fdatasync(_file: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("app.recording.syncer.os.fdatasync", fdatasync)
    monkeypatch.setattr(module, "SYNC_S", 0.0)
    monkeypatch.setattr(module, "RETRY_S", 0.02)
    recorder = start(path)

    def in_trouble() -> bool:
        recorder.on_record(note(1))
        return recorder.state().trouble == os.strerror(errno.EIO)

    wait_for(in_trouble)
    recorder.close()


def test_a_file_that_was_removed_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_S", 0.02)
    folder = tmp_path / "gone"
    folder.mkdir()
    recorder = start(folder / "a.mcap")
    recorder.on_record(note(1))
    wait_for(lambda: (folder / "a.mcap").exists() and len(read(folder / "a.mcap")[1]) == 1)
    shutil.rmtree(folder)

    def in_trouble() -> bool:
        # What comes before it is noticed goes into the file that nobody can reach.
        recorder.on_record(note(2))
        return not recorder.state().well

    wait_for(in_trouble)
    folder.mkdir()
    wait_for(lambda: recorder.state().well)
    recorder.on_record(note(3))
    assert recorder.close()
    news = [text for _level, text in recorder.news()]
    assert "Recording begins a new file: its file is no longer there." in news
    recording, items = read(folder / "a.mcap")
    assert recording.info is not None
    assert recording.info.part == 2
    assert told(items)[-1] == note(3)


def test_a_fault_of_ours_is_told_and_stops_only_the_recorder(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object, **_named: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("app.recording.scribe.Scribe.put_record", fail)
    recorder = start(path)
    recorder.on_record(note(1))
    wait_for(lambda: not recorder.state().well)
    recorder.on_record(note(2))
    ((level, text),) = recorder.news()
    assert level == "warning"
    assert "plegscope's recorder stopped working (ZeroDivisionError" in text
    recorder.close()


def test_a_disk_that_never_answers_keeps_nobody_at_the_end(path: Path, disk: Disk) -> None:
    recorder = start(path)
    recorder.on_record(note(1))
    wait_for(lambda: path.exists() and len(read(path)[1]) == 1)
    disk.open.clear()
    recorder.on_record(note(2))
    assert disk.held.wait(PATIENCE_S)
    began = time.monotonic()
    assert not recorder.close(0.05)
    assert time.monotonic() - began < PATIENCE_S
    assert recorder.lacking
    told = recorder.missing()
    assert "(the disk does not answer): what happened after 00:00:01 UTC is missing" in told
    assert str(path) in told
    assert "the system keeps it until the disk answers" in told


def test_a_disk_that_is_only_slow_is_waited_for_at_the_end(
    path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write takes a fifth of the patience, and all of them more than it."""
    quick = os.pwrite
    tick = threading.Event()

    def slow(file: int, data: bytes, offset: int) -> int:
        tick.wait(0.05)
        return quick(file, data, offset)

    monkeypatch.setattr("app.recording.packer.CHUNK_MESSAGES", 1)
    recorder = start(path)
    monkeypatch.setattr("app.recording.segment.os.pwrite", slow)
    for number in range(1, 8):
        recorder.on_record(note(number))
    assert recorder.close(0.25)
    assert [one.seq for one in told(read(path)[1])] == list(range(1, 8))


def test_a_full_disk_at_the_end_is_told(path: Path, disk: Disk) -> None:
    recorder = start(path)
    recorder.on_record(note(1))
    wait_for(lambda: len(read(path)[1]) == 1)
    disk.error = errno.ENOSPC
    assert not recorder.close()
    assert not recorder.lacking
    assert recorder.missing() == (
        "The end of the recording could not be written (No space left on device): only its index "
        f"is missing, and all that happened is in {path}."
    )
    with Recording(path) as recording:
        assert sum(1 for _ in recording.items()) == 1
        assert not recording.finished
