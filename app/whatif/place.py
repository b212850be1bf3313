"""The recording that is asked about: its files in order, and their place on the player's clock."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.engine.settings import EngineSettings
from app.errors import RecordingUnknown
from app.replaying.show import by_node, opened_files

Signature = tuple[tuple[str, int, int], ...]


class Place(msgspec.Struct, frozen=True):
    """``paths``: of one node, in order. ``shift_ns``: what is added to a time of the session to get
    that of the player. ``then``: what it was recorded with (None: it is not told). ``signature``:
    of the files as they are now, as one may be written still. ``nodes``: (number, name) of all."""

    name: str
    title: str
    paths: tuple[Path, ...]
    shift_ns: int
    then: EngineSettings | None
    signature: Signature
    nodes: tuple[tuple[int, str], ...]


def find(paths: Sequence[Path], node: int) -> Place:
    """Look at the files' beginnings; the order and the clock are those of ``replaying.Show``.

    Raises:
        RecordingUnknown: there is no such node.
        RecordingError: none of the files can be read.
    """
    opened, _left_out = opened_files(paths)
    nodes = by_node(opened)
    if node >= len(nodes):
        raise RecordingUnknown(f"This recording has no node {node}. Open it without `node`.")
    files = list(nodes.values())[node]
    info = files[0].source.info
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return Place(
        name=files[0].source.name + more,
        title=files[0].source.name if info is None else info.title,
        paths=tuple(one.source.path for one in files),
        shift_ns=files[0].origin - opened[0].began,
        then=None if info is None else info.settings,
        signature=tuple(_signed(one.source.path) for one in files),
        nodes=tuple(enumerate(nodes)),
    )


def _signed(path: Path) -> tuple[str, int, int]:
    try:
        told = path.stat()
    except OSError:
        return (str(path), 0, 0)
    return (str(path), told.st_size, told.st_mtime_ns)
