"""Pod workers with the real engine in virtual time: the contract of a kubelet's pod worker.

The ids in the names (I1 to I7, P1 to P4) are rows of the PLEG behaviours that this project keeps.
"""

from collections import Counter
from typing import TypeVar

import pytest

from app.engine.inputs import EventsTaken, Input, RelistRequested, SyncEnded, SyncStarted
from app.engine.records import (
    Lifecycle,
    PodGone,
    RelistFinished,
    RelistStarted,
    RequestMade,
    RequestMoved,
    SyncBegan,
    SyncFinished,
)
from app.sim.faults import RuntimeFreezes, RuntimeRestarts
from app.sim.flavour import MS, SECOND
from app.sim.objects import SandboxConfig
from app.sim.pods import COMPLETED, ERROR, OOM_KILLED, Ending, PodSpec, Resources, RestartPolicy
from app.sim.units import Ns, seconds
from app.sim.workers import WorkerSettings
from tests.sim.orders import ends, order, runs_on, slow_to_stop
from tests.sim.virtual import VirtualNode

T = TypeVar("T", bound=Input)


@pytest.fixture
def node() -> VirtualNode:
    """A node whose first global relist is over."""
    made = VirtualNode()
    made.run(0.5)
    return made


def settled(node: VirtualNode, *pods: PodSpec) -> None:
    """Add pods, and wait until nothing moves any more."""
    for pod in pods:
        node.workers.add(pod)
    node.run(5)
    node.inputs.clear()
    node.records.clear()
    node.events.clear()


def asked(node: VirtualNode, kind: type[T]) -> list[T]:
    return [one for one in node.inputs if isinstance(one, kind)]


def found(node: VirtualNode) -> list[str]:
    return [f"{one.type} {one.container_name or 'sandbox'}" for one in node.of(Lifecycle)]


def windows(node: VirtualNode) -> list[tuple[int, int]]:
    """The SyncPod windows (monotonic ns)."""
    began = [one.t for one in node.of(SyncBegan)]
    return list(zip(began, [one.t for one in node.of(SyncFinished)], strict=True))


# --------------------------------------------------------------------------- adding a pod


def test_a_new_pod_gets_sandbox_and_containers_within_one_sync(node: VirtualNode) -> None:
    node.workers.add(order("web", runs_on("app"), runs_on("side")))
    node.run(3)
    assert [one.kind for one in node.events] == ["created", "started"] * 3
    began, ended = windows(node)[0]
    to_mono = node.clock.mono() - node.clock.wall()
    assert all(began <= one.created_at + to_mono <= ended for one in node.events)
    assert Counter(found(node)) == Counter(
        ["ContainerStarted sandbox", "ContainerStarted app", "ContainerStarted side"]
    )
    assert {one.source for one in node.of(Lifecycle)} == {"post_sync"}


def test_a_pod_that_is_known_is_not_added_twice(node: VirtualNode) -> None:
    pod = order()
    settled(node, pod)
    node.workers.add(pod)
    node.run(2)
    assert node.inputs == []
    assert len(node.workers.pods) == 1


def test_no_pod_is_synced_before_the_first_global_relist() -> None:
    node = VirtualNode()
    node.workers.add(order())
    node.run(3)
    first_relist = node.of(RelistFinished)[0]
    assert node.of(SyncBegan)[0].t >= first_relist.t


# ------------------------------------------------------- I1 to I4: the post-sync request


def test_i1_one_request_after_a_sync_that_did_something(node: VirtualNode) -> None:
    node.workers.add(order())
    node.run(3)
    (request,) = asked(node, RelistRequested)
    assert (request.uid, request.source) == ("uid-web", "post_sync")
    (worked,) = [one for one in asked(node, SyncEnded) if one.did_work]
    # After the hold was released, not within it.
    assert node.inputs.index(request) == node.inputs.index(worked) + 1


def test_i2_no_request_after_a_sync_that_found_nothing_to_do(node: VirtualNode) -> None:
    settled(node, order())
    node.workers._pods["uid-web"].poke()
    node.run(2)
    assert [(one.did_work, one.failed) for one in node.of(SyncFinished)] == [(False, False)]
    assert asked(node, RelistRequested) == []


