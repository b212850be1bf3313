"""Inputs run again give the same records, byte for byte."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.engine.inputs import Input
from app.engine.profiles import PROFILES
from app.engine.records import Record
from app.errors import RecordingError
from app.recording.format import SessionInfo
from app.recording.reading import Told
from app.recording.rerun import Comparison, compare, rerun
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.recording.virtual import describe
from app.sim.library import load, names
from app.sim.virtual import VirtualSession
from tests.recording.recorded import fed, read, record_scenario


@pytest.mark.parametrize("name", names())
def test_every_scenario_gives_the_same_records_again(name: str, tmp_path: Path) -> None:
    journal = record_scenario(tmp_path / "a.mcap", name, seconds=25)
    same = compare([tmp_path / "a.mcap"])
    assert (same.hole, same.differs) == (None, None)
    assert len(journal) >= same.records > 20


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_gives_the_same_records_again(profile: str, tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", "lossy-stream", profile=profile, seconds=120)
    same = compare([tmp_path / "a.mcap"])
    assert (same.hole, same.differs) == (None, None)
    assert same.records > 100


def test_it_is_a_function_of_inputs_settings_and_chance(tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", "flapping-stream", seconds=60)
    recording, items = read(tmp_path / "a.mcap")
    info = recording.info
    assert isinstance(info, SessionInfo)
    inputs = [one.happened for one in fed(items) if one.happened is not None]
    then = [one.record for one in items if isinstance(one, Told) and one.by_engine]

    def again(**changed: object) -> list[bytes]:
        settings = msgspec.structs.replace(info.settings, **changed)
        steps = rerun(inputs, settings, info.chance)
        return [msgspec.json.encode(record) for _input, made in steps for record in made]

    encoded = [msgspec.json.encode(msgspec.structs.replace(one, seq=0)) for one in then]
    assert again() == encoded
    assert again() == again()
    assert again(profile="generic") != encoded


def test_another_engine_would_be_noticed(tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", "churn", profile="kep", seconds=20)
    raw = (tmp_path / "a.mcap").read_bytes()
    assert compare([tmp_path / "a.mcap"]).differs is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.engine.health.complaint", lambda *_: "sick")
        differs = compare([tmp_path / "a.mcap"]).differs
    assert differs is not None
    assert (tmp_path / "a.mcap").read_bytes() == raw


def test_a_session_in_several_files_is_run_as_one(tmp_path: Path) -> None:
    parts: list[Path] = []

    def open_file(part: int) -> Segment:
        parts.append(tmp_path / f"{part}.mcap")
        return Segment(parts[-1])

    session = VirtualSession(load("churn"))
    scribe = Scribe(describe(session), open_file)
    recorder = Turning(scribe)
    session.tap = recorder
    session.listeners.append(recorder.on_record)
    session.start()
    session.run_until(60_000_000_000)
    session.stop()
    scribe.turn()
    assert len(parts) > 4
    same = compare(parts)
    assert (same.hole, same.differs) == (None, None)
    assert same.records == recorder.records
    assert compare([parts[0], *parts[2:]]).hole is not None
    with pytest.raises(RecordingError, match="is part 2 of a session"):
        compare(parts[1:])


class Turning:
    """Begins another file every hundred inputs."""

    def __init__(self, scribe: Scribe) -> None:
        self._scribe = scribe
        self._inputs = 0
        self.records = 0

    def took(self, happened: Input) -> None:
        if self._inputs % 100 == 99:
            self._scribe.turn()
        self._inputs += 1
        self._scribe.put_input(happened)

    def made(self) -> None:
        self._scribe.flush()

    def on_record(self, record: Record) -> None:
        self.records += 1
        numbered = msgspec.structs.replace(record, seq=self.records)
        self._scribe.put_record(numbered, by_engine=True)


def test_what_comes_later_than_the_first_part_cannot_be_run_alone(tmp_path: Path) -> None:
    (tmp_path / "a.mcap").write_bytes(b"\x89MCAP0\r\n")
    with pytest.raises(RecordingError):
        compare([tmp_path / "none.mcap"])
    assert compare([]) == Comparison(0, None, 0, None)
