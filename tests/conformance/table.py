"""The table: for people as a page (TABLE.md), and with results for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.found import RowTest
from tests.conformance.rows import Group, Row

PAGE = Path(__file__).with_name("TABLE.md")

_HEAD = """\
# Conformance

What Kubernetes, the container runtimes and KEP-3386 say a PLEG does, one behaviour a row, and the \
test that shows plegscope's engine doing it. `make conformance` runs exactly these tests, each \
under every profile of its rows, and prints this table with the results. This page is written by \
`python -m tests.conformance --write`; a test holds it up to date.

Who says so: *test* is a test of Kubernetes or of a runtime, *source* was read in theirs, *KEP* is \
asked for by KEP-3386 alone, *derived* follows from the others.
"""

_COLUMNS = (
    "| row | what must be so | where, says who | profiles | tests, or why there is none |",
    "|---|---|---|---|---|",
)


@dataclass
class Result:
    """What became of one row: by profile, the worst of its tests.

    Attributes:
        failed: profiles under which a test failed or was not run.
        left_out: reasons why a test could not run here.
        passed: profiles under which all was well.
    """

    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def word(self) -> str:
        """In a word or two."""
        if self.failed:
            return f"FAILED ({', '.join(self.failed)})"
        return "left out" if self.left_out else "passed"


def page(groups: Sequence[Group], tests: Mapping[str, Sequence[RowTest]]) -> str:
    """The table without results, as Markdown."""
    rows = [row for group in groups for row in group.rows]
    reasons = sum(bool(row.reason) for row in rows)
    lines = [_HEAD, f"{len(rows)} rows: {len(rows) - reasons} with tests, {reasons} without.", ""]
    for group in groups:
        lines += [f"## {group.name}. {group.title}", "", *_COLUMNS]
        lines += [_line(row, tests.get(row.id, ())) for row in group.rows]
        lines.append("")
    return "\n".join(lines)


def _line(row: Row, tests: Sequence[RowTest]) -> str:
    shown = row.reason or "<br>".join(
        f"[{test.name}](../../{test.path})" for test in dict.fromkeys(tests)
    )
    profiles = ", ".join(row.profiles) or "none"
    return f"| {row.id} | {row.says} | {row.versions}; {row.origin} | {profiles} | {shown} |"


def terminal(
    groups: Sequence[Group],
    tests: Mapping[str, Sequence[RowTest]],
    results: Mapping[str, Result],
) -> str:
    """The table with results; a row is a line of its own and one for each test."""
    lines: list[str] = []
    for group in groups:
        shown = [row for row in group.rows if row.id in results or row.reason]
        if not shown:
            continue
        lines += ["", f"{group.name}. {group.title}"]
        for row in shown:
            word = results[row.id].word if row.id in results else "no test"
            lines.append(f"  {row.id:<5}{word:<10} {row.says}")
            if row.id not in results:
                lines.append(f"{'':<18}{row.reason}")
                continue
            lines += [f"{'':<18}{test.node}" for test in tests[row.id]]
            lines.append(f"{'':<18}profiles: {', '.join(row.profiles)}")
            lines += [f"{'':<18}left out: {why}" for why in results[row.id].left_out]
    return "\n".join(lines)
