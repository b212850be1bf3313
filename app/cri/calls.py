"""The two unary effects: list pods, inspect one pod. Each ends in an input and never raises.

The order of calls is kuberuntime's (GetPods, GetPod, GetPodStatus since Kubernetes 1.36), except
that the statuses of one pod are asked for together: they do not depend on each other.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import grpc

from app.clock import Clock
from app.cri import convert
from app.cri.client import CriClient
from app.cri.convert import Interner, InvalidStatus
from app.cri.words import CallFailed
from app.engine.effects import InspectPod, ListPods
from app.engine.inputs import PodInspected, PodInspectFailed, PodsListed, PodsListFailed
from app.engine.model import CallCost, ContainerStatus, SandboxStatus

IN_FLIGHT = 8
"""Status calls of one inspection that are made at the same time."""

_Job = tuple[Callable[[str], Awaitable[None]], str]


async def list_pods(
    client: CriClient, rows: Interner, clock: Clock, effect: ListPods
) -> PodsListed | PodsListFailed:
    """ListPodSandbox, then ListContainers; of one pod when the effect names one."""
    costs: list[CallCost] = []
    full = effect.uid is None
    try:
        # In this order a container that is made in between shows up without its sandbox, which
        # the engine copes with as the kubelet does.
        listed = await client.list_pod_sandbox(effect.uid, costs)
        inside = await client.list_containers(effect.uid, costs)
        sandboxes = rows.sandboxes(listed, full=full)
        containers = rows.containers(inside, full=full)
    except Exception as error:
        return PodsListFailed(
            t=clock.mono(),
            wall=clock.wall(),
            call=effect.call,
            error=told(error),
            calls=tuple(costs),
            code=error.meaning if isinstance(error, CallFailed) else "error",
        )
    return PodsListed(
        t=clock.mono(),
        wall=clock.wall(),
        call=effect.call,
        sandboxes=sandboxes,
        containers=containers,
        calls=tuple(costs),
    )


async def inspect_pod(
    client: CriClient, clock: Clock, effect: InspectPod
) -> PodInspected | PodInspectFailed:
    """PodSandboxStatus of each sandbox, ContainerStatus of each container, in the effect's order.

    What is NotFound by now is left out; the first other error is the answer.
    """
    costs: list[CallCost] = []
    sandboxes: dict[str, SandboxStatus] = {}
    containers: dict[str, ContainerStatus] = {}

    async def sandbox(wanted: str) -> None:
        try:
            answer = await client.pod_sandbox_status(wanted, costs)
            sandboxes[wanted] = convert.sandbox_status(answer)
        except CallFailed as error:
            _unless_gone(error)
        except InvalidStatus as error:
            raise InvalidStatus(f"PodSandboxStatus of {wanted}: {error}") from error

    async def container(wanted: str) -> None:
        try:
            answer = await client.container_status(wanted, costs)
            containers[wanted] = convert.container_status(answer)
        except CallFailed as error:
            _unless_gone(error)
        except InvalidStatus as error:
            raise InvalidStatus(f"ContainerStatus of {wanted}: {error}") from error

    jobs: list[_Job] = [(sandbox, wanted) for wanted in effect.sandbox_ids]
    jobs += [(container, wanted) for wanted in effect.container_ids]
    failures: list[Exception] = []
    try:
        async with asyncio.TaskGroup() as workers:
            waiting = iter(jobs)
            for _ in range(min(IN_FLIGHT, len(jobs))):
                workers.create_task(_work_off(waiting), name="inspects")
    except* Exception as group:
        failures.extend(group.exceptions)
    if failures:
        return PodInspectFailed(
            t=clock.mono(),
            wall=clock.wall(),
            call=effect.call,
            error=told(failures[0]),
            calls=tuple(costs),
        )
    return PodInspected(
        t=clock.mono(),
        wall=clock.wall(),
        call=effect.call,
        sandboxes=tuple(sandboxes[i] for i in effect.sandbox_ids if i in sandboxes),
        containers=tuple(containers[i] for i in effect.container_ids if i in containers),
        calls=tuple(costs),
    )


async def _work_off(jobs: Iterator[_Job]) -> None:
    for call, wanted in jobs:
        await call(wanted)


def _unless_gone(error: CallFailed) -> None:
    if error.code is not grpc.StatusCode.NOT_FOUND:
        raise error


def told(error: Exception) -> str:
    """An error in a sentence for people."""
    if isinstance(error, CallFailed):
        return str(error)
    if isinstance(error, InvalidStatus):
        return f"{error}. The kubelet refuses such an answer too: look at the runtime's log."
    return (
        f"plegscope failed at this call: {type(error).__name__} {error}. "
        "This is a fault of plegscope: please report it with this line."
    )
