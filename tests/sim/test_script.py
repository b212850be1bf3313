"""The script: in order of time, the same for the same seed, whatever plays it."""

from collections.abc import Sequence
from itertools import islice
from random import Random

import msgspec
import pytest

from app.sim.agenda import Steps
from app.sim.script import AddPod, DeletePod, Resident, Script, Stage, Workload
from tests.sim.orders import order


class Ticker(msgspec.Struct):
    """Adds a pod each ``every`` ns, at most ``count`` of them; one is there from the start."""

    key: str
    every: int
    count: int = 1_000_000

    def begin(self, stage: Stage, rng: Random) -> None:
        stage.place(order(f"{self.key}-{rng.randrange(1000)}"), 5)
        stage.start(self._tick(stage))

    def _tick(self, stage: Stage) -> Steps[None]:
        for number in range(self.count):
            yield self.every
            stage.do(AddPod(order(f"{self.key}-{number}")))
            stage.do(DeletePod(f"uid-{self.key}-{number}"))


def times(workloads: Sequence[Workload], count: int) -> list[int]:
    return [step.t for step in islice(Script(1, workloads).steps(), count)]


def test_steps_come_in_order_of_time_across_workloads() -> None:
    assert times([Ticker("a", 10), Ticker("b", 15)], 10) == [10, 10, 15, 15, 20, 20, 30, 30, 30, 30]


def test_what_happens_at_the_same_time_comes_in_the_order_it_was_written() -> None:
    steps = list(islice(Script(1, [Ticker("a", 10)]).steps(), 2))
    assert [type(step.action) for step in steps] == [AddPod, DeletePod]


def test_a_script_may_end() -> None:
    assert times([Ticker("a", 10, count=2)], 99) == [10, 10, 20, 20]
    assert times([], 99) == []


def test_residents_are_known_before_the_first_step() -> None:
    (resident,) = Script(1, [Ticker("a", 10)]).residents
    assert isinstance(resident, Resident)
    assert resident.age_ns == 5


def test_a_workload_more_does_not_change_the_others() -> None:
    alone = Script(1, [Ticker("a", 10)]).residents
    among = Script(1, [Ticker("b", 7), Ticker("a", 10)]).residents
    assert alone[0] in among


def test_another_seed_is_another_script() -> None:
    names = {Script(seed, [Ticker("a", 10)]).residents[0].pod.name for seed in range(8)}
    assert len(names) > 4


def test_two_workloads_of_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="keys of their own"):
        Script(1, [Ticker("a", 10), Ticker("a", 20)])
