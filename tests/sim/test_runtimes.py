"""Whole sessions in virtual time on each kind of runtime: what a PLEG makes of the differences."""

from typing import TypeVar

import msgspec
import pytest

from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    Lifecycle,
    Record,
    StreamChanged,
    SyncFinished,
)
from app.sim.faults import RuntimeRestarts
from app.sim.flavours import FLAVOURS, FlavourName, rules_of
from app.sim.library import load
from app.sim.pods import ERROR
from app.sim.scenario import Scenario
from app.sim.script import AddPod, DeletePod, EndContainer
from app.sim.units import Ns, seconds
from app.sim.virtual import VirtualSession
from tests.sim.orders import order, runs_on
from tests.sim.plan import Plan

R = TypeVar("R", bound=Record)
EACH = pytest.mark.parametrize("name", list(FLAVOURS))


class Played:
    """A session that was played to its end, and what it recorded."""

    def __init__(self, scenario: Scenario, name: FlavourName, time_s: float) -> None:
        self.records: list[Record] = []
        scenario = msgspec.structs.replace(scenario, rules=rules_of(name))
        self.session = VirtualSession(scenario, on_record=self.records.append)
        self.session.start()
        self.session.run_until(seconds(time_s))

    def of(self, kind: type[R]) -> list[R]:
        return [one for one in self.records if isinstance(one, kind)]

    def found(self, kind: str) -> list[str]:
        """The sources by which lifecycle events of a kind were found."""
        return [one.source for one in self.of(Lifecycle) if one.type == kind]


@EACH
@pytest.mark.parametrize("scenario", ["churn", "runtime-restart", "storm"])
def test_on_each_runtime_the_shadow_ends_up_knowing_the_truth(
    name: FlavourName, scenario: str
) -> None:
    played = Played(load(scenario), name, 90)
    assert played.session.settle()
    assert played.session.differences() == ()


def life(*faults: RuntimeRestarts) -> Scenario:
    """A pod that comes, dies once, is restarted, and is deleted."""
    plan = Plan(
        steps=(
            (seconds(1), AddPod(order("web"))),
            (seconds(19), EndContainer("uid-web", "app", ERROR)),
            (seconds(20), DeletePod("uid-web")),
        )
    )
    return Scenario(name="life", title="A life", shows="It.", workloads=(plan,), faults=faults)


@EACH
def test_a_death_is_found_by_its_event_where_there_is_a_stream(name: FlavourName) -> None:
    played = Played(life(), name, 35)
    expected = "global" if name == "containerd-1.6" else "evented_pleg"
    assert played.found("ContainerDied") == [expected]


def test_containerd_1_6_is_polled_and_asked_again_for_a_stream() -> None:
    played = Played(life(), "containerd-1.6", 130)
    states = [one.state for one in played.of(StreamChanged)]
    assert "connected" not in states
    assert played.session.runtime.calls["GetContainerEvents"] == 3


@EACH
def test_a_death_while_the_runtime_is_down_is_only_found_by_polling(name: FlavourName) -> None:
    restart = RuntimeRestarts(at=Ns(seconds(19)), lasts=Ns(seconds(3)))
    played = Played(life(restart), name, 35)
    assert played.found("ContainerDied") == ["global"]
    (died,) = [one for one in played.of(Lifecycle) if one.type == "ContainerDied"]
    truth = rules_of(name).overlooked == "true"
    assert (died.exit_code, died.reason) == ((1, "Error") if truth else (255, "Unknown"))


@EACH
def test_what_is_told_of_a_sandbox_that_is_removed(name: FlavourName) -> None:
    played = Played(life(), name, 60)
    (box,) = {one.container_id for one in played.of(Lifecycle) if not one.container_name}
    told = [one.type for one in played.of(ContainerEventSeen) if one.container_id == box]
    rules = rules_of(name)
    last = () if rules.bare_removal else rules.sandbox_removed
    assert told == ([] if rules.stream == "none" else [*rules.sandbox_run, "stopped", *last])
    # containerd 1.7's names no pod: by the KEP it is ignored.
    ignored = [(one.type, one.container_id, one.reason) for one in played.of(EventIgnored)]
    bare = rules.bare_removal and rules.stream != "none"
    assert ignored == ([("deleted", box, "missing_sandbox_status")] if bare else [])
    # Whatever was told, the list is what is believed.
    assert played.session.differences() == ()


def failing_start(name: FlavourName) -> Played:
    """A pod whose program is not there, for half a minute."""
    spec = runs_on(cannot_start="no such program")
    plan = Plan(steps=((seconds(1), AddPod(order("bad", spec))),))
    scenario = Scenario(name="bad", title="A bad image", shows="It.", workloads=(plan,))
    return Played(scenario, name, 30)


@pytest.mark.parametrize("name", ["containerd-2", "containerd-1.7"])
def test_a_failed_start_is_only_found_by_polling_and_tried_again(name: FlavourName) -> None:
    played = failing_start(name)
    died = [one for one in played.of(Lifecycle) if one.type == "ContainerDied"]
    assert len(died) > 1
    assert {(one.source, one.exit_code, one.reason) for one in died} == {
        ("global", 128, "StartError")
    }
    # Nobody told of it: there is no stop event, and no request after a sync that failed.
    assert not [one for one in played.of(ContainerEventSeen) if one.type == "stopped"]
    assert {one.did_work and not one.failed for one in played.of(SyncFinished)} == {False}
    assert max(one.config.attempt for one in played.session.world.everything()) > 0


@EACH
def test_a_resident_whose_program_is_not_there_had_failed_before(name: FlavourName) -> None:
    pod = order("bad", runs_on(), runs_on("none", cannot_start="no such program"))
    scenario = Scenario(name="b", title="B", shows="It.", workloads=(Plan(pods=(pod,)),))
    played = Played(scenario, name, 0)
    states = {one.config.name: one.state for one in played.session.world.everything()}
    left = {} if name == "cri-o" else {"none": "exited"}
    assert states == {"app": "running"} | left


def test_on_cri_o_there_is_nothing_to_be_found_of_it() -> None:
    played = failing_start("cri-o")
    assert played.session.world.everything() == ()
    assert played.found("ContainerDied") == []
    assert len([one for one in played.of(SyncFinished) if one.failed]) > 5
