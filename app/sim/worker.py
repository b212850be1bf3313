"""One pod's worker: serial, woken by reasons to sync, waiting for a fresh cache entry before each.

Follows kubelet pod_workers.go. Whatever asks for a sync while one runs (or waits) makes one more
afterwards. Before SyncPod, SyncTerminatingPod and SyncTerminatedPod alike the worker waits until
the pod cache knows something newer than its last sync (``GetNewerThan``), and works by that entry
alone. The wait cannot be given up: when a pod is deleted meanwhile, the sync that waited still
comes, cancelled, and what comes after it has to wait again. That is where the design before the
revision lost its seconds (kubernetes#124704): an event is older than the sync that caused it.

A pod that is deleted, or whose containers are done, goes on to terminating, terminated, and
(deleted) removal. The relists of a pod are suspended while *SyncPod* runs (KEP-3386), not while it
is terminated. The release is in a ``finally``: it comes after errors and cancellation too. The
post-sync request comes only after a SyncPod that did something and failed in nothing.
"""

from typing import Literal, Protocol

import msgspec

from app.engine.inputs import Input, RelistRequested, SyncEnded, SyncStarted
from app.sim.agenda import Agenda, Appointment, CancelledError, Process, Steps
from app.sim.chance import generator
from app.sim.milestones import Milestone, What
from app.sim.podcache import CacheEntry, PodCacheView
from app.sim.pods import PodSpec, Resources
from app.sim.sizes import Sizes
from app.sim.syncpod import PodSync, SyncOrder, SyncResult
from app.sim.timings import Pace
from app.sim.world import WorldError

Work = Literal["sync", "terminating", "terminated", "collect"]

RETRY_JITTER = 0.5
"""pod_workers.go: a failed sync is tried again after the pause and up to half as much more."""


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

    def requeue(self, delay_ns: int, worker: "PodWorker") -> Appointment:
        """Poke this worker when the sync loop looks into the work queue after so long."""

    def started(self, pod: PodSpec, name: str, container_id: str) -> None:
        """A container of this pod was started: it is probed from now on."""

    def reached(self, milestone: Milestone) -> None:
        """The kubelet has got somewhere with this pod."""

    def forget(self, uid: str) -> None:
        """The pod is gone for good."""


