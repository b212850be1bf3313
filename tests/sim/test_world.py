"""The runtime's world: events and payloads as containerd 2.x was measured to send them."""

import re
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from app.sim.addresses import PodAddresses
from app.sim.flavour import RuntimeRules
from app.sim.flavours import CONTAINERD_1_6, CONTAINERD_1_7, CONTAINERD_2, CRI_O, FLAVOURS
from app.sim.naming import digest
from app.sim.objects import (
    Container,
    ContainerConfig,
    RuntimeEvent,
    Sandbox,
    SandboxConfig,
)
from app.sim.world import ConflictError, World, WorldError

POD = SandboxConfig(name="web-0", uid="uid-1", namespace="shop", labels={"app": "web"})
APP = ContainerConfig(name="app", image="registry.example/app:1", labels={"tier": "front"})
SIDECAR = ContainerConfig(name="proxy", image="registry.example/proxy:1")


class Lab:
    """A world with an ear: what it told since one last asked."""

    def __init__(self, seed: int = 1, rules: Any = CONTAINERD_2) -> None:
        self.events: list[RuntimeEvent] = []
        self.world = World(seed, self.events.append, rules)

    def told(self) -> list[tuple[str, str]]:
        heard: list[tuple[str, str]] = [(event.kind, event.container_id) for event in self.events]
        self.events.clear()
        return heard

    def running(self, config: ContainerConfig = APP) -> Container:
        sandbox = next(iter(self.world.pod_sandboxes(POD.uid)), None)
        if sandbox is None:
            sandbox = self.world.run_sandbox(POD, 100)
        container = self.world.create_container(sandbox.id, config, 110)
        return self.world.start_container(container.id, 120)


@pytest.fixture
def lab() -> Lab:
    return Lab()


# ------------------------------------------------------------------------ order of events


def test_a_pods_life_tells_four_events_of_each_in_order(lab: Lab) -> None:
    world = lab.world
    sandbox = world.run_sandbox(POD, 1)
    container = world.create_container(sandbox.id, APP, 2)
    world.start_container(container.id, 3)
    world.exit_container(container.id, 0, "Completed", 4, 5)
    world.remove_container(container.id, 6)
    world.stop_sandbox(sandbox.id, 7)
    world.remove_sandbox(sandbox.id, 8)
    assert [(event.kind, event.container_id, event.created_at) for event in lab.events] == [
        ("created", sandbox.id, 1),
        ("started", sandbox.id, 1),
        ("created", container.id, 2),
        ("started", container.id, 3),
        ("stopped", container.id, 5),
        ("deleted", container.id, 6),
        ("stopped", sandbox.id, 7),
        ("deleted", sandbox.id, 8),
    ]


def test_o7_stopping_a_sandbox_stops_what_runs_in_it_first(lab: Lab) -> None:
    app, proxy = lab.running(), lab.running(SIDECAR)
    lab.told()
    lab.world.stop_sandbox(app.sandbox_id, 200)
    assert lab.events[-1].sandbox.state == "notready"
    assert lab.told() == [
        ("stopped", app.id),
        ("stopped", proxy.id),
        ("stopped", app.sandbox_id),
    ]
    killed = lab.world.container(app.id)
    assert (killed.exit_code, killed.reason) == (137, "Error")


def test_removing_a_sandbox_removes_its_containers_first(lab: Lab) -> None:
    app = lab.running()
    lab.told()
    lab.world.remove_sandbox(app.sandbox_id, 200)
    assert lab.told() == [
        ("stopped", app.id),
        ("stopped", app.sandbox_id),
        ("deleted", app.id),
        ("deleted", app.sandbox_id),
    ]
    assert lab.world.sandboxes() == []
    assert lab.world.containers() == []


def test_a_failed_start_is_an_exit_without_an_event(lab: Lab) -> None:
    sandbox = lab.world.run_sandbox(POD, 1)
    container = lab.world.create_container(sandbox.id, APP, 2)
    lab.told()
    lab.world.fail_start(container.id, "no such program", 3)
    assert lab.told() == []
    failed = lab.world.container(container.id)
    assert (failed.state, failed.exit_code, failed.reason) == ("exited", 128, "StartError")
    assert (failed.started_at, failed.finished_at) == (0, 3)
    assert failed.message == "no such program"


