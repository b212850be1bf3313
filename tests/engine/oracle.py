"""A deliberately naive model of what a PLEG may do, as an oracle for random plays.

It knows inputs, effects and records, and no more of the engine. It keeps what was published of
each pod as plain dicts, works out what each listing should have brought, and objects (by
``AssertionError``) to the first record that it cannot explain. The journal alone rebuilds its
state, so what it ends with must be what the engine ends with.
"""

from collections import Counter, deque

from app.engine.effects import CancelWake, CloseStream, Effect, InspectPod, ListPods
from app.engine.inputs import (
    Input,
    PodInspected,
    PodInspectFailed,
    PodsListed,
    ReinspectRequested,
    Start,
    Stop,
    StreamEvent,
    SyncEnded,
    SyncStarted,
)
from app.engine.outbox import Outputs
from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    Gap,
    HealthChanged,
    Lifecycle,
    PaceChanged,
    PodCached,
    PodUncached,
    Record,
    RelistFinished,
    RelistStarted,
    RequestMade,
    RequestMoved,
)
from app.engine.settings import EngineSettings
from app.engine.state import EngineState
from tests.engine.facts import LIE, WORDS, Relist, Rows, expected_types
from tests.engine.requestoracle import RequestOracle
from tests.engine.stoporacle import StopOracle
from tests.engine.streamoracle import StreamOracle


