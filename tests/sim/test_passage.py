"""What becomes of one event: decided once, whoever carries it out."""

from typing import Any

import pytest

from app.sim.agenda import Agenda, VirtualClock
from app.sim.availability import Availability
from app.sim.faultplan import FaultPlan
from app.sim.faults import (
    EventsDamaged,
    EventsDoubled,
    EventsLost,
    EventsMisdated,
    EventsReordered,
    EventsRepeated,
    Fault,
    StreamDelayed,
    StreamSilent,
)
from app.sim.objects import RuntimeEvent, Sandbox, SandboxConfig
from app.sim.passage import Passage, passage
from app.sim.units import Ns, Offset, millis

WEB = Sandbox("s1", SandboxConfig(name="web", uid="uid-web", namespace="shop"), "ready", 5)
TOLD = RuntimeEvent("stopped", "c1", 1000, WEB)
NOW = Ns(0)
MS = 1_000_000


def plan_of(*faults: Fault) -> FaultPlan:
    agenda = Agenda(VirtualClock())
    plan = FaultPlan(agenda, Availability(agenda), 1)
    for fault in faults:
        plan.begin(fault)
    return plan


@pytest.mark.parametrize(
    ("fault", "becomes"),
    [
        (StreamSilent(at=NOW), "lost"),
        (StreamSilent(at=NOW, late=True), "held"),
        (EventsLost(at=NOW), "lost"),
        (EventsDamaged(at=NOW, without="uid"), Passage(1000, "uid")),
        (EventsDamaged(at=NOW, without="metadata"), Passage(1000, "metadata")),
        (EventsDamaged(at=NOW, without="sandbox-status"), Passage(1000, "sandbox-status")),
        (EventsDamaged(at=NOW, without="statuses"), Passage(1000, "statuses")),
        (EventsMisdated(at=NOW), Passage(0)),
        (EventsMisdated(at=NOW, by=Offset(-7)), Passage(993)),
        (StreamDelayed(at=NOW, by=(millis(5), millis(5))), Passage(1000, later_ns=5 * MS)),
        (
            EventsReordered(at=NOW, by=(millis(5), millis(5))),
            Passage(1000, later_ns=5 * MS, overtaken=True),
        ),
        (EventsDoubled(at=NOW), Passage(1000, copies=1)),
        (EventsRepeated(at=NOW, times=7), Passage(1000, copies=7)),
    ],
)
def test_each_fault_has_its_say_and_counts_the_event(fault: Fault, becomes: Any) -> None:
    plan = plan_of(fault)
    assert passage(plan, TOLD) == becomes
    assert plan.tallies()[0].hits == 1


def test_without_faults_it_passes_as_it_is() -> None:
    assert passage(plan_of(), TOLD) == Passage(1000)


def test_faults_add_up() -> None:
    plan = plan_of(
        StreamDelayed(at=NOW, by=(millis(5), millis(5))),
        EventsReordered(at=NOW, by=(millis(2), millis(2))),
        EventsDamaged(at=NOW, without="uid"),
        EventsMisdated(at=NOW),
        EventsDoubled(at=NOW),
    )
    assert passage(plan, TOLD) == Passage(0, "uid", 7 * MS, True, True)


def test_other_pods_and_other_types_pass() -> None:
    plan = plan_of(EventsLost(at=NOW, pods="batch/*"), EventsLost(at=NOW, events=("deleted",)))
    assert passage(plan, TOLD) == Passage(1000)
    assert [one.hits for one in plan.tallies()] == [0, 0]
