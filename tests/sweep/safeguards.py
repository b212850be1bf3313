"""Proof of the prover: each safeguard is switched off in turn, and the sweep must find it missing.

The table says after how many seeds (the median of a few starting points). A switch is a small patch
of the real code; what finds it is a law's ``AssertionError`` and nothing else, so a switch that
merely broke the program would not count.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TextIO

import pytest

from app.cri.ring import Lost, Received, Ring
from app.engine import transitions
from app.engine.cache import PodCache
from app.engine.engine import Engine
from app.engine.evented import EventedPleg
from app.engine.generic import GenericPleg
from app.engine.health import Health
from app.engine.inputs import EndCode, Input, StreamEnded, StreamEvent
from app.engine.lifecycle import Finding, LifecycleEvents, StopEvents
from app.engine.listing import Pod
from app.engine.model import PodStatus
from app.engine.outbox import Outputs
from app.engine.pace import Pace
from app.engine.podrecords import PodRecords
from app.engine.records import Outcome
from app.engine.requests import Request, RequestQueue
from app.engine.stream import EventStream
from app.engine.transitions import Change
from app.hub.encode import Frame, frame
from app.hub.hub import Hub
from app.hub.viewer import Viewer
from app.hub.wire import Hello, State
from tests.sweep.examine import mode_of
from tests.sweep.hubplay import HubPlay
from tests.sweep.ringplay import RingPlay
from tests.sweep.run import Life

LIMIT = 1000
"""Seeds within which each must be found."""

STARTS = (0, 20_000, 40_000, 60_000, 80_000)

Patch = Callable[[pytest.MonkeyPatch], None]
Play = Callable[[int], object]


@dataclass(frozen=True)
class Safeguard:
    """What is switched off, and by which play its loss must be found."""

    off: Patch
    play: Play


def _life(seed: int) -> None:
    Life(seed, "liveness" if mode_of(seed) == "liveness" else "safety").live()


def _ring(seed: int) -> None:
    RingPlay(seed).play()


def _hub(seed: int) -> None:
    HubPlay(seed).play()


def _put(owner: object, name: str, value: object, play: Play = _life) -> Safeguard:
    """Switched off by putting something else in an attribute's place."""
    return Safeguard(lambda patch: patch.setattr(owner, name, value), play)


def _cell(new: str, old: str, events: tuple[str, ...]) -> Safeguard:
    table: dict[str, dict[str, tuple[str, ...]]] = dict(transitions._NEW)  # type: ignore[arg-type]  # wrong words are the point
    return Safeguard(lambda patch: patch.setitem(table[new], old, events), _life)


# What stands in the place of each. The originals, as they were before any switch:

_place = RequestQueue._place
_send = LifecycleEvents.send
_dispatch = GenericPleg.dispatch
_publish = GenericPleg._publish
_stop = GenericPleg.stop
_relisted = Health.listed
_ended = EventStream.ended
_delay = EventStream._delay
_retry = EventStream.retry
_event = EventedPleg.event
_step = Engine.step
_ring_put = Ring.put


def _release_nothing(queue: RequestQueue, uid: str) -> tuple[int, int] | None:
    return None if queue._suspended.pop(uid, None) is None else (0, 0)


def _place_without_a_bound(queue: RequestQueue, request: Request) -> Outcome:
    queue.capacity, capacity = 10_000, queue.capacity
    try:
        return _place(queue, request)
    finally:
        queue.capacity = capacity


def _send_twice(
    events: LifecycleEvents, change: Change, status: PodStatus | None, found: Finding
) -> None:
    for _ in range(2):
        _send(events, change, status, found)


def _requests_first(generic: GenericPleg) -> None:
    due = generic.due_t
    if generic.job is None and len(generic.queue) and due is not None:
        generic.due_t = due + 1_000_000_000
        _dispatch(generic)
        generic.due_t = due
    else:
        _dispatch(generic)


def _covered_if_older(generic: GenericPleg, request: Request) -> bool:
    newest = generic.health.relist_t
    uncovered = newest is None or request.uid in generic._uncovered
    return not uncovered and newest is not None and request.enqueued_t < newest


def _covered_though_withheld(generic: GenericPleg, request: Request) -> bool:
    newest = generic.health.relist_t
    return newest is not None and request.enqueued_t <= newest


def _relisted_when_answered(health: Health, _t: int, _wall: int) -> None:
    _relisted(health, health._out.t, health._out.wall)


def _settled(queue: RequestQueue, request: Request, _relist: int) -> None:
    queue.settle(request, None)


def _stopped_without_marking(generic: GenericPleg) -> None:
    if generic.job is not None:
        generic.job.inspection = None
    _stop(generic)


