"""Every scenario that comes with plegscope stands on one shelf."""

from __future__ import annotations

from app.sim.library import names
from app.sim.shelves import SHELVES, START, in_order, shelf_of


def test_each_scenario_stands_on_one_shelf_and_nothing_else_does() -> None:
    assert sorted(name for some in SHELVES.values() for name in some) == sorted(names())
    assert sorted(in_order()) == sorted(names())


def test_a_newcomer_begins_with_the_smallest_and_the_lessons_own_come_last() -> None:
    assert in_order()[0] == "hint-lost"
    assert shelf_of("hint-lost") == START == next(iter(SHELVES))
    last = list(SHELVES)[-1]
    assert {name for name in names() if name.startswith("lesson-")} <= set(SHELVES[last])
