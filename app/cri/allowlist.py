"""The one place that decides which calls may leave plegscope: the nine that only read.

Every channel to a runtime gets ``interceptors()``. They look at the method's path at the moment of
the call, so it does not matter who made the call, with which messages, or by which kind of method.
"""

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, TypeVar

import grpc

SERVICE = "runtime.v1.RuntimeService"

ALLOWED = frozenset(
    f"/{SERVICE}/{method}"
    for method in (
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
)
"""Full gRPC paths. None of these calls changes a node."""

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_Details = grpc.aio.ClientCallDetails


class ForbiddenCall(RuntimeError):
    """A call off the allow-list was attempted: a fault of plegscope. Nothing was sent."""


def check(method: str | bytes) -> None:
    """Let an allowed path pass.

    Raises:
        ForbiddenCall: for any other.
    """
    path = method.decode(errors="replace") if isinstance(method, bytes) else method
    if path not in ALLOWED:
        _refuse(path)


def interceptors() -> list[grpc.aio.ClientInterceptor]:
    """One interceptor for each of gRPC's four kinds of call.

    They are four objects because ``grpc.aio`` registers an interceptor for the first kind that it
    implements and for no other.
    """
    return [_UnaryUnary(), _UnaryStream(), _StreamUnary(), _StreamStream()]


def _refuse(path: str) -> NoReturn:
    raise ForbiddenCall(f"plegscope only reads: {path} is not on its list of allowed calls.")


class _UnaryUnary(grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(
        self,
        continuation: Callable[
            [_Details, _Request], Awaitable[grpc.aio.UnaryUnaryCall[_Request, _Response]]
        ],
        client_call_details: _Details,
        request: _Request,
    ) -> _Response | grpc.aio.UnaryUnaryCall[_Request, _Response]:
        check(client_call_details.method)
        return await continuation(client_call_details, request)


class _UnaryStream(grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(
        self,
        continuation: Callable[
            [_Details, _Request], Awaitable[grpc.aio.UnaryStreamCall[_Request, _Response]]
        ],
        client_call_details: _Details,
        request: _Request,
    ) -> Any:  # the stubs ask for an async iterator, where the call itself is better
        check(client_call_details.method)
        return await continuation(client_call_details, request)


class _StreamUnary(grpc.aio.StreamUnaryClientInterceptor):
    """The CRI has no call of this kind: each is refused, whatever its name."""

    async def intercept_stream_unary(
        self, continuation: object, client_call_details: _Details, request_iterator: object
    ) -> NoReturn:
        del continuation, request_iterator
        _refuse(str(client_call_details.method))


class _StreamStream(grpc.aio.StreamStreamClientInterceptor):
    """The CRI has no call of this kind: each is refused, whatever its name."""

    async def intercept_stream_stream(
        self, continuation: object, client_call_details: _Details, request_iterator: object
    ) -> NoReturn:
        del continuation, request_iterator
        _refuse(str(client_call_details.method))
