"""A workload that does what a test says."""

from random import Random

import msgspec

from app.sim.agenda import Steps
from app.sim.flavour import SECOND
from app.sim.pods import PodSpec
from app.sim.script import Action, Stage


class Plan(msgspec.Struct):
    """Pods from the start, and then (after how many ns, what)."""

    pods: tuple[PodSpec, ...] = ()
    steps: tuple[tuple[int, Action], ...] = ()
    key: str = "plan"

    def begin(self, stage: Stage, rng: Random) -> None:
        for pod in self.pods:
            stage.place(pod, 3600 * SECOND)
        stage.start(self._go(stage))

    def _go(self, stage: Stage) -> Steps[None]:
        for wait, action in self.steps:
            yield wait
            stage.do(action)
