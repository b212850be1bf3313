"""What a kubelet sends a runtime to make a pod: configurations, labels, annotations.

Label and annotation names are the kubelet's (pkg/kubelet/types/labels.go and
kuberuntime/labels.go). Pods use the host's network and a private pid namespace per container.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.lab.cri import message
from tests.lab.image import IMAGE

RUN_LABEL = "plegscope.lab/run"
NAMESPACE = "lab"
SLEEP = ("sleep", "2147483647")
HEEDS_TERM = ("sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait")
"""A command that ends with 0 on SIGTERM, from when ``Pods.wait_for_handler`` returns."""

OUT_OF_MEMORY = ("sh", "-c", "sleep 1; exec dd if=/dev/zero of=/dev/null bs=256M count=1")
"""A command for `memory_mib` below 256. containerd listens for OOM kills only from some moment
after the start: without the wait, one in ten ends as ``Error`` instead of ``OOMKilled``.
"""


@dataclass(frozen=True)
class Pod:
    """One sandbox with its first containers, called ``c0``, ``c1``, … and listed in that order.

    `config` is the PodSandboxConfig it was made with; later containers need it again.
    """

    name: str
    namespace: str
    uid: str
    attempt: int
    sandbox_id: str
    container_ids: tuple[str, ...]
    command: tuple[str, ...]
    memory_mib: int
    config: Any = field(repr=False, compare=False)


def pod_of(
    config: Any, sandbox_id: str, command: tuple[str, ...] = SLEEP, memory_mib: int = 0
) -> Pod:
    """The pod, as yet without containers, that a PodSandboxConfig became."""
    meta = config.metadata
    return Pod(
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        attempt=meta.attempt,
        sandbox_id=sandbox_id,
        container_ids=(),
        command=command,
        memory_mib=memory_mib,
        config=config,
    )


def pod_config(name: str, uid: str, attempt: int, run: str, cgroup_parent: str) -> Any:
    """A PodSandboxConfig, marked as belonging to `run`."""
    return message("PodSandboxConfig")(
        metadata={"name": name, "uid": uid, "namespace": NAMESPACE, "attempt": attempt},
        labels={
            RUN_LABEL: run,
            "io.kubernetes.pod.name": name,
            "io.kubernetes.pod.namespace": NAMESPACE,
            "io.kubernetes.pod.uid": uid,
        },
        annotations={"kubernetes.io/config.source": "api"},
        linux={
            "cgroup_parent": cgroup_parent,
            "security_context": {"namespace_options": {"network": "NODE", "pid": "CONTAINER"}},
        },
    )


def container_config(pod: Pod, name: str, attempt: int) -> Any:
    """The ContainerConfig of one attempt of a container of `pod`."""
    return message("ContainerConfig")(
        metadata={"name": name, "attempt": attempt},
        # CRI-O refuses a container whose user_specified_image is empty.
        image={"image": IMAGE, "user_specified_image": IMAGE},
        command=pod.command,
        labels={**pod.config.labels, "io.kubernetes.container.name": name},
        annotations={
            "io.kubernetes.container.restartCount": str(attempt),
            "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
            "io.kubernetes.container.terminationMessagePolicy": "File",
            "io.kubernetes.pod.terminationGracePeriod": "30",
        },
        linux={
            "resources": {"memory_limit_in_bytes": pod.memory_mib * 1024 * 1024},
            "security_context": {"namespace_options": {"network": "NODE", "pid": "CONTAINER"}},
        },
    )
