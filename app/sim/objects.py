"""What lives in the simulated runtime: sandboxes, containers, and the events about them.

All of it is immutable: a change makes a new object, so an event keeps the picture of its moment.
Times are wall-clock ns since 1970; 0 means the step has not happened.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from app.sim.flavour import EventKind

ContainerState = Literal["created", "running", "exited", "unknown"]
SandboxState = Literal["ready", "notready"]


class SandboxConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What a kubelet asks of RunPodSandbox."""

    name: str
    uid: str
    namespace: str
    attempt: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    host_network: bool = False


class ContainerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What a kubelet asks of CreateContainer.

    ``cannot_start``: why its program cannot be started; empty when it can.
    """

    name: str
    image: str
    cannot_start: str = ""
    attempt: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    log_path: str = ""


class Sandbox(msgspec.Struct, frozen=True):
    """A pod sandbox; ``ip`` is empty on the node's network and once its network is torn down."""

    id: str
    config: SandboxConfig
    state: SandboxState
    created_at: int
    ip: str = ""


class Container(msgspec.Struct, frozen=True):
    """A container; exit code, reason and message mean something once it has exited.

    ``image_ref`` and ``image_id``: what the runtime calls its image's content; the id may be empty.
    """

    id: str
    sandbox_id: str
    config: ContainerConfig
    state: ContainerState
    created_at: int
    started_at: int = 0
    finished_at: int = 0
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    image_ref: str = ""
    image_id: str = ""


class RuntimeEvent(msgspec.Struct, frozen=True):
    """What the runtime says: ``container_id`` is the sandbox's own for what happens to that.

    ``created_at`` is when the runtime made the event. ``containers``: all of the sandbox then.
    ``bare``: of all this only id, kind and time are told (containerd 1.7, when a sandbox is gone).
    """

    kind: EventKind
    container_id: str
    created_at: int
    sandbox: Sandbox
    containers: tuple[Container, ...] = ()
    bare: bool = False


class SandboxFilter(msgspec.Struct, frozen=True):
    """CRI PodSandboxFilter: all that is given must hold; ``id`` may be the beginning of one."""

    id: str = ""
    state: SandboxState | None = None
    labels: dict[str, str] = {}

    def admits(self, one: Sandbox) -> bool:
        """Whether this sandbox is wanted."""
        return (
            one.id.startswith(self.id)
            and self.state in (None, one.state)
            and _has(one.config.labels, self.labels)
        )


class ContainerFilter(msgspec.Struct, frozen=True):
    """CRI ContainerFilter: all that is given must hold; ids may be the beginning of one."""

    id: str = ""
    sandbox_id: str = ""
    state: ContainerState | None = None
    labels: dict[str, str] = {}

    def admits(self, one: Container) -> bool:
        """Whether this container is wanted."""
        return (
            one.id.startswith(self.id)
            and one.sandbox_id.startswith(self.sandbox_id)
            and self.state in (None, one.state)
            and _has(one.config.labels, self.labels)
        )


def _has(labels: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in wanted.items())
