"""What faults make of the calls that come over gRPC: the CRI server's hooks.

The twin of ``virtualruntime.py``: the same plan, the same questions, but a call comes from a client
that waits in real time and may give up by itself. ``before`` holds a call up, ``fault`` lets it
fail, ``after`` holds up an answer that was made. A fault of inspections hits the status of the
pod's oldest sandbox, so that it hits an inspection once, however many calls it is made of.
"""

import asyncio
from collections.abc import Callable

import grpc

from app.sim.agenda import Agenda
from app.sim.availability import DOWN, Availability
from app.sim.callfaults import (
    count_hits,
    inspection_delay,
    inspection_failure,
    list_delay,
    list_failure,
)
from app.sim.faultplan import FaultPlan
from app.sim.faults import ListsHang, RuntimeFreezes, RuntimeRestarts, StreamRefused
from app.sim.objects import SandboxConfig
from app.sim.passage import CLOSED, REFUSED
from app.sim.server import Fault
from app.sim.world import NotFoundError, World

LISTS = ("ListPodSandbox", "ListContainers")
STREAM = "GetContainerEvents"

_CODES = {code.name.replace("_", "").lower(): code for code in grpc.StatusCode}


def status(error: str) -> Fault:
    """An error as people write it, ``Unknown: failed to list``, as gRPC tells it.

    Whatever does not begin with one of gRPC's codes is Unknown.
    """
    word, colon, details = error.partition(": ")
    code = _CODES.get(word.lower()) if colon else None
    if code is None or code is grpc.StatusCode.OK:
        return Fault(grpc.StatusCode.UNKNOWN, error)
    return Fault(code, details)


class CallFaults:
    """The hooks of one server. All waiting is for the agenda, by whichever clock that goes."""

    def __init__(
        self, agenda: Agenda, world: World, plan: FaultPlan, availability: Availability
    ) -> None:
        self._agenda = agenda
        self._world = world
        self._plan = plan
        self._availability = availability

    async def before(self, method: str, item_id: str) -> None:
        """Return when the runtime gets round to a call, of this sandbox or container if of one."""
        plan, availability = self._plan, self._availability
        lists = method in LISTS
        counted = False
        while availability.state == "frozen" or (lists and plan.at_work(ListsHang)):
            if not counted:
                counted = True
                count_hits(plan.at_work(RuntimeFreezes))
                count_hits(plan.at_work(ListsHang) if lists else ())
            await self._once(availability.on_change, plan.on_change)
        pod = None if plan.quiet else self._inspected(method, item_id)
        if pod is not None:
            await self._pause(inspection_delay(plan, pod.namespace, pod.name))

    def fault(self, method: str, item_id: str) -> Fault | None:
        """What a call ends with instead of an answer, if it does."""
        plan = self._plan
        if self._availability.state == "down":
            count_hits(plan.at_work(RuntimeRestarts))
            return Fault(grpc.StatusCode.UNAVAILABLE, DOWN)
        if plan.quiet:
            return None
        error: str | None = None
        if method == STREAM:
            return self._refusal()
        if method in LISTS:
            error = list_failure(plan)
        pod = self._inspected(method, item_id)
        if pod is not None:
            error = inspection_failure(plan, pod.namespace, pod.name)
        return None if error is None else status(error)

    async def after(self, method: str, _item_id: str) -> None:
        """Return when an answer, or an event, that was made may leave."""
        if method in LISTS:
            # The answer is of the moment it was made, and old when it arrives.
            await self._pause(list_delay(self._plan))
        while self._availability.state == "frozen":
            await self._once(self._availability.on_change)

    def _refusal(self) -> Fault | None:
        for refusal in self._plan.at_work(StreamRefused):
            refusal.hits += 1
            if refusal.fault.answer == "unimplemented":
                return Fault(grpc.StatusCode.UNIMPLEMENTED, REFUSED)
            return Fault(grpc.StatusCode.UNAVAILABLE, CLOSED)
        return None

    def _inspected(self, method: str, item_id: str) -> SandboxConfig | None:
        """The pod whose inspection this call is the first of, if it is."""
        if method != "PodSandboxStatus":
            return None
        try:
            sandbox = self._world.sandbox(item_id)
        except NotFoundError:
            return None
        oldest = self._world.pod_sandboxes(sandbox.config.uid)[0]
        return sandbox.config if oldest.id == sandbox.id else None

    async def _pause(self, delay_ns: int) -> None:
        if delay_ns:
            over = asyncio.Event()
            self._agenda.after(delay_ns, over.set)
            await over.wait()

    async def _once(self, *ask: Callable[[Callable[[], object]], None]) -> None:
        """Wait until one of these calls back."""
        changed = asyncio.Event()
        for one in ask:
            one(changed.set)
        await changed.wait()
