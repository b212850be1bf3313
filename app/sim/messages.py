"""From the world's objects to CRI messages (``proto/cri.proto``).

The fields that were seen in real ones are filled, and no others: a sandbox on the node's network
has an empty ``network``, a row names a container's image by digest as a kubelet asked for it, a
status by name, ``image_id`` is CRI-O's. Times are ns since 1970.
"""

from app.cri.pb import cri_pb2 as pb
from app.sim.flavour import EventKind
from app.sim.naming import digest
from app.sim.objects import (
    Container,
    ContainerState,
    RuntimeEvent,
    Sandbox,
    SandboxConfig,
    SandboxState,
)

SANDBOX_STATE: dict[SandboxState, pb.PodSandboxState] = {
    "ready": pb.SANDBOX_READY,
    "notready": pb.SANDBOX_NOTREADY,
}
CONTAINER_STATE: dict[ContainerState, pb.ContainerState] = {
    "created": pb.CONTAINER_CREATED,
    "running": pb.CONTAINER_RUNNING,
    "exited": pb.CONTAINER_EXITED,
    "unknown": pb.CONTAINER_UNKNOWN,
}
EVENT_TYPE: dict[EventKind, pb.ContainerEventType] = {
    "created": pb.CONTAINER_CREATED_EVENT,
    "started": pb.CONTAINER_STARTED_EVENT,
    "stopped": pb.CONTAINER_STOPPED_EVENT,
    "deleted": pb.CONTAINER_DELETED_EVENT,
}


def sandbox_item(sandbox: Sandbox) -> pb.PodSandbox:
    """One row of ListPodSandbox."""
    return pb.PodSandbox(
        id=sandbox.id,
        metadata=_pod(sandbox.config),
        state=SANDBOX_STATE[sandbox.state],
        created_at=sandbox.created_at,
        labels=sandbox.config.labels,
        annotations=sandbox.config.annotations,
    )


def sandbox_status(sandbox: Sandbox) -> pb.PodSandboxStatus:
    """The answer of PodSandboxStatus, and the sandbox's part of an event."""
    config = sandbox.config
    network = pb.NODE if config.host_network else pb.POD
    return pb.PodSandboxStatus(
        id=sandbox.id,
        metadata=_pod(config),
        state=SANDBOX_STATE[sandbox.state],
        created_at=sandbox.created_at,
        network=pb.PodSandboxNetworkStatus(ip=sandbox.ip),
        linux=pb.LinuxPodSandboxStatus(
            namespaces=pb.Namespace(options=pb.NamespaceOption(network=network, pid=pb.CONTAINER))
        ),
        labels=config.labels,
        annotations=config.annotations,
    )


def container_item(container: Container) -> pb.Container:
    """One row of ListContainers."""
    config = container.config
    return pb.Container(
        id=container.id,
        pod_sandbox_id=container.sandbox_id,
        metadata=pb.ContainerMetadata(name=config.name, attempt=config.attempt),
        image=pb.ImageSpec(
            image=f"sha256:{digest(config.image)}", user_specified_image=config.image
        ),
        image_ref=container.image_ref,
        image_id=container.image_id,
        state=CONTAINER_STATE[container.state],
        created_at=container.created_at,
        labels=config.labels,
        annotations=config.annotations,
    )


def container_status(container: Container) -> pb.ContainerStatus:
    """The answer of ContainerStatus, and a container's part of an event."""
    config = container.config
    return pb.ContainerStatus(
        id=container.id,
        metadata=pb.ContainerMetadata(name=config.name, attempt=config.attempt),
        state=CONTAINER_STATE[container.state],
        created_at=container.created_at,
        started_at=container.started_at,
        finished_at=container.finished_at,
        exit_code=container.exit_code,
        image=pb.ImageSpec(image=config.image),
        image_ref=container.image_ref,
        image_id=container.image_id,
        reason=container.reason,
        message=container.message,
        labels=config.labels,
        annotations=config.annotations,
        log_path=config.log_path,
    )


def event_message(event: RuntimeEvent) -> pb.ContainerEventResponse:
    """One message of GetContainerEvents."""
    if event.bare:
        return pb.ContainerEventResponse(
            container_id=event.container_id,
            container_event_type=EVENT_TYPE[event.kind],
            created_at=event.created_at,
        )
    return pb.ContainerEventResponse(
        container_id=event.container_id,
        container_event_type=EVENT_TYPE[event.kind],
        created_at=event.created_at,
        pod_sandbox_status=sandbox_status(event.sandbox),
        containers_statuses=[container_status(one) for one in event.containers],
    )


def shape(message: pb.ContainerEventResponse, created_at: int, without: str) -> None:
    """Make an event what faults make of it: another time, and something missing."""
    message.created_at = created_at
    if without == "uid":
        message.pod_sandbox_status.metadata.uid = ""
    elif without == "metadata":
        message.pod_sandbox_status.ClearField("metadata")
    elif without == "sandbox-status":
        message.ClearField("pod_sandbox_status")
    elif without == "statuses":
        message.ClearField("containers_statuses")


def _pod(config: SandboxConfig) -> pb.PodSandboxMetadata:
    return pb.PodSandboxMetadata(
        name=config.name, uid=config.uid, namespace=config.namespace, attempt=config.attempt
    )
