"""The second oracle: the journal alone, as bytes, must rebuild what the engine ends with.

Nothing but the JSON lines is used, as somebody would who was sent a recording. What cannot be read
from them (times that are due, a health that was not asked for) is not compared.
"""

from collections import Counter

import msgspec

from app.engine.records import (
    AnyRecord,
    ContainerEventSeen,
    EventIgnored,
    Gap,
    Lifecycle,
    PodCached,
    PodGone,
    PodSeen,
    PodUncached,
    Record,
    RelistFinished,
    RelistStarted,
    RequestMade,
    RequestMoved,
    RuntimeSeen,
    StreamChanged,
    SyncBegan,
    SyncFinished,
    Watching,
)
from app.engine.state import EngineState
from app.journal.rebuild import StateBuilder
from tests.engine.play import Stage

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)
KNOWN = ("created", "started", "stopped", "deleted")


def journal(records: list[Record]) -> bytes:
    """The records as JSON lines."""
    return b"".join(_ENCODER.encode(record) + b"\n" for record in records)


class Reader:
    """What somebody knows who has read a journal."""

    def __init__(self, lines: bytes) -> None:
        self.cached: dict[str, PodCached] = {}
        self.recorded: dict[str, dict[str, str]] = {}
        self.named: set[str] = set()
        self.syncing: set[str] = set()
        self.requests: dict[int, str] = {}
        self.was_queued: set[int] = set()
        self.found: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        self.running: RelistStarted | None = None
        self.last_global: RelistFinished | None = None
        self.stream: StreamChanged | None = None
        self.since_t = 0
        self.policy = "relist_only"
        self.profile = ""
        for line in lines.splitlines():
            self._read(_DECODER.decode(line))

    def _read(self, record: AnyRecord) -> None:
        match record:
            case Watching():
                self.profile = record.profile
            case RuntimeSeen():
                self.policy = record.policy
            case PodSeen():
                self.named.add(record.uid)
            case PodGone():
                self.named.remove(record.uid)
            case PodCached():
                self.cached[record.uid] = record
            case PodUncached():
                self.cached.pop(record.uid, None)
            case Lifecycle():
                self._lifecycle(record)
            case SyncBegan():
                self.syncing.add(record.uid)
            case SyncFinished():
                self.syncing.remove(record.uid)
            case RequestMade() | RequestMoved():
                self._request(record.request, record.outcome)
            case RelistStarted():
                self.running = record
                if record.request is not None:
                    self.requests[record.request] = "running"
            case RelistFinished():
                self._finished(record)
            case StreamChanged():
                if self.stream is None or self.stream.state != record.state:
                    self.since_t = record.t
                self.stream = record
                self.told["errors"] += record.code is not None
            case ContainerEventSeen():
                self.told[record.type if record.type in KNOWN else "unknown"] += 1
                self.told["backlog"] += record.backlog
            case EventIgnored():
                self.told["ignored"] += 1
            case Gap():
                self.told["lost"] += record.count
            case _:
                pass

    def _lifecycle(self, record: Lifecycle) -> None:
        self.found[record.source] += record.delivery != "filtered"
        if record.type == "PodSync":
            return
        pod = self.recorded.setdefault(record.uid, {})
        if record.new_state == "non-existent":
            pod.pop(record.container_id, None)
        else:
            pod[record.container_id] = record.new_state
        if not pod:
            del self.recorded[record.uid]

    def _request(self, number: int, outcome: str) -> None:
        state = "queued" if outcome == "released" else outcome
        self.requests[number] = state
        if state == "queued":
            self.was_queued.add(number)

    def _finished(self, record: RelistFinished) -> None:
        self.running = None
        if record.scope == "global":
            self.last_global = record
        if record.request is not None and self.requests[record.request] == "running":
            self.requests[record.request] = "executed"


def rebuilt(stage: Stage) -> None:
    """The journal of this stage rebuilds its engine's state."""
    read, state, engine = Reader(journal(stage.records)), stage.state(), stage.engine
    assert read.recorded == stage.recorded(), "pod records"
    assert set(read.cached) == set(engine.cache.uids()), "cached pods"
    for uid, told in read.cached.items():
        entry = engine.cache.entry(uid)
        assert entry is not None
        assert entry.error == told.error
        assert entry.status.containers == told.containers
        assert entry.status.sandboxes == told.sandboxes
        assert entry.status.ips == told.ips
    assert read.named == set(engine._generic.records._known), "pods by name"
    outcomes = Counter(read.requests.values())
    for outcome in ("executed", "skipped", "coalesced", "dropped", "cancelled", "held"):
        assert outcomes[outcome] == state.requests[outcome], outcome
    assert len(read.was_queued) == state.requests["queued"]
    assert outcomes["queued"] == state.queue.length
    assert state.queue.suspended in (0, len(read.syncing))
    assert len(read.requests) == sum(outcomes.values())
    assert {key: read.found[key] for key in state.events} == state.events
    counted = {key: count for key, count in state.stream_events.items() if key != "opened"}
    assert {key: read.told[key] for key in counted} == counted
    assert read.profile == state.profile
    assert read.policy == state.stream.policy
    _as_replayed(stage)
    _relists(read, stage)
    if read.stream is not None:
        shown = state.stream
        assert (read.stream.state, read.stream.meaning) == (shown.state, shown.meaning)
        assert (read.stream.code, read.since_t) == (shown.code, shown.since_t)


def _as_replayed(stage: Stage) -> None:
    """What ``plegscope replay`` makes of the journal is the engine's state too."""
    builder = StateBuilder()
    for line in journal(stage.records).splitlines():
        builder.apply(_DECODER.decode(line))
    state = stage.state()
    told, true = comparable(builder.state(state.t)), comparable(state)
    for key, value in true.items():
        assert told[key] == value, f"replayed {key}"


NOT_TOLD = ("opened", "errors")
"""Streams opened and ended: the records show what became of the stream, not each try."""


def comparable(state: EngineState) -> dict[str, object]:
    """All of a state that records tell."""
    told = msgspec.to_builtins(state)
    for name in NOT_TOLD:
        del told["stream_events"][name]
    # When the next poll is due is a plan that a stop undoes; when health was polled shows nowhere.
    del told["next_global_t"], told["health"]["last_seen"]
    return {**told}


def _relists(read: Reader, stage: Stage) -> None:
    state, last = stage.state(), read.last_global
    running = None if state.running is None else state.running.relist
    assert running == (None if read.running is None else read.running.relist)
    assert (last is None) == (state.last_global is None)
    if last is not None and state.last_global is not None:
        known = state.last_global
        assert (last.relist, last.started, last.duration_ns, last.ok) == (
            known.relist,
            known.started,
            known.duration_ns,
            known.ok,
        )
        assert (last.pods, last.containers) == (known.pods, known.containers)
