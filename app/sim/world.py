"""The runtime's world: which sandboxes and containers there are, and what it tells about them.

Pure and deterministic: no clock (``now`` is an argument, wall ns), no I/O, every random choice from
generators made of the seed, ids from the seed and the object's name. Operations are those of CRI's
RuntimeService, plus the ends that nobody asked for (a process exits, the pause process is killed).

Each operation publishes the events that the runtime's rules name, in the order in which containerd
and CRI-O do, after the change has become visible in lists. Some changes have no event at all, there
as here: a failed start, the end of a process while the runtime is down, and CRI-O's removals.
"""

from collections.abc import Callable

import msgspec

from app.sim.addresses import AddressesExhausted, PodAddresses
from app.sim.chance import generator
from app.sim.flavour import EventKind, RuntimeRules
from app.sim.flavours import CONTAINERD_2
from app.sim.inventory import ConflictError, Inventory, NotFoundError, WorldError
from app.sim.naming import Names, NameTakenError, digest
from app.sim.objects import Container, ContainerConfig, RuntimeEvent, Sandbox, SandboxConfig

__all__ = ["ConflictError", "NotFoundError", "Publish", "World", "WorldError"]

Publish = Callable[[RuntimeEvent], None]


class World(Inventory):
    """One node's runtime. ``publish`` gets every event, in order."""

    def __init__(
        self,
        seed: int,
        publish: Publish,
        rules: RuntimeRules = CONTAINERD_2,
        addresses: PodAddresses | None = None,
    ) -> None:
        super().__init__(seed, rules)
        self._publish = publish
        # A generator of its own, so that a client's lists cannot change what events look like.
        self._event_order = generator(seed, "event order")
        self._addresses = addresses or PodAddresses()
        self._names = Names(seed)
        self._seen: set[str] = set()
        """Ids of containers that lists show as exited, and of which STOPPED was not told yet."""
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
        self._put_sandbox(sandbox)
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
        container = self._new(self._names.reserve(name, now), sandbox, config, now)
        self._put_container(container)
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
        self._put_container(started)
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
        self._put_container(failed)
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
        self._put_container(exited)
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
        self._put_container(exited)
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
            self._put_sandbox(msgspec.structs.replace(sandbox, state="notready"))

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
            self._put_sandbox(stopped)
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
        self._drop_sandbox(sandbox)
        self._names.release(sandbox_id)
        claimed = self.rules.removed_created_at
        if claimed is not None:
            sandbox = msgspec.structs.replace(sandbox, created_at=claimed)
        for kind in self.rules.sandbox_removed:
            bare = self.rules.bare_removal
            self._publish(RuntimeEvent(kind, sandbox_id, now, sandbox, bare=bare))

    def owes_end(self, container_id: str) -> bool:
        """Whether STOPPED of such a container is still to be told; not a runtime's call."""
        return container_id in self._seen or self.is_running(container_id)

    # --------------------------------------------------------------------- helpers

    def _new(
        self, container_id: str, sandbox: Sandbox, config: ContainerConfig, now: int
    ) -> Container:
        content = digest(config.image)
        image_ref, image_id = f"sha256:{content}", ""
        if self.rules.names_images == "by name, digest and id":
            image_ref, image_id = f"{config.image}@sha256:{content}", content
        if self.rules.default_logs and not config.log_path:
            path = f"/var/log/pods/{sandbox.id}/{container_id}.log"
            config = msgspec.structs.replace(config, log_path=path)
        return Container(
            container_id,
            sandbox.id,
            config,
            "created",
            now,
            image_ref=image_ref,
            image_id=image_id,
        )

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
        self._drop_container(container)
        self._seen.discard(container.id)
        self._starting.discard(container.id)
        self._names.release(container.id)

    def _give_back(self, sandbox: Sandbox) -> None:
        if sandbox.ip:
            self._addresses.give_back(sandbox.ip)

    def _change(self, container: Container, kind: EventKind, now: int) -> Container:
        self._put_container(container)
        # Nothing is told of a container before its start.
        self.tell_started(container.id, now)
        self._tell(kind, container.id, self._sandboxes[container.sandbox_id], now)
        return container

    def _change_sandbox(self, sandbox: Sandbox, now: int) -> Sandbox:
        self._put_sandbox(sandbox)
        self._tell("stopped", sandbox.id, sandbox, now)
        return sandbox

    def _tell(self, kind: EventKind, container_id: str, sandbox: Sandbox, now: int) -> None:
        statuses = tuple(self._in_order(list(self.inside(sandbox.id)), self._event_order))
        self._publish(RuntimeEvent(kind, container_id, now, sandbox, statuses))
