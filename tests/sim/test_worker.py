"""One pod's worker: what it waits for, what it gives up, and in which phase it is."""

from typing import Any

import pytest

from app.engine.inputs import SyncEnded, SyncStarted
from app.engine.records import Lifecycle, RelistFinished, SyncBegan, SyncFinished
from app.sim.faults import InspectionsFail
from app.sim.flavour import MS, SECOND
from app.sim.pods import COMPLETED, ERROR, ContainerSpec
from app.sim.units import Ns
from app.sim.worker import PodWorker
from app.sim.workers import WorkerSettings
from tests.sim.orders import ends, order, slow_to_stop
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
