"""The runtime's world: which sandboxes and containers there are, and what it tells about them.

Pure and deterministic: no clock (``now`` is an argument, wall ns), no I/O, every random choice from
generators made of the seed, ids from the seed and the object's name. Operations are those of CRI's
RuntimeService, plus the ends that nobody asked for (a process exits, the pause process is killed).

Each operation publishes the events that the runtime's rules name, in the order in which containerd
and CRI-O do, after the change has become visible in lists. Some changes have no event at all, there
as here: a failed start, the end of a process while the runtime is down, and CRI-O's removals.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Protocol, TypeVar

import msgspec

from app.sim.addresses import AddressesExhausted, PodAddresses
from app.sim.chance import generator
from app.sim.flavour import EventKind, RuntimeRules
from app.sim.flavours import CONTAINERD_2
from app.sim.naming import Names, NameTakenError
from app.sim.objects import (
    Container,
    ContainerConfig,
    ContainerFilter,
    RuntimeEvent,
    Sandbox,
    SandboxConfig,
    SandboxFilter,
)

Publish = Callable[[RuntimeEvent], None]

FEW = 16
"""Lists up to this length come in any order, longer ones begin anywhere."""


class WorldError(Exception):
    """The runtime refuses; the text is what it would answer."""


class NotFoundError(WorldError):
    """There is no such sandbox or container (gRPC NOT_FOUND)."""


class ConflictError(WorldError):
    """The object's state does not allow this, or its name is taken."""


class _Named(Protocol):
    @property
    def id(self) -> str: ...


N = TypeVar("N", bound=_Named)
T = TypeVar("T")


