"""The client: one channel, a deadline on every call, and a count of everything.

The numbers are the kubelet's where it has some (cri-client): answers up to 16 MiB, reconnecting
after 100 ms and then up to every 3 s, five seconds to connect, two minutes for a call. No client
keepalive: runtimes answer it with GOAWAY and end a healthy stream. No retries: what failed is told.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self, TypeVar

import grpc
import msgspec
from google.protobuf.message import DecodeError, Message

from app.clock import Clock
from app.cri.allowlist import SERVICE, interceptors
from app.cri.pb import cri_pb2
from app.cri.words import CallFailed
from app.engine.model import CallCost
from app.histogram import CALL_BUCKETS, Histogram

UID_LABEL = "io.kubernetes.pod.uid"

CHANNEL_OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    # Without this, some servers see the escaped socket path as the authority and refuse it.
    ("grpc.default_authority", "localhost"),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 3000),
    # Despite its name this is how long one attempt to connect may take. It must be longer than
    # the probe's deadline, or a hung runtime would look like an absent one.
    ("grpc.min_reconnect_backoff_ms", 5000),
    ("grpc.enable_retries", 0),
    ("grpc.service_config_disable_resolution", 1),
    # Two clients in one process are two connections and know nothing of each other's back-off.
    ("grpc.use_local_subchannel_pool", 1),
)

T = TypeVar("T", bound=Message)

OnAnswer = Callable[[int, int, str, str, bytes], None]
"""Is told of each list and status as received: monotonic and wall time (ns), the method, the id
that was asked for (a list: the pod's UID, or empty for all), and the answer's bytes."""


class EventCall(Protocol):
    """The part of a gRPC stream call that the stream keeper uses."""

    async def read(self) -> object:
        """The next message's bytes, or ``grpc.aio.EOF``; cancelling it cancels the call."""
        ...

    def cancel(self) -> bool:
        """Cancel the call."""
        ...

    async def code(self) -> grpc.StatusCode:
        """The status; waits for the end."""
        ...

    async def details(self) -> str:
        """The status' text; waits for the end."""
        ...


class Deadlines(msgspec.Struct, frozen=True):
    """Seconds allowed for a call: ``version`` when probing (real ones), ``call`` for everything
    else (of the session's clock).

    ``call`` is the kubelet's runtime-request-timeout. A hung runtime is told long before by
    ``CriClient.oldest_call``.
    """

    version: float = 3.0
    call: float = 120.0


def _durations() -> Histogram:
    return Histogram(CALL_BUCKETS)


class MethodCount(msgspec.Struct):
    """What calls of one method amounted to: unary ones with their ``durations``, and bytes
    received (``size``)."""

    calls: int = 0
    failed: int = 0
    size: int = 0
    durations: Histogram = msgspec.field(default_factory=_durations)


class CriClient:
    """Read-only calls to the runtime at ``address`` (``unix:///…``), on the running loop.

    Use it in ``async with``, or ``close`` it. Calls raise ``CallFailed`` and nothing else; a
    finished call, failed or not, is appended to ``costs`` when a list is given.
    """

    def __init__(self, address: str, clock: Clock, deadlines: Deadlines | None = None) -> None:
        self.address = address
        self.deadlines = deadlines or Deadlines()
        self._clock = clock
        self._channel = grpc.aio.insecure_channel(
            address, options=CHANNEL_OPTIONS, interceptors=interceptors()
        )
        self._waiting: dict[int, tuple[str, int]] = {}
        self._started = 0
        self.on_answer: OnAnswer | None = None
        """Is called with each list and status, before anything is made of it; must not raise."""
        self.counts: dict[str, MethodCount] = {}
        unary = self._unary_method
        self._version = unary("Version", cri_pb2.VersionRequest)
        self._status = unary("Status", cri_pb2.StatusRequest)
        self._list_sandboxes = unary("ListPodSandbox", cri_pb2.ListPodSandboxRequest)
        self._list_containers = unary("ListContainers", cri_pb2.ListContainersRequest)
        self._sandbox_status = unary("PodSandboxStatus", cri_pb2.PodSandboxStatusRequest)
        self._container_status = unary("ContainerStatus", cri_pb2.ContainerStatusRequest)
        self._events: grpc.aio.UnaryStreamMultiCallable[cri_pb2.GetEventsRequest, bytes] = (
            self._channel.unary_stream(
                f"/{SERVICE}/GetContainerEvents",
                request_serializer=cri_pb2.GetEventsRequest.SerializeToString,
            )
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Cancel what is still running and let go of the connection."""
        await self._channel.close()

    # What it costs

    @property
    def calls_total(self) -> int:
        """Calls finished so far, subscriptions included."""
        return sum(count.calls for count in self.counts.values())

    @property
    def bytes_total(self) -> int:
        """Bytes of all messages received so far."""
        return sum(count.size for count in self.counts.values())

    def oldest_call(self) -> tuple[str, int] | None:
        """Method and beginning (ns) of the call that has waited longest; None when none waits.

        Streams do not count: an open stream proves nothing about the runtime.
        """
        return next(iter(self._waiting.values()), None)

    def count(self, method: str) -> MethodCount:
        """The method's counters, made on first use."""
        return self.counts.setdefault(method, MethodCount())

    # Calls

    async def version(self, timeout_s: float | None = None) -> cri_pb2.VersionResponse:
        """``Version``, with the probe's deadline unless told otherwise."""
        limit = self.deadlines.version if timeout_s is None else timeout_s
        request = cri_pb2.VersionRequest(version="0.1.0")
        return await self._call(self._version, request, cri_pb2.VersionResponse, None, limit)

    async def status(self) -> cri_pb2.StatusResponse:
        """``Status``: the runtime's conditions."""
        return await self._call(self._status, cri_pb2.StatusRequest(), cri_pb2.StatusResponse, None)

    async def list_pod_sandbox(
        self, uid: str | None = None, costs: list[CallCost] | None = None
    ) -> cri_pb2.ListPodSandboxResponse:
        """``ListPodSandbox`` of all pods, or of one by the label the kubelet sets."""
        request = cri_pb2.ListPodSandboxRequest()
        if uid is not None:
            request.filter.label_selector[UID_LABEL] = uid
        return await self._call(
            self._list_sandboxes, request, cri_pb2.ListPodSandboxResponse, costs, about=uid or ""
        )

    async def list_containers(
        self, uid: str | None = None, costs: list[CallCost] | None = None
    ) -> cri_pb2.ListContainersResponse:
        """``ListContainers`` of all pods, or of one by the label the kubelet sets."""
        request = cri_pb2.ListContainersRequest()
        if uid is not None:
            request.filter.label_selector[UID_LABEL] = uid
        return await self._call(
            self._list_containers, request, cri_pb2.ListContainersResponse, costs, about=uid or ""
        )

    async def pod_sandbox_status(
        self, sandbox_id: str, costs: list[CallCost] | None = None
    ) -> cri_pb2.PodSandboxStatusResponse:
        """``PodSandboxStatus``, not verbose."""
        request = cri_pb2.PodSandboxStatusRequest(pod_sandbox_id=sandbox_id)
        return await self._call(
            self._sandbox_status, request, cri_pb2.PodSandboxStatusResponse, costs, about=sandbox_id
        )

    async def container_status(
        self, container_id: str, costs: list[CallCost] | None = None
    ) -> cri_pb2.ContainerStatusResponse:
        """``ContainerStatus``, not verbose."""
        request = cri_pb2.ContainerStatusRequest(container_id=container_id)
        return await self._call(
            self._container_status,
            request,
            cri_pb2.ContainerStatusResponse,
            costs,
            about=container_id,
        )

    def container_events(self, deadline_s: float | None) -> EventCall:
        """Subscribe to ``GetContainerEvents``; messages come as bytes.

        The runtime itself ends the stream after ``deadline_s``, which frees the node even when
        this process is stopped. Never wait for its initial metadata: none comes before an event.
        """
        self.count("GetContainerEvents").calls += 1
        return self._events(cri_pb2.GetEventsRequest(), timeout=deadline_s)

    # Details

    def _unary_method(self, name: str, request: type[Message]) -> "_Method":
        # Without a deserializer the answer stays bytes: their length is counted, and what is not
        # a CRI message can be told apart from what gRPC itself complains about.
        call: grpc.aio.UnaryUnaryMultiCallable[Message, bytes] = self._channel.unary_unary(
            f"/{SERVICE}/{name}", request_serializer=request.SerializeToString
        )
        return _Method(name, call)

    async def _call(
        self,
        method: "_Method",
        request: Message,
        response: type[T],
        costs: list[CallCost] | None,
        limit: float | None = None,
        *,
        about: str | None = None,
    ) -> T:
        timeout_s = self.deadlines.call if limit is None else limit
        # Whether anybody answers ``Version`` at all is a question of real time.
        patience_s = timeout_s if limit else self._clock.real_s(round(timeout_s * 1e9))
        started = self._clock.mono()
        self._started += 1
        number = self._started
        self._waiting[number] = (method.name, started)
        count = self.count(method.name)
        failed = True
        try:
            raw = await method.call(request, timeout=patience_s)
            count.size += len(raw)
            answer = response.FromString(raw)
            failed = False
            if about is not None and self.on_answer is not None:
                clock = self._clock
                self.on_answer(clock.mono(), clock.wall(), method.name, about, raw)
        except grpc.aio.AioRpcError as error:
            raise CallFailed(method.name, error.code(), error.details() or "", timeout_s) from error
        except DecodeError as error:
            text = "the answer is not a CRI v1 message"
            raise CallFailed(method.name, grpc.StatusCode.INTERNAL, text, timeout_s) from error
        finally:
            took = self._clock.mono() - started
            del self._waiting[number]
            count.calls += 1
            count.failed += failed
            count.durations.observe_ns(took)
            if costs is not None:
                costs.append(CallCost(method.name, took))
        return answer


class _Method:
    """A unary method: its CRI name and how to call it."""

    __slots__ = ("call", "name")

    def __init__(
        self, name: str, call: Callable[..., grpc.aio.UnaryUnaryCall[Message, bytes]]
    ) -> None:
        self.name = name
        self.call = call
