"""The running gauges: what a listing sets them to, and what an event moves them by."""

from app.engine.listing import Pod
from app.engine.model import (
    ContainerStatus,
    ItemKind,
    Observation,
    PodStatus,
    RuntimeState,
    SandboxStatus,
)
from app.engine.running import RunningGauges, gauges_moved

SANDBOX = SandboxStatus("s", 0, "ready", 1)
RUNS = ContainerStatus("c1", "web", 0, "running", 1)


def test_a_cached_pod_without_a_sandbox_counts_as_new() -> None:
    cached = PodStatus("p", containers=(RUNS,))
    told = PodStatus("p", containers=(RUNS,), sandboxes=(SANDBOX,))
    assert gauges_moved(cached, told) == (0, {"running": 1})


def test_what_is_cached_already_moves_nothing() -> None:
    known = PodStatus("p", containers=(RUNS,), sandboxes=(SANDBOX,))
    assert gauges_moved(known, known) == (0, {})


def pod(uid: str, *states: RuntimeState, sandbox: RuntimeState | None = "ready") -> Pod:
    def row(number: int, kind: ItemKind, state: RuntimeState) -> Observation:
        return Observation(
            f"{uid}-{kind}-{number}", kind, uid, uid, "ns", "app", number, state, created_at=1
        )

    one = Pod(uid, uid, "ns", 0, containers={}, sandboxes={})
    for number, state in enumerate(states):
        one.containers[f"c{number}"] = row(number, "container", state)
    if sandbox is not None:
        one.sandboxes["s"] = row(0, "sandbox", sandbox)
    return one


def test_a_listing_counts_pods_that_run_and_containers_by_the_runtimes_word() -> None:
    gauges = RunningGauges()
    assert gauges.listed({}) == (0, {})
    pods = {
        "a": pod("a", "running", "created"),
        "b": pod("b", "exited", sandbox="notready"),
        "c": pod("c", "running", sandbox=None),
    }
    assert gauges.listed(pods) == (1, {"running": 2, "created": 1, "exited": 1})


def test_the_next_listing_counts_what_changed_came_and_went() -> None:
    gauges = RunningGauges()
    a, b = pod("a", "running"), pod("b", "running")
    assert gauges.listed({"a": a, "b": b}) == (2, {"running": 2})
    assert gauges.listed({"a": a, "b": b}) == (2, {"running": 2})
    changed = pod("b", "exited", sandbox="notready")
    assert gauges.listed({"a": a, "b": changed}) == (1, {"running": 1, "exited": 1})
    assert gauges.listed({"b": changed, "c": pod("c", "running")}) == (
        1,
        {"running": 1, "exited": 1},
    )
    assert gauges.listed({}) == (0, {})
