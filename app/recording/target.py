"""Where recordings go: one file that was asked for, or the flight recorder's directory.

The flight recorder keeps the last hours for whoever needs them after the fact: files of some
minutes in the user's state directory (XDG: ``$XDG_STATE_HOME``, else ``~/.local/state``), of all
sessions together bounded by size and age, those of simulated nodes dropped first and of each kind
the oldest; and a share of the disk always stays free. Only files that carry its own names, are
regular and are not being written are touched.
"""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from app.errors import RecordingError
from app.recording.segment import Segment

MIB = 1024 * 1024

NAME = re.compile(r"\d{8}T\d{6}Z-(demo|watch|record)-[0-9a-f]{8}-\d{6}\.mcap")


class OneFile:
    """A file that was asked for; should it vanish, it is begun anew.

    Raises:
        RecordingError: it exists, or cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first: Segment | None = None
        try:
            # At once, so that a wrong name is an answer and not a warning later.
            self._first = Segment(path)
        except FileExistsError as error:
            raise RecordingError(
                f"{path} exists already. Remove it, or give another name for the recording."
            ) from error
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise RecordingError(
                f"{path} cannot be written ({reason}). Give a path where a new file can be made."
            ) from error

    def open_file(self, _part: int, /) -> Segment:
        """The file; raises OSError."""
        first, self._first = self._first, None
        return Segment(self._path) if first is None else first

    def is_over(self, _segment: Segment, /) -> bool:
        """Never: it is one file."""
        return False

    def make_room(self) -> None:
        """Somebody asked for this file: what it may fill is theirs to say."""

    def end(self) -> None:
        """A session that did not come to its beginning leaves no file behind."""
        if self._first is not None:
            self._first.drop()


AGED_AT_ONCE = 2
"""Files too old that go when a new one begins: should the clock jump, it takes hours and not a
moment until the past is gone."""


LOOK_S = 10.0
"""So often the directory is read while its disk has room: two days of files take milliseconds."""


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What the flight recorder keeps to."""

    file_bytes: int = 16 * MIB
    file_s: float = 600.0
    total_bytes: int = 512 * MIB
    age_s: float = 48 * 3600.0
    free_share: float = 0.05
    """Share of the disk that is left free."""


class Flight:
    """The flight recorder's directory.

    Args:
        folder: is made if it is not there (mode 0700).
        command: what records; ``session``: eight hexadecimal digits of it.
        bounds: what is kept to.
        wall_s: seconds since 1970.
        disk: bytes of the disk at a path, those that are free and all; another one only in tests.
    """

    def __init__(
        self,
        folder: Path,
        command: str,
        session: str,
        bounds: Bounds | None = None,
        *,
        wall_s: Callable[[], float] = time.time,
        disk: Callable[[Path], tuple[int, int]] | None = None,
    ) -> None:
        self.folder = folder
        self._command = command
        self._session = session
        self._bounds = bounds or Bounds()
        self._wall_s = wall_s
        self._disk = disk or _disk
        self._began = 0.0
        self._looked: float | None = None

    def open_file(self, part: int, /) -> Segment:
        """The next file, once there is room for it; raises OSError."""
        self._looked = None
        self.make_room()
        self._drop_aged()
        self._began = self._wall_s()
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self._began))
        name = f"{stamp}-{self._command}-{self._session}-{part:06}.mcap"
        return Segment(self.folder / name)

    def is_over(self, segment: Segment, /) -> bool:
        """Large or old enough for the next one to begin."""
        bounds = self._bounds
        return segment.size >= bounds.file_bytes or self._wall_s() - self._began >= bounds.file_s

    def make_room(self) -> None:
        """Drop the oldest files, a demo's before a node's, until the bounds of size and of the disk
        are kept.

        Where all of them would not free enough, somebody else fills the disk: then they stay. To
        be called often: the directory is read before a file begins, each ``LOOK_S``, and when the
        disk lacks room.

        Raises:
            OSError: there is too little room.
        """
        _make(self.folder)
        bounds, now = self._bounds, self._wall_s()
        known = self._looked is not None and 0 <= now - self._looked < LOOK_S
        if known and self._lacks() <= 0:
            return
        self._looked = now
        files = _files(self.folder)
        total = sum(size for _age, size, _path in files)
        helps = self._lacks() <= total
        # A seed plays a demo again; what a node did is gone for ever.
        for _changed, size, path in sorted(files, key=_of_a_node):
            crowded = total > bounds.total_bytes - bounds.file_bytes
            if not crowded and not (helps and self._lacks() > 0):
                break
            if _drop(path):
                total -= size
        if self._lacks() > 0:
            percent = bounds.free_share * 100
            raise OSError(errno.ENOSPC, f"less than {percent:g} % of the disk are free")

    def end(self) -> None:
        """Its files are made when there is something to put into them."""

    def _drop_aged(self) -> None:
        oldest_kept = self._wall_s() - self._bounds.age_s
        aged = [path for changed, _size, path in _files(self.folder) if changed < oldest_kept]
        for path in aged[:AGED_AT_ONCE]:
            _drop(path)

    def _lacks(self) -> float:
        """Bytes that the disk lacks for the share that is to stay free; negative: none."""
        free, whole = self._disk(self.folder)
        return self._bounds.free_share * whole - free


def state_folder(environment: Mapping[str, str], home: Callable[[], Path] = Path.home) -> Path:
    """The flight recorder's directory for this user (XDG Base Directory Specification).

    Raises:
        RecordingError: there is no home directory.
    """
    base = environment.get("XDG_STATE_HOME", "")
    if base and Path(base).is_absolute():
        return Path(base) / "plegscope" / "flight"
    try:
        return home() / ".local" / "state" / "plegscope" / "flight"
    except RuntimeError as error:
        raise RecordingError(
            "There is no home directory to record into. Set XDG_STATE_HOME, or give --no-record."
        ) from error


def _make(folder: Path) -> None:
    """Make it, and what is above it, for this user alone (mode 0700, as XDG wants it)."""
    if not folder.is_dir():
        if folder.parent != folder:
            _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _disk(folder: Path) -> tuple[int, int]:
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize


def _files(folder: Path) -> list[tuple[float, int, Path]]:
    """(time of the last change, bytes, path) of recordings, the oldest first."""
    found: list[tuple[float, int, Path]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if NAME.fullmatch(entry.name) is None:
                continue
            with suppress(OSError):
                seen = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(seen.st_mode):
                    found.append((seen.st_mtime, seen.st_size, Path(entry.path)))
    return sorted(found)


def _of_a_node(file: tuple[float, int, Path]) -> bool:
    named = NAME.fullmatch(file[2].name)
    return named is None or named[1] != "demo"


def _drop(path: Path) -> bool:
    """Remove a recording that nobody writes; returns whether it is gone."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    except OSError:
        return False
    finally:
        os.close(file)
    return True