def test_an_end_that_the_runtime_slept_through_has_no_event_and_no_true_story(lab: Lab) -> None:
    app = lab.running()
    lab.told()
    lab.world.overlook_exit(app.id, 137, "Error", 800, 900)
    assert lab.told() == []
    lost = lab.world.container(app.id)
    assert (lost.state, lost.exit_code, lost.reason) == ("exited", 255, "Unknown")
    assert lost.finished_at == 900
    with pytest.raises(ConflictError):
        lab.world.overlook_exit(app.id, 137, "Error", 800, 901)


def test_cri_o_and_containerd_1_6_know_how_it_ended_all_the_same() -> None:
    for rules in (CRI_O, CONTAINERD_1_6):
        lab = Lab(rules=rules)
        app = lab.running()
        lab.told()
        lab.world.overlook_exit(app.id, 137, "Error", 800, 900)
        found = lab.world.container(app.id)
        assert (found.exit_code, found.reason, found.finished_at) == (137, "Error", 800)
        assert lab.told() == []


# ------------------------------------------------------------------ what differs by runtime


def life(rules: RuntimeRules) -> list[tuple[str, str]]:
    """What is told of a pod that lives and goes, by kind and name."""
    lab = Lab(rules=rules)
    app = lab.running()
    lab.world.exit_container(app.id, 0, "Completed", 130, 140)
    lab.world.remove_container(app.id, 150)
    lab.world.stop_sandbox(app.sandbox_id, 160)
    lab.world.remove_sandbox(app.sandbox_id, 170)
    return [(kind, "app" if told_of == app.id else "box") for kind, told_of in lab.told()]


CONTAINER = [("created", "app"), ("started", "app"), ("stopped", "app"), ("deleted", "app")]


def test_each_runtime_tells_of_a_sandbox_in_its_own_way() -> None:
    whole = [("created", "box"), ("started", "box"), *CONTAINER, ("stopped", "box")]
    assert life(CONTAINERD_2) == life(CONTAINERD_1_7) == [*whole, ("deleted", "box")]
    assert life(CRI_O) == whole[1:]


def test_cri_o_tells_nothing_of_a_removal_not_even_of_what_runs() -> None:
    lab = Lab(rules=CRI_O)
    app = lab.running()
    lab.told()
    lab.world.remove_sandbox(app.sandbox_id, 200)
    assert lab.told() == []
    assert (lab.world.sandboxes(), lab.world.containers(), lab.world.pods()) == ([], [], ())
    # Its name and its address may be used again.
    assert lab.world.run_sandbox(POD, 300).ip


def test_only_containerd_1_7s_last_event_of_a_sandbox_is_bare() -> None:
    for rules in FLAVOURS.values():
        lab = Lab(rules=rules)
        app = lab.running()
        lab.world.remove_sandbox(app.sandbox_id, 200)
        bare = [(one.kind, one.container_id) for one in lab.events if one.bare]
        assert bare == ([("deleted", app.sandbox_id)] if rules.bare_removal else [])


def test_cri_o_labels_its_sandboxes() -> None:
    lab = Lab(rules=CRI_O)
    box = lab.world.run_sandbox(POD, 1)
    assert box.config.labels == POD.labels | {"io.kubernetes.container.name": "POD"}
    assert Lab().world.run_sandbox(POD, 1).config.labels == POD.labels


def test_what_runtimes_call_an_image_and_where_logs_are() -> None:
    content = digest(APP.image)
    app = Lab().running()
    assert (app.image_ref, app.image_id) == (f"sha256:{content}", "")
    assert app.config.log_path == ""
    app = Lab(rules=CRI_O).running()
    assert (app.image_ref, app.image_id) == (f"{APP.image}@sha256:{content}", content)
    assert app.config.log_path == f"/var/log/pods/{app.sandbox_id}/{app.id}.log"
    asked = Lab(rules=CRI_O).running(msgspec.structs.replace(APP, log_path="app/0.log"))
    assert asked.config.log_path == "app/0.log"


def test_cri_o_lists_and_tells_the_newest_first() -> None:
    lab = Lab(rules=CRI_O)
    ids = [lab.running(msgspec.structs.replace(APP, name=f"c{n}")).id for n in range(20)]
    assert [one.id for one in lab.world.containers()] == ids[::-1]
    assert [one.id for one in lab.events[-1].containers] == ids[::-1]


