"""The scenarios, each a function of a node: what it does, and what every runtime must answer.

What families do differently is asked of ``node.family``, never whether a node is simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import grpc
import pytest

from tests.lab.kubelet import OUT_OF_MEMORY, SLEEP, Pod
from tests.lab.pods import ContainerInfo, StartFailed
from tests.parity.families import Family
from tests.parity.node import (
    DEADLINE_S,
    Node,
    box_state,
    carried,
    everything,
    kind_of,
    listening,
    run,
    told,
    until,
)

Scenario = Callable[[Node], None]
SCENARIOS: dict[str, Scenario] = {}

HEEDS_TERM = ("sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait")
ZERO_TIME = -6795364578871345152
"""Go's zero time in nanoseconds, overflowed."""

Told = list[tuple[str, str]]


def scenario(function: Scenario) -> Scenario:
    """Put a scenario into the suite."""
    SCENARIOS[function.__name__] = function
    return function


def of(family: Family, *expected: tuple[str, str]) -> Told:
    """What a family tells of all this: nothing without a stream."""
    return list(expected) if family.stream else []


def run_of(family: Family, box: str = "box") -> Told:
    """What it tells of RunPodSandbox."""
    return of(family, *((kind, box) for kind in family.box_run))


def started_of(family: Family, *containers: str) -> Told:
    """What it tells of a pod whose containers were created and then started."""
    created = [("CREATED", one) for one in containers]
    started = [("STARTED", one) for one in containers]
    return run_of(family) + of(family, *created, *started)


def removed_of(family: Family) -> Told:
    """What it tells of RemovePodSandbox of an empty sandbox that was stopped."""
    return of(family, *((kind, "box") for kind in family.box_removed))


def ended(node: Node, container_id: str) -> ContainerInfo:
    """The status of a container, as soon as it has exited."""
    node.pods.wait_exited([container_id])
    info = node.pods.status(container_id)
    assert info.state == "CONTAINER_EXITED"
    return info


def refusal(call: Callable[[], object]) -> str:
    """gRPC's code of a call that fails."""
    with pytest.raises(grpc.RpcError) as refused:
        call()
    return str(refused.value.code().name)


# -------------------------------------------------------------------------- who it is


@scenario
def says_who_it_is(node: Node) -> None:
    """Version and Status, which a client decides by."""
    version = node.pods.cri.call("Version")
    assert version.runtime_name == node.family.runtime
    assert version.runtime_version.removeprefix("v").startswith(node.family.version)
    assert version.runtime_api_version == "v1"
    status = node.pods.cri.call("Status").status
    conditions = {one.type: one.status for one in status.conditions}
    assert conditions["RuntimeReady"]
    assert "NetworkReady" in conditions


# ------------------------------------------------------------------------ a pod's life


@scenario
def each_step_of_a_life(node: Node) -> None:
    """Run, create, start, kill, remove, stop, remove: order of events, and what they carry."""
    family, pods = node.family, node.pods
    with listening(node) as ear:
        pod = pods.create("life")
        (app,) = pod.container_ids
        pods.start(app)
        # CRI-O tells of a start only afterwards, and with the state of that time.
        ear.wait(
            lambda heard: "STARTED" in [kind_of(e) for e in heard if e.container_id == app], ""
        )
        node.kill(app)
        ended(node, app)
        ear.wait(lambda heard: "STOPPED" in map(kind_of, heard), "the end")
        pods.remove_container(app)
        pods.stop_pod(pod)
        pods.remove(pod)
        heard = [one for one in everything(node, ear) if one.container_id in (app, pod.sandbox_id)]
    story = [(kind_of(one), "box" if one.container_id != app else "c0") for one in heard]
    assert story == (
        started_of(family, "c0")
        + of(family, ("STOPPED", "c0"), ("DELETED", "c0"), ("STOPPED", "box"))
        + removed_of(family)
    )
    by_step = dict(zip(story, heard, strict=True))
    states = {step: carried(event) for step, event in by_step.items()}
    boxes = {step: box_state(event) for step, event in by_step.items()}
    for (kind, who), inside in states.items():
        if who == "box" or kind == "DELETED":
            assert inside == {}
        else:
            expected = {"CREATED": "CREATED", "STARTED": "RUNNING", "STOPPED": "EXITED"}[kind]
            assert inside == {app: expected}
        if (kind, who) == ("DELETED", "box"):
            continue
        assert boxes[kind, who] == ("NOTREADY" if (kind, who) == ("STOPPED", "box") else "READY")
    times = [one.created_at for one in heard]
    assert times == sorted(times)


