"""Records a session in virtual time: no thread, and nothing is ever given up.

Virtual time waits for the disk. What cannot be written ends the simulation with a sentence. The
same session gives the same file, byte for byte.
"""

from pathlib import Path

import msgspec

from app.engine.inputs import Input
from app.engine.records import Record
from app.errors import RecordingError
from app.recording.answers import Answer
from app.recording.format import SessionInfo
from app.recording.scribe import Scribe
from app.recording.target import OneFile
from app.sim.chance import seeded_with
from app.sim.virtual import BACKOFF, ENDPOINT, REASON, VirtualSession
from app.sim.wire import Wire

HOST = "simulated"


class VirtualRecorder:
    """Records ``session`` into ``path``; must be made before the session starts.

    ``raw``: with the messages that a real runtime would have sent.

    Raises:
        RecordingError: the file exists, or cannot be written; also from within the session.
    """

    def __init__(self, session: VirtualSession, path: Path, *, raw: bool = True) -> None:
        self._path = path
        self._scribe = Scribe(describe(session), OneFile(path).open_file)
        self._stepping = False
        self._seq = 0
        session.tap = self
        session.listeners.append(self.on_record)
        if raw:
            clock = session.clock
            session.runtime.tell_wire(Wire(session.world, clock, self.on_answer, self.on_event))

    def took(self, happened: Input) -> None:
        """The engine is about to take this in."""
        self._stepping = True
        self._scribe.put_input(happened)
        self._write_full()

    def made(self) -> None:
        """All that it made of it has been told."""
        self._stepping = False

    def on_record(self, record: Record) -> None:
        """Number and record it."""
        self._seq += 1
        numbered = msgspec.structs.replace(record, seq=self._seq)
        self._scribe.put_record(numbered, by_engine=self._stepping)
        self._write_full()

    def on_answer(self, t: int, wall: int, method: str, asked_for: str, raw: bytes) -> None:
        """Record an answer."""
        self._scribe.put_answer(Answer(t, wall, method, asked_for, raw))
        self._write_full()

    def on_event(self, t: int, wall: int, raw: bytes) -> None:
        """Record an event."""
        self._scribe.put_event(t, wall, raw)
        self._write_full()

    def close(self) -> None:
        """Write what is left, and the end.

        Raises:
            RecordingError: it cannot be written.
        """
        try:
            self._scribe.turn()
        except OSError as error:
            raise self._failed(error) from error

    def _write_full(self) -> None:
        if self._scribe.waiting:
            try:
                self._scribe.flush()
            except OSError as error:
                raise self._failed(error) from error

    def _failed(self, error: OSError) -> RecordingError:
        return RecordingError(
            f"{self._path} cannot be written ({error.strerror}): the recording is not complete. "
            "Make room, or record elsewhere, and run it again."
        )


def describe(session: VirtualSession) -> SessionInfo:
    """What the recording of a session in virtual time says of it."""
    scenario, profile = session.scenario, session.profile.name
    return SessionInfo(
        session=f"{scenario.name}/{session.seed}/{profile}",
        command="simulate",
        title=f"{scenario.title}, seed {session.seed}, in virtual time",
        simulated=True,
        endpoint=ENDPOINT,
        endpoint_reason=REASON,
        host=HOST,
        scenario=scenario.name,
        seed=session.seed,
        chance=seeded_with(session.seed, BACKOFF),
        settings=session.engine.settings,
        origin=session.clock.wall() - session.clock.mono(),
    )
