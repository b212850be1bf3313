"""Some files opened together: a film of each node, all on one clock."""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from app.errors import RecordingError
from app.hub.filmwire import NodeTold
from app.recording.regular import called
from app.replaying.film import Film
from app.replaying.joined import FARTHEST, Opened
from app.replaying.markers import MarkerFile
from app.replaying.sources import Source, never, same
from app.replaying.spliced import spliced

MOST_FILES = 200
"""Files that are played together."""

FAR = (
    "{} is left out: by its clock it was recorded years before or after the others. Open it alone."
)


class Show:
    """What is played together.

    Raises:
        RecordingError: none of the files can be played.
    """

    def __init__(self, paths: Sequence[Path], stopped: Callable[[], bool] = never) -> None:
        opened, warnings = opened_files(paths, stopped)
        origin = opened[0].began
        digests = [one.source.digest for one in opened]
        whole = hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()[:16]
        self.digest = digests[0] if len(digests) == 1 else whole
        self.name = opened[0].source.name
        if len(opened) > 1:
            self.name += f" and {len(opened) - 1} more"
        nodes = by_node(opened)
        self._files = list(nodes.values())
        self.films = [
            Film(spliced(files), name=self.name, digest=self.digest, origin=origin)
            for files in nodes.values()
        ]
        for film in self.films:
            film.warnings += warnings
        self.nodes = tuple(
            NodeTold(
                number=number,
                name=name,
                files=tuple(one.source.name for one in files),
            )
            for number, (name, files) in enumerate(zip(_called(nodes), self._files, strict=True))
        )
        self.markers = MarkerFile(opened[0].source.path, origin)
        self.title = self.films[0].title
        self.simulated = all(film.simulated for film in self.films)

    def around(self, node: int, t: int) -> list[Path]:
        """The files in which the minute before ``t`` (ns) of a node may be, the oldest first: of
        each session the one that was written then, and the one before."""
        at = self.films[node].origin + t
        sessions: dict[str, list[Opened]] = {}
        for file in self._files[node]:
            if file.began <= at:
                sessions.setdefault(file.session, []).append(file)
        last = [file for files in sessions.values() for file in files[-2:]]
        return [file.source.path for file in sorted(last, key=lambda one: one.began)]


def _called(nodes: Mapping[str, Sequence[Opened]]) -> list[str]:
    """What each node is called beside the others. A simulated one's title is long, and cut short
    two seeds look alike: it is called by scenario and seed, unless another one has the same."""
    short = []
    for name, files in nodes.items():
        info = files[0].source.info
        known = info is not None and info.scenario and info.seed is not None
        short.append(f"{info.scenario}, seed {info.seed}" if info and known else name)
    return [one if short.count(one) == 1 else name for one, name in zip(short, nodes, strict=True)]


def by_node(opened: Sequence[Opened]) -> dict[str, list[Opened]]:
    """The files of each node, those that were begun first before the others."""
    nodes: dict[str, list[Opened]] = {}
    for one in opened:
        nodes.setdefault(one.node, []).append(one)
    return nodes


def opened_files(
    paths: Sequence[Path], stopped: Callable[[], bool] = never
) -> tuple[list[Opened], list[str]]:
    """The files that can be played in order of their beginnings, and why others cannot.

    Raises:
        RecordingError: none can.
    """
    opened: list[Opened] = []
    warnings: list[str] = []
    problem: RecordingError | None = None
    for path in paths[:MOST_FILES]:
        try:
            source = Source(path, stopped)
            if any(same(one.source, source, stopped) for one in opened):
                warnings.append(f"{called(path)} is the same file as another, and left out.")
                continue
            first = source.peek()
            if first is None:
                told = f" {source.warnings[0]}" if source.warnings else ""
                raise RecordingError(f"{path} holds no record.{told} Give another recording.")
        except RecordingError as error:
            problem = error
            warnings.append(str(error))
            continue
        opened.append(Opened(source, first))
    if not opened:
        raise problem or RecordingError("No file was given. Give a recording.")
    if len(paths) > MOST_FILES:
        warnings.append(f"Only the first {MOST_FILES} of {len(paths)} files are played.")
    opened.sort(key=lambda one: (one.began, one.part))
    near = _near(opened)
    warnings += [FAR.format(one.source.name) for one in opened if one not in near]
    return near, warnings


def _near(opened: list[Opened]) -> list[Opened]:
    """As many as have one clock: a node whose clock was never set believes that it is 1970, and
    must not take the others' place."""
    runs = [
        opened[at : bisect_right(opened, one.began + FARTHEST // 2, key=lambda two: two.began)]
        for at, one in enumerate(opened)
    ]
    return max(runs, key=lambda run: (len(run), run[0].began))
