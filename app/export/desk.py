"""What the web asks of exports: the journal as it is now, a run, a recording in reach."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from app.engine.records import Record
from app.errors import RecordingUnknown
from app.export import page, several
from app.export.formats import BEFORE, FORMATS
from app.export.names import Names, read_key
from app.export.redact import Redacted, Redactor
from app.export.source import Kept, Source, open_source
from app.journal.journal import Journal
from app.replaying.excerpt import Excerpt
from app.replaying.joined import Opened
from app.replaying.show import by_node, opened_files
from app.stage.stage import Stage
from app.web.exports import WHOLE, Asked, Cut, Made

Paths = Callable[[Sequence[str]], Awaitable[Sequence[Path]]]

FORGOTTEN = "The oldest {:,} records are not in it: only so many are kept in memory."


class Exports:
    """Makes exports for the web.

    Args:
        journal: of the session that is shown.
        title: what is shown.
        simulated: whether it does not exist.
        stage: plays runs; None where there is none.
        paths: the files of a recording by its name; None where there are none.
        files: what the journal was read from.
    """

    def __init__(
        self,
        journal: Journal,
        title: str,
        *,
        simulated: bool,
        stage: Stage | None = None,
        paths: Paths | None = None,
        files: Sequence[Path] = (),
    ) -> None:
        self._journal = journal
        self._title = title
        self._simulated = simulated
        self._stage = stage
        self._paths = paths
        self._files = files

    def live(self, asked: Asked) -> Made:
        """What the journal has now; what comes later is not in it."""
        source = Kept(self._journal.since(0), self._title, simulated=self._simulated)
        source.files = self._files
        forgotten = self._journal.first_seq - 1
        if forgotten:
            source.missing = [FORGOTTEN.format(forgotten)]
        return _made(lambda: source, self._title, asked)

    async def run(self, pairs: Iterable[tuple[str, str]], asked: Asked) -> Made:
        """A run.

        Raises:
            StageError: it cannot be played.
        """
        assert self._stage is not None
        spec = self._stage.spec(pairs)
        run = await self._stage.runs.get(spec)
        title = f"{run.title}, seed {spec.seed}"
        source = Kept(run.records, title, simulated=True)
        return _made(lambda: source, f"{spec.scenario}-{spec.seed}", asked)

    async def recording(self, files: Sequence[str], asked: Asked, cut: Cut = WHOLE) -> Made:
        """A recording in reach, or some of it.

        Raises:
            RecordingError: it is not in reach.
        """
        if self._paths is None:
            raise RecordingUnknown("There are no recordings here. Start `plegscope replay`.")
        paths = await self._paths(files)
        name = paths[0].stem
        part = "" if cut.from_t is None and cut.to_t is None else "-part"
        if cut.node is None and len(paths) > 1:
            opened = await asyncio.to_thread(opened_files, paths)
            if len(by_node(opened[0])) > 1:
                return _several(opened, paths, f"{name}{part}", asked, cut)
        if len(paths) == 1 and cut.whole:
            # As it is: with the numbers and times that the session gave.
            return _made(lambda: open_source(paths[0]), name, asked)
        make = partial(
            Excerpt,
            paths,
            cut.node or 0,
            from_t=cut.from_t,
            to_t=cut.to_t,
            before=BEFORE.get(asked.format, "newest"),
        )
        return _made(make, f"{name}{part}", asked, cut.from_t)


class _Counted:
    """A source that counts what is read of it."""

    def __init__(self, source: Source, count: Callable[[], None]) -> None:
        self._source = source
        self._count = count
        self.title = source.title
        self.simulated = source.simulated
        self.files = source.files

    @property
    def missing(self) -> list[str]:
        """What could not be read."""
        return self._source.missing

    def records(self) -> Iterator[Record]:
        """All records."""
        for record in self._source.records():
            self._count()
            yield record


class _Count:
    """How many."""

    def __init__(self) -> None:
        self.number = 0

    def one(self) -> None:
        """One more."""
        self.number += 1


def _several(
    opened: tuple[list[Opened], list[str]],
    paths: Sequence[Path],
    name: str,
    asked: Asked,
    cut: Cut,
) -> Made:
    """All nodes of these files."""
    format_, table = asked.format, _table(asked)
    count = _Count()

    def pieces() -> Iterator[bytes]:
        excerpts = [
            Excerpt(
                paths,
                number,
                from_t=cut.from_t,
                to_t=cut.to_t,
                before=BEFORE.get(format_, "newest"),
                opened=opened,
            )
            for number in range(len(by_node(opened[0])))
        ]
        nodes = several.nodes_in(
            excerpts,
            whole=cut.whole,
            counted=lambda source: _Counted(source, count.one),
        )
        if asked.redact:
            nodes = several.redacted(nodes, _redactor(asked))
        if format_ in several.APART:
            yield from several.archive(several.each_apart(nodes))
        else:
            yield from several.one_file(nodes, format_, excerpts[0].origin, table, cut.from_t)

    made = FORMATS[format_]
    media_type, ending = made.media_type, f"{table}.{made.ending}" if table else made.ending
    if format_ in several.APART:
        media_type, ending = several.ZIP, f"{made.ending}.zip"
    shown = "export" if asked.redact else f"{name}-nodes"
    return Made(f"plegscope-{shown}.{ending}", media_type, pieces(), lambda: count.number)


def _table(asked: Asked) -> str:
    """Which further table is asked for; empty: none."""
    return asked.table if asked.format == "csv" and asked.table != "lifecycle" else ""


def _redactor(asked: Asked) -> Redactor:
    key, lasting = read_key("")
    return Redactor(Names(key, lasting=lasting), containers=asked.container_names)


def _made(
    source: Callable[[], Source], name: str, asked: Asked, since_t: int | None = None
) -> Made:
    format_ = FORMATS[asked.format]
    table = _table(asked)
    ending = f"{table}.{format_.ending}" if table else format_.ending
    make = format_.files[table]
    if asked.format == "html" and since_t is not None:
        make = partial(page.page, since_t=since_t)
    count = _Count()

    def pieces() -> Iterator[bytes]:
        # In the thread that writes: it reads files, and all names before the first byte.
        given: Source = _Counted(source(), count.one)
        if asked.redact:
            given = Redacted(given, _redactor(asked))
        yield from make(given)

    # A file's name tells what is in it.
    shown = "export" if asked.redact else name
    return Made(f"plegscope-{shown}.{ending}", format_.media_type, pieces(), lambda: count.number)
