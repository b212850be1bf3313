"""``plegscope recover``: what is damaged, what is lost, and a clean file."""

from pathlib import Path

from app.errors import SettingsError
from app.recording.recover import Recovered
from app.recording.recover import recover as write_clean
from app.settings import Settings
from app.terminal import plain, say
from app.words import count

TOLD = 20
"""Damages told one by one."""


def recover(settings: Settings) -> int:
    """Recover the recording that the settings name, and tell; returns the exit code.

    Raises:
        RecordingError: nothing can be read, or the clean file cannot be written.
        SettingsError: it was not said where to write.
    """
    if not settings.record_to:
        raise SettingsError("-o: give the clean file's name, such as `-o clean.mcap`.")
    done = write_clean(Path(settings.recording), Path(settings.record_to))
    say(report(settings.recording, settings.record_to, done))
    return 0


def report(source: str, out: str, done: Recovered) -> str:
    """What was found, for people."""
    lines = [f"{plain(out)}: {count(done.messages, 'message')}, {done.size:,} bytes."]
    if not done.damaged and done.finished:
        lines.append(f"{plain(source)} is not damaged.")
    if not done.finished and not any(one.lost for one in done.damage):
        lines.append(
            f"{plain(source)} was not ended: plegscope was stopped by force, had no room, or still "
            "writes it. Nothing that is in it is missing."
        )
    lines += [one.sentence() for one in done.damage[:TOLD]]
    if done.damaged > TOLD:
        lines.append(f"And {count(done.damaged - TOLD, 'more place')}.")
    if done.foreign:
        lines.append(f"Left out: {count(done.foreign, 'message')} of unknown topics.")
    return "\n".join(lines) + "\n"
