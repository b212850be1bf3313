"""The runtimes by name, and how late each is."""

import pytest

from app.cri.probe import decide
from app.errors import SettingsError
from app.sim.chance import generator
from app.sim.flavour import MS, SECOND, RuntimeRules
from app.sim.flavours import CONTAINERD_1_7, CONTAINERD_2, CRI_O, FLAVOURS, rules_of

ALL = pytest.mark.parametrize("rules", list(FLAVOURS.values()), ids=list(FLAVOURS))


def test_each_is_found_by_its_name() -> None:
    assert {name: rules_of(name) for name in FLAVOURS} == FLAVOURS
    assert {name: rules.like for name, rules in FLAVOURS.items()} == {one: one for one in FLAVOURS}
    assert len({(one.runtime_name, one.runtime_version) for one in FLAVOURS.values()}) == 4


def test_another_name_is_refused_with_those_that_there_are() -> None:
    known = "containerd-2, containerd-1.7, containerd-1.6, cri-o"
    with pytest.raises(SettingsError, match=f"'docker' is no runtime .* choose one of {known}"):
        rules_of("docker")


@ALL
def test_a_client_judges_it_by_name_and_version_as_it_would_the_real_one(
    rules: RuntimeRules,
) -> None:
    """Whether the stream may be joined: only where every subscriber gets every event."""
    decision = decide(rules.runtime_name, rules.runtime_version)
    assert (decision.policy == "join") is (rules.stream == "each")


@ALL
def test_an_exit_goes_unnoticed_within_what_was_measured(rules: RuntimeRules) -> None:
    rng = generator(1, "lags")
    drawn = sorted(rules.draw_exit_lag(rng) for _ in range(1000))
    shortest, usual, longest = rules.exit_lag
    assert shortest <= drawn[0] < usual < drawn[-1] <= longest


@pytest.mark.parametrize(
    ("rules", "first", "middle", "last"),
    [
        (CONTAINERD_1_7, 3.17, 4.85, 4.88),
        (CONTAINERD_2, 1.94, 2.96, 2.97),
        (CRI_O, 0.30, 1.81, 2.76),
    ],
    ids=["containerd-1.7", "containerd-2", "cri-o"],
)
def test_a_hundred_ends_at_once_are_told_as_late_as_was_measured(
    rules: RuntimeRules, first: float, middle: float, last: float
) -> None:
    """Within a quarter of the measured seconds, which is what such measurements are worth."""
    rng = generator(1, "storm")
    lags = sorted(
        (rules.draw_exit_lag(rng) + rules.draw_crowd_lag(rng, 99)) / SECOND for _ in range(100)
    )
    for lag, measured in zip((lags[0], lags[50], lags[-1]), (first, middle, last), strict=True):
        assert abs(lag - measured) < measured / 4 + 0.3


def test_only_cri_o_is_wrong_about_when_a_process_ended() -> None:
    rng = generator(1, "coarse")
    assert {CONTAINERD_2.draw_finished_off(rng) for _ in range(50)} == {0}
    off = [CRI_O.draw_finished_off(rng) for _ in range(200)]
    assert -6 * MS <= min(off) < 0 < max(off) <= 10 * MS


def test_cri_o_tells_of_a_start_before_it_can_tell_of_its_end() -> None:
    assert CRI_O.started_lag is not None
    assert CRI_O.started_lag[1] < CRI_O.exit_lag[0]
