"""What is looked at in the runtime: by id, by filter, by pod."""

import pytest

from app.sim.objects import ContainerConfig, ContainerFilter, SandboxConfig, SandboxFilter
from app.sim.world import NotFoundError
from tests.sim.test_world import POD, SIDECAR, Lab


@pytest.fixture
def lab() -> Lab:
    return Lab()


def test_an_object_is_found_by_its_id_or_an_unambiguous_beginning(lab: Lab) -> None:
    app = lab.running()
    assert lab.world.container(app.id) is lab.world.container(app.id[:12])
    assert lab.world.sandbox(app.sandbox_id[:12]).id == app.sandbox_id


@pytest.mark.parametrize("wanted", ["", "nothing", "0" * 64])
def test_what_is_not_there_is_not_found(lab: Lab, wanted: str) -> None:
    lab.running()
    with pytest.raises(NotFoundError, match="not found"):
        lab.world.container(wanted)
    with pytest.raises(NotFoundError, match="not found"):
        lab.world.sandbox(wanted)


def test_an_ambiguous_beginning_is_not_found(lab: Lab) -> None:
    ids = [lab.running(ContainerConfig(name=f"c{n}", image="i")).id for n in range(40)]
    first = next(one[0] for one in ids if sum(other[0] == one[0] for other in ids) > 1)
    with pytest.raises(NotFoundError):
        lab.world.container(first)


def test_filters_are_combined(lab: Lab) -> None:
    app, proxy = lab.running(), lab.running(SIDECAR)
    other = lab.world.run_sandbox(SandboxConfig(name="b", uid="u2", namespace="n"), 1)
    lab.world.exit_container(proxy.id, 0, "Completed", 130, 131)
    world = lab.world

    def ids(wanted: ContainerFilter) -> set[str]:
        return {one.id for one in world.containers(wanted)}

    assert ids(ContainerFilter()) == {app.id, proxy.id}
    assert ids(ContainerFilter(state="running")) == {app.id}
    assert ids(ContainerFilter(sandbox_id=app.sandbox_id[:10])) == {app.id, proxy.id}
    assert ids(ContainerFilter(sandbox_id=other.id)) == set()
    assert ids(ContainerFilter(labels={"tier": "front"})) == {app.id}
    assert ids(ContainerFilter(labels={"tier": "front"}, state="exited")) == set()
    assert ids(ContainerFilter(id=proxy.id)) == {proxy.id}
    assert {one.id for one in world.sandboxes(SandboxFilter(labels={"app": "web"}))} == {
        app.sandbox_id
    }
    world.exit_sandbox(other.id, 200)
    assert [one.id for one in world.sandboxes(SandboxFilter(state="notready"))] == [other.id]
    assert [one.id for one in world.sandboxes(SandboxFilter(id=other.id[:8]))] == [other.id]


def test_whether_something_runs(lab: Lab) -> None:
    app = lab.running()
    assert lab.world.is_running(app.id)
    lab.world.exit_container(app.id, 0, "Completed", 130, 131)
    assert not lab.world.is_running(app.id)
    assert not lab.world.is_running("nothing")


def test_what_is_in_a_sandbox(lab: Lab) -> None:
    app, proxy = lab.running(), lab.running(SIDECAR)
    assert lab.world.inside(app.sandbox_id) == (app, proxy)
    assert lab.world.inside("nothing") == ()


def test_pods_and_their_things_are_found_by_uid(lab: Lab) -> None:
    app = lab.running()
    world = lab.world
    other = world.run_sandbox(SandboxConfig(name="db", uid="uid-2", namespace="shop"), 200)
    assert set(world.pods()) == {POD.uid, "uid-2"}
    assert [one.id for one in world.pod_containers(POD.uid)] == [app.id]
    assert [one.id for one in world.pod_sandboxes("uid-2")] == [other.id]
    assert (world.count, [one.id for one in world.everything()]) == (1, [app.id])
    assert (world.look_up(app.id), world.look_up(other.id)) == (app, other)
    world.remove_sandbox(other.id, 300)
    assert world.pods() == (POD.uid,)
    assert world.pod_sandboxes("uid-2") == []
    assert world.pod_containers("uid-2") == []
