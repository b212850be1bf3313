"""The hooks of a served node: what holds a call up, what lets it fail, and for how long."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from app.sim.agenda import Agenda, VirtualClock, play
from app.sim.availability import DOWN, Availability
from app.sim.faultplan import FaultPlan
from app.sim.faults import (
    Fault,
    InspectionsFail,
    InspectionsSlow,
    ListsFail,
    ListsHang,
    ListsSlow,
    RuntimeFreezes,
    RuntimeRestarts,
    StreamRefused,
)
from app.sim.livecalls import LISTS, STREAM, CallFaults, status
from app.sim.objects import SandboxConfig
from app.sim.units import Ns, millis, seconds
from app.sim.world import World

NOW = Ns(0)
CODE = grpc.StatusCode


class Bench:
    """A world with the pods ``web`` (restarted once: two sandboxes) and ``db``, and its hooks."""

    def __init__(self, *faults: Fault) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.runtime = Availability(self.agenda)
        self.plan = FaultPlan(self.agenda, self.runtime, 1)
        self.world = World(1, lambda _: None)
        self.web = [self._sandbox("web", 0), self._sandbox("web", 1)]
        self.db = self._sandbox("db", 0)
        self.hooks = CallFaults(self.agenda, self.world, self.plan, self.runtime)
        for fault in faults:
            self.plan.begin(fault)

    def _sandbox(self, name: str, attempt: int) -> str:
        config = SandboxConfig(name=name, uid=f"uid-{name}", namespace="shop", attempt=attempt)
        return self.world.run_sandbox(config, 1).id

    def run(self, time_s: float) -> None:
        play(self.agenda, self.clock, self.clock.mono() + seconds(time_s))

    def hits(self) -> list[int]:
        return [one.hits for one in self.plan.tallies()]

    async def takes(self, call: Coroutine[Any, Any, None], limit_s: int = 60) -> float:
        """How many seconds the call waits (to a tenth of one)."""
        async with held(call) as waiting:
            for tenth in range(limit_s * 10):
                if waiting.done():
                    return tenth / 10
                self.run(0.1)
                await turns()
        raise AssertionError("it waits for ever")


async def turns() -> None:
    """Let every other task go as far as it can."""
    for _ in range(3):
        await asyncio.sleep(0)


@asynccontextmanager
async def held(call: Coroutine[Any, Any, None]) -> AsyncIterator["asyncio.Task[None]"]:
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(call)
        await turns()
        yield waiting
        waiting.cancel()


@pytest.mark.parametrize("method", ["Version", *LISTS, "PodSandboxStatus", STREAM])
async def test_nothing_happens_without_faults(method: str) -> None:
    bench = Bench()
    assert await bench.takes(bench.hooks.before(method, "")) == 0
    assert bench.hooks.fault(method, "") is None
    assert await bench.takes(bench.hooks.after(method, "")) == 0


@pytest.mark.parametrize("method", ["Version", *LISTS, "ContainerStatus", STREAM])
async def test_everything_waits_for_a_frozen_runtime(method: str) -> None:
    bench = Bench(RuntimeFreezes(at=NOW, lasts=seconds(20)))
    assert await bench.takes(bench.hooks.before(method, "")) == 20
    assert bench.hits() == [1]


async def test_what_was_made_before_leaves_a_frozen_runtime_late() -> None:
    bench = Bench(RuntimeFreezes(at=NOW, lasts=seconds(5)))
    assert await bench.takes(bench.hooks.after(STREAM, "")) == 5


async def test_hanging_lists_hold_up_lists_only() -> None:
    bench = Bench(ListsHang(at=NOW, lasts=seconds(3)))
    assert await bench.takes(bench.hooks.before("Version", "")) == 0
    assert await bench.takes(bench.hooks.before("ListContainers", "")) == 3
    assert bench.hits() == [1]


async def test_a_fault_that_comes_and_goes_does_not_wake_a_call_too_early() -> None:
    bench = Bench(ListsHang(at=NOW, lasts=seconds(3)), RuntimeFreezes(at=NOW, lasts=seconds(1)))
    assert await bench.takes(bench.hooks.before("ListContainers", "")) == 3


async def test_the_answer_of_a_slow_list_is_late() -> None:
    bench = Bench(ListsSlow(at=NOW, by=(seconds(2), seconds(2))))
    assert await bench.takes(bench.hooks.before("ListContainers", "")) == 0
    assert await bench.takes(bench.hooks.after("ListContainers", "")) == 2
    assert await bench.takes(bench.hooks.after("Version", "")) == 0
    assert bench.hits() == [1]


def test_failing_lists_fail_as_the_scenario_says() -> None:
    bench = Bench(ListsFail(at=NOW, error="Internal: the store is locked"))
    failed = bench.hooks.fault("ListPodSandbox", "")
    assert failed is not None
    assert (failed.code, failed.details) == (CODE.INTERNAL, "the store is locked")
    assert bench.hooks.fault("Version", "") is None


async def test_an_inspection_is_hit_once_however_many_calls_it_is_made_of() -> None:
    bench = Bench(
        InspectionsFail(at=NOW, pods="shop/web"),
        InspectionsSlow(at=NOW, pods="shop/web", by=(millis(500), millis(500))),
    )
    calls = [("PodSandboxStatus", one) for one in bench.web] + [("ContainerStatus", "c")]
    failed = [bench.hooks.fault(method, item) for method, item in calls]
    assert [one is not None for one in failed] == [True, False, False]
    waits = [await bench.takes(bench.hooks.before(method, item)) for method, item in calls]
    assert waits == [0.5, 0, 0]
    assert bench.hits() == [1, 1]


async def test_other_pods_and_unknown_ones_are_inspected_well() -> None:
    bench = Bench(InspectionsFail(at=NOW, pods="shop/web"))
    assert bench.hooks.fault("PodSandboxStatus", bench.db) is None
    assert bench.hooks.fault("PodSandboxStatus", "nowhere") is None
    assert await bench.takes(bench.hooks.before("PodSandboxStatus", "nowhere")) == 0


@pytest.mark.parametrize(
    ("answer", "code"), [("unimplemented", CODE.UNIMPLEMENTED), ("unavailable", CODE.UNAVAILABLE)]
)
def test_the_stream_is_refused_and_nothing_else(answer: Any, code: grpc.StatusCode) -> None:
    bench = Bench(StreamRefused(at=NOW, answer=answer))
    refused = bench.hooks.fault(STREAM, "")
    assert refused is not None
    assert refused.code is code
    assert bench.hooks.fault("ListContainers", "") is None
    assert bench.hits() == [1]


async def test_a_runtime_that_is_down_answers_nobody_even_while_its_server_still_ends() -> None:
    bench = Bench(RuntimeRestarts(at=NOW, lasts=seconds(1)))
    for method in ("Version", "ListContainers", STREAM):
        assert await bench.takes(bench.hooks.before(method, ""), 1) == 0
    bench = Bench(RuntimeRestarts(at=NOW, lasts=seconds(1)))
    gone = [bench.hooks.fault(method, "") for method in ("Version", "ListContainers", STREAM)]
    assert [(one.code, one.details) for one in gone if one is not None] == [
        (CODE.UNAVAILABLE, DOWN)
    ] * 3
    bench.run(2)
    assert bench.hooks.fault("Version", "") is None


@pytest.mark.parametrize(
    ("error", "code", "details"),
    [
        ("Unknown: failed: twice", CODE.UNKNOWN, "failed: twice"),
        ("DeadlineExceeded: late", CODE.DEADLINE_EXCEEDED, "late"),
        ("RESOURCE_EXHAUSTED: no", CODE.UNKNOWN, "RESOURCE_EXHAUSTED: no"),
        ("OK: no error", CODE.UNKNOWN, "OK: no error"),
        ("failed", CODE.UNKNOWN, "failed"),
        ("", CODE.UNKNOWN, ""),
    ],
)
def test_an_error_as_people_write_it(error: str, code: grpc.StatusCode, details: str) -> None:
    told = status(error)
    assert (told.code, told.details) == (code, details)
