"""Protobuf messages into the engine's words; unchanged rows of a listing into the same objects.

What never changes during a container's life (names, labels, times of creation) is read once per
id. After that a row costs reading its id and state and one look into a table, and the engine can
compare rows by identity.

Everything here comes from outside. Texts are kept but bounded; a row that cannot be placed is left
out and counted; a status that the kubelet's CRI client would refuse is refused.
"""

from app.cri.pb import cri_pb2
from app.cri.words import shorten
from app.engine.model import (
    ContainerEvent,
    ContainerStatus,
    Observation,
    RuntimeState,
    SandboxStatus,
)

MAX_NAME = 1024
"""Characters of an id, a name, a reason or an image."""

MAX_MESSAGE = 2048
"""Characters of a runtime's message about a container. It is in every record of its pod."""

MAX_IPS = 16

UID = "io.kubernetes.pod.uid"
NAME = "io.kubernetes.pod.name"
NAMESPACE = "io.kubernetes.pod.namespace"
CONTAINER_NAME = "io.kubernetes.container.name"

SANDBOX_STATES: dict[int, RuntimeState] = {
    cri_pb2.SANDBOX_READY: "ready",
    cri_pb2.SANDBOX_NOTREADY: "notready",
}
CONTAINER_STATES: dict[int, RuntimeState] = {
    cri_pb2.CONTAINER_CREATED: "created",
    cri_pb2.CONTAINER_RUNNING: "running",
    cri_pb2.CONTAINER_EXITED: "exited",
    cri_pb2.CONTAINER_UNKNOWN: "unknown",
}
EVENT_TYPES: dict[int, str] = {
    cri_pb2.CONTAINER_CREATED_EVENT: "created",
    cri_pb2.CONTAINER_STARTED_EVENT: "started",
    cri_pb2.CONTAINER_STOPPED_EVENT: "stopped",
    cri_pb2.CONTAINER_DELETED_EVENT: "deleted",
}

Rows = tuple[Observation, ...]


class InvalidStatus(ValueError):
    """A status that the kubelet's CRI client would not accept; says which field is missing."""


class Interner:
    """Turns listings into observations, the same object for a row that did not change.

    A state outside the known numbers is ``unknown``. Rows keep the order of the listing. A row
    without an id or metadata, a sandbox whose metadata or a container whose labels carry no pod
    UID, one whose id or UID is longer than ``MAX_NAME``, and a row whose id came before are left
    out and counted in ``skipped`` (kuberuntime leaves out what it cannot convert; a pod without a
    UID cannot be asked for again).
    """

    def __init__(self) -> None:
        self._sandboxes: dict[str, Observation] = {}
        self._containers: dict[str, Observation] = {}
        self.skipped = 0
        """Rows left out since the start."""

    def __len__(self) -> int:
        """Rows remembered."""
        return len(self._sandboxes) + len(self._containers)

    def sandboxes(self, answer: cri_pb2.ListPodSandboxResponse, *, full: bool) -> Rows:
        """The rows of ``ListPodSandbox``; after a ``full`` listing all others are forgotten."""
        known = self._sandboxes
        found: dict[str, Observation] = {}
        rows = answer.items
        for row in rows:
            row_id = row.id
            state = SANDBOX_STATES.get(row.state, "unknown")
            last = known.get(row_id)
            if last is None or last.runtime_state is not state:
                last = _sandbox(row, state) if last is None else _with_state(last, state)
                if last is None:
                    continue
            found[row_id] = last
        self.skipped += len(rows) - len(found)
        if full:
            self._sandboxes = found
        else:
            known.update(found)
        return tuple(found.values())

    def containers(self, answer: cri_pb2.ListContainersResponse, *, full: bool) -> Rows:
        """The rows of ``ListContainers``; after a ``full`` listing all others are forgotten."""
        known = self._containers
        found: dict[str, Observation] = {}
        rows = answer.containers
        for row in rows:
            row_id = row.id
            state = CONTAINER_STATES.get(row.state, "unknown")
            last = known.get(row_id)
            if last is None or last.runtime_state is not state:
                last = _container(row, state) if last is None else _with_state(last, state)
                if last is None:
                    continue
            found[row_id] = last
        self.skipped += len(rows) - len(found)
        if full:
            self._containers = found
        else:
            known.update(found)
        return tuple(found.values())


def _with_state(last: Observation, state: RuntimeState) -> Observation:
    return Observation(
        last.id,
        last.kind,
        last.pod_uid,
        last.pod_name,
        last.pod_namespace,
        last.name,
        last.attempt,
        state,
        last.created_at,
        last.sandbox_id,
    )


def _sandbox(row: cri_pb2.PodSandbox, state: RuntimeState) -> Observation | None:
    meta = row.metadata
    if not (_is_identity(row.id) and _is_identity(meta.uid)):
        return None
    return Observation(
        row.id,
        "sandbox",
        meta.uid,
        shorten(meta.name, MAX_NAME),
        shorten(meta.namespace, MAX_NAME),
        "",
        meta.attempt,
        state,
        row.created_at,
    )


def _is_identity(text: str) -> bool:
    """Whether something can be asked for by this; shortened, it would be another."""
    return 0 < len(text) <= MAX_NAME


