"""The runtime's life rebuilt: each container's and sandbox's states, and when they can have begun.

Between two looks a state has changed at an unknown time. It is narrowed by what the runtime itself
wrote down: ``created_at``, ``started_at`` and ``finished_at`` are never after the change that a
list shows, the receipt of an event about it is never before, and the event was made right after.
The best guess within what is left is the event's own time, else that of the status with the lag
that the runtime had elsewhere in this recording, else the middle.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median_low
from typing import NamedTuple

import msgspec

from app.engine.model import ContainerStatus, Observation, RuntimeState, SandboxStatus
from app.stage.truth import What, Who
from app.whatif.evidence import Evidence, Item, Sighting

_ORDER: dict[RuntimeState, int] = {
    "created": 1,
    "running": 2,
    "exited": 3,
    "ready": 2,
    "notready": 3,
}
_EVENT: dict[RuntimeState, str] = {
    "created": "created",
    "running": "started",
    "exited": "stopped",
    "ready": "started",
    "notready": "stopped",
}
LAG_NS = 50_000_000
"""What a runtime needs to know of an end, if the recording does not tell (measured: containerd)."""
TELLS_WITHIN_NS = 2_000_000
"""A runtime makes an event right after the change that it is about (containerd and CRI-O)."""


class Phase(NamedTuple):
    """From somewhere between ``lo`` and ``hi`` on, most likely ``t``, it was so; None: gone."""

    lo: int
    t: int
    hi: int
    row: Observation | None


class Life:
    """One container or sandbox. ``phases`` are in order of time, the first one its appearance."""

    __slots__ = ("item", "phases", "times", "who")

    def __init__(self, item: Item, phases: list[Phase]) -> None:
        self.item = item
        self.phases = phases
        self.times = [one.t for one in phases]
        self.who: Who | None = None

    def at(self, t: int) -> Observation | None:
        """The row that a list would have shown at ``t``, by the best guess."""
        at = bisect_right(self.times, t) - 1
        return None if at < 0 else self.phases[at].row


class Happening(NamedTuple):
    """A start or an end: when it was so. A look between ``seen_from`` and ``gone`` (None: never)
    is needed to find it: of a start while the process runs, of an end at any time in which the
    container is listed, as its absence afterwards tells of the end as well."""

    what: What
    life: Life
    phase: Phase
    seen_from: Phase
    gone: Phase | None


class Timeline:
    """All of them, and a runtime that can be looked at."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        lag = _lag(evidence)
        self.lives: dict[str, Life] = {}
        self.pods: dict[str, list[Life]] = {}
        for item_id, item in evidence.items.items():
            life = Life(item, _phases(item, lag, evidence.begin_t))
            self.lives[item_id] = life
            self.pods.setdefault(item.first.pod_uid, []).append(life)
        self._name()
        # Of the same time, in the order of the first listing, as a relist goes by it.
        self._changes = sorted(
            (
                (phase.t, number, item_id)
                for item_id, life in self.lives.items()
                for number, phase in enumerate(life.phases)
            ),
            key=lambda change: change[:2],
        )

    def changes(self) -> Sequence[tuple[int, int, str]]:
        """(time, number of the phase, id): all changes by the best guess, in order of time."""
        return self._changes

    def container_status(self, container_id: str, t: int) -> ContainerStatus | None:
        """What ContainerStatus would have answered at ``t``; None: NotFound."""
        life = self.lives.get(container_id)
        row = None if life is None else life.at(t)
        if life is None or row is None:
            return None
        return container_status(life.item, row)

    def sandbox_status(self, sandbox_id: str, t: int) -> SandboxStatus | None:
        """What PodSandboxStatus would have answered at ``t``; None: NotFound."""
        life = self.lives.get(sandbox_id)
        row = None if life is None else life.at(t)
        if life is None or row is None:
            return None
        known = life.item.statuses.get(row.runtime_state)
        if isinstance(known, SandboxStatus):
            return known
        other = next(iter(life.item.statuses.values()), None)
        ips = other.ips if isinstance(other, SandboxStatus) and row.state == "running" else ()
        return SandboxStatus(row.id, row.attempt, row.runtime_state, row.created_at, ips)

    def happenings(self) -> Iterator[Happening]:
        """Starts and ends that were not over when the recording's first look was."""
        first = self.evidence.first_look_t
        if first is None:
            return
        for life in self.lives.values():
            if life.item.first.kind != "container":
                continue
            ran = False
            for number, phase in enumerate(life.phases):
                state = None if phase.row is None else phase.row.runtime_state
                later = phase.hi > first
                if state == "running" and not ran:
                    ran = True
                    if later and not (life.item.baseline and number == 0):
                        gone = _next(life.phases, number)
                        yield Happening("start", life, phase, phase, gone)
                elif state != "running" and ran:
                    ran = False
                    if later:
                        gone = _last(life.phases, number)
                        yield Happening("end", life, phase, life.phases[0], gone)

    def _name(self) -> None:
        """Who each container is; ``nth`` in order of creation, as a simulation's truth counts."""
        names: Counter[Who] = Counter()
        containers = [one for one in self.lives.values() if one.item.first.kind == "container"]
        for life in sorted(containers, key=lambda one: one.item.first.created_at):
            row = life.item.first
            who = Who(row.pod_namespace, row.pod_name, row.pod_uid, row.name, row.attempt)
            life.who = msgspec.structs.replace(who, nth=names[who])
            names[who] += 1


