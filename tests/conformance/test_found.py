"""Tests are found by their names, and each row has one or a reason."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.__main__ import wrong
from tests.conformance.found import RowTest, by_row, find
from tests.conformance.rows import Row, by_id, load


def row(row_id: str, reason: str = "") -> Row:
    return Row(row_id, "x", "all", ("kep",), "test", reason)


def test_every_row_has_a_test_or_a_reason_and_every_name_a_row() -> None:
    assert wrong(by_id(load()), by_row(find())) == []


def test_functions_that_carry_ids_are_found_and_others_are_not(tmp_path: Path) -> None:
    room = tmp_path / "tests" / "room"
    room.mkdir(parents=True)
    (room / "test_it.py").write_text(
        "def test_a1_b2_x(): ...\nasync def test_c3(): ...\ndef test_x(): ...\ndef a1(): ...\n"
    )
    (room / "play.py").write_text("def test_d4_in_no_test_file(): ...\n")
    tests = find(tmp_path / "tests")
    assert tests == (
        RowTest("tests/room/test_it.py", "test_a1_b2_x", ("A1", "B2")),
        RowTest("tests/room/test_it.py", "test_c3", ("C3",)),
    )
    assert by_row(tests) == {"A1": [tests[0]], "B2": [tests[0]], "C3": [tests[1]]}
    assert tests[1].node == "tests/room/test_it.py::test_c3"


def test_what_is_wrong_is_said_with_what_to_do() -> None:
    rows = {one.id: one for one in (row("A1"), row("A2"), row("A3", "Why."), row("A4", "Why."))}
    tests = {
        name: [RowTest("tests/test_it.py", f"test_{name.lower()}", (name,))]
        for name in ("A1", "A3", "A9")
    }
    assert wrong(rows, tests) == [
        "Row A2 has neither a test nor a reason: write one of them.",
        "Row A3 has tests, so take its reason out of rows.toml.",
        "tests/test_it.py::test_a9 names the row A9, which does not exist: rename it.",
    ]
