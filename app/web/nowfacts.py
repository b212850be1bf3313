"""What somebody wants to know in the first minute on a node, from the state, the pods and the
newest records. Pure: times are monotonic nanoseconds of the session unless they are named ``_at``.
"""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Literal, NamedTuple

from app.engine.hanging import hangs_since
from app.engine.inputs import FailCode
from app.engine.model import ContainerStatus
from app.engine.records import ContainerEventSeen, Lifecycle, Record, RelistFinished
from app.engine.state import EngineState
from app.hub.wire import PodRow, SessionState
from app.journal.journal import Journal

RECENT_NS = 5 * 60 * 1_000_000_000
"""What counts as the last minutes, and what is saved."""

SLOW_FACTOR = 10
SLOW_LEAST_NS = 100_000_000
"""A global relist is slow from so many times the node's usual on, and so many ns."""

STARTS_NS = 5_000_000_000
"""For so long (ns) a session is starting, whatever its first relists come to; as by the header."""

OPEN_NS = 1_000_000_000
"""A global relist in progress for longer is told of instead of the one before, as by the header."""

FEWEST_USUAL = 5
"""Global relists that must have come back before one is called usual."""

FAILS: dict[FailCode, str] = {
    "silent": "does not answer in time",
    "unreachable": "cannot be reached",
    "error": "answers with errors",
}
"""What the runtime does while relists fail, after "The runtime", by what the failure means."""

WAYS = ("found by a hint", "only by the global relist", "after a sync", "by a believed event")
"""How deaths are found, in words."""

MOST_DEATHS = 12
MOST_ROWS = 300
MOST_BOXLESS = 8
"""Pods without a sandbox that are named one by one."""


class Verdict(NamedTuple):
    """How things are. ``icon``: of the sprite. Durations (ns): how long ago the last global relist
    began, how long it took (None: not known), the limit, this node's usual (None: not known yet),
    and how long one has been in progress that ought to have come back (None: there is none)."""

    icon: Literal["ok", "warning", "bad", "waiting"]
    word: str
    fact: str
    since_ns: int | None
    took_ns: int | None
    limit_ns: int
    usual: "Usual | None" = None
    open_ns: int | None = None


class Usual(NamedTuple):
    """This node's usual global relist: the median (ns) of ``number`` that came back since
    ``since_t``, of which ``times`` says how many times it the last one took (None: not known)."""

    median_ns: float
    number: int
    since_t: int
    times: float | None


class Death(NamedTuple):
    """A container that ended. ``ago_ns``: since it was found."""

    record: Lifecycle
    uid: str
    pod: str
    namespace: str
    ago_ns: int


class Found(NamedTuple):
    """Deaths that were found one way: how, how many, and the median delay (ns) if it is known."""

    how: str
    number: int
    median_ns: float | None


class Slowest(NamedTuple):
    """The slowest call to the runtime. ``uid`` empty: it was about no single pod. ``waiting``: it
    has not come back; ``hung``: for so long that the runtime is taken for hung."""

    method: str
    took_ns: int
    uid: str
    pod: str
    ago_ns: int
    relist: int
    waiting: bool = False
    hung: bool = False


class Row(NamedTuple):
    """A container as the runtime has it: its newest attempt, and how the one before it, or itself,
    ended (None: not kept, or it never did)."""

    uid: str
    pod: str
    namespace: str
    status: ContainerStatus
    end: ContainerStatus | None


def recent(journal: Journal, since_t: int) -> tuple[Record, ...]:
    """Kept records from ``since_t`` on, oldest first."""
    count = 2048
    while True:
        records = journal.newest(count)
        if len(records) < count or records[0].t < since_t:
            return tuple(record for record in records if record.t >= since_t)
        count *= 4


def usual(records: Iterable[Record], took_ns: int | None) -> Usual | None:
    """What a global relist usually takes here, by those among ``records``; None below five."""
    durations, since = [], None
    for record in records:
        if isinstance(record, RelistFinished) and record.scope == "global" and record.ok:
            durations.append(record.duration_ns)
            since = record.started if since is None else since
    if since is None or len(durations) < FEWEST_USUAL:
        return None
    middle = median(durations)
    times = None if took_ns is None or not middle else took_ns / middle
    return Usual(middle, len(durations), since, times)


def told_since(records: Iterable[Record], since_t: int) -> int:
    """Stop events that came after ``since_t``, those of an earlier time not counted."""
    return sum(
        isinstance(record, ContainerEventSeen)
        and record.type == "stopped"
        and not record.backlog
        and record.t >= since_t
        for record in records
    )


def failing(engine: EngineState) -> str | None:
    """What the runtime does, if the last global relist failed for what it does."""
    last = engine.last_global
    if last is None or last.ok is not False or last.code == "stopped":
        return None
    # Recordings of earlier versions don't tell.
    return FAILS[last.code or "error"]


