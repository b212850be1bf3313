"""Several files of one node as one sequence of records, in order of time, on one clock.

Files of one session follow one another as they were written; of another session (plegscope was
started again) the clock goes on, and the time between is a gap. Pods that a later session does not
list any more are gone by the end of its first global relist; nobody saw when.

Two plegscopes may have recorded one node at the same time. Each has a journal of its own, so a
moment is told by one of them: the session that began first is played to its end, and of the other
what came after. What is passed over is followed, so that the other goes on with the pods as it had
them, and it is said where the change is and how much was passed over.
"""

from collections.abc import Iterator, Sequence
from copy import copy

import msgspec

from app.engine.records import Gap, Lifecycle, Note, PodGone, Record, RelistFinished
from app.recording.opening import Opening
from app.replaying.joining import Mover
from app.replaying.sources import Source
from app.words import count

DAY = 24 * 3600 * 1_000_000_000
FARTHEST = 3650 * DAY
"""A time farther from the beginning than this is none (ns)."""

OVERLAP_NS = 1_000_000_000
"""Sessions that were both recorded for longer than this were recorded at the same time; clocks that
were set back by less are nobody's business."""

BETWEEN = "Nothing was recorded here: plegscope was not running, or its recording is not given."
MISSING = "A recording between these two files is not given."
NOT_RECORDED = (BETWEEN, MISSING)
MOST_NAME = 1000
"""Characters that are kept of what a node is called."""
MOST_LIVE = 16_384
"""Pods of which it is known that they were there when a session ended, those told of least recently
forgotten first: as many as are counted by pod, and four times those that any table keeps. Of a
forgotten one it is not told that a later session does not list it."""
MOST_LETTERS = 256
"""Characters of a UID (Kubernetes' have 36) by which a pod is followed from session to session."""
NO_TIME = "{}: without {}, whose time can be none."


class Opened:
    """A file with what its order follows from: wall time (ns) of its session's time 0, and its
    first record's time on that clock."""

    def __init__(self, source: Source, first: Record) -> None:
        self.source = source
        info = source.info
        self.origin = info.origin if info and info.origin > 0 else first.wall - first.t
        self.first_t = first.t
        # A journal of lines names no session: each is one of its own, whatever it is like.
        self.session = info.session if info else f"{source.digest} {source.path}"
        self.part = info.part if info else 1
        self.simulated = info is not None and info.simulated

    def of(self, source: Source) -> "Opened":
        """The same, of which ``source`` has more."""
        other = copy(self)
        other.source = source
        return other

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
        called = info.title if info.simulated else info.host or info.title
        return called[:MOST_NAME]


