"""How containers end: by themselves, killed, stopped; and those that cannot even start."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
import pytest

from tests.lab.kubelet import HEEDS_TERM, OUT_OF_MEMORY, SLEEP
from tests.lab.pods import ContainerInfo, StartFailed
from tests.parity.node import Node, carried, kind_of, listening, run, told
from tests.parity.suite import ended, of, run_of, scenario, started_of


def ends(node: Node, command: Sequence[str], exit_code: int, reason: str, **more: int) -> None:
    """A container that runs this ends thus by itself: in the status and in the event."""
    with listening(node) as ear:
        pod, app = run(node, command, **more)
        info = ended(node, app)
        assert told(node, ear, pod) == started_of(node.family, "c0") + of(
            node.family, ("STOPPED", "c0")
        )
        assert_end(node, ear.wait(bool, "an event"), app, exit_code, reason)
    assert (info.exit_code, info.reason) == (exit_code, reason)
    assert info.created_at <= info.started_at
    assert info.finished_at > 0


def assert_end(node: Node, heard: Sequence[object], app: str, code: int, reason: str) -> None:
    """The STOPPED of a container carries how it ended, and is not made before that."""
    for event in heard:
        if kind_of(event) == "STOPPED" and event.container_id == app:  # type: ignore[attr-defined]
            (status,) = event.containers_statuses  # type: ignore[attr-defined]
            assert (status.exit_code, status.reason) == (code, reason)
            assert event.created_at >= status.finished_at  # type: ignore[attr-defined]


@scenario
def exit_0_is_completed(node: Node) -> None:
    """A job that is done."""
    ends(node, ["sh", "-c", "sleep 0.2; exit 0"], 0, "Completed")


@scenario
def exit_1_is_an_error(node: Node) -> None:
    """A job that has failed."""
    ends(node, ["sh", "-c", "sleep 0.2; exit 1"], 1, "Error")


@scenario
def too_much_memory_is_an_oom_kill(node: Node) -> None:
    """The kernel's doing, told as such."""
    ends(node, OUT_OF_MEMORY, 137, "OOMKilled", memory_mib=32)


@scenario
def kill_9_is_an_error_137(node: Node) -> None:
    """A kill from outside the runtime."""
    with listening(node) as ear:
        pod, app = run(node, SLEEP)
        node.kill(app)
        info = ended(node, app)
        assert (info.exit_code, info.reason) == (137, "Error")
        assert told(node, ear, pod) == started_of(node.family, "c0") + of(
            node.family, ("STOPPED", "c0")
        )
        assert_end(node, ear.wait(bool, "an event"), app, 137, "Error")


@scenario
def short_lives_are_told_whole(node: Node) -> None:
    """A program that ends at once: STARTED before STOPPED; on CRI-O it may carry the exit."""
    with listening(node) as ear:
        pod, app = run(node, ["true"])
        ended(node, app)
        assert told(node, ear, pod) == started_of(node.family, "c0") + of(
            node.family, ("STOPPED", "c0")
        )
        for event in ear.wait(bool, "an event"):
            if kind_of(event) == "STARTED" and event.container_id == app:
                allowed = {"RUNNING", "EXITED"} if node.family.early_exit else {"RUNNING"}
                assert carried(event)[app] in allowed


@scenario
def stop_with_a_handler_is_completed(node: Node) -> None:
    """StopContainer of a program that handles SIGTERM; it answers when the end is known."""
    stops(node, HEEDS_TERM, 20, 0, "Completed")


@scenario
def stop_without_a_handler_takes_the_grace_time(node: Node) -> None:
    """SIGKILL when the grace time is over."""
    info = stops(node, SLEEP, 1, 137, "Error")
    assert info.finished_at - info.started_at >= 10**9


def stops(
    node: Node, command: Sequence[str], grace_s: int, exit_code: int, reason: str
) -> ContainerInfo:
    """StopContainer: how it ends, in status and event; a second one is no error."""
    with listening(node) as ear:
        pod, app = run(node, command)
        if command == HEEDS_TERM:
            node.wait_for_handler(app)
        node.pods.cri.call("StopContainer", container_id=app, timeout=grace_s)
        info = node.pods.status(app)
        assert (info.state, info.exit_code, info.reason) == ("CONTAINER_EXITED", exit_code, reason)
        node.pods.cri.call("StopContainer", container_id=app, timeout=grace_s)
        assert told(node, ear, pod) == started_of(node.family, "c0") + of(
            node.family, ("STOPPED", "c0")
        )
    return info


@scenario
def a_failed_start_has_no_event(node: Node) -> None:
    """containerd leaves EXITED 128 behind, CRI-O nothing; neither tells of it."""
    family = node.family
    with listening(node) as ear:
        if family.fails_in == "CreateContainer":
            with pytest.raises(grpc.RpcError) as refused:
                node.pods.create("bad", ["/no/such/program"])
            assert refused.value.code() is grpc.StatusCode.UNKNOWN
            assert "no such file or directory" in (refused.value.details() or "")
            (sandbox_id,) = node.pods.find("bad")
            assert node.pods.containers(sandbox_id) == []
            assert told(node, ear, node.pods.adopt(sandbox_id)) == run_of(family)
            return
        with pytest.raises(StartFailed, match="no such file or directory") as failed:
            node.pods.run("bad", ["/no/such/program"])
        pod = failed.value.pod
        info = node.pods.status(pod.container_ids[0])
        assert (info.state, info.exit_code, info.reason) == ("CONTAINER_EXITED", 128, "StartError")
        assert (info.started_at, info.finished_at > 0) == (0, True)
        assert told(node, ear, pod) == run_of(family) + of(family, ("CREATED", "c0"))
        node.pods.remove_container(pod.container_ids[0])
        assert told(node, ear, pod) == run_of(family) + of(
            family, ("CREATED", "c0"), ("DELETED", "c0")
        )


@scenario
def attempts_stand_side_by_side(node: Node) -> None:
    """A container that was started again: one name, told apart by the attempt."""
    pod, first = run(node, ["sh", "-c", "exit 3"])
    ended(node, first)
    second = node.pods.restart(pod)
    ended(node, second)
    rows = node.pods.containers(pod.sandbox_id)
    assert [(one.metadata.name, one.metadata.attempt, one.id) for one in rows] == [
        ("c0", 0, first),
        ("c0", 1, second),
    ]
