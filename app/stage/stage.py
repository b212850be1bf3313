"""The stage: what the web asks of runs, in one place.

It speaks in links' parameters and in messages; which scenarios and runtimes there are, how a run is
played and kept, is behind it.
"""

import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Iterable

import msgspec

from app.engine.profiles import PROFILES
from app.errors import StageError, StageUnknown
from app.hub.encode import encode
from app.hub.runwire import Played, PressTold, RunProgress, RunRecords
from app.hub.wire import SessionState
from app.sim.button import GROUPS, Button
from app.sim.flavours import FLAVOURS, rules_of
from app.sim.library import load, names
from app.sim.presses import PALETTE
from app.sim.scenario import Scenario, claim
from app.sim.shelves import FILES, in_order, shelf_of
from app.stage.comparison import Comparisons
from app.stage.lessondesk import LessonDesk
from app.stage.once import Once
from app.stage.run import Run
from app.stage.runs import Runs
from app.stage.spec import Pairs, RunSpec, parse
from app.stage.states import States

MOST_READY = 4
"""Runs whose answers and states are kept at hand, beside the runs themselves."""

LEVEL = 5
"""How hard gzip tries: 200 ms for a long run, a sixth of its size."""


class ScenarioTold(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario, for a list of them. ``query``: of a link to its run as it comes. ``shipped``: it
    comes with plegscope, so its name is enough for the command line. ``shelf``: what it stands
    under in a list; those of one shelf follow each other."""

    name: str
    title: str
    shows: str
    seed: int
    duration_ns: int
    query: str
    shipped: bool
    shelf: str


class _Ready:
    """What was made of one run."""

    def __init__(self, run: Run, session: str) -> None:
        self.run = run
        self.states = States(run, session)
        self.packed: bytes | None = None

    def pack(self) -> bytes:
        """The whole run as gzipped JSON."""
        if self.packed is None:
            told = RunRecords(
                run=told_of(self.run),
                state=self.states.at(0),
                changes=tuple(self.states.changes()),
                records=self.run.records,  # type: ignore[arg-type]  # each is one of AnyRecord
            )
            self.packed = gzip.compress(encode(told), LEVEL, mtime=0)
        return self.packed


class Stage:
    """All runs of this start.

    Args:
        own: scenarios from files that were named on the command line; they may be played as well
            unless one that comes with plegscope has the same name.
    """

    palette: tuple[Button, ...] = PALETTE
    groups = GROUPS
    profiles = tuple(PROFILES)
    runtimes = tuple(FLAVOURS)

    def __init__(self, own: Iterable[Scenario] = ()) -> None:
        shipped = frozenset(names())
        self._own = {one.name: one for one in own if one.name not in shipped}
        self._loaded: dict[str, Scenario] = {}
        self.runs = Runs(self.scenario_of)
        self._once = Once()
        self.comparisons = Comparisons(self.runs, self.spec, self._once)
        self.lessons = LessonDesk(self.runs.lane("lesson"), self.lookup, self.runs.lane("fork"))
        self._ready: OrderedDict[str, _Ready] = OrderedDict()

    def spec(self, pairs: Pairs) -> RunSpec:
        """The spec of a link's parameters.

        Raises:
            StageError: see :func:`app.stage.spec.parse`.
        """
        return parse(pairs, self.lookup, self.runtimes)

    def lookup(self, name: str) -> Scenario | None:
        """The scenario of this name, None when there is none; never a path."""
        if name in self._own:
            return self._own[name]
        if name not in self._loaded:
            if name not in names():
                return None
            self._loaded[name] = load(name)
        return self._loaded[name]

    def scenario_of(self, spec: RunSpec) -> Scenario:
        """The scenario to play for a spec, on the runtime that it names.

        Raises:
            StageUnknown: there is none of that name.
        """
        scenario = self.lookup(spec.scenario)
        if scenario is None:
            raise StageUnknown(f"There is no scenario {spec.scenario!r} here; choose another.")
        if spec.runtime:
            return msgspec.structs.replace(scenario, rules=rules_of(spec.runtime))
        return scenario

    def scenarios(self) -> tuple[ScenarioTold, ...]:
        """All that may be played, those from files first, then shelf by shelf."""
        found = [self.lookup(name) for name in (*self._own, *in_order())]
        return tuple(
            ScenarioTold(
                name=one.name,
                title=one.title,
                shows=claim(one.shows),
                seed=one.seed,
                duration_ns=int(one.duration_ns),
                query=self.spec([("scenario", one.name)]).query(),
                shipped=one.name not in self._own,
                shelf=FILES if one.name in self._own else shelf_of(one.name),
            )
            for one in found
            if one is not None
        )

    def told(self, pairs: Pairs) -> Played:
        """What a link is about, without playing it.

        Raises:
            StageError: it cannot be played.
        """
        spec = self.spec(pairs)
        scenario = self.scenario_of(spec)
        return _told(spec, scenario.title, scenario.shows)

    async def records(self, pairs: Pairs) -> bytes:
        """The whole run, as gzipped JSON of ``RunRecords``.

        Raises:
            StageError: it cannot be played.
        """
        ready = await self._get(pairs)
        if ready.packed is not None:
            return ready.packed
        return await self._once.get(("pack", id(ready)), ready.pack)

    async def state(self, pairs: Pairs, seq: int | None) -> SessionState:
        """The header's state as it was after record ``seq`` (None: after the last).

        Raises:
            StageError: it cannot be played, or has no such record.
        """
        ready = await self._get(pairs)
        last = len(ready.run.records)
        seq = last if seq is None else seq
        if seq > last:
            raise StageError(f"`seq`: this run has {last} records; give a number up to that.")
        return ready.states.at(seq)

    def progress(self, pairs: Pairs) -> RunProgress:
        """How far a run is, without asking for it.

        Raises:
            StageError: it cannot be played.
        """
        return self.runs.progress(self.spec(pairs))

    def close(self) -> None:
        """Give up what is being played."""
        self.runs.close()
        self._once.close()

    async def _get(self, pairs: Pairs) -> _Ready:
        spec = self.spec(pairs)
        key = spec.query()
        run = await self.runs.get(spec)
        ready = self._ready.get(key)
        if ready is None or ready.run is not run:
            ready = await self._once.get(("ready", id(run)), lambda: _Ready(run, session_of(spec)))
            self._ready[key] = ready
        self._ready.move_to_end(key)
        while len(self._ready) > MOST_READY:
            self._ready.popitem(last=False)
        return ready


def session_of(spec: RunSpec) -> str:
    """A name for a run, the same wherever it is played."""
    return f"run-{hashlib.sha256(spec.query().encode()).hexdigest()[:16]}"


def told_of(run: Run) -> Played:
    """What a run follows from, for those who look at it."""
    return _told(run.spec, run.title, run.shows)


def _told(spec: RunSpec, title: str, shows: str) -> Played:
    return Played(
        query=spec.query(),
        scenario=spec.scenario,
        title=title,
        shows=claim(shows, spec.profile),
        seed=spec.seed,
        profile=spec.profile,
        runtime=spec.runtime,
        duration_ns=spec.duration_ns,
        presses=tuple(PressTold(one.t, one.name, one.target) for one in spec.presses),
    )
