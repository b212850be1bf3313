"""The header's state at each moment of a run, rebuilt from its records alone.

A run's engine is gone once it was played; its records tell the state it was in (``rebuild.py``).
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from typing import Any

from app.engine.hanging import Hanging, OldestCall
from app.engine.records import Record, RuntimeSeen
from app.hub.runwire import Change, differing
from app.hub.wire import Cost, FaultAtWork, SessionState
from app.journal.rebuild import StateBuilder
from app.stage.run import Faults, Run

EVERY = 500
"""Records between two checkpoints; so many have to be read again at most to tell a state."""

FREE = Cost(0.0, 0.0, 0.0, 0)
"""A run that was played ahead costs nothing while it is looked at."""

ENDPOINT = "simulated"
REASON = "a runtime that exists only in virtual time"


class States:
    """The states of one run (``session`` names it), with checkpoints: made once, then quick."""

    def __init__(self, run: Run, session: str) -> None:
        self._run = run
        self._session = session
        self._title = f"Simulated node, scenario {run.spec.scenario}, seed {run.spec.seed}"
        self._points = [_Follower(run.faults)]
        follower = _Follower(run.faults)
        for number, record in enumerate(run.records, 1):
            follower.apply(record)
            if number % EVERY == 0:
                self._points.append(deepcopy(follower))

    def at(self, seq: int) -> SessionState:
        """As it was after record ``seq``; 0 is before the first."""
        point = min(seq // EVERY, len(self._points) - 1)
        follower = deepcopy(self._points[point])
        for record in self._run.records[point * EVERY : seq]:
            follower.apply(record)
        t = self._run.records[seq - 1].t if seq else 0
        return SessionState(
            session=self._session,
            title=self._title,
            simulated=True,
            endpoint=ENDPOINT,
            endpoint_reason=REASON,
            wall=t + self.origin,
            engine=follower.builder.state(t),
            cost=FREE,
            runtime=follower.runtime,
            oldest_call=follower.hanging.call,
            viewers=0,
            first_seq=1,
            last_seq=seq,
            faults=follower.faults(),
        )

    @property
    def origin(self) -> int:
        """Wall time (ns since 1970) of the run's beginning."""
        records = self._run.records
        return records[0].wall - records[0].t if records else 0

    def changes(self) -> Iterator[Change]:
        """What each record changed in the state before it."""
        follower = _Follower(self._run.faults)
        before = follower.builder.state(0)
        faults: tuple[FaultAtWork, ...] = ()
        hangs: OldestCall | None = None
        for record in self._run.records:
            follower.apply(record)
            state = follower.builder.state(record.t)
            fields = differing(before, state)
            at_work = follower.faults()
            if at_work != faults:
                fields["faults"] = faults = at_work
            if follower.hanging.call != hangs:
                fields["oldest_call"] = hangs = follower.hanging.call
            if fields:
                yield Change(record.seq, fields)
            before = state


class _Follower:
    """Everything that a state needs to know, record after record."""

    def __init__(self, faults: Sequence[Faults]) -> None:
        self.builder = StateBuilder()
        self.hanging = Hanging()
        self.runtime: RuntimeSeen | None = None
        self._faults = faults
        self._starts = [one.seq for one in faults]
        self._seq = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Follower":
        other = _Follower(self._faults)
        other.builder = deepcopy(self.builder, memo)
        other.hanging = copy(self.hanging)
        other.runtime = self.runtime
        other._seq = self._seq
        return other

    def apply(self, record: Record) -> None:
        self.builder.apply(record)
        self.hanging.apply(record)
        self._seq = record.seq
        if isinstance(record, RuntimeSeen):
            self.runtime = record

    def faults(self) -> tuple[FaultAtWork, ...]:
        place = bisect_right(self._starts, self._seq)
        if not place:
            return ()
        return tuple(
            FaultAtWork(
                number=one.number or 0,
                name=one.name,
                text=one.text,
                target=one.target,
                since_t=one.since_t,
                until_t=one.until_t,
                imitates=one.imitates,
            )
            for one in self._faults[place - 1].at_work
        )
