"""Running the checklist: what is run under which profile, and what comes of it."""

from __future__ import annotations

import pytest

from app.engine.profiles import PROFILES
from tests.conformance import __main__ as conformance
from tests.conformance import found
from tests.conformance.__main__ import chosen, complaints, judge, only, summary, under
from tests.conformance.found import RowTest
from tests.conformance.plugin import DEFAULT
from tests.conformance.rows import Row, by_id, load
from tests.conformance.table import Result

BOTH = Row("A1", "x", "all", ("kep", "polling"), "test", "")
ONE = Row("B1", "x", "all", ("kep",), "test", "")
NONE = Row("M1", "x", "all", (), "test", "Gone.")
ROWS = {row.id: row for row in (BOTH, ONE, NONE)}

A1 = RowTest("tests/engine/test_generic.py", "test_a1", ("A1",))
A1_B1 = RowTest("tests/engine/test_generic.py", "test_a1_b1", ("A1", "B1"))
OWN = RowTest("tests/engine/test_legacy.py", "test_a1_own", ("A1",))
CRI = RowTest("tests/cri/test_calls.py", "test_a1_cri", ("A1",))


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != DEFAULT])
def test_the_rows_hold_under_every_other_profile_too(profile: str) -> None:
    rows = by_id(load())
    told = conformance.run(profile, rows, list(rows.values()), found.find())
    assert len(told) > 50
    assert {node: word for node, (word, _) in told.items() if word != "passed"} == {}


def test_under_another_profile_only_the_engines_tests_whose_rows_all_hold_are_run() -> None:
    tests = (A1, A1_B1, OWN, CRI)
    assert under("kep", ROWS, tests) == [*tests]
    assert under("polling", ROWS, tests) == [A1]
    assert under("legacy", ROWS, tests) == []


def test_rows_are_chosen_by_id_and_by_group() -> None:
    rows = by_id(load()).values()
    assert [row.id for row in chosen(rows, ["a1", "B", "ki9"])] == [
        "A1",
        *(f"B{number}" for number in range(1, 8)),
        "Ki9",
    ]
    assert len(chosen(rows, ["K"])) == 20, "not those of Ki"
    assert len(chosen(rows, [])) == 236
    assert chosen(rows, ["Z1"]) == []


def test_only_the_chosen_rows_are_left_in_their_groups() -> None:
    groups = load()
    (row,) = chosen(by_id(groups).values(), ["F5"])
    left = [group for group in only(groups, [row]) if group.rows]
    assert [(group.name, group.rows) for group in left] == [("F", (row,))]


def test_the_worst_of_a_rows_tests_counts_profile_by_profile() -> None:
    outcomes = {
        "kep": {A1.node: ("passed", ""), CRI.node: ("left out", "no containerd")},
        "polling": {A1.node: ("failed", "…")},
        "generic": {A1.node: ("not run", "")},
        "1.37": {A1.node: ("passed", "")},
        "legacy": {},
    }
    result = judge(BOTH, [A1, CRI], outcomes)
    assert result == Result(["1.37"], ["polling", "generic"], ["no containerd"])
    assert result.word == "FAILED (polling, generic)"


def test_what_was_left_out_fails_in_ci_only(monkeypatch: pytest.MonkeyPatch) -> None:
    results = {"A1": Result(failed=["kep"]), "B1": Result(left_out=["…"]), "C1": Result(["kep"])}
    monkeypatch.setenv("CI", "")
    assert complaints(results) == ["Row A1: FAILED (kep)."]
    monkeypatch.setenv("CI", "true")
    assert complaints(results) == ["Row A1: FAILED (kep).", "Row B1 was left out."]


def test_the_last_line_counts() -> None:
    results = {"A1": Result(["kep"]), "B1": Result(failed=["kep"])}
    assert summary([BOTH, ONE, NONE], results) == (
        "3 rows: 1 passed, 1 failed, 0 left out, 1 without a test and with a reason"
    )


def test_a_row_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        conformance.main(["z9"])
    assert "no row is called z9" in capsys.readouterr().err
