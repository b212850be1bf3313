"""Only calls that read leave plegscope: tried on a server that would answer every other one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from app.cri.allowlist import ALLOWED, SERVICE, ForbiddenCall, check, interceptors
from app.cri.client import CriClient
from tests.cri.fakes import FakeRuntime

CHANGING = (
    "RunPodSandbox",
    "StopPodSandbox",
    "RemovePodSandbox",
    "CreateContainer",
    "StartContainer",
    "StopContainer",
    "RemoveContainer",
    "UpdateContainerResources",
    "ReopenContainerLog",
    "ExecSync",
    "Exec",
    "Attach",
    "PortForward",
    "UpdateRuntimeConfig",
    "CheckpointContainer",
    "CheckpointPod",
    "RestorePod",
    "UpdatePodSandboxResources",
)

READING = (
    "Version",
    "Status",
    "ListPodSandbox",
    "PodSandboxStatus",
    "ListContainers",
    "ContainerStatus",
    "GetContainerEvents",
    "StreamPodSandboxes",
    "StreamContainers",
)


@pytest.fixture
async def channel(runtime: FakeRuntime) -> AsyncIterator[Any]:  # calls here carry bytes
    async with grpc.aio.insecure_channel(runtime.address, interceptors=interceptors()) as made:
        yield made


def test_the_list_is_exactly_what_was_promised() -> None:
    assert frozenset(f"/runtime.v1.RuntimeService/{name}" for name in READING) == ALLOWED


@pytest.mark.parametrize("method", CHANGING)
async def test_a_call_that_changes_a_node_never_reaches_the_server(
    channel: Any, runtime: FakeRuntime, method: str
) -> None:
    call = channel.unary_unary(f"/{SERVICE}/{method}")
    with pytest.raises(ForbiddenCall, match=method):
        await call(b"", timeout=60)
    assert runtime.asked == []


async def test_the_server_would_have_answered(runtime: FakeRuntime) -> None:
    async with grpc.aio.insecure_channel(runtime.address) as bare:
        call: Any = bare.unary_unary(f"/{SERVICE}/StopContainer")
        assert await call(b"", timeout=60) == b""
    assert runtime.methods() == ["StopContainer"]


@pytest.mark.parametrize("path", ["/runtime.v1.ImageService/RemoveImage", "/x/Version", "Version"])
async def test_another_service_is_refused(channel: Any, runtime: FakeRuntime, path: str) -> None:
    with pytest.raises(ForbiddenCall):
        await channel.unary_unary(path)(b"", timeout=60)
    assert runtime.asked == []


async def test_other_kinds_of_call_are_refused_under_every_name(
    channel: Any, runtime: FakeRuntime
) -> None:
    exec_stream = channel.unary_stream(f"/{SERVICE}/Exec")(b"", timeout=60)
    with pytest.raises(ForbiddenCall):
        await exec_stream.read()
    # Even an allowed name: the CRI has no call with a stream of requests.
    with pytest.raises(ForbiddenCall):
        await channel.stream_unary(f"/{SERVICE}/Version")(iter([b""]), timeout=60)
    both = channel.stream_stream(f"/{SERVICE}/Version")(iter([b""]), timeout=60)
    with pytest.raises(ForbiddenCall):
        await both.read()
    assert runtime.asked == []


@pytest.mark.parametrize("name", READING)
def test_reading_calls_pass_as_text_and_as_bytes(name: str) -> None:
    path = f"/{SERVICE}/{name}"
    check(path)
    check(path.encode())
    with pytest.raises(ForbiddenCall):
        check(path.encode() + b"\xff")


async def test_the_client_cannot_be_made_to_call_something_else(
    client: CriClient, runtime: FakeRuntime
) -> None:
    call: Any = client._channel.unary_unary(f"/{SERVICE}/RemovePodSandbox")
    with pytest.raises(ForbiddenCall):
        await call(b"", timeout=60)
    assert runtime.asked == []


def test_no_other_module_opens_a_channel() -> None:
    app = Path(__file__).parents[2] / "app"
    opening = [
        path.relative_to(app).as_posix()
        for path in app.rglob("*.py")
        if "insecure_channel(" in path.read_text(encoding="utf-8")
    ]
    assert opening == ["cri/client.py"]
