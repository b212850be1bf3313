"""The library: recordings are opened when they are asked for, and given up when others are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.engine.records import Record
from app.errors import RecordingError, RecordingUnknown
from app.hub.filmwire import Sought
from app.replaying.library import MOST_OPEN, Library
from tests.recording.recorded import record_scenario


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    record_scenario(tmp_path / "a.mcap", "churn", seconds=10)
    for name in "bcd":
        (tmp_path / f"{name}.mcap").write_bytes((tmp_path / "a.mcap").read_bytes())
    return tmp_path


@asynccontextmanager
async def running(library: Library) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(library.run(), name="library")
        yield
        task.cancel()


async def whole(library: Library, *files: str) -> int:
    async with asyncio.timeout(60):
        while True:
            told = await library.told(files, 0, 0)
            if told.whole:
                return told.records
            await asyncio.sleep(0)


async def test_what_is_asked_for_is_laid_out(folder: Path) -> None:
    library = Library(folder)
    async with running(library):
        records = await whole(library, "a.mcap")
        assert records > 50
        assert len(await library.piece(["a.mcap"], 0, 0)) > 100
        found = await library.find(["a.mcap"], 0, Sought(what="relist", seq=0))
        assert found.seq is not None
        (row,) = [row for row in (await library.listing()).recordings if row.name == "a.mcap"]
        assert row.incidents is not None


async def test_what_is_not_there_is_told(folder: Path) -> None:
    library = Library(folder)
    async with running(library):
        await whole(library, "a.mcap")
        with pytest.raises(RecordingUnknown, match="no such piece"):
            await library.piece(["a.mcap"], 0, 99)
        with pytest.raises(RecordingUnknown, match="no node 1"):
            await library.told(["a.mcap"], 1, 0)
        with pytest.raises(RecordingUnknown, match="not in reach"):
            await library.told(["../a.mcap"], 0, 0)
        (folder / "bad.mcap").write_bytes(b"no")
        with pytest.raises(RecordingError, match="no MCAP file"):
            await library.told(["bad.mcap"], 0, 0)


async def test_few_are_open_at_a_time_and_all_can_be_asked_for(folder: Path) -> None:
    library = Library(folder)
    async with running(library):
        for name in "abcdab":
            assert await whole(library, f"{name}.mcap") > 50
            assert len(library.open) <= MOST_OPEN


async def test_what_was_given_stays_open_and_is_passed_on(folder: Path) -> None:
    library = Library(folder, [folder / "a.mcap"])
    taken: list[Record] = []
    ended = asyncio.Event()
    show = await library.open_given()
    library.take, library.finish = taken.append, ended.set
    await library.first_piece()
    assert taken
    async with running(library):
        async with asyncio.timeout(60):
            await ended.wait()
        for name in "bcd":
            await whole(library, f"{name}.mcap")
        assert show in library.open
        assert len(taken) == await whole(library)


async def test_a_recording_whose_file_goes_away_is_played_on(folder: Path) -> None:
    library = Library(folder)
    async with running(library):
        await whole(library, "a.mcap")
        (folder / "a.mcap").unlink()
        assert len(await library.piece(["a.mcap"], 0, 0)) > 100


async def test_what_is_listed_is_counted_meanwhile(folder: Path) -> None:
    library = Library(folder, counts=True)
    async with running(library), asyncio.timeout(60):
        assert await whole(library, "a.mcap") > 50
        while True:
            rows = (await library.listing()).recordings
            if all(row.incidents is not None for row in rows):
                break


async def test_markers_belong_to_the_recording(folder: Path) -> None:
    library = Library(folder)
    told = await library.mark(["a.mcap"], 5, "here")
    assert (await library.markers(["a.mcap"])) == told
    assert (await library.markers(["b.mcap"])).markers == ()
    assert (await library.unmark(["a.mcap"], told.markers[0].number)).markers == ()
