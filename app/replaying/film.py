"""The recordings of one node, made playable: read once, piece by piece, from a thread.

A single recording with an index is played from the index at once, and its pieces are read as they
are asked for (``deep.py``); reading it through then only looks for what is told of the whole, and
makes sure that the index is true. Any other is played as far as it has been read, and its pieces
are laid out in a spool. Either way what stays in memory does not grow with the recording but by
some hundred bytes a piece.
"""

import gzip
import threading
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import msgspec

from app.engine.records import (
    AnyRecord,
    Gap,
    PodCached,
    PodUncached,
    Record,
    RelistFinished,
)
from app.errors import RecordingError
from app.hub.filmwire import Counted, FilmTold, Found, Incident, NodeTold, Sought, Span
from app.hub.wire import Cost, SessionState
from app.journal.levels import Levels
from app.journal.marks import MARKS
from app.journal.weight import weight
from app.recording.mcapindex import Unfit
from app.replaying.deep import Broken, Deep
from app.replaying.incidents import Incidents
from app.replaying.joined import NOT_RECORDED, Joined, Opened
from app.replaying.overview import Bins, IdleStretches
from app.replaying.past import Cutting, Past, packed
from app.replaying.plan import PIECE
from app.replaying.shelf import SpoolShelf
from app.replaying.spool import Full, Spool

PIECE_WEIGHT = 512 * 1024
"""Characters of text in a piece that is laid out, roughly."""
MOST_INCIDENTS = 20_000
"""Incidents that are kept; those that come later are counted only."""
INCIDENTS_TOLD = 2_000
BITS = 1024
"""Pods that are told apart where a pod's next record is looked for."""
LANES = 16_384
"""Pods whose bins can be told; of more, those whose last news is oldest are forgotten."""
TURNS = 4096
"""Changes of the stream, and gaps, that are told between bins."""
AT_ONCE = 64
"""Records of those read through after which somebody else may be let pass."""
MOST_TITLE = 200
MOST_LOOKED = 200
"""Pieces that are looked through for what was told of the pod cache."""

FREE = Cost(0.0, 0.0, 0.0, 0)


class _Records(msgspec.Struct):
    """What is needed of a piece to look for something."""

    records: list[AnyRecord]


