"""The simulated runtime's CRI server: what a client sees, over gRPC on a unix socket.

Serves ``/runtime.v1.RuntimeService/``: the RPCs that read, and those that change the node
(``changes.py``). Any CRI client may connect.

Three hooks are the seam for slow and failing runtimes: ``latency`` is awaited before a call is
answered (or a stream opened), ``fault`` may name the error that it ends with instead, and ``lag``
is awaited before an answer that was made (or an event) is sent.
"""

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import grpc
import msgspec
from google.protobuf.message import Message

from app.cri.pb import cri_pb2 as pb
from app.errors import EndpointError
from app.sim import messages
from app.sim.availability import UnavailableError
from app.sim.changes import Call, Changes, InvalidError, UnknownCallError
from app.sim.events import EventHub, OverrunError, StreamEndedError
from app.sim.objects import ContainerFilter, ContainerState, SandboxFilter, SandboxState
from app.sim.world import NotFoundError, World, WorldError

SERVICE = "runtime.v1.RuntimeService"
IMAGES = "runtime.v1.ImageService"

Code = grpc.StatusCode
REFUSES: dict[type[WorldError], Code] = {
    NotFoundError: Code.NOT_FOUND,
    InvalidError: Code.INVALID_ARGUMENT,
    UnavailableError: Code.UNAVAILABLE,
    UnknownCallError: Code.UNIMPLEMENTED,
}
"""What a client is told when a call that changes the node is refused; UNKNOWN for anything else, as
containerd and CRI-O do."""

LONGEST_PATH = 107
"""Bytes of a unix socket's path (Linux sun_path)."""

NO_STREAM = "method GetContainerEvents not implemented"
"""What containerd 1.6 says."""

Context = grpc.aio.ServicerContext[Any, Any]
SANDBOX_STATES: dict[int, SandboxState] = {
    number: word for word, number in messages.SANDBOX_STATE.items()
}
CONTAINER_STATES: dict[int, ContainerState] = {
    number: word for word, number in messages.CONTAINER_STATE.items()
}


class Fault(msgspec.Struct, frozen=True):
    """How a call shall fail."""

    code: grpc.StatusCode
    details: str


async def no_latency(_method: str, _item_id: str) -> None:
    """The default: answer at once."""


def no_fault(_method: str, _item_id: str) -> Fault | None:
    """The default: answer well."""
    return None


Latency = Callable[[str, str], Awaitable[None]]
Failing = Callable[[str, str], Fault | None]