UNKNOWN_PROGRAM = msgspec.structs.replace(APP, cannot_start="no such program")


def test_a_program_that_cannot_start_fails_at_the_start_and_leaves_its_container(lab: Lab) -> None:
    box = lab.world.run_sandbox(POD, 1)
    made = lab.world.create_container(box.id, UNKNOWN_PROGRAM, 2)
    lab.told()
    with pytest.raises(WorldError, match="failed to create containerd task: no such program"):
        lab.world.start_container(made.id, 3)
    failed = lab.world.container(made.id)
    assert (failed.state, failed.exit_code, failed.reason) == ("exited", 128, "StartError")
    assert lab.told() == []


def test_on_cri_o_it_fails_at_its_creation_and_leaves_nothing() -> None:
    lab = Lab(rules=CRI_O)
    box = lab.world.run_sandbox(POD, 1)
    lab.told()
    for _ in range(2):
        with pytest.raises(WorldError, match="container create failed: no such program"):
            lab.world.create_container(box.id, UNKNOWN_PROGRAM, 2)
    assert lab.world.containers() == []
    assert lab.told() == []


def later(rules: RuntimeRules = CRI_O) -> tuple[Lab, list[str]]:
    """A world whose starts are told later, and by whose ids."""
    lab = Lab(rules=rules)
    waiting: list[str] = []
    lab.world.tell_later = waiting.append
    return lab, waiting


def test_cri_os_event_of_a_start_comes_later_with_the_state_of_then() -> None:
    lab, waiting = later()
    app = lab.running()
    assert waiting == [app.id]
    assert ("started", app.id) not in lab.told()
    lab.world.see_exit(app.id, 1, "Error", 130)
    assert lab.world.container(app.id).state == "exited"
    assert lab.told() == []
    lab.world.tell_started(app.id, 140)
    lab.world.tell_started(app.id, 141)
    assert lab.events[-1].containers[0].state == "exited"
    assert lab.told() == [("started", app.id)]
    assert lab.world.owes_end(app.id)
    lab.world.exit_container(app.id, 1, "Error", 130, 150)
    assert lab.told() == [("stopped", app.id)]
    assert not lab.world.owes_end(app.id)


def test_no_end_is_told_before_its_start() -> None:
    lab, _ = later()
    app = lab.running()
    lab.told()
    lab.world.stop_sandbox(app.sandbox_id, 130)
    assert lab.told() == [("started", app.id), ("stopped", app.id), ("stopped", app.sandbox_id)]
    lab.world.tell_started(app.id, 140)
    assert lab.told() == []


def test_a_start_that_was_to_be_told_may_be_lost_or_come_too_late() -> None:
    lab, _ = later()
    lost, removed = lab.running(), lab.running(SIDECAR)
    lab.world.forget_start(lost.id)
    lab.world.remove_sandbox(removed.sandbox_id, 130)
    lab.told()
    for one in (lost, removed):
        lab.world.tell_started(one.id, 140)
    assert lab.told() == []


def test_elsewhere_a_start_is_told_at_once() -> None:
    lab, waiting = later(CONTAINERD_2)
    app = lab.running()
    assert lab.told()[-1] == ("started", app.id)
    assert waiting == []


def test_a_pause_process_that_died_unseen_has_no_event(lab: Lab) -> None:
    app = lab.running()
    lab.told()
    lab.world.overlook_sandbox_exit(app.sandbox_id)
    lab.world.overlook_sandbox_exit("nothing")
    assert lab.told() == []
    assert lab.world.sandbox(app.sandbox_id).state == "notready"
    assert lab.world.is_running(app.id)


