"""``plegscope replay FILE``: a recording, or a journal of JSON lines, on the dashboard.

What plegscope recorded, or what ``watch --format jsonl``, ``simulate --format jsonl`` or the
sweep's failing seed has written, is shown whole, with time standing still at its end. What cannot
be read is left out, counted and told; whatever can be read is shown.
"""

import asyncio
import errno
import secrets
import stat
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from app.cost import CostMeter
from app.dashboard import Dashboard
from app.engine.records import AnyRecord, Gap, Note, Record, RuntimeSeen
from app.errors import RecordingError
from app.hub.limits import Limits
from app.hub.wire import SessionState
from app.journal.journal import DEFAULT_MAX_WEIGHT, Journal
from app.journal.rebuild import StateBuilder
from app.journal.weight import weight
from app.recording.format import Loss, SessionInfo
from app.recording.reading import Recording, Told, is_mcap
from app.session import CallCount, Subject
from app.settings import Settings
from app.supervisor import Supervisor
from app.terminal import announce, plain

MOST_RECORDS = 200_000
"""Records kept of a file, the newest."""

MOST_WEIGHT = DEFAULT_MAX_WEIGHT
"""Characters of text in them."""

MOST_SHOWN = 30_000
"""Records a browser is given at once; the API has the others."""

MOST_LINE = 1024 * 1024
"""Bytes of a line; a longer one is no record of ours."""

WHOLE = Limits(snapshot_records=MOST_SHOWN, snapshot_weight=32 * 1024 * 1024, snapshot_ns=10**18)
"""A recording is shown from its beginning; what a browser cannot be given at once is hatched."""

MOST_TITLE = 200
"""Characters of a recording's own title."""

MOST_TOLD = 20
"""Damages of a recording that are told one by one."""

SUMMARY = b'{"kind":"summary"'
"""How ``simulate`` begins its last line, which is no record."""


class Reading(msgspec.Struct):
    """What a file held: records in order, and how many lines were none, the first at ``line``."""

    records: list[Record]
    unreadable: int = 0
    line: int = 0
    info: SessionInfo | None = None
    """Of a recording."""
    warnings: list[str] = msgspec.field(default_factory=list)
    """What is missing, and why, in sentences."""


def read_journal(path: Path, stopped: Callable[[], bool] = lambda: False) -> Reading:
    """Read a file of JSON lines, with bounded memory, as far as it goes until ``stopped``.

    Raises:
        RecordingError: it cannot be read, or holds no record at all.
    """
    reading = Reading([])
    decoder = msgspec.json.Decoder(AnyRecord)
    kept: deque[Record] = deque()
    weighs = 0
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            # A pipe or a device may never come to its end, or not even to its beginning.
            raise OSError(errno.EINVAL, "it is no regular file")
        with path.open("rb") as file:
            for number, line in _lines(file.readline):
                if stopped():
                    break
                try:
                    kept.append(decoder.decode(line))
                except (msgspec.DecodeError, UnicodeDecodeError):
                    reading.unreadable += 1
                    reading.line = reading.line or number
                    continue
                weighs += weight(kept[-1])
                while len(kept) > MOST_RECORDS or (weighs > MOST_WEIGHT and len(kept) > 1):
                    weighs -= weight(kept.popleft())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordingError(
            f"{path} cannot be read ({reason}). Give the path of a file that `plegscope "
            "watch --format jsonl` or `plegscope simulate --format jsonl` wrote."
        ) from error
    reading.records.extend(kept)
    if not reading.records and not stopped():
        raise RecordingError(
            f"{path} holds no record. Give a file that `plegscope watch --format jsonl` or "
            "`plegscope simulate --format jsonl` wrote."
        )
    return reading


def read_recording(path: Path, stopped: Callable[[], bool] = lambda: False) -> Reading:
    """Read the journal of a recording, with bounded memory, as far as it goes until ``stopped``.

    Raises:
        RecordingError: it cannot be read, or holds no record at all.
    """
    kept: deque[Record] = deque()
    weighs = 0
    began = False
    with Recording(path, stopped) as recording:
        for item in recording.items():
            if isinstance(item, Loss):
                record: Record = _gap(item)
            elif isinstance(item, Told) and not (item.opening and began):
                record = item.record
                began = began or not item.opening
            else:
                continue
            kept.append(record)
            weighs += weight(record)
            while len(kept) > MOST_RECORDS or (weighs > MOST_WEIGHT and len(kept) > 1):
                weighs -= weight(kept.popleft())
        if not kept and not stopped():
            told = recording.damage[0].what if recording.damage else "it is empty"
            raise RecordingError(f"{path} holds no record: {told}. Give another recording.")
        warnings = [damage.sentence() for damage in recording.damage[:MOST_TOLD]]
        more = recording.damaged - len(warnings)
        if more > 0:
            warnings.append(f"The recording is damaged in {more:,} more places.")
        if recording.unreadable:
            warnings.append(f"{recording.unreadable:,} messages of it could not be understood.")
        return Reading(list(kept), info=recording.info, warnings=warnings)