def _published_unless_full(
    generic: GenericPleg,
    job: object,
    uid: str,
    pod: Pod | None,
    found: list[Change],
    status: PodStatus | None,
) -> None:
    before = generic.records.old.get(uid)
    full = generic.events.full
    _publish(generic, job, uid, pod, found, status)  # type: ignore[arg-type]  # Job is not needed here
    if full:
        generic.records.old[uid] = before


def _ended_never_healthy(stream: EventStream, end: StreamEnded) -> None:
    stream._connected_t = None
    _ended(stream, end)


def _ended_always_healthy(stream: EventStream, end: StreamEnded) -> None:
    if stream._connected_t is not None:
        stream._connected_t = -(10**18)
    _ended(stream, end)


def _delay_uncapped(stream: EventStream, code: EndCode) -> int:
    if code == "unimplemented" or stream._failures == 1 or stream._profile.retry == "five":
        return _delay(stream, code)
    full = stream._settings.backoff_base_ns << min(stream._failures - 2, 40)
    return full // 2 + int(full / 2 * stream._chance.random())


def _stopped_stream_left_open(stream: EventStream) -> None:
    stream._started = False
    stream._state = "closed"


def _event_believed(evented: EventedPleg, received: StreamEvent) -> None:
    _event(evented, received)
    event = received.event
    if event.type == "deleted" and evented._stream.is_open:
        evented._generic.cache.delete(event.pod_uid)


def _slow_without_a_stream(engine: Engine, happened: Input) -> Outputs:
    if isinstance(happened, StreamEnded):
        engine._generic.pace.retune(10 * engine.settings.period_ns)
    return _step(engine, happened)


def _kept_for_ever(
    stops: StopEvents, uid: str, container_id: str, event: int, t: int, *, backlog: bool
) -> None:
    stops._stops.setdefault((uid, container_id), (event, t, backlog))


def _fair_without_a_floor(pace: Pace, took_ns: int) -> None:
    pace._recent.append(took_ns)
    fair = (pace._settings.listing_share - 1) * min(pace._recent)
    pace.pause_ns = min(fair, pace._settings.pace_cap_ns)


def _drop_the_newest(ring: Ring, received: Received) -> None:
    if len(ring._events) >= ring._capacity:
        ring._put += 1
        ring._gone += 1
        earlier = ring._lost
        ring._lost = Lost(1 if earlier is None else earlier.number + 1, received.t)
    else:
        _ring_put(ring, received)


def _drop_without_counting(ring: Ring, received: Received) -> None:
    lost = ring._lost
    _ring_put(ring, received)
    ring._lost = lost


def _keep_all(ring: Ring, received: Received) -> None:
    ring._capacity = 10**9
    _ring_put(ring, received)


def _weigh_nothing(ring: Ring, received: Received) -> None:
    ring._max_bytes = 10**9
    _ring_put(ring, received)


def _drop_and_go_on(viewer: Viewer) -> bool:
    viewer._clear()
    return True


def _offer_all(viewer: Viewer, one: Frame) -> bool:
    if not viewer.behind and not viewer.closing.is_set():
        viewer._queue.append(one)
        viewer._bytes += one.size
        viewer._wake.set()
    return True


def _flush_over_the_hole(hub: Hub) -> None:
    for batch in hub._batches(hub._cursor) if hub._viewers else ():
        hub.stats.lagging += sum(not viewer.offer(batch) for viewer in hub._viewers)
    hub._cursor = hub._journal.last_seq
    asking = [viewer for viewer in hub._viewers if viewer.asked]
    if asking:
        hub._start_afresh(asking)


def _resume_always(hub: Hub, viewer: Viewer, since: int | None) -> None:
    viewer.greet(frame(Hello(hub._session, hub._version, since is not None)))
    if since is not None:
        missed = hub._batches(since, max(0, hub._cursor - since))
        viewer.start([*missed, frame(State(hub._state()))], since)


