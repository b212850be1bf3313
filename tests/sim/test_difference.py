"""What the shadow has otherwise than the runtime: nothing, or exactly what."""

import pytest

from app.sim.difference import Difference
from app.sim.faults import InspectionsFail, ListsHang
from app.sim.pods import ERROR
from app.sim.units import Ns
from tests.sim.orders import order, runs_on
from tests.sim.virtual import VirtualNode


@pytest.fixture
def node() -> VirtualNode:
    """Two pods, seen by the shadow, whose lists hang from now on."""
    made = VirtualNode()
    for pod in (order("web", runs_on("app"), runs_on("side")), order("db")):
        made.workers.add(pod)
    made.run(5)
    assert made.differences() == ()
    made.plan.begin(ListsHang(at=Ns(0)))
    return made


def only(found: tuple[Difference, ...], where: str) -> list[tuple[str, str, str]]:
    return [(one.item, one.runtime, one.shadow) for one in found if one.where == where]


def test_a_death_that_was_not_seen_is_a_difference_of_records_and_cache(node: VirtualNode) -> None:
    app = node.world.pod_containers("uid-web")[0]
    now = node.clock.wall()
    node.world.exit_container(app.id, 1, "Error", now - 5, now)
    found = node.differences()
    assert {one.uid for one in found} == {"uid-web"}
    assert only(found, "records") == [(app.id, "exited", "running")]
    assert only(found, "cache") == [(app.id, f"exited 1 Error at {now - 5}", "running")]


def test_what_came_and_went_unseen_is_one(node: VirtualNode) -> None:
    (box,) = node.world.pod_sandboxes("uid-db")
    (app,) = node.world.pod_containers("uid-db")
    node.world.remove_sandbox(box.id, node.clock.wall())
    found = node.differences()
    assert set(only(found, "records")) == {
        (box.id, "not there", "running"),
        (app.id, "not there", "running"),
    }
    assert ("", "not there", "has an entry") in only(found, "cache")


def test_an_unseen_new_pod_is_one(node: VirtualNode) -> None:
    node.workers.add(order("new"))
    node.workers._pods["uid-new"].poke()
    node.run(3)
    items = {one.id for one in node.world.pod_sandboxes("uid-new")}
    items |= {one.id for one in node.world.pod_containers("uid-new")}
    assert len(items) == 2
    found = node.differences()
    assert {item for item, _, _ in only(found, "records")} == items
    assert {item for item, _, _ in only(found, "cache")} == items
    assert {shadow for _, _, shadow in only(found, "records")} == {"not there"}


def test_the_same_state_with_another_end_is_a_difference_of_the_cache_only(
    node: VirtualNode,
) -> None:
    node.plan.heal("lists")
    node.workers.hold()
    node.run(5)
    app = node.world.pod_containers("uid-db")[0]
    now = node.clock.wall()
    node.world.exit_container(app.id, 1, "Error", now, now)
    node.run(5)
    assert node.differences() == ()
    node.world._containers[app.id] = type(app)(
        app.id, app.sandbox_id, app.config, "exited", app.created_at, app.started_at, now, 137
    )
    found = node.differences()
    assert only(found, "records") == []
    assert [runtime for _, runtime, _ in only(found, "cache")] == [f"exited 137  at {now}"]


def test_an_inspection_that_failed_is_one_of_the_cache(node: VirtualNode) -> None:
    node.plan.heal("lists")
    node.plan.begin(InspectionsFail(at=Ns(0), pods="*/db", error="Unknown: broken"))
    node.workers.end_container("uid-db", "app", ERROR)
    node.run(3)
    found = node.differences()
    assert only(found, "cache") == [("", "answers", "inspection failed: Unknown: broken")]
    assert [shadow for _, _, shadow in only(found, "records")] == ["running"]