def _gap(loss: Loss) -> Gap:
    return Gap(
        t=loss.t,
        wall=loss.wall,
        hop="journal",
        count=loss.records,
        from_t=loss.from_t,
        reason=f"The recorder could not keep them: {loss.reason}.",
    )


def read(path: Path, stopped: Callable[[], bool] = lambda: False) -> Reading:
    """Read a recording or a journal of JSON lines, whichever it is.

    Raises:
        RecordingError: it cannot be read, or holds no record at all.
    """
    return read_recording(path, stopped) if is_mcap(path) else read_journal(path, stopped)


def _lines(readline: Callable[[int], bytes]) -> Iterator[tuple[int, bytes]]:
    """Lines that could be records, from 1; the rest of a too long one counts as its own."""
    number = 0
    while line := readline(MOST_LINE):
        number += 1
        if line.strip() and not line.startswith(SUMMARY):
            yield number, line


class _NoCalls:
    """Nobody is asked anything: a journal stands still."""

    calls_total = 0
    bytes_total = 0
    counts: Mapping[str, CallCount] = {}

    def oldest_call(self) -> tuple[str, int] | None:
        """No call waits."""
        return None


class RecordedSession:
    """A journal's session as the dashboard wants it."""

    def __init__(self, path: Path, reading: Reading) -> None:
        self.id = secrets.token_hex(8)
        info = reading.info
        title = path.name if info is None else f"{path.name}: {info.title[:MOST_TITLE]}"
        simulated = info is not None and info.simulated
        self.subject = Subject(title, simulated, str(path), "the file that was given")
        self.calls = _NoCalls()
        self.viewers: Callable[[], int] = lambda: 0
        self.journal = Journal(capacity=len(reading.records) + len(reading.warnings) + 1)
        self._state = StateBuilder()
        self._meter = CostMeter(self.calls)
        self._runtime: RuntimeSeen | None = None
        self._last: Record | None = None
        self._reading = reading
        self.journal.subscribe(self._on_record)

    def play(self) -> None:
        """Put all records into the journal; whoever is to see them has subscribed before."""
        for record in self._reading.records:
            self.journal.append(record)
        damaged, last = self._reading.unreadable, self._last
        texts = list(self._reading.warnings)
        if damaged:
            texts.append(
                f"{damaged} lines of {self.subject.title} could not be read, the first is line "
                f"{self._reading.line}; what they told is missing here."
            )
        if last is None:
            return
        for text in texts:
            self.journal.append(Note(t=last.t, wall=last.wall, level="warning", text=text))

    def state(self) -> SessionState:
        """The state at the journal's end."""
        last = self._last
        return SessionState(
            session=self.id,
            title=self.subject.title,
            simulated=self.subject.simulated,
            endpoint=self.subject.endpoint,
            endpoint_reason=self.subject.endpoint_reason,
            wall=0 if last is None else last.wall,
            engine=self._state.state(0 if last is None else last.t),
            cost=self._meter.cost(),
            runtime=self._runtime,
            oldest_call=None,
            viewers=self.viewers(),
            first_seq=self.journal.first_seq,
            last_seq=self.journal.last_seq,
            ended=True,
        )

    def _on_record(self, record: Record) -> None:
        self._state.apply(record)
        self._last = record
        if isinstance(record, RuntimeSeen):
            self._runtime = record


async def replay(settings: Settings, supervisor: Supervisor) -> None:
    """Show the file that the settings name, until stopped."""
    path = Path(settings.recording)
    reading = await asyncio.to_thread(read, path, supervisor.stop.is_set)
    if supervisor.stop.is_set():
        return

    async def begin() -> None:
        session = RecordedSession(path, reading)
        dashboard = Dashboard(settings, session, session.journal, WHOLE)
        session.play()
        supervisor.add("hub", dashboard.run_hub)
        supervisor.add("web server", lambda: dashboard.run_server(supervisor.stop))
        announce(
            f"plegscope shows {plain(path.name)}, {len(reading.records):,} records.\n\n"
            f"    {dashboard.address}\n\n"
            "  A recording: time stands still at its end. Ctrl-C ends plegscope.\n"
        )
        dashboard.open_browser()

    await supervisor.run(begin)