class Joined:
    """The records of one node's files, numbered from 1.

    Args:
        files: of one node.
        origin: wall time (ns) that becomes time 0.
    """

    def __init__(self, files: Sequence[Opened], origin: int) -> None:
        sessions: dict[str, list[Opened]] = {}
        for file in sorted(files, key=lambda one: (one.began, one.part)):
            sessions.setdefault(file.session, []).append(file)
        self._sessions = list(sessions.values())
        self._origin = origin
        self._seq = 0
        self._t = -FARTHEST
        self._mover = Mover(0)
        # The UID told of least recently first: a dictionary keeps its order.
        self._live: dict[str, None] = {}
        self._stale: set[str] = set()
        self._last = 0
        """The highest number, of those that the session itself gave, so far."""
        self._passing: Opening | None = None
        """Follows the session, while another one is played that was recorded at the same time."""
        self.warnings: list[str] = []
        self._no_time = 0
        """Records of this file with a time that can be none."""
        self.begun = 0
        """How many files have been begun."""

    def records(self) -> Iterator[tuple[Record, bool]]:
        """Records in order, and whether a session begins with this one.

        Raises:
            RecordingError: a file is no recording any more, or cannot be read any further.
        """
        before = ""
        for files in self._sessions:
            began = files[0].began - self._origin
            overlaps = self._seq > 0 and began < self._t - OVERLAP_NS
            by = self._t - began
            self._begin(files[0], passing=overlaps)
            begins = True
            for file in files:
                self.begun += 1
                for record in self._of(file, begins=begins):
                    yield record, begins
                    begins = False
                self.warnings += file.source.warnings
                if self._no_time:
                    name = file.source.name
                    self.warnings.append(NO_TIME.format(name, count(self._no_time, "record")))
                    self._no_time = 0
            whole = self._passing is not None
            self._passing = None
            if overlaps:
                told = _within(files, before) if whole else _at_the_same_time(files, before, by)
                self.warnings.append(told)
            if not whole:
                before = files[-1].source.name

    def _begin(self, file: Opened, *, passing: bool) -> None:
        """Another session."""
        self._last = 0
        self._mover = Mover(file.origin - self._origin, self._mover.numbers)
        self._passing = Opening() if passing else None
        if not passing:
            self._stale = set(self._live)

    def _of(self, file: Opened, *, begins: bool) -> Iterator[Record]:
        """The records of one file."""
        follows = self._seq > 0
        began = False
        for record, opening in file.source.records():
            t = record.t + self._mover.by
            known = not begins and 0 < record.seq <= self._last
            if abs(t) > FARTHEST:
                self._no_time += not opening
                continue
            if known:
                continue
            missing = 0 if begins or not record.seq else record.seq - self._last - 1
            if self._passing is not None:
                if opening or t <= self._t:
                    self._last = max(self._last, record.seq)
                    self._passing.apply(record)
                    continue
                if missing > 0:
                    yield self._gap(record, t, missing)
                yield from self._go_on(file, record)
                began = True
            # What is told again to begin from is known already, where something came before.
            if opening and (began or follows):
                continue
            if not opening and not began:
                began = True
                if follows and (begins or missing > 0):
                    yield self._gap(record, t, 0 if begins else missing)
            self._last = max(self._last, record.seq)
            yield self._moved(record)
            yield from self._gone(record)

    def _go_on(self, file: Opened, record: Record) -> Iterator[Record]:
        """From here on this session is played, which had begun before: what there was by then."""
        assert self._passing is not None
        known = self._passing.records()
        self._passing = None
        self._stale = set(self._live)
        text = f"From here on {file.source.name} is played: what was until now has ended."
        note = Note(t=record.t, wall=record.wall, level="info", text=text)
        yield self._moved(note)
        # A relist last: what was not listed by then is gone.
        known.sort(key=lambda one: isinstance(one, RelistFinished))
        for one in known:
            # Nothing has changed now: it was so.
            was = isinstance(one, Lifecycle)
            yield self._moved(msgspec.structs.replace(one, baseline=True) if was else one)
            yield from self._gone(one)

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
            self._live.pop(uid, None)
            if not isinstance(record, PodGone) and len(uid) <= MOST_LETTERS:
                self._live[uid] = None
                if len(self._live) > MOST_LIVE:
                    del self._live[next(iter(self._live))]
        return moved

    def _gone(self, record: Record) -> Iterator[Record]:
        """The pods of the session before that a first global relist did not list."""
        if not self._stale or not isinstance(record, RelistFinished):
            return
        if record.scope == "global" and record.ok:
            for uid in sorted(self._stale):
                self._live.pop(uid, None)
                yield PodGone(seq=self._next(), t=self._t, wall=record.wall, uid=uid)
            self._stale.clear()

    def _next(self) -> int:
        self._seq += 1
        return self._seq

    def _told_at(self, t: int) -> int:
        self._t = max(self._t, t)
        return self._t


def _called(files: Sequence[Opened]) -> str:
    more = f" and {len(files) - 1} more of its session" if len(files) > 1 else ""
    return f"{files[0].source.name}{more}"


def _at_the_same_time(files: Sequence[Opened], before: str, by: int) -> str:
    return (
        f"{_called(files)} was recorded at the same time as {before} for {by / 1e9:,.0f} s: of "
        f"that time {before} is played, and {files[0].source.name} from then on. Open it alone to "
        "see all of it."
    )


def _within(files: Sequence[Opened], before: str) -> str:
    return (
        f"{_called(files)} was recorded at the same time as {before}, which began before and went "
        "on for longer: nothing of it is played here. Open it alone."
    )
