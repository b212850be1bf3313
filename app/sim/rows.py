"""From the world's objects straight to the engine's words, without protobuf in between.

The twin of ``app/cri/convert.py`` for a node that is not reached over gRPC: the same fields, the
same rules (exit codes count only once a container has exited), and the same objects for rows that
did not change. What ``convert`` makes of ``messages.py``'s output is what this makes: a test
compares the two.
"""

from app.engine.model import ContainerEvent, ContainerStatus, Observation, SandboxStatus
from app.sim.objects import Container, RuntimeEvent, Sandbox
from app.sim.world import World

UID = "io.kubernetes.pod.uid"
NAME = "io.kubernetes.pod.name"
NAMESPACE = "io.kubernetes.pod.namespace"

Rows = tuple[Observation, ...]


class Listing:
    """The rows of a world's listings, the same object for a row whose state did not change.

    Follows the world's changes, so that a listing of a quiet node costs nothing but the copying.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._sandboxes = {one.id: sandbox_row(one) for one in world.sandboxes()}
        self._containers = {one.id: container_row(one) for one in world.containers()}
        self._changed: dict[str, None] = {}
        world.on_change.append(self._note)

    def sandboxes(self, uid: str | None) -> Rows:
        """ListPodSandbox of all pods, or of one."""
        self._catch_up()
        if uid is not None:
            return tuple(self._sandboxes[one.id] for one in self._world.pod_sandboxes(uid))
        return tuple(self._world.listing_order(list(self._sandboxes.values())))

    def containers(self, uid: str | None) -> Rows:
        """ListContainers of all pods, or of one."""
        self._catch_up()
        if uid is not None:
            return tuple(self._containers[one.id] for one in self._world.pod_containers(uid))
        return tuple(self._world.listing_order(list(self._containers.values())))

    def _note(self, item_id: str) -> None:
        self._changed[item_id] = None

    def _catch_up(self) -> None:
        for item_id in self._changed:
            one = self._world.look_up(item_id)
            if isinstance(one, Sandbox):
                self._sandboxes[item_id] = _kept(self._sandboxes.get(item_id), sandbox_row(one))
            elif one is not None:
                self._containers[item_id] = _kept(self._containers.get(item_id), container_row(one))
            else:
                self._sandboxes.pop(item_id, None)
                self._containers.pop(item_id, None)
        self._changed.clear()


def _kept(known: Observation | None, row: Observation) -> Observation:
    """The known object, if it says the same."""
    return known if known == row else row


def sandbox_row(one: Sandbox) -> Observation:
    """A row of ListPodSandbox."""
    pod = one.config
    return Observation(
        id=one.id,
        kind="sandbox",
        pod_uid=pod.uid,
        pod_name=pod.name,
        pod_namespace=pod.namespace,
        name="",
        attempt=pod.attempt,
        runtime_state=one.state,
        created_at=one.created_at,
    )


def container_row(one: Container) -> Observation:
    """A row of ListContainers; which pod it is of stands in its labels."""
    config = one.config
    labels = config.labels
    return Observation(
        id=one.id,
        kind="container",
        pod_uid=labels.get(UID, ""),
        pod_name=labels.get(NAME, ""),
        pod_namespace=labels.get(NAMESPACE, ""),
        name=config.name,
        attempt=config.attempt,
        runtime_state=one.state,
        created_at=one.created_at,
        sandbox_id=one.sandbox_id,
    )


def sandbox_status(one: Sandbox) -> SandboxStatus:
    """PodSandboxStatus."""
    ips = (one.ip,) if one.ip else ()
    return SandboxStatus(one.id, one.config.attempt, one.state, one.created_at, ips)


def container_status(one: Container) -> ContainerStatus:
    """ContainerStatus."""
    config = one.config
    exited = one.state == "exited"
    return ContainerStatus(
        id=one.id,
        name=config.name,
        attempt=config.attempt,
        runtime_state=one.state,
        created_at=one.created_at,
        started_at=one.started_at,
        finished_at=one.finished_at if exited else 0,
        exit_code=one.exit_code if exited else None,
        reason=one.reason if exited else "",
        message=one.message if exited else "",
        image=config.image,
    )


def container_event(told: RuntimeEvent, *, payload: bool) -> ContainerEvent:
    """An event of the stream; with ``payload`` the statuses come along (for who believes them)."""
    if told.bare:
        return ContainerEvent(
            type=told.kind,
            container_id=told.container_id,
            created_at=told.created_at,
            has_sandbox_status=False,
            has_metadata=False,
        )
    sandbox = told.sandbox
    pod = sandbox.config
    subject = next((one for one in told.containers if one.id == told.container_id), None)
    exited = subject if subject is not None and subject.state == "exited" else None
    return ContainerEvent(
        type=told.kind,
        container_id=told.container_id,
        created_at=told.created_at,
        has_sandbox_status=True,
        has_metadata=True,
        pod_uid=pod.uid,
        pod_name=pod.name,
        pod_namespace=pod.namespace,
        sandbox_id=sandbox.id,
        container_name="" if subject is None else subject.config.name,
        exit_code=None if exited is None else exited.exit_code,
        reason="" if exited is None else exited.reason,
        finished_at=0 if exited is None else exited.finished_at,
        sandbox=sandbox_status(sandbox) if payload else None,
        containers=tuple(map(container_status, told.containers)) if payload else (),
    )
