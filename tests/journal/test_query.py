"""Pages of the journal: filters, the cursor, and what is no longer kept."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine import records
from app.engine.records import AnyRecord, Record
from app.journal.journal import Journal
from app.journal.query import KINDS, newest_about, query
from tests.build import chain, note, pod_seen, relist_started


def journal_of(*given_records: Record, capacity: int = 1000) -> Journal:
    journal = Journal(capacity)
    for record in given_records:
        journal.append(record)
    return journal


def test_every_class_of_records_has_a_kind_and_is_part_of_any_record() -> None:
    defined = {
        thing
        for thing in vars(records).values()
        if isinstance(thing, type) and issubclass(thing, Record) and thing is not Record
    }
    assert set(get_args(AnyRecord)) == defined
    assert set(KINDS.values()) == defined
    assert KINDS["lifecycle"] is records.Lifecycle


def test_an_empty_journal() -> None:
    page = query(Journal())
    assert (page.records, page.next, page.complete, page.missed) == ((), 0, True, 0)
    assert (page.first_seq, page.last_seq) == (1, 0)


def test_everything() -> None:
    page = query(journal_of(note(1), pod_seen(), note(2)))
    assert [r.seq for r in page.records] == [1, 2, 3]
    assert (page.next, page.complete) == (3, True)


def test_a_page_ends_at_the_limit_and_says_where_to_go_on() -> None:
    journal = journal_of(*(note(n) for n in range(5)))
    first = query(journal, limit=2)
    assert ([r.seq for r in first.records], first.next, first.complete) == ([1, 2], 2, False)
    last = query(journal, since=4, limit=2)
    assert ([r.seq for r in last.records], last.next, last.complete) == ([5], 5, True)


def test_a_page_that_is_exactly_full_and_the_last_is_complete() -> None:
    page = query(journal_of(note(1), note(2)), limit=2)
    assert (page.next, page.complete) == (2, True)


def test_a_page_of_heavy_records_ends_early_and_says_where_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.journal.query.MAX_WEIGHT", 1000)
    journal = journal_of(*(note(n, text="x" * 300) for n in range(7)), note(7, text="x" * 5000))
    read: list[int] = []
    since, complete = 0, False
    while not complete:
        page = query(journal, since, limit=100)
        assert 1 <= len(page.records) <= 3
        read += [record.seq for record in page.records]
        since, complete = page.next, page.complete
    assert read == list(range(1, 9))


def test_one_pod() -> None:
    journal = journal_of(pod_seen("u1"), *chain(1, 0, "u1"), *chain(2, 0, "u2"), note())
    page = query(journal, uids={"u2"})
    assert {getattr(r, "uid", None) for r in page.records} == {"u2"}
    assert len(page.records) == 5
    assert page.next == journal.last_seq, "what came after was looked at as well"


def test_global_relists_are_about_no_pod() -> None:
    assert query(journal_of(relist_started(1)), uids={"u1"}).records == ()


def test_kinds() -> None:
    journal = journal_of(pod_seen("u1"), *chain(1, 0), note())
    page = query(journal, kinds=["lifecycle", "request"])
    assert [type(r) for r in page.records] == [records.RequestMade, records.Lifecycle]


def test_no_kinds_asked_for_is_not_all_kinds() -> None:
    assert query(journal_of(note()), kinds=[]).records == ()


def test_pod_and_kind_together() -> None:
    journal = journal_of(*chain(1, 0, "u1"), *chain(2, 0, "u2"))
    page = query(journal, uids={"u1"}, kinds=["lifecycle"])
    assert [r.seq for r in page.records] == [5]


def test_a_filtered_page_goes_on_from_its_last_record() -> None:
    journal = journal_of(*chain(1, 0), *chain(2, 0), *chain(3, 0))
    page = query(journal, limit=1, kinds=["lifecycle"])
    assert ([r.seq for r in page.records], page.next, page.complete) == ([5], 5, False)


def test_a_kind_that_does_not_exist() -> None:
    with pytest.raises(KeyError):
        query(Journal(), kinds=["nonsense"])


@pytest.mark.parametrize(("since", "missed"), [(0, 20), (5, 15), (19, 1), (20, 0), (25, 0)])
def test_what_is_no_longer_kept_is_told(since: int, missed: int) -> None:
    journal = journal_of(*(note(n) for n in range(30)), capacity=10)
    page = query(journal, since=since)
    assert page.missed == missed
    assert page.first_seq == 21


def test_a_number_from_the_future_leads_back_to_the_present() -> None:
    page = query(journal_of(note(1)), since=99)
    assert (page.records, page.next, page.missed) == ((), 1, 0)


@pytest.mark.parametrize(
    ("limit", "seqs"), [(1, [13]), (3, [4, 5, 13]), (100, [1, 2, 3, 4, 5, 13])]
)
def test_the_newest_records_about_a_pod(limit: int, seqs: list[int]) -> None:
    journal = journal_of(*chain(1, 0, "u1"), *chain(2, 0, "u2"), note(), note(), pod_seen("u1"))
    assert [record.seq for record in newest_about(journal, "u1", limit)] == seqs
    assert newest_about(journal, "nobody", limit) == ()


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(["note", "seen", "chain"]), max_size=12),
    st.integers(1, 7),
    st.sampled_from([None, {"u1"}, {"nobody"}]),
    st.sampled_from([None, ("note",), ("lifecycle", "stream_event")]),
    st.integers(5, 60),
)
def test_following_the_cursor_finds_each_wanted_record_once(
    what: list[str],
    limit: int,
    uids: set[str] | None,
    kinds: tuple[str, ...] | None,
    capacity: int,
) -> None:
    journal = Journal(capacity)
    makers: dict[str, list[Record]] = {
        "note": [note()],
        "seen": [pod_seen("u1")],
        "chain": chain(1, 0),
    }
    for name in what:
        for record in makers[name]:
            journal.append(record)
    expected = [
        r
        for r in journal.since(0)
        if (uids is None or getattr(r, "uid", None) in uids)
        and (kinds is None or r.__struct_config__.tag in kinds)
    ]
    found: list[Record] = []
    since, complete = 0, False
    while not complete:
        page = query(journal, since, limit, uids, kinds)
        assert len(page.records) <= limit
        assert page.next > since or page.complete
        found += page.records
        since, complete = page.next, page.complete
    assert found == expected
    assert since == journal.last_seq