class Film:
    """What is played of one node.

    ``advance`` belongs to one thread; everything else may be asked from any.

    Args:
        files: of one node.
        name: of the recordings, as a link has it; ``digest``: of all of them.
        origin: wall time (ns) of time 0.
    """

    def __init__(self, files: Sequence[Opened], *, name: str, digest: str, origin: int) -> None:
        self.name = name
        self.digest = digest
        self.origin = origin
        self.layout = 1
        """Which table of pieces is told; another one begins when the index proves untrue."""
        self._files = list(files)
        info = files[0].source.info
        title = name if info is None else f"{name}: {info.title[:MOST_TITLE]}"
        self.title = title
        self.simulated = all(one.simulated for one in files)
        self._info = info
        self._lock = threading.Lock()
        self._first_state = self._state(Past())
        self._given = 0
        self._deep: Deep | None = None
        self._untrue = False
        if len(files) == 1 and files[0].source.is_mcap and info is not None:
            # Without an index of use it is read from its beginning, as any other file.
            with suppress(Unfit):
                self._deep = Deep(files[0], origin, self._state)
        self._begin()

    def _begin(self) -> None:
        """Read from the beginning."""
        self._whole = False
        self.warnings: list[str] = []
        self._joined = Joined(self._files, self.origin)
        self._records = self._joined.records()
        self._spool = Spool()
        self._incidents = Incidents()
        self._found: list[Incident] = []
        self._found_total = 0
        self._bins = Bins(() if self._deep is None else self._deep.plan.density())
        self._idle = IdleStretches()
        self._levels = Levels(lanes=LANES, shelf=SpoolShelf(), turns=TURNS)
        self._past = Past()
        self._touched: list[bytes] = []
        self._kept = 0
        self._kept_t = 0

    @property
    def whole(self) -> bool:
        """Whether there is nothing more to be read; once more if the index proves untrue later."""
        return self._whole and not self._untrue

    # Reading, on one thread

    def advance(self) -> list[Record]:
        """Read the next piece; its records, of which none means that the end was reached."""
        while not self.whole:
            deep = self._deep
            if deep is None:
                records = self._lay_out()
            else:
                deep.give_way()
                records = self._read_through(deep)
            if self._untrue:
                self._read_anew()
                continue
            if not records:
                self._note(self._joined.warnings)
                self._levels.finish()
                self._whole = True
            # What was read before the index proved untrue was told then.
            given, self._given = self._given, max(self._given, self._past.seq)
            fresh = [record for record in records if record.seq > given]
            if fresh:
                return fresh
        return []

    def _read_through(self, deep: Deep) -> list[Record]:
        """The records of the next piece, if they are what the index says."""
        plan, number = deep.plan, len(self._touched)
        if self._untrue:
            return []
        if number == len(plan):
            self._untrue = self._next() is not None
            return []
        records: list[Record] = []
        touched = bytearray(BITS // 8)
        while len(records) < plan.count(number) and (item := self._next()) is not None:
            record, _begins = item
            self._look_at(record, touched)
            self._past.apply(record)
            records.append(record)
            if not len(records) % AT_ONCE:
                deep.let_pass()
        planned_t = plan.times[number] if number else records[0].t if records else 0
        if len(records) < plan.count(number) or records[0].t != planned_t:
            self._untrue = True
            return []
        self._touched.append(bytes(touched))
        return records

    @property
    def waited_for(self) -> bool:
        """Whether somebody waits for a piece that is read by the index."""
        deep = self._deep
        return deep is not None and deep.waited_for

    def let_pass(self) -> None:
        """Wait while somebody does, for a while."""
        deep = self._deep
        if deep is not None:
            deep.let_pass()

    def _read_anew(self) -> None:
        """The index is not true: lay everything out, as if there were none."""
        with self._lock:
            self._deep, self._untrue = None, False
            self.layout += 1
            self._begin()

    def _lay_out(self) -> list[Record]:
        """Read the next piece and put it into the spool."""
        cutting = Cutting(self._past, self._state)
        touched = bytearray(BITS // 8)
        weighs = 0
        while (item := self._next()) is not None:
            record, begins = item
            if begins:
                self._past.session_begins()
            self._look_at(record, touched)
            cutting.add(record)
            weighs += weight(record)
            if len(cutting.records) >= PIECE or weighs > PIECE_WEIGHT:
                break
        records = cutting.records
        if records:
            piece = packed(cutting.told(len(self._spool)))
            with self._lock:
                try:
                    self._spool.put(piece, records[0].seq, records[0].t)
                except Full as full:
                    self._whole = True
                    self.warnings.append(
                        f"The recording is played up to here only: {full}. Open fewer files at "
                        "once."
                    )
                    return records
                self._touched.append(bytes(touched))
                self._kept, self._kept_t = self._past.seq, self._past.t
        return records

    def _next(self) -> tuple[Record, bool] | None:
        try:
            return next(self._records, None)
        except RecordingError as error:
            self._note([str(error)])
            return None

    def _look_at(self, record: Record, touched: bytearray) -> None:
        """What is told of the whole of it."""
        uid = getattr(record, "uid", None)
        if uid is not None:
            bit = _bit(uid)
            touched[bit >> 3] |= 1 << (bit & 7)
        incident = self._incidents.apply(record)
        self._levels.apply(record)
        with self._lock:
            if incident is not None:
                self._found_total += 1
                if len(self._found) < MOST_INCIDENTS:
                    self._found.append(incident)
            unhealthy, down = self._incidents.unhealthy, self._incidents.down
            self._bins.apply(record, unhealthy=unhealthy, down=down)
            if self._past.seq:
                gap = isinstance(record, Gap) and record.reason in NOT_RECORDED
                self._idle.apply(max(0, self._past.t), record.t, gap=gap)

    def _note(self, warnings: Sequence[str]) -> None:
        with self._lock:
            self.warnings += [one for one in warnings if one not in self.warnings]

    def _state(self, past: Past) -> SessionState:
        info = self._info
        return SessionState(
            session=self.digest,
            title=self.title,
            simulated=self.simulated,
            endpoint=info.endpoint if info else "",
            endpoint_reason=info.endpoint_reason if info else "the file that was given",
            wall=self.origin,
            engine=past.engine(),
            cost=FREE,
            runtime=past.runtime,
            oldest_call=past.oldest,
            viewers=0,
            first_seq=1,
            last_seq=past.seq,
        )

    # Asking

    def state(self) -> SessionState:
        """The state at the end, as far as it has been read."""
        past = self._past
        return msgspec.structs.replace(self._state(past), wall=self.origin + past.t, ended=True)

    @property
    def incidents(self) -> int:
        """How many there are, as far as it has been read."""
        return self._found_total

    def told(self, since: int, node: int, nodes: tuple[NodeTold, ...]) -> FilmTold:
        """Everything but the pieces; the table of pieces from number ``since``."""
        deep = self._deep
        if deep is not None and not since:
            deep.page_opens()
        with self._lock:
            plan = None if self._deep is None else self._deep.plan
            count = len(self._spool) if plan is None else len(plan)
            span = self._spool.span if plan is None else plan.span
            if self.layout > 1:
                # Whoever asks may know another table.
                since = 0
            return FilmTold(
                name=self.name,
                digest=self.digest,
                title=self.title,
                node=node,
                nodes=nodes,
                simulated=self.simulated,
                origin=self.origin,
                records=self._kept if plan is None else plan.records,
                end_t=self._kept_t if plan is None else plan.end_t,
                whole=self.whole,
                read=1.0 if self.whole else self._share(),
                warnings=tuple(self.warnings),
                state=self._first_state,
                pieces=tuple(Span(*span(n)) for n in range(max(0, since), count)),
                idle=self._idle.told(),
                incidents=tuple(self._found[:INCIDENTS_TOLD]),
                incidents_total=self._found_total,
                overview=self._bins.told(whole=self.whole),
                layout=self.layout,
                known=self.known,
            )

    def _share(self) -> float:
        if self._deep is not None:
            return len(self._touched) / len(self._deep.plan)
        sizes = [one.source.size for one in self._files]
        done = sum(sizes[: max(0, self._joined.begun - 1)])
        return done / max(1, sum(sizes))

    def piece(self, number: int) -> bytes:
        """A piece as gzipped JSON of ``Piece``; may take some dozens of milliseconds.

        Raises:
            IndexError: there is none of this number (yet).
            RecordingError: it cannot be read.
        """
        deep = self._deep
        if deep is None:
            return self._spool.get(number)
        with self._trusting():
            return deep.piece(number)

    def records(self, number: int) -> Sequence[AnyRecord]:
        """Those of a piece, without the pods and states that it begins with, which may be more than
        all of them. Raises as :meth:`piece`."""
        return _laid_out(self.piece(number))

    def counted(self, width: int, from_t: int, to_t: int, uids: Iterable[str]) -> Counted:
        """What happened between two times (ns), in bins of one of ``WIDTHS``, as far as it has been
        read; may take some dozens of milliseconds. Pods that stay to the end are outlined too."""
        with self._lock:
            levels, layout, reading = self._levels, self.layout, not self.whole
            # More may come of the very time that was read last.
            t = levels.t - 1 if reading or levels.full else max(levels.t, self.end_t)
        cut = levels.cut(width, from_t, to_t, uids, staying=True)
        return Counted(
            **msgspec.structs.asdict(cut),
            t=t,
            reading=reading and not levels.full,
            layout=layout,
            marks=MARKS,
            known=list(levels.since().items()),
        )

    @contextmanager
    def _trusting(self) -> Iterator[None]:
        """What is read by the index; where that fails the rest is read without it."""
        try:
            yield
        except Broken:
            self._untrue = True
            raise

    @property
    def pieces(self) -> int:
        """How many there are, as far as it has been read."""
        deep = self._deep
        return len(self._spool) if deep is None else len(deep)

    @property
    def end_t(self) -> int:
        """Time (ns) of the last record, as far as it has been read."""
        deep = self._deep
        return self._kept_t if deep is None else deep.plan.end_t

    @property
    def known(self) -> bool:
        """Whether ``end_t`` is the end: all was read, or an index tells it."""
        return self.whole or self._deep is not None

    def span(self, number: int) -> tuple[int, int]:
        """Number and time (ns) of a piece's first record."""
        deep = self._deep
        return self._spool.span(number) if deep is None else deep.plan.span(number)

    def at(self, t: int) -> int:
        """The last piece that begins at ``t`` (ns) or before; the first for an earlier time."""
        return max(0, bisect_right(range(self.pieces), t, key=lambda one: self.span(one)[1]) - 1)

    def cache_told(self, number: int, uids: Iterable[str]) -> list[PodCached | PodUncached]:
        """The newest that was told of these pods' cache before a piece; of a pod for which one
        would have to look too far, none. Raises as :meth:`piece`."""
        deep, wanted = self._deep, set(uids)
        newest: dict[str, PodCached | PodUncached] = {}
        if deep is not None:
            with self._trusting():
                before = deep.cache_told(number)
            for record in before:
                if record.uid in wanted:
                    newest[record.uid] = record
            return list(newest.values())
        with self._lock:
            spool, touched = self._spool, self._touched
        looked = 0
        for one in range(number - 1, -1, -1):
            if not wanted or looked >= MOST_LOOKED:
                break
            if not any(_may_mention(touched, one, uid, None) for uid in wanted):
                continue
            looked += 1
            for told in reversed(_laid_out(spool.get(one))):
                if isinstance(told, PodCached | PodUncached) and told.uid in wanted:
                    wanted.discard(told.uid)
                    newest[told.uid] = told
        return list(newest.values())

    def find(self, sought: Sought) -> Found:
        """The nearest record of a kind, in one direction; takes as long as reading up to there.

        Raises:
            RecordingError: it cannot be read.
        """
        seq, direction = sought.seq, -1 if sought.back else 1
        if sought.what == "incident":
            return self._incident(seq, direction)
        with self._lock:
            deep, touched = self._deep, self._touched
            pieces: Deep | Spool = self._spool if deep is None else deep
        if not len(pieces):
            # Nothing has been read yet, or the file has lost all that was in it.
            return Found(None)
        end = -1 if sought.back else len(pieces)
        with self._trusting():
            for number in range(pieces.holding(seq + direction), end, direction):
                if sought.what == "pod" and not _may_mention(touched, number, sought.uid, deep):
                    continue
                records: Sequence[Record]
                if isinstance(pieces, Spool):
                    records = _laid_out(pieces.get(number))
                else:
                    records = list(pieces.records(number))
                for record in reversed(records) if sought.back else records:
                    if (record.seq - seq) * direction > 0 and _is(record, sought):
                        return Found(record.seq, record.t)
        return Found(None)

    def _incident(self, seq: int, direction: int) -> Found:
        with self._lock:
            seqs = [one.seq for one in self._found]
            place = bisect_right(seqs, seq) if direction > 0 else bisect_left(seqs, seq) - 1
            if 0 <= place < len(seqs):
                return Found(seqs[place], self._found[place].t)
        return Found(None)


def _laid_out(packed: bytes) -> Sequence[AnyRecord]:
    return msgspec.json.decode(gzip.decompress(packed), type=_Records).records


def _may_mention(touched: Sequence[bytes], number: int, uid: str, deep: Deep | None) -> bool:
    """Whether a pod may be in a piece."""
    if number < len(touched):
        bit = _bit(uid)
        return bool(touched[number][bit >> 3] >> (bit & 7) & 1)
    return deep is None or deep.mentions(number, msgspec.json.encode(uid)[1:-1])


def _bit(uid: str) -> int:
    """Stands for a pod, and for one in some thousands of others."""
    return zlib.crc32(uid.encode("utf-8", "surrogatepass")) % BITS


def _is(record: Record, sought: Sought) -> bool:
    if sought.what == "relist":
        return isinstance(record, RelistFinished)
    return getattr(record, "uid", None) == sought.uid