class World:
    """One node's runtime. ``publish`` gets every event, in order."""

    def __init__(
        self,
        seed: int,
        publish: Publish,
        rules: RuntimeRules = CONTAINERD_2,
        addresses: PodAddresses | None = None,
    ) -> None:
        self.rules = rules
        self._publish = publish
        # Two generators, so that a client's lists cannot change what later events look like.
        self._event_order = generator(seed, "event order")
        self._list_order = generator(seed, "list order")
        self._addresses = addresses or PodAddresses()
        self._sandboxes: dict[str, Sandbox] = {}
        self._containers: dict[str, Container] = {}
        self._inside: dict[str, list[str]] = {}
        """Sandbox id -> ids of its containers, oldest first."""
        self._pods: dict[str, list[str]] = {}
        """Pod UID -> ids of its sandboxes, oldest first."""
        self._names = Names(seed)
        self._seen: set[str] = set()
        """Ids of containers that lists show as exited, and of which STOPPED was not told yet."""
        self.on_change: list[Callable[[str], None]] = []
        """Called with the id of each sandbox or container that a list now shows otherwise."""
        self._starting: set[str] = set()
        """Ids of started containers of which STARTED was not told yet."""
        self.tell_later: Callable[[str], None] | None = None
        """Takes the id of a container that was started; is to call ``tell_started`` later. None:
        its event is told at once."""

    # ------------------------------------------------------------------ operations

    def run_sandbox(self, config: SandboxConfig, now: int) -> Sandbox:
        """RunPodSandbox. Events: CREATED and STARTED of the sandbox (CRI-O: STARTED only).

        Raises:
            ConflictError: this attempt of this pod exists.
            WorldError: no pod address is left.
        """
        name = f"{config.name}_{config.namespace}_{config.uid}_{config.attempt}"
        self._check_name(name)
        if self.rules.sandbox_labels:
            labels = config.labels | self.rules.sandbox_labels
            config = msgspec.structs.replace(config, labels=labels)
        ip = "" if config.host_network else self._take_address()
        sandbox = Sandbox(self._names.reserve(name, now), config, "ready", now, ip)
        self._sandboxes[sandbox.id] = sandbox
        self._inside[sandbox.id] = []
        self._pods.setdefault(config.uid, []).append(sandbox.id)
        self._touch(sandbox.id)
        for kind in self.rules.sandbox_run:
            self._tell(kind, sandbox.id, sandbox, now)
        return sandbox

    def create_container(self, sandbox_id: str, config: ContainerConfig, now: int) -> Container:
        """CreateContainer. Event: CREATED.

        Raises:
            NotFoundError: no such sandbox.
            ConflictError: the sandbox is not ready, or this attempt exists.
            WorldError: its program cannot be started (CRI-O, which leaves nothing behind).
        """
        sandbox = self.sandbox(sandbox_id)
        if sandbox.state != "ready":
            raise ConflictError(f"sandbox {sandbox.id} is not running")
        if config.cannot_start and self.rules.start_fails_in == "create":
            raise WorldError(f"container create failed: {config.cannot_start}")
        pod = sandbox.config
        name = f"{config.name}_{pod.name}_{pod.namespace}_{pod.uid}_{config.attempt}"
        self._check_name(name)
        container = Container(self._names.reserve(name, now), sandbox.id, config, "created", now)
        self._containers[container.id] = container
        self._inside[sandbox.id].append(container.id)
        self._touch(container.id)
        self._tell("created", container.id, sandbox, now)
        return container

    def start_container(self, container_id: str, now: int) -> Container:
        """StartContainer. Event: STARTED.

        Raises:
            NotFoundError: no such container.
            ConflictError: it is not in state created.
            WorldError: its program cannot be started; the container is EXITED then.
        """
        container = self._in_state(container_id, "created")
        refused = container.config.cannot_start
        if refused:
            text = f"failed to create containerd task: {refused}"
            self.fail_start(container_id, text, now)
            raise WorldError(text)
        started = msgspec.structs.replace(container, state="running", started_at=now)
        if self.rules.started_lag is None or self.tell_later is None:
            return self._change(started, "started", now)
        self._replace(started)
        self._starting.add(container.id)
        self.tell_later(container.id)
        return started

    def tell_started(self, container_id: str, now: int) -> None:
        """The event of a start that is told later: STARTED, with whatever state there is now.

        Nothing happens when it was told already, or the container is gone.
        """
        if container_id in self._starting:
            self._starting.remove(container_id)
            container = self._containers[container_id]
            self._tell("started", container_id, self._sandboxes[container.sandbox_id], now)

    def forget_start(self, container_id: str) -> None:
        """The event of a start that was to be told later is lost: the runtime is down."""
        self._starting.discard(container_id)

    def fail_start(self, container_id: str, message: str, now: int) -> Container:
        """StartContainer that fails: EXITED 128 ``StartError``, and **no** event."""
        container = self._in_state(container_id, "created")
        failed = msgspec.structs.replace(
            container,
            state="exited",
            finished_at=now,
            exit_code=128,
            reason="StartError",
            message=message,
        )
        self._replace(failed)
        return failed

    def exit_container(
        self, container_id: str, exit_code: int, reason: str, finished_at: int, now: int
    ) -> Container:
        """The runtime has noticed that a process ended at ``finished_at``. Event: STOPPED.

        Raises:
            NotFoundError: no such container.
            ConflictError: it is not running, and it was not just seen to have ended.
        """
        if container_id in self._seen:
            self._seen.remove(container_id)
            return self._change(self._containers[container_id], "stopped", now)
        return self._change(
            self._ended(container_id, exit_code, reason, finished_at), "stopped", now
        )

    def see_exit(
        self, container_id: str, exit_code: int, reason: str, finished_at: int
    ) -> Container:
        """The runtime, looking for something else, sees that a process has ended: lists show it.

        The event follows with ``exit_container``.

        Raises:
            NotFoundError: no such container.
            ConflictError: it is not running.
        """
        exited = self._ended(container_id, exit_code, reason, finished_at)
        self._replace(exited)
        self._seen.add(container_id)
        return exited

    def overlook_exit(
        self, container_id: str, exit_code: int, reason: str, finished_at: int, now: int
    ) -> Container:
        """The process ended thus while the runtime was down, and there is **no** event.

        containerd since 1.7 does not know how: EXITED 255 ``Unknown``, and it takes the time of its
        own return (``now``) for the end.

        Raises:
            NotFoundError: no such container.
            ConflictError: it is not running.
        """
        if self.rules.overlooked == "unknown":
            exit_code, reason, finished_at = 255, "Unknown", now
        exited = self._ended(container_id, exit_code, reason, finished_at)
        self._replace(exited)
        return exited

    def remove_container(self, container_id: str, now: int) -> None:
        """RemoveContainer; a running one is killed first, a missing one is no error.

        Events: STOPPED if it ran, then DELETED, which no longer lists it.
        """
        container = self._containers.get(container_id)
        if container is None:
            return
        self._kill(container, now)
        self._drop(container)
        self._tell("deleted", container_id, self._sandboxes[container.sandbox_id], now)

    def exit_sandbox(self, sandbox_id: str, now: int) -> Sandbox:
        """The pause process ended. Event: STOPPED of the sandbox; its containers run on.

        Raises:
            NotFoundError: no such sandbox.
        """
        sandbox = self.sandbox(sandbox_id)
        if sandbox.state == "notready":
            return sandbox
        return self._change_sandbox(msgspec.structs.replace(sandbox, state="notready"), now)

    def overlook_sandbox_exit(self, sandbox_id: str) -> None:
        """The pause process ended while the runtime was down: not ready, and **no** event."""
        sandbox = self._sandboxes.get(sandbox_id)
        if sandbox is not None and sandbox.state == "ready":
            self._sandboxes[sandbox_id] = msgspec.structs.replace(sandbox, state="notready")
            self._touch(sandbox_id)

    def stop_sandbox(self, sandbox_id: str, now: int) -> Sandbox:
        """StopPodSandbox, which also tears the network down; done twice it is no error.

        Events: STOPPED of each container that ran, then of the sandbox.

        Raises:
            NotFoundError: no such sandbox.
        """
        sandbox = self.sandbox(sandbox_id)
        for container_id in tuple(self._inside[sandbox.id]):
            self._kill(self._containers[container_id], now)
        self._give_back(sandbox)
        stopped = msgspec.structs.replace(sandbox, state="notready", ip="")
        if sandbox.state == "notready":
            self._sandboxes[sandbox.id] = stopped
            self._touch(sandbox.id)
            return stopped
        return self._change_sandbox(stopped, now)

    def remove_sandbox(self, sandbox_id: str, now: int) -> None:
        """RemovePodSandbox; stops it first, and a missing one is no error.

        Events: those of the stop, DELETED of each container, DELETED of the sandbox. CRI-O: none at
        all.
        """
        if sandbox_id not in self._sandboxes:
            return
        quiet = self.rules.quiet_removal
        if quiet:
            sandbox = self._sandboxes[sandbox_id]
            self._give_back(sandbox)
            for container_id in tuple(self._inside[sandbox_id]):
                self._drop(self._containers[container_id])
        else:
            sandbox = self.stop_sandbox(sandbox_id, now)
            for container_id in tuple(self._inside[sandbox_id]):
                self.remove_container(container_id, now)
        del self._sandboxes[sandbox_id]
        del self._inside[sandbox_id]
        self._pods[sandbox.config.uid].remove(sandbox_id)
        if not self._pods[sandbox.config.uid]:
            del self._pods[sandbox.config.uid]
        self._touch(sandbox_id)
        self._names.release(sandbox_id)
        claimed = self.rules.removed_created_at
        if claimed is not None:
            sandbox = msgspec.structs.replace(sandbox, created_at=claimed)
        for kind in self.rules.sandbox_removed:
            bare = self.rules.bare_removal
            self._publish(RuntimeEvent(kind, sandbox_id, now, sandbox, bare=bare))

    # --------------------------------------------------------------------- queries

    def sandbox(self, id_or_prefix: str) -> Sandbox:
        """PodSandboxStatus.

        Raises:
            NotFoundError: no or no single sandbox has such an id.
        """
        return _find(self._sandboxes, id_or_prefix, "sandbox")

    def container(self, id_or_prefix: str) -> Container:
        """ContainerStatus.

        Raises:
            NotFoundError: no or no single container has such an id.
        """
        return _find(self._containers, id_or_prefix, "container")

    def sandboxes(self, wanted: SandboxFilter | None = None) -> list[Sandbox]:
        """ListPodSandbox, in the runtime's order."""
        everything = self._sandboxes.values()
        found = [one for one in everything if wanted is None or wanted.admits(one)]
        return self._in_order(found, self._list_order)

    def containers(self, wanted: ContainerFilter | None = None) -> list[Container]:
        """ListContainers, in the runtime's order."""
        everything = self._containers.values()
        found = [one for one in everything if wanted is None or wanted.admits(one)]
        return self._in_order(found, self._list_order)

    def is_running(self, container_id: str) -> bool:
        """Whether there is such a container and it runs; not a runtime's call."""
        container = self._containers.get(container_id)
        return container is not None and container.state == "running"

    def owes_end(self, container_id: str) -> bool:
        """Whether STOPPED of such a container is still to be told; not a runtime's call."""
        return container_id in self._seen or self.is_running(container_id)

    @property
    def count(self) -> int:
        """How many containers there are; not a runtime's call."""
        return len(self._containers)

    def everything(self) -> tuple[Container, ...]:
        """All containers, oldest first; not a runtime's call."""
        return tuple(self._containers.values())

    def pods(self) -> tuple[str, ...]:
        """The UIDs of all pods that have a sandbox; not a runtime's call."""
        return tuple(self._pods)

    def pod_sandboxes(self, uid: str) -> list[Sandbox]:
        """The sandboxes of one pod, oldest first; not a runtime's call."""
        return [self._sandboxes[one] for one in self._pods.get(uid, ())]

    def pod_containers(self, uid: str) -> list[Container]:
        """The containers of one pod, sandbox by sandbox, oldest first; not a runtime's call."""
        return [
            self._containers[container_id]
            for sandbox_id in self._pods.get(uid, ())
            for container_id in self._inside[sandbox_id]
        ]

    def inside(self, sandbox_id: str) -> tuple[Container, ...]:
        """The containers of one sandbox, oldest first; not a runtime's call."""
        return tuple(self._containers[one] for one in self._inside.get(sandbox_id, ()))

    def look_up(self, item_id: str) -> Sandbox | Container | None:
        """The sandbox or container of exactly this id; not a runtime's call."""
        return self._sandboxes.get(item_id) or self._containers.get(item_id)

    def listing_order(self, items: list[T]) -> list[T]:
        """These in the order in which a list would give them; not a runtime's call."""
        return self._in_order(items, self._list_order)

    # --------------------------------------------------------------------- helpers

    def _touch(self, item_id: str) -> None:
        for call in self.on_change:
            call(item_id)

    def _take_address(self) -> str:
        try:
            return self._addresses.take()
        except AddressesExhausted as error:
            raise WorldError(f"failed to setup network for sandbox: {error}") from error

    def _check_name(self, name: str) -> None:
        try:
            self._names.check(name)
        except NameTakenError as error:
            raise ConflictError(str(error)) from error

    def _in_state(self, container_id: str, state: str) -> Container:
        container = self.container(container_id)
        if container.state != state:
            raise ConflictError(
                f"container {container.id} is in state {container.state}, not {state}"
            )
        return container

    def _ended(self, container_id: str, exit_code: int, reason: str, finished_at: int) -> Container:
        return msgspec.structs.replace(
            self._in_state(container_id, "running"),
            state="exited",
            finished_at=finished_at,
            exit_code=exit_code,
            reason=reason,
        )

    def _kill(self, container: Container, now: int) -> None:
        if container.state == "running" or container.id in self._seen:
            self.exit_container(container.id, 137, "Error", now, now)

    def _drop(self, container: Container) -> None:
        del self._containers[container.id]
        self._inside[container.sandbox_id].remove(container.id)
        self._seen.discard(container.id)
        self._starting.discard(container.id)
        self._touch(container.id)
        self._names.release(container.id)

    def _give_back(self, sandbox: Sandbox) -> None:
        if sandbox.ip:
            self._addresses.give_back(sandbox.ip)

    def _replace(self, container: Container) -> None:
        self._containers[container.id] = container
        self._touch(container.id)

    def _change(self, container: Container, kind: EventKind, now: int) -> Container:
        self._replace(container)
        # Nothing is told of a container before its start.
        self.tell_started(container.id, now)
        self._tell(kind, container.id, self._sandboxes[container.sandbox_id], now)
        return container

    def _change_sandbox(self, sandbox: Sandbox, now: int) -> Sandbox:
        self._sandboxes[sandbox.id] = sandbox
        self._touch(sandbox.id)
        self._tell("stopped", sandbox.id, sandbox, now)
        return sandbox

    def _tell(self, kind: EventKind, container_id: str, sandbox: Sandbox, now: int) -> None:
        inside = [self._containers[one] for one in self._inside[sandbox.id]]
        statuses = tuple(self._in_order(inside, self._event_order))
        self._publish(RuntimeEvent(kind, container_id, now, sandbox, statuses))

    def _in_order(self, items: list[T], rng: Random) -> list[T]:
        if self.rules.order == "newest-first":
            return items[::-1]
        if len(items) <= FEW:
            rng.shuffle(items)
            return items
        # As Go's maps do it: begin anywhere, and go round. A shuffle costs as much as a relist.
        begin = int(rng.random() * len(items))
        return items[begin:] + items[:begin]


def _find(items: Mapping[str, N], id_or_prefix: str, what: str) -> N:
    exact = items.get(id_or_prefix)
    if exact is not None:
        return exact
    similar = [one for one in items.values() if one.id.startswith(id_or_prefix or "-")]
    if len(similar) != 1:
        raise NotFoundError(
            f'an error occurred when try to find {what} "{id_or_prefix}": not found'
        )
    return similar[0]
