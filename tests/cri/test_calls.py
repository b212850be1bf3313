"""Listing and inspecting: the order of calls, what is left out, and failures as inputs."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from app.clock import RealClock
from app.cri.calls import IN_FLIGHT, inspect_pod, list_pods, told
from app.cri.client import CriClient
from app.cri.convert import Interner
from app.cri.pb import cri_pb2
from app.engine.effects import InspectPod, ListPods
from app.engine.inputs import PodInspected, PodInspectFailed, PodsListed, PodsListFailed
from app.engine.listing import Pod, group
from tests.cri.fakes import (
    FakeRuntime,
    Refuse,
    container,
    container_status,
    containers,
    labels,
    sandbox,
    sandbox_status,
    sandboxes,
)

Code = grpc.StatusCode
ALL = ListPods(call=3)
POD = InspectPod(call=4, uid="u1", sandbox_ids=("s1",), container_ids=("c1", "c2"))


@pytest.fixture
def rows() -> Interner:
    return Interner()


def of_container(requested: bytes) -> str:
    return cri_pb2.ContainerStatusRequest.FromString(requested).container_id


# Lists


async def test_lists_sandboxes_then_containers(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, rows: Interner
) -> None:
    runtime.answers["ListPodSandbox"] = sandboxes(sandbox(1))
    runtime.answers["ListContainers"] = containers(container(1))
    before = clock.mono()
    listed = await list_pods(client, rows, clock, ALL)
    assert isinstance(listed, PodsListed)
    assert runtime.methods() == ["ListPodSandbox", "ListContainers"]
    assert listed.call == 3
    assert before < listed.t <= clock.mono()
    assert [row.id for row in listed.sandboxes] == ["s1"]
    assert [row.id for row in listed.containers] == ["c1"]
    assert [cost.method for cost in listed.calls] == ["ListPodSandbox", "ListContainers"]
    assert all(cost.duration_ns > 0 for cost in listed.calls)


async def test_one_pods_list_forgets_no_other(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, rows: Interner
) -> None:
    runtime.answers["ListContainers"] = containers(container(1), container(2))
    all_rows = await list_pods(client, rows, clock, ALL)
    runtime.answers["ListContainers"] = containers(container(1))
    one = await list_pods(client, rows, clock, ListPods(call=5, uid="u1"))
    runtime.answers["ListContainers"] = containers(container(1), container(2))
    again = await list_pods(client, rows, clock, ALL)
    assert isinstance(all_rows, PodsListed)
    assert isinstance(one, PodsListed)
    assert isinstance(again, PodsListed)
    assert one.containers[0] is all_rows.containers[0]
    assert again.containers[1] is all_rows.containers[1]
    request = cri_pb2.ListContainersRequest.FromString(runtime.asked[3][1])
    assert dict(request.filter.label_selector) == {"io.kubernetes.pod.uid": "u1"}


async def test_n2_n3_a_pod_listed_alone_is_what_the_list_of_all_has_of_it(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, rows: Interner
) -> None:
    boxes = [sandbox(n, labels=labels(n)) for n in (1, 2)]
    inside = [container(1), container(2), container(1, id="c9")]

    async def only_boxes(request: bytes) -> cri_pb2.ListPodSandboxResponse:
        wanted = cri_pb2.ListPodSandboxRequest.FromString(request).filter.label_selector
        return sandboxes(*(box for box in boxes if wanted.items() <= box.labels.items()))

    async def only_inside(request: bytes) -> cri_pb2.ListContainersResponse:
        wanted = cri_pb2.ListContainersRequest.FromString(request).filter.label_selector
        return containers(*(one for one in inside if wanted.items() <= one.labels.items()))

    runtime.answers |= {"ListPodSandbox": only_boxes, "ListContainers": only_inside}
    pods: dict[str | None, dict[str, Pod]] = {}
    for call, uid in enumerate((None, "u1", "u2", "u3")):
        listed = await list_pods(client, rows, clock, ListPods(call=call, uid=uid))
        assert isinstance(listed, PodsListed)
        pods[uid] = group(listed.sandboxes, listed.containers, 0)
    assert pods["u1"] | pods["u2"] == pods[None]
    assert set(pods[None]["u1"].containers) == {"c1", "c9"}
    assert pods["u3"] == {}


async def test_a_failed_first_list_saves_the_second(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, rows: Interner
) -> None:
    runtime.answers["ListPodSandbox"] = Refuse(Code.UNKNOWN, "disk on fire")
    failed = await list_pods(client, rows, clock, ALL)
    assert isinstance(failed, PodsListFailed)
    assert failed.call == 3
    assert "disk on fire" in failed.error
    assert failed.code == "error"
    assert runtime.methods() == ["ListPodSandbox"]
    assert [cost.method for cost in failed.calls] == ["ListPodSandbox"]


@pytest.mark.parametrize(
    ("code", "told"),
    [(Code.UNAVAILABLE, "unreachable"), (Code.DEADLINE_EXCEEDED, "silent")],
)
async def test_a_failed_list_tells_what_that_means(
    client: CriClient,
    runtime: FakeRuntime,
    clock: RealClock,
    rows: Interner,
    code: Code,
    told: str,
) -> None:
    runtime.answers["ListContainers"] = Refuse(code, "no")
    failed = await list_pods(client, rows, clock, ALL)
    assert isinstance(failed, PodsListFailed)
    assert failed.code == told


async def test_a_failed_second_list_fails_both(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, rows: Interner
) -> None:
    runtime.answers["ListContainers"] = b"\xff"
    failed = await list_pods(client, rows, clock, ALL)
    assert isinstance(failed, PodsListFailed)
    assert "ListContainers" in failed.error
    assert failed.code == "error"
    assert len(failed.calls) == 2


async def test_a_fault_of_our_own_is_a_failed_list(
    client: CriClient, clock: RealClock, rows: Interner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr(rows, "containers", broken)
    failed = await list_pods(client, rows, clock, ALL)
    assert isinstance(failed, PodsListFailed)
    assert "RuntimeError oops" in failed.error
    assert failed.code == "error"
    assert "please report" in failed.error


# Inspections


async def test_n9_inspects_in_the_effects_order_and_lists_nothing(
    client: CriClient, runtime: FakeRuntime, clock: RealClock
) -> None:
    runtime.answers["PodSandboxStatus"] = sandbox_status(1)
    second_asked = asyncio.Event()

    async def answer(request: bytes) -> cri_pb2.ContainerStatusResponse:
        number = int(of_container(request)[1:])
        if number == 1:
            # The first is answered last.
            await second_asked.wait()
        second_asked.set()
        return container_status(number)

    runtime.answers["ContainerStatus"] = answer
    done = await inspect_pod(client, clock, POD)
    assert isinstance(done, PodInspected)
    assert done.call == 4
    assert [status.id for status in done.sandboxes] == ["s1"]
    assert [status.id for status in done.containers] == ["c1", "c2"]
    assert sorted(cost.method for cost in done.calls) == [
        "ContainerStatus",
        "ContainerStatus",
        "PodSandboxStatus",
    ]


async def test_n6_n7_what_is_gone_is_left_out(
    client: CriClient, runtime: FakeRuntime, clock: RealClock
) -> None:
    runtime.answers["PodSandboxStatus"] = Refuse(Code.NOT_FOUND, "no such sandbox")

    async def answer(request: bytes) -> cri_pb2.ContainerStatusResponse | Refuse:
        gone = of_container(request) == "c1"
        return Refuse(Code.NOT_FOUND) if gone else container_status(2)

    runtime.answers["ContainerStatus"] = answer
    done = await inspect_pod(client, clock, POD)
    assert isinstance(done, PodInspected)
    assert done.sandboxes == ()
    assert [status.id for status in done.containers] == ["c2"]


async def test_nothing_to_inspect_makes_no_call(
    client: CriClient, runtime: FakeRuntime, clock: RealClock
) -> None:
    nothing = InspectPod(call=1, uid="u1", sandbox_ids=(), container_ids=())
    done = await inspect_pod(client, clock, nothing)
    assert isinstance(done, PodInspected)
    assert runtime.asked == []


async def test_n8_another_error_is_the_answer(
    client: CriClient, runtime: FakeRuntime, clock: RealClock
) -> None:
    runtime.answers["PodSandboxStatus"] = sandbox_status(1)
    runtime.answers["ContainerStatus"] = Refuse(Code.UNKNOWN, "shim is gone")
    failed = await inspect_pod(client, clock, POD)
    assert isinstance(failed, PodInspectFailed)
    assert failed.call == 4
    assert "shim is gone" in failed.error
    assert failed.calls


@pytest.mark.parametrize("method", ["PodSandboxStatus", "ContainerStatus"])
async def test_an_empty_status_is_an_error(
    client: CriClient, runtime: FakeRuntime, clock: RealClock, method: str
) -> None:
    runtime.answers["PodSandboxStatus"] = sandbox_status(1)
    runtime.answers["ContainerStatus"] = container_status(1)
    runtime.answers[method] = b""
    failed = await inspect_pod(client, clock, POD)
    assert isinstance(failed, PodInspectFailed)
    assert failed.error.startswith(method)
    assert "The kubelet refuses such an answer too" in failed.error


async def test_so_many_at_a_time(client: CriClient, runtime: FakeRuntime, clock: RealClock) -> None:
    running, most, full = 0, 0, asyncio.Event()

    async def answer(request: bytes) -> cri_pb2.ContainerStatusResponse:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == IN_FLIGHT:
            full.set()
        await full.wait()
        running -= 1
        return container_status(int(of_container(request)[1:]))

    runtime.answers["ContainerStatus"] = answer
    many = tuple(f"c{n}" for n in range(30))
    async with asyncio.timeout(60):
        done = await inspect_pod(
            client, clock, InspectPod(call=1, uid="u1", sandbox_ids=(), container_ids=many)
        )
    assert isinstance(done, PodInspected)
    assert [status.id for status in done.containers] == list(many)
    assert most == IN_FLIGHT


def test_errors_are_sentences() -> None:
    assert told(ValueError("odd")).startswith("plegscope failed at this call: ValueError odd.")
