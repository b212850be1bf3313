"""Faults of the kubelet and of the node's processes, under a virtual clock and the real engine."""

import pytest

from app.engine.records import Lifecycle, RequestMade, RequestMoved, SyncBegan, SyncFinished
from app.engine.settings import EngineSettings
from app.sim import nodefaults
from app.sim.faults import ShortLivedPods, SyncLoopStalls, SyncPodsSlow, TerminationStorm
from app.sim.flavour import SECOND
from app.sim.pods import ERROR
from app.sim.units import Ns, millis, seconds
from tests.sim.orders import order, runs_on
from tests.sim.virtual import VirtualNode

NOW = Ns(0)


def populated(number: int = 3, channel: int | None = 1000) -> VirtualNode:
    """A node on which some pods run and nothing moves."""
    node = VirtualNode(engine=EngineSettings(event_channel=channel))
    for name in "abcdefgh"[:number]:
        node.workers.add(order(name, runs_on("app"), runs_on("side")))
    node.run(5)
    node.records.clear()
    return node


def syncs(node: VirtualNode) -> list[float]:
    """How long each SyncPod took (s)."""
    return [round(one.duration_ns / SECOND, 1) for one in node.of(SyncFinished)]


# --------------------------------------------------------------------------------- slow SyncPods


def slow(**more: object) -> SyncPodsSlow:
    return SyncPodsSlow(at=NOW, by=(seconds(3), seconds(3)), **more)  # type: ignore[arg-type]


def test_a_slow_sync_suspends_its_pod_and_no_other() -> None:
    node = populated()
    active = node.plan.begin(slow(pods="shop/a"))
    for uid in ("uid-a", "uid-b"):
        node.workers.end_container(uid, "app", ERROR)
    node.run(0.6)
    node.workers.end_container("uid-a", "side", ERROR)
    node.run(8)
    assert 1 <= sum(took >= 3 for took in syncs(node)) <= active.hits
    # The stop of the other container came during the SyncPod: its request was held.
    held = [one for one in node.of(RequestMade, "uid-a") if one.outcome == "held"]
    assert held
    died = [one for one in node.of(Lifecycle, "uid-a") if one.type == "ContainerDied"]
    assert [one.container_name for one in died] == ["app", "side"]
    assert died[1].t - died[0].t > 2 * SECOND


def test_a_slow_sync_goes_on_when_its_fault_is_lifted() -> None:
    node = populated()
    pressed = node.plan.begin_now(slow(), seconds(60))
    node.workers.end_container("uid-a", "app", ERROR)
    node.run(1)
    node.plan.lift(pressed.number)
    node.run(2)
    assert 1 <= max(syncs(node)) < 1.3


def test_a_slow_sync_waits_through_other_faults() -> None:
    node = populated()
    node.plan.schedule([slow(lasts=seconds(60)), TerminationStorm(at=seconds(1), pods="x/*")])
    node.workers.end_container("uid-a", "app", ERROR)
    node.run(5)
    assert 3 <= max(syncs(node)) < 3.3


# ------------------------------------------------------------------------------- the sync loop


def test_a_sync_loop_that_stalls_takes_what_waits_when_it_goes_on() -> None:
    node = populated()
    active = node.plan.begin(SyncLoopStalls(at=NOW, lasts=seconds(10)))
    node.workers.end_container("uid-a", "app", ERROR)
    node.run(9)
    assert [one.type for one in node.of(Lifecycle)] == ["ContainerDied"]
    assert node.of(SyncBegan) == []
    node.run(3)
    assert active.hits == 1
    assert [one.type for one in node.of(Lifecycle)] == ["ContainerDied", "ContainerStarted"]


def test_of_several_stalls_the_last_to_end_lets_the_loop_go_on() -> None:
    node = populated()
    node.plan.schedule(
        [SyncLoopStalls(at=NOW, lasts=seconds(2)), SyncLoopStalls(at=NOW, lasts=seconds(6))]
    )
    node.run(0.1)
    node.workers.end_container("uid-a", "app", ERROR)
    node.run(5)
    assert node.of(SyncBegan) == []
    node.run(2)
    assert node.of(SyncBegan) != []


