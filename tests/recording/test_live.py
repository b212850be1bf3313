"""A live session's recorder: where it writes by its settings, and that its news is passed on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from app.engine.settings import EngineSettings
from app.errors import RecordingError
from app.recording import live
from app.recording.bulletin import STOPPED
from app.recording.format import SessionInfo
from app.settings import Settings
from tests.recording.recorded import read
from tests.recording.test_recorder import note


class Told:
    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.came = asyncio.Event()

    def __call__(self, level: str, text: str) -> None:
        self.told.append((level, text))
        self.came.set()


def describe(command: str = "watch", played: tuple[str, int] | None = None) -> SessionInfo:
    return live.describe(
        command,
        title="A node",
        endpoint="unix:///x",
        endpoint_reason="given",
        engine=EngineSettings(),
        chance=7,
        origin=1,
        played=played,
    )


def test_a_session_is_told_apart_from_all_others() -> None:
    first, second = describe(), describe("demo", ("churn", 5))
    assert first.session != second.session
    assert (first.simulated, first.scenario, first.seed) == (False, "", None)
    assert (second.simulated, second.scenario, second.seed) == (True, "churn", 5)


def test_by_default_it_flies_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    recorder = live.start(Settings(), describe(), Told())
    assert recorder is not None
    recorder.on_record(note(1))
    assert recorder.close()
    (path,) = (tmp_path / "plegscope" / "flight").iterdir()
    recording, _items = read(path)
    assert recording.info is not None
    assert (recording.info.title, recording.info.chance) == ("A node", 7)


def test_it_does_not_when_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert live.start(Settings(record=False), describe(), Told()) is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_asked_for_must_be_possible(tmp_path: Path) -> None:
    settings = Settings(record_to=str(tmp_path / "a.mcap"), record=False)
    recorder = live.start(settings, describe(), Told())
    assert recorder is not None
    recorder.on_record(note(1))
    assert recorder.close()
    with pytest.raises(RecordingError, match="exists already"):
        live.start(settings, describe(), Told())


def test_without_a_home_the_session_goes_on_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_environment: object) -> Path:
        raise RecordingError("There is no home. Set XDG_STATE_HOME.")

    monkeypatch.setattr(live, "state_folder", nowhere)
    told = Told()
    assert live.start(Settings(), describe(), told) is None
    assert told.told == [
        ("warning", "Nothing is recorded. There is no home. Set XDG_STATE_HOME."),
    ]


async def test_its_news_comes_on_the_timeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "NEWS_S", 0.01)
    monkeypatch.setattr(
        "app.recording.segment.os.pwrite", lambda *_: (_ for _ in ()).throw(OSError(28, "full"))
    )
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    recorder = live.start(Settings(), describe(), Told())
    assert recorder is not None
    recorder.on_record(note(1))
    told = Told()
    async with asyncio.timeout(60):
        async with asyncio.TaskGroup() as tasks:
            passing = tasks.create_task(live.pass_on(recorder, told))
            await told.came.wait()
            passing.cancel()
    assert told.told == [("warning", STOPPED.format("full"))]
    assert not recorder.close()
    assert msgspec.structs.asdict(recorder.state())["well"] is False
