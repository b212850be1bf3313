"""Pods that go away, or lose their sandbox."""

from __future__ import annotations

from tests.lab.kubelet import SLEEP
from tests.parity.node import Node, listening, run, told, until
from tests.parity.suite import ended, of, refusal, removed_of, run_of, scenario, started_of


@scenario
def a_killed_pause_process_leaves_containers_running(node: Node) -> None:
    """STOPPED of the sandbox alone; stopping the pod afterwards tells nothing of it again."""
    family, pods = node.family, node.pods
    if not family.pause:
        # This was never seen on such a runtime: nothing is claimed.
        assert family.name == "cri-o"
        return
    with listening(node) as ear:
        pod, app = run(node, SLEEP)
        node.kill_pause(pod.sandbox_id)
        until(lambda: pods.listing().sandboxes[pod.sandbox_id] == "SANDBOX_NOTREADY", "the end")
        assert pods.listing().containers == {app: "CONTAINER_RUNNING"}
        story = started_of(family, "c0") + of(family, ("STOPPED", "box"))
        assert told(node, ear, pod) == story
        pods.remove(pod)
        story += of(family, ("STOPPED", "c0"), ("DELETED", "c0")) + removed_of(family)
        assert told(node, ear, pod) == story


@scenario
def stopping_a_pod_stops_what_runs_in_it_first(node: Node) -> None:
    """StopPodSandbox: STOPPED of each container, then of the sandbox; again, it is nothing."""
    family, pods = node.family, node.pods
    with listening(node) as ear:
        pod = pods.run("web", containers=2)
        pods.stop_pod(pod)
        listing = pods.listing()
        assert set(listing.containers.values()) == {"CONTAINER_EXITED"}
        assert listing.sandboxes == {pod.sandbox_id: "SANDBOX_NOTREADY"}
        pods.stop_pod(pod)
        story = told(node, ear, pod)
    begin = run_of(family) + of(
        family, ("CREATED", "c0"), ("CREATED", "c1"), ("STARTED", "c0"), ("STARTED", "c1")
    )
    assert story[: len(begin)] == begin
    assert sorted(story[len(begin) : -1]) == of(family, ("STOPPED", "c0"), ("STOPPED", "c1"))
    assert story[-1:] == of(family, ("STOPPED", "box"))
    for container_id in pod.container_ids:
        info = pods.status(container_id)
        assert (info.exit_code, info.reason) == (137, "Error")


@scenario
def removing_a_pod_removes_what_is_in_it(node: Node) -> None:
    """RemovePodSandbox of a stopped pod with its containers: DELETED of each, or nothing."""
    family, pods = node.family, node.pods
    with listening(node) as ear:
        pod = pods.run("web", containers=2)
        pods.stop_pod(pod)
        before = told(node, ear, pod)
        pods.cri.call("RemovePodSandbox", pod_sandbox_id=pod.sandbox_id)
        assert pods.listing().containers == {}
        assert pods.listing().sandboxes == {}
        after = told(node, ear, pod)[len(before) :]
    if family.quiet_removal:
        assert after == []
    else:
        gone = of(family, ("DELETED", "c0"), ("DELETED", "c1"))
        assert sorted(after[: len(gone)]) == gone
        assert after[len(gone) :] == removed_of(family)


@scenario
def removing_twice_or_what_never_was_is_no_error(node: Node) -> None:
    """The CRI demands that stopping and removing may be repeated."""
    pods, cri = node.pods, node.pods.cri
    pod, app = run(node, SLEEP)
    node.kill(app)
    ended(node, app)
    for _ in range(2):
        cri.call("RemoveContainer", container_id=app)
    for _ in range(2):
        cri.call("StopPodSandbox", pod_sandbox_id=pod.sandbox_id)
    for _ in range(2):
        cri.call("RemovePodSandbox", pod_sandbox_id=pod.sandbox_id)
    assert refusal(lambda: cri.call("ContainerStatus", container_id=app)) == "NOT_FOUND"
    box = pod.sandbox_id
    assert refusal(lambda: cri.call("PodSandboxStatus", pod_sandbox_id=box)) == "NOT_FOUND"
    assert pods.listing().sandboxes == {}
