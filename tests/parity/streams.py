"""Subscribers: several, late ones, and those that have left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc

from tests.lab.kubelet import SLEEP, Pod, container_config
from tests.parity.node import DEADLINE_S, Node, kind_of, listening, run, told, until
from tests.parity.suite import ended, of, refusal, run_of, scenario, started_of


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


@scenario
def a_subscriber_that_does_not_read(node: Node) -> None:
    """On containerd 2.x calls that tell events hang, while lists still answer; elsewhere none."""
    family, cri = node.family, node.pods.cri
    if not family.stream:
        assert refused_stream(node)
        return
    pod = node.pods.create("web", containers=0)
    with unread(node):
        assert hangs(node, pod) is family.stalls
        cri.call("Version", timeout_s=DEADLINE_S)
        assert node.pods.listing().sandboxes == {pod.sandbox_id: "SANDBOX_READY"}
    # It has left, and the node goes on.
    blink(node, pod, 9999, DEADLINE_S)


@contextmanager
def unread(node: Node) -> Iterator[None]:
    """A subscription on a connection of its own that is never read, with a small window."""
    options = (
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.default_authority", "localhost"),
        ("grpc.http2.bdp_probe", 0),
    )
    with grpc.insecure_channel(node.pods.cri.endpoint, options=options) as channel:
        stub: Any = channel.unary_stream("/runtime.v1.RuntimeService/GetContainerEvents")
        call = stub(b"")
        grpc.channel_ready_future(channel).result(DEADLINE_S)
        yield
        call.cancel()


def hangs(node: Node, pod: Pod) -> bool:
    """Whether making and removing containers comes to a halt, tried a few hundred times."""
    # Where it must not, it is waited for: it may be slow.
    within_s = 3.0 if node.family.stalls else DEADLINE_S
    for number in range(220):
        try:
            blink(node, pod, number, within_s)
        except grpc.RpcError as error:
            return error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    return False


def blink(node: Node, pod: Pod, number: int, within_s: float) -> None:
    """Make a container and remove it."""
    made = node.pods.cri.call(
        "CreateContainer",
        timeout_s=within_s,
        pod_sandbox_id=pod.sandbox_id,
        config=container_config(pod, f"blink-{number}", 0),
        sandbox_config=pod.config,
    )
    node.pods.cri.call("RemoveContainer", timeout_s=within_s, container_id=made.container_id)
