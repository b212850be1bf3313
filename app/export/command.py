"""``plegscope export`` and ``plegscope redact``: a recording for something or somebody else."""

from pathlib import Path

from app.errors import RecordingError, SettingsError
from app.export.formats import FORMATS
from app.export.names import Names, read_key
from app.export.output import write
from app.export.redact import Redacted, Redactor
from app.export.redactfile import redact_file
from app.export.source import Source, open_source
from app.resources import check_generated
from app.settings import Settings
from app.terminal import plain, say


def export(settings: Settings) -> int:
    """Export the file that the settings name; returns the exit code.

    Raises:
        RecordingError: it cannot be read, or the export cannot be written.
        SettingsError: it was not said what to write, or where.
    """
    out = _out(settings, "export.json")
    if not settings.export:
        raise SettingsError(f"--format: say which one: {', '.join(FORMATS)}.")
    files = {_beside(out, part): make for part, make in FORMATS[settings.export].files.items()}
    for path in files:
        if path.exists():
            raise RecordingError(f"{path} exists already. Give another name after -o.")
    check_generated()
    source: Source = open_source(Path(settings.recording))
    if settings.redact:
        source = Redacted(source, _redactor(settings))
    for path, make in files.items():
        say(f"{plain(str(path))}: {write(path, make(source)):,} bytes.\n")
    for sentence in source.missing:
        say(f"{plain(sentence)}\n")
    return 0


def redact(settings: Settings) -> int:
    """Write a redacted copy of the file that the settings name; returns the exit code.

    Raises:
        RecordingError: it cannot be read, or the copy cannot be written.
        SettingsError: it was not said where to write.
    """
    out = _out(settings, "shared.mcap")
    check_generated()
    done = redact_file(Path(settings.recording), out, _redactor(settings))
    say(f"{plain(str(out))}: {done.messages:,} messages, {done.size:,} bytes.\n")
    if done.left_out:
        say(f"{done.left_out:,} messages could not be understood and were left out.\n")
    for sentence in done.missing:
        say(f"{plain(sentence)}\n")
    return 0


def _redactor(settings: Settings) -> Redactor:
    key, lasting = read_key(settings.key_file)
    return Redactor(Names(key, lasting=lasting), containers=settings.redact_containers)


def _out(settings: Settings, example: str) -> Path:
    if not settings.record_to:
        raise SettingsError(f"-o: give the name of the file to write, such as `-o {example}`.")
    return Path(settings.record_to)


def _beside(out: Path, part: str) -> Path:
    """The name of a further file: ``node.csv`` and ``relists`` give ``node.relists.csv``."""
    return out.with_name(f"{out.stem}.{part}{out.suffix}") if part else out
