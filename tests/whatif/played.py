"""Scenarios played, recorded and asked again; and the law that the answers are held to."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from app.engine.records import ContainerEventSeen, Record, SyncBegan, SyncFinished
from app.recording.virtual import VirtualRecorder
from app.sim.library import load
from app.sim.virtual import VirtualSession
from app.stage.truth import Moment, RunTruth, Truth, What, Who
from app.whatif.answer import Row, WhatIf
from app.whatif.options import Options
from app.whatif.result import ask

SECOND = 1_000_000_000
MS = 1_000_000

Key = tuple[Who, What]


class Run(NamedTuple):
    """What truly happened, what was told, and the recording's bytes."""

    truth: RunTruth
    stops: dict[str, int]
    """Receipt of each container's first stop event."""
    syncs: dict[str, list[tuple[int, int]]]
    recording: bytes

    def moments(self) -> dict[Key, Moment]:
        """What happened, by who and what."""
        return {(one.who, one.what): one for one in self.truth.moments}

    def syncing(self, uid: str, begin: int, end: int) -> list[tuple[int, int]]:
        """The pod's SyncPods that touch this time."""
        return [one for one in self.syncs.get(uid, ()) if one[0] <= end and one[1] >= begin]


@functools.cache
def play(scenario: str, profile: str, seed: int, seconds: int) -> Run:
    """Really play a scenario under a profile, and record it."""
    told: list[Record] = []
    session = VirtualSession(load(scenario), seed=seed, profile=profile, on_record=told.append)
    truth = Truth(session, seconds * SECOND)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mcap"
        recorder = VirtualRecorder(session, path)
        session.start()
        session.run_until(seconds * SECOND)
        session.settle()
        session.stop()
        recorder.close()
        return Run(truth.told(), _stops(told), _syncs(told), path.read_bytes())


def whatif(run: Run, path: Path, **options: object) -> WhatIf:
    """Ask a recording again."""
    path.write_bytes(run.recording)
    return ask([path], Options(**options))  # type: ignore[arg-type]


class Held(NamedTuple):
    """How an answer stands to the real run: rows that hold, and sentences on those that do not."""

    rows: list[tuple[Row, Moment]]
    broken: list[str]


def hold(recorded: Run, real: Run, answer: WhatIf) -> Held:
    """Every happening that came alike in both runs must lie within its stated bounds.

    What an answer does not claim to know is left out: whose change the runtime itself showed at
    another time (the worlds have drifted apart), whose stop event came otherwise than recorded or
    assumed, and who was in a SyncPod at that time, as another run's SyncPods are others.
    """
    rows = {(row.who, row.what): row for row in answer.rows}
    held, broken = [], []
    for key, then, now in _alike(recorded, real):
        row = rows.get(key)
        if row is None:
            continue
        found = now.found_t
        if found is None:
            well = row.latest is None or row.missed != "no"
        else:
            well = row.earliest <= found and (row.latest is None or found <= row.latest)
        if well:
            held.append((row, now))
        else:
            broken.append(f"{key}: really found at {found}, by {now.source}; then {then}; {row}")
    return Held(held, broken)


def _alike(recorded: Run, real: Run) -> Iterator[tuple[Key, Moment, Moment]]:
    played = real.moments()
    for key, then in recorded.moments().items():
        now = played.get(key)
        if now is None or then.known_t != now.known_t or now.known_t is None:
            continue
        until = max(now.found_t or 0, then.found_t or 0, now.known_t)
        uid = key[0].uid
        if key[1] == "end" and (
            recorded.syncing(uid, now.known_t, until) or real.syncing(uid, now.known_t, until)
        ):
            continue
        if _told(recorded, then) and _told(real, now):
            yield key, then, now


def _told(run: Run, one: Moment) -> bool:
    """Its stop event came as a stream that works brings it, or nobody listened."""
    if one.what == "start" or not run.stops:
        return True
    stop, known = run.stops.get(one.container_id), one.known_t
    return stop is not None and known is not None and known <= stop <= known + 2 * MS


def _stops(told: list[Record]) -> dict[str, int]:
    stops: dict[str, int] = {}
    for one in told:
        if isinstance(one, ContainerEventSeen) and one.type == "stopped":
            stops.setdefault(one.container_id, one.t)
    return stops


def _syncs(told: list[Record]) -> dict[str, list[tuple[int, int]]]:
    syncs: dict[str, list[tuple[int, int]]] = {}
    for one in told:
        if isinstance(one, SyncBegan):
            syncs.setdefault(one.uid, []).append((one.t, 10**18))
        elif isinstance(one, SyncFinished):
            began, _ = syncs[one.uid].pop()
            syncs[one.uid].append((began, one.t))
    return syncs