def test_whoever_follows_the_world_hears_of_each_change_of_a_list(lab: Lab) -> None:
    changed: list[str] = []
    lab.world.on_change.append(changed.append)

    def since() -> list[str]:
        heard = changed.copy()
        changed.clear()
        return heard

    world = lab.world
    box = world.run_sandbox(POD, 1)
    assert since() == [box.id]
    one = world.create_container(box.id, APP, 2)
    two = world.create_container(box.id, SIDECAR, 2)
    assert since() == [one.id, two.id]
    world.start_container(one.id, 3)
    world.fail_start(two.id, "no such program", 3)
    assert since() == [one.id, two.id]
    world.exit_container(one.id, 0, "Completed", 4, 5)
    world.stop_sandbox(box.id, 6)
    assert since() == [one.id, box.id]
    world.stop_sandbox(box.id, 7)
    world.remove_container(two.id, 7)
    world.remove_container("no such", 7)
    assert set(since()) == {box.id, two.id}
    world.remove_sandbox(box.id, 8)
    assert set(since()) == {one.id, box.id}
    assert [world.look_up(item) for item in (box.id, one.id, two.id)] == [None, None, None]


def test_a_killed_pause_process_leaves_the_containers_running(lab: Lab) -> None:
    app = lab.running()
    lab.told()
    sandbox = lab.world.exit_sandbox(app.sandbox_id, 200)
    assert sandbox.state == "notready"
    assert lab.world.container(app.id).state == "running"
    assert lab.told() == [("stopped", app.sandbox_id)]
    lab.world.exit_sandbox(app.sandbox_id, 201)
    assert lab.told() == []
    # Stopped afterwards: what runs is told, the sandbox is not told a second time.
    lab.world.stop_sandbox(app.sandbox_id, 202)
    assert lab.told() == [("stopped", app.id)]


def test_removing_a_running_container_kills_it(lab: Lab) -> None:
    app = lab.running()
    lab.told()
    lab.world.remove_container(app.id, 200)
    assert lab.told() == [("stopped", app.id), ("deleted", app.id)]


def test_stop_and_remove_may_be_repeated(lab: Lab) -> None:
    app = lab.running()
    lab.world.stop_sandbox(app.sandbox_id, 200)
    lab.told()
    lab.world.stop_sandbox(app.sandbox_id, 201)
    assert lab.told() == []
    lab.world.remove_container(app.id, 202)
    lab.world.remove_sandbox(app.sandbox_id, 203)
    lab.told()
    lab.world.remove_container(app.id, 204)
    lab.world.remove_sandbox(app.sandbox_id, 205)
    assert lab.told() == []


# --------------------------------------------------------------------------------- payloads


def test_o2_events_of_a_starting_sandbox_carry_it_ready_and_without_containers(
    lab: Lab,
) -> None:
    sandbox = lab.world.run_sandbox(POD, 1)
    assert [(event.sandbox, event.containers) for event in lab.events] == [(sandbox, ())] * 2
    assert sandbox.state == "ready"


def test_o3_o4_o5_type_and_carried_state_agree(lab: Lab) -> None:
    app = lab.running()
    lab.world.exit_container(app.id, 1, "Error", 130, 140)
    carried = {
        event.kind: event.containers[0].state
        for event in lab.events
        if event.container_id == app.id
    }
    assert carried == {"created": "created", "started": "running", "stopped": "exited"}


def test_an_event_carries_every_container_of_the_pod_ended_ones_included(lab: Lab) -> None:
    first = lab.running()
    lab.world.exit_container(first.id, 0, "Completed", 130, 131)
    second = lab.running(SIDECAR)
    assert {one.id for one in lab.events[-1].containers} == {first.id, second.id}


def test_o6_a_deleted_container_is_not_in_its_own_event(lab: Lab) -> None:
    app, proxy = lab.running(), lab.running(SIDECAR)
    lab.world.exit_container(app.id, 0, "Completed", 130, 131)
    lab.world.remove_container(app.id, 140)
    last = lab.events[-1]
    assert (last.kind, last.container_id) == ("deleted", app.id)
    assert [one.id for one in last.containers] == [proxy.id]


def test_o8_a_sandboxs_last_event_has_gos_zero_time(lab: Lab) -> None:
    sandbox = lab.world.run_sandbox(POD, 1)
    lab.world.stop_sandbox(sandbox.id, 2)
    lab.world.remove_sandbox(sandbox.id, 3)
    last = lab.events[-1]
    assert last.sandbox.created_at == -6795364578871345152
    assert last.sandbox.state == "notready"
    assert last.sandbox.config == POD
    assert lab.events[-2].sandbox.created_at == 1


def test_an_event_keeps_the_picture_of_its_moment(lab: Lab) -> None:
    app = lab.running()
    started = lab.events[-1]
    lab.world.exit_container(app.id, 1, "Error", 130, 131)
    assert started.containers[0].state == "running"


