"""The journal against a list: numbers without a hole, newest kept, subscribers told in order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from app.engine.records import Note, PodSeen, Record
from app.journal.journal import DEFAULT_CAPACITY, Journal
from app.journal.weight import weight
from tests.build import note, pod_seen


def filled(count: int, capacity: int = 100) -> Journal:
    journal = Journal(capacity)
    for number in range(1, count + 1):
        journal.append(note(number))
    return journal


def numbers(records: tuple[Record, ...]) -> list[int]:
    return [record.seq for record in records]


def test_an_empty_journal_has_no_records_and_numbers_that_say_so() -> None:
    journal = Journal()
    assert (journal.first_seq, journal.last_seq) == (1, 0)
    assert journal.since(0) == ()
    assert journal.newest(10) == ()


def test_a_record_is_numbered_and_otherwise_unchanged() -> None:
    journal = Journal()
    given_record = pod_seen("u1", t=7)
    numbered = journal.append(given_record)
    assert numbered == PodSeen(
        seq=1, t=7, wall=given_record.wall, uid="u1", name="web-1", namespace="shop"
    )
    assert given_record.seq == 0, "a record is immutable"
    assert journal.since(0) == (numbered,)


def test_a_number_that_the_record_brings_along_is_replaced() -> None:
    journal = Journal()
    assert journal.append(Note(seq=99, t=0, wall=0, level="info", text="")).seq == 1


def test_when_full_the_oldest_goes_and_first_seq_tells() -> None:
    journal = filled(130, capacity=100)
    assert (journal.first_seq, journal.last_seq) == (31, 130)
    assert numbers(journal.since(0)) == list(range(31, 131))


@pytest.mark.parametrize(
    ("seq", "limit", "expected"),
    [
        (0, None, list(range(1, 11))),
        (0, 3, [1, 2, 3]),
        (4, None, [5, 6, 7, 8, 9, 10]),
        (4, 2, [5, 6]),
        (8, 1, [9]),
        (9, None, [10]),
        (10, None, []),
        (11, None, []),
        (10_000, None, []),
        (-5, 2, [1, 2]),
        (0, 0, []),
    ],
)
def test_since(seq: int, limit: int | None, expected: list[int]) -> None:
    assert numbers(filled(10).since(seq, limit)) == expected


@pytest.mark.parametrize(
    ("count", "expected"), [(0, []), (-1, []), (2, [9, 10]), (50, list(range(1, 11)))]
)
def test_newest(count: int, expected: list[int]) -> None:
    assert numbers(filled(10).newest(count)) == expected


def test_heavy_records_push_out_older_ones() -> None:
    journal = Journal(100, max_weight=1000)
    for number in range(1, 51):
        journal.append(note(number))
    assert journal.first_seq == 1
    journal.append(note(51, text="x" * 900))
    kept = journal.since(0)
    assert numbers(kept) == list(range(journal.first_seq, 52))
    assert sum(map(weight, kept)) <= 1000
    assert weight(journal.append(note(52, text="x" * 5000))) > 1000
    assert numbers(journal.since(0)) == [52]
    # What went out weighs nothing any more.
    for number in range(53, 83):
        journal.append(note(number))
    assert journal.first_seq == 53


def test_subscribers_are_told_of_each_numbered_record_in_the_order_of_subscription() -> None:
    journal = Journal()
    journal.append(note(1))
    told: list[tuple[str, int]] = []
    journal.subscribe(lambda record: told.append(("a", record.seq)))
    journal.subscribe(lambda record: told.append(("b", record.seq)))
    journal.append(note(2))
    journal.append(note(3))
    assert told == [("a", 2), ("b", 2), ("a", 3), ("b", 3)]


def test_a_subscriber_finds_the_record_in_the_journal_already() -> None:
    journal = Journal()
    seen: list[bool] = []
    journal.subscribe(lambda record: seen.append(journal.since(record.seq - 1) == (record,)))
    journal.append(note(1))
    assert seen == [True]


def test_a_journal_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Journal(0)


def test_the_usual_capacity_is_bounded() -> None:
    journal = filled(DEFAULT_CAPACITY + 5, capacity=DEFAULT_CAPACITY)
    assert journal.first_seq == 6
    assert len(journal.since(0)) == DEFAULT_CAPACITY


class AgainstAList(RuleBasedStateMachine):
    """Whatever is appended and asked, the journal answers as a list of all records would."""

    @initialize(capacity=st.integers(1, 12))
    def begin(self, capacity: int) -> None:
        self.capacity = capacity
        self.journal = Journal(capacity)
        self.all: list[Record] = []
        self.told: list[Record] = []
        self.journal.subscribe(self.told.append)

    @rule(count=st.integers(1, 7))
    def append(self, count: int) -> None:
        for _ in range(count):
            self.all.append(self.journal.append(note(len(self.all))))

    @rule(seq=st.integers(-3, 60), limit=st.none() | st.integers(0, 15))
    def since(self, seq: int, limit: int | None) -> None:
        kept = [r for r in self.all[-self.capacity :] if r.seq > seq]
        assert list(self.journal.since(seq, limit)) == (kept if limit is None else kept[:limit])

    @rule(count=st.integers(-2, 20))
    def newest(self, count: int) -> None:
        kept = self.all[-self.capacity :]
        assert list(self.journal.newest(count)) == (kept[-count:] if count > 0 else [])

    @invariant()
    def numbers_have_no_hole(self) -> None:
        assert self.journal.last_seq == len(self.all)
        assert [record.seq for record in self.all] == list(range(1, len(self.all) + 1))
        assert self.journal.first_seq == max(1, len(self.all) - self.capacity + 1)
        assert self.told == self.all


TestAgainstAList = AgainstAList.TestCase
TestAgainstAList.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


@given(st.integers(1, 40), st.integers(1, 50), st.integers(1, 12))
def test_reading_page_by_page_finds_every_kept_record_once(
    capacity: int, count: int, page: int
) -> None:
    journal = filled(count, capacity)
    read: list[int] = []
    seq = 0
    while part := journal.since(seq, page):
        read += numbers(part)
        seq = part[-1].seq
    assert read == list(range(journal.first_seq, count + 1))
