"""Runs the engine again over a recording's inputs: the same records, byte for byte.

The engine is a function of its settings, its generator's seed and its inputs, and all three are in
a recording. So a recording is a regression test of the engine, and with other settings it tells
what these inputs would have come to.
"""

import random
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from app.engine.engine import Engine
from app.engine.inputs import Input
from app.engine.profiles import PROFILES
from app.engine.records import Record
from app.engine.settings import EngineSettings
from app.errors import RecordingError
from app.recording.format import SessionInfo
from app.recording.reading import Fed, Recording, Told

LONGEST_NS = 3650 * 24 * 3600 * 1_000_000_000
"""Nothing that an engine is set to lasts longer,"""
SHORTEST_NS = 1_000_000
"""and what it does again and again it does not do more often."""
MOST_SLOTS = 1_000_000
"""Requests, events or stops that it is set to keep."""


def checked(path: Path, settings: EngineSettings) -> EngineSettings:
    """The settings that a file says it was recorded with.

    Raises:
        RecordingError: no engine runs with these.
    """
    again = (settings.period_ns, settings.health_poll_ns, settings.cache_tick_ns)
    lasting = (
        *(settings.threshold_ns, settings.backoff_base_ns, settings.backoff_cap_ns),
        *(settings.healthy_after_ns, settings.pace_cap_ns),
    )
    slots = (settings.queue_capacity, settings.event_channel or 0, settings.stops_kept)
    if (
        settings.profile not in PROFILES
        or not all(SHORTEST_NS <= one <= LONGEST_NS for one in again)
        or not all(0 <= one <= LONGEST_NS for one in lasting)
        or not all(0 <= one <= MOST_SLOTS for one in (*slots, settings.listing_share))
        or not settings.listing_share
    ):
        raise RecordingError(
            f"{path} says that it was recorded with settings that nothing runs with. Give another "
            "recording."
        )
    return settings


def rerun(
    inputs: Iterable[Input], settings: EngineSettings, chance: int | str
) -> Iterator[tuple[Input, tuple[Record, ...]]]:
    """Each input with the records that it brings (``seq`` 0, as the engine makes them).

    Args:
        inputs: as they were fed, from the first one.
        settings: what the engine runs with.
        chance: what its generator is seeded with.
    """
    engine = Engine(settings, random.Random(chance))  # noqa: S311  jitter is no secret
    for happened in inputs:
        yield happened, engine.step(happened).records


class Comparison(msgspec.Struct, frozen=True):
    """What running it again came to.

    ``inputs``: how many could be run, up to the first hole if there is one (``hole``: number of the
    first input that is missing). ``records``: how many the engine told then and tells now.
    ``differs``: number in the journal of the first record that is not the same; None if all are.
    """

    inputs: int
    hole: int | None
    records: int
    differs: int | None


def compare(paths: Iterable[Path]) -> Comparison:
    """Run a session's files again, in order, with the settings they were recorded with.

    Raises:
        RecordingError: a file cannot be read, or the first is not the session's first part.
    """
    return _Comparing().run(paths)


class _Comparing:
    """Holds what was told until the engine has caught up with it."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._encode = msgspec.json.Encoder().encode
        self._made: deque[Record] = deque()
        self._inputs = 0
        self._records = 0
        self._seq = 0

    def run(self, paths: Iterable[Path]) -> Comparison:
        for path in paths:
            with Recording(path) as recording:
                for item in recording.items():
                    if self._engine is None and isinstance(item, (Fed, Told)):
                        self._engine = _engine(path, recording.info)
                    if isinstance(item, Fed):
                        if item.happened is None or item.number != self._inputs + 1:
                            return self._told(hole=self._inputs + 1)
                        if self._made:
                            if recording.damaged or recording.losses:
                                return self._told(hole=self._inputs)
                            # It told less then.
                            return self._told(differs=self._seq + 1)
                        self._feed(item.happened)
                    elif isinstance(item, Told) and not item.opening:
                        if item.record.seq != self._seq + 1:
                            return self._told(hole=self._inputs + 1)
                        self._seq += 1
                        if item.by_engine and not self._same(item.record):
                            return self._told(differs=self._seq)
        return self._told()

    def _feed(self, happened: Input) -> None:
        assert self._engine is not None
        self._inputs += 1
        self._made.extend(self._engine.step(happened).records)

    def _same(self, told: Record) -> bool:
        if not self._made:
            return False
        made = msgspec.structs.replace(self._made.popleft(), seq=told.seq)
        self._records += 1
        return self._encode(made) == self._encode(told)

    def _told(self, hole: int | None = None, differs: int | None = None) -> Comparison:
        return Comparison(self._inputs, hole, self._records, differs)


def _engine(path: Path, info: SessionInfo | None) -> Engine:
    if info is None:
        raise RecordingError(
            f"{path} does not tell with which settings it was recorded. Give the whole recording."
        )
    if info.part != 1:
        raise RecordingError(
            f"{path} is part {info.part} of a session: running it again begins with part 1. "
            "Give all parts in order."
        )
    settings = checked(path, info.settings)
    return Engine(settings, random.Random(info.chance))  # noqa: S311  jitter is no secret
