"""``plegscope replay FILE…``: recordings, or journals of JSON lines, in the player.

What plegscope recorded, or what ``watch --format jsonl``, ``simulate --format jsonl`` or the
sweep's failing seed has written, is laid out while it is looked at already, and can be played as
far as it has been read. Without a file the flight recorder's are listed. The pages beside the
player and the API show the journal as it is at the end, as far as it has been read.
"""

import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from app.cost import CostMeter
from app.dashboard import Dashboard
from app.engine.hanging import Hanging
from app.engine.records import Note, Record, RuntimeSeen
from app.greeting import elsewhere
from app.hub.limits import Limits
from app.hub.wire import SessionState
from app.journal.journal import Journal
from app.journal.rebuild import StateBuilder
from app.recording.target import state_folder
from app.replaying.library import Library
from app.replaying.show import Show
from app.session import CallCount, Subject
from app.settings import Settings
from app.supervisor import Supervisor
from app.terminal import announce, plain

WHOLE = Limits(snapshot_records=30_000, snapshot_weight=32 * 1024 * 1024, snapshot_ns=10**18)
"""Somebody who follows the WebSocket gets as much as a browser can be given at once."""

NOTHING = "No recording is open"

FORGOTTEN = (
    "The oldest {:,} records are not on the pods' pages and not in /api/v1/records: only so many "
    "are kept there. The player and an export from it have all of them."
)


class _NoCalls:
    """Nobody is asked anything: a recording only tells."""

    calls_total = 0
    bytes_total = 0
    counts: Mapping[str, CallCount] = {}

    def oldest_call(self) -> tuple[str, int] | None:
        """No call waits."""
        return None


class RecordedSession:
    """What is recorded as the dashboard wants it; ``show`` None: nothing is open yet."""

    def __init__(self, show: Show | None = None, where: str = "") -> None:
        self.id = secrets.token_hex(8)
        title, simulated = NOTHING, False
        if show is not None:
            title, simulated = show.title, show.simulated
        self.subject = Subject(title, simulated, where, "what was given")
        self.calls = _NoCalls()
        self.viewers: Callable[[], int] = lambda: 0
        self.journal = Journal()
        self._state = StateBuilder()
        self._hanging = Hanging()
        self._meter = CostMeter(self.calls)
        self._runtime: RuntimeSeen | None = None
        self._last: Record | None = None
        self._show = show
        self._told: set[str] = set()
        self.journal.subscribe(self._on_record)

    def take(self, record: Record) -> None:
        """The next record, as it has been read."""
        self.journal.append(record)

    def finish(self) -> None:
        """All has been read: tell what is missing."""
        last = self._last
        if self._show is None or last is None:
            return
        forgotten = self.journal.first_seq - 1
        told = [FORGOTTEN.format(forgotten)] if forgotten else []
        for text in (*self._show.films[0].warnings, *told):
            if text in self._told:
                # It was read anew.
                continue
            self._told.add(text)
            self.journal.append(Note(t=last.t, wall=last.wall, level="warning", text=text))

    def state(self) -> SessionState:
        """The state at the journal's end, as far as it has been read."""
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
            oldest_call=self._hanging.call,
            viewers=self.viewers(),
            first_seq=self.journal.first_seq,
            last_seq=self.journal.last_seq,
            ended=True,
        )

    def _on_record(self, record: Record) -> None:
        self._state.apply(record)
        self._hanging.apply(record)
        self._last = record
        if isinstance(record, RuntimeSeen):
            self._runtime = record


async def replay(settings: Settings, supervisor: Supervisor) -> None:
    """Show the files that the settings name, or the list of recordings, until stopped.

    Raises:
        RecordingError: no file can be played, or there is no home directory to look in.
    """
    given = [Path(name) for name in settings.recordings]
    folder = None if given else state_folder(os.environ)
    library = Library(folder, given, stopped=supervisor.stop.is_set, counts=not given)

    async def begin() -> None:
        # In here, as a disk that never answers must not keep whoever stops plegscope.
        show = await library.open_given() if given else None
        if supervisor.stop.is_set():
            return
        session = RecordedSession(show, ", ".join(map(str, given)) or str(folder))
        library.take, library.finish = session.take, session.finish
        await library.first_piece()
        dashboard = Dashboard(settings, session, session.journal, WHOLE, library=library, home=True)
        supervisor.add("recordings", library.run)
        supervisor.add("what-if", dashboard.run_whatif)
        supervisor.add("hub", dashboard.run_hub)
        supervisor.add("web server", lambda: dashboard.run_server(supervisor.stop))
        addresses = "".join(f"    {one}\n" for one in dashboard.addresses)
        what = f"the recordings in {folder}" if show is None else show.name
        announce(
            f"plegscope shows {plain(what)}, to be played.\n\n"
            f"{addresses}\n"
            f"{elsewhere(dashboard.addresses)}"
            "  A recording: nothing is asked of any runtime. Ctrl-C ends plegscope.\n"
        )
        dashboard.open_browser()

    try:
        await supervisor.run(begin)
    finally:
        library.close()