def test_an_exit_has_the_time_of_the_process_and_the_time_of_the_event(lab: Lab) -> None:
    app = lab.running()
    lab.world.exit_container(app.id, 137, "OOMKilled", 500, 560)
    exited = lab.world.container(app.id)
    assert (exited.exit_code, exited.reason, exited.finished_at) == (137, "OOMKilled", 500)
    assert lab.events[-1].created_at == 560


def test_statuses_and_rows_come_in_changing_order(lab: Lab) -> None:
    configs = [ContainerConfig(name=f"c{n}", image="i") for n in range(8)]
    for config in configs:
        lab.running(config)
    full = [event.containers for event in lab.events if len(event.containers) == 8]
    for container in full[0]:
        lab.world.exit_container(container.id, 0, "Completed", 130, 131)
    orders = {
        tuple(one.config.name for one in event.containers)
        for event in lab.events
        if len(event.containers) == 8
    }
    assert len(orders) > 1
    listed = {tuple(one.id for one in lab.world.containers()) for _ in range(10)}
    assert len(listed) > 1


def test_a_clients_lists_do_not_change_what_events_look_like() -> None:
    def life(lists: int) -> list[RuntimeEvent]:
        lab = Lab(seed=5)
        for number in range(6):
            lab.running(ContainerConfig(name=f"c{number}", image="i"))
            for _ in range(lists):
                lab.world.containers()
        return lab.events

    assert life(0) == life(3)
    assert life(0) == life(0)


# ----------------------------------------------------------------------- ids, names, addresses


def test_ids_are_64_hex_digits_follow_the_seed_and_do_not_depend_on_what_came_before() -> None:
    def container_id(seed: int, before: int) -> str:
        lab = Lab(seed)
        for number in range(before):
            lab.world.run_sandbox(
                SandboxConfig(name=f"x{number}", uid=str(number), namespace="n"), 1
            )
        return lab.running().id

    assert re.fullmatch(r"[0-9a-f]{64}", container_id(1, 0))
    assert container_id(1, 0) == container_id(1, 3)
    assert container_id(1, 0) != container_id(2, 0)


def test_the_same_attempt_is_refused_twice_until_it_is_removed(lab: Lab) -> None:
    app = lab.running()
    with pytest.raises(ConflictError, match=f'reserved for "{app.id}"'):
        lab.world.create_container(app.sandbox_id, APP, 130)
    with pytest.raises(ConflictError, match="is reserved for"):
        lab.world.run_sandbox(POD, 130)
    lab.world.remove_container(app.id, 140)
    assert lab.world.create_container(app.sandbox_id, APP, 150).id != app.id


def test_a_pod_has_an_address_until_its_network_is_torn_down(lab: Lab) -> None:
    sandbox = lab.world.run_sandbox(POD, 1)
    assert sandbox.ip == "10.244.16.2"
    assert lab.world.exit_sandbox(sandbox.id, 2).ip == sandbox.ip
    assert lab.world.stop_sandbox(sandbox.id, 3).ip == ""


def test_a_pod_on_the_nodes_network_has_none(lab: Lab) -> None:
    pod = SandboxConfig(name="proxy", uid="u2", namespace="kube-system", host_network=True)
    assert lab.world.run_sandbox(pod, 1).ip == ""


def test_without_an_address_there_is_no_sandbox_and_no_trace_of_one() -> None:
    events: list[RuntimeEvent] = []
    world = World(1, events.append, addresses=PodAddresses("10.0.0.0/30"))
    first = world.run_sandbox(POD, 1)
    second = SandboxConfig(name="web-1", uid="uid-2", namespace="shop")
    with pytest.raises(WorldError, match="failed to setup network for sandbox: no pod address"):
        world.run_sandbox(second, 2)
    assert world.sandboxes() == [first]
    assert len(events) == 2
    world.stop_sandbox(first.id, 3)
    assert world.run_sandbox(second, 4).ip == first.ip


# ---------------------------------------------------------------------- queries and refusals


def test_a_container_needs_a_ready_sandbox(lab: Lab) -> None:
    sandbox = lab.world.run_sandbox(POD, 1)
    lab.world.exit_sandbox(sandbox.id, 2)
    with pytest.raises(ConflictError, match="is not running"):
        lab.world.create_container(sandbox.id, APP, 3)


