"""The pod table: built from records alone, gone pods kept for a while, bounded."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.records import PodUncached, Record, SyncBegan, SyncFinished
from app.journal.journal import Journal
from app.journal.projection import KEEP_GONE_NS, PodRow, PodTable
from tests.build import (
    HOSTILE,
    SECOND,
    WALL,
    chain,
    container,
    note,
    pod_cached,
    pod_gone,
    pod_seen,
    relist_finished,
    stop_event,
)


def told(*records: Record, table: PodTable | None = None) -> PodTable:
    table = table or PodTable()
    for record in records:
        table.apply(record)
    return table


def row(table: PodTable, uid: str = "u1") -> PodRow:
    found = table.get(uid)
    assert found is not None
    return found


def sync_began(uid: str = "u1", t: int = 0) -> SyncBegan:
    return SyncBegan(t=t, wall=WALL + t, uid=uid)


def sync_finished(uid: str = "u1", t: int = 0) -> SyncFinished:
    return SyncFinished(
        t=t, wall=WALL + t, uid=uid, duration_ns=1, did_work=True, failed=False, held=0
    )


def test_nothing_told_nothing_known() -> None:
    table = told(note(), relist_finished())
    assert table.rows() == ()
    assert table.get("u1") is None


def test_a_pod_that_was_seen_has_a_row_with_its_name() -> None:
    assert told(pod_seen("u1", t=5)).rows() == (
        PodRow(
            uid="u1",
            name="web-1",
            namespace="shop",
            seen_t=5,
            gone_t=None,
            last_t=5,
            running=0,
        ),
    )


def test_the_cache_entry_gives_containers_addresses_and_how_many_run() -> None:
    running, exited = container("app"), container("init", "exited", "c2")
    table = told(pod_seen(), pod_cached("u1", 9, running, exited, ips=("10.0.0.1",)))
    found = row(table)
    assert found.containers == (running, exited)
    assert found.running == 1
    assert found.ips == ("10.0.0.1",)
    assert found.last_t == 9


def test_a_failed_inspection_leaves_its_error_until_one_succeeds() -> None:
    table = told(pod_seen(), pod_cached("u1", 1, error="The runtime did not answer."))
    assert row(table).error == "The runtime did not answer."
    told(pod_cached("u1", 2, container()), table=table)
    assert row(table).error == ""


def test_a_cache_entry_without_a_name_does_not_take_the_name_away() -> None:
    table = told(pod_seen(), pod_cached("u1", 1, name="", error="no answer"))
    assert row(table).name == "web-1"


def test_a_container_without_a_sandbox_that_runs_is_told() -> None:
    table = told(pod_seen(), pod_cached("u1", 1, container(), box="notready"))
    assert row(table).sandbox_gone
    told(pod_cached("u1", 2, container(), error="no answer"), table=table)
    assert not row(table).sandbox_gone
    told(pod_cached("u1", 3, container(), box=None), table=table)
    assert row(table).sandbox_gone
    told(pod_cached("u1", 4, container(state="exited"), box="notready"), table=table)
    assert not row(table).sandbox_gone
    believed = msgspec.structs.replace(pod_cached("u1", 5, container(), box=None), relist=0)
    assert not row(told(believed, table=table)).sandbox_gone


def test_an_uncached_pod_runs_nothing() -> None:
    table = told(pod_seen(), pod_cached("u1", 1, container(), ips=("10.0.0.1",)))
    told(PodUncached(t=2, wall=WALL, uid="u1", relist=3), table=table)
    found = row(table)
    assert (found.running, found.containers, found.ips, found.last_t) == (0, (), (), 2)


def test_syncing_from_begin_to_finish() -> None:
    table = told(pod_seen(), sync_began(t=1))
    assert row(table).syncing
    told(sync_finished(t=2), table=table)
    assert not row(table).syncing


def test_a_pod_that_is_synced_before_any_listing_knows_it_has_a_row_without_a_name() -> None:
    table = told(sync_began("u9", t=3))
    assert (row(table, "u9").name, row(table, "u9").seen_t) == ("", 3)
    told(pod_seen("u9", t=8), table=table)
    assert (row(table, "u9").name, row(table, "u9").seen_t) == ("web-1", 3)


def test_any_record_about_a_pod_is_news_of_it() -> None:
    table = told(pod_seen("u1", 0), *chain(1, SECOND))
    assert row(table).last_t == SECOND + 4_000_000


def test_records_about_no_pod_are_news_of_none() -> None:
    table = told(pod_seen("u1", 0), relist_finished(started=SECOND), note(2 * SECOND))
    assert row(table).last_t == 0


def test_a_gone_pod_stays_for_some_minutes_by_the_records_own_time() -> None:
    table = told(pod_seen("u1", 0), pod_gone("u1", SECOND), pod_seen("u2", SECOND))
    assert row(table).gone_t == SECOND
    told(note(SECOND + KEEP_GONE_NS), table=table)
    assert [r.uid for r in table.rows()] == ["u1", "u2"]
    told(note(SECOND + KEEP_GONE_NS + 1), table=table)
    assert [r.uid for r in table.rows()] == ["u2"], "the pod that is still there stays for ever"


def test_a_late_record_about_a_gone_pod_does_not_bring_it_back() -> None:
    table = told(pod_seen("u1", 0), pod_gone("u1", 1), stop_event(1, "u1", 2))
    assert (row(table).gone_t, row(table).last_t) == (1, 2)


def test_the_same_uid_again_is_a_new_life() -> None:
    table = told(pod_seen("u1", 0), pod_gone("u1", 1), pod_seen("u1", 2))
    assert (row(table).gone_t, row(table).seen_t) == (None, 2)


def test_a_name_that_was_never_listed_is_forgotten_like_a_gone_pod() -> None:
    table = told(sync_began("u9", 0), note(KEEP_GONE_NS + 1))
    assert table.rows() == ()


def test_rows_come_in_the_order_of_first_sight() -> None:
    table = told(pod_seen("b", 0), pod_seen("a", 1), stop_event(1, "b", 2))
    assert [r.uid for r in table.rows()] == ["b", "a"]


@pytest.mark.parametrize("text", ["u1", "web-1", "shop/web-1"])
def test_find_by_uid_name_or_both(text: str) -> None:
    table = told(pod_seen("u1"), pod_seen("u2", name="db-1"))
    assert table.find(text) == {"u1"}


def test_find_knows_nothing_else() -> None:
    table = told(pod_seen("u1"))
    assert table.find("web") == table.find("shop/") == table.find("") == frozenset()


def test_find_finds_all_of_that_name() -> None:
    table = told(pod_seen("u1"), pod_seen("u2", namespace="other"))
    assert table.find("web-1") == {"u1", "u2"}
    assert table.find("other/web-1") == {"u2"}


def test_hostile_names_are_kept_as_they_are() -> None:
    assert row(told(pod_seen("u1", name=HOSTILE, namespace=HOSTILE))).name == HOSTILE


def test_when_full_gone_pods_go_first_then_the_quietest() -> None:
    table = PodTable(capacity=8)
    told(*(pod_seen(f"u{n}", t=n) for n in range(8)), table=table)
    told(pod_gone("u5", 9), stop_event(1, "u0", 10), pod_seen("new", 11), table=table)
    uids = {r.uid for r in table.rows()}
    assert "new" in uids
    assert "u5" not in uids, "it was gone"
    assert "u0" in uids, "there was news of it"
    told(pod_seen("newer", 12), table=table)
    assert "u1" not in {r.uid for r in table.rows()}, "silent for longest"


def test_when_they_are_long_those_go_as_well() -> None:
    table = PodTable(most_weight=10_000)
    told(*(pod_seen(f"u{n}", n, name="n" * 1000) for n in range(8)), table=table)
    told(pod_gone("u5", 9), pod_cached("u0", t=10, error="e" * 3000), table=table)
    uids = {r.uid for r in table.rows()}
    assert uids == {"u0", "u2", "u3", "u4", "u6", "u7"}, "gone, or silent for longest"
    # One that is longer than all may be is there alone, and makes room for others again.
    told(pod_seen("long", 11, name="n" * 20_000), table=table)
    assert [r.uid for r in table.rows()] == ["long"]
    again = PodTable(most_weight=10_000)
    again.resume(11, table.kept())
    told(stop_event(1, "x" * 9_000, 12), *(pod_seen(f"v{n}", 13) for n in range(8)), table=again)
    assert [len(r.uid) for r in again.rows()] == [9_000, *[2] * 8]


def test_it_follows_a_journal() -> None:
    journal, table = Journal(), PodTable()
    journal.subscribe(table.apply)
    journal.append(pod_seen("u1"))
    assert [r.uid for r in table.rows()] == ["u1"]


EVENTS = st.one_of(
    st.builds(pod_seen, st.sampled_from("abcdef"), st.just(0)),
    st.builds(pod_gone, st.sampled_from("abcdef"), st.just(0)),
    st.builds(stop_event, st.just(1), st.sampled_from("abcdef"), st.just(0)),
    st.builds(sync_began, st.sampled_from("abcdef"), st.just(0)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(EVENTS, st.integers(0, 400)), max_size=40), st.integers(1, 6))
def test_whatever_is_told_it_stays_bounded_and_keeps_the_newest(
    steps: list[tuple[Record, int]], capacity: int
) -> None:
    table = PodTable(capacity=capacity)
    t = 0
    for record, seconds in steps:
        t += seconds * SECOND
        shifted = msgspec.structs.replace(record, t=t)
        table.apply(shifted)
        uid = shifted.uid  # type: ignore[attr-defined] # all of these are about a pod
        assert len(table.rows()) <= capacity
        assert row(table, uid).last_t == t, "what was just told of is there"
    for found in table.rows():
        assert found.last_t <= t
        assert found.gone_t is None or found.seen_t <= found.gone_t
        assert found.gone_t is None or t - found.last_t <= KEEP_GONE_NS
