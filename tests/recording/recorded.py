"""Recordings for tests: sessions in virtual time, written once and shared."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import msgspec

from app.engine.records import Record
from app.engine.settings import EngineSettings
from app.recording.format import SessionInfo
from app.recording.reading import Fed, Item, Recording, Told
from app.recording.virtual import VirtualRecorder
from app.sim.account import play_to_end
from app.sim.library import load
from app.sim.virtual import VirtualSession

SECOND = 1_000_000_000


def info(**changed: object) -> SessionInfo:
    """A session of nobody's."""
    plain = SessionInfo(
        session="0123456789abcdef",
        command="demo",
        title="A test",
        simulated=True,
        chance=1,
        settings=EngineSettings(),
        origin=1_000 * SECOND,
    )
    return msgspec.structs.replace(plain, **changed)


def record_scenario(
    path: Path, name: str, *, profile: str = "kep", seconds: int = 30, seed: int | None = None
) -> list[Record]:
    """Play a scenario into a file; returns what was told."""
    told: list[Record] = []
    session = VirtualSession(load(name), seed=seed, profile=profile, on_record=told.append)
    recorder = VirtualRecorder(session, path)
    play_to_end(session, seconds * SECOND)
    recorder.close()
    return [msgspec.structs.replace(one, seq=number) for number, one in enumerate(told, 1)]


@functools.cache
def storm() -> bytes:
    """The bytes of a recording with a few chunks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "storm.mcap"
        record_scenario(path, "storm", seconds=60)
        return path.read_bytes()


def read(path: Path) -> tuple[Recording, list[Item]]:
    """A recording read to its end, and everything in it."""
    with Recording(path) as recording:
        return recording, list(recording.items())


def told(items: list[Item]) -> list[Record]:
    """The journal."""
    return [item.record for item in items if isinstance(item, Told) and not item.opening]


def fed(items: list[Item]) -> list[Fed]:
    """The inputs."""
    return [item for item in items if isinstance(item, Fed)]
