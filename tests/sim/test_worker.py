"""One pod's worker: what it waits for, what it gives up, and in which phase it is."""

from typing import Any

import pytest

from app.engine.inputs import RelistRequested, SyncEnded, SyncStarted
from app.engine.records import (
    Lifecycle,
    RelistFinished,
    RequestMade,
    SyncBegan,
    SyncFinished,
)
from app.engine.settings import EngineSettings
from app.sim.faults import InspectionsFail, RuntimeRestarts
from app.sim.flavour import MS, SECOND
from app.sim.milestones import Milestone, What
from app.sim.objects import ContainerConfig
from app.sim.pods import COMPLETED, ERROR, ContainerSpec, Probe, Resources
from app.sim.units import Ns, seconds
from app.sim.worker import PodWorker
from app.sim.workers import WorkerSettings
from tests.sim.orders import ends, order, runs_on, slow_to_stop
from tests.sim.virtual import VirtualNode


@pytest.fixture
def node() -> VirtualNode:
    made = VirtualNode()
    made.run(0.5)
    return made


def add(node: VirtualNode, *containers: ContainerSpec, **more: Any) -> PodWorker:
    node.workers.add(order("web", *containers, **more))
    node.run(4)
    node.inputs.clear()
    node.records.clear()
    node.milestones.clear()
    return node.workers._pods["uid-web"]


def phase(worker: PodWorker) -> str:
    return worker.phase


def syncs(node: VirtualNode) -> int:
    return sum(isinstance(one, SyncStarted) for one in node.inputs)


def test_reasons_that_come_during_a_sync_make_one_more(node: VirtualNode) -> None:
    worker = add(node, slow_to_stop(ns=2 * SECOND))
    node.workers.fail_probe("uid-web", ("app",))
    node.run(1)
    for _ in range(5):
        worker.poke()
    # Wait for the end of the sync in progress, and only just: the restart pokes again later.
    node.run(1.3)
    ended = [one for one in node.inputs if isinstance(one, SyncEnded)]
    assert ended[0].did_work
    assert syncs(node) <= 3


def test_a_sync_begins_no_sooner_than_a_relist_has_seen_the_last_ones_work(
    node: VirtualNode,
) -> None:
    worker = add(node)
    worker.poke()
    node.run(0.05)
    first = node.of(SyncFinished)[0]
    worker.poke()
    node.run(2)
    second = node.of(SyncBegan)[1]
    relists = [one for one in node.of(RelistFinished) if one.started >= first.t]
    assert second.t == relists[0].t


def test_while_the_inspection_fails_there_is_no_sync_and_then_there_is(
    node: VirtualNode,
) -> None:
    worker = add(node)
    node.plan.begin(InspectionsFail(at=Ns(0), pods="*/web"))
    node.workers.end_container("uid-web", "app", ERROR)
    node.run(3)
    assert node.of(Lifecycle) == []  # the PLEG ignores events of a pod it cannot inspect
    worker.poke()
    node.run(3)
    assert syncs(node) == 0
    node.plan.heal("inspections")
    node.run(4)
    assert syncs(node) > 0
    assert [
        one.config.attempt for one in node.world.pod_containers("uid-web") if one.state == "running"
    ] == [1]


def test_a_probe_that_fails_during_a_sync_is_seen_to_by_the_next(node: VirtualNode) -> None:
    add(node, slow_to_stop("app"), slow_to_stop("side"))
    node.workers.fail_probe("uid-web", ("app",))
    node.run(1)
    node.workers.fail_probe("uid-web", ("side",))
    node.run(12)
    attempts = {
        one.config.name: one.config.attempt
        for one in node.world.pod_containers("uid-web")
        if one.state == "running"
    }
    assert attempts == {"app": 1, "side": 1}


def test_phases_of_a_job_that_is_done_and_deleted(node: VirtualNode) -> None:
    worker = add(node, ends(SECOND, COMPLETED), restart_policy="Never")
    assert phase(worker) == "terminated"
    assert not worker.deleted
    node.workers.delete("uid-web")
    node.run(8)
    assert phase(worker) == "removed"


def test_phases_of_a_pod_that_is_deleted(node: VirtualNode) -> None:
    worker = add(node, slow_to_stop(ns=3 * SECOND))
    assert phase(worker) == "syncing"
    node.workers.delete("uid-web")
    node.run(1)
    assert phase(worker) == "terminating"
    node.run(10)
    assert phase(worker) == "removed"


def test_a_terminating_pod_does_not_sync_whatever_the_pleg_finds(node: VirtualNode) -> None:
    worker = add(node, slow_to_stop(ns=3 * SECOND))
    node.workers.delete("uid-web")
    node.run(1)
    worker.poke()
    node.run(10)
    assert syncs(node) == 0


