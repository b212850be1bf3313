"""Classes: two secrets, one answer each, nothing without a bound."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from app.errors import StageBusy, StageError, StageUnknown
from app.stage.classroom import (
    BINS,
    IDLE_S,
    LONGEST_S,
    MOST_CLASSES,
    MOST_OVER,
    MOST_STUDENTS,
    QUIET_S,
    Classroom,
    Reply,
)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def secrets() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"secret-{next(numbers)}"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(clock: Clock) -> Classroom:
    return Classroom(secrets(), clock)


def test_a_class_has_two_secrets_and_each_opens_its_own_door(room: Classroom) -> None:
    made = room.open("hint-lost")
    assert made.code != made.key
    assert room.with_code(made.code) is made
    assert room.with_key(made.key) is made
    with pytest.raises(StageUnknown):
        room.with_code(made.key)
    with pytest.raises(StageUnknown):
        room.with_key(made.code)


def test_only_the_code_of_a_class_is_a_door(room: Classroom) -> None:
    made = room.open("hint-lost")
    assert room.is_door(f"/class/{made.code}")
    assert room.is_door(f"/class/{made.code}/now")
    for path in (
        f"/class/{made.key}",
        f"/class/{made.key}/tally",
        "/class",
        "/class/",
        f"/class//{made.code}",
        f"/classes/{made.code}",
        f"/x/class/{made.code}",
        f"/lessons/{made.code}",
    ):
        assert not room.is_door(path), path


def test_who_still_waits_for_a_class_that_is_over_is_told(room: Classroom, clock: Clock) -> None:
    ended, idle = room.open("hint-lost"), room.open("hint-lost")
    room.end(ended.key)
    clock.now += IDLE_S + 1
    for over in (ended, idle):
        assert room.is_door(f"/class/{over.code}/now")
        with pytest.raises(StageUnknown, match="over"):
            room.with_code(over.code)
    for _ in range(MOST_OVER + 1):
        room.end(room.open("hint-lost").key)
    assert not room.is_door(f"/class/{ended.code}"), "not for ever"


def test_each_browser_has_one_answer_for_each_step(room: Classroom) -> None:
    made = room.open("hint-lost")
    made.go_to(2, shown=False, now=room.now)
    room.take(made.code, "ann", 2, "poll", 50)
    room.take(made.code, "ann", 2, "hint", 70)
    room.take(made.code, "bob", 2, "hint", None)
    assert made.reply("ann") == Reply("poll", 50)
    tally = made.tally(2, 0, 100)
    assert (tally.answered, tally.present) == (2, 2)
    assert tally.choices == {"poll": 1, "hint": 1}
    assert sum(tally.bins) == 1
    made.go_to(4, shown=False, now=room.now)
    assert made.reply("ann") is None
    room.take(made.code, "ann", 4, "never", None)
    assert made.tally(4, 0, 100).answered == 1
    assert made.tally(2, 0, 100).answered == 2
    assert made.reply("ann", 2) == Reply("poll", 50)


def test_moments_are_counted_in_equal_parts_and_none_falls_out(room: Classroom) -> None:
    made = room.open("hint-lost")
    made.go_to(2, shown=False, now=room.now)
    for number, at in enumerate((-5, 0, 1, 999, 1000, 2000, 500)):
        room.take(made.code, f"s{number}", 2, "", at)
    bins = made.tally(2, 0, 1000).bins
    assert len(bins) == BINS
    assert (bins[0], bins[BINS // 2], bins[-1]) == (3, 1, 3)
    assert made.tally(2, 0, 1000).most == 3
    assert made.tally(3, 7, 7).bins == (0,) * BINS


def test_who_comes_too_late_is_told_so(room: Classroom) -> None:
    made = room.open("hint-lost")
    made.go_to(2, shown=True, now=room.now)
    with pytest.raises(StageError, match="on the screen already"):
        room.take(made.code, "ann", 2, "poll", None)
    made.go_to(4, shown=False, now=room.now)
    with pytest.raises(StageError, match="has gone on"):
        room.take(made.code, "ann", 2, "poll", None)
    assert made.tally(2, 0, 1).answered == 0


def test_what_a_students_page_shows_has_a_version(room: Classroom) -> None:
    made = room.open("hint-lost")
    before = made.version
    made.go_to(1, shown=False, now=room.now)
    assert made.version == before
    made.go_to(2, shown=False, now=room.now)
    made.go_to(2, shown=True, now=room.now)
    assert made.version == before + 2


def test_a_class_takes_so_many_browsers_and_no_more(room: Classroom) -> None:
    made = room.open("hint-lost")
    for number in range(MOST_STUDENTS):
        room.take(made.code, f"s{number}", 1, "poll", None)
    with pytest.raises(StageBusy, match=str(MOST_STUDENTS)):
        room.take(made.code, "one more", 1, "poll", None)
    made.go_to(2, shown=False, now=room.now)
    room.take(made.code, "s0", 2, "poll", None)
    assert made.tally(2, 0, 1).answered == 1
    assert made.tally(1, 0, 1).present == MOST_STUDENTS


def test_so_many_classes_and_no_more_until_one_is_over(room: Classroom, clock: Clock) -> None:
    first = room.open("hint-lost")
    first.go_to(1, shown=False, now=room.now)
    for _ in range(MOST_CLASSES - 1):
        room.open("relist-loop").go_to(1, shown=False, now=room.now)
    with pytest.raises(StageBusy, match=str(MOST_CLASSES)):
        room.open("relist-loop")
    room.end(first.key)
    second = room.open("relist-loop")
    with pytest.raises(StageUnknown):
        room.with_code(first.code)
    clock.now += IDLE_S + 1
    assert room.open("relist-loop").code != second.code
    with pytest.raises(StageUnknown, match="over"):
        room.with_key(second.key)


def test_the_idlest_class_without_an_answer_gives_way(room: Classroom, clock: Clock) -> None:
    held = [room.open("hint-lost") for _ in range(MOST_CLASSES - 1)]
    for number, one in enumerate(held):
        clock.now += 1
        one.go_to(1, shown=False, now=room.now)
        if number == 0:
            room.take(one.code, "ann", 1, "poll", None)
    link = room.open("hint-lost")
    # That which nobody has opened goes first.
    room.open("hint-lost").go_to(1, shown=False, now=room.now)
    with pytest.raises(StageUnknown):
        room.with_code(link.code)
    with pytest.raises(StageBusy):
        room.open("hint-lost")
    clock.now += QUIET_S + 1
    room.open("hint-lost")
    with pytest.raises(StageUnknown):
        room.with_code(held[1].code)
    assert room.with_code(held[0].code) is held[0]
    assert room.with_code(held[2].code) is held[2]


def test_a_class_ends_when_nobody_touches_it_and_in_any_case_some_day(
    room: Classroom, clock: Clock
) -> None:
    made = room.open("hint-lost")
    while clock.now < 1000 + LONGEST_S:
        clock.now += IDLE_S - 1
        if clock.now - made.begun <= LONGEST_S:
            made.go_to(1, shown=False, now=room.now)
    with pytest.raises(StageUnknown):
        room.with_code(made.code)


def test_only_the_key_ends_a_class(room: Classroom) -> None:
    made = room.open("hint-lost")
    with pytest.raises(StageUnknown):
        room.end(made.code)
    assert room.with_code(made.code) is made
