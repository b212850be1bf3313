"""What becomes of one call."""

from app.sim.agenda import Agenda, VirtualClock
from app.sim.availability import Availability
from app.sim.callfaults import (
    count_hits,
    inspection_delay,
    inspection_failure,
    list_delay,
    list_failure,
)
from app.sim.faultplan import FaultPlan
from app.sim.faults import Fault, InspectionsFail, InspectionsSlow, ListsFail, ListsHang, ListsSlow
from app.sim.units import Ns, millis

NOW = Ns(0)
MS = 1_000_000


def plan_of(*faults: Fault) -> FaultPlan:
    agenda = Agenda(VirtualClock())
    plan = FaultPlan(agenda, Availability(agenda), 1)
    for fault in faults:
        plan.begin(fault)
    return plan


def hits(plan: FaultPlan) -> list[int]:
    return [one.hits for one in plan.tallies()]


def test_a_quiet_plan_leaves_calls_alone() -> None:
    plan = plan_of()
    assert list_failure(plan) is None
    assert inspection_failure(plan, "shop", "web") is None
    assert (list_delay(plan), inspection_delay(plan, "shop", "web")) == (0, 0)


def test_slow_lists_add_up_and_are_counted() -> None:
    by = (millis(5), millis(5))
    plan = plan_of(ListsSlow(at=NOW, by=by), ListsSlow(at=NOW, by=by))
    assert list_delay(plan) == 10 * MS
    assert hits(plan) == [1, 1]


def test_a_share_of_the_lists_fails() -> None:
    plan = plan_of(ListsFail(at=NOW, share=0.5, error="Unknown: no"))
    answers = [list_failure(plan) for _ in range(1000)]
    assert set(answers) == {None, "Unknown: no"}
    assert hits(plan) == [answers.count("Unknown: no")]
    assert 400 < hits(plan)[0] < 600


def test_only_the_inspections_of_the_pods_that_are_meant_are_hit() -> None:
    plan = plan_of(
        InspectionsFail(at=NOW, pods="shop/web", error="Internal: no"),
        InspectionsSlow(at=NOW, pods="shop/web", by=(millis(3), millis(3))),
    )
    assert inspection_failure(plan, "shop", "web") == "Internal: no"
    assert inspection_delay(plan, "shop", "web") == 3 * MS
    assert inspection_failure(plan, "shop", "db") is None
    assert inspection_delay(plan, "shop", "db") == 0
    assert hits(plan) == [1, 1]


def test_hits_are_counted_for_all_that_are_at_work() -> None:
    plan = plan_of(ListsHang(at=NOW), ListsHang(at=NOW))
    count_hits(plan.at_work(ListsHang))
    assert hits(plan) == [1, 1]
