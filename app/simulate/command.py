"""The commands: load, play, write, judge. Only this module writes to standard output."""

import os
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from app.engine.records import Record
from app.errors import OutputError
from app.resources import check_generated
from app.settings import Settings
from app.sim.account import Summary, play_to_end
from app.sim.library import load, names
from app.sim.scenario import claim
from app.sim.virtual import VirtualSession
from app.simulate.progress import Progress, silent
from app.simulate.table import plain, table
from app.simulate.verdict import verdict
from app.terminal import remark

if TYPE_CHECKING:
    from app.recording.virtual import VirtualRecorder


def scenarios() -> int:
    """Print the scenarios that come with plegscope, one a line, the name first."""
    known = names()
    width = max(map(len, known))
    for name in known:
        sys.stdout.write(f"{name:{width}}  {plain(load(name).title)}\n")
    return 0


def simulate(settings: Settings) -> int:
    """Play a scenario and print what it came to; returns the exit code.

    0: the shadow knows the runtime as it is, or its profile is known not to. 1: it does not, which
    must never be.

    Raises:
        ScenarioError: there is no such scenario.
        SettingsError: there is no such runtime.
        OutputError: standard output cannot be written.
        RecordingError: the recording cannot be written.
    """
    scenario = load(settings.scenario, settings.runtime_like)
    duration_ns = settings.duration_ns or scenario.duration_ns
    lines = settings.output == "jsonl"
    out = sys.stdout.buffer
    progress = Progress(duration_ns) if may_tell_progress(lines=lines) else silent
    session = VirtualSession(
        scenario,
        seed=settings.seed,
        profile=settings.profile,
        on_record=_Lines(out).on_record if lines else None,
    )
    recorder = _recorder(session, settings.record_to)
    try:
        summary = play_to_end(session, duration_ns, progress)
        if recorder is not None:
            recorder.close()
        if isinstance(progress, Progress):
            progress.clear()
        judged = verdict(summary, settings.scenario)
        _write(out, settings.output, summary, claim(scenario.shows, settings.profile), judged.text)
        out.flush()
    except OSError as error:
        leave(out)
        if isinstance(error, BrokenPipeError):
            # Whoever read has seen enough.
            return 0
        raise OutputError(
            f"Standard output cannot be written ({error.strerror}): the result is not complete. "
            "Make room, or write it elsewhere, and run it again."
        ) from error
    if recorder is not None:
        from app.greeting import recorded

        remark(recorded(settings.record_to, Path(settings.record_to).stat().st_size))
    if not judged.well:
        sys.stderr.write(f"plegscope: {judged.text}\n")
    return 0 if judged.well else 1


def _recorder(session: VirtualSession, path: str) -> "VirtualRecorder | None":
    if not path:
        return None
    # Here, as what it needs takes time to load.
    from app.recording.virtual import VirtualRecorder

    check_generated()
    return VirtualRecorder(session, Path(path))


class _Lines:
    """Writes records as JSON lines, numbered from 1 as a journal numbers them."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._numbers = count(1)
        self._encoder = msgspec.json.Encoder()

    def on_record(self, record: Record) -> None:
        numbered = msgspec.structs.replace(record, seq=next(self._numbers))
        self._out.write(self._encoder.encode(numbered) + b"\n")


class _Answer(msgspec.Struct, frozen=True):
    """What ``--format json`` prints."""

    settings: object
    summary: Summary


def _write(out: BinaryIO, output: str, summary: Summary, shows: str, judged: str) -> None:
    if output == "json":
        answer = msgspec.json.encode(_Answer(summary.played, summary))
        out.write(msgspec.json.format(answer, indent=2) + b"\n")
    elif output == "jsonl":
        out.write(msgspec.json.encode(summary) + b"\n")
    else:
        out.write(table(summary, shows, judged).encode())


def leave(out: BinaryIO) -> None:
    """Python flushes standard output once more at exit; let that not fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def may_tell_progress(*, lines: bool) -> bool:
    """Only to a person, and not in between the records on the same terminal."""
    return sys.stderr.isatty() and not (lines and sys.stdout.isatty())
