"""What a session came to: counted from its records while it runs, summed up at its end."""

from collections import Counter
from collections.abc import Callable
from typing import Any, get_args

import msgspec

from app.engine.records import (
    HealthChanged,
    Lifecycle,
    Record,
    RelistFinished,
    RelistStarted,
    RequestMade,
    StreamChanged,
    StreamState,
    SyncFinished,
)
from app.sim.difference import Difference
from app.sim.durations import Durations, Spread
from app.sim.faultplan import FaultTally
from app.sim.flavour import SECOND
from app.sim.ledger import Detection
from app.sim.milestones import Milestone, What
from app.sim.virtual import VirtualSession

MOST_DIFFERENCES = 100
"""Differences told one by one; the number counts all of them."""


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """What was played."""

    scenario: str
    title: str
    profile: str
    runtime: str
    """Which one the node's runtime behaved like."""
    seed: int
    duration_ns: int


class Relists(msgspec.Struct, frozen=True, kw_only=True):
    """Relists: how many, how long they took, and from one global one's start to the next's."""

    globally: int
    targeted: int
    failed: int
    took: Spread
    """Global relists that ended well."""
    targeted_took: Spread
    interval: Spread


class InState(msgspec.Struct, frozen=True):
    """How often a state was entered, and for how long in all (ns)."""

    entered: int
    ns: int


class StreamSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The event stream: its last state, all its states, and what came.

    ``events``: by type, with ``ignored``, ``backlog``, ``lost``, and streams ``opened`` and
    ``errors``.
    """

    state: StreamState
    states: dict[str, InState]
    events: dict[str, int]


class Syncs(msgspec.Struct, frozen=True, kw_only=True):
    """SyncPods of the simulated kubelet."""

    count: int
    did_work: int
    failed: int
    took: Spread


class KubeletTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How long people and pod workers waited for the kubelet (``milestones.py``).

    ``running``: from a new pod's coming to a SyncPod that saw it run. ``resized``: from the wish to
    a SyncPod that saw the resize hold. ``deleted``: from the deletion to SyncTerminatedPod's end.
    ``waited``: a worker's waits for a fresh cache entry, those that took any time.
    ``probes_failed``: containers whose probe failed for good, by probe.
    """

    running: Spread
    resized: Spread
    deleted: Spread
    waited: Spread
    probes_failed: dict[str, int]


class Summary(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="summary"):
    """The whole session. Durations in ns; everything in it follows from what was played.

    ``lifecycle``: lifecycle events by relist source and type; ``deliveries``: how many were sent,
    filtered, discarded. ``starts`` and ``ends``: processes, from the true moment to the finding.
    ``runtime_lag``: from a process's end to the runtime's own knowledge of it, which no PLEG can
    beat. ``difference``: what the shadow has otherwise than the runtime at the end (the first of
    ``differences``); ``settled``: whether it had its last look at the node.
    """

    played: Played
    ended_t: int
    """When the shadow had had its last look (monotonic ns)."""
    records: int
    by_kind: dict[str, int]
    lifecycle: dict[str, dict[str, int]]
    deliveries: dict[str, int]
    starts: Detection
    ends: Detection
    runtime_lag: Spread
    requests: dict[str, int]
    relists: Relists
    stream: StreamSummary
    unhealthy: InState
    syncs: Syncs
    kubelet: KubeletTimes
    calls: dict[str, int]
    calls_failed: int
    faults: tuple[FaultTally, ...]
    settled: bool
    differences: int
    difference: tuple[Difference, ...]


class _LastLook(msgspec.Struct, frozen=True):
    """What can only be seen before the engine is stopped."""

    t: int
    stream: StreamSummary
    listed: frozenset[str]
    differing: tuple[Difference, ...]


