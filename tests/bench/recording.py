"""(h) The recorder: bytes and CPU of an hour, beside SQLite and JSON lines; what a step pays."""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec
import zstandard

from app.engine.engine import Engine
from app.engine.inputs import Input
from app.engine.records import Record
from app.recording.answers import LISTS, Answer
from app.recording.format import SessionInfo
from app.recording.protowire import as_row, split_fields, split_rows
from app.recording.reading import Heard
from app.recording.recorder import FLUSH_S, Recorder
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.recording.target import OneFile
from app.recording.virtual import describe
from app.sim.library import load
from app.sim.pods import ContainerSpec
from app.sim.scenario import Scenario
from app.sim.virtual import VirtualSession
from app.sim.wire import Wire
from app.sim.workloads import Replicas
from tests.bench.node import say
from tests.bench.report import Section, median

SECOND = 1_000_000_000
PODS = 110
"""As many as a kubelet takes by default."""
QUIET_S = 600
BUSY_S = 120
ROUNDS = 5
FLUSH_NS = int(FLUSH_S * SECOND)

SHARE = 0.005
"""Of a core, for a quiet node."""
BYTES_PER_HOUR = 20e6

What = Input | Record | Answer | Heard
T = TypeVar("T", bound=What)


class Kept:
    """Everything that a recorder would be told, in order: inputs, records, and what the runtime
    sent, whose lists have another order each time, as containerd's have. ``items`` are without
    that, for writers that have no place for it."""

    def __init__(self, scenario: Scenario, duration_s: int) -> None:
        self.all: list[What] = []
        self._seq = 0
        self._order = random.Random(1)
        session = VirtualSession(scenario, on_record=self._record)
        session.tap = self
        session.runtime.tell_wire(Wire(session.world, session.clock, self._answered, self._heard))
        self.info: SessionInfo = describe(session)
        session.start()
        session.run_until(duration_s * SECOND)
        session.stop()
        self.records = self._seq
        self.duration_s = duration_s
        self.items = [one for one in self.all if isinstance(one, (Input, Record))]
        self.sent = sum(len(one.raw) for one in self.all if isinstance(one, (Answer, Heard)))

    def took(self, happened: Input) -> None:
        self.all.append(happened)

    def made(self) -> None:
        pass

    def _record(self, record: Record) -> None:
        self._seq += 1
        self.all.append(msgspec.structs.replace(record, seq=self._seq))

    def _answered(self, t: int, wall: int, method: str, asked_for: str, raw: bytes) -> None:
        if method in LISTS:
            raw = reordered(raw, self._order)
        self.all.append(Answer(t, wall, method, asked_for, raw))

    def _heard(self, t: int, wall: int, raw: bytes) -> None:
        self.all.append(Heard(t, wall, raw))


def in_flushes(items: Sequence[T], put: Callable[[T], None], flush: Callable[[], None]) -> None:
    """Hand everything out, and flush as often as the recorder would."""
    due: int | None = None
    for what in items:
        if due is not None and what.t >= due:
            flush()
            due = None
        if due is None:
            due = what.t + FLUSH_NS
        put(what)
    flush()


def reordered(raw: bytes, order: random.Random) -> bytes:
    """A list with its rows, and the fields of every other row, in another order."""
    rows = list(split_rows(raw).values())
    order.shuffle(rows)
    made = bytearray()
    for row in rows:
        first, *fields = split_fields(row)
        if order.random() < 0.5:
            order.shuffle(fields)
        made += as_row(b"".join((first, *fields)))
    return bytes(made)


