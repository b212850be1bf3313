"""The page is up to date, and a run's table says all."""

from __future__ import annotations

from tests.conformance import found, table
from tests.conformance.found import RowTest
from tests.conformance.rows import Group, Row, load

GROUP = Group(
    "F",
    "Health",
    (
        Row("F1", "Says one", "all", ("kep", "generic"), "test", ""),
        Row("F2", "Says two", "KEP", ("kep",), "KEP", ""),
        Row("F3", "Says three", "1.35", (), "source", "It is gone."),
    ),
)
TESTS = {
    "F1": [
        RowTest("tests/a/test_x.py", "test_f1_a", ("F1",)),
        RowTest("tests/t.py", "test_f1", ("F1",)),
    ],
    "F2": [RowTest("tests/a/test_x.py", "test_f2", ("F2",))],
}


def test_the_page_is_up_to_date() -> None:
    written = table.PAGE.read_text(encoding="utf-8")
    assert written == table.page(load(), found.by_row(found.find())), (
        "TABLE.md is not what rows.toml and the tests say: run `make conformance ARGS=--write`"
    )


def test_the_page_shows_tests_as_links_and_reasons_as_they_are() -> None:
    page = table.page([GROUP], TESTS)
    assert "3 rows: 2 with tests, 1 without." in page
    assert "## F. Health" in page
    assert (
        "| F1 | Says one | all; test | kep, generic | [test_f1_a](../../tests/a/test_x.py)<br>"
        "[test_f1](../../tests/t.py) |"
    ) in page
    assert "| F3 | Says three | 1.35; source | none | It is gone. |" in page


def test_the_terminals_table_has_rows_tests_results_and_profiles() -> None:
    results = {
        "F1": table.Result(passed=["kep"], failed=["generic"]),
        "F2": table.Result(left_out=["there is no containerd"]),
    }
    assert table.terminal([GROUP, Group("A", "Nothing", ())], TESTS, results).splitlines() == [
        "",
        "F. Health",
        "  F1   FAILED (generic) Says one",
        "                  tests/a/test_x.py::test_f1_a",
        "                  tests/t.py::test_f1",
        "                  profiles: kep, generic",
        "  F2   left out   Says two",
        "                  tests/a/test_x.py::test_f2",
        "                  profiles: kep",
        "                  left out: there is no containerd",
        "  F3   no test    Says three",
        "                  It is gone.",
    ]


def test_a_row_that_was_not_asked_for_is_not_shown() -> None:
    assert table.terminal([GROUP], TESTS, {"F2": table.Result(passed=["kep"])}).count("\n") == 6
