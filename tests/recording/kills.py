"""kill -9 at seeded moments, again and again: what is left of the recording, and what is missing.

    python -m tests.recording.kills --runs 300 --seed 1

Each run is a process of its own that records as fast as it can and is ended by SIGKILL, which no
process can do anything about: of the odd runs when it has handed over so many records, wherever
the recorder's thread is then; of the even ones in the midst of a write, when so many bytes of the
file are written and the rest of that write is not. Both numbers come from the seed.

What the processes had handed over, and what of it had been written when a flush returned, stands in
memory that outlives them. Prints one JSON object. ``bad``: runs of which something is missing that
had been flushed, or that is in the midst of what is there, or more than the last chunk is damaged.
``torn``: runs that ended within a chunk. ``records``: read; ``flushed``: that had to be there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import mmap
import os
import random
import signal
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from app.engine.records import Note
from app.errors import RecordingError
from app.recording import format as words
from app.recording import segment
from app.recording.reading import Recording, Told
from app.recording.recorder import Recorder
from app.recording.target import OneFile
from tests.recording.recorded import info

FLUSH_S = 0.002
AT_ONCE = 2
"""Processes that record at the same time: as many as the smallest machines have cores."""

GIVE_WAY = 16
"""Records after which the processor is given away."""

RECORDS = (1, 3000)
SIZES = (1, 60_000)
COUNTS = struct.Struct("<QQ")


class Run(NamedTuple):
    """One run: ends after so many records, or else after so many bytes (0: not by this)."""

    path: Path
    records: int
    size: int


class Came(NamedTuple):
    """What a process had handed over, and what of it had been flushed."""

    given: int
    flushed: int


def record_until_killed(run: Run, counts: mmap.mmap) -> None:
    """Never returns."""
    given = 0
    sys.setswitchinterval(0.0005)
    if run.size:
        segment.os.pwrite = _killing(run.size)  # type: ignore[attr-defined]
    recorder = Recorder(info(), OneFile(run.path), flush_s=FLUSH_S)
    scribe = recorder._scribe
    put, flush, taken = scribe.put_record, scribe.flush, 0

    def put_record(record: Note, *, by_engine: bool) -> None:
        nonlocal taken
        put(record, by_engine=by_engine)
        taken = record.seq

    def flushed() -> None:
        # All that was put before: `flush` raises where it was not written.
        before = taken
        flush()
        # Only its own half: the other one is written by the other thread.
        counts[8:16] = before.to_bytes(8, "little")

    scribe.put_record = put_record  # type: ignore[assignment, method-assign]
    scribe.flush = flushed  # type: ignore[method-assign]
    while True:
        given += 1
        text = f"no {given} {os.urandom(8).hex()}"
        # First, as it may be in the file before this thread goes on.
        counts[:8] = given.to_bytes(8, "little")
        recorder.on_record(Note(seq=given, t=given, wall=given, level="info", text=text))
        if given == run.records:
            os.kill(os.getpid(), signal.SIGKILL)
        if given % GIVE_WAY == 0:
            # The recorder's thread gets its turn, or more would wait than may.
            os.sched_yield()


def _killing(size: int) -> Callable[[int, bytes, int], int]:
    """Writes up to so many bytes of a file, and no further."""
    write = os.pwrite

    def pwrite(file: int, data: bytes, offset: int) -> int:
        if offset + len(data) < size:
            return write(file, data, offset)
        write(file, memoryview(data)[: size - offset], offset)
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    return pwrite


def runs(folder: Path, count: int, rng: random.Random) -> Iterator[Run]:
    """The runs, by the seed."""
    for number in range(count):
        path = folder / f"{number}.mcap"
        if number % 2:
            yield Run(path, rng.randint(*RECORDS), 0)
        else:
            yield Run(path, 0, rng.randint(*SIZES))


def played(folder: Path, count: int, rng: random.Random) -> Iterator[tuple[Run, Came]]:
    """Each run, once it has ended."""
    going: dict[int, tuple[Run, mmap.mmap]] = {}
    left = runs(folder, count, rng)
    with contextlib.ExitStack() as stack:
        free = [stack.enter_context(mmap.mmap(-1, COUNTS.size)) for _ in range(AT_ONCE)]
        while True:
            while free and (run := next(left, None)) is not None:
                counts = free.pop()
                COUNTS.pack_into(counts, 0, 0, 0)
                child = os.fork()
                if child == 0:
                    try:
                        record_until_killed(run, counts)
                    finally:
                        os._exit(1)
                going[child] = (run, counts)
            if not going:
                return
            child, status = os.wait()
            run, counts = going.pop(child)
            assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "it was not killed"
            yield run, Came(*COUNTS.unpack_from(counts))
            free.append(counts)


def main() -> None:
    """Run, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.recording.kills")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # Made once, not by each process.
    words.schema_records()
    words.channel_records()
    bad = torn = empty = records = flushed = 0
    with tempfile.TemporaryDirectory() as folder:
        for run, came in played(Path(folder), options.runs, random.Random(options.seed)):
            damaged, finished = 0, False
            try:
                with Recording(run.path) as recording:
                    told = [item.record for item in recording.items() if isinstance(item, Told)]
                    damaged, finished = recording.damaged, recording.finished
            except RecordingError:
                # Killed before there was a recording.
                told = []
            whole = [one.seq for one in told] == list(range(1, len(told) + 1))
            there = came.flushed <= len(told) <= came.given
            bad += not whole or not there or damaged > 1 or finished
            torn += damaged
            empty += not told
            records += len(told)
            flushed += came.flushed
            run.path.unlink(missing_ok=True)
    print(
        json.dumps(
            {
                "runs": options.runs,
                "bad": bad,
                "torn": torn,
                "empty": empty,
                "records": records,
                "flushed": flushed,
            }
        )
    )


if __name__ == "__main__":
    main()
