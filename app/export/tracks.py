"""The journal as tracks, slices, instants and counters: what both trace formats are made of.

A pod is a group of tracks: requests, relists, SyncPod, and one for each container; the node
has its own. A *flow* is a number that ties a stop event to the request it made, to the relist that
answered and to what that found, in the order of their times. What was not observed is not drawn: a
slice whose end was not recorded ends where the records do, and says ``unfinished``.

In memory: the pods and containers that are there, what is open, and the newest requests; each
bounded (``MOST_PODS``, ``MOST_CONTAINERS``, ``MOST_REQUESTS``).
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    EventRefused,
    Gap,
    HealthChanged,
    Lifecycle,
    Note,
    PaceChanged,
    PodCached,
    PodGone,
    PodSeen,
    Record,
    RelistFinished,
    RelistListed,
    RelistStarted,
    RequestMade,
    RequestMoved,
    Retuned,
    RuntimeHung,
    RuntimeSeen,
    StreamChanged,
    SyncBegan,
    SyncFinished,
    Watching,
)
from app.export.marks import (
    MOST_CONTAINERS,
    MOST_NAME,
    MOST_PODS,
    MOST_REQUESTS,
    Args,
    Clock,
    Count,
    Dropped,
    Instant,
    Item,
    Slice,
    Track,
)

NODE, RELISTS, STREAM, HEALTH, QUEUE, NOTES = range(1, 7)
_NODE_TRACKS: Final = (
    Track(NODE, "Node"),
    Track(RELISTS, "Global relists", NODE),
    Track(STREAM, "Event stream", NODE),
    Track(HEALTH, "PLEG health", NODE),
    Track(QUEUE, "Relist requests waiting", NODE, counter=True),
    Track(NOTES, "Notes", NODE),
)


def items(records: Iterable[Record]) -> Iterator[Item]:
    """What to draw, piece by piece."""
    drawing = _Drawing()
    for record in records:
        drawing.apply(record)
        yield from drawing.take()
    drawing.end()
    yield from drawing.take()


class _Open(msgspec.Struct):
    """A slice whose end has not come yet."""

    track: int
    name: str
    start: int
    args: Args
    flows: list[int]


class _Pod:
    """The tracks of one pod; 0: not told yet."""

    def __init__(self, group: int) -> None:
        self.group = group
        self.named = False
        self.parts: dict[str, int] = {}
        self.containers: dict[str, int] = {}
        self.sync: _Open | None = None


class _Drawing:
    def __init__(self) -> None:
        self._out: list[Item] = []
        self._last = NOTES
        self._pods: dict[str, _Pod] = {}
        self._containers = 0
        self._requests: dict[int, int] = {}
        """Request to flow."""
        self._relist: _Open | None = None
        self._relist_number = 0
        self._late: list[int] = []
        """Tracks of pods that are gone, on which an end is still to come."""
        self._states: dict[int, _Open] = {}
        """What the stream is in, and health, by track."""
        self._gaps: dict[str, tuple[int, int]] = {}
        """By hop: the track of its gaps, and where the last one ended."""
        self._depth = 0
        self._t = 0
        self._begun = False

    def take(self) -> list[Item]:
        out, self._out = self._out, []
        return out

    def apply(self, record: Record) -> None:
        if not self._begun:
            self._begun = True
            self._out.append(Clock(record.t, record.wall))
            self._out.extend(_NODE_TRACKS)
        self._t = max(self._t, record.t)
        match record:
            case PodSeen():
                self._seen(record)
            case PodGone():
                self._gone(record)
            case ContainerEventSeen():
                self._event(record)
            case RequestMade():
                self._made(record)
            case RequestMoved():
                self._moved(record)
            case RelistStarted():
                self._started(record)
            case RelistFinished():
                self._finished(record)
            case Lifecycle():
                self._found(record)
            case SyncBegan():
                self._sync_began(record)
            case SyncFinished():
                self._sync_ended(record)
            case StreamChanged():
                self._stream(record)
            case HealthChanged():
                told = "healthy" if record.healthy else "unhealthy"
                self._state(HEALTH, told, record.t, {"message": record.message})
            case Gap():
                self._gap(record)
            case PodCached():
                if record.error:
                    self._instant(self._pod(record.uid).group, "inspection failed", record)
            case _:
                self._note(record)

    def end(self) -> None:
        """What is open ends where the records do."""
        left = [pod.sync for pod in self._pods.values() if pod.sync is not None]
        left += self._states.values()
        if self._relist is not None:
            left.append(self._relist)
        for one in left:
            self._close(one, max(self._t, one.start), {"unfinished": True})

    # Tracks

    def _track(self, name: str, parent: int) -> int:
        self._last += 1
        self._out.append(Track(self._last, name[:MOST_NAME], parent))
        return self._last

    def _pod(self, uid: str) -> _Pod:
        uid = uid[:MOST_NAME]
        pod = self._pods.get(uid)
        if pod is None:
            if len(self._pods) >= MOST_PODS:
                self._forget(next(iter(self._pods)), self._t)
            pod = self._pods[uid] = _Pod(self._track(f"pod {uid}", 0))
        return pod

    def _part(self, uid: str, name: str) -> int:
        """One of a pod's own tracks."""
        pod = self._pod(uid)
        if name not in pod.parts:
            pod.parts[name] = self._track(name, pod.group)
        return pod.parts[name]

    def _container(self, uid: str, identity: str, name: str, *, is_sandbox: bool) -> int:
        pod, identity = self._pod(uid), identity[:MOST_NAME]
        track = pod.containers.get(identity)
        if track is None:
            if self._containers >= MOST_CONTAINERS:
                return pod.group
            self._containers += 1
            told = f"sandbox {identity[:12]}" if is_sandbox else f"{name} {identity[:12]}"
            track = pod.containers[identity] = self._track(told.strip(), pod.group)
        return track

    # Pods

    def _seen(self, record: PodSeen) -> None:
        pod = self._pods.get(record.uid[:MOST_NAME])
        name = f"{record.namespace}/{record.name}"[:MOST_NAME]
        if pod is None:
            if len(self._pods) >= MOST_PODS:
                self._forget(next(iter(self._pods)), self._t)
            pod = self._pods[record.uid[:MOST_NAME]] = _Pod(self._track(name, 0))
        elif not pod.named:
            # Its pod worker was faster than the first listing that names it.
            self._out.append(Track(pod.group, name))
        pod.named = True
        self._instant(pod.group, "pod seen", record)

    def _gone(self, record: PodGone) -> None:
        self._instant(self._pod(record.uid).group, "pod gone", record)
        self._forget(record.uid[:MOST_NAME], record.t)

    def _forget(self, uid: str, t: int) -> None:
        pod = self._pods.pop(uid)
        self._containers -= len(pod.containers)
        if pod.sync is not None:
            self._close(pod.sync, t, {"unfinished": True})
        if self._relist is not None and self._relist.track in pod.parts.values():
            # Its relist is still running, and its end will lie on this track.
            self._late.append(pod.parts.pop("Relists"))
        gone = (pod.group, *pod.parts.values(), *pod.containers.values())
        self._out.append(Dropped(gone))

    def _event(self, record: ContainerEventSeen) -> None:
        track = self._container(
            record.uid, record.container_id, record.container_name, is_sandbox=record.is_sandbox
        )
        flows = (_of_event(record.event),) if record.type == "stopped" else ()
        self._instant(track, f"{record.type} event", record, flows)

    def _found(self, record: Lifecycle) -> None:
        track = self._container(
            record.uid, record.container_id, record.container_name, is_sandbox=record.is_sandbox
        )
        flow = None if record.event is None else _of_event(record.event)
        if flow is None and record.request is not None:
            flow = self._requests.get(record.request, _of_request(record.request))
        if flow is not None and self._relist is not None and record.relist == self._relist_number:
            self._relist.flows.append(flow)
        self._instant(track, record.type, record, () if flow is None else (flow,))
        if record.new_state == "non-existent":
            pod = self._pod(record.uid)
            gone = pod.containers.pop(record.container_id[:MOST_NAME], None)
            if gone is not None:
                self._containers -= 1
                self._out.append(Dropped((gone,)))

    def _sync_began(self, record: SyncBegan) -> None:
        pod = self._pod(record.uid)
        if pod.sync is not None:
            self._close(pod.sync, record.t, {"unfinished": True})
        pod.sync = _Open(self._part(record.uid, "SyncPod"), "SyncPod", record.t, {}, [])

    def _sync_ended(self, record: SyncFinished) -> None:
        pod = self._pod(record.uid)
        sync, pod.sync = pod.sync, None
        if sync is None:
            start = record.t - record.duration_ns
            sync = _Open(self._part(record.uid, "SyncPod"), "SyncPod", start, {}, [])
        self._close(sync, record.t, _args(record))

    # Requests and relists

    def _made(self, record: RequestMade) -> None:
        event = record.event
        flow = _of_request(record.request) if event is None else _of_event(event)
        self._requests[record.request] = flow
        if len(self._requests) > MOST_REQUESTS:
            del self._requests[next(iter(self._requests))]
        name = f"request {record.outcome}"
        self._instant(self._part(record.uid, "Requests"), name, record, (flow,))
        self._count(record.t, record.depth)

    def _moved(self, record: RequestMoved) -> None:
        name = f"request {record.outcome}"
        self._instant(self._part(record.uid, "Requests"), name, record)
        self._count(record.t, record.depth)

    def _started(self, record: RelistStarted) -> None:
        if self._relist is not None:
            # Relists come one at a time: the end of this one was lost.
            self._close(self._relist, record.t, {"unfinished": True})
        flows = []
        if record.request is not None:
            flows.append(self._requests.get(record.request, _of_request(record.request)))
            self._count(record.t, max(0, self._depth - 1))
        track, name = self._place(record.uid, record.source)
        self._relist = _Open(track, name, record.t, _args(record), flows)
        self._relist_number = record.relist

    def _finished(self, record: RelistFinished) -> None:
        relist = self._relist
        self._relist = None
        if relist is None or self._relist_number != record.relist:
            if relist is not None:
                self._close(relist, max(relist.start, record.started), {"unfinished": True})
            track, name = self._place(record.uid, record.source)
            relist = _Open(track, name, record.started, {}, [])
        self._close(relist, record.t, _args(record))
        if record.request is not None and not record.withheld:
            self._requests.pop(record.request, None)
        if self._late:
            self._out.append(Dropped(tuple(self._late)))
            self._late.clear()

    def _place(self, uid: str | None, source: str) -> tuple[int, str]:
        if uid is None:
            return RELISTS, "global relist"
        return self._part(uid, "Relists"), f"relist ({source})"

    # The node

    def _stream(self, record: StreamChanged) -> None:
        if record.renewed:
            self._instant(STREAM, "renewed", record)
        else:
            self._state(STREAM, record.state, record.t, _args(record))

    def _state(self, track: int, name: str, t: int, args: Args) -> None:
        before = self._states.pop(track, None)
        if before is not None:
            self._close(before, t, {})
        self._states[track] = _Open(track, name, t, args, [])

    def _gap(self, record: Gap) -> None:
        track, ended = self._gaps.get(record.hop, (0, 0))
        if not track:
            track = self._track(f"Not known here ({record.hop})", NODE)
        self._gaps[record.hop] = (track, record.t)
        start = min(record.t, max(record.from_t, ended))
        self._out.append(Slice(track, f"{record.count} lost", start, record.t, _args(record)))

    def _note(self, record: Record) -> None:
        match record:
            case EventIgnored() | EventRefused():
                self._instant(STREAM, f"{record.type} event not used", record)
            case RelistListed():
                self._instant(RELISTS, "listed", record)
            case Note():
                self._instant(NOTES, record.text[:MOST_NAME], record)
            case RuntimeHung():
                self._instant(NOTES, "runtime hangs" if record.hung else "runtime answers", record)
            case Watching() | RuntimeSeen() | PaceChanged() | Retuned():
                self._instant(NOTES, str(record.__struct_config__.tag), record)
            case _:
                # Moves of gauges and of the cache are no moments of their own.
                pass

    def _count(self, t: int, depth: int) -> None:
        depth = max(0, depth)
        if depth != self._depth:
            self._depth = depth
            self._out.append(Count(QUEUE, t, depth))

    # Marks

    def _instant(self, track: int, name: str, record: Record, flows: tuple[int, ...] = ()) -> None:
        self._out.append(Instant(track, name, record.t, _args(record), flows))

    def _close(self, one: _Open, end: int, args: Args) -> None:
        flows = tuple(dict.fromkeys(one.flows))
        end = max(one.start, end)
        self._out.append(Slice(one.track, one.name, one.start, end, one.args | args, flows))


def _of_event(event: int) -> int:
    return event


def _of_request(request: int) -> int:
    """Flows of requests that no event made, apart from those of events."""
    return request + (1 << 40)


_SHORT: Final = (str, int, float, bool)


def _args(record: Record) -> Args:
    """A record's own fields, of which something is known, that are a single value."""
    found: Args = {}
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if name not in ("t", "wall") and isinstance(value, _SHORT) and value != "":
            found[name] = value
    return found