def test_without_room_events_are_discarded_and_a_minute_later_the_pods_are_synced() -> None:
    node = populated()
    node.plan.begin(SyncLoopStalls(at=NOW, lasts=seconds(5), room=1))
    for uid in ("uid-a", "uid-b", "uid-c"):
        node.workers.end_container(uid, "app", ERROR)
    node.run(6)
    deliveries = sorted(one.delivery for one in node.of(Lifecycle) if one.type == "ContainerDied")
    assert deliveries == ["discarded", "discarded", "sent"]
    assert sum(one.type == "ContainerStarted" for one in node.of(Lifecycle)) == 1
    node.run(90)
    assert sum(one.type == "ContainerStarted" for one in node.of(Lifecycle)) == 3
    assert {one.delivery for one in node.of(Lifecycle)[3:]} == {"sent"}


@pytest.mark.parametrize(("channel", "room"), [(None, 0), (1000, None)])
def test_a_channel_without_an_end_or_an_empty_one_takes_all(
    channel: int | None, room: int | None
) -> None:
    node = populated(channel=channel)
    node.plan.begin(SyncLoopStalls(at=NOW, lasts=seconds(5), room=room))
    node.workers.end_container("uid-a", "app", ERROR)
    node.run(2)
    assert [one.delivery for one in node.of(Lifecycle)] == ["sent"]


# ---------------------------------------------------------------------------- on the node itself


def test_short_lived_pods_come_end_and_go() -> None:
    node = populated(1)
    fault = ShortLivedPods(
        at=NOW, lasts=seconds(4), every=(millis(500), millis(500)), ttl=(seconds(2), seconds(2))
    )
    active = node.plan.begin(fault)
    node.run(3.9)
    assert active.hits == 8
    assert any(pod.namespace == nodefaults.NAMESPACE for pod in node.workers.pods)
    node.run(20)
    assert active.hits == 8
    assert [pod.name for pod in node.workers.pods] == ["a"]
    assert node.world.count == 2
    assert node.ledger.ends(frozenset()).happened == 8
    assert node.differences() == ()


def test_short_lived_pods_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodefaults, "MOST_ALIVE", 5)
    node = populated(1)
    fault = ShortLivedPods(at=NOW, every=(millis(10), millis(10)), ttl=(seconds(100), seconds(100)))
    active = node.plan.begin(fault)
    node.run(10)
    assert active.hits == 5


def test_the_same_seed_brings_the_same_short_lived_pods() -> None:
    def names() -> list[str]:
        node = populated(1)
        node.plan.begin(ShortLivedPods(at=NOW))
        node.run(3)
        return [pod.uid for pod in node.workers.pods]

    first = names()
    assert len(first) > 2
    assert names() == first


def test_a_storm_ends_every_process_of_its_pods_within_its_time() -> None:
    node = populated(4)
    active = node.plan.begin(
        TerminationStorm(at=NOW, pods="shop/[ab]", within=millis(5), ending="killed")
    )
    node.run(0.006)
    assert active.hits == 2
    assert node.ledger.ends(frozenset()).happened == 4
    node.run(20)
    died = [one for one in node.of(Lifecycle) if one.type == "ContainerDied"]
    assert {(one.uid, one.exit_code) for one in died} == {("uid-a", 137), ("uid-b", 137)}
    assert node.plan.quiet
    assert node.differences() == ()


def test_a_storm_may_spare_some() -> None:
    node = populated(8)
    active = node.plan.begin(TerminationStorm(at=NOW, share=0.5))
    node.run(0.1)
    assert 0 < active.hits < 8
    assert node.ledger.ends(frozenset()).happened == 2 * active.hits


def test_a_held_request_of_a_slow_sync_becomes_one_relist_afterwards() -> None:
    node = populated(1)
    node.plan.begin(slow())
    node.workers.end_container("uid-a", "app", ERROR)
    node.run(1)
    node.records.clear()
    node.workers.end_container("uid-a", "side", ERROR)
    node.run(4)
    outcomes = [one.outcome for one in node.of(RequestMade, "uid-a")]
    assert outcomes[0] == "held"
    assert [one.outcome for one in node.of(RequestMoved, "uid-a")][:1] == ["released"]
