"""The engine's words for the world's objects: the same as over gRPC, and the same objects again."""

import msgspec
import pytest

from app.cri import convert
from app.cri.pb import cri_pb2 as pb
from app.sim import messages, rows
from app.sim.chance import generator
from app.sim.flavour import RuntimeRules
from app.sim.flavours import CONTAINERD_2, FLAVOURS
from app.sim.objects import RuntimeEvent
from app.sim.pods import container_config, sandbox_config
from app.sim.rows import Listing
from app.sim.world import World
from tests.sim.orders import order, runs_on

NOW = 1_800_000_000_000_000_000


class Lab:
    """A world in which a lot has happened, and what it told."""

    def __init__(self, rules: RuntimeRules = CONTAINERD_2) -> None:
        self.events: list[RuntimeEvent] = []
        self.world = World(3, self.events.append, rules)
        rng = generator(3, "lab")
        for number in range(30):
            pod = order(f"p{number}", runs_on("app"), runs_on("side"), host_network=number % 5 == 0)
            sandbox = self.world.run_sandbox(sandbox_config(pod, number % 3), NOW + number)
            for spec in pod.containers:
                config = container_config(pod, spec, number % 4)
                made = self.world.create_container(sandbox.id, config, NOW + number + 1)
                self.befall(made.id, rng.randrange(5))
            if number % 7 == 0:
                self.world.stop_sandbox(sandbox.id, NOW + 90)
        self.world.remove_sandbox(self.world.sandboxes()[0].id, NOW + 100)

    def befall(self, container_id: str, fate: int) -> None:
        world = self.world
        if fate == 0:
            return
        if fate == 1:
            world.fail_start(container_id, "no such program", NOW + 50)
            return
        world.start_container(container_id, NOW + 50)
        if fate == 2:
            world.exit_container(container_id, 137, "OOMKilled", NOW + 60, NOW + 70)
        elif fate == 3:
            world.overlook_exit(container_id, 1, "Error", NOW + 75, NOW + 80)


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


def test_rows_are_those_that_a_client_reads_over_grpc(lab: Lab) -> None:
    interner = convert.Interner()
    sandboxes = lab.world.sandboxes()
    listed = interner.sandboxes(
        pb.ListPodSandboxResponse(items=map(messages.sandbox_item, sandboxes)), full=True
    )
    assert tuple(map(rows.sandbox_row, sandboxes)) == listed
    containers = lab.world.containers()
    inside = interner.containers(
        pb.ListContainersResponse(containers=map(messages.container_item, containers)), full=True
    )
    assert tuple(map(rows.container_row, containers)) == inside
    assert interner.skipped == 0
    assert {row.state for row in inside} == {"running", "exited", "unknown"}


def test_statuses_are_those_that_a_client_reads_over_grpc(lab: Lab) -> None:
    for sandbox in lab.world.sandboxes():
        answer = pb.PodSandboxStatusResponse(status=messages.sandbox_status(sandbox))
        assert rows.sandbox_status(sandbox) == convert.sandbox_status(answer)
    for container in lab.world.containers():
        status = pb.ContainerStatusResponse(status=messages.container_status(container))
        assert rows.container_status(container) == convert.container_status(status)


@pytest.mark.parametrize("payload", [False, True])
@pytest.mark.parametrize("rules", list(FLAVOURS.values()), ids=list(FLAVOURS))
def test_events_are_those_that_a_client_reads_over_grpc(rules: RuntimeRules, payload: bool) -> None:
    lab = Lab(rules)
    assert {told.kind for told in lab.events} >= {"created", "started", "stopped"}
    for told in lab.events:
        message = messages.event_message(told)
        heard = convert.event(message, payload=payload)
        assert rows.container_event(told, payload=payload) == heard
        assert bool(heard.sandbox) == (payload and not told.bare)
    assert any(told.bare for told in lab.events) is rules.bare_removal


def test_an_unchanged_row_is_the_same_object_from_listing_to_listing() -> None:
    world = World(1, lambda _: None)
    pods = [order(f"p{number}") for number in range(40)]
    for pod in pods:
        sandbox = world.run_sandbox(sandbox_config(pod, 0), NOW)
        made = world.create_container(sandbox.id, container_config(pod, pod.containers[0], 0), NOW)
        world.start_container(made.id, NOW)
    listing = Listing(world)
    first = {row.id: row for row in listing.containers(None)}
    assert len(first) == 40
    gone, died = list(first)[:2]
    world.remove_container(gone, NOW + 1)
    world.exit_container(died, 1, "Error", NOW + 1, NOW + 1)
    second = {row.id: row for row in listing.containers(None)}
    assert set(second) == set(first) - {gone}
    changed = [key for key, row in second.items() if row is not first[key]]
    assert changed == [died]
    assert second[died] == msgspec.structs.replace(first[died], runtime_state="exited")


def test_the_listing_of_one_pod_has_its_rows_only() -> None:
    world = World(1, lambda _: None)
    listing = Listing(world)
    for name in ("web", "db"):
        pod = order(name)
        sandbox = world.run_sandbox(sandbox_config(pod, 0), NOW)
        world.create_container(sandbox.id, container_config(pod, pod.containers[0], 0), NOW)
    assert [row.pod_name for row in listing.sandboxes("uid-web")] == ["web"]
    assert [row.pod_name for row in listing.containers("uid-web")] == ["web"]
    assert listing.sandboxes("uid-nobody") == ()
    assert listing.containers("") == ()


def test_a_sandbox_whose_network_is_torn_down_later_is_no_other_row() -> None:
    world = World(1, lambda _: None)
    sandbox = world.run_sandbox(sandbox_config(order(), 0), NOW)
    world.exit_sandbox(sandbox.id, NOW + 1)
    listing = Listing(world)
    (row,) = listing.sandboxes(None)
    world.stop_sandbox(sandbox.id, NOW + 2)
    assert listing.sandboxes(None)[0] is row


def test_a_long_listing_begins_anywhere_and_has_each_row_once() -> None:
    world = World(1, lambda _: None)
    for number in range(50):
        world.run_sandbox(sandbox_config(order(f"p{number}"), 0), NOW)
    listing = Listing(world)
    orders = [tuple(row.pod_name for row in listing.sandboxes(None)) for _ in range(20)]
    assert len(set(orders)) > 10
    assert {frozenset(one) for one in orders} == {frozenset(f"p{number}" for number in range(50))}
