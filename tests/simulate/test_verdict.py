"""Judging a session."""

import shlex

import msgspec
import pytest

from app.cli import build_parser, settings_from
from app.engine.profiles import PROFILES
from app.sim.account import Summary, play_to_end
from app.sim.difference import Difference
from app.sim.scenario import Scenario
from app.sim.virtual import VirtualSession
from app.simulate.verdict import verdict

DIFFERENCE = Difference("records", "uid", "c1", "exited", "running")


def summary(profile: str, *, settled: bool = True, differences: int = 0) -> Summary:
    empty = Scenario(name="empty", title="Nothing", shows="Nothing.")
    made = play_to_end(VirtualSession(empty, profile=profile), 1_500_000_000)
    return msgspec.structs.replace(
        made, settled=settled, differences=differences, difference=(DIFFERENCE,) * differences
    )


@pytest.mark.parametrize("profile", PROFILES)
def test_no_difference_is_well(profile: str) -> None:
    judged = verdict(summary(profile), "my file.toml")
    assert judged.well
    assert "what the runtime holds" in judged.text


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "legacy"])
@pytest.mark.parametrize(("differences", "told"), [(1, "1 thing "), (3, "3 things ")])
def test_a_difference_is_not_and_says_how_to_repeat_it(
    profile: str, differences: int, told: str
) -> None:
    judged = verdict(summary(profile, differences=differences), "my file.toml")
    assert not judged.well
    assert told in judged.text
    _, again = judged.text.split("plegscope ", 1)
    settings = settings_from(build_parser().parse_args(shlex.split(again)))
    assert (settings.scenario, settings.profile, settings.seed) == (
        "my file.toml",
        profile,
        7,
    )
    assert settings.duration_ns == 1_500_000_000
    assert settings.runtime_like == "containerd-2"


def test_a_shadow_that_did_not_get_to_look_is_not_well_either() -> None:
    judged = verdict(summary("kep", settled=False), "my file.toml")
    assert not judged.well
    assert "did not get to look" in judged.text


@pytest.mark.parametrize(("settled", "differences"), [(False, 2), (True, 2), (False, 0)])
def test_the_old_design_is_known_for_it(settled: bool, differences: int) -> None:
    judged = verdict(summary("legacy", settled=settled, differences=differences), "my file.toml")
    assert judged.well
    assert "legacy" in judged.text
    assert "5 min" in judged.text
