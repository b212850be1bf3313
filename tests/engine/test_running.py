"""The running gauges: what an event moves them by (relists set them; see the oracle)."""

from app.engine.model import ContainerStatus, PodStatus, SandboxStatus
from app.engine.running import gauges_moved

SANDBOX = SandboxStatus("s", 0, "ready", 1)
RUNS = ContainerStatus("c1", "web", 0, "running", 1)


def test_a_cached_pod_without_a_sandbox_counts_as_new() -> None:
    cached = PodStatus("p", containers=(RUNS,))
    told = PodStatus("p", containers=(RUNS,), sandboxes=(SANDBOX,))
    assert gauges_moved(cached, told) == (0, {"running": 1})


def test_what_is_cached_already_moves_nothing() -> None:
    known = PodStatus("p", containers=(RUNS,), sandboxes=(SANDBOX,))
    assert gauges_moved(known, known) == (0, {})
