"""The recorder of a live session: where it writes by its settings, and who passes on its news."""

import asyncio
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from app.engine.settings import EngineSettings
from app.errors import RecordingError
from app.recording.format import SessionInfo
from app.recording.recorder import Recorder, Target
from app.recording.target import Flight, OneFile, state_folder
from app.settings import Settings

NEWS_S = 0.5

Tell = Callable[[Literal["info", "warning"], str], None]


def describe(
    command: str,
    *,
    title: str,
    endpoint: str,
    endpoint_reason: str,
    engine: EngineSettings,
    chance: int | str,
    origin: int,
    played: tuple[str, int] | None = None,
) -> SessionInfo:
    """What a live session's recording says of it.

    ``origin``: wall time (ns) at time 0. ``played``: scenario and seed of a simulated node.
    """
    scenario, seed = played or ("", None)
    return SessionInfo(
        session=secrets.token_hex(8),
        command=command,
        title=title,
        simulated=played is not None,
        endpoint=endpoint,
        endpoint_reason=endpoint_reason,
        host=socket.gethostname(),
        scenario=scenario,
        seed=seed,
        chance=chance,
        settings=engine,
        origin=origin,
    )


def start(settings: Settings, info: SessionInfo, tell: Tell) -> Recorder | None:
    """Start the recorder that the settings ask for; None: there is to be none.

    Where the flight recorder cannot work at all this is told, and the session goes without.

    Raises:
        RecordingError: the file that was asked for cannot be written.
    """
    target: Target
    if settings.record_to:
        target = OneFile(Path(settings.record_to))
    elif not settings.record:
        return None
    else:
        try:
            folder = state_folder(os.environ)
        except RecordingError as error:
            tell("warning", f"Nothing is recorded. {error}")
            return None
        target = Flight(folder, info.command, info.session[:8])
    return Recorder(info, target)


async def pass_on(recorder: Recorder, tell: Tell) -> None:
    """Put the recorder's news on the timeline, until cancelled."""
    while True:
        await asyncio.sleep(NEWS_S)
        for level, text in recorder.news():
            tell(level, text)
