"""Files dropped on the page: bounded, checked, private, gone at the end."""

from __future__ import annotations

import asyncio
import resource
import shutil
import signal
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest

from app.engine.records import Note
from app.errors import RecordingError
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.replaying import dropped
from app.replaying.dropped import Dropped
from tests.recording.recorded import info, storm


@pytest.fixture
def keeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dropped]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    keeping = Dropped()
    yield keeping
    keeping.close()
    assert list(tmp_path.iterdir()) == []


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def parts(data: bytes, size: int = 10_000) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


async def test_a_file_is_kept_for_its_owner_alone(keeping: Dropped, tmp_path: Path) -> None:
    assert await keeping.receive("a.mcap", None, parts(storm())) == "a.mcap"
    path = keeping.files["a.mcap"]
    assert path.read_bytes() == storm()
    assert path.is_relative_to(tmp_path)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    # Dropped again: the same.
    assert await keeping.receive("a.mcap", None, parts(storm())) == "a.mcap"
    assert [one.name for one in path.parent.iterdir()] == ["a.mcap"]


NO_NAMES = [
    *("", "a.txt", "../a.mcap", "/a.mcap", "x" * 300 + ".mcap", "\N{SNOWMAN}" * 90 + ".mcap"),
    *(".receiving.mcap", ".mcap", "a\0.mcap", "a\n.mcap", "\x1b[31m.mcap", "\ud800.mcap"),
]


@pytest.mark.parametrize("name", NO_NAMES)
async def test_a_name_that_is_none_is_refused(keeping: Dropped, name: str) -> None:
    with pytest.raises(
        RecordingError, match=r"not called like a recording.* in \.mcap or \.jsonl,"
    ):
        await keeping.receive(name, None, parts(storm()))


@pytest.mark.parametrize(
    ("data", "why"), [(b"", "no MCAP"), (b"nothing", "no MCAP"), (b"\x00" * 9000, "no MCAP")]
)
async def test_what_is_no_recording_is_not_kept(keeping: Dropped, data: bytes, why: str) -> None:
    with pytest.raises(RecordingError, match=why):
        await keeping.receive("a.mcap", None, parts(data))
    assert keeping.files == {}


async def test_another_one_of_a_name_that_is_there_is_refused(
    keeping: Dropped, tmp_path_factory: pytest.TempPathFactory
) -> None:
    there = tmp_path_factory.mktemp("there") / "a.mcap"
    there.write_bytes(storm())
    assert await keeping.receive("a.mcap", there, parts(storm())) == "a.mcap"
    assert keeping.files == {}
    with pytest.raises(RecordingError, match="Rename this one"):
        await keeping.receive("a.mcap", there, parts(storm()[:-1000]))


async def test_it_does_not_fill_the_disk(keeping: Dropped, monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(storm())
    monkeypatch.setattr(dropped, "MOST_FILE", size - 1)
    with pytest.raises(RecordingError, match="too much to be dropped"):
        await keeping.receive("a.mcap", None, parts(storm()))
    monkeypatch.setattr(dropped, "MOST_FILE", size)
    monkeypatch.setattr(dropped, "MOST_TOGETHER", size + 5)
    await keeping.receive("a.mcap", None, parts(storm()))
    with pytest.raises(RecordingError, match="too much to be dropped"):
        await keeping.receive("b.mcap", None, parts(storm()))
    assert list(keeping.files) == ["a.mcap"]
    monkeypatch.setattr(dropped, "MOST_TOGETHER", 9 * size)
    monkeypatch.setattr(dropped, "MOST_FILES", 2)
    await keeping.receive("b.mcap", None, parts(storm()))
    with pytest.raises(RecordingError, match="2 files were dropped already"):
        await keeping.receive("c.mcap", None, parts(storm()))
    # One that is there is taken again.
    assert await keeping.receive("b.mcap", None, parts(storm())) == "b.mcap"


async def test_one_comes_after_another(keeping: Dropped) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        begun.set()
        await go.wait()
        yield storm()

    async with asyncio.TaskGroup() as group:
        first = group.create_task(keeping.receive("a.mcap", None, slowly()), name="first")
        await begun.wait()
        with pytest.raises(RecordingError, match="Another file is on its way"):
            await keeping.receive("b.mcap", None, parts(storm()))
        go.set()
    assert first.result() == "a.mcap"


async def test_what_broke_off_leaves_nothing(keeping: Dropped) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield storm()[:1000]
        raise RecordingError("The rest of this file did not come. Drop it again.")

    with pytest.raises(RecordingError, match="did not come"):
        await keeping.receive("a.mcap", None, broken())
    assert keeping.files == {}


async def test_a_full_disk_keeps_nothing_of_it(keeping: Dropped, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    was = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        # What is written to the disk late does not fit either.
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_500, hard))
        with pytest.raises(RecordingError, match="no room for this file here"):
            await keeping.receive("a.mcap", None, parts(storm(), 1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, was)
    assert files_in(tmp_path) == []
    assert await keeping.receive("a.mcap", None, parts(storm())) == "a.mcap"


async def test_where_they_were_may_be_tidied_up(keeping: Dropped) -> None:
    await keeping.receive("a.mcap", None, parts(storm()))
    shutil.rmtree(keeping.files["a.mcap"].parent)
    await keeping.receive("b.mcap", None, parts(storm()))
    assert list(keeping.files) == ["b.mcap"]


async def test_where_everybody_can_look_only_what_is_simulated_is_taken(
    keeping: Dropped, tmp_path_factory: pytest.TempPathFactory
) -> None:
    real = tmp_path_factory.mktemp("real") / "a.mcap"
    scribe = Scribe(info(simulated=False, host="n"), lambda _part: Segment(real))
    scribe.put_record(Note(seq=1, t=1, wall=1, level="info", text="a note"), by_engine=False)
    scribe.turn()
    lines = msgspec.json.encode(Note(seq=1, t=1, wall=1, level="info", text="a note"))
    for name, data in (("a.mcap", real.read_bytes()), ("a.jsonl", lines)):
        with pytest.raises(RecordingError, match=r"opened without a token.* with that file's path"):
            await keeping.receive(name, None, parts(data), simulated_only=True)
        assert await keeping.receive(name, None, parts(data)) == name
    assert await keeping.receive("s.mcap", None, parts(storm()), simulated_only=True) == "s.mcap"
