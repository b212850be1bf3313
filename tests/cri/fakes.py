"""A scripted CRI server, messages to put into it, and a feed that can be waited on.

The server is a real ``grpc.aio`` server on a unix socket. It answers every method there could be,
those that change a node included, so that a test can show that they are never called.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import grpc
from google.protobuf.message import Message

from app.cri.allowlist import SERVICE
from app.cri.pb import cri_pb2
from app.engine.inputs import Input

Happened = TypeVar("Happened", bound=Input)

T0 = 1_795_968_436_000_000_000
"""A wall time (ns) for what the fake runtime made."""


class Refuse(NamedTuple):
    """An error to answer with."""

    code: grpc.StatusCode
    details: str = ""


Handler = Callable[[bytes], Awaitable[Message | bytes | Refuse]]
Answer = Message | bytes | Refuse | Handler


class Subscriber:
    """One subscription as the server sees it."""

    def __init__(self, deadline_s: float | None) -> None:
        self.deadline_s = deadline_s
        self._queue: asyncio.Queue[bytes | Refuse] = asyncio.Queue()
        self.gone = asyncio.Event()

    def send(self, event: Message | bytes) -> None:
        """Send an event."""
        self._queue.put_nowait(event if isinstance(event, bytes) else event.SerializeToString())

    def end(self, code: grpc.StatusCode = grpc.StatusCode.OK, details: str = "") -> None:
        """End the stream, after what was sent before."""
        self._queue.put_nowait(Refuse(code, details))

    async def serve(self, context: grpc.aio.ServicerContext[bytes, bytes]) -> None:
        """The handler's body."""
        try:
            while isinstance(item := await self._queue.get(), bytes):
                await context.write(item)
            if item.code is not grpc.StatusCode.OK:
                await context.abort(item.code, item.details)
        finally:
            self.gone.set()


