"""Sessions on one clock: no time and no number of one is taken for another's."""

from __future__ import annotations

import typing

import msgspec
import pytest

from app.engine.records import AnyRecord, Lifecycle, Note, RelistStarted, Retuned
from app.replaying.joining import NUMBERS, TIMES, Mover
from tests.replaying.test_incidents import died

#: Names that look like a time or a number and are neither (durations are told by `_ns`).
OTHERS = {"seq", "wall", "created_at", "finished_at"}


@pytest.mark.parametrize("kind", typing.get_args(AnyRecord))
def test_every_time_of_every_record_is_known(kind: type[msgspec.Struct]) -> None:
    for field in msgspec.structs.fields(kind):
        whole = field.type in (int, int | None)
        if not whole or field.name.endswith("_ns") or field.name in OTHERS:
            continue
        if field.name.endswith("_t") or field.name in ("t", "started"):
            assert field.name in TIMES
        else:
            assert field.name not in TIMES


def test_times_and_numbers_move_together() -> None:
    record = died(t=50, stop_t=40, poll_due_t=90, relist=3, request=2, event=5, after_ns=10)
    moved = Mover(1000, {"relist": 100, "request": 200, "event": 300}).move(record, 9, 0)
    assert isinstance(moved, Lifecycle)
    assert (moved.seq, moved.t, moved.stop_t, moved.poll_due_t) == (9, 1050, 1040, 1090)
    assert (moved.relist, moved.request, moved.event) == (103, 202, 305)
    assert (moved.after_ns, moved.wall) == (10, record.wall)


def test_no_number_stays_none() -> None:
    moved = Mover(1, dict.fromkeys(NUMBERS, 100)).move(died(relist=0, request=None), 1, 0)
    assert isinstance(moved, Lifecycle)
    assert (moved.relist, moved.request) == (0, None)


def test_the_next_session_begins_behind_the_highest_number() -> None:
    mover = Mover(0, {"relist": 10})
    for relist in (5, 3):
        mover.move(RelistStarted(t=1, wall=1, relist=relist, scope="global", source="global"), 1, 0)
    assert mover.numbers["relist"] == 15


def test_no_time_goes_back() -> None:
    moved = Mover(-100).move(Note(t=150, wall=1, level="info", text="x"), 2, 80)
    assert moved.t == 80


def test_a_period_is_no_time() -> None:
    moved = Mover(1000).move(Retuned(t=1, wall=1, period_ns=7, threshold_ns=8), 1, 0)
    assert isinstance(moved, Retuned)
    assert (moved.period_ns, moved.threshold_ns) == (7, 8)