def test_a_step_out_of_turn_is_refused(lab: Lab) -> None:
    app = lab.running()
    with pytest.raises(ConflictError, match="is in state running, not created"):
        lab.world.start_container(app.id, 130)
    lab.world.exit_container(app.id, 0, "Completed", 130, 131)
    with pytest.raises(ConflictError, match="is in state exited, not running"):
        lab.world.exit_container(app.id, 0, "Completed", 140, 141)


# --------------------------------------------------------------------------- any order of things

NEXT = {
    "": {"created"},
    "created": {"started", "deleted"},
    "started": {"stopped"},
    "stopped": {"deleted"},
}


class AnyOrder(RuleBasedStateMachine):
    """Whatever is asked of it in whatever order: the story it tells fits what it lists."""

    sandboxes: Bundle[Sandbox] = Bundle("sandboxes")
    containers: Bundle[Container] = Bundle("containers")

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, str] = {}
        self.world = World(3, self.hear)
        self.now = 0
        self.made = 0

    def hear(self, event: RuntimeEvent) -> None:
        last = self.told.get(event.container_id, "")
        assert event.kind in NEXT[last], f"{event.kind} after {last or 'nothing'}"
        self.told[event.container_id] = event.kind
        assert event.created_at == self.now
        # What the event carries is what the world lists, at this moment.
        listed = {one.id: one for one in self.world.pod_containers(event.sandbox.config.uid)}
        assert {one.id: one for one in event.containers} == {
            key: one for key, one in listed.items() if one.sandbox_id == event.sandbox.id
        }

    def tick(self) -> int:
        self.now += 1
        return self.now

    @rule(target=sandboxes)
    def run_sandbox(self) -> Sandbox:
        self.made += 1
        config = SandboxConfig(name="p", uid=f"u{self.made}", namespace="n")
        return self.world.run_sandbox(config, self.tick())

    @rule(target=containers, sandbox=sandboxes)
    def create(self, sandbox: Sandbox) -> Any:
        self.made += 1
        config = ContainerConfig(name=f"c{self.made}", image="i")
        try:
            return self.world.create_container(sandbox.id, config, self.tick())
        except WorldError:
            return Container("gone", sandbox.id, config, "exited", 0)

    @rule(container=containers, what=st.sampled_from(["start", "exit", "fail", "remove"]))
    def change(self, container: Container, what: str) -> None:
        now = self.tick()
        with suppress(WorldError):  # refused out of turn: then nothing may have changed
            if what == "start":
                self.world.start_container(container.id, now)
            elif what == "exit":
                self.world.exit_container(container.id, 1, "Error", now - 1, now)
            elif what == "fail":
                self.world.fail_start(container.id, "no", now)
                self.told[container.id] = "stopped"  # silently
            else:
                self.world.remove_container(container.id, now)

    @rule(sandbox=sandboxes, what=st.sampled_from(["exit", "stop"]))
    def end_sandbox(self, sandbox: Sandbox, what: str) -> None:
        now = self.tick()
        if what == "exit":
            self.world.exit_sandbox(sandbox.id, now)
        else:
            self.world.stop_sandbox(sandbox.id, now)

    @rule(sandbox=consumes(sandboxes))
    def remove_sandbox(self, sandbox: Sandbox) -> None:
        self.world.remove_sandbox(sandbox.id, self.tick())

    @invariant()
    def lists_and_story_agree(self) -> None:
        expected = {"created": "created", "started": "running", "stopped": "exited"}
        for container in self.world.containers():
            assert container.state == expected[self.told[container.id]]
            assert (container.state == "exited") == (container.finished_at > 0)
        for sandbox in self.world.sandboxes():
            assert (sandbox.state == "ready") == (self.told[sandbox.id] == "started")
        listed = {one.id for one in self.world.containers()}
        listed |= {one.id for one in self.world.sandboxes()}
        assert listed == {key for key, last in self.told.items() if last != "deleted"}

    @invariant()
    def addresses_are_not_shared(self) -> None:
        ips = [one.ip for one in self.world.sandboxes() if one.ip]
        assert len(ips) == len(set(ips))


AnyOrder.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnyOrder = AnyOrder.TestCase
