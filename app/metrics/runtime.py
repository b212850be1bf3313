"""Calls to the container runtime, under the kubelet's names: plegscope's own calls, not its.

Source: kubelet ``pkg/kubelet/kuberuntime/instrumented_services.go`` (the words for operations) and
``pkg/kubelet/metrics/metrics.go``. An operation has series once it was called, as there.
"""

from collections.abc import Mapping

import msgspec

from app.histogram import Histogram
from app.metrics.exposition import Exposition

OPERATIONS = {
    "Version": "version",
    "Status": "status",
    "ListPodSandbox": "list_podsandbox",
    "PodSandboxStatus": "podsandbox_status",
    "ListContainers": "list_containers",
    "ContainerStatus": "container_status",
}
"""The unary calls that plegscope makes: CRI method name to the kubelet's ``operation_type``."""

OWN = "plegscope's own calls to the runtime, not the kubelet's: "


class RuntimeCalls(msgspec.Struct, frozen=True):
    """What calls of one CRI method amounted to since the start."""

    calls: int
    failed: int
    durations: Histogram


def write_operations(out: Exposition, calls: Mapping[str, RuntimeCalls]) -> None:
    """Add the families; streams have no place in them, since plegscope renews its own."""
    made = {
        operation: calls[method]
        for method, operation in OPERATIONS.items()
        if method in calls and calls[method].calls
    }
    out.counter(
        "kubelet_runtime_operations_total",
        OWN + "how many have ended, well or not, by operation. The event stream is not one of "
        "them.",
        [({"operation_type": name}, count.calls) for name, count in made.items()],
    )
    out.counter(
        "kubelet_runtime_operations_errors_total",
        OWN + "how many of them failed, a status that was not found among them, by operation.",
        [({"operation_type": name}, count.failed) for name, count in made.items() if count.failed],
    )
    out.histogram(
        "kubelet_runtime_operations_duration_seconds",
        OWN + "how long they took, by operation. Up to 8 statuses of one pod are asked for at "
        "the same time, where the kubelet asks one after the other.",
        [({"operation_type": name}, count.durations) for name, count in made.items()],
    )