class FakeRuntime(grpc.GenericRpcHandler):
    """Answers from ``answers`` (by method name), and keeps what it was asked in ``asked``.

    ``broadcast`` sends an event to every subscriber that is there, as containerd 2.x does.
    ``events`` None: GetContainerEvents is answered like any other method.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.address = f"unix://{path}"
        self.asked: list[tuple[str, bytes]] = []
        self.answers: dict[str, Answer] = {
            "Version": version(),
            "ListPodSandbox": cri_pb2.ListPodSandboxResponse(),
            "ListContainers": cri_pb2.ListContainersResponse(),
        }
        self.refuse_events: Refuse | None = None
        self.subscribers: list[Subscriber] = []
        self._news = asyncio.Event()
        self._server: grpc.aio.Server | None = None

    async def start(self) -> None:
        self._server = grpc.aio.server()
        self._server.add_generic_rpc_handlers((self,))
        self._server.add_insecure_port(self.address)
        await self._server.start()

    async def stop(self, grace: float | None = None) -> None:
        if self._server is not None:
            await self._server.stop(grace)
            self._server = None

    async def subscriber(self, number: int) -> Subscriber:
        """The subscriber with this number, from 0, once it is there."""
        while len(self.subscribers) <= number:
            self._news.clear()
            await self._news.wait()
        return self.subscribers[number]

    def broadcast(self, event: Message) -> None:
        for subscriber in self.subscribers:
            if not subscriber.gone.is_set():
                subscriber.send(event)

    def methods(self) -> list[str]:
        """The methods called so far."""
        return [method for method, _ in self.asked]

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        service, _, method = details.method.lstrip("/").partition("/")
        if service != SERVICE:
            return None
        if method == "GetContainerEvents":
            return grpc.unary_stream_rpc_method_handler(self._events)

        async def unary(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            self.asked.append((method, request))
            answer = self.answers.get(method, b"")
            if callable(answer):
                answer = await answer(request)
            if isinstance(answer, Refuse):
                await context.abort(answer.code, answer.details)
            return answer if isinstance(answer, bytes) else answer.SerializeToString()

        return grpc.unary_unary_rpc_method_handler(unary)

    async def _events(
        self, request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]
    ) -> None:
        self.asked.append(("GetContainerEvents", request))
        if self.refuse_events is not None:
            if self.refuse_events.code is not grpc.StatusCode.OK:
                await context.abort(self.refuse_events.code, self.refuse_events.details)
            return
        subscriber = Subscriber(context.time_remaining())
        self.subscribers.append(subscriber)
        self._news.set()
        await subscriber.serve(context)


class Inputs:
    """A feed that keeps what it is fed and can be waited on."""

    def __init__(self) -> None:
        self.all: list[Input] = []
        self._news = asyncio.Event()
        self._read = 0

    def __call__(self, happened: Input) -> None:
        self.all.append(happened)
        self._news.set()

    async def next(self, kind: type[Happened]) -> Happened:
        """The next input of this kind that was not yet asked for, once it is there."""
        while True:
            while self._read < len(self.all):
                found = self.all[self._read]
                self._read += 1
                if isinstance(found, kind):
                    return found
            self._news.clear()
            await self._news.wait()

    def of(self, kind: type[Happened]) -> list[Happened]:
        """All of this kind so far."""
        return [one for one in self.all if isinstance(one, kind)]

    def kinds(self) -> list[str]:
        """The kinds of all inputs so far, in order."""
        return [type(one).__name__ for one in self.all]


# Messages


def version(name: str = "containerd", number: str = "2.1.9+unknown") -> cri_pb2.VersionResponse:
    return cri_pb2.VersionResponse(
        version="0.1.0", runtime_name=name, runtime_version=number, runtime_api_version="v1"
    )


def sandbox(n: int = 1, state: int = cri_pb2.SANDBOX_READY, **fields: Any) -> cri_pb2.PodSandbox:
    """Sandbox ``s<n>`` of pod ``u<n>``."""
    row: dict[str, Any] = {
        "id": f"s{n}",
        "metadata": {"name": f"pod-{n}", "uid": f"u{n}", "namespace": "default", "attempt": 0},
        "state": state,
        "created_at": T0 + n,
    }
    return cri_pb2.PodSandbox(**(row | fields))


def container(
    n: int = 1, state: int = cri_pb2.CONTAINER_RUNNING, **fields: Any
) -> cri_pb2.Container:
    """Container ``c<n>`` in sandbox ``s<n>`` of pod ``u<n>``."""
    row: dict[str, Any] = {
        "id": f"c{n}",
        "pod_sandbox_id": f"s{n}",
        "metadata": {"name": "main", "attempt": 2},
        "image": {"image": "sha256:1"},
        "image_ref": "sha256:1",
        "state": state,
        "created_at": T0 + n,
        "labels": labels(n),
    }
    return cri_pb2.Container(**(row | fields))


def labels(n: int = 1, container_name: str = "main") -> dict[str, str]:
    return {
        "io.kubernetes.pod.uid": f"u{n}",
        "io.kubernetes.pod.name": f"pod-{n}",
        "io.kubernetes.pod.namespace": "default",
        "io.kubernetes.container.name": container_name,
    }


def sandboxes(*rows: cri_pb2.PodSandbox) -> cri_pb2.ListPodSandboxResponse:
    return cri_pb2.ListPodSandboxResponse(items=rows)


def containers(*rows: cri_pb2.Container) -> cri_pb2.ListContainersResponse:
    return cri_pb2.ListContainersResponse(containers=rows)


def sandbox_status(n: int = 1, **fields: Any) -> cri_pb2.PodSandboxStatusResponse:
    status: dict[str, Any] = {
        "id": f"s{n}",
        "metadata": {"name": f"pod-{n}", "uid": f"u{n}", "namespace": "default", "attempt": 1},
        "state": cri_pb2.SANDBOX_READY,
        "created_at": T0 + n,
        "network": {"ip": "10.0.0.7", "additional_ips": [{"ip": "fd00::7"}]},
    }
    return cri_pb2.PodSandboxStatusResponse(status=cri_pb2.PodSandboxStatus(**(status | fields)))


def container_status(
    n: int = 1, state: int = cri_pb2.CONTAINER_EXITED, **fields: Any
) -> cri_pb2.ContainerStatusResponse:
    status: dict[str, Any] = {
        "id": f"c{n}",
        "metadata": {"name": "main", "attempt": 2},
        "state": state,
        "created_at": T0 + n,
        "started_at": T0 + n + 1,
        "finished_at": T0 + n + 2,
        "exit_code": 137,
        "reason": "OOMKilled",
        "message": "too much",
        "image": {"image": "sha256:1", "user_specified_image": "busybox:1"},
        "image_ref": "sha256:1",
        "labels": labels(n),
    }
    return cri_pb2.ContainerStatusResponse(status=cri_pb2.ContainerStatus(**(status | fields)))


def stop_event(n: int = 1, created_at: int = T0) -> cri_pb2.ContainerEventResponse:
    """Container ``c<n>`` of pod ``u<n>`` stopped."""
    return cri_pb2.ContainerEventResponse(
        container_id=f"c{n}",
        container_event_type=cri_pb2.CONTAINER_STOPPED_EVENT,
        created_at=created_at,
        pod_sandbox_status=sandbox_status(n).status,
        containers_statuses=[container_status(n).status],
    )
