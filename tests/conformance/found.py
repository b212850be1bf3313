"""The tests that carry a row's id, found by their names without importing them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.rows import ids_of

TESTS = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class RowTest:
    """A test function that shows rows.

    Attributes:
        path: of its file, from the top of the tree, such as ``tests/engine/test_generic.py``.
        name: of the function.
        rows: ids, in the order of the name.
    """

    path: str
    name: str
    rows: tuple[str, ...]

    @property
    def node(self) -> str:
        """What pytest calls it, without parameters."""
        return f"{self.path}::{self.name}"


def find(tests: Path = TESTS) -> tuple[RowTest, ...]:
    """All tests below a directory whose names carry ids, in order of file and line."""
    found: list[RowTest] = []
    for path in sorted(tests.rglob("test_*.py")):
        where = path.relative_to(tests.parent).as_posix()
        for name in _functions(path):
            rows = ids_of(name)
            if rows:
                found.append(RowTest(where, name, rows))
    return tuple(found)


def by_row(tests: tuple[RowTest, ...]) -> dict[str, list[RowTest]]:
    """The tests of each row that has some."""
    rows: dict[str, list[RowTest]] = {}
    for test in tests:
        for row in test.rows:
            rows.setdefault(row, []).append(test)
    return rows


def _functions(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
