"""Several files of one node as one sequence of records, in order of time, on one clock.

Files of one session follow one another as they were written; of another session (plegscope was
started again) the clock goes on, and the time between is a gap. Pods that a later session does not
list any more are gone by the end of its first global relist; nobody saw when.
"""

from collections.abc import Iterator, Sequence

from app.engine.records import Gap, PodGone, Record, RelistFinished
from app.replaying.joining import Mover
from app.replaying.sources import Source

DAY = 24 * 3600 * 1_000_000_000
FARTHEST = 3650 * DAY
"""A time farther from the beginning than this is none (ns)."""

OVERLAP_NS = 1_000_000_000
"""Sessions that were both recorded for longer than this cannot be played as one."""

BETWEEN = "Nothing was recorded here: plegscope was not running, or its recording is not given."
MISSING = "A recording between these two files is not given."
NOT_RECORDED = (BETWEEN, MISSING)


class Opened:
    """A file with what its order follows from: wall time (ns) of its session's time 0, and its
    first record's time on that clock."""

    def __init__(self, source: Source, first: Record) -> None:
        self.source = source
        info = source.info
        self.origin = info.origin if info and info.origin > 0 else first.wall - first.t
        self.first_t = first.t
        self.session = info.session if info else source.digest
        self.part = info.part if info else 1
        self.simulated = info is not None and info.simulated

    @property
    def began(self) -> int:
        """Wall time (ns) of the first record."""
        return self.origin + self.first_t

    @property
    def node(self) -> str:
        """What files of one node have in common."""
        info = self.source.info
        if info is None:
            return self.source.name
        return info.title if info.simulated else info.host or info.title


class Joined:
    """The records of one node's files, numbered from 1.

    Args:
        files: of one node.
        origin: wall time (ns) that becomes time 0.
    """

    def __init__(self, files: Sequence[Opened], origin: int) -> None:
        self._files = sorted(files, key=lambda one: (one.began, one.part))
        self._origin = origin
        self._seq = 0
        self._t = -FARTHEST
        self._mover = Mover(0)
        self._live: set[str] = set()
        self._stale: set[str] = set()
        self.warnings: list[str] = []
        self.begun = 0
        """How many files have been begun."""

    def records(self) -> Iterator[tuple[Record, bool]]:
        """Records in order, and whether a session begins with this one.

        Raises:
            RecordingError: a file is no recording any more, or cannot be read any further.
        """
        session, last = "", 0
        for file in self._files:
            self.begun += 1
            begins = file.session != session
            if begins and self._seq and file.began - self._origin < self._t - OVERLAP_NS:
                self.warnings.append(
                    f"{file.source.name} is left out: it was recorded at the same time as another "
                    "file of this node. Open it alone."
                )
                continue
            if begins:
                last = 0
            for number, record in self._of(file, begins=begins, last=last):
                last = max(last, number)
                yield record, begins
                begins = False
            session = file.session
            self.warnings += file.source.warnings

    def _of(self, file: Opened, *, begins: bool, last: int) -> Iterator[tuple[int, Record]]:
        """The records of one file with the numbers that they had; ``last``: what is there."""
        follows = self._seq > 0
        if begins:
            self._mover = Mover(file.origin - self._origin, self._mover.numbers)
            self._stale = set(self._live)
        began = False
        for record, opening in file.source.records():
            t = record.t + self._mover.by
            known = not begins and 0 < record.seq <= last
            # What is told again to begin from is known already, where something came before.
            if abs(t) > FARTHEST or known or (opening and (began or follows)):
                continue
            if not opening and not began:
                began = True
                missing = record.seq - last - 1 if not begins and record.seq else 0
                if follows and (begins or missing > 0):
                    yield 0, self._gap(record, t, 0 if begins else missing)
            yield record.seq, self._moved(record)
            yield from self._gone(record)

    def _gap(self, record: Record, t: int, count: int) -> Record:
        reason = MISSING if count else BETWEEN
        gap = Gap(t=t, wall=record.wall, hop="journal", count=count, from_t=self._t, reason=reason)
        return Mover(0).move(gap, self._next(), self._told_at(t))

    def _moved(self, record: Record) -> Record:
        moved = self._mover.move(record, self._next(), self._t)
        self._told_at(moved.t)
        uid = getattr(record, "uid", None)
        if uid is not None:
            self._stale.discard(uid)
            if isinstance(record, PodGone):
                self._live.discard(uid)
            else:
                self._live.add(uid)
        return moved

    def _gone(self, record: Record) -> Iterator[tuple[int, Record]]:
        """The pods of the session before that a first global relist did not list."""
        if not self._stale or not isinstance(record, RelistFinished):
            return
        if record.scope == "global" and record.ok:
            for uid in sorted(self._stale):
                self._live.discard(uid)
                yield 0, PodGone(seq=self._next(), t=self._t, wall=record.wall, uid=uid)
            self._stale.clear()

    def _next(self) -> int:
        self._seq += 1
        return self._seq

    def _told_at(self, t: int) -> int:
        self._t = max(self._t, t)
        return self._t