def test_i3_no_request_after_a_sync_that_has_to_back_off(node: VirtualNode) -> None:
    node.workers.add(order("web", ends(500 * MS)))
    node.run(3)  # started, died, restarted at once, died again: now it backs off
    failed = [one for one in node.of(SyncFinished) if one.failed]
    assert [(one.did_work, one.failed) for one in failed] == [(False, True)]
    after = [one for one in node.of(RequestMade) if one.t >= failed[0].t]
    assert [one.source for one in after if one.t == failed[0].t] == []


def test_i3_no_request_after_a_sync_that_the_runtime_refuses(node: VirtualNode) -> None:
    # Somebody else has taken the name: the kubelet's cache does not show it yet.
    pod = order()
    node.world.run_sandbox(
        SandboxConfig(name=pod.name, uid=pod.uid, namespace=pod.namespace), node.clock.wall()
    )
    node.workers.add(pod)
    node.run(1)
    assert (node.of(SyncFinished)[0].did_work, node.of(SyncFinished)[0].failed) == (True, True)
    assert asked(node, RelistRequested) == []
    # The cache shows it now: the pod's worker goes on with the sandbox that is there.
    node.run(5)
    assert len(node.world.pod_sandboxes(pod.uid)) == 1
    assert [one.state for one in node.world.pod_containers(pod.uid)] == ["running"]


def test_i4_terminating_and_terminated_ask_for_nothing_and_hold_nothing(
    node: VirtualNode,
) -> None:
    settled(node, order())
    node.workers.delete("uid-web")
    node.run(8)
    assert asked(node, RelistRequested) == []
    assert asked(node, SyncStarted) == []
    assert {one.source for one in node.of(RequestMade)} == {"evented_pleg"}
    assert [one.uid for one in node.of(PodGone)] == ["uid-web"]


# ----------------------------------------------------------------- I5 to I7: the sync loop


def test_i5_a_removed_container_does_not_sync_its_pod(node: VirtualNode) -> None:
    settled(node, order())
    node.workers.end_container("uid-web", "app", ERROR)
    node.run(4)
    dead = next(one for one in node.world.pod_containers("uid-web") if one.state == "exited")
    node.inputs.clear()
    node.records.clear()
    node.world.remove_container(dead.id, node.clock.wall())
    node.run(3)
    assert found(node) == ["ContainerRemoved app"]
    assert asked(node, SyncStarted) == []


def test_i6_a_died_container_syncs_its_pod_and_is_restarted(node: VirtualNode) -> None:
    settled(node, order())
    old = node.world.pod_containers("uid-web")[0]
    assert node.workers.end_container("uid-web", "app", OOM_KILLED)
    node.run(2)
    died = node.of(Lifecycle)[0]
    assert (died.type, died.exit_code, died.reason) == ("ContainerDied", 137, "OOMKilled")
    assert died.source == "evented_pleg"
    assert node.of(SyncBegan)[0].t == died.t
    states = {one.config.attempt: one.state for one in node.world.pod_containers("uid-web")}
    assert states == {0: "exited", 1: "running"}
    assert node.world.container(old.id).finished_at > 0


def test_i6_of_a_containers_dead_instances_the_newest_is_kept(node: VirtualNode) -> None:
    node.workers.add(order("web", ends(300 * MS)))
    node.run(20)
    attempts = sorted(
        one.config.attempt for one in node.world.pod_containers("uid-web") if one.state == "exited"
    )
    newest = max(one.config.attempt for one in node.world.pod_containers("uid-web"))
    assert newest >= 4
    assert len(attempts) == 1
    assert attempts[0] in {newest, newest - 1}
    deleted = [one for one in node.events if one.kind == "deleted"]
    assert len(deleted) == attempts[0]


def test_i7_events_of_a_pod_that_the_kubelet_does_not_know_are_ignored(
    node: VirtualNode,
) -> None:
    node.world.run_sandbox(SandboxConfig(name="s", uid="foreign", namespace="n"), 1)
    node.run(3)
    assert [one.uid for one in node.of(Lifecycle)] == ["foreign"]
    assert asked(node, SyncStarted) == []


