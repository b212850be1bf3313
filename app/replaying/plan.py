"""Where each piece of a recording is, from the index at its end alone: nothing of it is read.

So a recording of any length can be opened at any place at once. What an index says need not be so:
whoever reads a piece, or reads on from piece to piece, compares (``deep.py``, ``film.py``).
"""

from array import array
from bisect import bisect_right

from app.recording.format import LOSSES, OPENING, STATES, TOLD
from app.recording.mcapindex import Index, Unfit
from app.replaying.joined import FARTHEST

PIECE = 1024
"""Records of a piece at most, but for a chunk that has more alone."""
PIECE_BYTES = 4 * 1024 * 1024
"""Unpacked bytes of its chunks, likewise. plegscope's own chunks have a quarter at most."""
MOST_IN_CHUNK = 8192
"""Records of a chunk; plegscope ends its own there."""
MOST_BETWEEN = 32_768
"""Records between two places that a reader can begin at."""

COUNTED = frozenset({*TOLD, LOSSES})
"""Channels whose messages become records that are played."""


class Plan:
    """The pieces of one recording; they and the chunks are counted from 0.

    Args:
        index: of the file.
        origin: wall time (ns) at time 0 of what is played.

    Raises:
        Unfit: it cannot be read by its index.
        OSError: nor at all.
    """

    def __init__(self, index: Index, origin: int) -> None:
        self.index = index
        self._origin = origin
        self.firsts = array("q")
        """Number of each piece's first record."""
        self.times = array("q")
        """Its time (ns)."""
        self.keys = array("I")
        """Chunks in which a reader can begin."""
        self._begins = array("I")
        """Each piece's first chunk."""
        self.opening = 0
        """Records at the very beginning that are older than the file."""
        self.records = self._cut()
        """How many there are."""
        self.end_t = self._told_before(len(index))
        """Time of the last one (ns)."""

    def __len__(self) -> int:
        return len(self.firsts)

    def count(self, piece: int) -> int:
        """Records of a piece."""
        following = piece + 1
        end = self.firsts[following] if following < len(self) else self.records + 1
        return end - self.firsts[piece]

    def chunks(self, piece: int) -> range:
        """The chunks that a piece is in."""
        following = piece + 1
        end = self._begins[following] if following < len(self) else len(self.index)
        return range(self._begins[piece], end)

    def piece_of(self, chunk: int) -> int:
        """The piece that a chunk belongs to."""
        return bisect_right(self._begins, chunk) - 1

    def span(self, piece: int) -> tuple[int, int]:
        """Number and time (ns) of a piece's first record."""
        return self.firsts[piece], self.times[piece]

    def holding(self, seq: int) -> int:
        """The piece that holds record ``seq``; the nearest for one that is nowhere."""
        return max(0, bisect_right(self.firsts, seq) - 1)

    def before(self, chunk: int) -> int:
        """How many records come before a chunk; what is older than the file always does."""
        piece = self.piece_of(chunk)
        counts = (self.counted(one) for one in range(self._begins[piece], chunk))
        return self.firsts[piece] - 1 + sum(counts) + (0 if piece else self.opening)

    def counted(self, chunk: int) -> int:
        """Records that a chunk brings, but for what is older than the file."""
        return self.index.count(chunk, COUNTED)

    def key(self, chunk: int) -> int | None:
        """The last chunk before this one in which a reader can begin."""
        place = bisect_right(self.keys, chunk - 1) - 1
        return self.keys[place] if place >= 0 else None

    def t_before(self, piece: int) -> int:
        """Time (ns) of the last record before a piece; 0 for the first."""
        return self._told_before(self._begins[piece]) if piece else 0

    def density(self) -> "array[int]":
        """Of each chunk with records how many, from when and to when (ns), one after another."""
        told = array("q")
        for chunk in range(len(self.index)):
            count = self.counted(chunk)
            if count:
                start, end = self.index.starts[chunk], self.index.ends[chunk]
                told.extend((count, start - self._origin, end - self._origin))
        return told

    def _cut(self) -> int:
        index, origin = self.index, self._origin
        between = in_piece = weighs = total = 0
        t = -FARTHEST
        for chunk in range(len(index)):
            count, size = self.counted(chunk), index.sizes[chunk]
            far = max(abs(index.starts[chunk] - origin), abs(index.ends[chunk] - origin))
            if count > MOST_IN_CHUNK or between > MOST_BETWEEN or far > FARTHEST:
                raise Unfit
            if not total:
                self._open(chunk, count)
            if count:
                full = in_piece + count > PIECE or weighs + size > PIECE_BYTES
                if not total or (in_piece and full):
                    t = max(t, index.first(chunk, COUNTED)[1] - origin)
                    self._begins.append(chunk if total else 0)
                    self.firsts.append(1 + total + (self.opening if total else 0))
                    self.times.append(t)
                    in_piece = weighs = 0
                in_piece += count
                total += count
            weighs += size
            between += count
            if index.count(chunk, {STATES}):
                self.keys.append(chunk)
                between = 0
        if not total:
            raise Unfit
        return total + self.opening

    def _open(self, chunk: int, count: int) -> None:
        """Count what is older than the file, up to its first record."""
        older = self.index.count(chunk, {OPENING})
        if not count:
            self.opening += older
        elif older and self.index.first(chunk, {OPENING}) < self.index.first(chunk, COUNTED):
            raise Unfit

    def _told_before(self, chunk: int) -> int:
        for one in range(chunk - 1, -1, -1):
            if self.counted(one):
                return max(0, self.index.last(one, COUNTED)[1] - self._origin)
        return 0
