"""Who the runtime is, and what it tells and lists of a pod that lives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.lab.kubelet import SLEEP, Pod
from tests.parity.families import Family
from tests.parity.node import Node, box_state, carried, everything, kind_of, listening, run
from tests.parity.suite import ZERO_TIME, ended, of, removed_of, scenario, started_of


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


@scenario
def each_step_of_a_life(node: Node) -> None:
    """Run, create, start, kill, remove, stop, remove: order of events, and what they carry."""
    family, pods = node.family, node.pods
    with listening(node) as ear:
        pod = pods.create("life")
        (app,) = pod.container_ids
        pods.start(app)
        # CRI-O tells of a start only afterwards, and with the state of that time.
        ear.wait(lambda heard: ("STARTED", app) in named(heard), "the start")
        node.kill(app)
        ended(node, app)
        ear.wait(lambda heard: ("STOPPED", app) in named(heard), "the end")
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


def named(heard: Sequence[Any]) -> list[tuple[str, str]]:
    """Kind and container id of each."""
    return [(kind_of(one), one.container_id) for one in heard]


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
def an_event_carries_its_whole_pod(node: Node) -> None:
    """All containers, ended ones too; CRI-O lists and carries the newest first."""
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