def container_status(item: Item, row: Observation) -> ContainerStatus:
    """The status of a container in this state: as it was answered, else as far as is known."""
    known = item.statuses.get(row.runtime_state)
    if isinstance(known, ContainerStatus):
        return known
    other = next(
        (one for one in item.statuses.values() if isinstance(one, ContainerStatus)),
        None,
    )
    status = ContainerStatus(
        id=row.id,
        name=row.name,
        attempt=row.attempt,
        runtime_state=row.runtime_state,
        created_at=row.created_at,
        started_at=0 if other is None or row.runtime_state == "created" else other.started_at,
        image="" if other is None else other.image,
    )
    stop = item.hints.get("stopped")
    if row.runtime_state != "exited" or stop is None:
        return status
    return msgspec.structs.replace(
        status,
        finished_at=stop.event.finished_at,
        exit_code=stop.event.exit_code,
        reason=stop.event.reason,
    )


def _next(phases: list[Phase], number: int) -> Phase | None:
    return phases[number + 1] if number + 1 < len(phases) else None


def _last(phases: list[Phase], number: int) -> Phase | None:
    """When the container is listed no more."""
    return next((one for one in phases[number:] if one.row is None), None)


def _lag(evidence: Evidence) -> int:
    lags = []
    for item in evidence.items.values():
        stop, status = item.hints.get("stopped"), item.statuses.get("exited")
        if stop is None or not isinstance(status, ContainerStatus) or not status.finished_at:
            continue
        lag = stop.event.created_at - status.finished_at
        if 0 <= lag < 10_000_000_000:
            lags.append(lag)
    return median_low(lags) if lags else LAG_NS


def _phases(item: Item, lag: int, begin_t: int) -> list[Phase]:
    found: list[Phase] = []
    state: RuntimeState | None = None
    for number, sighting in enumerate(item.sightings):
        if item.baseline and not number:
            found.append(Phase(begin_t, begin_t, begin_t, sighting.row))
        else:
            for row in _steps(item, state, sighting):
                found.append(_phase(item, row, sighting, found, lag))
        last = found[-1].row
        state = None if last is None else last.runtime_state
    return found


def _steps(
    item: Item, state: RuntimeState | None, sighting: Sighting
) -> Iterator[Observation | None]:
    """The states that were passed on the way to what was seen, and it."""
    row = sighting.row
    old = 0 if state is None else _ORDER.get(state, 9)
    new = 4 if row is None else _ORDER.get(row.runtime_state, 0)
    kind = item.first.kind
    passed: tuple[RuntimeState, ...] = ("created", "running", "exited")
    if kind == "sandbox":
        passed = ("ready", "notready")
    for one in passed:
        if old < _ORDER[one] < new and _happened(item, one, new):
            yield msgspec.structs.replace(item.first, runtime_state=one)
    yield row


def _happened(item: Item, state: RuntimeState, new: int) -> bool:
    """Whether a state that nobody saw is known to have been."""
    if _EVENT[state] in item.hints:
        return True
    if state == "running":
        return any(
            isinstance(one, ContainerStatus) and one.started_at > 0
            for one in item.statuses.values()
        )
    # What is listed was made; what is gone again may never have been seen otherwise.
    return state in ("created", "ready") and new < 4


def _phase(
    item: Item,
    row: Observation | None,
    sighting: Sighting,
    before: list[Phase],
    lag: int,
) -> Phase:
    lo = max(sighting.lo, before[-1].lo if before else sighting.lo)
    hi = max(sighting.hi, lo)
    state = None if row is None else row.runtime_state
    hint = item.hints.get("deleted" if state is None else _EVENT.get(state, ""))
    wrote = _wrote(item, state)
    told = wrote - item.offset if wrote else None
    if told is not None and lo < told <= hi:
        lo = told
    guess = (lo + hi) // 2
    if hint is not None and lo <= hint.t <= hi:
        hi = hint.t
    if hint is not None and lo <= hint.made_t <= hi:
        guess = hint.made_t
        lo = max(lo, guess - TELLS_WITHIN_NS)
    elif told is not None and lo == told:
        guess = min(hi, told + lag) if state in ("exited", "notready") else told
    floor = before[-1].t if before else guess
    return Phase(lo, min(max(guess, lo, floor), max(hi, floor)), hi, row)


def _wrote(item: Item, state: RuntimeState | None) -> int:
    """When the runtime says that this state began (wall ns); 0: it does not."""
    if state in ("created", "ready"):
        return item.first.created_at
    statuses = [one for one in item.statuses.values() if isinstance(one, ContainerStatus)]
    if state == "running":
        return max((one.started_at for one in statuses), default=0)
    if state == "exited":
        return max((one.finished_at for one in statuses), default=0)
    return 0