def test_a_failed_sync_is_tried_again_when_its_back_off_ends() -> None:
    node = VirtualNode(workers=WorkerSettings(backoff_scale=0.5))
    node.workers.add(order("web", ends(200 * MS)))
    node.run(6)
    failed = [one for one in node.of(SyncFinished) if one.failed]
    assert failed
    died = [one for one in node.of(Lifecycle) if one.type == "ContainerDied"]
    node.run(6)
    again = next(one for one in node.of(SyncFinished) if one.did_work and one.t > failed[-1].t)
    # 5 s after the container's end, and then as soon as a relist is newer than the last sync.
    waited = (again.t - died[-1].t) / SECOND
    assert 4.8 < waited < 6.5


def test_a_stopped_worker_does_nothing_more(node: VirtualNode) -> None:
    worker = add(node)
    worker.stop()
    worker.poke()
    node.run(3)
    assert phase(worker) == "removed"
    assert syncs(node) == 0


# ----------------------------------------------- every sync waits for what is newer than the last


def reached(node: VirtualNode, what: What) -> list[Milestone]:
    return [one for one in node.milestones if one.what == what]


def test_the_end_of_a_pod_waits_for_the_cache_at_each_step() -> None:
    node = VirtualNode(engine=EngineSettings(profile="polling"))
    add(node, runs_on(term=(10 * MS, 10 * MS)))
    node.run(2)
    node.workers.delete("uid-web")
    node.run(5)
    # It had not synced for seconds, so it is terminated at once; but what that did has to be seen.
    (waited,) = reached(node, "waited")
    (deleted,) = reached(node, "deleted")
    assert waited.since_t % SECOND == 0  # the sync loop's look into the work queue
    assert waited.since_t <= deleted.since_t + SECOND
    relists = [one.started for one in node.of(RelistFinished) if one.scope == "global"]
    first = min(one for one in relists if one >= waited.since_t)
    assert first <= waited.t <= first + 100 * MS
    assert deleted.t > waited.t


def test_a_pod_that_is_deleted_while_its_worker_waits_is_synced_and_waits_again() -> None:
    node = VirtualNode(engine=EngineSettings(profile="polling"))
    worker = add(node, runs_on(term=(10 * MS, 10 * MS)))
    node.run(2.1)  # past the poll
    worker.poke()
    node.run(0.05)
    worker.poke()
    node.workers.delete("uid-web")
    node.run(0.01)
    assert (phase(worker), syncs(node)) == ("syncing", 1)
    node.run(8)
    began, ended = node.of(SyncBegan)[1], node.of(SyncFinished)[1]
    # It was cancelled before it came, so it only looks.
    assert ended.t - began.t < 10 * MS
    assert (ended.did_work, ended.failed) == (False, True)
    assert len(reached(node, "waited")) == 3
    assert len(reached(node, "deleted")) == 1
    assert phase(worker) == "removed"


def test_what_the_cache_does_not_show_is_not_stopped_and_the_kubelet_notices(
    node: VirtualNode,
) -> None:
    worker = add(node)
    # Somebody starts a container beside the kubelet's, and the cache is not told.
    (sandbox,) = node.world.pod_sandboxes("uid-web")
    config = ContainerConfig(name="other", image="i", labels={"io.kubernetes.pod.uid": "uid-web"})
    node.workers.delete("uid-web")
    made = node.world.create_container(sandbox.id, config, node.clock.wall())
    node.world.start_container(made.id, node.clock.wall())
    node.run(10)
    # Stopping the sandbox ends it too: the pod is gone all the same.
    assert phase(worker) == "removed"
    assert node.world.pod_containers("uid-web") == []


def test_a_phase_that_ends_by_itself_goes_on_with_the_sync_loops_next_look(
    node: VirtualNode,
) -> None:
    worker = add(node, ends(SECOND, COMPLETED), restart_policy="Never")
    assert worker.finished
    assert phase(worker) == "terminated"


# ------------------------------------------------------------------------- probes that fail


@pytest.mark.parametrize("kind", ["liveness", "startup"])
def test_a_probe_that_fails_after_each_start_makes_a_crash_loop(kind: Any) -> None:
    node = VirtualNode(workers=WorkerSettings(backoff_scale=0.1))
    probe = Probe(kind, (2 * SECOND, 2 * SECOND))
    node.workers.add(order("web", runs_on(probe=probe, term=(50 * MS, 50 * MS))))
    node.run(30)
    deaths = [
        one for one in node.of(Lifecycle) if one.type == "ContainerDied" and not one.is_sandbox
    ]
    assert [one.attempt for one in deaths] == list(range(len(deaths)))
    assert len(deaths) >= 4
    assert node.workers.probes_failed[kind] == len(deaths)


def test_a_pod_that_is_never_restarted_ends_when_its_only_container_fails_its_probe(
    node: VirtualNode,
) -> None:
    worker = add(node, restart_policy="Never")
    node.workers.fail_probe("uid-web", ("app",))
    node.run(6)
    assert phase(worker) == "terminated"
    assert [one.state for one in node.world.pod_sandboxes("uid-web")] == ["notready"]
    assert [one.config.attempt for one in node.world.pod_containers("uid-web")] == [0]


# --------------------------------------------------------------------------- resize in place

MORE = Resources(500, 256)