def _cpu(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _ours(kept: Kept, path: Path, *, sent: bool = False) -> None:
    scribe = Scribe(kept.info, lambda _part: Segment(path))

    def put(what: What) -> None:
        if isinstance(what, Answer):
            scribe.put_answer(what)
        elif isinstance(what, Heard):
            scribe.put_event(what.t, what.wall, what.raw)
        elif isinstance(what, Record):
            scribe.put_record(what, by_engine=True)
        else:
            scribe.put_input(what)

    in_flushes(kept.all if sent else kept.items, put, scribe.flush)
    scribe.turn()


def _all_of_ours(kept: Kept, path: Path) -> None:
    _ours(kept, path, sent=True)


def _lines(kept: Kept, path: Path, *, packed: bool) -> None:
    encode = msgspec.json.Encoder().encode
    with path.open("wb") as file:
        out: BinaryIO = file
        if packed:
            out = zstandard.ZstdCompressor().stream_writer(file, closefd=False)

        def put(what: What) -> None:
            out.write(encode(what) + b"\n")

        in_flushes(kept.items, put, out.flush)
        if packed:
            out.close()


def _rows(kept: Kept, path: Path) -> None:
    encode = msgspec.json.Encoder().encode
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("pragma journal_mode=wal")
    database.execute("pragma synchronous=normal")
    database.execute("create table items (t integer, is_input integer, data blob)")
    database.execute("create index by_t on items (t)")
    waiting: list[tuple[int, bool, bytes]] = []

    def flush() -> None:
        database.execute("begin")
        database.executemany("insert into items values (?, ?, ?)", waiting)
        database.execute("commit")
        waiting.clear()

    def put(what: What) -> None:
        waiting.append((what.t, isinstance(what, Input), encode(what)))

    in_flushes(kept.items, put, flush)
    database.execute("pragma wal_checkpoint(truncate)")
    database.close()


def _measured(kept: Kept, write: Callable[[Kept, Path], None]) -> tuple[float, int]:
    """Median CPU seconds, and bytes."""
    spent: list[float] = []
    size = 0
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "out"
            spent.append(_cpu(lambda path=path: write(kept, path)))  # type: ignore[misc]
            size = path.stat().st_size
    return median(spent), size


def _steps(kept: Kept, *, recorded: bool) -> float:
    """CPU seconds of the session's thread for all steps, with a recorder or without."""
    inputs = [what for what in kept.items if isinstance(what, Input)]
    engine = Engine(kept.info.settings, random.Random(kept.info.chance))
    with tempfile.TemporaryDirectory() as folder:
        recorder = None
        if recorded:
            recorder = Recorder(
                kept.info, OneFile(Path(folder) / "a.mcap"), capacity=1 << 30, max_heft=1 << 40
            )
        began = time.thread_time()
        for happened in inputs:
            if recorder is not None:
                recorder.took(happened)
            for record in engine.step(happened).records:
                numbered = msgspec.structs.replace(record, seq=1)
                if recorder is not None:
                    recorder.on_record(numbered)
            if recorder is not None:
                recorder.made()
        spent = time.thread_time() - began
        if recorder is not None:
            recorder.close(60)
    return spent / len(inputs)


def measure() -> Section:
    """Medians of a few runs each, by CPU time."""
    section = Section("(h) the recorder")
    section.note = (
        f"A quiet node of {PODS} pods for {QUIET_S // 60} minutes, and the storm of a hundred "
        f"ends, written with a flush every {FLUSH_S:g} s of their own time, which compresses no "
        "better than in life. SQLite: WAL, one transaction a flush, an index on time. JSON "
        "lines: flushed likewise, plain and as one zstd stream. What the runtime sent (lists, "
        "statuses and events as received) has the rows and labels of its lists in another order "
        "each time, as containerd's have; only our recording has a place for it."
    )
    say("(h) a quiet node")
    quiet = Kept(quiet_node(), QUIET_S)
    hours = QUIET_S / 3600
    for sent, what in ((True, ""), (False, ", without what the runtime sent")):
        cpu, size = _measured(quiet, _all_of_ours if sent else _ours)
        section.at_most(f"share of a core, quiet{what}", 100 * cpu / QUIET_S, 100 * SHARE, "%", 3)
        section.at_most(f"an hour, quiet{what}", size / hours / 1e6, BYTES_PER_HOUR / 1e6, "MB")
    section.add("the runtime sends in an hour, quiet", f"{quiet.sent / hours / 1e6:.0f} MB")
    say("(h) a busy node")
    busy = Kept(load("storm"), BUSY_S)
    writers: dict[str, Callable[[Kept, Path], None]] = {
        "recording, with what the runtime sent": _all_of_ours,
        "recording": _ours,
        "SQLite": _rows,
        "JSON lines": lambda kept, path: _lines(kept, path, packed=False),
        "JSON lines, zstd": lambda kept, path: _lines(kept, path, packed=True),
    }
    for kept, how in ((quiet, "quiet"), (busy, "busy")):
        for name, write in writers.items():
            cpu, size = _measured(kept, write)
            count = len(kept.all if write is _all_of_ours else kept.items)
            section.add(
                f"{name}, {how}, a thing that happens",
                f"{1e6 * cpu / count:.1f} us {size / count:.0f} B",
            )
    say("(h) the engine's step")
    plain = median([_steps(busy, recorded=False) for _ in range(ROUNDS)])
    recorded = median([_steps(busy, recorded=True) for _ in range(ROUNDS)])
    section.add("engine's step, busy", f"{1e6 * plain:.1f} us")
    section.at_most("more with a recorder", 1e6 * (recorded - plain), 20.0, "us", 1)
    return section


def quiet_node() -> Scenario:
    """Pods that run on and on."""
    pods = Replicas(
        namespace="shop",
        name="web",
        containers=(ContainerSpec(name="app", image="registry.example/shop/web:1"),),
        count=PODS,
    )
    return Scenario(name="quiet", title="A quiet node", shows="Nothing.", workloads=(pods,))