def _container(row: cri_pb2.Container, state: RuntimeState) -> Observation | None:
    labels = row.labels
    uid = labels.get(UID, "")
    if not (_is_identity(row.id) and _is_identity(uid)) or not row.HasField("metadata"):
        return None
    return Observation(
        row.id,
        "container",
        uid,
        shorten(labels.get(NAME, ""), MAX_NAME),
        shorten(labels.get(NAMESPACE, ""), MAX_NAME),
        shorten(labels.get(CONTAINER_NAME, "") or row.metadata.name, MAX_NAME),
        row.metadata.attempt,
        state,
        row.created_at,
        shorten(row.pod_sandbox_id, MAX_NAME),
    )


def sandbox_status(answer: cri_pb2.PodSandboxStatusResponse) -> SandboxStatus:
    """``PodSandboxStatus`` as the engine keeps it; ``ips`` primary first.

    Raises:
        InvalidStatus: id, metadata (name, namespace, UID) or the time of creation is missing
            (cri-client's verifySandboxStatus).
    """
    status = answer.status
    meta = status.metadata
    _require(
        ("id", status.id),
        ("metadata.name", meta.name),
        ("metadata.namespace", meta.namespace),
        ("metadata.uid", meta.uid),
        ("created_at", status.created_at),
    )
    return _read_sandbox(status)


def _read_sandbox(status: cri_pb2.PodSandboxStatus) -> SandboxStatus:
    first = status.network.ip
    more = (ip.ip for ip in status.network.additional_ips[: MAX_IPS - 1])
    return SandboxStatus(
        shorten(status.id, MAX_NAME),
        status.metadata.attempt,
        SANDBOX_STATES.get(status.state, "unknown"),
        status.created_at,
        tuple(shorten(ip, MAX_NAME) for ip in (first, *more) if ip),
    )


def container_status(answer: cri_pb2.ContainerStatusResponse) -> ContainerStatus:
    """``ContainerStatus`` as the engine keeps it.

    Raises:
        InvalidStatus: id, name, time of creation or image is missing (cri-client's
            verifyContainerStatus).
    """
    status = answer.status
    _require(
        ("id", status.id),
        ("metadata.name", status.metadata.name),
        ("created_at", status.created_at),
        ("image", status.image.image),
        ("image_ref", status.image_ref),
    )
    return _read_container(status)


def _read_container(status: cri_pb2.ContainerStatus) -> ContainerStatus:
    state = CONTAINER_STATES.get(status.state, "unknown")
    exited = state == "exited"
    return ContainerStatus(
        id=shorten(status.id, MAX_NAME),
        name=shorten(status.labels.get(CONTAINER_NAME, "") or status.metadata.name, MAX_NAME),
        attempt=status.metadata.attempt,
        runtime_state=state,
        created_at=status.created_at,
        started_at=0 if state == "created" else status.started_at,
        finished_at=status.finished_at if exited else 0,
        exit_code=status.exit_code if exited else None,
        reason=shorten(status.reason, MAX_NAME) if exited else "",
        message=shorten(status.message, MAX_MESSAGE) if exited else "",
        image=shorten(status.image.user_specified_image or status.image.image, MAX_NAME),
    )


def _require(*fields: tuple[str, str | int]) -> None:
    missing = [name for name, value in fields if not value]
    if missing:
        raise InvalidStatus(f"the answer has no {', '.join(missing)}")


def event_key(message: cri_pb2.ContainerEventResponse) -> tuple[str, int, int]:
    """What tells one event from another: container id, type and the runtime's time."""
    return message.container_id, message.container_event_type, message.created_at


def event(
    message: cri_pb2.ContainerEventResponse, size: int = 0, *, payload: bool = False
) -> ContainerEvent:
    """A stream event in the few fields that matter; whether it can be used is the engine's say.

    With ``payload`` its statuses come along, for the one profile that believes them.
    """
    container_id = message.container_id
    number = message.container_event_type
    status = message.pod_sandbox_status
    meta = status.metadata
    name, exit_code, reason, finished_at = "", None, "", 0
    for one in message.containers_statuses:
        if one.id == container_id:
            name = shorten(one.metadata.name, MAX_NAME)
            if one.state == cri_pb2.CONTAINER_EXITED:
                exit_code = one.exit_code
                reason = shorten(one.reason, MAX_NAME)
                finished_at = one.finished_at
            break
    return ContainerEvent(
        type=EVENT_TYPES.get(number) or f"unknown({number})",
        container_id=shorten(container_id, MAX_NAME),
        created_at=message.created_at,
        has_sandbox_status=message.HasField("pod_sandbox_status"),
        has_metadata=status.HasField("metadata"),
        pod_uid=shorten(meta.uid, MAX_NAME),
        pod_name=shorten(meta.name, MAX_NAME),
        pod_namespace=shorten(meta.namespace, MAX_NAME),
        sandbox_id=shorten(status.id, MAX_NAME),
        container_name=name,
        exit_code=exit_code,
        reason=reason,
        finished_at=finished_at,
        size=size,
        sandbox=_read_sandbox(status)
        if payload and message.HasField("pod_sandbox_status")
        else None,
        containers=tuple(map(_read_container, message.containers_statuses)) if payload else (),
    )
