"""One pod's worker: serial, woken by reasons to sync, waiting for a fresh cache entry before each.

Follows kubelet pod_workers.go: whatever asks for a sync while one runs makes one more afterwards;
before SyncPod the worker waits until the pod cache is newer than its last sync; a pod that is
deleted, or whose containers are done, goes on to terminating, terminated, and (deleted) removal.

The relists of a pod are suspended while *SyncPod* runs (KEP-3386), not while it is terminated. The
release is in a ``finally``: it comes after errors and cancellation too. The post-sync request comes
only after a SyncPod that did something and failed in nothing.
"""

from typing import Literal, Protocol

from app.engine.inputs import Input, RelistRequested, SyncEnded, SyncStarted
from app.sim.agenda import Agenda, Appointment, Process, Steps
from app.sim.chance import generator
from app.sim.podcache import PodCacheView
from app.sim.pods import PodSpec
from app.sim.syncpod import PodSync, SyncResult
from app.sim.timings import Pace
from app.sim.world import WorldError


class Owner(Protocol):
    """What a worker needs of the kubelet around it."""

    agenda: Agenda
    cache: PodCacheView
    pod_sync: PodSync
    seed: int
    retry_ns: int
    """Pause before a failed sync is tried again, unless a back-off says otherwise."""
    waiting: dict[str, None]
    """UIDs of the pods whose worker waits for a fresh cache entry."""

    def feed(self, happened: Input) -> None:
        """Hand an input to the engine."""

    def forget(self, uid: str) -> None:
        """The pod is gone for good."""


class PodWorker:
    """Brings one pod from its order to its removal."""

    def __init__(self, owner: Owner, pod: PodSpec) -> None:
        self.pod = pod
        self.phase: Literal["syncing", "terminating", "terminated", "removed"] = "syncing"
        self.deleted = False
        self._owner = owner
        self._pace = Pace(generator(owner.seed, "pace", pod.uid))
        self._pending = False
        self._syncing = False
        self._process: Process | None = None
        self._retry: Appointment | None = None
        self._last_sync_t: int | None = None
        self._unhealthy: dict[str, None] = {}

    def poke(self) -> None:
        """There is a reason to sync."""
        self._pending = True
        self.go_on()

    def probe_failed(self, container_id: str) -> None:
        """A container's liveness probe has failed: the next SyncPod kills and restarts it."""
        self._unhealthy[container_id] = None
        self.poke()

    def delete(self) -> None:
        """The pod is to go; a SyncPod in progress is cancelled, as its context is in a kubelet."""
        self.deleted = True
        if self._syncing and self._process is not None:
            self._process.cancel()
            self._process = None
        self.go_on()

    def stop(self) -> None:
        """End the worker where it is; the pod stays as it is."""
        self.phase = "removed"
        self._forget_retry()
        if self._process is not None:
            self._process.cancel()

    def go_on(self) -> None:
        """Begin what is next, if nothing is under way and nothing has to be waited for."""
        if self._process is not None:
            return
        owner = self._owner
        if self.phase == "syncing" and self.deleted:
            self.phase = "terminating"
        if self.phase == "terminating":
            self._begin(self._terminate())
        elif self.phase == "terminated" and self.deleted:
            self._begin(self._collect())
        elif self.phase == "syncing" and self._pending:
            if owner.cache.newer_than(self.pod.uid, self._last_sync_t):
                self._pending = False
                self._begin(self._sync())
            else:
                owner.waiting[self.pod.uid] = None

    def _begin(self, steps: Steps[None]) -> None:
        self._process = self._owner.agenda.start(steps)

    def _end(self) -> None:
        """The present process is about to return: whatever comes next may begin."""
        self._process = None
        self.go_on()

    def _sync(self) -> Steps[None]:
        owner = self._owner
        if self.deleted:
            self._end()
            return
        self._forget_retry()
        entry = owner.cache.get(self.pod.uid)
        if entry.error:
            # The kubelet's GetNewerThan hands the inspection's error on: no SyncPod this time.
            self._last_sync_t = owner.agenda.clock.mono()
            self._try_again(owner.retry_ns)
            self._end()
            return
        result = SyncResult(failed=True)
        unhealthy = frozenset(self._unhealthy)
        self._syncing = True
        owner.feed(SyncStarted(**self._now(), uid=self.pod.uid))
        try:
            result = yield from owner.pod_sync.sync(self.pod, entry.status, unhealthy, self._pace)
        finally:
            self._syncing = False
            self._last_sync_t = owner.agenda.clock.mono()
            owner.feed(
                SyncEnded(
                    **self._now(),
                    uid=self.pod.uid,
                    did_work=result.did_work,
                    failed=result.failed,
                )
            )
        self._unhealthy = {one: None for one in self._unhealthy if one not in unhealthy}
        if result.terminal:
            self.phase = "terminating"
        elif result.failed:
            self._try_again(self._pause(result))
        elif result.did_work:
            owner.feed(RelistRequested(**self._now(), uid=self.pod.uid, source="post_sync"))
        self._end()

    def _terminate(self) -> Steps[None]:
        self._forget_retry()
        while not (yield from _succeeds(self._owner.pod_sync.terminate(self.pod, self._pace))):
            yield self._owner.retry_ns
        self.phase = "terminated"
        self._end()

    def _collect(self) -> Steps[None]:
        while not (yield from _succeeds(self._owner.pod_sync.collect(self.pod, self._pace))):
            yield self._owner.retry_ns
        self.phase = "removed"
        self._process = None
        self._owner.forget(self.pod.uid)

    def _pause(self, result: SyncResult) -> int:
        owner = self._owner
        if result.retry_wall is None:
            return owner.retry_ns
        return max(0, result.retry_wall - owner.agenda.clock.wall())

    def _try_again(self, delay_ns: int) -> None:
        self._forget_retry()
        self._retry = self._owner.agenda.after(delay_ns, self.poke)

    def _forget_retry(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None

    def _now(self) -> dict[str, int]:
        clock = self._owner.agenda.clock
        return {"t": clock.mono(), "wall": clock.wall()}


def _succeeds(steps: Steps[None]) -> Steps[bool]:
    """Make these steps; whether the runtime did all that was asked of it."""
    try:
        yield from steps
    except WorldError:
        return False
    return True