SAFEGUARDS: dict[str, Safeguard] = {
    "a transition (exited from running)": _cell("exited", "running", ()),
    "Died before Removed": _cell("non-existent", "running", ("ContainerRemoved", "ContainerDied")),
    "one event each": _put(LifecycleEvents, "send", _send_twice),
    "the record moves on": _put(PodRecords, "advance", lambda *_: None),
    "a discarded event never comes again": _put(GenericPleg, "_publish", _published_unless_full),
    "the cache is written": _put(PodCache, "set", lambda *_: None),
    "a gone pod leaves the cache": _put(PodCache, "delete", lambda *_: None),
    "a gone pod's name is forgotten": _put(PodRecords, "forget_absent", lambda *_: None),
    "reinspection": _put(PodRecords, "mark", lambda *_: None),
    "a stop keeps the mark of an inspection": _put(GenericPleg, "stop", _stopped_without_marking),
    "one writer: an event is not believed": _put(EventedPleg, "event", _event_believed),
    "an event says whom it is about": _put(EventedPleg, "_problem", lambda *_: None),
    "answers of an older relist are void": _put(
        GenericPleg, "_waiting_for", lambda self, _: self.job
    ),
    "nothing is published in a hold": _put(GenericPleg, "_may_publish", lambda *_, **__: True),
    "a hold takes what waits in the queue": _put(
        RequestQueue, "suspend", lambda self, uid: self._suspended.setdefault(uid, 0)
    ),
    "the release": _put(RequestQueue, "release", _release_nothing),
    "a withheld request is put back": _put(RequestQueue, "put_back", _settled),
    "the skip rule": _put(GenericPleg, "_covered", lambda *_: False),
    "the skip rule: as old as the listing": _put(GenericPleg, "_covered", _covered_if_older),
    "the skip rule: not where it withheld": _put(GenericPleg, "_covered", _covered_though_withheld),
    "the queue's bound": _put(RequestQueue, "_place", _place_without_a_bound),
    "a due global relist goes first": _put(GenericPleg, "dispatch", _requests_first),
    "the relist time": _put(Health, "listed", lambda *_: None),
    "the relist time is taken before the list": _put(Health, "listed", _relisted_when_answered),
    "the stream never changes the period": _put(Engine, "step", _slow_without_a_stream),
    "the pause is never below the period": _put(Pace, "listed", _fair_without_a_floor),
    "politeness": _put(Pace, "listed", lambda *_: None),
    "the bound on stops that are remembered": _put(StopEvents, "remember", _kept_for_ever),
    "refuted stops are forgotten": _put(StopEvents, "listed", lambda *_: None),
    "the backoff": _put(EventStream, "_delay", lambda *_: 0),
    "the backoff's cap": _put(EventStream, "_delay", _delay_uncapped),
    "the backoff begins anew after a healthy connection": _put(
        EventStream, "ended", _ended_never_healthy
    ),
    "the backoff goes on after a short connection": _put(
        EventStream, "ended", _ended_always_healthy
    ),
    "the longest delay where there is no stream": _put(
        EventStream, "_delay", lambda self, _: _delay(self, "error")
    ),
    "an old retry timer is void": _put(
        EventStream, "retry", lambda self, _: _retry(self, self._token)
    ),
    "the stream is closed at the end": _put(EventStream, "stop", _stopped_stream_left_open),
    "what waits is cancelled at the end": _put(RequestQueue, "cancel_all", lambda _: None),
    "ring: the oldest is dropped": _put(Ring, "put", _drop_the_newest, _ring),
    "ring: a loss is counted": _put(Ring, "put", _drop_without_counting, _ring),
    "ring: bounded by number": _put(Ring, "put", _keep_all, _ring),
    "ring: bounded by bytes": _put(Ring, "put", _weigh_nothing, _ring),
    "hub: a snapshot after a lag": _put(Viewer, "fall_behind", _drop_and_go_on, _hub),
    "hub: a mailbox is bounded": _put(Viewer, "offer", _offer_all, _hub),
    "hub: records that the journal gave up": _put(Hub, "flush", _flush_over_the_hole, _hub),
    "hub: only what is still there is resumed": _put(Hub, "_admit", _resume_always, _hub),
}


def seeds_to_find(safeguard: Safeguard, first: int = 0, limit: int = LIMIT) -> int | None:
    """How many seeds from ``first`` on it takes until a law is broken; None: not within limit."""
    with pytest.MonkeyPatch.context() as patch:
        safeguard.off(patch)
        for number in range(limit):
            try:
                safeguard.play(first + number)
            except AssertionError:
                return number + 1
    return None


def table(out: TextIO) -> int:
    """Print after how many seeds each safeguard's loss is found; 1 if one is not."""
    missed = 0
    out.write(f"{'safeguard switched off':<54}{'seeds, median':>14}{'most':>6}\n")
    for name, safeguard in SAFEGUARDS.items():
        found = [seeds_to_find(safeguard, first) for first in STARTS]
        known = [count for count in found if count is not None]
        missed += len(known) < len(found)
        middle = f"{median(known):g}" if known else "-"
        most = max(known) if len(known) == len(found) else f">{LIMIT}"
        out.write(f"{name:<54}{middle:>14}{most:>6}\n")
        out.flush()
    return 1 if missed else 0
