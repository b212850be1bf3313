"""What is in the runtime: sandboxes and containers, by id and by pod, as lists and statuses tell.

The part of the world that is looked at. What changes it, and what is told of that, is in
``world.py``.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Protocol, TypeVar

from app.sim.chance import generator
from app.sim.flavour import RuntimeRules
from app.sim.objects import Container, ContainerFilter, Sandbox, SandboxFilter

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


class Inventory:
    """Sandboxes and containers of one runtime, in the order in which it gives them."""

    def __init__(self, seed: int, rules: RuntimeRules) -> None:
        self.rules = rules
        self._list_order = generator(seed, "list order")
        self._sandboxes: dict[str, Sandbox] = {}
        self._containers: dict[str, Container] = {}
        self._inside: dict[str, list[str]] = {}
        """Sandbox id -> ids of its containers, oldest first."""
        self._pods: dict[str, list[str]] = {}
        """Pod UID -> ids of its sandboxes, oldest first."""
        self.on_change: list[Callable[[str], None]] = []
        """Called with the id of each sandbox or container that a list now shows otherwise."""

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

    @property
    def count(self) -> int:
        """How many containers there are; not a runtime's call."""
        return len(self._containers)

    @property
    def size(self) -> int:
        """How many containers and sandboxes there are; not a runtime's call."""
        return len(self._containers) + len(self._sandboxes)

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

    # --------------------------------------------------------------------- changes

    def _put_sandbox(self, sandbox: Sandbox) -> None:
        """A new one, or another state of one that is there."""
        if sandbox.id not in self._sandboxes:
            self._inside[sandbox.id] = []
            self._pods.setdefault(sandbox.config.uid, []).append(sandbox.id)
        self._sandboxes[sandbox.id] = sandbox
        self._touch(sandbox.id)

    def _put_container(self, container: Container) -> None:
        """A new one, or another state of one that is there."""
        if container.id not in self._containers:
            self._inside[container.sandbox_id].append(container.id)
        self._containers[container.id] = container
        self._touch(container.id)

    def _drop_sandbox(self, sandbox: Sandbox) -> None:
        """One in which nothing is left."""
        del self._sandboxes[sandbox.id]
        del self._inside[sandbox.id]
        of_pod = self._pods[sandbox.config.uid]
        of_pod.remove(sandbox.id)
        if not of_pod:
            del self._pods[sandbox.config.uid]
        self._touch(sandbox.id)

    def _drop_container(self, container: Container) -> None:
        del self._containers[container.id]
        self._inside[container.sandbox_id].remove(container.id)
        self._touch(container.id)

    def _touch(self, item_id: str) -> None:
        for call in self.on_change:
            call(item_id)

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