@scenario
def every_event_says_whose_it_is(node: Node) -> None:
    """Pod and sandbox are in each event, but for one of containerd 1.7 and a time of 2.x."""
    family = node.family
    with listening(node) as ear:
        pod, app = run(node, SLEEP)
        node.pods.remove(pod)
        heard = [one for one in everything(node, ear) if one.container_id in (app, pod.sandbox_id)]
    for event in heard:
        last = (kind_of(event), event.container_id) == ("DELETED", pod.sandbox_id)
        if last and family.bare_removal:
            assert not event.HasField("pod_sandbox_status")
            assert not event.containers_statuses
            assert event.ByteSize() == 78
            continue
        status = event.pod_sandbox_status
        assert status.id == pod.sandbox_id
        assert (status.metadata.name, status.metadata.uid) == (pod.name, pod.uid)
        assert (status.metadata.namespace, status.metadata.attempt) == (pod.namespace, 0)
        assert dict(status.annotations) == dict(pod.config.annotations)
        assert_labels(family, status.labels, pod)
        assert (status.created_at == ZERO_TIME) is (last and family.zero_removal)


def assert_labels(family: Family, labels: object, pod: Pod) -> None:
    """A sandbox has the kubelet's labels, and CRI-O's own."""
    more = {"io.kubernetes.container.name": "POD"} if family.box_label else {}
    assert dict(labels) == dict(pod.config.labels) | more  # type: ignore[call-overload]


@scenario
def lists_show_what_was_made(node: Node) -> None:
    """Lists, filters by the beginning of an id and by labels, statuses."""
    pods, cri = node.pods, node.pods.cri
    pod = pods.run("web", containers=2)
    other = pods.run("other")
    (row,) = cri.call("ListPodSandbox", filter={"id": pod.sandbox_id[:13]}).items
    assert row.id == pod.sandbox_id
    assert (row.metadata.name, row.metadata.uid) == ("web", pod.uid)
    assert_labels(node.family, row.labels, pod)
    inside = cri.call("ListContainers", filter={"pod_sandbox_id": pod.sandbox_id}).containers
    assert {one.id for one in inside} == set(pod.container_ids)
    assert {one.pod_sandbox_id for one in inside} == {pod.sandbox_id}
    uid = {"io.kubernetes.pod.uid": other.uid}
    found = cri.call("ListContainers", filter={"label_selector": uid}).containers
    assert [one.id for one in found] == list(other.container_ids)
    status = cri.call("PodSandboxStatus", pod_sandbox_id=pod.sandbox_id).status
    assert status.created_at == row.created_at > 0
    info = pods.status(pod.container_ids[0])
    assert info.state == "CONTAINER_RUNNING"
    assert status.created_at <= info.created_at <= info.started_at
    assert info.finished_at == 0


@scenario
def the_newest_comes_first_on_cri_o(node: Node) -> None:
    """Everywhere an event carries all containers of its pod, ended ones too; in which order."""
    with listening(node) as ear:
        pod = node.pods.create("web", containers=4)
        for container_id in pod.container_ids:
            node.pods.start(container_id)
        node.kill(pod.container_ids[0])
        ended(node, pod.container_ids[0])
        heard = everything(node, ear)
    ids = list(pod.container_ids)
    for event in heard:
        if event.container_id == ids[0] and kind_of(event) == "STOPPED":
            inside = carried(event)
            assert inside == {ids[0]: "EXITED"} | dict.fromkeys(ids[1:], "RUNNING")
            if node.family.newest_first:
                assert list(inside) == ids[::-1]
    listed = node.pods.cri.call("ListContainers", filter={"pod_sandbox_id": pod.sandbox_id})
    if node.family.newest_first:
        assert [one.id for one in listed.containers] == ids[::-1]


# -------------------------------------------------------------------------- how it ends


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


# ---------------------------------------------------------------------- pods that go away


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


# ---------------------------------------------------------------------- the runtime's life


@scenario
def a_death_while_the_runtime_is_down_has_no_event(node: Node) -> None:
    """The stream ends with the runtime, nothing is replayed, later deaths are told as usual."""
    family, pods = node.family, node.pods
    pod = pods.run("web", containers=3)
    stays, dies, later = pod.container_ids
    with listening(node) as before:
        told(node, before, pod)
        node.restart(meanwhile=dies)
        if family.stream:
            assert before.ended() == family.ends_with
    info = ended(node, dies)
    assert (info.exit_code, info.reason) == family.overlooked
    died = info.finished_at
    with listening(node) as after:
        node.kill(later)
        late = ended(node, later)
        assert (late.exit_code, late.reason) == (137, "Error")
        assert told(node, after, pod) == of(family, ("STOPPED", "c2"))
        for event in after.wait(bool, "an event"):
            if event.container_id == later:
                assert carried(event) == {stays: "RUNNING", dies: "EXITED", later: "EXITED"}
    assert died <= late.finished_at
    assert pods.status(stays).state == "CONTAINER_RUNNING"


