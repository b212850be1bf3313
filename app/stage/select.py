"""Finds the things that a lesson speaks of among a run's records. Pure.

Records are in order of ``seq``. Nothing after the moment that is shown is ever found, so a lesson
cannot tell what its reader has not seen yet.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, get_args

import msgspec

from app.engine.records import (
    AnyRecord,
    Lifecycle,
    PodSeen,
    Record,
    RelistFinished,
    RelistStarted,
)
from app.stage.lessonparts import MAIN, Group, Scalar, Thing, When
from app.stage.run import Run

KINDS: dict[str, type[Record]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(AnyRecord)
}
"""The kinds of records, by the name that stands in a lesson file."""

END_OF_TIME = 2**62


class Horizon(msgspec.Struct, frozen=True):
    """Up to when a reader has seen a run (ns); other runs of the lesson are told of as a whole."""

    run: str = MAIN
    t: int = END_OF_TIME

    def of(self, run: str) -> int:
        """Up to when that run may be spoken of."""
        return self.t if run == self.run else END_OF_TIME


EVERYTHING = Horizon()


class Missing(Exception):
    """A lesson speaks of something that is not in the run, or not yet; says of what."""


class Found(msgspec.Struct, frozen=True):
    """A thing: which record it is, and the time (ns) that is meant."""

    t: int
    record: Record


class Finder:
    """Finds things in the runs of one lesson.

    Args:
        things: by the name they have in the lesson.
        runs: the lesson's runs by name; ``main`` is always one.
    """

    def __init__(self, things: Mapping[str, Thing], runs: Mapping[str, Run]) -> None:
        self._things = things
        self.runs = runs
        self._names = {name: _pod_names(run) for name, run in runs.items()}
        self._found: dict[str, Found | None] = {}

    def thing(self, name: str, until: Horizon = EVERYTHING) -> Found:
        """The thing of this name, if it is told of by ``until``.

        Raises:
            Missing: it has not.
        """
        if name not in self._found:
            self._found[name] = self._seek(self._things[name])
        found = self._found[name]
        if found is None:
            raise Missing(f"there is no {name} in the run")
        if found.record.t > until.of(self._things[name].run):
            raise Missing(f"{name} is told of at {found.record.t} ns, later than what is shown")
        return found

    def has(self, name: str, until: Horizon = EVERYTHING) -> bool:
        """Whether the thing has happened by ``until``."""
        try:
            self.thing(name, until)
        except Missing:
            return False
        return True

    def moment(self, when: When) -> int:
        """A time of the run (ns).

        Raises:
            Missing: it is told by a thing that is not there.
        """
        begin = self.thing(when.thing).t if when.thing else 0
        return max(0, begin + when.plus)

    def group(self, group: Group, until: Horizon = EVERYTHING) -> list[Any]:
        """The records of a group that are not later than ``until``, in order.

        Raises:
            Missing: a thing or a time that bounds the group is not there.
        """
        first = self.thing(group.after).record.seq if group.after else 0
        last = self.thing(group.before).record.seq if group.before else END_OF_TIME
        since = 0 if group.since is None else self.moment(group.since)
        to = END_OF_TIME if group.to is None else self.moment(group.to)
        to = min(until.of(group.run), to)
        kind = KINDS[group.kind]
        names = self._names[group.run]
        found: list[Any] = []
        for record in self.runs[group.run].records:
            if record.t > to:
                break
            if type(record) is not kind or record.t < since or not first < record.seq < last:
                continue
            if group.pod and not fnmatchcase(names.get(_uid(record), ""), group.pod):
                continue
            if agrees(record, group.where) and _says(record, group.has, group.lacks):
                found.append(record)
        return found

    def name(self, record: Record, run: str = MAIN) -> str:
        """``namespace/name`` of the pod a record is about; empty when it is about none."""
        return self._names[run].get(_uid(record), "")

    def uids(self, pods: tuple[str, ...], run: str = MAIN) -> tuple[str, ...]:
        """UIDs of the pods of these names, in the order of the names."""
        names = self._names[run]
        return tuple(
            dict.fromkeys(
                uid for wanted in pods for uid, name in names.items() if fnmatchcase(name, wanted)
            )
        )

    def _seek(self, thing: Thing) -> Found | None:
        try:
            records = self.group(thing)
        except Missing:
            return None
        at = thing.nth - 1 if thing.nth > 0 else thing.nth
        if not -len(records) <= at < len(records):
            return None
        record = records[at]
        t = _time(record, thing.at)
        return None if t is None else Found(t, record)


def agrees(record: Record, where: Mapping[str, Scalar]) -> bool:
    """Whether each of the named fields has the value that is wanted."""
    return all(getattr(record, field) == value for field, value in where.items())


def _says(record: Record, has: tuple[str, ...], lacks: tuple[str, ...]) -> bool:
    return all(getattr(record, field) not in (None, "") for field in has) and all(
        getattr(record, field) in (None, "") for field in lacks
    )


def _uid(record: Record) -> str:
    return getattr(record, "uid", None) or ""


def _pod_names(run: Run) -> dict[str, str]:
    return {
        record.uid: f"{record.namespace}/{record.name}"
        for record in run.records
        if isinstance(record, PodSeen)
    }


def _time(record: Record, at: str) -> int | None:
    """The time that is meant; None when the record does not tell it."""
    if at == "start" and isinstance(record, RelistFinished):
        return record.started
    if at == "start" and isinstance(record, RelistStarted):
        return record.t - (record.waited_ns or 0)
    if at == "stop" and isinstance(record, Lifecycle):
        return record.stop_t
    if at == "end" and isinstance(record, Lifecycle):
        since = record.since_finished_ns
        return None if since is None else record.t - since
    return record.t if at == "own" else None