class Account:
    """Counts a session's records; must be made before the session starts."""

    def __init__(self, session: VirtualSession) -> None:
        self._session = session
        self._kinds: Counter[type[Record]] = Counter()
        self._lifecycle: dict[str, Counter[str]] = {}
        self._deliveries: Counter[str] = Counter()
        self._made = 0
        self._relists: Counter[str] = Counter()
        self._took = Durations()
        self._targeted_took = Durations()
        self._interval = Durations()
        self._last_global: int | None = None
        self._stream: StreamState = "off"
        self._stream_t = 0
        self._entered: Counter[str] = Counter()
        self._in_state: Counter[str] = Counter()
        self._sick_t: int | None = None
        self._sick = 0
        self._sick_ns = 0
        self._syncs: Counter[str] = Counter()
        self._sync_took = Durations()
        self._reached = {what: Durations() for what in get_args(What)}
        self._readers: dict[type[Record], Callable[[Any], None]] = {
            Lifecycle: self._on_lifecycle,
            RequestMade: self._on_request,
            RelistStarted: self._on_relist_started,
            RelistFinished: self._on_relist_finished,
            StreamChanged: self._on_stream,
            HealthChanged: self._on_health,
            SyncFinished: self._on_sync,
        }
        session.listeners.append(self.on_record)
        session.workers.on_milestone.append(self._on_milestone)

    def on_record(self, record: Record) -> None:
        """Count one record."""
        kind = type(record)
        self._kinds[kind] += 1
        reader = self._readers.get(kind)
        if reader is not None:
            reader(record)

    def look(self) -> _LastLook:
        """Look at the node and the shadow as they are, before the engine is stopped."""
        session = self._session
        t = session.clock.mono()
        return _LastLook(
            t=t,
            stream=self._stream_summary(t, session.engine.state(t).stream_events),
            listed=frozenset(one.id for one in session.world.everything()),
            differing=session.differences(),
        )

    def summary(self, duration_ns: int, last: _LastLook, *, settled: bool) -> Summary:
        """Everything, with all records counted so far; played for ``duration_ns``."""
        session = self._session
        return Summary(
            played=Played(
                scenario=session.scenario.name,
                title=session.scenario.title,
                profile=session.profile.name,
                runtime=session.scenario.rules.like,
                seed=session.seed,
                duration_ns=duration_ns,
            ),
            ended_t=last.t,
            records=self._kinds.total(),
            by_kind={
                str(kind.__struct_config__.tag): count
                for kind, count in sorted(
                    self._kinds.items(), key=lambda item: str(item[0].__struct_config__.tag)
                )
            },
            lifecycle={
                source: dict(sorted(self._lifecycle[source].items()))
                for source in sorted(self._lifecycle)
            },
            deliveries=dict(sorted(self._deliveries.items())),
            starts=session.ledger.starts(last.listed),
            ends=session.ledger.ends(last.listed),
            runtime_lag=session.ledger.runtime_lag(),
            requests={"made": self._made, **session.engine.state(last.t).requests},
            relists=Relists(
                globally=self._relists["global"],
                targeted=self._relists["pod"],
                failed=self._relists["failed"],
                took=self._took.spread(),
                targeted_took=self._targeted_took.spread(),
                interval=self._interval.spread(),
            ),
            stream=last.stream,
            unhealthy=InState(
                self._sick, self._sick_ns + (0 if self._sick_t is None else last.t - self._sick_t)
            ),
            syncs=Syncs(
                count=self._syncs["count"],
                did_work=self._syncs["did_work"],
                failed=self._syncs["failed"],
                took=self._sync_took.spread(),
            ),
            kubelet=KubeletTimes(
                **{what: took.spread() for what, took in self._reached.items()},
                probes_failed=dict(sorted(session.workers.probes_failed.items())),
            ),
            calls=dict(sorted(session.runtime.calls.items())),
            calls_failed=session.runtime.failed,
            faults=session.plan.tallies(),
            settled=settled,
            differences=len(last.differing),
            difference=last.differing[:MOST_DIFFERENCES],
        )

    def _stream_summary(self, t: int, events: dict[str, int]) -> StreamSummary:
        spent = Counter(self._in_state)
        spent[self._stream] += t - self._stream_t
        return StreamSummary(
            state=self._stream,
            states={
                state: InState(self._entered[state], spent[state])
                for state in sorted(spent)
                if spent[state] or self._entered[state]
            },
            events=dict(events),
        )

    def _on_lifecycle(self, record: Lifecycle) -> None:
        self._lifecycle.setdefault(record.source, Counter())[record.type] += 1
        self._deliveries[record.delivery] += 1

    def _on_request(self, _record: RequestMade) -> None:
        self._made += 1

    def _on_relist_started(self, record: RelistStarted) -> None:
        self._relists[record.scope] += 1
        if record.scope == "global":
            if self._last_global is not None:
                self._interval.add(record.t - self._last_global)
            self._last_global = record.t

    def _on_relist_finished(self, record: RelistFinished) -> None:
        self._relists["failed"] += not record.ok
        if record.ok:
            took = self._took if record.scope == "global" else self._targeted_took
            took.add(record.duration_ns)

    def _on_stream(self, record: StreamChanged) -> None:
        self._in_state[self._stream] += record.t - self._stream_t
        self._entered[record.state] += 1
        self._stream, self._stream_t = record.state, record.t

    def _on_health(self, record: HealthChanged) -> None:
        if not record.healthy:
            self._sick += 1
            self._sick_t = record.t
        elif self._sick_t is not None:
            self._sick_ns += record.t - self._sick_t
            self._sick_t = None

    def _on_sync(self, record: SyncFinished) -> None:
        self._syncs["count"] += 1
        self._syncs["did_work"] += record.did_work
        self._syncs["failed"] += record.failed
        self._sync_took.add(record.duration_ns)

    def _on_milestone(self, milestone: Milestone) -> None:
        self._reached[milestone.what].add(milestone.took_ns)


def play_to_end(
    session: VirtualSession, duration_ns: int, watch: Callable[[int], None] | None = None
) -> Summary:
    """Start, play for ``duration_ns``, settle, look, stop, and sum up.

    ``watch`` is told of the time reached, once a simulated second.
    """
    account = Account(session)
    session.start()
    if watch is not None:
        for t in range(0, duration_ns, SECOND):
            session.run_until(t)
            watch(t)
    session.run_until(duration_ns)
    settled = session.settle()
    last = account.look()
    session.stop()
    return account.summary(int(duration_ns), last, settled=settled)
