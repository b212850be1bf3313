"""A small synchronous CRI client for the lab, with the calls that change a node.

`cri_test.proto` is compiled on first use into a descriptor set in the lab's cache and loaded
into a descriptor pool of its own: the dashboard registers the same package ``runtime.v1`` in
the default pool, and protobuf refuses two descriptions of one message in one pool.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tests.lab.errors import LabError
from tests.lab.packages import cache_directory

PROTO = Path(__file__).with_name("cri_test.proto")
RUNTIME = "runtime.v1.RuntimeService"
IMAGES = "runtime.v1.ImageService"
UNARY_TIMEOUT_S = 120.0
"""StopContainer and StopPodSandbox may take long on a busy machine."""

CHANNEL_OPTIONS = (
    # The kubelet's limit for one answer.
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    ("grpc.default_authority", "localhost"),
    # A restarted runtime is found again within a moment.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
    # Two clients in one process are two connections, as from two processes.
    ("grpc.use_local_subchannel_pool", 1),
)


@functools.cache
def descriptors() -> descriptor_pool.DescriptorPool:
    """The pool that knows `cri_test.proto`, and nothing else."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(_descriptor_set()).file:
        pool.AddSerializedFile(file.SerializeToString())
        # Classes are made on first use, and two threads at once would get two of the same
        # message, which do not fit each other: make all of them now.
        for message_type in file.message_type:
            message(message_type.name, pool)
    return pool


def _descriptor_set() -> bytes:
    source = PROTO.read_bytes()
    compiler = importlib.metadata.version("grpcio-tools")
    key = hashlib.sha256(source + compiler.encode()).hexdigest()[:16]
    kept = cache_directory() / "descriptors" / f"{PROTO.stem}-{key}.bin"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=kept.parent) as work:
            made = Path(work) / "set"
            words = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO.parent}"]
            words += [f"--descriptor_set_out={made}", PROTO.name]
            done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
            if done.returncode != 0:
                raise LabError(f"{PROTO.name} does not compile: {done.stderr.strip()}. Mend it.")
            # Another process may be at it too; whoever is last replaces equal by equal.
            made.replace(kept)
    return kept.read_bytes()


def message(name: str, pool: descriptor_pool.DescriptorPool | None = None) -> Any:
    """The class of a message of the proto file, such as ``PodSandboxConfig``."""
    found = (pool or descriptors()).FindMessageTypeByName(f"runtime.v1.{name}")
    return message_factory.GetMessageClass(found)


@functools.cache
def enum_names(name: str) -> dict[int, str]:
    """Numbers to names of an enum, such as ``ContainerState``: 1 to ``CONTAINER_RUNNING``."""
    values = descriptors().FindEnumTypeByName(f"runtime.v1.{name}").values
    return {value.number: value.name for value in values}


class Cri:
    """A connection to a runtime's socket (``unix:///…``). Close it, or use it in ``with``.

    Safe to use from several threads. Failures are `grpc.RpcError`, as gRPC raises them.
    """

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        descriptors()
        self._channel = grpc.insecure_channel(endpoint, options=CHANNEL_OPTIONS)

    def __enter__(self) -> Cri:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; open streams end with CANCELLED."""
        self._channel.close()

    def call(
        self,
        method: str,
        *,
        service: str = RUNTIME,
        timeout_s: float = UNARY_TIMEOUT_S,
        wait_for_ready: bool = False,
        **fields: Any,
    ) -> Any:
        """Make one unary call; `fields` fill its request. Returns the answer's message."""
        request, answer = self._types(service, method)
        remote = self._channel.unary_unary(
            f"/{service}/{method}",
            request_serializer=request.SerializeToString,
            response_deserializer=answer.FromString,
        )
        return remote(request(**fields), timeout=timeout_s, wait_for_ready=wait_for_ready)

    def events(self, timeout_s: float | None = None) -> EventStream:
        """Subscribe to GetContainerEvents now; the runtime ends it after `timeout_s`."""
        request, answer = self._types(RUNTIME, "GetContainerEvents")
        remote = self._channel.unary_stream(
            f"/{RUNTIME}/GetContainerEvents",
            request_serializer=request.SerializeToString,
            response_deserializer=answer.FromString,
        )
        # Before the call, whose own time begins in it.
        ends_at = math.inf if timeout_s is None else time.monotonic() + timeout_s
        return EventStream(remote(request(), timeout=timeout_s), ends_at)

    @staticmethod
    def _types(service: str, method: str) -> tuple[Any, Any]:
        found = descriptors().FindServiceByName(service).methods_by_name[method]
        get = message_factory.GetMessageClass
        return get(found.input_type), get(found.output_type)


class EventStream:
    """One subscription: an iterator of ContainerEventResponse messages.

    Iteration stops after `cancel`, after the `timeout_s` it was opened with, and when the
    runtime closes the stream; any other end is a `grpc.RpcError`. In ``with`` it is cancelled
    at the end.
    """

    def __init__(self, stream: Any, ends_at: float) -> None:
        """``ends_at``: on the monotonic clock (s), or infinite."""
        self._stream = stream
        self._ends_at = ends_at
        self._cancelled = False

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._stream
        except grpc.RpcError as error:
            if not (self._cancelled or self._is_over(error)):
                raise

    def cancel(self) -> None:
        """Leave the stream; may be called from another thread."""
        self._cancelled = True
        self._stream.cancel()

    def _is_over(self, error: grpc.RpcError) -> bool:
        """Whether the time is up: the runtime keeps it too, and its reset may come first."""
        if error.code() == grpc.StatusCode.CANCELLED:
            return time.monotonic() > self._ends_at - 0.25
        return error.code() == grpc.StatusCode.DEADLINE_EXCEEDED
