"""What a scenario is said to show, and under which profile that holds."""

from __future__ import annotations

import re

import pytest

from app.sim.library import load, names
from app.sim.scenario import claim


@pytest.mark.parametrize("name", names())
def test_no_claim_stands_without_the_profile_it_is_about(name: str) -> None:
    shows = load(name).shows
    for profile in ("", "kep", "legacy"):
        assert re.search(r"\bUnder (kep\b|`kep`)", claim(shows, profile))


def test_under_another_profile_the_reader_is_told_that_it_is_another() -> None:
    shows = "Nothing is missed."
    assert claim(shows) == claim(shows, "kep") == "Under kep: Nothing is missed."
    assert claim(shows, "legacy") == "Under kep (this is legacy): Nothing is missed."


def test_one_that_names_the_profile_itself_stays_as_it_is() -> None:
    shows = "Under `kep` it is found. Under `legacy` it is not."
    assert claim(shows, "legacy") == shows
    assert claim("Under `1.37` it costs more.", "kep").startswith("Under kep: Under `1.37`")


def test_nothing_claimed_is_nothing_said() -> None:
    assert claim("  ", "legacy") == ""
