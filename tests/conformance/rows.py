"""The checklist as data: ``rows.toml``, read and checked.

A row is one behaviour of a PLEG. It belongs to a group (the letter), says what must be so, where
it holds and who says so, and names the profiles that must show it. Either tests carry its id in
their names, or it has a reason why there is none.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROWS = Path(__file__).with_name("rows.toml")

#: Rows of each group, so that none gets lost.
COUNTS = {
    "A": 20, "B": 7, "C": 12, "D": 12, "E": 7, "F": 13, "G": 3, "H": 29, "I": 7, "J": 19,
    "K": 20, "Ki": 9, "L": 13, "M": 10, "N": 14, "O": 11, "P": 30,
}  # fmt: skip

FIELDS = frozenset({"says", "versions", "profiles", "origin", "reason"})
ORIGINS = ("test", "source", "KEP", "derived")

_ID = re.compile(r"(ki|[a-p])([0-9]+)")


@dataclass(frozen=True)
class Row:
    """One line of the checklist.

    Attributes:
        id: group and number, such as ``A1`` or ``Ki3``.
        says: given, when and then in a line.
        versions: where it holds.
        profiles: the profiles of the engine that must show it.
        origin: who says so, one of ``ORIGINS``.
        reason: why there is no test; empty for a row that has some.
    """

    id: str
    says: str
    versions: str
    profiles: tuple[str, ...]
    origin: str
    reason: str


@dataclass(frozen=True)
class Group:
    """The rows of one letter."""

    name: str
    title: str
    rows: tuple[Row, ...]


def load(path: Path = ROWS) -> tuple[Group, ...]:
    """Read the checklist.

    Raises:
        ValueError: it is not complete, or a row says something that rows do not say.
    """
    with path.open("rb") as file:
        tables = tomllib.load(file)
    return tuple(_group(name, table) for name, table in tables.items())


def by_id(groups: tuple[Group, ...]) -> dict[str, Row]:
    """All rows by their id."""
    return {row.id: row for group in groups for row in group.rows}


def ids_of(test: str) -> tuple[str, ...]:
    """The rows that a test's name carries: ``test_a1_b2_words`` is A1 and B2.

    ``test_h1_to_h8_words`` is all from H1 to H8; what is no test carries none.
    """
    if not test.startswith("test_"):
        return ()
    found: list[tuple[str, int]] = []
    through = False
    for word in test.removeprefix("test_").split("_"):
        row = _ID.fullmatch(word)
        if row is not None:
            group, number = row[1].capitalize(), int(row[2])
            first = found[-1][1] + 1 if through else number
            found += [(group, one) for one in range(first, number + 1)]
            through = False
        elif word == "to" and found and not through:
            through = True
        else:
            break
    return tuple(f"{group}{number}" for group, number in found)


def _group(name: str, table: dict[str, object]) -> Group:
    defaults = {key: value for key, value in table.items() if not isinstance(value, dict)}
    title = str(defaults.pop("title", ""))
    rows = tuple(
        _row(key, {**defaults, **value}) for key, value in table.items() if isinstance(value, dict)
    )
    expected = [f"{name}{number}" for number in range(1, COUNTS.get(name, 0) + 1)]
    if [row.id for row in rows] != expected or not title:
        raise ValueError(f"group {name} must have a title and the rows {expected}, in this order")
    return Group(name, title, rows)


def _row(row_id: str, fields: dict[str, object]) -> Row:
    strange = fields.keys() - FIELDS
    profiles = fields.get("profiles")
    says, reason = str(fields.get("says", "")), str(fields.get("reason", ""))
    origin = fields.get("origin")
    if strange or not says or not isinstance(profiles, list) or origin not in ORIGINS:
        raise ValueError(f"row {row_id} is not complete, or says what rows do not say: {fields}")
    return Row(row_id, says, str(fields["versions"]), tuple(profiles), str(origin), reason)
