"""Pods as somebody ordered them, and what a kubelet makes of the order for the runtime.

A container's process is described by how it ends: never (no ``lifetime``), or after a while with
one of several endings. All durations in ns. Labels and annotations are those of kubelet's
kuberuntime/labels.go, names and paths included.
"""

from typing import Literal

import msgspec

from app.sim.flavour import MS, SECOND
from app.sim.objects import ContainerConfig, SandboxConfig

RestartPolicy = Literal["Always", "OnFailure", "Never"]
ProbeKind = Literal["liveness", "startup"]
"""The probes whose failure kills; a readiness probe only takes a pod out of service."""


class Ending(msgspec.Struct, frozen=True):
    """One way for a process to end; of several, ``weight`` says how often."""

    exit_code: int
    reason: str
    weight: int = 1


COMPLETED = Ending(0, "Completed")
ERROR = Ending(1, "Error")
OOM_KILLED = Ending(137, "OOMKilled")
KILLED = Ending(137, "Error")


class Lifetime(msgspec.Struct, frozen=True):
    """A process that ends by itself after ``span`` (shortest, longest)."""

    span: tuple[int, int]
    endings: tuple[Ending, ...]


class Resources(msgspec.Struct, frozen=True):
    """What a container may use: thousandths of a CPU, and MiB of memory."""

    cpu_milli: int = 100
    memory_mib: int = 128


class Probe(msgspec.Struct, frozen=True):
    """A probe that fails for good some time after each start of its container (shortest, longest):
    a startup probe that gives up, or the liveness probe of a process that comes to hang. Either
    way the kubelet kills the container; what follows is up to the pod's restart policy."""

    kind: ProbeKind
    after: tuple[int, int]


class ContainerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A container of a pod. ``term``: how long its process takes to end after SIGTERM (shortest,
    longest); None for one that ignores the signal and is killed when the grace time is over.
    ``probe``: one that fails; None: all of them succeed. ``resources``: what it starts with.
    ``cannot_start``: why its program cannot be started; empty when it can."""

    name: str
    image: str
    lifetime: Lifetime | None = None
    term: tuple[int, int] | None = (60 * MS, 900 * MS)
    probe: Probe | None = None
    resources: Resources = Resources()
    cannot_start: str = ""


class PodSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A pod. ``uid`` is the key of everything; ``grace_ns`` its termination grace period."""

    uid: str
    name: str
    namespace: str
    containers: tuple[ContainerSpec, ...]
    restart_policy: RestartPolicy = "Always"
    labels: dict[str, str] = {}
    grace_ns: int = 30 * SECOND
    host_network: bool = False


def sandbox_config(pod: PodSpec, attempt: int) -> SandboxConfig:
    """What RunPodSandbox gets: the pod's labels and the kubelet's."""
    return SandboxConfig(
        name=pod.name,
        uid=pod.uid,
        namespace=pod.namespace,
        attempt=attempt,
        labels={**pod.labels, **_pod_labels(pod)},
        annotations={"kubernetes.io/config.source": "api"},
        host_network=pod.host_network,
    )


def container_config(pod: PodSpec, container: ContainerSpec, attempt: int) -> ContainerConfig:
    """What CreateContainer gets; the pod's own labels are on the sandbox only."""
    return ContainerConfig(
        name=container.name,
        image=container.image,
        cannot_start=container.cannot_start,
        attempt=attempt,
        labels={**_pod_labels(pod), "io.kubernetes.container.name": container.name},
        annotations={
            "io.kubernetes.container.restartCount": str(attempt),
            "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
            "io.kubernetes.container.terminationMessagePolicy": "File",
            "io.kubernetes.pod.terminationGracePeriod": str(pod.grace_ns // SECOND),
        },
        log_path=(
            f"/var/log/pods/{pod.namespace}_{pod.name}_{pod.uid}/{container.name}/{attempt}.log"
        ),
    )


def _pod_labels(pod: PodSpec) -> dict[str, str]:
    return {
        "io.kubernetes.pod.name": pod.name,
        "io.kubernetes.pod.namespace": pod.namespace,
        "io.kubernetes.pod.uid": pod.uid,
    }
