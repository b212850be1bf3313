"""The list of recordings in reach: sizes and times without reading more than their ends."""

import os
import re
import stat
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from app.errors import RecordingError, RecordingUnknown
from app.hub.filmwire import RecordingList, RecordingRow
from app.recording import mcapwrite as mcap
from app.recording.regular import called, open_regular
from app.replaying.incidents import Incidents
from app.replaying.joined import MOST_NAME, Joined, Opened
from app.replaying.sources import Source

MOST_LISTED = 300
"""Recordings in the list, the newest."""
MOST_SUMMARY = 1024 * 1024
"""Bytes of a file's summary that are looked through for when it ends."""
SUFFIXES = (".mcap", ".jsonl")

GROUP = re.compile(r"(demo|watch|record)-[0-9a-f]{8}")
"""Names all files of one session of the flight recorder."""

NOT_IN_REACH = (
    "{} is not in reach of this plegscope. Start `plegscope replay FILE` with its path, or open "
    "/recordings to see what is."
)
_FOOTER = struct.Struct("<BQQQI8s")


class _Seen(NamedTuple):
    path: Path
    size: int
    changed: int
    """Wall time in ns."""


class Listing:
    """What can be opened by name: files that were given, and those of a directory.

    ``command``: of the directory, only what this command's flight recorder wrote: a demo, which
    needs no token, must not show what ``watch`` recorded of a real node.
    """

    def __init__(self, folder: Path | None, given: Sequence[Path], command: str = "") -> None:
        self._mark = f"-{command}-" if command else ""
        self._folder = folder
        self._given = tuple(given)
        self.more: Mapping[str, Path] = {}
        """Other files in reach, by name."""
        self._known: dict[_Seen, RecordingRow] = {}
        self._counts: dict[_Seen, int] = {}

    def paths(self, names: Sequence[str]) -> list[Path]:
        """The files of these names; of none: those that were given.

        Raises:
            RecordingUnknown: one is not in reach.
        """
        if not names and self._given:
            return list(self._given)
        there = {called(one.path): one.path for one in self._files()}
        found: list[Path] = []
        for name in names:
            if name in there:
                found.append(there[name])
                continue
            parts = [path for known, path in there.items() if f"-{name}-" in known]
            if not (GROUP.fullmatch(name) and parts):
                raise RecordingUnknown(NOT_IN_REACH.format(name[:200]))
            found += sorted(parts)
        if not found:
            raise RecordingUnknown("No recording was named. Open /recordings to choose one.")
        return found

    def find(self, name: str) -> Path | None:
        """The file of this name, if one is in reach."""
        return next((one.path for one in self._files() if called(one.path) == name), None)

    def told(self, incidents: Mapping[str, int]) -> RecordingList:
        """The list, the newest first; ``incidents``: how many are known, by name."""
        files = sorted(self._files(), key=lambda one: one.changed, reverse=True)
        rows = []
        changed = {called(one.path): one.changed for one in files}
        for seen in files[:MOST_LISTED]:
            row = self._known.get(seen)
            if row is None:
                row = self._known[seen] = _row(seen)
            count = incidents.get(row.name, self._counts.get(seen))
            if count is not None:
                row = msgspec.structs.replace(row, incidents=count)
            rows.append(row)
        # By when they began, as the list shows it; one that cannot be read has no such time.
        rows.sort(key=lambda row: row.began or changed[row.name], reverse=True)
        listed = set(files)
        self._counts = {seen: count for seen, count in self._counts.items() if seen in listed}
        self._known = {seen: row for seen, row in self._known.items() if seen in listed}
        return RecordingList(
            folder=str(self._folder or ""),
            recordings=tuple(rows),
            more=max(0, len(files) - MOST_LISTED),
        )

    def count_next(self, interrupted: Callable[[], bool]) -> bool:
        """Count the incidents of the newest file of which they are not known, reading all of it;
        returns whether there was one, and it was not ``interrupted``."""
        files = sorted(self._files(), key=lambda one: one.changed, reverse=True)[:MOST_LISTED]
        seen = next((one for one in files if one not in self._counts), None)
        if seen is None:
            return False
        count = _incidents(seen.path, interrupted)
        if interrupted():
            return False
        self._counts[seen] = count
        return True

    def _files(self) -> list[_Seen]:
        found: dict[str, _Seen] = {}
        for path in (*self._given, *self.more.values()):
            with suppress(OSError):
                told = path.stat()
                found[called(path)] = _Seen(path, told.st_size, told.st_mtime_ns)
        if self._folder is not None:
            with suppress(OSError), os.scandir(self._folder) as entries:
                for entry in entries:
                    if not entry.name.endswith(SUFFIXES) or self._mark not in entry.name:
                        continue
                    with suppress(OSError):
                        told = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(told.st_mode):
                            path = Path(entry.path)
                            found[called(path)] = _Seen(path, told.st_size, told.st_mtime_ns)
        return list(found.values())


def _incidents(path: Path, interrupted: Callable[[], bool]) -> int:
    """How many incidents a file has; 0 for one that cannot be read, as its row says."""
    try:
        source = Source(path, interrupted)
        first = source.peek()
        if first is None:
            return 0
        opened, incidents = Opened(source, first), Incidents()
        records = Joined([opened], opened.began).records()
        return sum(incidents.apply(record) is not None for record, _begins in records)
    except RecordingError:
        return 0


def _row(seen: _Seen) -> RecordingRow:
    name = called(seen.path)
    try:
        source = Source(seen.path)
        first = source.peek()
    except RecordingError as error:
        return RecordingRow(name=name, size=seen.size, trouble=str(error))
    if first is None:
        return RecordingRow(name=name, size=seen.size, trouble="It holds no record.")
    opened = Opened(source, first)
    return RecordingRow(
        name=name,
        size=seen.size,
        began=opened.began,
        ended=(_ended(seen) if source.is_mcap else 0) or seen.changed,
        node=opened.node,
        title=source.info.title[:MOST_NAME] if source.info else "a journal of JSON lines",
        group=found.group() if (found := GROUP.search(name)) else "",
    )


def _ended(seen: _Seen) -> int:
    """Wall time (ns) of the last message by the statistics at the file's end; 0: not told."""
    try:
        with open_regular(seen.path) as file:
            file.seek(max(0, seen.size - _FOOTER.size))
            tail = file.read(_FOOTER.size)
            if len(tail) < _FOOTER.size:
                return 0
            opcode, _length, start, _offsets, _crc, magic = _FOOTER.unpack(tail)
            if opcode != mcap.FOOTER or magic != mcap.MAGIC or not 0 < start < seen.size:
                return 0
            file.seek(start)
            summary = file.read(min(MOST_SUMMARY, seen.size - start))
    except OSError:
        return 0
    at = 0
    while at + 9 <= len(summary):
        opcode, length = struct.unpack_from("<BQ", summary, at)
        if opcode == mcap.STATISTICS and length >= 42 and at + 9 + 42 <= len(summary):
            # uint64 messages, uint16 schemas, uint32 x 4, uint64 start, uint64 end
            return int(struct.unpack_from("<Q", summary, at + 9 + 34)[0])
        at += 9 + length
    return 0
