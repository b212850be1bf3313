"""A runtime that is not reached over gRPC: carries out the engine's effects in virtual time.

The twin of ``app/cri/source.py`` with the simulated world behind it. A call takes the time that was
measured on containerd, is slowed, failed or held up by the plan's faults, and fails or waits as the
runtime's availability says. Everything it draws comes from generators of its own.
"""

from collections import Counter
from collections.abc import Callable

from app.engine.effects import CloseStream, Effect, InspectPod, ListPods, OpenStream
from app.engine.inputs import (
    FailCode,
    Input,
    PodInspected,
    PodInspectFailed,
    PodsListed,
    PodsListFailed,
)
from app.engine.model import CallCost, ContainerStatus, SandboxStatus
from app.sim.agenda import Agenda, Steps
from app.sim.availability import DOWN, Availability
from app.sim.callfaults import (
    count_hits,
    inspection_delay,
    inspection_failure,
    list_delay,
    list_failure,
)
from app.sim.chance import generator
from app.sim.faultplan import FaultPlan
from app.sim.faults import ListsHang, RuntimeFreezes, RuntimeRestarts
from app.sim.latency import Draw, Latencies
from app.sim.rows import Listing, Rows, container_status, sandbox_status
from app.sim.virtualstream import VirtualStream
from app.sim.wire import Wire
from app.sim.world import NotFoundError, World

OVERDUE = "DeadlineExceeded: the runtime did not answer in time"


class _CallFailed(Exception):
    """A call that failed; the text is what the runtime (or nobody) answered."""

    def __init__(self, error: str, code: FailCode = "error") -> None:
        self.code = code
        super().__init__(error)


