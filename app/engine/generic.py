"""Generic PLEG: one dispatcher, global and targeted relists, one way to reconcile a pod.

Source: kubelet pleg/generic.go (1.36+) and KEP-3386's Design Details. Whatever is looked up in the
runtime is an effect; a relist is therefore a ``Job`` that waits for its answers. Only one job runs
at a time, which is the kubelet's relist lock.
"""

from collections.abc import Callable

from app.engine.cache import PodCache, keep_ips, pod_status
from app.engine.effects import InspectPod, ListPods, WakeAt
from app.engine.health import Health
from app.engine.inputs import (
    FailCode,
    PodInspected,
    PodInspectFailed,
    PodsListed,
    PodsListFailed,
)
from app.engine.job import Inspection, Job
from app.engine.lifecycle import Finding, LifecycleEvents, StopEvents
from app.engine.listing import LastListing, Pod, group
from app.engine.model import PodStatus, RelistSource
from app.engine.outbox import Outbox
from app.engine.pace import Pace
from app.engine.podrecords import PodRecords
from app.engine.profiles import Profile
from app.engine.records import (
    PodCached,
    PodUncached,
    RelistListed,
    RelistStarted,
    Retuned,
    Scope,
)
from app.engine.requests import Request, RequestQueue
from app.engine.running import RunningGauges
from app.engine.settings import EngineSettings
from app.engine.state import RelistState
from app.engine.transitions import Change, changes

NOT_FOUND = "The runtime lists no such pod."
NO_REASON = "The runtime failed without a word."
"""A failure whose text is empty is still a failure."""
STOPPED = "plegscope was stopped before the runtime answered."


