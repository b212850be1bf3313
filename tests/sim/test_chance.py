"""Chance that does not depend on who draws first."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from app.sim.chance import between, generator, mostly_short

spans = st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)).map(
    lambda pair: (min(pair), max(pair))
)


def test_the_same_names_draw_the_same_and_others_do_not() -> None:
    first = [generator(7, "world", n).random() for n in range(3)]
    assert first == [generator(7, "world", n).random() for n in range(3)]
    assert len(set(first)) == 3
    assert generator(8, "world", 0).random() != first[0]


@given(spans, st.integers())
def test_draws_stay_within_their_span(span: tuple[int, int], seed: int) -> None:
    rng = generator(seed, "span")
    assert span[0] <= between(rng, span) <= span[1]
    assert span[0] <= mostly_short(rng, span) <= span[1]


def test_short_durations_are_the_more_frequent_ones() -> None:
    rng = generator(1, "durations")
    drawn = sorted(mostly_short(rng, (0, 1000)) for _ in range(999))
    assert 200 < drawn[499] < 300  # the median of a square: a quarter


def test_another_hash_seed_changes_nothing() -> None:
    code = "from app.sim.chance import generator; print(generator(3, 'a', 1).getrandbits(64))"
    drawn = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1")
    }
    assert drawn == {f"{generator(3, 'a', 1).getrandbits(64)}\n"}
