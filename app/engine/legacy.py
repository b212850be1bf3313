"""Evented PLEG as it was from 1.26 to 1.36: events are believed.

Each event's status is written into the pod cache, unless its entry carries a later time, and what
was written is told. Only a deletion is always told and never written; that of a sandbox takes the
cache entry along. Between two events the kubelet's other halves go on: a slow global relist, which
does not know what events have told and tells it again.

Source: kubelet pleg/evented.go and container/cache.go of those versions. Kept to be compared with:
the revised KEP took all of this away (two writers, order by foreign clocks, a slow global relist).
"""

from app.engine.cache import keep_ips, pod_status
from app.engine.effects import CancelWake, WakeAt
from app.engine.generic import GenericPleg
from app.engine.lifecycle import Finding
from app.engine.model import ContainerEvent, Observation, PodStatus, RuntimeState, State
from app.engine.outbox import Outbox
from app.engine.profiles import Profile
from app.engine.records import (
    CacheTimeMoved,
    EventRefused,
    PodCached,
    PodUncached,
    RunningMoved,
)
from app.engine.running import gauges_moved
from app.engine.settings import EngineSettings
from app.engine.stream import EventStream
from app.engine.transitions import Change

CACHE_TIME = "cache_time"
"""Name of the timer that moves the cache's global time."""

_TOLD: dict[str, tuple[State, State]] = {
    "started": ("non-existent", "running"),
    "stopped": ("running", "exited"),
    "deleted": ("running", "non-existent"),
}
"""What an event of this type claims; ``created`` is written to the cache and not told."""

_RUNTIME_STATE: dict[str, RuntimeState] = {
    "started": "running",
    "stopped": "exited",
    "deleted": "exited",
}


class LegacyEvents:
    """Writes what events say into the pod cache, if the cache's clock lets it, and tells of it."""

    def __init__(
        self,
        outbox: Outbox,
        settings: EngineSettings,
        profile: Profile,
        stream: EventStream,
        generic: GenericPleg,
    ) -> None:
        self._out = outbox
        self._settings = settings
        self._profile = profile
        self._stream = stream
        self._generic = generic
        self._modified: dict[str, int] = {}
        """Wall time of each cache entry's last write, by whichever writer."""
        self._token = 0
        self._trusting = False
        stream.on_end = self._stream_ended
        stream.must_wait = lambda: generic.forced > 0
        generic.on_forced = stream.resume
        generic.health.also = self._complaint
        generic.may_write = self._may_write

    def reconsider(self) -> None:
        """While the stream is trusted the global relist is slow, and a ticker stands in for it.

        Called at the start and whenever the stream's lot may have changed: without it the global
        relist must not stay slow.
        """
        if self._stream.joined and not self._trusting:
            self._trusting = True
            self._trust()
            self._wake()
        elif self._trusting and not self._stream.joined:
            self.stop()
            self._generic.relist_now()

    def stop(self) -> None:
        """The ticker ends, and with it the slow period."""
        self._trusting = False
        self._token += 1
        self._generic.retune(self._settings.period_ns, self._settings.threshold_ns)
        self._out.want(CancelWake(timer=CACHE_TIME))

    def tick(self, token: int) -> None:
        """A tick has passed: waiters are told that the cache is this fresh."""
        if token == self._token and self._trusting:
            out = self._out
            self._generic.cache.advance(out.t)
            out.show(CacheTimeMoved(t=out.t, wall=out.wall))
            self._forget_uncached()
            self._wake()

    def believe(self, event: ContainerEvent) -> None:
        """Take a valid event's word for it."""
        uid = event.pod_uid
        sandboxes = () if event.sandbox is None else (event.sandbox,)
        status = pod_status(uid, event.pod_name, event.pod_namespace, sandboxes, event.containers)
        status = keep_ips(status, self._generic.cache.entry(uid))
        self._count(status)
        if event.type == "deleted":
            if event.container_id == event.sandbox_id:
                self._delete(uid)
        elif self._may_write(uid, event.created_at):
            self._write(status)
        else:
            self._refuse(event)
            return
        self._tell(event, status)

    def _count(self, status: PodStatus) -> None:
        pods, containers = gauges_moved(self._generic.cache.get(status.uid), status)
        if pods or containers:
            out = self._out
            out.show(
                RunningMoved(
                    t=out.t,
                    wall=out.wall,
                    uid=status.uid,
                    running_pods=pods,
                    containers_by_state=containers,
                )
            )

    def _delete(self, uid: str) -> None:
        out = self._out
        self._generic.cache.delete(uid)
        out.show(PodUncached(t=out.t, wall=out.wall, uid=uid, relist=0))

    def _may_write(self, uid: str, wall: int) -> bool:
        """cache.go: refused when the entry carries a later time. Takes the time when it may."""
        cached = self._generic.cache.entry(uid) is not None
        if cached and self._modified.get(uid, wall) > wall:
            return False
        self._modified[uid] = wall
        return True

    def _forget_uncached(self) -> None:
        """A deleted entry's time goes with it, whoever deleted it."""
        for uid in [uid for uid in self._modified if self._generic.cache.entry(uid) is None]:
            del self._modified[uid]

    def _refuse(self, event: ContainerEvent) -> None:
        out = self._out
        out.show(
            EventRefused(
                t=out.t,
                wall=out.wall,
                uid=event.pod_uid,
                type=event.type,
                container_id=event.container_id,
                behind_ns=self._modified[event.pod_uid] - event.created_at,
            )
        )

    def _write(self, status: PodStatus) -> None:
        out = self._out
        self._generic.cache.set(status.uid, status, "", out.t)
        out.show(
            PodCached(
                t=out.t,
                wall=out.wall,
                uid=status.uid,
                name=status.name,
                namespace=status.namespace,
                relist=0,
                ips=status.ips,
                containers=status.containers,
                sandboxes=status.sandboxes,
            )
        )

    def _tell(self, event: ContainerEvent, status: PodStatus) -> None:
        told = _TOLD.get(event.type)
        if told is None:
            return
        sandbox = event.container_id == event.sandbox_id
        known = next((one for one in status.containers if one.id == event.container_id), None)
        item = Observation(
            id=event.container_id,
            kind="sandbox" if sandbox else "container",
            pod_uid=event.pod_uid,
            pod_name=event.pod_name,
            pod_namespace=event.pod_namespace,
            name="" if sandbox else event.container_name,
            attempt=known.attempt if known is not None else 0,
            runtime_state=_RUNTIME_STATE[event.type],
            created_at=known.created_at if known is not None else 0,
        )
        found = Finding(0, "evented_pleg", None, self._generic.due_t, baseline=False)
        self._generic.events.send(Change(item, *told), status, found)

    # The stream and the period

    def _stream_ended(self, last: bool) -> None:
        """evented.go: every end forces a global relist; the fifth brings polling back for good."""
        self._generic.relist_now()
        if last:
            self.reconsider()

    def _complaint(self) -> str:
        """evented.go ``Healthy``: all that can be wrong is a channel that nobody empties."""
        waiting = self._generic.events.full
        if not waiting:
            return ""
        return f"EventedPLEG: pleg event channel capacity is full with {waiting} events"

    def _trust(self) -> None:
        period, threshold = self._profile.trusting_period_ns, self._profile.trusting_threshold_ns
        self._generic.retune(
            self._settings.period_ns if period is None else period,
            self._settings.threshold_ns if threshold is None else threshold,
        )

    def _wake(self) -> None:
        self._token += 1
        at = self._out.t + self._settings.cache_tick_ns
        self._out.want(WakeAt(timer=CACHE_TIME, token=self._token, at=at))
