"""What truly happened in a run, and what the shadow made of it, container by container.

An observer of a session in virtual time: it must be made before the session starts and changes
nothing in it. From the ledger it has when processes really began and ended, from the world when the
runtime knew it, from the records when it was found, by whom, and what the pod cache held meanwhile.

**A wrong cache**, precisely: the pod cache is wrong about a container while exactly one of the two
says that it runs: the cache's entry of its pod (which runs none when there is no entry), and the
runtime, as it would answer at that very moment. An entry with an error instead of a status (its
inspection failed) says nothing of any container, so what was said before still stands. What the
runtime does not know itself, no PLEG can; so the time from a process's end to the runtime's own
knowledge of it is not counted here, but it is part of a detection's latency. The sum is over
containers and time (container nanoseconds), from the end of the first global relist that came back
(before it the cache must be empty) to the end of what was played.

**Overwritten**: a write that made the cache wrong about a container it was right about. A relist
cannot do that, as it writes what the runtime has just answered; an event that is believed can.
"""

from collections import Counter
from typing import Literal, NamedTuple

import msgspec

from app.engine.model import RelistSource
from app.engine.records import (
    Lifecycle,
    PodCached,
    PodUncached,
    Record,
    RelistFinished,
    RelistStarted,
    StreamChanged,
    StreamState,
)
from app.sim.objects import Container
from app.sim.rows import NAME, NAMESPACE, UID
from app.sim.virtual import VirtualSession

What = Literal["start", "end"]
Fate = Literal["found", "waiting", "never"]
"""``waiting``: not found, but the runtime still lists the container; ``never``: it cannot be."""

_TOLD: dict[str, What] = {"ContainerStarted": "start", "ContainerDied": "end"}


