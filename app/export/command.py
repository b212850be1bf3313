"""``plegscope export`` and ``plegscope redact``: a recording for something or somebody else."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from app.errors import RecordingError, SettingsError
from app.export import several
from app.export.formats import BEFORE, FORMATS
from app.export.names import Names, read_key
from app.export.output import write
from app.export.page import page
from app.export.redact import Redacted, Redactor
from app.export.redactfile import redact_file
from app.export.source import Source, open_source
from app.replaying.excerpt import NOTHING, Excerpt
from app.replaying.show import by_node, opened_files
from app.resources import check_generated
from app.settings import Settings
from app.terminal import plain, say
from app.words import count


def export(settings: Settings) -> int:
    """Export the files that the settings name; returns the exit code.

    Raises:
        RecordingError: it cannot be read, or the export cannot be written.
        SettingsError: it was not said what to write, or where.
    """
    out = _out(settings, "export.json")
    if not settings.export:
        raise SettingsError(f"--format: say which one: {', '.join(FORMATS)}.")
    if not settings.recordings:
        raise SettingsError("FILE: say which recording, such as `plegscope export node.mcap …`.")
    check_generated()
    paths = [Path(name) for name in settings.recordings]
    if len(paths) > 1 or _is_part(settings):
        excerpts = _excerpts(settings, paths)
        if len(excerpts) > 1:
            return _several(settings, excerpts, out)
        return _one(settings, excerpts[0], out)
    return _one(settings, open_source(paths[0]), out)


def _is_part(settings: Settings) -> bool:
    return settings.from_ns is not None or settings.to_ns is not None


def _excerpts(settings: Settings, paths: Sequence[Path]) -> list[Excerpt]:
    """What is wanted of each node that has anything of it."""
    from_t, to_t = settings.from_ns, settings.to_ns
    if from_t is not None and to_t is not None and to_t <= from_t:
        raise SettingsError("--to: give a time after --from.")
    before = BEFORE.get(settings.export, "newest")
    opened = opened_files(paths)
    nodes = range(len(by_node(opened[0])))
    all_of_them = [
        Excerpt(paths, number, from_t=from_t, to_t=to_t, before=before, opened=opened)
        for number in nodes
    ]
    there = [one for one in all_of_them if not _is_part(settings) or one.has_any()]
    if not there:
        raise RecordingError(NOTHING)
    return there


def _one(settings: Settings, source: Source, out: Path) -> int:
    """Of one node."""
    files = {_beside(out, part): make for part, make in FORMATS[settings.export].files.items()}
    _all_new(files)
    if settings.redact:
        source = Redacted(source, _redactor(settings))
    for path, make in files.items():
        html = settings.export == "html" and settings.from_ns is not None
        _write(path, page(source, settings.from_ns) if html else make(source))
    _say_missing([source])
    return 0


def _several(settings: Settings, excerpts: Sequence[Excerpt], out: Path) -> int:
    """Of several nodes: of formats that hold one only, a file for each beside ``out``."""
    nodes: list[several.Node] = [(one.node, one) for one in excerpts]
    if settings.redact:
        nodes = several.redacted(nodes, _redactor(settings))
    format_ = settings.export
    if format_ in several.APART:
        each = several.each_apart(nodes)
        files = {_beside(out, Path(name).stem): pieces for name, pieces in each}
    else:
        origin = excerpts[0].origin
        files = {
            _beside(out, one): several.one_file(nodes, format_, origin, one, settings.from_ns)
            for one in FORMATS[format_].files
        }
    _all_new(files)
    for path, pieces in files.items():
        _write(path, pieces)
    _say_missing([source for _name, source in nodes])
    return 0


def _all_new(files: Iterable[Path]) -> None:
    for path in files:
        if path.exists():
            raise RecordingError(f"{path} exists already. Give another name after -o.")


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    say(f"{plain(str(path))}: {write(path, pieces):,} bytes.\n")


def _say_missing(sources: Iterable[Source]) -> None:
    for sentence in dict.fromkeys(one for source in sources for one in source.missing):
        say(f"{plain(sentence)}\n")


def redact(settings: Settings) -> int:
    """Write a redacted copy of the file that the settings name; returns the exit code.

    Raises:
        RecordingError: it cannot be read, or the copy cannot be written.
        SettingsError: it was not said where to write.
    """
    out = _out(settings, "shared.mcap")
    check_generated()
    done = redact_file(Path(settings.recording), out, _redactor(settings))
    say(f"{plain(str(out))}: {count(done.messages, 'message')}, {done.size:,} bytes.\n")
    if done.left_out:
        say(f"Left out: {count(done.left_out, 'message')} that could not be understood.\n")
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
