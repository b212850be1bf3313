"""The engine: one step per input, nothing else.

    outputs = engine.step(input)

It holds Generic PLEG and Evented PLEG together and sends each input to the one it concerns.
"""

from app.engine.cache import PodCache
from app.engine.effects import CancelWake, WakeAt
from app.engine.evented import EventedPleg
from app.engine.generic import GenericPleg
from app.engine.inputs import (
    EventsTaken,
    Input,
    PodInspected,
    PodInspectFailed,
    PodsListed,
    PodsListFailed,
    ReinspectRequested,
    RelistRequested,
    RuntimeProbed,
    Start,
    Stop,
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamLost,
    StreamOpened,
    StreamRenewed,
    SyncEnded,
    SyncStarted,
    TimerFired,
)
from app.engine.legacy import CACHE_TIME, LegacyEvents
from app.engine.listing import Pod
from app.engine.outbox import Outbox, Outputs
from app.engine.profiles import PROFILES
from app.engine.records import SyncBegan, SyncFinished, Watching
from app.engine.settings import EngineSettings
from app.engine.state import EngineState, QueueState
from app.engine.stream import RETRY, EventStream, Uniform


class Engine:
    """A shadow PLEG. Not thread-safe; one caller feeds it in the order of time."""

    def __init__(self, settings: EngineSettings, chance: Uniform) -> None:
        self.settings = settings
        self.profile = profile = PROFILES[settings.profile]
        self._out = out = Outbox()
        self._generic = generic = GenericPleg(out, settings, profile)
        self._stream = stream = EventStream(out, settings, profile, chance)
        self._evented = EventedPleg(out, profile, stream, generic)
        self._legacy: LegacyEvents | None = None
        if profile.hints == "write":
            self._legacy = LegacyEvents(out, settings, profile, stream, generic)
            self._evented.believe = self._legacy.believe
        self._health_token = 0

    def step(self, happened: Input) -> Outputs:
        """Take in what happened; returns the records and effects it brings."""
        out, generic, evented = self._out, self._generic, self._evented
        # Receipt times of queued events may lie before the last step; time never runs back.
        out.begin(max(out.t, happened.t), happened.wall)
        match happened:
            case PodsListed():
                generic.listed(happened)
            case PodInspected():
                generic.inspected(happened)
            case TimerFired():
                self._timer(happened)
            case StreamEvent():
                evented.event(happened)
            case PodsListFailed():
                generic.list_failed(happened)
            case PodInspectFailed():
                generic.inspect_failed(happened)
            case RelistRequested():
                generic.request(happened.uid, happened.source)
            case ReinspectRequested():
                generic.records.mark(happened.uid)
            case SyncStarted():
                if not generic.queue.is_syncing(happened.uid):
                    out.show(SyncBegan(t=out.t, wall=out.wall, uid=happened.uid))
                    generic.suspend(happened.uid)
            case SyncEnded():
                self._sync_ended(happened)
            case StreamOpened():
                self._stream.opened()
            case StreamLive():
                self._stream.live()
            case StreamRenewed():
                self._stream.renewed(happened)
            case StreamEnded():
                self._stream.ended(happened)
            case StreamLost():
                evented.lost(happened)
            case RuntimeProbed():
                self._stream.probed(happened)
                if self._legacy is not None and generic.running:
                    self._legacy.reconsider()
            case EventsTaken():
                generic.events.taken(happened.count)
            case Start():
                self._start()
            case Stop():
                self._stop()
            case _:
                raise TypeError(f"not an engine input: {type(happened).__name__}")
        return out.take()

    def _start(self) -> None:
        if self._generic.running:
            return
        out, settings = self._out, self.settings
        if self._legacy is not None:
            self._legacy.reconsider()
        out.show(
            Watching(
                t=out.t,
                wall=out.wall,
                profile=settings.profile,
                period_ns=self._generic.pace.period_ns,
                threshold_ns=self._generic.health.threshold_ns,
                queue_capacity=settings.queue_capacity,
            )
        )
        self._generic.start()
        self._stream.start()
        self._ask_health()

    def _stop(self) -> None:
        if not self._generic.running:
            return
        self._stream.stop()
        self._generic.stop()
        self._out.want(CancelWake(timer="global"))
        self._out.want(CancelWake(timer="health"))
        if self._legacy is not None:
            self._legacy.stop()

    def _timer(self, fired: TimerFired) -> None:
        if fired.timer == "global":
            self._generic.dispatch()
        elif fired.timer == "health":
            if fired.token == self._health_token and self._generic.running:
                self._ask_health()
        elif fired.timer == RETRY:
            self._stream.retry(fired.token)
        elif fired.timer == CACHE_TIME and self._legacy is not None:
            self._legacy.tick(fired.token)

    def _ask_health(self) -> None:
        self._generic.health.poll()
        self._health_token += 1
        at = self._out.t + self.settings.health_poll_ns
        self._out.want(WakeAt(timer="health", token=self._health_token, at=at))

    def _sync_ended(self, ended: SyncEnded) -> None:
        released = self._generic.release(ended.uid)
        if released is None:
            return
        duration, held = released
        out = self._out
        out.show(
            SyncFinished(
                t=out.t,
                wall=out.wall,
                uid=ended.uid,
                duration_ns=duration,
                did_work=ended.did_work,
                failed=ended.failed,
                held=held,
            )
        )
        self._generic.dispatch()

    # Looking in

    @property
    def cache(self) -> PodCache:
        """The pod cache, to read."""
        return self._generic.cache

    def pod_records(self) -> dict[str, Pod]:
        """What the last published relists left, by UID."""
        return {uid: pod for uid, pod in self._generic.records.old.items() if pod is not None}

    def state(self, t: int) -> EngineState:
        """The present state, as at ``t`` (monotonic ns)."""
        generic = self._generic
        job = generic.job
        running = None if job is None else job.state()
        queue = generic.queue
        records = self.pod_records()
        return EngineState(
            t=t,
            profile=self.settings.profile,
            period_ns=generic.pace.period_ns,
            pace_ns=generic.pace.pause_ns,
            health=generic.health.at(t),
            stream=self._stream.view(),
            queue=QueueState(len(queue), queue.capacity, queue.held, queue.suspended),
            running=running,
            last_global=generic.last_global,
            next_global_t=generic.due_t,
            pods=len(records),
            containers=sum(len(pod.containers) for pod in records.values()),
            events=dict(generic.events.by_source),
            requests={**queue.outcomes, "held": queue.held},
            stream_events=self._evented.counts,
        )
