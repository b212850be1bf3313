"""The recordings of one node, made playable: read once, piece by piece, from a thread.

While it is read it can be played as far as it has been read. What stays in memory does not grow
with the recording but by some hundred bytes a piece; the pieces themselves are in a spool.
"""

import gzip
import threading
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import msgspec

from app.engine.records import AnyRecord, Gap, Record, RelistFinished, RuntimeHung, RuntimeSeen
from app.errors import RecordingError
from app.hub.encode import encode
from app.hub.filmwire import FilmTold, Found, Incident, NodeTold, Piece, Sought, Span
from app.hub.runwire import Change, differing
from app.hub.wire import Cost, OldestCall, PodRow, SessionState
from app.journal.projection import PodTable
from app.journal.rebuild import StateBuilder
from app.journal.weight import weight
from app.replaying.incidents import Incidents
from app.replaying.joined import NOT_RECORDED, Joined, Opened
from app.replaying.overview import Bins, IdleStretches
from app.replaying.spool import Full, Spool

PIECE = 1024
"""Records of a piece at most."""
PIECE_WEIGHT = 512 * 1024
"""Characters of text in them, roughly."""
MOST_INCIDENTS = 20_000
"""Incidents that are kept; those that come later are counted only."""
INCIDENTS_TOLD = 2_000
BITS = 4096
"""Pods that are told apart where a pod's next record is looked for."""
MOST_TITLE = 200

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
        self.whole = False
        self.warnings: list[str] = []
        self._files = list(files)
        self._joined = Joined(files, origin)
        self._records = self._joined.records()
        self._spool = Spool()
        self._lock = threading.Lock()
        self._incidents = Incidents()
        self._found: list[Incident] = []
        self._found_total = 0
        self._bins = Bins()
        self._idle = IdleStretches()
        self._pods = PodTable()
        self._builder = StateBuilder()
        self._runtime: RuntimeSeen | None = None
        self._oldest: OldestCall | None = None
        self._masks: list[int] = []
        self._kept = 0
        self._kept_t = 0
        self._last = 0
        self._end_t = 0
        info = files[0].source.info
        title = name if info is None else f"{name}: {info.title[:MOST_TITLE]}"
        self.title = title
        self.simulated = all(one.simulated for one in files)
        self._info = info
        self._first_state = self._state(0)

    # Reading, on one thread

    def advance(self) -> list[Record]:
        """Read the next piece; its records, of which none means that the end was reached."""
        if self.whole:
            return []
        before, pods, runtime = self._state(self._last), self._rows(), self._runtime
        records: list[Record] = []
        changes: list[Change] = []
        weighs = 0
        state = before.engine
        oldest = self._oldest
        touched: set[int] = set()
        while (item := self._next()) is not None:
            record, begins = item
            if begins:
                self._builder = StateBuilder()
            records.append(record)
            self._take(record)
            after = self._builder.state(record.t)
            fields = differing(state, after)
            if self._oldest != oldest:
                fields["oldest_call"] = oldest = self._oldest
            if fields:
                changes.append(Change(record.seq, fields))
            state = after
            uid = getattr(record, "uid", None)
            if uid is not None:
                touched.add(_bit(uid))
            weighs += weight(record)
            if len(records) >= PIECE or weighs > PIECE_WEIGHT:
                break
        if records:
            before = msgspec.structs.replace(before, runtime=runtime)
            self._keep(before, pods, changes, records, touched)
        else:
            self.whole = True
            self._note(self._joined.warnings)
        return records

    def _next(self) -> tuple[Record, bool] | None:
        try:
            return next(self._records, None)
        except RecordingError as error:
            self._note([str(error)])
            return None

    def _take(self, record: Record) -> None:
        self._builder.apply(record)
        self._pods.apply(record)
        if isinstance(record, RuntimeSeen):
            self._runtime = record
        elif isinstance(record, RuntimeHung):
            called = OldestCall(record.method, record.age_ns, hung=True)
            self._oldest = called if record.hung else None
        incident = self._incidents.apply(record)
        with self._lock:
            if incident is not None:
                self._found_total += 1
                if len(self._found) < MOST_INCIDENTS:
                    self._found.append(incident)
            unhealthy, down = self._incidents.unhealthy, self._incidents.down
            self._bins.apply(record, unhealthy=unhealthy, down=down)
            if self._last:
                gap = isinstance(record, Gap) and record.reason in NOT_RECORDED
                self._idle.apply(max(0, self._end_t), record.t, gap=gap)
            self._last = record.seq
            self._end_t = max(self._end_t, record.t)

    def _keep(
        self,
        state: SessionState,
        pods: tuple[PodRow, ...],
        changes: list[Change],
        records: list[Record],
        touched: set[int],
    ) -> None:
        piece = Piece(
            number=len(self._spool),
            first=records[0].seq,
            state=state,
            pods=pods,
            changes=tuple(changes),
            records=tuple(records),  # type: ignore[arg-type]  # all kinds there are
        )
        packed = gzip.compress(encode(piece), compresslevel=1, mtime=0)
        with self._lock:
            try:
                self._spool.put(packed, records[0].seq, records[0].t)
            except Full as full:
                self.whole = True
                self.warnings.append(
                    f"The recording is played up to here only: {full}. Open fewer files at once."
                )
                return
            self._masks.append(sum(1 << bit for bit in touched))
            self._kept, self._kept_t = self._last, self._end_t

    def _note(self, warnings: Sequence[str]) -> None:
        with self._lock:
            self.warnings += [one for one in warnings if one not in self.warnings]

    def _rows(self) -> tuple[PodRow, ...]:
        return tuple(
            msgspec.structs.replace(row, containers=(), ips=()) for row in self._pods.rows()
        )

    def _state(self, seq: int) -> SessionState:
        info = self._info
        return SessionState(
            session=self.digest,
            title=self.title,
            simulated=self.simulated,
            endpoint=info.endpoint if info else "",
            endpoint_reason=info.endpoint_reason if info else "the file that was given",
            wall=self.origin,
            engine=self._builder.state(self._end_t if seq else 0),
            cost=FREE,
            runtime=self._runtime,
            oldest_call=self._oldest,
            viewers=0,
            first_seq=1,
            last_seq=seq,
        )

    # Asking

    def state(self) -> SessionState:
        """The state at the end, as far as it has been read."""
        state = self._state(self._last)
        return msgspec.structs.replace(state, wall=self.origin + self._end_t, ended=True)

    @property
    def incidents(self) -> int:
        """How many there are, as far as it has been read."""
        return self._found_total

    def told(self, since: int, node: int, nodes: tuple[NodeTold, ...]) -> FilmTold:
        """Everything but the pieces; the table of pieces from number ``since``."""
        with self._lock:
            count = len(self._spool)
            return FilmTold(
                name=self.name,
                digest=self.digest,
                title=self.title,
                node=node,
                nodes=nodes,
                simulated=self.simulated,
                origin=self.origin,
                records=self._kept,
                end_t=self._kept_t,
                whole=self.whole,
                read=1.0 if self.whole else self._share(),
                warnings=tuple(self.warnings),
                state=self._first_state,
                pieces=tuple(Span(*self._spool.span(n)) for n in range(max(0, since), count)),
                idle=self._idle.told(),
                incidents=tuple(self._found[:INCIDENTS_TOLD]),
                incidents_total=self._found_total,
                overview=self._bins.told(),
            )

    def _share(self) -> float:
        sizes = [one.source.size for one in self._files]
        done = sum(sizes[: max(0, self._joined.begun - 1)])
        return done / max(1, sum(sizes))

    def piece(self, number: int) -> bytes:
        """A piece as gzipped JSON of ``Piece``.

        Raises:
            IndexError: there is none of this number (yet).
        """
        return self._spool.get(number)

    def find(self, sought: Sought) -> Found:
        """The nearest record of a kind, in one direction; takes as long as reading up to there."""
        seq, direction = sought.seq, -1 if sought.back else 1
        if sought.what == "incident":
            return self._incident(seq, direction)
        bit = _bit(sought.uid) if sought.what == "pod" else None
        end = -1 if sought.back else len(self._spool)
        for number in range(self._spool.holding(seq + direction), end, direction):
            if bit is not None and not self._masks[number] >> bit & 1:
                continue
            records = self._decoded(number)
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

    def _decoded(self, number: int) -> list[AnyRecord]:
        return msgspec.json.decode(gzip.decompress(self._spool.get(number)), type=_Records).records


def _bit(uid: str) -> int:
    """Stands for a pod, and for one in some thousands of others."""
    return zlib.crc32(uid.encode("utf-8", "surrogatepass")) % BITS


def _is(record: Record, sought: Sought) -> bool:
    if sought.what == "relist":
        return isinstance(record, RelistFinished)
    return getattr(record, "uid", None) == sought.uid
