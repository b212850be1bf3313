"""kill -9 at random moments, again and again: what is left of the recording, and what is missing.

    python -m tests.recording.kills --runs 300 --seed 1

Each run is a process of its own that records as fast as a node in trouble would, and is killed
after a random time. Prints one JSON object. ``bad``: runs of which something is missing in the
midst, or more than the last chunk is damaged. ``lag_ms``: from the last record that is left to the
kill; what a quarter of a second was promised for.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import time
from pathlib import Path

from app.engine.records import Note
from app.errors import RecordingError
from app.recording.reading import Recording, Told
from app.recording.recorder import Recorder
from app.recording.target import OneFile
from tests.bench.report import percentile
from tests.recording.recorded import info

LONGEST_S = 0.8
PAUSE_S = 0.0003


def record_until_killed(path: Path, ready: int) -> None:
    """Never returns."""
    recorder = Recorder(info(), OneFile(path))
    os.write(ready, b"x")
    number = 0
    while True:
        number += 1
        now = time.monotonic_ns()
        text = f"no {number} {os.urandom(8).hex()}"
        recorder.on_record(Note(seq=number, t=now, wall=now, level="info", text=text))
        time.sleep(PAUSE_S)


def killed_after(seconds: float, path: Path) -> int:
    """Record into ``path`` and be killed; returns when (monotonic ns)."""
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            record_until_killed(path, told)
        finally:
            os._exit(1)
    os.read(ready, 1)
    time.sleep(seconds)
    killed = time.monotonic_ns()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ready)
    os.close(told)
    return killed


def main() -> None:
    """Run, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.recording.kills")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    bad = damaged = empty = records = 0
    lags: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for run in range(options.runs):
            path = Path(folder) / f"{run}.mcap"
            killed = killed_after(rng.uniform(0, LONGEST_S), path)
            try:
                with Recording(path) as recording:
                    told = [item.record for item in recording.items() if isinstance(item, Told)]
            except RecordingError:
                # Killed before the first byte.
                told = []
                bad += path.stat().st_size > 8
            else:
                whole = [one.seq for one in told] == list(range(1, len(told) + 1))
                bad += not whole or recording.damaged > 1 or recording.finished
                damaged += recording.damaged
            path.unlink()
            records += len(told)
            if told:
                lags.append((killed - told[-1].t) / 1e6)
            else:
                empty += 1
    print(
        json.dumps(
            {
                "runs": options.runs,
                "bad": bad,
                "torn": damaged,
                "empty": empty,
                "records": records,
                "lag_ms": {str(p): round(percentile(lags, p), 1) for p in (50, 95, 100)},
            }
        )
    )


if __name__ == "__main__":
    main()
