"""The bare loop that ``watch`` is compared with: the two list calls each second, and no more.

As cheap as it can be made with the same libraries: ``grpc.aio`` on uvloop, the answers parsed and
thrown away. Says ``ready`` after the first round.
"""

from __future__ import annotations

import asyncio
import sys

import grpc
import uvloop

from app.cri.pb import cri_pb2

SERVICE = "/runtime.v1.RuntimeService"
OPTIONS = (
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    ("grpc.default_authority", "localhost"),
)


async def poll(endpoint: str) -> None:
    """Until the process is ended."""
    async with grpc.aio.insecure_channel(endpoint, options=OPTIONS) as channel:
        sandboxes = channel.unary_unary(
            f"{SERVICE}/ListPodSandbox",
            request_serializer=cri_pb2.ListPodSandboxRequest.SerializeToString,
            response_deserializer=cri_pb2.ListPodSandboxResponse.FromString,
        )
        containers = channel.unary_unary(
            f"{SERVICE}/ListContainers",
            request_serializer=cri_pb2.ListContainersRequest.SerializeToString,
            response_deserializer=cri_pb2.ListContainersResponse.FromString,
        )
        ready = False
        while True:
            await sandboxes(cri_pb2.ListPodSandboxRequest())
            await containers(cri_pb2.ListContainersRequest())
            if not ready:
                ready = True
                print("ready", flush=True)
            await asyncio.sleep(1)


if __name__ == "__main__":
    uvloop.run(poll(sys.argv[1]))
