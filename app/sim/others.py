"""The subscribers beside plegscope's own that a plan's faults put on the runtime's stream."""

from collections.abc import Callable
from typing import Any

from app.sim.channel import Listener
from app.sim.faultplan import ActiveFault, FaultPlan
from app.sim.faults import OtherSubscriber, RuntimeRestarts


class OtherSubscribers:
    """Keeps them subscribed while their faults are at work, by ``join`` and ``leave``.

    ``slots``: the runtime's own, per subscriber. One that loses its stream to a restart of the
    runtime is there again as soon as that is.
    """

    def __init__(
        self,
        plan: FaultPlan,
        slots: int,
        *,
        join: Callable[[Listener], None],
        leave: Callable[[Listener], None],
    ) -> None:
        self._plan = plan
        self._slots = slots
        self._join = join
        self._leave = leave
        self._there: dict[ActiveFault[OtherSubscriber], Listener] = {}
        plan.on_begin.append(self._fault_begins)
        plan.on_end.append(self._fault_ends)

    def _fault_begins(self, active: ActiveFault[Any]) -> None:
        if isinstance(active.fault, RuntimeRestarts):
            self._there.clear()
        elif isinstance(active.fault, OtherSubscriber) and not self._plan.at_work(RuntimeRestarts):
            self._come(active)

    def _fault_ends(self, active: ActiveFault[Any]) -> None:
        if isinstance(active.fault, OtherSubscriber):
            there = self._there.pop(active, None)
            if there is not None:
                self._leave(there)
        elif not self._plan.at_work(RuntimeRestarts):
            for other in self._plan.at_work(OtherSubscriber):
                if other not in self._there:
                    self._come(other)

    def _come(self, active: ActiveFault[OtherSubscriber]) -> None:
        def hit() -> None:
            active.hits += 1

        listener = Listener(reads=active.fault.reads, slots=self._slots, on_take=hit)
        self._there[active] = listener
        self._join(listener)