class GenericPleg:
    """Lists, compares, writes the pod cache and emits lifecycle events; nobody else does."""

    def __init__(self, outbox: Outbox, settings: EngineSettings, profile: Profile) -> None:
        self._out = outbox
        self._profile = profile
        self.may_write: Callable[[str, int], bool] = _may_always
        """Whether a status listed at this wall time may replace the cached one (legacy only)."""
        self.cache = PodCache()
        self.records = PodRecords(outbox)
        self.queue = RequestQueue(outbox, settings.queue_capacity, suspends=profile.suspension)
        self.health = Health(outbox, settings.threshold_ns)
        self.pace = Pace(outbox, settings)
        self.stops = StopEvents(settings.stops_kept)
        self.events = LifecycleEvents(outbox, settings, self.stops)
        self.job: Job | None = None
        self.last_global: RelistState | None = None
        self.due_t: int | None = None
        """When the next global relist begins; None while one runs, before the start, and after
        the stop."""
        self._running = False
        self._relists = 0
        self._calls = 0
        self._covering = 0
        self._uncovered: set[str] = set()
        self._last_listing = LastListing()
        self._gauges = RunningGauges()
        self._running_now: tuple[int, dict[str, int]] = (0, {})
        self._whole = False
        """A global relist has run to its good end: what is found from now on is news."""
        self.forced = 0
        """Global relists asked for at once that have not ended (legacy only)."""
        self.on_forced: Callable[[], None] = _nobody_waits
        """Called when the last of them has ended."""

    # Life

    def start(self) -> None:
        """The first global relist is due at once."""
        self._running = True
        self.pace.begin()
        self.due_t = self._out.t
        self.dispatch()

    def stop(self) -> None:
        """Nothing new is begun; what waits is cancelled, an answer still to come is ignored."""
        self._running = False
        self.forced = 0
        self.due_t = None
        job, self.job = self.job, None
        if job is not None:
            if job.inspection is not None and job.inspection.marked:
                self.records.mark(job.inspection.uid)
            if job.request is not None:
                self.queue.settle(job.request, "cancelled", job.relist)
            self._show_finished(job, STOPPED, "stopped")
        self.queue.cancel_all()

    @property
    def running(self) -> bool:
        """Between start and stop."""
        return self._running

    def retune(self, period_ns: int, threshold_ns: int) -> None:
        """Another period and health threshold from now on (kubelet: ``Update``; legacy only)."""
        now = (self.pace.period_ns, self.health.threshold_ns)
        self.pace.retune(period_ns)
        self.health.threshold_ns = threshold_ns
        if self._running and now != (period_ns, threshold_ns):
            out = self._out
            out.show(
                Retuned(t=out.t, wall=out.wall, period_ns=period_ns, threshold_ns=threshold_ns)
            )

    def relist_now(self) -> None:
        """A global relist is due at once, or as soon as those before it have ended."""
        self.forced += 1
        if self.job is None:
            self.due_t = self._out.t
            self.dispatch()

    # What is asked for

    def request(
        self, uid: str, source: RelistSource, event: int | None = None, number: int | None = None
    ) -> None:
        """Ask for one pod's relist (kubelet: ``RequestRelist``).

        No effect when stopped, or where relists on demand are off (behaviours H18).
        """
        if not self._running or not self._profile.on_demand:
            return
        queued = self.queue.make(number or self.queue.reserve(), uid, source, event)
        if queued:
            self.dispatch()

    def suspend(self, uid: str) -> None:
        """SyncPod of this pod began."""
        if self.job is not None and self._profile.suspension:
            self.job.touched.add(uid)
        self.queue.suspend(uid)

    def release(self, uid: str) -> tuple[int, int] | None:
        """SyncPod of this pod returned: (how long in ns, requests that waited)."""
        if self.job is not None and self._profile.suspension:
            self.job.touched.add(uid)
        return self.queue.release(uid)

    # The dispatcher

    def dispatch(self) -> None:
        """Begin what comes first: a due global relist, then the oldest request."""
        while self._running and self.job is None:
            if self.due_t is not None and self.due_t <= self._out.t:
                self._begin_global()
                return
            request = self.queue.pop()
            if request is None:
                return
            if self._covered(request):
                self.queue.settle(request, "skipped", self._covering)
            else:
                self._begin_targeted(request)

    def _covered(self, request: Request) -> bool:
        """A newer global relist has seen this pod since the request (kubelet: the skip rule).

        It must be strictly newer to run; a pod that relist withheld was not covered by it.
        """
        newest = self.health.relist_t
        if newest is None or request.uid in self._uncovered:
            return False
        return request.enqueued_t <= newest

    def _begin_global(self) -> None:
        self.due_t = None
        self._begin("global", "global", None)

    def _begin_targeted(self, request: Request) -> None:
        self._begin("pod", request.source, request)

    def _begin(self, scope: Scope, source: RelistSource, request: Request | None) -> None:
        out = self._out
        self._relists += 1
        uid = request.uid if request is not None else None
        forced = scope == "global" and self.forced > 0
        self.job = Job(self._relists, scope, source, out.t, out.wall, request, uid, forced)
        out.show(
            RelistStarted(
                t=out.t,
                wall=out.wall,
                relist=self._relists,
                scope=scope,
                source=source,
                uid=uid,
                request=request.number if request is not None else None,
                waited_ns=out.t - request.made_t if request is not None else None,
            )
        )
        self.job.call = self._next_call()
        out.want(ListPods(call=self.job.call, uid=uid))

    # Answers

    def listed(self, answer: PodsListed) -> None:
        """The list of the relist in progress is here."""
        job = self._waiting_for_list(answer.call)
        if job is None:
            return
        job.account(answer.calls)
        job.containers = len(answer.containers)
        if job.scope == "global":
            job.pods, same = self._last_listing.pods(
                answer.sandboxes, answer.containers, job.started
            )
            if not same:
                self._running_now = self._gauges.listed(job.pods)
        else:
            job.pods = group(answer.sandboxes, answer.containers, job.started)
        self.records.listed(job.pods)
        if job.scope == "global":
            self.health.listed(job.started, job.started_wall)
            self._covering = job.relist
            self._uncovered = job.withheld
            self.stops.listed(job.pods, self.records.old, job.started)
            self.pace.listed(sum(cost.duration_ns for cost in answer.calls))
            job.running_pods, job.by_state = self._running_now
            job.todo = iter(tuple(self.records.old))
        elif job.uid is None or job.uid not in job.pods:
            self._finish(job, NOT_FOUND)
            return
        else:
            job.todo = iter((job.uid,))
        self._advance(job)
        if job.inspection is not None and job.scope == "global":
            out, pause = self._out, self.pace.pause_ns
            out.show(
                RelistListed(
                    t=out.t,
                    wall=out.wall,
                    relist=job.relist,
                    started=job.started,
                    pause_ns=pause,
                )
            )

    def list_failed(self, answer: PodsListFailed) -> None:
        """The list failed: records, cache and relist time stay as they are."""
        job = self._waiting_for_list(answer.call)
        if job is not None:
            job.account(answer.calls)
            self._finish(job, answer.error or NO_REASON, answer.code)

    def inspected(self, answer: PodInspected) -> None:
        """The inspection of one pod is here."""
        job = self._waiting_for(answer.call)
        if job is None or job.inspection is None:
            return
        job.account(answer.calls)
        one, job.inspection = job.inspection, None
        if self._may_publish(job, one.uid, marked=one.marked):
            pod = one.pod
            status = pod_status(
                pod.uid, pod.name, pod.namespace, answer.sandboxes, answer.containers
            )
            status = keep_ips(status, self.cache.entry(pod.uid))
            if self.may_write(pod.uid, one.wall):
                self._cached(job, status, "", one.t)
                self._publish(job, pod.uid, pod, one.changes, status)
        self._advance(job)

    def inspect_failed(self, answer: PodInspectFailed) -> None:
        """The inspection failed: no events, the record stays, the pod is inspected again."""
        job = self._waiting_for(answer.call)
        if job is None or job.inspection is None:
            return
        job.account(answer.calls)
        one, job.inspection = job.inspection, None
        if self._may_publish(job, one.uid, marked=one.marked):
            status = PodStatus(one.uid, one.pod.name, one.pod.namespace)
            if self.may_write(one.uid, one.wall):
                self._cached(job, status, answer.error or NO_REASON, one.t)
            self.records.mark(one.uid)
        self._advance(job)

    def _waiting_for(self, call: int) -> Job | None:
        job = self.job
        return job if job is not None and job.call == call else None

    def _waiting_for_list(self, call: int) -> Job | None:
        job = self._waiting_for(call)
        return job if job is not None and job.pods is None else None

    # Reconciling

    def _advance(self, job: Job) -> None:
        pods, records = job.pods or {}, self.records
        old, marks = records.old, records.marks
        # On a quiet node nearly all pods are as they were: those cost a comparison and no more. But
        # where SyncPod plays a part, even a pod that did not change must be seen to be withheld.
        nobody_syncs = not job.touched and not self.queue.suspended
        for uid in job.todo:
            if nobody_syncs and uid not in marks:
                pod, known = pods.get(uid), old.get(uid)
                if known is not None and known is pod:
                    continue
                if pod is not None and known is not None and known.same_items(pod):
                    old[uid] = pod  # The next time it is the same object.
                    continue
            if self._reconcile(job, uid):
                return
        self._finish(job)

    def _reconcile(self, job: Job, uid: str) -> bool:
        """Compare one pod; True when an inspection is under way and the relist has to wait."""
        pod = job.pods.get(uid) if job.pods is not None else None
        if not self._may_publish(job, uid):
            return False
        found = changes(self.records.old.get(uid), pod)
        marked = self.records.take_mark(uid)
        if not found and not marked:
            if pod is None:
                self.records.drop_empty(uid)
            return False
        job.changed += 1
        if pod is None:
            self.cache.delete(uid)
            out = self._out
            out.show(PodUncached(t=out.t, wall=out.wall, uid=uid, relist=job.relist))
            self._publish(job, uid, None, found, None)
            return False
        t, wall = job.started, job.started_wall
        if not self._profile.stamps_listing:
            t, wall = self._out.t, self._out.wall
        job.inspection = Inspection(uid, pod, found, marked, t, wall)
        job.call = self._next_call()
        self._out.want(
            InspectPod(
                call=job.call,
                uid=uid,
                sandbox_ids=tuple(pod.sandboxes),
                container_ids=tuple(pod.containers),
            )
        )
        return True

    def _may_publish(self, job: Job, uid: str, *, marked: bool = False) -> bool:
        """A pod in SyncPod, or one that was since this relist began, publishes nothing."""
        if uid not in job.touched and not self.queue.is_suspended(uid):
            return True
        job.withheld.add(uid)
        if marked:
            self.records.mark(uid)
        return False

    def _cached(self, job: Job, status: PodStatus, error: str, t: int) -> None:
        out = self._out
        self.cache.set(status.uid, status, error, t)
        out.show(
            PodCached(
                t=out.t,
                wall=out.wall,
                uid=status.uid,
                name=status.name,
                namespace=status.namespace,
                relist=job.relist,
                ips=status.ips,
                containers=status.containers,
                sandboxes=status.sandboxes,
                error=error,
            )
        )

    def _publish(
        self, job: Job, uid: str, pod: Pod | None, found: list[Change], status: PodStatus | None
    ) -> None:
        # The record moves on before the events are sent: a discarded one never comes again.
        self.records.advance(uid, pod)
        number = job.request.number if job.request is not None else None
        finding = Finding(job.relist, job.source, number, self.due_t, baseline=not self._whole)
        for change in found:
            self.events.send(change, status, finding)
        if not found and self._profile.pod_sync:
            self.events.send_pod_sync(uid, finding)

    # The end of a relist

    def _finish(self, job: Job, error: str = "", code: FailCode | None = None) -> None:
        self.job = None
        out = self._out
        if job.scope == "global":
            if not error:
                self._whole = True
                self.cache.advance(job.started)
                self.records.forget_absent(job.pods or {}, job.started)
            self.forced -= job.forced
            self.due_t = out.t + (0 if self.forced else self.pace.pause_ns)
            out.want(WakeAt(timer="global", token=job.relist, at=self.due_t))
        elif job.uid is not None and not error and job.uid not in job.withheld:
            self.cache.observe(job.uid, job.started)
        self._show_finished(job, error, code)
        if job.request is not None:
            if job.withheld:
                self.queue.put_back(job.request, job.relist)
            else:
                self.queue.settle(job.request, None)
        if job.forced and not self.forced:
            self.on_forced()
        self.dispatch()

    def _show_finished(self, job: Job, error: str, code: FailCode | None) -> None:
        pause = self.pace.pause_ns if job.scope == "global" and self._running else None
        finished = job.finished(self._out.t, self._out.wall, error, pause, code)
        self._out.show(finished)
        if job.scope == "global":
            self.last_global = job.state(finished)

    def _next_call(self) -> int:
        self._calls += 1
        return self._calls


def _may_always(_uid: str, _wall: int) -> bool:
    """One writer needs no order (KEP-3386)."""
    return True


def _nobody_waits() -> None:
    """No relist is forced where the stream changes nothing (KEP-3386)."""
