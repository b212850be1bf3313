"""What the engine knows about pods, containers and sandboxes.

Two families: an *observation* is one row of a listing (who, in which state); a *status* is what an
inspection of one pod returned (exit codes, times, IPs). Times named ``*_at`` are wall-clock
nanoseconds since 1970 as the runtime wrote them; times named ``t`` or ``*_t`` are monotonic
nanoseconds of the session.
"""

from typing import Literal

import msgspec

State = Literal["running", "exited", "unknown", "non-existent"]
"""The four states Generic PLEG compares (kubelet pleg/generic.go)."""

RuntimeState = Literal["created", "running", "exited", "unknown", "ready", "notready"]
"""A container's or a sandbox's state in the runtime's own word (CRI ContainerState,
PodSandboxState)."""

ItemKind = Literal["container", "sandbox"]

RelistSource = Literal["post_sync", "post_allocation", "evented_pleg", "global"]
"""Who asked for a relist; the label of ``kubelet_pleg_events_total`` (KEP-3386, Design Details)."""

EventType = Literal[
    "ContainerStarted", "ContainerDied", "ContainerRemoved", "PodSync", "ContainerChanged"
]
"""The kubelet's lifecycle event types; ``ContainerChanged`` never leaves PLEG."""

PLEG_STATE: dict[RuntimeState, State] = {
    "created": "unknown",
    "running": "running",
    "exited": "exited",
    "unknown": "unknown",
    "ready": "running",
    "notready": "exited",
}
"""kubelet pleg/generic.go: a CREATED container counts as unknown, a READY sandbox as running."""


class Observation(msgspec.Struct, frozen=True, gc=False):
    """One container or sandbox as a listing shows it.

    The CRI boundary interns these: as long as nothing changed, the same object comes back from
    listing to listing, so an unchanged row costs one identity comparison.
    """

    id: str
    kind: ItemKind
    pod_uid: str
    pod_name: str
    pod_namespace: str
    name: str
    """Container name; empty for a sandbox."""
    attempt: int
    runtime_state: RuntimeState
    created_at: int
    sandbox_id: str = ""
    """The sandbox a container lives in; empty for a sandbox."""

    @property
    def state(self) -> State:
        """The state Generic PLEG compares."""
        return PLEG_STATE[self.runtime_state]


class ContainerStatus(msgspec.Struct, frozen=True, gc=False):
    """One container as ``ContainerStatus`` answered.

    ``finished_at``, ``exit_code``, ``reason`` and ``message`` count only when the container has
    exited (kuberuntime's conversion); otherwise they are 0, None and empty.
    """

    id: str
    name: str
    attempt: int
    runtime_state: RuntimeState
    created_at: int
    started_at: int = 0
    finished_at: int = 0
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    image: str = ""


class SandboxStatus(msgspec.Struct, frozen=True, gc=False):
    """One sandbox as ``PodSandboxStatus`` answered; ``ips`` primary first, unparsed."""

    id: str
    attempt: int
    runtime_state: RuntimeState
    created_at: int
    ips: tuple[str, ...] = ()


class PodStatus(msgspec.Struct, frozen=True):
    """A pod as the pod cache holds it: newest container and sandbox first."""

    uid: str
    name: str = ""
    namespace: str = ""
    ips: tuple[str, ...] = ()
    containers: tuple[ContainerStatus, ...] = ()
    sandboxes: tuple[SandboxStatus, ...] = ()


class CallCost(msgspec.Struct, frozen=True, gc=False):
    """One runtime call that was made: CRI method name and how long it took (ns)."""

    method: str
    duration_ns: int


class ContainerEvent(msgspec.Struct, frozen=True, gc=False):
    """A ``ContainerEventResponse`` in the few fields that matter, not yet validated.

    ``type`` is ``created``, ``started``, ``stopped``, ``deleted`` or ``unknown(N)`` for a number
    this version does not know. What the payload says of the container's state (``exit_code``,
    ``reason``, ``finished_at``) is shown to the reader and never used as state (KEP-3386). The
    whole payload (``sandbox``, ``containers``) is there only for the design before the revision.
    """

    type: str
    container_id: str
    created_at: int
    has_sandbox_status: bool
    has_metadata: bool
    pod_uid: str = ""
    pod_name: str = ""
    pod_namespace: str = ""
    sandbox_id: str = ""
    container_name: str = ""
    exit_code: int | None = None
    reason: str = ""
    finished_at: int = 0
    size: int = 0
    """Bytes of the message on the wire; 0 when not known."""
    sandbox: SandboxStatus | None = None
    containers: tuple[ContainerStatus, ...] = ()
