"""The truth, to measure findings by: when processes really began and ended.

Only a simulation has it. What the runtime says is later (it notices an end after some 50 ms, in a
storm after seconds) and may be wrong (after a restart it takes its own return for the end).
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from app.engine.model import RelistSource
from app.engine.records import Lifecycle
from app.sim.durations import Durations, Spread
from app.sim.objects import RuntimeEvent


class Detection(msgspec.Struct, frozen=True, kw_only=True):
    """How beginnings or ends of processes were found out.

    ``by_source``: by the relist source that found them, from the true moment to the finding;
    ``all``: by whichever, so that it can be held against what the runtime itself needed.
    ``happened``: how many there were; ``baseline``: those of them found by the session's first
    global relist, so that nobody was late: they are in no spread. ``twice``: told of again.
    ``wrong``: told of, but they had not happened. ``waiting``: not found, but the runtime still
    lists the container, so they can be. ``never``: gone from the runtime without having been found.
    """

    happened: int
    baseline: int
    all: Spread
    by_source: dict[str, Spread]
    twice: int
    wrong: int
    waiting: int
    never: int


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """One beginning or end of a process: when it truly was, and when and by whom it was found.

    Times are monotonic ns of the session. ``found_t`` and ``source`` are None for what was not
    found. ``baseline``: found by the session's first global relist, so nobody was late. ``uid`` and
    ``container_name`` are empty if the runtime never told whose the container is.
    """

    what: Literal["start", "end"]
    container_id: str
    t: int
    uid: str = ""
    container_name: str = ""
    found_t: int | None = None
    source: RelistSource | None = None
    baseline: bool = False


class _Book:
    """One kind of happening: what has happened and is not found yet, and what was found."""

    def __init__(self, what: Literal["start", "end"]) -> None:
        self._what = what
        self.happened = 0
        self.open: dict[str, int] = {}
        self._closed: dict[str, Happening] = {}
        self.twice = 0
        self.wrong = 0
        self.baseline = 0
        self.all = Durations()
        self.by_source: dict[str, Durations] = {}

    def enter(self, container_id: str, t: int) -> None:
        if not self.knows(container_id):
            self.happened += 1
            self.open[container_id] = t

    def knows(self, container_id: str) -> bool:
        return container_id in self.open or container_id in self._closed

    def find(self, record: Lifecycle) -> None:
        container_id = record.container_id
        t = self.open.pop(container_id, None)
        if t is not None:
            self._closed[container_id] = Happening(
                what=self._what,
                container_id=container_id,
                t=t,
                found_t=record.t,
                source=record.source,
                baseline=record.baseline,
            )
            if record.baseline:
                self.baseline += 1
            else:
                self.all.add(record.t - t)
                self.by_source.setdefault(record.source, Durations()).add(record.t - t)
        elif container_id in self._closed:
            self.twice += 1
        else:
            self.wrong += 1

    def happenings(self) -> Iterator[Happening]:
        """All of them, those that were not found last."""
        yield from self._closed.values()
        for container_id, t in self.open.items():
            yield Happening(what=self._what, container_id=container_id, t=t)

    def detection(self, listed: frozenset[str]) -> Detection:
        waiting = sum(container_id in listed for container_id in self.open)
        return Detection(
            happened=self.happened,
            baseline=self.baseline,
            all=self.all.spread(),
            by_source={
                source: self.by_source[source].spread() for source in sorted(self.by_source)
            },
            twice=self.twice,
            wrong=self.wrong,
            waiting=waiting,
            never=len(self.open) - waiting,
        )


class Ledger:
    """Sees every process begin and end (``processes.Witness``), and what is found of it."""

    def __init__(self) -> None:
        self._starts = _Book("start")
        self._ends = _Book("end")
        self._owners: dict[str, tuple[str, str]] = {}
        """(pod UID, container name) by container id."""
        self._lag = Durations()

    def began(self, container_id: str, t: int) -> None:
        """A process was started."""
        self._starts.enter(container_id, t)

    def ended(self, container_id: str, t: int) -> None:
        """A process is gone."""
        self._ends.enter(container_id, t)

    def told(self, event: RuntimeEvent, t: int) -> None:
        """The runtime tells of something at ``t``; what it killed itself ended just now."""
        if event.kind == "created":
            for one in event.containers:
                self._owners[one.id] = (event.sandbox.config.uid, one.config.name)
        if event.kind != "stopped" or event.container_id == event.sandbox.id:
            return
        self._ends.enter(event.container_id, t)
        self._lag.add(t - self._ends.open.get(event.container_id, t))

    def on_record(self, record: Lifecycle) -> None:
        """A relist has found something, or an event was believed."""
        if record.is_sandbox:
            return
        if record.type == "ContainerDied":
            # One that was created and removed without having run counts as died in PLEG's table.
            if self._starts.knows(record.container_id):
                self._ends.find(record)
        elif record.type == "ContainerStarted":
            self._starts.find(record)

    def happenings(self) -> tuple[Happening, ...]:
        """Each beginning and end of a process, in order of the true time."""
        told = [
            msgspec.structs.replace(one, uid=uid, container_name=name)
            for one in (*self._starts.happenings(), *self._ends.happenings())
            for uid, name in [self._owners.get(one.container_id, ("", ""))]
        ]
        return tuple(sorted(told, key=lambda one: one.t))

    def starts(self, listed: frozenset[str]) -> Detection:
        """How starts were found; ``listed``: ids of the containers that the runtime lists now."""
        return self._starts.detection(listed)

    def ends(self, listed: frozenset[str]) -> Detection:
        """How ends were found; ``listed``: ids of the containers that the runtime lists now."""
        return self._ends.detection(listed)

    def runtime_lag(self) -> Spread:
        """From the true end of a process to the moment the runtime tells of it."""
        return self._lag.spread()
