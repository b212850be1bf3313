"""Subscribers: several, late ones, and those that have left."""

from __future__ import annotations

from tests.lab.kubelet import SLEEP
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
