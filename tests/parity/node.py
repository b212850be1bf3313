"""What the scenarios need of a node, simulated or real, and ears for what its runtime tells."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import grpc

from tests.lab.cri import EventStream, enum_names
from tests.lab.kubelet import Pod
from tests.lab.pods import Pods
from tests.parity.families import Family

DEADLINE_S = 60.0


class Node(Protocol):
    """A node whose runtime is of a family. ``pods`` is a client of its socket."""

    family: Family
    pods: Pods

    def kill(self, container_id: str) -> None:
        """SIGKILL from outside to a container's process."""
        ...

    def killer(self, container_id: str) -> Callable[[], None]:
        """``kill`` for later, when the runtime cannot be asked which process it is."""
        ...

    def wait_for_handler(self, container_id: str) -> None:
        """Return when a container's process has set its handler of SIGTERM."""
        ...

    def kill_pause(self, sandbox_id: str) -> None:
        """SIGKILL from outside to a sandbox's own process."""
        ...

    def restart(self, meanwhile: str = "") -> None:
        """Stop the runtime and start it again; ``meanwhile`` this container's process is killed."""
        ...

    def freeze(self) -> None:
        """SIGSTOP to the runtime."""
        ...

    def thaw(self) -> None:
        """SIGCONT to the runtime."""
        ...


class Ear:
    """Reads a subscription in a thread. ``end``: how it ended, EOF or a gRPC code; "" before."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream
        self._heard = threading.Condition()
        self._events: list[Any] = []
        self.end = ""
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def wait(self, true: Callable[[list[Any]], bool], what: str) -> list[Any]:
        """All events so far, as soon as it is so of them."""
        with self._heard:
            there = self._heard.wait_for(lambda: true(self._events), DEADLINE_S)
            assert there, f"waited in vain for {what}: {[kind_of(one) for one in self._events]}"
            return list(self._events)

    def ended(self) -> str:
        """How the stream has ended, as soon as it has."""
        with self._heard:
            assert self._heard.wait_for(lambda: bool(self.end), DEADLINE_S), "it did not end"
        return self.end

    def leave(self) -> None:
        """Leave the stream; returns when it is closed."""
        self._stream.cancel()
        self._thread.join(DEADLINE_S)

    def _listen(self) -> None:
        end = "EOF"
        try:
            for event in self._stream:
                with self._heard:
                    self._events.append(event)
                    self._heard.notify_all()
        except grpc.RpcError as error:
            end = error.code().name
        with self._heard:
            self.end = end
            self._heard.notify_all()


class Silence(Ear):
    """The ear on a runtime without a stream: it hears nothing, and that at once."""

    def wait(self, true: Callable[[list[Any]], bool], what: str) -> list[Any]:
        """Nothing."""
        assert self.ended() == "UNIMPLEMENTED"
        return []


@contextlib.contextmanager
def listening(node: Node) -> Iterator[Ear]:
    """Subscribe, for as long as the context lasts."""
    kind = Ear if node.family.stream else Silence
    ear = kind(node.pods.events(4 * DEADLINE_S))
    # On the same connection, so the subscription came first.
    node.pods.listing()
    try:
        yield ear
    finally:
        ear.leave()


def kind_of(event: Any) -> str:
    """CREATED, STARTED, STOPPED or DELETED."""
    name = enum_names("ContainerEventType")[event.container_event_type]
    return name.removeprefix("CONTAINER_").removesuffix("_EVENT")


def carried(event: Any) -> dict[str, str]:
    """The states that an event carries, by container id: CREATED, RUNNING, EXITED."""
    names = enum_names("ContainerState")
    return {
        one.id: names[one.state].removeprefix("CONTAINER_") for one in event.containers_statuses
    }


def box_state(event: Any) -> str:
    """The state of the sandbox that an event carries: READY or NOTREADY."""
    return enum_names("PodSandboxState")[event.pod_sandbox_status.state].removeprefix("SANDBOX_")


def told(node: Node, ear: Ear, *pods: Pod) -> list[tuple[str, str]]:
    """What was told of these pods, to the end: kind, and ``box`` or the container's name.

    A pod made afterwards is the end: what came before its first event is everything.
    """
    names = {pod.sandbox_id: f"box {pod.name}" if len(pods) > 1 else "box" for pod in pods}
    for pod in pods:
        for number, container_id in enumerate(pod.container_ids):
            prefix = f"{pod.name} " if len(pods) > 1 else ""
            names[container_id] = f"{prefix}c{number}"
    return [
        (kind_of(event), names[event.container_id])
        for event in everything(node, ear)
        if event.container_id in names
    ]


def everything(node: Node, ear: Ear) -> list[Any]:
    """All events so far."""
    after = node.pods.create("after", containers=0)
    heard = ear.wait(
        lambda events: any(one.container_id == after.sandbox_id for one in events), "the last pod"
    )
    node.pods.remove(after)
    return [one for one in heard if one.container_id != after.sandbox_id]


def until(true: Callable[[], bool], what: str) -> None:
    """Ask again and again until it is so."""
    deadline = time.monotonic() + DEADLINE_S
    while not true():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.002)


def run(node: Node, command: Sequence[str], **more: Any) -> tuple[Pod, str]:
    """A pod whose container runs this, and the container's id."""
    pod = node.pods.run("web", command, **more)
    return pod, pod.container_ids[0]