class PodWorker:
    """Brings one pod from its order to its removal.

    ``asked_t``: when it was ordered; None for one that was there before.
    """

    def __init__(self, owner: Owner, pod: PodSpec, asked_t: int | None = None) -> None:
        self.pod = pod
        self.phase: Literal["syncing", "terminating", "terminated", "removed"] = "syncing"
        self.deleted = False
        self.finished = False
        """SyncTerminatedPod is done: for the API server the pod has ended."""
        self._owner = owner
        self._pace = Pace(generator(owner.seed, "pace", pod.uid))
        self._again = generator(owner.seed, "retry", pod.uid)
        self._sizes = Sizes(pod)
        self._pending = False
        self._work: Work | None = None
        """What the worker has taken up, be it that it waits for the cache or works."""
        self._taken_t = 0
        self._process: Process | None = None
        self._syncing = False
        self._retry: Appointment | None = None
        self._last_sync_t: int | None = None
        self._unhealthy: dict[str, None] = {}
        self._asked_t = asked_t
        self._deleted_t = 0

    # --------------------------------------------------------------------- what is asked of it

    def poke(self) -> None:
        """There is a reason to sync."""
        self._pending = True
        self.go_on()

    def probe_failed(self, container_id: str) -> None:
        """A container's liveness or startup probe has failed: the next SyncPod kills it."""
        self._unhealthy[container_id] = None
        self.poke()

    def wants(self, name: str, resources: Resources, asked_t: int) -> None:
        """The pod's order has changed: a container is to have other resources (HandlePodUpdates).

        The node makes room for them first; that syncs the pod and asks for its relist, as the
        worker may have to wait for one, and the changed order by itself syncs the pod once more.
        """
        owner = self._owner
        containers = tuple(
            msgspec.structs.replace(one, resources=resources) if one.name == name else one
            for one in self.pod.containers
        )
        self.pod = msgspec.structs.replace(self.pod, containers=containers)

        def allocate() -> None:
            if self.deleted or self.phase != "syncing":
                return
            self._sizes.allocate(name, resources, asked_t)
            self.poke()
            owner.agenda.after(0, ask)
            self.poke()

        def ask() -> None:
            owner.feed(RelistRequested(**self._both(), uid=self.pod.uid, source="post_allocation"))

        owner.agenda.after(self._pace.of(owner.pod_sync.timings.allocate), allocate)

    def delete(self, asked_t: int) -> None:
        """The pod is to go; a SyncPod in progress is cancelled, as its context is in a kubelet."""
        self.deleted = True
        self._deleted_t = asked_t
        if self._syncing and self._process is not None:
            self._process.cancel()
            self._process = None
            self._end("sync")
        else:
            self.poke()

    def stop(self) -> None:
        """End the worker where it is; the pod stays as it is."""
        self.phase = "removed"
        self._work = None
        self._forget_retry()
        self._owner.waiting.pop(self.pod.uid, None)
        if self._process is not None:
            self._process.cancel()

    # ------------------------------------------------------------------------------ the loop

    def go_on(self) -> None:
        """Take up what is next, if nothing is under way; begin it, if the cache is fresh enough."""
        if self._work is None:
            self._work = self._next()
            if self._work is None:
                return
            self._taken_t = self._now()
        if self._process is not None:
            return
        owner, uid = self._owner, self.pod.uid
        if self._work == "collect" or owner.cache.newer_than(uid, self._last_sync_t):
            owner.waiting.pop(uid, None)
            self._process = owner.agenda.start(self._do(self._work, waited=self._waited()))
        else:
            owner.waiting[uid] = None

    def _next(self) -> Work | None:
        if self.phase == "syncing" and self.deleted:
            self.phase = "terminating"
        if self.finished:
            return "collect" if self.deleted and self.phase == "terminated" else None
        if self.phase == "removed" or not self._pending:
            return None
        self._pending = False
        if self.phase == "syncing":
            return "sync"
        return "terminating" if self.phase == "terminating" else "terminated"

    def _waited(self) -> bool:
        """Whether the worker had to wait; that is told."""
        waited = self._now() > self._taken_t
        if waited:
            self._reach("waited", self._taken_t)
        return waited

    def _do(self, work: Work, *, waited: bool) -> Steps[None]:
        if work == "collect":
            yield from self._collect()
            return
        self._forget_retry()
        entry = self._owner.cache.get(self.pod.uid)
        if entry.error:
            # GetNewerThan hands the inspection's error on: no sync, and none is written down.
            self._try_again(self._jittered())
        elif work == "sync":
            yield from self._sync(entry, waited=waited)
        elif work == "terminating":
            yield from self._terminate(entry)
        else:
            yield from self._owner.pod_sync.finish(self._pace)
            self._last_sync_t = self._now()
            self.finished = True
            if self.deleted:
                self._reach("deleted", self._deleted_t)
        self._end(work)

    def _end(self, work: Work) -> None:
        """What was taken up is done: what waits for it may begin."""
        assert self._work == work
        self._work = self._process = None
        if self.deleted and self.phase == "syncing":
            # The deletion is a reason of its own, whatever was pending.
            self._pending = True
        self.go_on()

    # ----------------------------------------------------------------------------- the syncs

    def _sync(self, entry: CacheEntry, *, waited: bool) -> Steps[None]:
        owner = self._owner
        if self.deleted and not waited:
            return
        unhealthy = frozenset(self._unhealthy)
        self._syncing = True
        owner.feed(SyncStarted(**self._both(), uid=self.pod.uid))
        try:
            if self.deleted:
                # It waited while its pod was deleted, so it is cancelled before it does anything.
                yield self._pace.of(owner.pod_sync.timings.look)
                result = SyncResult(failed=True)
            else:
                self._see(entry)
                result = yield from owner.pod_sync.sync(
                    SyncOrder(self.pod, entry.status, unhealthy, self._sizes, self._pace)
                )
        except CancelledError:
            # Not a ``finally``: that would be told too of a node that is dropped in the middle.
            self._synced(SyncResult(failed=True))
            raise
        self._synced(result)
        if self.deleted:
            return
        self._unhealthy = {one: None for one in self._unhealthy if one not in unhealthy}
        for name, container_id in result.started:
            owner.started(self.pod, name, container_id)
        if result.terminal:
            self.phase = "terminating"
            self._try_again(0)
        elif result.failed:
            self._try_again(self._pause(result))
        elif result.did_work:
            owner.feed(RelistRequested(**self._both(), uid=self.pod.uid, source="post_sync"))

    def _synced(self, result: SyncResult) -> None:
        self._syncing = False
        self._last_sync_t = self._now()
        self._owner.feed(
            SyncEnded(
                **self._both(),
                uid=self.pod.uid,
                did_work=result.did_work,
                failed=result.failed,
            )
        )

    def _see(self, entry: CacheEntry) -> None:
        """SyncPod begins by telling the API server what the cached status shows."""
        for asked_t in self._sizes.take_seen(entry.read_t):
            self._reach("resized", asked_t)
        if self._asked_t is not None:
            running = {
                one.name for one in entry.status.containers if one.runtime_state == "running"
            }
            if all(one.name in running for one in self.pod.containers):
                self._reach("running", self._asked_t)
                self._asked_t = None

    def _terminate(self, entry: CacheEntry) -> Steps[None]:
        steps = self._owner.pod_sync.terminate(self.pod, entry.status, self._pace)
        done = yield from _succeeds(steps)
        self._last_sync_t = self._now()
        if done:
            self.phase = "terminated"
        self._try_again(0 if done else self._jittered())

    def _collect(self) -> Steps[None]:
        while not (yield from _succeeds(self._owner.pod_sync.collect(self.pod, self._pace))):
            yield self._owner.retry_ns
        self.phase = "removed"
        self._work = self._process = None
        self._owner.forget(self.pod.uid)

    # -------------------------------------------------------------------------------- helpers

    def _pause(self, result: SyncResult) -> int:
        if result.retry_wall is None:
            return self._jittered()
        return max(0, result.retry_wall - self._owner.agenda.clock.wall())

    def _jittered(self) -> int:
        return round(self._owner.retry_ns * (1 + RETRY_JITTER * self._again.random()))

    def _try_again(self, delay_ns: int) -> None:
        self._forget_retry()
        self._retry = self._owner.requeue(delay_ns, self)

    def _forget_retry(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None

    def _reach(self, what: What, since_t: int) -> None:
        self._owner.reached(Milestone(what, self.pod.uid, since_t, self._now()))

    def _now(self) -> int:
        return self._owner.agenda.clock.mono()

    def _both(self) -> dict[str, int]:
        clock = self._owner.agenda.clock
        return {"t": clock.mono(), "wall": clock.wall()}


def _succeeds(steps: Steps[None]) -> Steps[bool]:
    """Make these steps; whether the runtime did all that was asked of it."""
    try:
        yield from steps
    except WorldError:
        return False
    return True