class Who(msgspec.Struct, frozen=True, order=True):
    """A container, by what it is called: the same in all runs of one scenario and seed.

    ``nth``: 0, or how often the runtime gave this name out before (its attempts begin anew when
    nothing of the pod is left in the cache).
    """

    namespace: str
    pod: str
    uid: str
    container: str
    attempt: int
    nth: int = 0


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One beginning or end of a process. Times are monotonic ns of the run.

    ``t``: when it truly was; ``known_t``: when the runtime's lists showed it (None: never).
    ``found_t``, ``source``, ``seq``: the lifecycle event that told of it first, its relist source
    and its record (0: it came with the last look, after the run's end). ``believed``: no relist
    found it, an event was believed. ``relist_t``: start of that relist. ``stop_t``: receipt of the
    stop event that had told of it. ``delivered`` is False when the event channel was full and the
    kubelet was not told.
    """

    what: What
    who: Who
    container_id: str
    t: int
    known_t: int | None
    fate: Fate
    found_t: int | None = None
    source: RelistSource | None = None
    believed: bool = False
    seq: int = 0
    relist_t: int | None = None
    stop_t: int | None = None
    delivered: bool = True
    exit_code: int | None = None
    reason: str = ""

    @property
    def latency(self) -> int | None:
        """From the true moment to the finding (ns); None for what was not found."""
        return None if self.found_t is None else self.found_t - self.t


class Wrong(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was not so.

    ``told``: a lifecycle event of a start or an end that had not happened. ``overwritten``: a write
    that made the cache wrong about this container; ``says``: what it said instead. ``until_t``:
    when it was right again (None: not before the end); of what was told, its own time.
    """

    kind: Literal["told", "overwritten"]
    says: Literal["runs", "does not run"]
    who: Who
    t: int
    until_t: int | None
    seq: int


class PodLine(msgspec.Struct, frozen=True):
    """What the pod cache said of one pod: from each time on, how many of its containers run."""

    uid: str
    namespace: str
    pod: str
    running: tuple[tuple[int, int], ...]
    gone_t: int | None


class RunTruth(msgspec.Struct, frozen=True, kw_only=True):
    """All of it.

    ``until_t``: end of what was played; the shadow's last look came after it. ``wrong_ns``:
    container nanoseconds of a wrong cache. ``calls``: to the runtime, by method, as far as
    ``until_t``. ``relists``: (start, end) of each global relist. ``stream``: (time, state) of each
    change. ``lag_ns``: median of what the runtime itself needed to know of an end.
    """

    until_t: int
    moments: tuple[Moment, ...]
    wrongs: tuple[Wrong, ...]
    pods: tuple[PodLine, ...]
    wrong_ns: int
    calls: dict[str, int]
    relists: tuple[tuple[int, int], ...]
    stream: tuple[tuple[int, StreamState], ...]
    lag_ns: int


class _Told(NamedTuple):
    record: Lifecycle
    seq: int
    relist_t: int | None


class _Life:
    """One container: who it is, when the runtime had it running, and what the cache said."""

    __slots__ = ("cached", "exit_code", "known", "reason", "resident", "told", "who")

    def __init__(self, who: Who, *, resident: bool = False) -> None:
        self.who = who
        self.resident = resident
        """It ran before the session began: nobody was to find that out."""
        self.known: list[tuple[int, bool]] = []
        """(time, whether it runs), as the runtime has it."""
        self.cached: list[tuple[int, bool, int]] = []
        """(time, whether it runs, record), as the pod cache has it."""
        self.told: dict[What, list[_Told]] = {"start": [], "end": []}
        self.exit_code: int | None = None
        self.reason = ""

    def know(self, t: int, *, runs: bool) -> None:
        if runs != bool(self.known and self.known[-1][1]):
            self.known.append((t, runs))

    def known_t(self, *, runs: bool) -> int | None:
        return next((t for t, is_so in self.known if is_so is runs), None)


class Truth:
    """Watches one session that is played for ``duration_ns``; ask ``told`` once it is over."""

    def __init__(self, session: VirtualSession, duration_ns: int) -> None:
        self._session = session
        self._until_t = int(duration_ns)
        self._seq = 0
        self._lives: dict[str, _Life] = {}
        self._names: Counter[Who] = Counter()
        self._running: dict[str, set[str]] = {}
        """Ids of the containers that the pod cache says run, by pod UID."""
        self._lines: dict[str, list[tuple[int, int]]] = {}
        self._gone: dict[str, int] = {}
        self._relist_began: dict[int, int] = {}
        self._relists: list[tuple[int, int]] = []
        self._first_look_t: int | None = None
        self._stream: list[tuple[int, StreamState]] = []
        self._calls: dict[str, int] | None = None
        self._origin = session.clock.wall() - session.clock.mono()
        session.world.on_change.append(self._on_change)
        session.listeners.append(self._on_record)
        session.agenda.at(self._until_t, self._stop_counting)

    def told(self) -> RunTruth:
        """Everything, once the session has ended and had its last look."""
        session = self._session
        listed = frozenset(one.id for one in session.world.everything())
        moments = tuple(
            moment
            for one in session.ledger.happenings()
            if one.container_id in self._lives
            for moment in [self._moment(one.what, one.container_id, one.t, listed)]
            if moment is not None
        )
        lags = sorted(
            one.known_t - one.t for one in moments if one.what == "end" and one.known_t is not None
        )
        return RunTruth(
            until_t=self._until_t,
            moments=moments,
            wrongs=self._wrongs(),
            pods=tuple(self._line(uid) for uid in sorted(self._lines)),
            wrong_ns=sum(map(self._wrong_ns, self._lives.values())),
            calls=self._calls if self._calls is not None else dict(session.runtime.calls),
            relists=tuple(one for one in self._relists if one[0] < self._until_t),
            stream=tuple(one for one in self._stream if one[0] < self._until_t),
            lag_ns=lags[(len(lags) - 1) // 2] if lags else 0,
        )

    # What happens

    def _on_change(self, item_id: str) -> None:
        one = self._session.world.look_up(item_id)
        life = self._lives.get(item_id)
        t = self._session.clock.mono()
        if one is None:
            if life is not None:
                life.know(t, runs=False)
        elif isinstance(one, Container):
            if life is None:
                life = self._lives[item_id] = self._born(one)
            life.know(t, runs=one.state == "running")
            if one.state == "exited":
                life.exit_code, life.reason = one.exit_code, one.reason

    def _born(self, one: Container) -> _Life:
        labels = one.config.labels
        return self._named(
            Who(
                namespace=labels.get(NAMESPACE, ""),
                pod=labels.get(NAME, ""),
                uid=labels.get(UID, ""),
                container=one.config.name,
                attempt=one.config.attempt,
            ),
            resident=one.created_at < self._origin,
        )

    def _named(self, who: Who, *, resident: bool = False) -> _Life:
        nth = self._names[who]
        self._names[who] += 1
        return _Life(msgspec.structs.replace(who, nth=nth), resident=resident)

    def _on_record(self, record: Record) -> None:
        self._seq += 1
        match record:
            case PodCached(error=""):
                runs = {one.id for one in record.containers if one.runtime_state == "running"}
                self._cache(record.uid, runs, record.t)
            case PodUncached():
                self._cache(record.uid, set(), record.t)
                self._gone[record.uid] = record.t
            case Lifecycle():
                self._tell(record)
            case RelistStarted():
                self._relist_began = {record.relist: record.t}
            case RelistFinished(scope="global"):
                self._relists.append((record.started, record.t))
                if record.ok and self._first_look_t is None:
                    self._first_look_t = record.t
            case StreamChanged():
                if not self._stream or self._stream[-1][1] != record.state:
                    self._stream.append((record.t, record.state))
            case _:
                pass

    def _cache(self, uid: str, runs: set[str], t: int) -> None:
        before = self._running.get(uid, set())
        for container_id in sorted(before ^ runs):
            if container_id in self._lives:
                life = self._lives[container_id]
                life.cached.append((t, container_id in runs, self._seq))
        self._running[uid] = runs
        self._gone.pop(uid, None)
        line = self._lines.setdefault(uid, [])
        if not line or line[-1][1] != len(runs):
            line.append((t, len(runs)))

    def _tell(self, record: Lifecycle) -> None:
        what = _TOLD.get(record.type)
        if what is None or record.is_sandbox:
            return
        life = self._lives.get(record.container_id)
        if life is not None:
            began = self._relist_began.get(record.relist)
            life.told[what].append(_Told(record, self._seq, began))

    def _stop_counting(self) -> None:
        self._calls = dict(sorted(self._session.runtime.calls.items()))

    # What it comes to

    def _moment(
        self, what: What, container_id: str, t: int, listed: frozenset[str]
    ) -> Moment | None:
        life = self._lives[container_id]
        told = next((one for one in life.told[what] if one.record.t >= t), None)
        if (life.resident and what == "start") or (told is not None and told.record.baseline):
            return None
        moment = Moment(
            what=what,
            who=life.who,
            container_id=container_id,
            t=t,
            known_t=life.known_t(runs=True) if what == "start" else self._end_known_t(life),
            fate="waiting" if container_id in listed else "never",
            exit_code=life.exit_code if what == "end" else None,
            reason=life.reason if what == "end" else "",
        )
        if told is None:
            return moment
        record = told.record
        return msgspec.structs.replace(
            moment,
            fate="found",
            found_t=record.t,
            source=record.source,
            believed=record.relist == 0,
            seq=told.seq if record.t < self._until_t else 0,
            relist_t=told.relist_t,
            stop_t=record.stop_t,
            delivered=record.delivery != "discarded",
        )

    def _end_known_t(self, life: _Life) -> int | None:
        return next((t for t, runs in life.known[1:] if not runs), None)

    def _wrongs(self) -> tuple[Wrong, ...]:
        truly = {(one.what, one.container_id): one.t for one in self._session.ledger.happenings()}
        found: list[Wrong] = []
        for container_id, life in self._lives.items():
            for what, told in life.told.items():
                if what == "end" and ("start", container_id) not in truly:
                    # Made and removed without having run: it counts as died in PLEG's table.
                    continue
                t = truly.get((what, container_id))
                found += [
                    Wrong(
                        kind="told",
                        says="runs" if what == "start" else "does not run",
                        who=life.who,
                        t=one.record.t,
                        until_t=one.record.t,
                        seq=one.seq,
                    )
                    for one in told
                    if t is None or one.record.t < t
                ]
            found += _overwritten(life, self._until_t)
        return tuple(sorted(found, key=lambda one: (one.t, one.who, one.kind)))

    def _wrong_ns(self, life: _Life) -> int:
        if self._first_look_t is None:
            return 0
        return sum(
            max(0, min(end, self._until_t) - max(begin, self._first_look_t))
            for begin, end, _ in _disagreements(life, self._until_t)
        )

    def _line(self, uid: str) -> PodLine:
        known = next((one.who for one in self._lives.values() if one.who.uid == uid), None)
        return PodLine(
            uid=uid,
            namespace=known.namespace if known else "",
            pod=known.pod if known else "",
            running=tuple(one for one in self._lines[uid] if one[0] < self._until_t),
            gone_t=self._gone.get(uid),
        )


def _disagreements(life: _Life, until_t: int) -> list[tuple[int, int, int]]:
    """(from, to, record) of each stretch in which cache and runtime disagree about a container.

    The record is that of the write that began it, 0 when the runtime's change did. Both sides begin
    with "does not run"; at the same time the runtime's change comes first.
    """
    changes = [(t, 0, runs, 0) for t, runs in life.known]
    changes += [(t, 1, runs, seq) for t, runs, seq in life.cached]
    changes.sort(key=lambda one: one[:2])
    sides = [False, False]
    stretches: list[tuple[int, int, int]] = []
    since: tuple[int, int] | None = None
    for t, side, runs, seq in changes:
        sides[side] = runs
        if sides[0] != sides[1] and since is None:
            since = (t, seq)
        elif sides[0] == sides[1] and since is not None:
            stretches.append((since[0], t, since[1]))
            since = None
    if since is not None:
        stretches.append((since[0], max(until_t, since[0]), since[1]))
    return stretches


def _overwritten(life: _Life, until_t: int) -> list[Wrong]:
    """The writes that made the cache wrong about a container."""
    says = {seq: runs for _, runs, seq in life.cached}
    return [
        Wrong(
            kind="overwritten",
            says="runs" if says[seq] else "does not run",
            who=life.who,
            t=begin,
            until_t=end if end < until_t else None,
            seq=seq,
        )
        for begin, end, seq in _disagreements(life, until_t)
        if seq
    ]