@scenario
def a_frozen_runtime_answers_nothing_and_tells_later(node: Node) -> None:
    """SIGSTOP: calls hang, the stream is open and silent; after SIGCONT the death is told."""
    family, pods = node.family, node.pods
    with listening(node) as ear:
        pod, app = run(node, SLEEP)
        before = told(node, ear, pod)
        kill = node.killer(app)
        node.freeze()
        code = refusal(lambda: pods.cri.call("Version", timeout_s=0.3))
        assert code == "DEADLINE_EXCEEDED"
        kill()
        if family.stream:
            assert ear.end == ""
        node.thaw()
        info = ended(node, app)
        assert (info.exit_code, info.reason) == (137, "Error")
        assert told(node, ear, pod) == before + of(family, ("STOPPED", "c0"))


# --------------------------------------------------------------------------- the stream


@scenario
def two_subscribers_hear_the_same_or_share(node: Node) -> None:
    """Each gets all events, in the same order; on containerd 1.7 each event goes to one."""
    family = node.family
    if not family.stream:
        assert refused_stream(node)
        return
    with listening(node) as one, listening(node) as two:
        pod, app = run(node, SLEEP)
        node.kill(app)
        ended(node, app)
        node.pods.remove(pod)
        ids = {pod.sandbox_id, app}
        expected = 6 + len(family.box_removed) + len(family.box_run) - 1
        if family.shares:
            until(lambda: len(heard(one, ids)) + len(heard(two, ids)) >= expected, "all events")
            first, second = heard(one, ids), heard(two, ids)
            assert first
            assert second
            assert not set(first) & set(second)
            assert len(set(first + second)) == expected
        else:
            until(lambda: len(heard(one, ids)) >= expected, "all events at the first")
            until(lambda: len(heard(two, ids)) >= expected, "all events at the second")
            assert heard(one, ids) == heard(two, ids)
            assert len(heard(one, ids)) == expected


def heard(ear: object, ids: set[str]) -> list[tuple[str, str]]:
    """What an ear has heard of these so far."""
    events = ear.wait(lambda _: True, "nothing")  # type: ignore[attr-defined]
    return [(kind_of(one), one.container_id) for one in events if one.container_id in ids]


def refused_stream(node: Node) -> bool:
    """Whether the stream is refused as by a runtime that has none."""
    return refusal(lambda: next(iter(node.pods.events(DEADLINE_S)))) == "UNIMPLEMENTED"


@scenario
def what_happened_to_nobodys_ears_comes_first(node: Node) -> None:
    """Events are kept for the first subscriber; whoever comes next does not get them again."""
    family = node.family
    if not family.stream:
        assert refused_stream(node)
        return
    pod, app = run(node, SLEEP)
    node.kill(app)
    ended(node, app)
    with listening(node) as ear:
        story = started_of(family, "c0") + of(family, ("STOPPED", "c0"))
        assert told(node, ear, pod) == story


@scenario
def after_somebody_has_left(node: Node) -> None:
    """containerd keeps events again, but loses a few to the one that left; CRI-O keeps none."""
    family = node.family
    if not family.stream:
        assert refused_stream(node)
        return
    with listening(node) as first:
        told(node, first)
    pod = node.pods.create("web", containers=12)
    with listening(node) as second:
        story = told(node, second, pod)
    everything_told = run_of(family) + [("CREATED", f"c{number}") for number in range(12)]
    if not family.keeps_always:
        assert story == []
    else:
        assert story == everything_told[-len(story) :]
        assert 1 <= len(everything_told) - len(story) <= 11


@scenario
def one_that_left_costs_one_that_stays(node: Node) -> None:
    """Nothing where all hear all; on containerd 1.7 an event or two."""
    family = node.family
    if not family.stream:
        assert refused_stream(node)
        return
    with listening(node) as stays:
        with listening(node):
            pass
        pod = node.pods.create("web", containers=20)
        story = told(node, stays, pod)
    lost = len(run_of(family)) + 20 - len(story)
    least, most = family.swallowed
    assert least <= lost <= most
