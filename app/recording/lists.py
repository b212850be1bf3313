"""Listings as keyframes and deltas: a quiet node lists the same rows again and again.

Each row gets a place in a table when it is first listed, and a listing is told as places. A new
table, a *keyframe*, begins now and then, so that a reader who comes late or has lost a piece
does not wait long. Rows are told apart by identity, as the CRI boundary hands out the same object
for an unchanged row; the reader does likewise, so that the engine takes the same short cuts.
"""

from collections.abc import Iterable

from app.engine.inputs import Input, PodsListed
from app.engine.model import CallCost, Observation

KEYFRAME_NS = 20_000_000_000
"""A listing this much later than the last keyframe is one."""

MOST_PLACES = 50_000
"""Places a table may have; a reader refuses more. What one list can name is bounded by them."""

MOST_TOLD = 8
"""Listings that a reader keeps for being told again in the same places."""

Rows = tuple[Observation, ...]
Runs = tuple[int, ...]


class Listed(Input, frozen=True, tag="listed"):
    """``PodsListed`` in a recording.

    ``known``: places that the reader's table has before this one (0: a keyframe); ``rows`` take
    the places from there on. ``sandboxes`` and ``containers`` are runs of places: first, count,
    first, count and so on; None: as in the last listing that was ``kept``. ``table`` counts
    keyframes from 1.
    """

    call: int
    table: int
    known: int
    rows: Rows = ()
    sandboxes: Runs | None = None
    containers: Runs | None = None
    kept: bool = False
    calls: tuple[CallCost, ...] = ()


class Undecodable(ValueError):
    """A listing names rows that were told in a part of the recording that is lost."""


class ListWriter:
    """Turns listings into their recorded form."""

    def __init__(self, keyframe_ns: int = KEYFRAME_NS) -> None:
        self._keyframe_ns = keyframe_ns
        self._table = 0
        self._begun = 0
        self._places: dict[str, tuple[Observation, int]] = {}
        self._known = 0
        self._kept: tuple[Rows, Rows] | None = None

    def restart(self) -> None:
        """The next listing is a keyframe."""
        self._known = 0

    def write(self, listed: PodsListed) -> Listed:
        """The recorded form of one listing."""
        sandboxes, containers = listed.sandboxes, listed.containers
        size = len(sandboxes) + len(containers)
        if (
            not self._known
            or listed.t - self._begun >= self._keyframe_ns
            or self._known + size > MOST_PLACES
        ):
            self._table += 1
            self._begun = listed.t
            self._places.clear()
            self._known, self._kept = 0, None
        known, kept = self._known, self._kept
        rows: list[Observation] = []
        # Compared as tuples, identical rows cost next to nothing.
        same = kept is not None and kept[0] == sandboxes and kept[1] == containers
        told = (None, None) if same else (self._runs(sandboxes, rows), self._runs(containers, rows))
        keep = not same and (kept is None or 2 * size >= len(kept[0]) + len(kept[1]))
        if keep:
            self._kept = (sandboxes, containers)
        return Listed(
            t=listed.t,
            wall=listed.wall,
            call=listed.call,
            table=self._table,
            known=known,
            rows=tuple(rows),
            sandboxes=told[0],
            containers=told[1],
            kept=keep,
            calls=listed.calls,
        )

    def _runs(self, rows: Rows, new: list[Observation]) -> Runs:
        places = self._places
        runs: list[int] = []
        expected = -1
        for row in rows:
            found = places.get(row.id)
            if found is not None and found[0] is row:
                place = found[1]
            else:
                place = self._known
                self._known += 1
                places[row.id] = (row, place)
                new.append(row)
            if place == expected:
                runs[-1] += 1
            else:
                runs += (place, 1)
            expected = place + 1
        return tuple(runs)


class ListReader:
    """Turns them back; hands out the same object for an unchanged row, across keyframes too."""

    def __init__(self) -> None:
        self._table = 0
        self._rows: list[Observation] = []
        self._last: dict[str, Observation] = {}
        self._kept: tuple[Rows, Rows] | None = None
        self._told: dict[Runs, Rows] = {}

    def read(self, listed: Listed) -> PodsListed:
        """The listing as it was fed to the engine.

        Raises:
            Undecodable: it cannot be known, as what it builds on is lost; or it is nonsense.
        """
        if listed.known == 0:
            self._rows, self._kept = [], None
            self._told.clear()
        elif (listed.table, listed.known) != (self._table, len(self._rows)):
            raise Undecodable("a listing builds on one that is lost")
        if len(self._rows) + len(listed.rows) > MOST_PLACES:
            raise Undecodable(f"a listing has more than {MOST_PLACES:,} rows")
        self._table = listed.table
        self._rows += self._interned(listed.rows)
        if listed.sandboxes is None or listed.containers is None:
            if self._kept is None:
                raise Undecodable("a listing repeats one that is lost")
            sandboxes, containers = self._kept
        else:
            sandboxes = self._named(listed.sandboxes)
            containers = self._named(listed.containers)
            if listed.kept:
                self._kept = (sandboxes, containers)
        return PodsListed(
            t=listed.t,
            wall=listed.wall,
            call=listed.call,
            sandboxes=sandboxes,
            containers=containers,
            calls=listed.calls,
        )

    def _interned(self, rows: Iterable[Observation]) -> list[Observation]:
        known = self._last
        if len(known) > MOST_PLACES:
            known.clear()
        result: list[Observation] = []
        for row in rows:
            last = known.get(row.id)
            if last is None or last != row:
                known[row.id] = last = row
            result.append(last)
        return result

    def _named(self, runs: Runs) -> Rows:
        """The rows in these places. A place never changes within a table, so what was named is
        handed out again: many rows named again and again cost no more than being told."""
        rows = self._told.get(runs)
        if rows is None:
            rows = self._found(runs)
            if len(self._told) >= MOST_TOLD:
                self._told.clear()
            self._told[runs] = rows
        return rows

    def _found(self, runs: Runs) -> Rows:
        if len(runs) % 2:
            raise Undecodable("a listing's runs are not pairs")
        found: list[Observation] = []
        for first, count in zip(runs[::2], runs[1::2], strict=True):
            if not (first >= 0 and count > 0 and first + count <= len(self._rows)):
                raise Undecodable("a listing names rows that were never told")
            if len(found) + count > MOST_PLACES:
                raise Undecodable(f"a listing has more than {MOST_PLACES:,} rows")
            found += self._rows[first : first + count]
        return tuple(found)