class VirtualRuntime:
    """Carries out ListPods, InspectPod, OpenStream and CloseStream; timers are the session's.

    ``feed`` takes the answers, always from the agenda, never from within ``perform``. ``payload``:
    stream events carry their statuses.
    """

    def __init__(
        self,
        agenda: Agenda,
        world: World,
        availability: Availability,
        plan: FaultPlan,
        feed: Callable[[Input], None],
        *,
        seed: int,
        latencies: Latencies | None = None,
        payload: bool = False,
    ) -> None:
        self._agenda = agenda
        self._world = world
        self._availability = availability
        self._plan = plan
        self._feed = feed
        self._latencies = latencies or Latencies()
        self._rows = Listing(world)
        self._list_draw = Draw(generator(seed, "list latency"))
        self._status_draw = Draw(generator(seed, "status latency"))
        self.calls: Counter[str] = Counter()
        """Calls made so far, by CRI method."""
        self.failed = 0
        """Lists and inspections that failed so far."""
        self._waiting: dict[int, tuple[str, int]] = {}
        self._made = 0
        self.wire: Wire | None = None
        """Who wants the messages that would have been sent; ``tell_wire`` sets it."""
        self.stream = VirtualStream(
            agenda,
            plan,
            availability,
            feed,
            seed=seed,
            latencies=self._latencies,
            payload=payload,
            rules=world.rules,
        )

    def tell_wire(self, wire: Wire) -> None:
        """Hand what would have been sent to ``wire``, from now on."""
        self.wire = self.stream.wire = wire

    def perform(self, effect: Effect) -> None:
        """Begin to carry out an effect; its answer comes later.

        Raises:
            TypeError: a runtime cannot do that.
        """
        match effect:
            case ListPods():
                self._agenda.start(self._list(effect))
            case InspectPod():
                self._agenda.start(self._inspect(effect))
            case OpenStream():
                self.calls["GetContainerEvents"] += 1
                self.stream.open()
            case CloseStream():
                self.stream.close()
            case _:
                raise TypeError(f"{type(effect).__name__} is nothing that a runtime can do")

    def oldest_call(self) -> tuple[str, int] | None:
        """Method and beginning (ns) of the call that has waited longest; None when none waits."""
        return next(iter(self._waiting.values()), None)

    def _waits(self, method: str) -> int:
        """A call begins to wait; returns what to forget it by."""
        self._made += 1
        self._waiting[self._made] = (method, self._agenda.clock.mono())
        return self._made

    # Lists

    def _list(self, wanted: ListPods) -> Steps[None]:
        costs: list[CallCost] = []
        clock = self._agenda.clock
        try:
            # In this order, as kuberuntime: what is made in between shows up without its sandbox.
            sandboxes = yield from self._list_call(
                "ListPodSandbox", self._rows.sandboxes, wanted.uid, costs
            )
            containers = yield from self._list_call(
                "ListContainers", self._rows.containers, wanted.uid, costs
            )
        except _CallFailed as failure:
            self.failed += 1
            self._feed(
                PodsListFailed(
                    t=clock.mono(),
                    wall=clock.wall(),
                    call=wanted.call,
                    error=str(failure),
                    calls=tuple(costs),
                    code=failure.code,
                )
            )
            return
        self._feed(
            PodsListed(
                t=clock.mono(),
                wall=clock.wall(),
                call=wanted.call,
                sandboxes=sandboxes,
                containers=containers,
                calls=tuple(costs),
            )
        )

    def _list_call(
        self,
        method: str,
        look: Callable[[str | None], Rows],
        uid: str | None,
        costs: list[CallCost],
    ) -> Steps[Rows]:
        began = self._agenda.clock.mono()
        self.calls[method] += 1
        waits = self._waits(method)
        rows: Rows = ()
        try:
            takes = self._list_draw.of(self._latencies.listing)
            if uid is None:
                takes += self._world.count * self._latencies.row_ns
            yield from self._answered(began, takes, listing=True)
            error = list_failure(self._plan)
            if error is not None:
                raise _CallFailed(error)
            rows = look(uid)
            raw = b"" if self.wire is None else self.wire.list(rows)
            slowed = list_delay(self._plan)
            if slowed:
                # The answer is of this moment, and old when it is here.
                yield slowed
                if self._availability.state == "down":
                    raise _CallFailed(DOWN, "unreachable")
            if self.wire is not None:
                self.wire.listed(method, uid, raw)
        finally:
            del self._waiting[waits]
            costs.append(CallCost(method, self._agenda.clock.mono() - began))
        return rows

    # Inspections

    def _inspect(self, wanted: InspectPod) -> Steps[None]:
        costs: list[CallCost] = []
        clock = self._agenda.clock
        waits = self._waits("PodSandboxStatus" if wanted.sandbox_ids else "ContainerStatus")
        try:
            yield from self._status_calls(wanted, costs)
        except _CallFailed as failure:
            del self._waiting[waits]
            self.failed += 1
            self._feed(
                PodInspectFailed(
                    t=clock.mono(),
                    wall=clock.wall(),
                    call=wanted.call,
                    error=str(failure),
                    calls=tuple(costs),
                )
            )
            return
        del self._waiting[waits]
        self._feed(
            PodInspected(
                t=clock.mono(),
                wall=clock.wall(),
                call=wanted.call,
                sandboxes=self._sandbox_statuses(wanted.sandbox_ids),
                containers=self._container_statuses(wanted.container_ids),
                calls=tuple(costs),
            )
        )

    def _status_calls(self, wanted: InspectPod, costs: list[CallCost]) -> Steps[None]:
        """All status calls of one inspection, some at a time."""
        began = self._agenda.clock.mono()
        methods = ["PodSandboxStatus"] * len(wanted.sandbox_ids)
        methods += ["ContainerStatus"] * len(wanted.container_ids)
        took, at_once = 0, self._latencies.in_flight
        for first in range(0, len(methods), at_once):
            wave = [
                CallCost(method, self._status_draw.of(self._latencies.status))
                for method in methods[first : first + at_once]
            ]
            took += max(cost.duration_ns for cost in wave)
            costs += wave
        self.calls.update(methods)
        yield from self._answered(began, took)
        pod = next(iter(self._world.pod_sandboxes(wanted.uid)), None)
        if pod is None or self._plan.quiet:
            return
        namespace, name = pod.config.namespace, pod.config.name
        slowed = inspection_delay(self._plan, namespace, name)
        if slowed:
            yield slowed
        error = inspection_failure(self._plan, namespace, name)
        if error is not None:
            raise _CallFailed(error)

    def _sandbox_statuses(self, ids: tuple[str, ...]) -> tuple[SandboxStatus, ...]:
        found = []
        for one in ids:
            try:
                found.append(sandbox_status(self._world.sandbox(one)))
            except NotFoundError:
                continue
            if self.wire is not None:
                self.wire.inspected(one)
        return tuple(found)

    def _container_statuses(self, ids: tuple[str, ...]) -> tuple[ContainerStatus, ...]:
        found = []
        for one in ids:
            try:
                found.append(container_status(self._world.container(one)))
            except NotFoundError:
                continue
            if self.wire is not None:
                self.wire.inspected(one)
        return tuple(found)

    # What every call has in common

    def _answered(self, began: int, takes: int, *, listing: bool = False) -> Steps[None]:
        """Wait until the runtime has got round to a call that began then.

        Raises:
            _CallFailed: it is down, or the call's deadline came first.
        """
        availability, plan = self._availability, self._plan
        if availability.state != "down":
            yield takes
        deadline = began + self._latencies.deadline
        counted = False
        while availability.state == "frozen" or (listing and plan.at_work(ListsHang)):
            if not counted:
                counted = True
                count_hits(plan.at_work(RuntimeFreezes))
                count_hits(plan.at_work(ListsHang) if listing else ())
            if self._agenda.clock.mono() >= deadline:
                raise _CallFailed(OVERDUE, "silent")
            # Whatever comes first: the fault's end, or the call's own deadline.
            either = self._agenda.signal()
            alarm = self._agenda.at(deadline, either.fire)
            availability.on_change(either.fire)
            plan.on_change(either.fire)
            yield either
            alarm.cancel()
        if availability.state == "down":
            count_hits(plan.at_work(RuntimeRestarts))
            raise _CallFailed(DOWN, "unreachable")