def test_a_resize_is_seen_after_one_sync_one_relist_and_another_sync(node: VirtualNode) -> None:
    add(node)
    node.workers.resize("uid-web", "app", MORE)
    node.run(2)
    (resized,) = reached(node, "resized")
    assert resized.took_ns < 100 * MS
    # One that changes the runtime, and one that sees that it holds; the PodSync makes one more.
    assert [(one.did_work, one.failed) for one in node.of(SyncFinished)][:2] == [
        (True, False),
        (False, False),
    ]
    asked = [one.source for one in node.inputs if isinstance(one, RelistRequested)]
    assert asked == ["post_allocation", "post_sync"]
    # The request of the allocation waited for SyncPod, and took the other one in.
    assert [(one.source, one.outcome) for one in node.of(RequestMade)] == [
        ("post_allocation", "held"),
        ("post_sync", "queued"),
    ]
    told = [(one.type, one.source) for one in node.of(Lifecycle)]
    assert told == [("PodSync", "post_allocation")]
    (container,) = node.world.pod_containers("uid-web")
    assert (container.config.attempt, container.state) == (0, "running")


def test_a_worker_that_waits_for_the_cache_is_set_free_by_the_allocations_request(
    node: VirtualNode,
) -> None:
    worker = add(node)
    worker.poke()
    node.run(0.02)
    assert syncs(node) == 1  # that one did nothing, and asked for nothing
    node.workers.resize("uid-web", "app", MORE)
    node.run(2)
    (resized,) = reached(node, "resized")
    assert resized.took_ns < 150 * MS


def test_without_relists_on_demand_a_resize_waits_for_the_poll() -> None:
    node = VirtualNode(engine=EngineSettings(profile="polling"))
    add(node)
    node.workers.resize("uid-web", "app", MORE)
    node.run(4)
    (resized,) = reached(node, "resized")
    polls = [one.started for one in node.of(RelistFinished)]
    assert any(resized.since_t < one < resized.t for one in polls)
    assert node.of(RequestMade) == []


def test_a_container_that_restarts_meanwhile_gets_the_new_resources_with_its_start(
    node: VirtualNode,
) -> None:
    add(node)
    node.workers.end_container("uid-web", "app", ERROR)
    node.workers.resize("uid-web", "app", MORE)
    node.run(6)
    assert len(reached(node, "resized")) == 1
    assert [one.config.attempt for one in node.world.pod_containers("uid-web")] == [0, 1]


def test_a_resize_that_the_runtime_refuses_is_tried_again(node: VirtualNode) -> None:
    add(node)
    node.workers.resize("uid-web", "app", MORE)
    node.plan.begin(RuntimeRestarts(at=Ns(0), lasts=seconds(2)))
    node.run(1.5)
    assert reached(node, "resized") == []
    assert [one.failed for one in node.of(SyncFinished)][:1] == [True]
    node.run(8)
    assert len(reached(node, "resized")) == 1


def test_resizing_what_is_not_there_is_ignored(node: VirtualNode) -> None:
    add(node)
    node.workers.resize("nobody", "app", MORE)
    node.workers.resize("uid-web", "nothing", MORE)
    node.workers.delete("uid-web")
    node.workers.resize("uid-web", "app", MORE)
    node.run(8)
    assert not any(isinstance(one, RelistRequested) for one in node.inputs)


# ------------------------------------------------------------------ what the kubelet has got done


def test_a_new_pod_is_running_when_a_sync_sees_it_run(node: VirtualNode) -> None:
    node.workers.add(order("web", runs_on("app"), runs_on("side")))
    node.run(4)
    (running,) = reached(node, "running")
    first, second = node.of(SyncFinished)[0], node.of(SyncBegan)[1]
    assert first.did_work
    assert running.t == second.t > first.t
    node.workers.end_container("uid-web", "app", ERROR)
    node.run(4)
    assert len(reached(node, "running")) == 1


def test_a_resize_by_a_stale_entry_fails_and_the_restart_makes_up_for_it() -> None:
    node = VirtualNode(engine=EngineSettings(profile="polling"))
    add(node)
    node.run(2.1)  # past the poll
    node.workers.end_container("uid-web", "app", ERROR)
    node.run(0.3)  # the runtime knows, the cache does not
    node.workers.resize("uid-web", "app", MORE)
    node.run(0.1)
    (failed,) = node.of(SyncFinished)
    assert (failed.did_work, failed.failed) == (True, True)
    node.run(8)
    assert len(reached(node, "resized")) == 1
    states = [one.state for one in node.world.pod_containers("uid-web")]
    assert states == ["exited", "running"]


def test_a_kubelet_whose_cache_is_blind_stops_nothing_and_tries_again(node: VirtualNode) -> None:
    worker = add(node)
    entry = node.workers.cache._entries.pop("uid-web")
    node.workers.delete("uid-web")
    node.run(20)
    assert phase(worker) == "terminating"
    assert [one.state for one in node.world.pod_containers("uid-web")] == ["running"]
    node.workers.cache._entries["uid-web"] = entry
    node.run(10)
    assert phase(worker) == "removed"
    assert node.world.pod_containers("uid-web") == []
