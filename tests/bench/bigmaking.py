"""Recordings of a hundred thousand, a million and ten million records, made for one measurement.

The first two are a simulated node of a hundred and ten pods on which a process ends each second,
played in virtual time and recorded by the recorder. Ten million would take ten minutes of that, so
they are the million gone over again and again by the recorder's own writer, with times and numbers
moved; of the inputs, which no player reads, only some are in it. All draw from one seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from app.engine.records import Record
from app.recording.format import SessionInfo
from app.recording.reading import Fed, Recording, Told
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.recording.virtual import VirtualRecorder
from app.replaying.joining import Mover
from app.sim.pods import ERROR
from app.sim.scenario import Scenario
from app.sim.units import seconds
from app.sim.virtual import VirtualSession
from app.sim.workloads import Mishap, Replicas
from tests.sim.orders import runs_on

PODS = 110
SEED = 7
STEP_S = 60
EACH_INPUT = 50
"""Of the inputs one in so many is gone over."""


def busy() -> Scenario:
    """A node on which one process ends each second."""
    pause = seconds(1)
    mishap = Mishap(every=(pause, pause), containers=("app",), ending=ERROR)
    workload = Replicas(
        namespace="bench", name="web", containers=(runs_on(),), count=PODS, mishaps=(mishap,)
    )
    return Scenario(
        name="busy", title="A busy node", shows="How fast it is.", workloads=(workload,)
    )


def simulated(path: Path, records: int) -> int:
    """Record a session until it has so many records; returns how many it has."""
    told = 0

    def count(_record: Record) -> None:
        nonlocal told
        told += 1

    session = VirtualSession(busy(), seed=SEED, on_record=count)
    recorder = VirtualRecorder(session, path)
    session.start()
    t = 0
    while told < records:
        t += STEP_S
        session.run_until(seconds(t))
    session.stop()
    recorder.close()
    return told


def repeated(path: Path, source: Path, times: int) -> int:
    """Write ``source`` so many times in a row as one session; returns how many records it has."""
    with Recording(source) as recording:
        next(recording.messages())
        info = recording.info
    assert info is not None
    written = _Repeated(info, path)
    for _ in range(times):
        written.go_over(source)
    written.scribe.turn()
    return written.seq


class _Repeated:
    def __init__(self, info: SessionInfo, path: Path) -> None:
        self.scribe = Scribe(info, lambda _part: Segment(path))
        self.seq = 0
        self._t = 0
        self._wall = 0
        self._mover = Mover(0)

    def go_over(self, source: Path) -> None:
        """Once more, from where the last time ended."""
        by = self._t
        self._mover = Mover(by, self._mover.numbers)
        with Recording(source) as recording:
            for item in _chosen(recording):
                if isinstance(item, Told):
                    self.seq += 1
                    record = self._mover.move(item.record, self.seq, 0)
                    self._t = record.t
                    self.scribe.put_record(record, by_engine=item.by_engine)
                else:
                    happened = item.happened
                    assert happened is not None
                    t, wall = happened.t + by, happened.wall + by
                    self.scribe.put_input(msgspec.structs.replace(happened, t=t, wall=wall))
                if self.scribe.waiting:
                    self.scribe.flush()


def _chosen(recording: Recording) -> Iterator[Told | Fed]:
    for item in recording.items():
        told = isinstance(item, Told) and not item.opening
        if told or (isinstance(item, Fed) and item.number % EACH_INPUT == 0):
            yield item  # type: ignore[misc]