class CriServer:
    """Serves one world on one socket; may be started again after it was stopped.

    ``changes``: None serves none of the calls that change the node.

    ``latency``, ``fault`` and ``lag`` take the CRI method's name, such as ``ListPodSandbox``, and
    the id of the sandbox or container that is asked for (empty: of none).
    """

    def __init__(
        self,
        world: World,
        hub: EventHub,
        *,
        changes: Changes | None = None,
        latency: Latency = no_latency,
        fault: Failing = no_fault,
        lag: Latency = no_latency,
    ) -> None:
        self._world = world
        self._hub = hub
        self._changes = changes
        self._latency = latency
        self._fault = fault
        self._lag = lag
        self._server: grpc.aio.Server | None = None

    @property
    def listening(self) -> bool:
        """Whether it was started and not stopped since."""
        return self._server is not None

    async def start(self, socket_path: Path) -> None:
        """Listen; answers from now on. The socket is for this user only.

        Raises:
            EndpointError: the socket cannot be made there.
        """
        server = grpc.aio.server()
        handlers = [grpc.method_handlers_generic_handler(SERVICE, self._handlers())]
        if self._changes is not None:
            images = self._change_handlers(self._changes.image_calls)
            handlers.append(grpc.method_handlers_generic_handler(IMAGES, images))
        server.add_generic_rpc_handlers(tuple(handlers))
        try:
            server.add_insecure_port(f"unix:{socket_path}")
        except RuntimeError as error:
            raise EndpointError(_no_socket(socket_path)) from error
        # Kept before it starts: a start that is cancelled halfway must be undone as well.
        self._server = server
        await server.start()
        _make_private(socket_path)

    async def stop(self) -> None:
        """End every call and stop listening."""
        if self._server is not None:
            server, self._server = self._server, None
            # gRPC cancels the calls but not the coroutines that answer them.
            self._hub.end_all(self._hub.gone)
            if self._changes is not None:
                self._changes.abandon()
            await server.stop(None)

    # -------------------------------------------------------------------- the calls

    def version(self, _request: pb.VersionRequest) -> pb.VersionResponse:
        """Who this is: one of the known runtimes by its manners, a simulation by its version."""
        rules = self._world.rules
        return pb.VersionResponse(
            version="0.1.0",
            runtime_name=rules.runtime_name,
            runtime_version=rules.runtime_version,
            runtime_api_version=rules.api_version,
        )

    def status(self, _request: pb.StatusRequest) -> pb.StatusResponse:
        """All is well: conditions, the one handler, features."""
        names = ["RuntimeReady", "NetworkReady"]
        if self._world.rules.warns_of_age:
            names.append("ContainerdHasNoDeprecationWarnings")
        conditions = [pb.RuntimeCondition(type=name, status=True) for name in names]
        return pb.StatusResponse(
            status=pb.RuntimeStatus(conditions=conditions),
            runtime_handlers=[pb.RuntimeHandler(name=name) for name in ("", "runc")],
            features=pb.RuntimeFeatures(supplemental_groups_policy=True),
        )

    def list_pod_sandbox(self, request: pb.ListPodSandboxRequest) -> pb.ListPodSandboxResponse:
        """The sandboxes that pass the filter."""
        asked = request.filter
        state = SANDBOX_STATES.get(asked.state.state) if asked.HasField("state") else None
        wanted = SandboxFilter(asked.id, state, dict(asked.label_selector))
        rows = [messages.sandbox_item(one) for one in self._world.sandboxes(wanted)]
        return pb.ListPodSandboxResponse(items=rows)

    def list_containers(self, request: pb.ListContainersRequest) -> pb.ListContainersResponse:
        """The containers that pass the filter."""
        asked = request.filter
        state = CONTAINER_STATES.get(asked.state.state) if asked.HasField("state") else None
        wanted = ContainerFilter(asked.id, asked.pod_sandbox_id, state, dict(asked.label_selector))
        rows = [messages.container_item(one) for one in self._world.containers(wanted)]
        return pb.ListContainersResponse(containers=rows)

    def pod_sandbox_status(
        self, request: pb.PodSandboxStatusRequest
    ) -> pb.PodSandboxStatusResponse:
        """One sandbox; containerd leaves ``containers_statuses`` and ``timestamp`` empty."""
        sandbox = self._world.sandbox(request.pod_sandbox_id)
        return pb.PodSandboxStatusResponse(status=messages.sandbox_status(sandbox))

    def container_status(self, request: pb.ContainerStatusRequest) -> pb.ContainerStatusResponse:
        """One container."""
        container = self._world.container(request.container_id)
        return pb.ContainerStatusResponse(status=messages.container_status(container))

    async def get_container_events(self, _request: pb.GetEventsRequest, context: Context) -> None:
        """The stream: no initial metadata before the first event, until the client leaves.

        The client's deadline and cancellation end this call by themselves.
        """
        method = "GetContainerEvents"
        await self._before(method, "", context)
        if self._world.rules.stream == "none":
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, NO_STREAM)
        with self._hub.subscribe() as subscriber:
            try:
                while True:
                    message = await subscriber.take()
                    await self._lag(method, "")
                    await context.write(message)
            except OverrunError as overrun:
                await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, str(overrun))
            except StreamEndedError as ended:
                if ended.end.code is not grpc.StatusCode.OK:
                    await context.abort(ended.end.code, ended.end.details)

    # ---------------------------------------------------------------------- plumbing

    def _handlers(self) -> dict[str, "grpc.RpcMethodHandler[Any, Any]"]:
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "GetContainerEvents": grpc.unary_stream_rpc_method_handler(
                self.get_container_events,
                request_deserializer=pb.GetEventsRequest.FromString,
                response_serializer=bytes,
            )
        }
        calls: tuple[tuple[str, type[Message], Callable[[Any], Message]], ...] = (
            ("Version", pb.VersionRequest, self.version),
            ("Status", pb.StatusRequest, self.status),
            ("ListPodSandbox", pb.ListPodSandboxRequest, self.list_pod_sandbox),
            ("ListContainers", pb.ListContainersRequest, self.list_containers),
            ("PodSandboxStatus", pb.PodSandboxStatusRequest, self.pod_sandbox_status),
            ("ContainerStatus", pb.ContainerStatusRequest, self.container_status),
        )
        for method, request_type, answer in calls:
            handlers[method] = grpc.unary_unary_rpc_method_handler(
                self._answering(method, answer),
                request_deserializer=request_type.FromString,
                response_serializer=_serialize,
            )
        if self._changes is not None:
            handlers |= self._change_handlers(self._changes.calls)
        return handlers

    def _change_handlers(
        self, calls: Mapping[str, Call]
    ) -> dict[str, "grpc.RpcMethodHandler[Any, Any]"]:
        return {
            method: grpc.unary_unary_rpc_method_handler(
                self._changing(method, change.answer),
                request_deserializer=change.request.FromString,
                response_serializer=_serialize,
            )
            for method, change in calls.items()
        }

    def _changing(
        self, method: str, answer: Callable[[Any], Awaitable[Message]]
    ) -> Callable[[Any, Context], Awaitable[Message]]:
        async def call(request: Any, context: Context) -> Message:
            await self._before(method, "", context)
            try:
                made = await answer(request)
                await self._lag(method, "")
                return made
            except WorldError as error:
                await context.abort(REFUSES.get(type(error), Code.UNKNOWN), str(error))

        return call

    def _answering(
        self, method: str, answer: Callable[[Any], Message]
    ) -> Callable[[Any, Context], Awaitable[Message]]:
        async def call(request: Any, context: Context) -> Message:
            item_id = _asked_for(request)
            await self._before(method, item_id, context)
            try:
                made = answer(request)
                await self._lag(method, item_id)
                return made
            except NotFoundError as error:
                await context.abort(grpc.StatusCode.NOT_FOUND, str(error))

        return call

    async def _before(self, method: str, item_id: str, context: Context) -> None:
        await self._latency(method, item_id)
        fault = self._fault(method, item_id)
        if fault is not None:
            await context.abort(fault.code, fault.details)


def _asked_for(request: Message) -> str:
    """The id of the one sandbox or container that is asked for; empty for a list."""
    if isinstance(request, pb.PodSandboxStatusRequest):
        return request.pod_sandbox_id
    return request.container_id if isinstance(request, pb.ContainerStatusRequest) else ""


def _no_socket(socket_path: Path) -> str:
    size = len(str(socket_path).encode())
    if size > LONGEST_PATH:
        return (
            f"The path of the simulated node's socket has {size} bytes and may have at most "
            f"{LONGEST_PATH}: {socket_path}. Set TMPDIR to a shorter directory and start again."
        )
    return (
        f"The simulated node cannot make its socket {socket_path}. Check that its directory "
        "exists and can be written to, or set TMPDIR to one that does, and start again."
    )


def _make_private(socket_path: Path) -> None:
    socket_path.chmod(0o600)


def remove_socket(socket_path: Path) -> None:
    """Remove what a server that has ended may have left."""
    with contextlib.suppress(FileNotFoundError):
        socket_path.unlink()


def _serialize(message: Message) -> bytes:
    # The base class's own method is abstract: it must be called on the message.
    return message.SerializeToString()