def verdict(state: SessionState, records: Sequence[Record] = ()) -> Verdict:
    """How the PLEG is, as the header of the node page words it; ``records``: the newest ones."""
    engine = state.engine
    health, last = engine.health, engine.last_global
    began = health.last_start_t
    since = None if began is None else max(0, engine.t - began)
    open_ns = _open(engine)
    # One that failed says nothing of how long a relist takes, and one in progress is another.
    done = None if last is None or last.ok is False or open_ns is not None else last
    took = None if done is None else done.duration_ns
    limit = health.threshold_ns
    normal = usual(records, took)
    hangs = hangs_since(engine, state.oldest_call)
    if since is not None and (not health.healthy or since > limit):
        return Verdict("bad", "Unhealthy.", "No relist began", since, None, limit)
    if hangs is not None:
        lives = told_since(records, hangs)
        word = "Calls hang, events come." if lives else "Runtime hung."
        return Verdict(
            "warning", word, "A call does not come back", since, took, limit, normal, open_ns
        )
    fails = failing(engine)
    if since is None and fails is not None and engine.t > STARTS_NS:
        fact = f"The runtime {fails}"
        return Verdict("warning", "No relist succeeds.", fact, None, None, limit)
    if since is None:
        return Verdict("waiting", "Starting.", "No relist yet", None, None, limit)
    if fails is not None and since > 2 * engine.period_ns:
        fact = f"The runtime {fails}"
        return Verdict("warning", "Healthy, but relists fail.", fact, since, None, limit)
    if engine.pace_ns > engine.period_ns:
        slow = "Relists are slow"
        return Verdict(
            "warning", "Healthy, slowed down.", slow, since, took, limit, normal, open_ns
        )
    slow_now = took is not None and took > SLOW_LEAST_NS
    if slow_now and normal is not None and (normal.times or 0) > SLOW_FACTOR:
        return Verdict("warning", "Healthy, but slow.", "", since, took, limit, normal)
    return Verdict("ok", "Healthy.", "", since, took, limit, normal, open_ns)


def _open(engine: EngineState) -> int | None:
    running = engine.running
    if running is None or running.scope != "global":
        return None
    goes_on = engine.t - running.started
    return goes_on if goes_on > OPEN_NS else None


def deaths(records: Iterable[Record], pods: Iterable[PodRow], now_t: int) -> list[Death]:
    """Containers that ended, newest first, each once. What was over when the watch began, and the
    sandboxes, are not among them."""
    known = {pod.uid: pod for pod in pods}
    told: dict[tuple[str, str], Lifecycle] = {}
    for record in records:
        if isinstance(record, Lifecycle) and _is_death(record):
            # Told again later: the first time is when it was noticed.
            told.setdefault((record.uid, record.container_id), record)
    found = []
    for record in reversed(told.values()):
        pod = known.get(record.uid)
        found.append(
            Death(
                record,
                record.uid,
                pod.name if pod else "",
                pod.namespace if pod else "",
                max(0, now_t - record.t),
            )
        )
    return found


def by_finding(ended: Sequence[Death]) -> list[Found]:
    """The deaths by how they were found, with the median delay."""
    groups: dict[str, list[Lifecycle]] = {}
    for death in ended:
        groups.setdefault(_how(death.record), []).append(death.record)
    counted = []
    for how in WAYS:
        group = groups.get(how, [])
        late = [record.after_ns for record in group if record.after_ns is not None]
        if group:
            counted.append(Found(how, len(group), median(late) if late else None))
    return counted


def slowest(
    records: Iterable[Record], pods: Iterable[PodRow], state: SessionState
) -> Slowest | None:
    """The slowest call of the relists among ``records``, or one that has waited even longer."""
    known = {pod.uid: pod.name for pod in pods}
    now_t, worst = state.engine.t, None
    for record in records:
        if not isinstance(record, RelistFinished) or not record.slowest_method:
            continue
        if worst is None or record.slowest_ns > worst.slowest_ns:
            worst = record
    waits = state.oldest_call
    waited = 0 if waits is None else max(0, now_t - waits.since_t)
    if waits is not None and (waits.hung or worst is None or waited > worst.slowest_ns):
        running = state.engine.running
        uid = (running.uid or "") if running is not None else ""
        relist = running.relist if running is not None else 0
        return Slowest(waits.method, waited, uid, known.get(uid, ""), 0, relist, True, waits.hung)
    if worst is None:
        return None
    uid = worst.slowest_uid or worst.uid or ""
    ago = max(0, now_t - worst.t)
    return Slowest(
        worst.slowest_method, worst.slowest_ns, uid, known.get(uid, ""), ago, worst.relist
    )


def rows(pods: Iterable[PodRow]) -> list[Row]:
    """A row for each container of the pods that are there, by namespace, pod and container."""
    found = []
    for pod in pods:
        if pod.gone_t is not None:
            continue
        newest: dict[str, ContainerStatus] = {}
        ends: dict[str, ContainerStatus] = {}
        for status in sorted(pod.containers, key=lambda one: (one.attempt, one.created_at)):
            newest[status.name] = status
            if status.runtime_state == "exited":
                ends[status.name] = status
        for name, status in newest.items():
            found.append(Row(pod.uid, pod.name, pod.namespace, status, ends.get(name)))
    found.sort(key=lambda row: (row.namespace, row.pod, row.uid, row.status.name))
    return found


def without_sandbox(pods: Iterable[PodRow]) -> list[PodRow]:
    """The pods that run containers and no sandbox, by namespace and name: their containers are
    no news to a list, so nothing else tells of it."""
    found = [pod for pod in pods if pod.sandbox_gone and pod.gone_t is None]
    return sorted(found, key=lambda pod: (pod.namespace, pod.name, pod.uid))


def _is_death(record: Lifecycle) -> bool:
    return (
        record.type == "ContainerDied"
        and not record.is_sandbox
        and not record.baseline
        and record.delivery != "filtered"
    )


def _how(record: Lifecycle) -> str:
    if record.source == "global":
        return "only by the global relist"
    if record.source != "evented_pleg":
        return "after a sync"
    return "found by a hint" if record.relist else "by a believed event"
