"""From the world's objects straight to the engine's words, without protobuf in between.

The twin of ``app/cri/convert.py`` for a node that is not reached over gRPC: the same fields, the
same rules (exit codes count only once a container has exited), and the same objects for rows that
did not change. What ``convert`` makes of ``messages.py``'s output is what this makes: a test
compares the two.
"""

from collections.abc import Callable
from typing import TypeVar

from app.engine.model import ContainerEvent, ContainerStatus, Observation, SandboxStatus
from app.sim.objects import Container, RuntimeEvent, Sandbox
from app.sim.world import World

UID = "io.kubernetes.pod.uid"
NAME = "io.kubernetes.pod.name"
NAMESPACE = "io.kubernetes.pod.namespace"

Rows = tuple[Observation, ...]
L = TypeVar("L", Sandbox, Container)


class Listing:
    """The rows of listings, the same object for a row whose state did not change."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._sandboxes: dict[str, Observation] = {}
        self._containers: dict[str, Observation] = {}

    def sandboxes(self, uid: str | None) -> Rows:
        """ListPodSandbox of all pods, or of one."""
        if uid is not None:
            return _rows(self._world.pod_sandboxes(uid), self._sandboxes, sandbox_row)
        rows = _rows(self._world.sandboxes(), self._sandboxes, sandbox_row)
        _forget(self._sandboxes, rows)
        return rows

    def containers(self, uid: str | None) -> Rows:
        """ListContainers of all pods, or of one."""
        if uid is not None:
            return _rows(self._world.pod_containers(uid), self._containers, container_row)
        rows = _rows(self._world.containers(), self._containers, container_row)
        _forget(self._containers, rows)
        return rows


def _rows(listed: list[L], known: dict[str, Observation], make: Callable[[L], Observation]) -> Rows:
    rows = []
    for one in listed:
        row = known.get(one.id)
        if row is None or row.runtime_state is not one.state:
            known[one.id] = row = make(one)
        rows.append(row)
    return tuple(rows)


def _forget(known: dict[str, Observation], listed: Rows) -> None:
    """Once in a while, forget what is no longer listed."""
    if len(known) > 2 * len(listed) + 64:
        known.clear()
        known.update((row.id, row) for row in listed)


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