class Oracle:
    """Watches every step of one engine. ``situations``: what a play has reached, for the sweep."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.suspends = settings.profile == "kep"
        self.on_demand = settings.profile != "polling"
        self.pod_sync = settings.profile != "polling"
        self.running = False
        self.t = 0
        self.step = 0
        self.published: dict[str, Rows] = {}
        self.cached: dict[str, PodCached] = {}
        self.listed: dict[str, None] = {}
        """Pods that were ever listed, in order."""
        self.marks: dict[str, int] = {}
        """Pods marked for reinspection, and since which step."""
        self.holds: set[str] = set()
        self.touched: dict[str, int] = {}
        """In which step a hold of a pod last began or ended."""
        self.relist: Relist | None = None
        self.expected: list[tuple[str, str, str]] = []
        self.whole = False
        self.took: deque[int] = deque(maxlen=3)
        self.pause = settings.period_ns
        self.due: int | None = None
        self.ended_t = -1
        self.call = 0
        self.events = 0
        self.situations: set[str] = set()
        self.stream = StreamOracle(settings, self._reach)
        self.requests = RequestOracle(settings, self.holds, self.touched, self._reach)
        self.stops = StopOracle(settings.stops_kept, self._reach)
        self._was_held = False

    # Steps

    def watch(self, happened: Input, outputs: Outputs) -> None:
        """One step was made."""
        self.step += 1
        self.t = max(self.t, happened.t)
        was_running = self.running
        self.requests.begin(self.t)
        self._take_in(happened)
        if isinstance(happened, StreamEvent):
            self._event(happened, outputs)
        for record in outputs.records:
            self._check(record, happened)
        assert not self.expected, f"not told: {self.expected}"
        for effect in outputs.effects:
            self._note(effect)
        self.stream.watch(happened, outputs, self.t)
        self._holds_kept(happened)
        self.requests.put_back_kept()
        if not self.running:
            allowed = (CloseStream, CancelWake) if was_running else ()
            assert all(isinstance(effect, allowed) for effect in outputs.effects), outputs.effects
            assert not self.requests.waiting(), "nothing waits after the end"
        if self.running and self.relist is None:
            assert self.due is not None
            assert self.due >= self.t, "an overdue global relist has begun"
            assert not self.requests.count("queued"), "a request that may run has begun"

    def _take_in(self, happened: Input) -> None:
        match happened:
            case Start() if not self.running:
                self.running = True
                self.due = self.t
                self.took.clear()
                self.pause = self.settings.period_ns
            case Stop():
                self.running = False
                self.due = None
                if self.relist is not None and self.relist.by_mark:
                    assert self.relist.inspecting is not None
                    self.marks[self.relist.inspecting.uid] = self.step
            case SyncStarted():
                if self.suspends and happened.uid not in self.holds:
                    self.holds.add(happened.uid)
                    self.touched[happened.uid] = self.step
            case SyncEnded():
                self._was_held = happened.uid in self.holds
                self.holds.discard(happened.uid)
                if self.suspends:
                    self.touched[happened.uid] = self.step
            case ReinspectRequested():
                self.marks[happened.uid] = self.step
            case PodsListed() if self.relist is not None and happened.call == self.call:
                self._listed(self.relist, happened)
            case PodInspected() | PodInspectFailed():
                self._inspection_over(happened)
            case _:
                pass

    def _event(self, received: StreamEvent, outputs: Outputs) -> None:
        """An event counts while there is a stream, and only if it says whom it is about."""
        if not self.stream.open:
            assert outputs.records == (), "there is no stream"
            return
        event, reason = received.event, None
        if event.pod_uid == "" and self.settings.profile == "kep":
            reason = "missing_uid"
        if not event.has_metadata:
            reason = "missing_metadata"
        if not event.has_sandbox_status:
            reason = "missing_sandbox_status"
        ignored = [one.reason for one in outputs.records if isinstance(one, EventIgnored)]
        seen = sum(isinstance(one, ContainerEventSeen) for one in outputs.records)
        assert ignored == ([] if reason is None else [reason])
        assert seen == (reason is None)

    def _listed(self, relist: Relist, answer: PodsListed) -> None:
        relist.listing = {}
        relist.containers = len(answer.containers)
        for row in (*answer.sandboxes, *answer.containers):
            self.listed[row.pod_uid] = None
            relist.listing.setdefault(row.pod_uid, {})[row.id] = row
        if relist.scope == "global":
            self.requests.good = relist
            self.stops.listed(relist.listing, self.published, relist.t)
            self._paced(sum(cost.duration_ns for cost in answer.calls))

    def _paced(self, took: int) -> None:
        """Listing gets its share of the time and no more, by the quickest of the last three."""
        self.took.append(took)
        if len(self.took) < 3:
            return
        settings = self.settings
        fair = min(self.took) * (settings.listing_share - 1)
        self.pause = max(settings.period_ns, min(fair, settings.pace_cap_ns))
        if self.pause > settings.period_ns:
            self._reach("pace capped" if self.pause == settings.pace_cap_ns else "pace slowed")

    def _inspection_over(self, answer: PodInspected | PodInspectFailed) -> None:
        relist = self.relist
        if relist is None or answer.call != self.call or relist.inspecting is None:
            return
        uid = relist.inspecting.uid
        if self._disturbed(uid):
            relist.withheld.add(uid)
            if relist.by_mark:
                self.marks[uid] = self.step
        elif isinstance(answer, PodInspectFailed):
            relist.failed.add(uid)
            self.marks[uid] = self.step
            self._reach("inspection failed")

    def _holds_kept(self, happened: Input) -> None:
        """Nothing of a held pod stands in the queue; after a hold one request at most does."""
        self.requests.holds_kept()
        if isinstance(happened, SyncEnded) and self._was_held:
            assert self.requests.queued_of[happened.uid] <= 1, "one relist after the release"

    # Records

    def _check(self, record: Record, happened: Input) -> None:
        assert record.t == self.t
        if self.expected:
            assert isinstance(record, Lifecycle), f"{record} came before {self.expected}"
        match record:
            case RelistStarted():
                self._relist_started(record)
            case RelistFinished():
                self._relist_finished(record)
            case PodCached():
                self._pod_cached(record, happened)
            case PodUncached():
                self._pod_uncached(record)
            case Lifecycle():
                self._lifecycle(record)
            case RequestMade():
                assert self.on_demand
                self.requests.made(record)
            case RequestMoved():
                assert record.outcome != "cancelled" or not self.running
                self.requests.moved(record)
            case EventIgnored():
                self.events += 1
                self._reach(record.reason)
            case ContainerEventSeen():
                self.events += 1
                assert record.event == self.events
                asks = record.type == "stopped" and self.settings.profile in ("kep", "1.37")
                assert (record.request is not None) == asks
                self._reach(f"event {record.type} backlog={record.backlog}")
                if record.type == "stopped":
                    dead = _state(self.published.get(record.uid, {}), record.container_id)
                    if dead != "exited":
                        assert isinstance(happened, StreamEvent)
                        self.stops.told(record, happened.t)
            case HealthChanged():
                assert record.healthy == self._healthy(self.t)
                self._reach(f"healthy={record.healthy}")
            case PaceChanged():
                assert record.period_ns == self.pause
                slowed = self.pause > self.settings.period_ns
                self._reach("pace told slower" if slowed else "pace told restored")
            case Gap():
                self._reach(f"gap {record.hop}")
            case _:
                pass

    def _relist_started(self, record: RelistStarted) -> None:
        assert self.relist is None, "relists never overlap"
        assert self.running
        assert self.due is not None
        if record.scope == "global":
            assert self.due == self.t or (self.due < self.t and self.ended_t == self.t), (
                "a due global relist begins at its time or with the end of the relist in progress"
            )
            self._reach("global on time" if self.due == self.t else "global after another")
        else:
            assert self.due > self.t, "a due global relist goes first"
            assert record.uid not in self.holds, "a held pod is not relisted"
            self.requests.started(record)
        self.relist = Relist(record, self.step)

    def _relist_finished(self, record: RelistFinished) -> None:
        relist = self.relist
        assert relist is not None
        assert (record.relist, record.scope, record.uid) == (
            relist.number,
            relist.scope,
            relist.uid,
        )
        assert record.duration_ns == self.t - relist.t
        assert record.started == relist.t
        assert record.pods == len(relist.listing or ())
        assert record.containers == relist.containers
        assert record.ok == (record.error == "")
        self._gauges_agree(record, relist)
        if record.ok:
            assert record.withheld <= self._all_found(relist)
            held = [uid for uid in self.holds if self.touched[uid] <= relist.step]
            shown = sum(uid in (relist.listing or ()) for uid in held)
            assert record.withheld >= max(len(relist.withheld), shown)
            self.whole |= relist.scope == "global"
        self.relist = None
        self.ended_t = self.t
        if relist.request is not None:
            self.requests.finished(relist.request, withheld=record.withheld > 0)
        if relist.scope == "global" and self.running:
            self.due = self.t + self.pause
        outcome = "ok" if record.ok else "failed"
        self._reach(f"{relist.scope} {outcome} withheld={bool(relist.withheld)}")

    def _gauges_agree(self, record: RelistFinished, relist: Relist) -> None:
        """The running gauges count what a global relist listed, and nothing else sets them."""
        if relist.scope != "global" or relist.listing is None:
            assert (record.running_pods, record.containers_by_state) == (None, None)
            return
        pods = relist.listing.values()
        ready = sum(any(row.runtime_state == "ready" for row in rows.values()) for rows in pods)
        rows = [row for rows in pods for row in rows.values() if row.kind == "container"]
        assert record.running_pods == ready
        assert record.containers_by_state == Counter(row.runtime_state for row in rows)

    def _all_found(self, relist: Relist) -> int:
        """Every difference was published, and every mark served, unless the pod was held or could
        not be inspected. Returns how many pods may have been withheld."""
        assert relist.listing is not None
        uids = list(self.listed) if relist.uid is None else [relist.uid]
        disturbed = 0
        for uid in uids:
            changed = self._changes(uid, relist)
            if self._disturbed(uid, relist):
                disturbed += 1
                if changed and uid not in relist.failed:
                    relist.withheld.add(uid)
            elif uid not in relist.failed:
                assert changed == [], f"{uid}: not all was found"
                served = self.marks.get(uid, self.step) > relist.step
                assert served or uid not in relist.listing, f"{uid}: mark not served"
        return disturbed

    def _pod_cached(self, record: PodCached, happened: Input) -> None:
        relist = self._publishing(record.uid)
        assert relist.inspecting is not None
        assert relist.inspecting.uid == record.uid
        if record.error:
            assert isinstance(happened, PodInspectFailed)
            assert record.error == happened.error
            assert (record.containers, record.sandboxes, record.ips) == ((), (), ())
        else:
            assert isinstance(happened, PodInspected)
            assert set(record.containers) == set(happened.containers), "the runtime's word alone"
            assert set(record.sandboxes) == set(happened.sandboxes), "the runtime's word alone"
            self._expect(record.uid, relist)
            if not self.expected:
                assert relist.by_mark
                self._expect_sync()
        self.cached[record.uid] = record

    def _pod_uncached(self, record: PodUncached) -> None:
        relist = self._publishing(record.uid)
        assert relist.listing is not None
        assert relist.scope == "global"
        assert record.uid not in relist.listing
        self.cached.pop(record.uid, None)
        self._expect(record.uid, relist)
        if not self.expected:
            assert record.uid in self.marks
            self._expect_sync()
        self.marks.pop(record.uid, None)

    def _lifecycle(self, record: Lifecycle) -> None:
        relist = self._publishing(record.uid)
        assert record.relist == relist.number
        assert self.expected, f"nothing explains {record}"
        wanted = self.expected.pop(0)
        assert (record.type, record.container_id) == wanted[:2]
        assert record.exit_code != LIE
        assert record.baseline == (not self.whole)
        assert record.source == relist.source
        assert record.request == relist.request
        assert record.poll_due_t == (None if relist.scope == "global" else self.due)
        if record.type == "ContainerDied":
            self.stops.died(record)
        else:
            assert (record.event, record.stop_t, record.after_ns) == (None, None, None)
        self._reach(wanted[2] or record.type)
        self._reach(f"{record.type} {record.delivery}")
        self._reach(f"found by {record.source}")
        if record.type == "ContainerDied":
            self._reach(f"death told of={record.event is not None}")

    def _publishing(self, uid: str) -> Relist:
        """The relist that publishes something about this pod now, if it may."""
        relist = self.relist
        assert relist is not None
        assert uid not in self.holds, f"{uid} is held"
        assert self.touched.get(uid, 0) <= relist.step, f"{uid} was held since the relist began"
        return relist

    def _expect(self, uid: str, relist: Relist) -> None:
        """These lifecycle events must come now; the pod is known as listed from now on."""
        self.expected = [
            (kind, item_id, f"{old} to {new}")
            for item_id, old, new in self._changes(uid, relist)
            for kind in expected_types(old, new)
        ]
        assert relist.listing is not None
        rows = relist.listing.get(uid)
        if rows is None:
            self.published.pop(uid, None)
        else:
            self.published[uid] = rows

    def _expect_sync(self) -> None:
        if self.pod_sync:
            self.expected = [("PodSync", "", "")]

    def _changes(self, uid: str, relist: Relist) -> list[tuple[str, str, str]]:
        """(id, old, new) of a pod against the listing, in the order of behaviours A20."""
        assert relist.listing is not None
        old, new = self.published.get(uid, {}), relist.listing.get(uid, {})
        order = sorted(
            {**new, **old}.values(),
            key=lambda row: (row.id not in old, row.kind != "container", -row.created_at, row.id),
        )
        found = []
        for item_id in (row.id for row in order):
            before, after = _state(old, item_id), _state(new, item_id)
            if before != after:
                found.append((item_id, before, after))
        return found

    # Effects, disturbances, situations

    def _note(self, effect: Effect) -> None:
        match effect:
            case ListPods():
                assert self.relist is not None
                assert effect.uid == self.relist.uid
                self.call = effect.call
            case InspectPod():
                relist = self.relist
                assert relist is not None
                assert relist.listing is not None
                assert not self._disturbed(effect.uid), "a held pod is not inspected"
                rows = relist.listing[effect.uid]
                assert {*effect.sandbox_ids, *effect.container_ids} == set(rows)
                relist.inspecting = effect
                relist.by_mark = effect.uid in self.marks
                self.marks.pop(effect.uid, None)
                assert relist.by_mark or self._changes(effect.uid, relist), "asked for nothing"
                self.call = effect.call
            case _:
                pass

    def _disturbed(self, uid: str, relist: Relist | None = None) -> bool:
        relist = relist or self.relist
        assert relist is not None
        return uid in self.holds or self.touched.get(uid, 0) > relist.step

    def _reach(self, situation: str) -> None:
        self.situations.add(situation)

    # What must be so after every step

    def agrees(self, state: EngineState) -> None:
        """The engine's own account is the one that its records give."""
        running = self.requests.agrees(state)
        assert running == (self.relist is not None and self.relist.request is not None)
        assert (state.running is not None) == (self.relist is not None)
        assert state.next_global_t == (
            None if self.relist is not None and self.relist.scope == "global" else self.due
        )
        self._health_agrees(state)

    def _health_agrees(self, state: EngineState) -> None:
        """Health, period and threshold are what listings alone make them."""
        assert (state.period_ns, state.pace_ns) == (self.settings.period_ns, self.pause)
        assert state.health.threshold_ns == self.settings.threshold_ns
        assert state.health.last_start_t == (
            None if self.requests.good is None else self.requests.good.t
        )
        assert state.health.healthy == self._healthy(state.t)
        self.stream.agrees(state.stream)

    def _healthy(self, t: int) -> bool:
        return (
            self.requests.good is not None
            and t - self.requests.good.t <= self.settings.threshold_ns
        )


def _state(rows: Rows, item_id: str) -> str:
    row = rows.get(item_id)
    return "non-existent" if row is None else WORDS[row.runtime_state]
