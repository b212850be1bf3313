"""The law that every lesson ends with, and whether it holds in a run. Pure.

    Every change is seen within one period: by the first global relist that begins after it and
    succeeds.

What the runtime knew and when is told by the run's truth, what the pod cache said by its records.
The law is broken when they disagree about a container although a relist had its chance. So time
counts only while a chance is to be expected; it does not count

* while a relist is on its way (one that hangs is the runtime's silence, and it is seen at its end),
* from a global relist that failed, or that could not tell of this pod, to the next one: the pod was
  in the middle of its SyncPod, or its inspection failed,
* while the pod's SyncPod runs: its relists wait (KEP-3386, Design Details).

What is left may be one period and a little. Which design is played does not matter here: under
``legacy`` no poll comes for minutes, and it is hints alone that keep the law, until one is lost.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from app.engine.profiles import PROFILES
from app.engine.records import (
    PodCached,
    PodUncached,
    Record,
    RelistFinished,
    RelistStarted,
    SyncBegan,
    SyncFinished,
    Watching,
)
from app.engine.settings import EngineSettings
from app.stage.run import Run

TEXT = (
    "Every change is seen within one period: by the first global relist that begins after it and "
    "succeeds."
)

TOLERANCE_NS = 50_000_000
"""Above a period: what lies between a timer and the relist that it begins."""

Interval = tuple[int, int]


class Breach(msgspec.Struct, frozen=True):
    """The law was broken: from ``from_t`` on the pod cache was wrong about a container of ``pod``,
    and at ``t`` (ns) it should have been right. ``to_t``: when it was right again; None: not while
    it was watched. ``says``: what the cache said meanwhile."""

    uid: str
    pod: str
    container_id: str
    says: Literal["runs", "does not run"]
    from_t: int
    t: int
    to_t: int | None


class Verdict(msgspec.Struct, frozen=True):
    """The law at a moment. ``changes``: beginnings and ends of processes so far that were seen or
    should have been; ``seen``: how many of them in time. ``breach``: the first one."""

    holds: bool
    changes: int
    seen: int
    breaches: int
    breach: Breach | None


def judge(run: Run, until: int) -> Verdict:
    """Whether the law holds in what the run shows up to ``until`` (ns)."""
    breaches = [_seen_by(one, until) for one in _breaches(run) if one.t <= until]
    late = {(one.container_id, one.from_t) for one in breaches}
    changes = seen = 0
    for one in run.truth.moments:
        if (one.container_id, one.known_t) in late:
            changes += 1
        elif one.found_t is not None and one.found_t <= until:
            changes += 1
            seen += 1
    first = min(breaches, key=lambda one: one.t, default=None)
    return Verdict(not breaches, changes, seen, len(breaches), first)


def _seen_by(breach: Breach, until: int) -> Breach:
    """The breach as it stands at ``until``, when its end may not have come yet."""
    ended = breach.to_t is not None and breach.to_t <= until
    return breach if ended else msgspec.structs.replace(breach, to_t=None)


def _breaches(run: Run) -> Iterator[Breach]:
    chances = _Chances(run)
    names = {one.who.uid: f"{one.who.namespace}/{one.who.pod}" for one in run.truth.moments}
    for uid, container_id, runs, begin, end in disagreements(run):
        t = chances.over(uid, begin, end)
        if t is not None:
            yield Breach(
                uid=uid,
                pod=names[uid],
                container_id=container_id,
                says="does not run" if runs else "runs",
                from_t=begin,
                t=t,
                to_t=end if end < run.spec.duration_ns else None,
            )


def disagreements(run: Run) -> Iterator[tuple[str, str, bool, int, int]]:
    """(pod, container, whether it truly runs, from, to): while cache and runtime disagree (ns)."""
    begin = next((one.t for one in run.records if _looked(one)), run.spec.duration_ns)
    known: dict[str, list[tuple[int, int, bool]]] = {}
    pods: dict[str, str] = {}
    for one in run.truth.moments:
        pods[one.container_id] = one.who.uid
        if one.known_t is not None:
            known.setdefault(one.container_id, []).append((one.known_t, 0, one.what == "start"))
    cached = _cached(run)
    for container_id, changes in known.items():
        # One that ran before the session began: only its end is told.
        runs = not min(changes)[2]
        says = False
        since: tuple[int, bool] | None = None
        for t, side, value in sorted((*changes, *cached.get(container_id, ()))):
            runs, says = (runs, value) if side else (value, says)
            if runs != says:
                since = since or (max(t, begin), runs)
            elif since is not None:
                if t > since[0]:
                    yield pods[container_id], container_id, since[1], since[0], t
                since = None
        if since is not None:
            yield pods[container_id], container_id, since[1], since[0], run.spec.duration_ns


def _cached(run: Run) -> dict[str, list[tuple[int, int, bool]]]:
    """What the pod cache said of each container, change by change."""
    said: dict[str, list[tuple[int, int, bool]]] = {}
    running: dict[str, set[str]] = {}
    for record in run.records:
        if isinstance(record, PodUncached):
            now: set[str] = set()
        elif isinstance(record, PodCached) and not record.error:
            now = {one.id for one in record.containers if one.runtime_state == "running"}
        else:
            continue
        for one in now ^ running.get(record.uid, set()):
            said.setdefault(one, []).append((record.t, 1, one in now))
        running[record.uid] = now
    return said


def _looked(record: Record) -> bool:
    return isinstance(record, RelistFinished) and record.scope == "global" and record.ok


class _Chances:
    """When a change should have been seen: the run's relists, syncs and failures."""

    def __init__(self, run: Run) -> None:
        self._end = run.spec.duration_ns
        self._slow = False
        """A design that polls every few minutes; the law asks for the normal period."""
        self._period = EngineSettings().period_ns
        self._pauses: list[tuple[int, int]] = []
        """(from, pause) of the shadow's own politeness."""
        self._whole: list[Interval] = []
        """Times that do not count for any pod."""
        self._of_pod: dict[str, list[Interval]] = {}
        self._read(run)

    def over(self, uid: str, since: int, right: int) -> int | None:
        """When the time for seeing it was over, if that was before it was right again."""
        left = self._pause_at(since, right) + TOLERANCE_NS
        t = since
        for begin, end in _merged((*self._whole, *self._of_pod.get(uid, ()))):
            if end <= t:
                continue
            if begin - t > left:
                break
            left -= max(0, begin - t)
            t = end
        over = t + left
        return over if over < right else None

    def _pause_at(self, begin: int, end: int) -> int:
        """The longest pause between two global relists that was in force meanwhile."""
        longest = self._period
        for at, (since, pause) in enumerate(self._pauses):
            until = self._pauses[at + 1][0] if at + 1 < len(self._pauses) else self._end
            if since <= end and until >= begin:
                longest = max(longest, pause)
        return longest

    def _read(self, run: Run) -> None:
        starts = [
            one.t for one in run.records if isinstance(one, RelistStarted) and one.scope == "global"
        ]
        began: dict[int, RelistStarted] = {}
        failed: dict[int, set[str]] = {}
        syncing: dict[str, int] = {}
        for record in run.records:
            match record:
                case Watching():
                    self._slow = PROFILES[record.profile].trusting_period_ns is not None
                    if not self._slow:
                        self._period = record.period_ns
                case RelistStarted():
                    began[record.relist] = record
                case PodCached() if record.error:
                    failed.setdefault(record.relist, set()).add(record.uid)
                case RelistFinished():
                    begin = began.pop(record.relist, None)
                    since = record.started if begin is None else begin.t
                    self._whole.append((since, record.t))
                    if record.scope == "global":
                        if record.pause_ns is not None and not self._slow:
                            self._pauses.append((record.t, record.pause_ns))
                        self._spoilt(record, since, starts, failed.get(record.relist, set()))
                case SyncBegan():
                    syncing[record.uid] = record.t
                case SyncFinished():
                    self._synced(record.uid, syncing.pop(record.uid, record.t), record.t, starts)
                case _:
                    pass
        self._whole += [(one.t, self._end) for one in began.values()]
        for uid, since in syncing.items():
            self._of_pod.setdefault(uid, []).append((since, self._end))

    def _spoilt(
        self, record: RelistFinished, since: int, starts: list[int], failed: Iterable[str]
    ) -> None:
        """A global relist that could not tell of all or some."""
        following = next((t for t in starts if t > since), self._end)
        if not record.ok:
            self._whole.append((since, following))
        for uid in failed:
            self._of_pod.setdefault(uid, []).append((since, following))

    def _synced(self, uid: str, began: int, ended: int, starts: list[int]) -> None:
        """A SyncPod: what was listed during it was withheld, and the next list is the chance."""
        spoilt = [t for t in starts if began <= t <= ended]
        until = ended
        if spoilt:
            until = next((t for t in starts if t > spoilt[-1]), self._end)
        self._of_pod.setdefault(uid, []).append((began, max(ended, until)))


def _merged(intervals: Iterable[Interval]) -> list[Interval]:
    merged: list[Interval] = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged
