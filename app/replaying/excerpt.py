"""What is played of one node, or some minutes of it, as a source of records for an export.

Times and numbers are the player's, so that a link and an export speak of the same moment. A part is
told with what it takes to read it alone: in front stands what was the newest of its kind before,
with the time it had, and a gap that says how many records between the two are left out.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from app.engine.records import Gap, PodCached, PodSeen, Record
from app.errors import RecordingError, RecordingUnknown
from app.recording.opening import Opening
from app.replaying.joined import Joined, Opened
from app.replaying.show import by_node, opened_files
from app.replaying.sources import never

Before = Literal["all", "newest", "names"]
"""What is told of the time before: all of it, the newest of each kind, or the pods' names only."""

NOTHING = "Nothing was recorded in this stretch. Export another one."
LEFT_OUT = "Only a part of the recording was exported."


class Excerpt:
    """Reads the files from their beginning as often as it is asked to.

    Args:
        paths: files that are played together.
        node: which node of them.
        from_t: time from which on (ns); None: from the beginning.
        to_t: time up to which; None: to the end.
        before: what is told of the time before ``from_t``.
        opened: the files as ``opened_files`` has them, for whoever wants several nodes.

    Raises:
        RecordingError: none can be played, or there is no such node.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        node: int = 0,
        *,
        from_t: int | None = None,
        to_t: int | None = None,
        before: Before = "newest",
        stopped: Callable[[], bool] = never,
        opened: tuple[list[Opened], list[str]] | None = None,
    ) -> None:
        files, warnings = opened_files(paths, stopped) if opened is None else opened
        nodes = by_node(files)
        if node >= len(nodes):
            raise RecordingUnknown(f"This recording has no node {node}. Export it without `node`.")
        self.node = list(nodes)[node]
        self._files = nodes[self.node]
        self.origin = files[0].began
        self._warnings = warnings
        self._from_t = from_t or 0
        self._to_t = to_t
        self._before = before
        info = self._files[0].source.info
        self.title = self._files[0].source.name if info is None else info.title
        self.simulated = all(one.simulated for one in self._files)
        # All of them: why one is not played may be said as well.
        self.files: Sequence[Path] = tuple(paths)
        self.missing: list[str] = []

    def records(self) -> Iterator[Record]:
        """The records in order.

        Raises:
            RecordingError: a file cannot be read any more, or nothing is in this stretch.
        """
        joined = Joined(self._files, self.origin)
        opening, passed, last, any_record = Opening(), 0, None, False
        for record, _begins in joined.records():
            if record.t < self._from_t and self._before != "all":
                opening.apply(record)
                passed, last = passed + 1, record
                continue
            if self._to_t is not None and record.t > self._to_t:
                break
            if not any_record and last is not None:
                yield from self._opened(opening, passed, last)
            any_record = any_record or record.t >= self._from_t
            yield record
        if not any_record:
            raise RecordingError(NOTHING)
        self.missing = [*self._warnings, *joined.warnings]

    def has_any(self) -> bool:
        """Whether anything is in this stretch of this node. Raises RecordingError."""
        for record, _begins in Joined(self._files, self.origin).records():
            if record.t >= self._from_t:
                return self._to_t is None or record.t <= self._to_t
        return False

    def _opened(self, opening: Opening, passed: int, last: Record) -> Iterator[Record]:
        begin = opening.records()
        if self._before == "names":
            yield from (one for one in begin if isinstance(one, PodSeen | PodCached))
            return
        yield from begin
        kept = {record.seq for record in begin}
        if passed > len(kept):
            # Numbered like what it stands for, unless that is there.
            yield Gap(
                seq=0 if last.seq in kept else last.seq,
                t=last.t,
                wall=last.wall,
                hop="journal",
                count=passed - len(kept),
                from_t=min(begin[0].t, last.t) if begin else last.t,
                reason=LEFT_OUT,
            )
