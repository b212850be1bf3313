"""Laws that hold whatever happens, whenever it happens.

The oracle (``oracle.py``) watches every step of random plays (``director.py``): one relist at a
time and a due global one first; what a relist publishes is the difference of two listings and no
pod under SyncPod is published; each request ends once and is counted; health, period and threshold
come from listings alone; after the end nothing is begun. ``Director.heal`` demands convergence.

Hypothesis looks for a play that breaks a law and shrinks it. ``tests/sweep`` plays whole lives by
the thousand, makes sure that everything worth reaching is reached, and proves that the laws bite.
"""

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.engine.director import ACTS, Director, play

SEEDS = 60
ACTS_PER_SEED = 250


class AnyPlay(RuleBasedStateMachine):
    """A play whose every choice is hypothesis's."""

    director: Director

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.director = Director(_picked_from(data))

    @rule(data=st.data(), act=st.sampled_from(ACTS))
    def act(self, data: st.DataObject, act: Callable[[Director], None]) -> None:
        self.director.pick = _picked_from(data)
        act(self.director)
        self.director.oracle.agrees(self.director.stage.state())

    def teardown(self) -> None:
        if hasattr(self, "director"):
            self.director.heal()


def _picked_from(data: st.DataObject) -> Callable[[int], int]:
    return lambda count: data.draw(st.integers(0, count - 1))


def test_laws_hold_in_any_play() -> None:
    run_state_machine_as_test(AnyPlay, settings=settings(max_examples=120, stateful_step_count=50))


def test_laws_hold_over_many_seeds() -> None:
    for seed in range(SEEDS):
        play(seed, ACTS_PER_SEED)
