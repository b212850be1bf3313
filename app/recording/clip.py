"""The last minutes of a session that is still running, as a file that can be read alone.

As JSON lines they come from the journal, as a recording from the recorder's files. Either begins
with the newest records of each kind from before, so that pods have names and containers states; in
the lines a gap says how many records between the two are left out.
"""

import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.engine.inputs import Input
from app.engine.records import Gap, Record
from app.errors import RecordingError
from app.hub.encode import encode
from app.recording.answers import Answer
from app.recording.format import Loss, SessionInfo, StateThen
from app.recording.opening import Opening
from app.recording.reading import Fed, Item, Recording, Told
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.recording.target import NAME

LEFT_OUT = "Only the last minutes were saved."

MOST_BYTES = 64 * 1024 * 1024
"""Of the files that are read for it; a recording that was asked for may be much larger."""

_PART = re.compile(r"(.*-)\d{6}\.mcap")


def lines(records: Sequence[Record], since_t: int) -> Iterator[bytes]:
    """A journal's records from ``since_t`` on (t, ns), a line each, behind what they begin from."""
    opening = Opening()
    first = next((i for i, one in enumerate(records) if one.t >= since_t), len(records))
    for record in records[:first]:
        opening.apply(record)
    begin: list[Record] = list(opening.records())
    kept = {record.seq for record in begin}
    left_out = [record for record in records[:first] if record.seq not in kept]
    if begin and left_out:
        # In the place of the newest that is left out: what comes after it is there without a hole.
        then = left_out[-1]
        gap = Gap(
            seq=then.seq,
            t=then.t,
            wall=then.wall,
            hop="journal",
            count=len(left_out),
            from_t=min(begin[0].t, then.t),
            reason=LEFT_OUT,
        )
        begin = sorted([*begin, gap], key=lambda record: record.seq)
    for record in begin:
        yield encode(record) + b"\n"
    for record in records[first:]:
        yield encode(record) + b"\n"


def clip(current: Path, since_t: int, span_s: float) -> bytes:
    """A recording of what the recorder has from ``since_t`` on.

    Args:
        current: the file that is being written; of the flight recorder's, those before it are
            found beside it.
        since_t: monotonic time of the session (ns).
        span_s: how long ago that was, in real seconds.

    Raises:
        RecordingError: it cannot be read or written, is too large, or holds nothing so new.
    """
    with tempfile.TemporaryDirectory(prefix="plegscope-clip-") as folder:
        out = Path(folder) / "clip.mcap"
        try:
            _copy(_parts(current, span_s), out, since_t)
            return out.read_bytes()
        except OSError as error:
            raise RecordingError(
                f"The last minutes could not be cut out ({error.strerror or error}). "
                f"{current} has them; make room and try again."
            ) from error


def session_files(current: Path) -> list[Path]:
    """The files of a session that are still there, the oldest first; ``current``: the one that is
    being written. Raises OSError."""
    named = _PART.fullmatch(current.name)
    if named is None or not NAME.fullmatch(current.name):
        return [current]
    # The stamp in front differs from part to part, the rest does not.
    session = named[1].split("-", 1)[1]
    return sorted(
        path
        for path in current.parent.iterdir()
        if NAME.fullmatch(path.name) and f"-{session}" in path.name
    )


def _parts(current: Path, span_s: float) -> list[Path]:
    """The session's files that were still written so long ago or later, the oldest first."""
    oldest = time.time() - span_s
    files = [
        path
        for path in session_files(current)
        if path == current or path.lstat().st_mtime >= oldest
    ]
    if sum(path.stat().st_size for path in files) > MOST_BYTES:
        raise RecordingError(
            f"{current} is too large to cut the last minutes out of it here. Stop plegscope, or "
            "copy the file as it is: `plegscope replay` opens it at any moment."
        )
    return files


def _copy(files: Sequence[Path], out: Path, since_t: int) -> None:
    scribe: _Clipper | None = None
    for path in files:
        with Recording(path, answers=True) as recording:
            for item in recording.items():
                if recording.info is None:
                    continue
                if scribe is None:
                    scribe = _Clipper(recording.info, out, since_t)
                scribe.take(item)
    if scribe is None or not scribe.begun:
        raise RecordingError("Nothing was recorded in the last minutes. Try again in a moment.")
    scribe.turn()


class _Clipper(Scribe):
    """Follows a session from a file's beginning, and writes from a moment on."""

    def __init__(self, info: SessionInfo, out: Path, since_t: int) -> None:
        super().__init__(info, lambda _part: Segment(out))
        self._since_t = since_t
        self._any = False
        self.begun = False

    def take(self, item: Item) -> None:
        """The next of what happened; raises OSError."""
        if isinstance(item, StateThen):
            # This one tells its own.
            return
        if isinstance(item, Told) and item.opening:
            if not self._any:
                self._pass_over(item.record)
            return
        self._any = True
        if not self.begun and _time(item) < self._since_t:
            if isinstance(item, Told):
                self._pass_over(item.record)
            elif isinstance(item, Fed):
                self._inputs = item.number
            return
        if not self.begun:
            self.begun = True
            if self._seq:
                self._start_anew()
            elif isinstance(item, Fed):
                self._inputs_before = item.number - 1
        self._write(item)

    def _pass_over(self, record: Record) -> None:
        self.follow(record)
        self._seq = max(self._seq, record.seq)
        self._last = max(self._last, (record.t, record.wall))

    def _write(self, item: Item) -> None:
        if isinstance(item, Told):
            self.put_record(item.record, by_engine=item.by_engine)
        elif isinstance(item, Fed):
            self._inputs = item.number - 1
            if item.happened is None:
                self._inputs = item.number
            else:
                self.put_input(item.happened)
        elif isinstance(item, Answer):
            self.put_answer(item)
        elif isinstance(item, Loss):
            self.put_loss(item)
        elif not isinstance(item, StateThen):
            self.put_event(item.t, item.wall, item.raw)
        if self.waiting:
            self.flush()


def _time(item: Item) -> int:
    """Its time (t); an input that could not be read has none, and counts as old."""
    if isinstance(item, Told):
        return item.record.t
    if isinstance(item, Fed):
        happened: Input | None = item.happened
        return -1 if happened is None else happened.t
    return item.t
