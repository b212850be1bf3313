"""What the web asks of exports: the journal as it is now, a run, a recording in reach."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path

from app.errors import RecordingError, RecordingUnknown
from app.export.formats import FORMATS
from app.export.names import Names, read_key
from app.export.redact import Redacted, Redactor
from app.export.source import Kept, Source, open_source
from app.journal.journal import Journal
from app.stage.stage import Stage
from app.web.exports import Asked, Made

Paths = Callable[[Sequence[str]], Awaitable[Sequence[Path]]]


class Exports:
    """Makes exports for the web.

    Args:
        journal: of the session that is shown.
        title: what is shown.
        simulated: whether it does not exist.
        stage: plays runs; None where there is none.
        paths: the files of a recording by its name; None where there are none.
    """

    def __init__(
        self,
        journal: Journal,
        title: str,
        *,
        simulated: bool,
        stage: Stage | None = None,
        paths: Paths | None = None,
    ) -> None:
        self._journal = journal
        self._title = title
        self._simulated = simulated
        self._stage = stage
        self._paths = paths

    def live(self, asked: Asked) -> Made:
        """What the journal has now; what comes later is not in it."""
        source = Kept(self._journal.since(0), self._title, simulated=self._simulated)
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

    async def recording(self, files: Sequence[str], asked: Asked) -> Made:
        """A recording in reach.

        Raises:
            RecordingError: it is not, or it has several files.
        """
        if self._paths is None:
            raise RecordingUnknown("There are no recordings here. Start `plegscope replay`.")
        paths = await self._paths(files)
        if len(paths) != 1:
            raise RecordingError(
                "Several recordings are played here. Name one of them with `file`."
            )
        path = paths[0]
        return _made(lambda: open_source(path), path.stem, asked)


def _made(source: Callable[[], Source], name: str, asked: Asked) -> Made:
    format_ = FORMATS[asked.format]
    table = asked.table if asked.format == "csv" and asked.table != "lifecycle" else ""
    ending = f"{table}.{format_.ending}" if table else format_.ending

    def pieces() -> Iterator[bytes]:
        # In the thread that writes: it reads files, and all names before the first byte.
        given = source()
        if asked.redact:
            key, lasting = read_key("")
            names = Names(key, lasting=lasting)
            given = Redacted(given, Redactor(names, containers=asked.container_names))
        yield from format_.files[table](given)

    # A file's name tells what is in it.
    shown = "export" if asked.redact else name
    return Made(f"plegscope-{shown}.{ending}", format_.media_type, pieces())