def test_the_sync_loop_says_how_many_events_it_took(node: VirtualNode) -> None:
    settled(node, order())
    node.workers.end_container("uid-web", "app", ERROR)
    node.run(3)
    sent = [one for one in node.of(Lifecycle) if one.delivery == "sent"]
    assert sum(one.count for one in asked(node, EventsTaken)) == len(sent) > 0


# -------------------------------------------------------------- P1 to P4: the suspension


def test_p1_p2_stops_within_a_sync_wait_and_make_one_relist_after_it(node: VirtualNode) -> None:
    settled(node, order("web", slow_to_stop("app"), slow_to_stop("side", SECOND)))
    node.workers.fail_probe("uid-web", ("app", "side"))
    node.run(4)
    began, ended = windows(node)[0]
    assert ended - began > 2 * SECOND
    stops = [one for one in node.of(RequestMade) if one.source == "evented_pleg"]
    assert [one.outcome for one in stops] == ["held", "coalesced"]
    assert all(began < one.t < ended for one in stops)
    targeted = [one for one in node.of(RelistStarted) if one.scope == "pod"]
    assert targeted[0].t == ended
    assert not any(began < one.t < ended for one in targeted)
    assert node.of(RequestMoved)[0].outcome == "released"
    # Old instances dead and new ones running: seen in one picture, never in between.
    first = [one for one in node.of(Lifecycle) if one.relist == targeted[0].relist]
    assert Counter(one.type for one in first) == {"ContainerDied": 2, "ContainerStarted": 2}


def test_p3_a_sync_without_requests_releases_nothing(node: VirtualNode) -> None:
    settled(node, order())
    node.workers._pods["uid-web"].poke()
    node.run(2)
    assert node.of(RequestMoved) == []
    assert [one.held for one in node.of(SyncFinished)] == [0]


def test_p4_the_hold_is_released_when_a_sync_is_cancelled(node: VirtualNode) -> None:
    settled(node, order("web", slow_to_stop(ns=20 * SECOND)))
    node.workers.fail_probe("uid-web", ("app",))
    node.run(1)
    assert node.engine.state(node.clock.mono()).queue.suspended == 1
    node.workers.delete("uid-web")
    (ended,) = asked(node, SyncEnded)
    assert (ended.did_work, ended.failed) == (False, True)
    assert node.engine.state(node.clock.mono()).queue.suspended == 0
    node.run(40)
    assert [one.uid for one in node.of(PodGone)] == ["uid-web"]
    assert node.world.containers() == []


def test_p4_the_hold_is_released_when_a_sync_fails(node: VirtualNode) -> None:
    node.workers.add(order("web", ends(100 * MS)))
    node.run(20)
    ended = asked(node, SyncEnded)
    assert any(one.failed for one in ended)
    assert len(ended) == len(asked(node, SyncStarted))


