"""What the faults at work make of one call, for both ways that a call can be made.

Asked by ``virtualruntime.py`` (in virtual time) and ``livecalls.py`` (over gRPC); what hits a call
is counted here.
"""

from collections.abc import Sequence
from typing import Any

from app.sim.chance import between
from app.sim.faultplan import ActiveFault, FaultPlan
from app.sim.faults import InspectionsFail, InspectionsSlow, ListsFail, ListsSlow


def list_failure(plan: FaultPlan) -> str | None:
    """What this list call fails with, if it does."""
    for failing in plan.at_work(ListsFail):
        if failing.strikes(failing.fault.share):
            return failing.fault.error
    return None


def list_delay(plan: FaultPlan) -> int:
    """How much longer this list call takes (ns)."""
    longer = 0
    for slow in plan.at_work(ListsSlow):
        slow.hits += 1
        longer += between(slow.rng, slow.fault.by)
    return longer


def inspection_failure(plan: FaultPlan, namespace: str, name: str) -> str | None:
    """What this inspection of this pod fails with, if it does."""
    failing = plan.hit_pod(InspectionsFail, namespace, name)
    return None if failing is None else failing.fault.error


def inspection_delay(plan: FaultPlan, namespace: str, name: str) -> int:
    """How much longer this inspection of this pod takes (ns)."""
    slow = plan.hit_pod(InspectionsSlow, namespace, name)
    return 0 if slow is None else between(slow.rng, slow.fault.by)


def count_hits(active: Sequence[ActiveFault[Any]]) -> None:
    """These have hit a call."""
    for one in active:
        one.hits += 1
