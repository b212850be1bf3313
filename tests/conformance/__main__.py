"""Runs the tests of the checklist and prints the table: row, statement, tests, result, profile.

    python -m tests.conformance [ROW ...]
    python -m tests.conformance --write

Without rows it runs all. Each test runs once as it stands, and once more under every other profile
that its rows name. Exit code 1: a row has neither a test nor a reason, a test names a row that does
not exist, a test failed; with ``CI=true`` also if a test could not run here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from app.engine.profiles import PROFILES
from tests.conformance import found, table
from tests.conformance.found import RowTest
from tests.conformance.plugin import CHOOSE_THEMSELVES, DEFAULT
from tests.conformance.rows import Group, Row, by_id, load

ROOT = Path(__file__).resolve().parent.parent.parent
ENGINE = ("tests/engine/", "tests/sim/test_workers.py")
"""Tests whose engine has the default profile unless they say otherwise."""
DEADLINE_S = 1800.0

Outcomes = dict[str, tuple[str, str]]
"""What became of each test under one profile: a word and the reason, by ``RowTest.node``."""


def main(words: Sequence[str]) -> int:
    """Entry point; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("rows", nargs="*", help="ids of rows or letters of groups; none is all")
    parser.add_argument("--write", action="store_true", help="write TABLE.md and run nothing")
    asked = parser.parse_args(words)
    groups, tests = load(), found.find()
    rows, of_row = by_id(groups), found.by_row(tests)
    problems = wrong(rows, of_row)
    if asked.write:
        table.PAGE.write_text(table.page(groups, of_row), encoding="utf-8")
    else:
        wanted = chosen(rows.values(), asked.rows)
        if not wanted:
            parser.error(f"no row is called {' or '.join(asked.rows)}; they are A1 to P30")
        outcomes = {profile: run(profile, rows, wanted, tests) for profile in PROFILES}
        results = {
            row.id: judge(row, of_row[row.id], outcomes) for row in wanted if row.id in of_row
        }
        print(table.terminal(only(groups, wanted), of_row, results))
        problems += complaints(results)
        print("\n" + summary(wanted, results))
    print("\n".join(problems), file=sys.stderr)
    return 1 if problems else 0


def wrong(rows: dict[str, Row], of_row: dict[str, list[RowTest]]) -> list[str]:
    """Rows with neither a test nor a reason, or with both; tests that name no row."""
    neither = [row.id for row in rows.values() if row.id not in of_row and not row.reason]
    both = [row.id for row in rows.values() if row.id in of_row and row.reason]
    return [
        *(f"Row {row} has neither a test nor a reason: write one of them." for row in neither),
        *(f"Row {row} has tests, so take its reason out of rows.toml." for row in both),
        *(
            f"{test.node} names the row {row}, which does not exist: rename it."
            for row, tests in of_row.items()
            if row not in rows
            for test in tests
        ),
    ]


def chosen(rows: Iterable[Row], words: Sequence[str]) -> list[Row]:
    """The rows asked for by id or by group."""
    asked = {word.lower() for word in words}
    return [
        row
        for row in rows
        if not asked or asked & {row.id.lower(), row.id.rstrip("0123456789").lower()}
    ]


def only(groups: Sequence[Group], wanted: Sequence[Row]) -> list[Group]:
    """The groups with the wanted rows alone."""
    return [
        Group(group.name, group.title, tuple(row for row in group.rows if row in wanted))
        for group in groups
    ]


def under(profile: str, rows: dict[str, Row], tests: Iterable[RowTest]) -> list[RowTest]:
    """The tests that are run under a profile: all under the default one, and under another those
    of the engine whose rows must all hold there."""
    if profile == DEFAULT:
        return list(tests)
    return [
        test
        for test in tests
        if test.path.startswith(ENGINE)
        and not test.path.endswith(CHOOSE_THEMSELVES)
        and all(row in rows and profile in rows[row].profiles for row in test.rows)
    ]


def run(
    profile: str, rows: dict[str, Row], wanted: Sequence[Row], tests: Sequence[RowTest]
) -> Outcomes:
    """Run the wanted rows' tests under a profile; a test that was not run says so."""
    ids = {row.id for row in wanted}
    mine = under(profile, rows, (test for test in tests if ids & set(test.rows)))
    if not mine:
        return {}
    print(f"\n{f' {profile} ':=^78}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "outcomes.json"
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-p", "tests.conformance.plugin"),
            *(f"--rows-report={report}", f"--rows-profile={profile}"),
            *dict.fromkeys(test.node for test in mine),
        ]
        subprocess.run(command, cwd=ROOT, check=False, timeout=DEADLINE_S)
        told: Outcomes = json.loads(report.read_text()) if report.exists() else {}
    return {test.node: told.get(test.node) or ("not run", "") for test in mine}


def judge(row: Row, tests: Sequence[RowTest], outcomes: dict[str, Outcomes]) -> table.Result:
    """What became of a row, by profile."""
    result = table.Result()
    for profile, told in outcomes.items():
        mine = [told[test.node] for test in tests if test.node in told]
        if not mine:
            continue
        words = {word for word, _ in mine}
        if words <= {"passed"}:
            result.passed.append(profile)
        elif words <= {"passed", "left out"}:
            result.left_out += [why for word, why in mine if word == "left out"]
        else:
            result.failed.append(profile)
    return result


def complaints(results: dict[str, table.Result]) -> list[str]:
    """What makes the run a failed one."""
    told = [f"Row {row}: {result.word}." for row, result in results.items() if result.failed]
    if os.environ.get("CI", "").lower() in {"1", "true", "yes"}:
        told += [f"Row {row} was left out." for row, result in results.items() if result.left_out]
    return told


def summary(wanted: Sequence[Row], results: dict[str, table.Result]) -> str:
    """The last line."""
    words = [result.word.partition(" (")[0].lower() for result in results.values()]
    return (
        f"{len(wanted)} rows: {words.count('passed')} passed, {words.count('failed')} failed, "
        f"{words.count('left out')} left out, {sum(bool(row.reason) for row in wanted)} without "
        "a test and with a reason"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