def test_started_and_ended_alternate_for_every_pod() -> None:
    node = VirtualNode(seed=3)
    pods = [order(f"p{n}", ends((200 + 90 * n) * MS), runs_on("side")) for n in range(6)]
    for pod in pods:
        node.workers.add(pod)
    for second in range(20):
        node.run(1)
        if second % 5 == 4:
            node.workers.delete(pods[second // 5].uid)
    for pod in pods:
        mine = [
            type(one).__name__
            for one in node.inputs
            if isinstance(one, SyncStarted | SyncEnded) and one.uid == pod.uid
        ]
        assert mine[::2] == ["SyncStarted"] * len(mine[::2])
        assert mine[1::2] == ["SyncEnded"] * len(mine[1::2])
        assert len(mine) >= 4


# ----------------------------------------------------------------------- restarts, back-off


def restarts(node: VirtualNode) -> list[float]:
    """Seconds from each end of a container to its next start, by the runtime's own times."""
    finished, started = [], []
    for event in node.events:
        own = [one for one in event.containers if one.id == event.container_id]
        if own and event.kind == "stopped":
            finished.append(own[0].finished_at)
        elif own and event.kind == "started":
            started.append(own[0].started_at)
    return [(start - end) / SECOND for end, start in zip(finished, started[1:], strict=False)]


def test_a_crash_loop_waits_longer_each_time() -> None:
    node = VirtualNode(workers=WorkerSettings(backoff_scale=0.1))
    node.workers.add(order("web", ends(200 * MS)))
    node.run(120)
    pauses = restarts(node)
    expected = [0, 1, 2, 4, 8, 16, 30, 30]
    assert len(pauses) >= 7
    for pause, least in zip(pauses, expected, strict=False):
        assert least <= pause < least + 1.5


def test_a_job_that_may_fail_is_restarted_until_it_succeeds_and_then_ends(
    node: VirtualNode,
) -> None:
    settled(node, order("job", restart_policy="OnFailure"))
    node.workers.end_container("uid-job", "app", ERROR)
    node.run(3)
    node.workers.end_container("uid-job", "app", COMPLETED)
    node.run(5)
    states = {one.config.attempt: one.exit_code for one in node.world.pod_containers("uid-job")}
    assert states == {1: 0}
    assert [one.state for one in node.world.pod_sandboxes("uid-job")] == ["notready"]


def test_a_job_that_is_done_stays_until_it_is_deleted(node: VirtualNode) -> None:
    node.workers.add(order("job", ends(300 * MS, COMPLETED), restart_policy="Never"))
    node.run(30)
    assert [one.state for one in node.world.pod_containers("uid-job")] == ["exited"]
    assert [one.state for one in node.world.pod_sandboxes("uid-job")] == ["notready"]
    assert "ContainerDied sandbox" in found(node)
    node.workers.delete("uid-job")
    node.run(8)
    assert node.world.sandboxes() == []
    assert node.workers.pods == ()


def test_a_dead_sandbox_is_replaced_and_its_containers_with_it(node: VirtualNode) -> None:
    settled(node, order())
    old = node.world.pod_sandboxes("uid-web")[0]
    node.world.exit_sandbox(old.id, node.clock.wall())
    node.run(8)
    new = [one for one in node.world.pod_sandboxes("uid-web") if one.state == "ready"]
    assert [one.config.attempt for one in new] == [1]
    running = [one for one in node.world.pod_containers("uid-web") if one.state == "running"]
    assert [(one.config.attempt, one.sandbox_id) for one in running] == [(1, new[0].id)]


# ------------------------------------------------------------------------ the end of a pod


def test_a_deleted_pod_ends_in_order(node: VirtualNode) -> None:
    settled(node, order("web", runs_on("app"), slow_to_stop("side")))
    ids = {one.id: one.config.name for one in node.world.pod_containers("uid-web")}
    node.workers.delete("uid-web")
    node.workers.delete("uid-web")
    node.run(10)
    told = [(one.kind, ids.get(one.container_id, "sandbox")) for one in node.events]
    assert told == [
        ("stopped", "app"),
        ("stopped", "side"),
        ("stopped", "sandbox"),
        ("deleted", "app"),
        ("deleted", "side"),
        ("deleted", "sandbox"),
    ]
    assert {one.exit_code for one in node.of(Lifecycle) if one.type == "ContainerDied"} <= {0, None}


def test_a_container_that_ignores_sigterm_holds_its_pod_for_the_grace_time(
    node: VirtualNode,
) -> None:
    settled(node, order("web", runs_on(term=None), grace_ns=4 * SECOND))
    node.workers.delete("uid-web")
    node.run(3.9)
    assert node.world.pod_containers("uid-web")[0].state == "running"
    node.run(1)
    ended = node.world.pod_containers("uid-web")[0]
    assert (ended.exit_code, ended.reason) == (137, "Error")


def test_a_pod_that_is_deleted_before_it_was_synced_leaves_nothing(node: VirtualNode) -> None:
    node.workers.add(order())
    node.workers.delete("uid-web")
    node.run(8)
    assert node.workers.pods == ()
    assert node.world.sandboxes() == []
    assert asked(node, SyncStarted) == []


def test_a_pod_that_is_deleted_while_its_sandbox_is_made_leaves_nothing(
    node: VirtualNode,
) -> None:
    for number in range(8):
        node.workers.add(order(f"p{number}"))
    for number in range(8):
        node.run(0.1)
        node.workers.delete(f"uid-p{number}")
    node.run(10)
    assert node.workers.pods == ()
    assert node.world.sandboxes() == []
    assert node.engine.state(node.clock.mono()).queue.suspended == 0


def test_deleting_or_hurting_what_is_not_there_is_ignored(node: VirtualNode) -> None:
    node.workers.delete("nobody")
    node.workers.fail_probe("nobody", ("app",))
    assert not node.workers.end_container("nobody", "app", ERROR)
    node.run(2)
    assert node.inputs == []


# -------------------------------------------------------- what the PLEG does not see, nobody does


def test_without_the_stream_a_death_is_noticed_by_the_next_global_relist() -> None:
    node = VirtualNode(stream=False)
    node.run(0.5)
    settled(node, order())
    node.workers.end_container("uid-web", "app", ERROR)
    node.run(3)
    died = node.of(Lifecycle)[0]
    assert died.source == "global"
    assert node.of(SyncBegan)[0].t >= died.t


def test_a_sync_waits_for_a_cache_entry_newer_than_the_last_sync(node: VirtualNode) -> None:
    settled(node, order("web", ends(2 * SECOND)))
    node.run(12)
    for began in node.of(SyncBegan)[1:]:
        ended_before = [one.t for one in node.of(SyncFinished) if one.t <= began.t]
        fresh = [
            one.started
            for one in node.of(RelistFinished)
            if one.t <= began.t and one.ok and (one.uid in (None, "uid-web")) and not one.withheld
        ]
        if ended_before and fresh:
            assert max(fresh) >= ended_before[-1]


def test_adopted_pods_are_there_before_the_first_relist_and_are_old() -> None:
    node = VirtualNode()
    node.workers.adopt(order("web", runs_on("app"), runs_on("side")), 3600 * SECOND)
    (sandbox,) = node.world.pod_sandboxes("uid-web")
    assert node.clock.wall() - sandbox.created_at == 3600 * SECOND
    node.run(3)
    assert len(node.of(Lifecycle)) == 3
    assert {(one.did_work, one.failed) for one in node.of(SyncFinished)} == {(False, False)}
    assert asked(node, RelistRequested) == []


def test_after_stop_nothing_is_fed_any_more(node: VirtualNode) -> None:
    settled(node, order("web", slow_to_stop()))
    node.workers.fail_probe("uid-web", ("app",))
    node.run(1)
    node.inputs.clear()
    node.workers.stop()
    node.run(10)
    assert node.inputs == []


def test_hurting_or_resizing_a_pod_that_is_gone_meanwhile_is_ignored(node: VirtualNode) -> None:
    settled(node, order("web"))
    node.workers.resize("uid-web", "app", Resources(500, 256))
    node.workers.delete("uid-web")
    node.run(8)
    node.workers.sync_again("uid-web")
    assert not any(one.what == "resized" for one in node.milestones)
    assert asked(node, RelistRequested) == []


def test_a_virtual_node_is_the_same_each_time() -> None:
    def life() -> list[object]:
        node = VirtualNode(seed=11)
        for number in range(5):
            node.workers.add(order(f"p{number}", ends(700 * MS, OOM_KILLED), runs_on("side")))
        node.run(30)
        return [*node.records, *node.events]

    first = life()
    assert len(first) > 200
    assert life() == first


# ------------------------------------------------- a runtime that is down or frozen; held still


def test_what_the_runtime_refuses_while_it_is_down_is_done_afterwards(node: VirtualNode) -> None:
    settled(node, order("web"), order("db"))
    node.plan.begin(RuntimeRestarts(at=Ns(0), lasts=seconds(5)))
    node.workers.delete("uid-db")
    node.workers.add(order("new"))
    node.run(4)
    assert {one.config.name for one in node.world.sandboxes()} == {"web", "db"}
    node.run(15)
    assert {one.config.name for one in node.world.sandboxes()} == {"web", "new"}
    assert all(one.state == "running" for one in node.world.everything())


def test_a_pod_that_cannot_be_collected_yet_is_collected_later(node: VirtualNode) -> None:
    settled(node, order("web"))
    node.workers.delete("uid-web")
    while not node.workers._pods["uid-web"].finished:
        node.run(0.01)
    node.plan.begin(RuntimeRestarts(at=Ns(0), lasts=seconds(8)))
    node.run(7)
    assert node.workers.pods != ()
    node.run(10)
    assert node.workers.pods == ()
    assert node.world.sandboxes() == []


def test_on_a_frozen_runtime_a_sync_hangs_and_goes_on(node: VirtualNode) -> None:
    settled(node, order("web"))
    node.workers.fail_probe("uid-web", ("app",))
    node.run(0.001)
    node.plan.begin(RuntimeFreezes(at=Ns(0), lasts=seconds(20)))
    node.run(19)
    assert len(node.of(SyncBegan)) == 1
    assert node.of(SyncFinished) == []
    node.run(5)
    assert node.of(SyncFinished)[0].duration_ns > 19 * SECOND
    assert node.of(SyncFinished)[0].did_work


def test_the_deletor_leaves_what_it_cannot_remove_for_the_next_time(node: VirtualNode) -> None:
    settled(node, order("web"))
    for _ in range(2):
        node.workers.end_container("uid-web", "app", ERROR)
        node.run(8)
    node.workers.end_container("uid-web", "app", ERROR)
    node.run(0.2)
    node.plan.begin(RuntimeRestarts(at=Ns(0), lasts=seconds(1)))
    node.run(30)
    node.workers.end_container("uid-web", "app", ERROR)
    node.run(30)
    dead = [one for one in node.world.everything() if one.state == "exited"]
    assert len(dead) == 1


def test_held_still_syncs_end_and_the_engine_hears_of_it(node: VirtualNode) -> None:
    settled(node, order("web"))
    node.workers.fail_probe("uid-web", ("app",))
    node.run(0.001)
    assert len(asked(node, SyncStarted)) == 1
    node.workers.hold()
    assert len(asked(node, SyncEnded)) == 1
    assert node.engine.state(node.clock.mono()).queue.suspended == 0
    before = {one.id: one.state for one in node.world.everything()}
    node.run(60)
    assert {one.id: one.state for one in node.world.everything()} == before
    assert len(asked(node, SyncStarted)) == 1


# ------------------------------------------------------------------- the kubelet's own back-off


def test_the_kubelets_back_off_doubles_from_ten_seconds_to_five_minutes() -> None:
    node = VirtualNode(workers=WorkerSettings(backoff_scale=1))
    node.workers.add(order("web", ends(200 * MS)))
    node.run(30 * 60)
    expected = [0, 10, 20, 40, 80, 160, 300, 300, 300]
    pauses = restarts(node)
    assert len(pauses) >= len(expected)
    for pause, least in zip(pauses, expected, strict=False):
        # Then the sync loop's next look into the work queue, and SyncPod itself.
        assert least <= pause < least + 1.5


def test_a_container_that_has_run_for_ten_minutes_begins_anew() -> None:
    node = VirtualNode(workers=WorkerSettings(backoff_scale=1))
    node.workers.add(order("web"))
    node.run(5)

    def end_after(time_s: float) -> float:
        """How long its restart takes when it ends after so long."""
        node.run(time_s)
        before = len(restarts(node))
        assert node.workers.end_container("uid-web", "app", ERROR)
        while len(restarts(node)) == before:
            node.run(1)
        return restarts(node)[-1]

    assert end_after(1) < 2  # the first restart is immediate
    assert 10 <= end_after(1) < 11.5
    assert 20 <= end_after(1) < 21.5
    assert 40 <= end_after(9 * 60) < 41.5  # nine minutes are not enough
    assert end_after(10 * 60 + 1) < 2
    assert 10 <= end_after(1) < 11.5


@pytest.mark.parametrize(
    ("policy", "ending", "restarted"),
    [
        ("Always", COMPLETED, True),
        ("Always", ERROR, True),
        ("OnFailure", COMPLETED, False),
        ("OnFailure", ERROR, True),
        ("Never", COMPLETED, False),
        ("Never", ERROR, False),
    ],
)
def test_what_the_restart_policy_makes_of_an_end(
    node: VirtualNode, policy: RestartPolicy, ending: Ending, restarted: bool
) -> None:
    settled(node, order("web", restart_policy=policy))
    node.workers.end_container("uid-web", "app", ending)
    node.run(6)
    attempts = {one.config.attempt: one.state for one in node.world.pod_containers("uid-web")}
    assert attempts == ({0: "exited", 1: "running"} if restarted else {0: "exited"})
    phase = node.workers._pods["uid-web"].phase
    assert phase == ("syncing" if restarted else "terminated")
