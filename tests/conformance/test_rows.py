"""The checklist itself: complete, in order, and names of tests read as they are meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.profiles import PROFILES
from tests.conformance.rows import COUNTS, Group, by_id, ids_of, load


@pytest.fixture(scope="module")
def groups() -> tuple[Group, ...]:
    return load()


def test_every_row_of_every_group_is_there(groups: tuple[Group, ...]) -> None:
    assert {group.name: len(group.rows) for group in groups} == COUNTS
    assert len(by_id(groups)) == sum(COUNTS.values()) == 236


def test_every_row_says_something_of_its_own(groups: tuple[Group, ...]) -> None:
    said = [row.says for row in by_id(groups).values()]
    assert len(set(said)) == len(said)
    assert all(len(text) < 200 and not text.endswith(".") for text in said)


def test_reasons_are_sentences(groups: tuple[Group, ...]) -> None:
    reasons = {row.reason for row in by_id(groups).values() if row.reason}
    assert reasons
    assert all(text.endswith(".") for text in reasons)


def test_profiles_are_the_engines(groups: tuple[Group, ...]) -> None:
    for row in by_id(groups).values():
        assert set(row.profiles) <= {*PROFILES, "any"}, row.id
        assert row.profiles or row.reason, f"{row.id} must hold nowhere and says not why"


@pytest.mark.parametrize(
    ("test", "ids"),
    [
        ("test_a1_first_sight", ("A1",)),
        ("test_k4_k5_two", ("K4", "K5")),
        ("test_f12_p24_two_groups", ("F12", "P24")),
        ("test_h1_to_h8_one_story", tuple(f"H{number}" for number in range(1, 9))),
        ("test_o2_to_o4_o9_both", ("O2", "O3", "O4", "O9")),
        ("test_ki3_in_between", ("Ki3",)),
        ("test_a1", ("A1",)),
        ("test_a_word_and_a1", ()),
        ("test_to_a1", ()),
        ("test_a1_to_nowhere", ("A1",)),
        ("test_a1_to_to_a3", ("A1",)),
        ("test_h10_then_b2", ("H10",)),
        ("test_1_7_joined", ()),
        ("test_q1_is_no_group", ()),
        ("test_a1b_is_no_row", ()),
        ("a1", ()),
    ],
)
def test_a_tests_name_carries_its_rows(test: str, ids: tuple[str, ...]) -> None:
    assert ids_of(test) == ids


GOOD = """
[F]
title = "T"
versions = "all"
profiles = ["kep"]
origin = "test"
"""


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("", "the rows"),
        ('F2 = { says = "x" }', "the rows"),
        ('F1 = { says = "x", because = "y" }', "row F1"),
        ('F1 = { says = "" }', "row F1"),
        ('F1 = { says = "x", origin = "hearsay" }', "row F1"),
        ('F1 = { says = "x", profiles = "kep" }', "row F1"),
    ],
)
def test_a_broken_checklist_is_refused(tmp_path: Path, row: str, complaint: str) -> None:
    path = tmp_path / "rows.toml"
    path.write_text(GOOD + row)
    with pytest.raises(ValueError, match=complaint):
        load(path)
