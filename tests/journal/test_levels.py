"""Bins: whatever happened is counted once, at every width, and the worst can be seen."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.records import Record, RelistFinished
from app.journal import levels as module
from app.journal.cut import Cut
from app.journal.levels import WIDTHS, Levels, NoRoom
from app.journal.marks import MARKS, mark_of
from tests.build import (
    SECOND,
    chain,
    pod_cached,
    pod_gone,
    pod_seen,
    relist_finished,
    stop_event,
)
from tests.journal.test_marks import KINDS, gap, stream

FINEST, COARSEST = WIDTHS[0], WIDTHS[-1]


BLOCK = 16
"""So few counts are packed together that bins are cut in two."""


class Folder:
    """A shelf with room for so many blocks."""

    def __init__(self, most: int = 10_000) -> None:
        self.most = most
        self.blocks: list[bytes] = []

    def put(self, block: bytes) -> int:
        if len(self.blocks) >= self.most:
            raise NoRoom
        self.blocks.append(block)
        return len(self.blocks) - 1

    def get(self, number: int) -> bytes:
        return self.blocks[number]


def levels_of(records: Sequence[Record], levels: Levels | None = None) -> Levels:
    levels = levels or Levels(100_000, 100, block=BLOCK)
    for record in records:
        levels.apply(record)
    return levels


def counted(flat: Sequence[int]) -> Counter[str]:
    """How many of each kind, whatever their bin."""
    total: Counter[str] = Counter()
    for at in range(0, len(flat), 3):
        total[MARKS[flat[at + 1]]] += flat[at + 2]
    return total


def whole(levels: Levels, width: int, *uids: str) -> Cut:
    return levels.cut(width, 0, 4000 * SECOND, uids)


def at(record: Record, t: int) -> Record:
    return msgspec.structs.replace(record, t=t)


happened = st.lists(
    st.tuples(
        st.integers(0, len(KINDS) - 1),
        st.integers(0, 300 * SECOND),
        st.sampled_from(["u1", "u2", "u3"]),
    ),
    max_size=60,
)


def play(given_: Sequence[tuple[int, int, str]]) -> list[Record]:
    records = []
    for number, t, uid in sorted(given_, key=lambda one: one[1]):
        record = at(KINDS[number][0], t)
        if getattr(record, "uid", None) is not None:
            record = msgspec.structs.replace(record, uid=uid)
        records.append(record)
    return records


@settings(max_examples=60)
@given(
    happened,
    st.sampled_from(WIDTHS),
    st.integers(0, 300),
    st.integers(1, 300),
    st.sampled_from([1, 5, module.AT_ONCE]),
    st.booleans(),
)
def test_each_mark_is_counted_once_where_it_was(
    given_: list[tuple[int, int, str]],
    width: int,
    begin: int,
    length: int,
    at_once: int,
    shelved: bool,
) -> None:
    records = play(given_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AT_ONCE", at_once)
        shelf = Folder() if shelved else None
        levels = levels_of(records, Levels(100_000, 100, shelf, block=3))
    cut = levels.cut(width, begin * SECOND, (begin + length) * SECOND, ("u1", "u2", "u3"))
    low, high = cut.first * width, (cut.first + cut.bins) * width
    assert low <= begin * SECOND
    assert high >= (begin + length) * SECOND
    inside = [r for r in records if low <= r.t < high and mark_of(r) is not None]
    assert counted(cut.all) == Counter(mark_of(r) for r in inside)
    for uid in ("u1", "u2", "u3"):
        expected = Counter(mark_of(r) for r in inside if getattr(r, "uid", None) == uid)
        assert counted(cut.pods.get(uid, [])) == expected
    for flat in (cut.all, *cut.pods.values()):
        places = list(flat[::3])
        assert places == sorted(places)
        assert all(0 <= place < cut.bins for place in places)
        kinds = list(zip(places, flat[1::3], strict=True))
        assert kinds == sorted(set(kinds)), "one count a kind, the worst of a bin last"
    ended = [r for r in inside if isinstance(r, RelistFinished) and r.scope == "global"]
    assert sum(cut.relists[1::4]) == len(ended)


def test_wider_bins_say_the_same() -> None:
    records = [record for n in range(200) for record in chain(n, n * SECOND, f"u{n % 3}")]
    levels = levels_of(records)
    finest = whole(levels, FINEST, "u0")
    for width in WIDTHS[1:]:
        wider = whole(levels, width, "u0")
        assert counted(wider.all) == counted(finest.all)
        assert counted(wider.pods["u0"]) == counted(finest.pods["u0"])


def test_the_longest_relist_and_the_failed_ones_are_seen_from_afar() -> None:
    records = [relist_finished(n, n * SECOND, 3_000_000, ok=n != 20) for n in range(100)]
    records[50] = relist_finished(50, 50 * SECOND, 700_000_000)
    cut = whole(levels_of(records), COARSEST)
    assert cut.relists == [0, 100, 700_000_000, 1]


def test_the_stream_and_the_gaps() -> None:
    records = [
        stream("connected", SECOND),
        stream("waiting", 10 * SECOND),
        gap(15 * SECOND),
        stream("connected", 20 * SECOND),
        msgspec.structs.replace(stream("connected", 30 * SECOND), renewed=True),
    ]
    levels = levels_of(records)
    cut = levels.cut(FINEST, 12 * SECOND, 18 * SECOND)
    assert [turn.state for turn in cut.stream] == ["waiting"]
    assert [(hole.to_t, hole.count) for hole in cut.gaps] == [(15 * SECOND, 3)]
    assert [turn.t for turn in levels.cut(FINEST, 0, 60 * SECOND).stream] == [
        SECOND, 10 * SECOND, 20 * SECOND,
    ]  # fmt: skip
    assert levels.cut(FINEST, 16 * SECOND, 60 * SECOND).gaps == []


def test_pods_that_are_gone_are_named_where_they_were() -> None:
    records = [
        pod_seen("u1", SECOND, "web-1"), stop_event(1, "u1", 2 * SECOND), pod_seen("u2", SECOND),
        pod_gone("u1", 9 * SECOND), pod_cached("u1", 9 * SECOND, name=""),
    ]  # fmt: skip
    levels = levels_of(records)
    told = levels.cut(FINEST, 0, 5 * SECOND).gone
    assert [(one.uid, one.name, one.seen_t, one.gone_t) for one in told] == [
        ("u1", "web-1", SECOND, 9 * SECOND)
    ]
    assert levels.cut(FINEST, 10 * SECOND, 20 * SECOND).gone == []
    there = levels.cut(FINEST, 0, 5 * SECOND, staying=True).gone
    assert [(one.uid, one.gone_t) for one in there] == [("u1", 9 * SECOND), ("u2", None)]
    # The same UID again: a static pod keeps its own.
    levels.apply(pod_seen("u1", 12 * SECOND))
    assert levels.cut(FINEST, 0, 5 * SECOND).gone == []


def test_narrow_bins_are_given_up_first_and_it_is_told() -> None:
    levels = Levels(3000, block=64)
    for n in range(5000):
        for record in chain(n, n * SECOND, f"u{n % 5}"):
            levels.apply(record)
        assert max(level.size for level in levels._levels) <= 3000
    since = levels.since()
    assert since[FINEST] > 4000 * SECOND
    assert since[COARSEST] == 0
    assert since[FINEST] > since[WIDTHS[3]] > since[WIDTHS[4]] > 0
    cut = levels.cut(FINEST, 0, since[FINEST])
    assert counted(cut.all)["stop"] < 16, "of what is given up no more than a block's rest"
    assert cut.since == since[FINEST]
    kept = levels.cut(FINEST, since[FINEST], 6000 * SECOND)
    assert counted(kept.all)["stop"] == 5000 + -since[FINEST] // SECOND
    assert counted(whole(levels, COARSEST).all)["stop"] == 4096


def test_an_hour_of_churn_stays_in_its_bound_and_shows_nothing_lost() -> None:
    """Sixty records a second about pods that come and go: zoomed out, an hour is known to its end;
    here the twelfth of an hour in the twelfth of the room."""
    room = module.CAPACITY // 12
    levels = Levels(room, block=module.BLOCK // 12)
    for n in range(4500):
        for record in chain(n, n * SECOND // 15, f"u{n // 100 * 40 + n % 40}"):
            levels.apply(record)
    assert max(level.size for level in levels._levels) <= room
    assert {width for width, since in levels.since().items() if not since} >= set(WIDTHS[2:])
    assert counted(whole(levels, WIDTHS[2]).all)["stop"] == 4500


def test_what_is_laid_aside_is_never_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MUCH", 1)
    folder = Folder()
    levels = Levels(10, shelf=folder, block=64)
    for n in range(2000):
        for record in chain(n, n * SECOND, f"u{n % 5}"):
            levels.apply(record)
    assert len(folder.blocks) > 50
    assert set(levels.since().values()) == {0}
    for width in WIDTHS:
        assert counted(whole(levels, width, "u3").all)["stop"] == 2000
        assert counted(whole(levels, width, "u3").pods["u3"])["stop"] == 400
    assert levels.t >= 1999 * SECOND
    before = [whole(levels, width, "u3") for width in WIDTHS]
    levels.finish()
    assert not any(level.counts for level in levels._levels)
    assert [whole(levels, width, "u3") for width in WIDTHS] == before
    assert not levels.full


def test_little_is_not_worth_a_shelf_and_a_full_one_does_no_harm_at_the_end() -> None:
    folder = Folder(0)
    levels = levels_of(chain(1, SECOND, "u1"), Levels(shelf=folder))
    levels.finish()
    assert counted(whole(levels, FINEST).all)["stop"] == 1
    for n in range(300):
        for record in chain(n, n * SECOND, f"u{n % 5}"):
            levels.apply(record)
    before = whole(levels, FINEST, "u3")
    levels.finish()
    assert whole(levels, FINEST, "u3") == before
    assert not levels.full


def test_where_there_is_no_room_counting_ends_and_nothing_is_lost_of_what_was_counted() -> None:
    levels = Levels(shelf=Folder(3), block=64)
    told: list[Record] = []
    for n in range(2000):
        told += chain(n, n * SECOND, f"u{n % 5}")
        for record in chain(n, n * SECOND, f"u{n % 5}"):
            levels.apply(record)
    assert levels.full
    assert levels.t < 1000 * SECOND
    expected = Counter(mark_of(r) for r in told if r.t <= levels.t)
    for width in WIDTHS:
        found = counted(whole(levels, width).all)
        # What came with the very last time may not have been counted.
        assert expected["stop"] - 1 <= found["stop"] <= expected["stop"]


def test_a_flood_of_pods_stays_bounded_and_all_together_are_still_counted() -> None:
    levels = Levels(lanes=64)
    for n in range(1000):
        levels.apply(pod_seen(f"u{n}", n * SECOND))
        levels.apply(stop_event(n, f"u{n}", n * SECOND))
    assert len(levels._lanes) <= 64
    cut = whole(levels, COARSEST, "u0", "u999")
    assert counted(cut.all) == Counter(stop=1000)
    assert list(cut.pods) == ["u999"]


def test_of_a_long_name_only_the_beginning_is_kept() -> None:
    records = [pod_seen("u" * 1024, 0, name="n" * 70_000, namespace="s" * 70_000),
               pod_seen("u" * 1025, 0), stop_event(1, "u" * 1025, 0)]  # fmt: skip
    cut = levels_of(records).cut(FINEST, 0, FINEST, staying=True)
    assert [(len(one.uid), len(one.name), len(one.namespace)) for one in cut.gone] == [
        (1024, 512, 512)
    ]
    assert counted(cut.all) == {"stop": 1}


def test_it_is_asked_while_it_is_written() -> None:
    """No answer tears what is being counted: of each chain all or nothing before its last time."""
    levels = Levels(20_000, block=64)
    done = threading.Event()

    def write() -> None:
        try:
            for n in range(4000):
                for record in chain(n, n * SECOND, f"u{n % 5}"):
                    levels.apply(record)
        finally:
            done.set()

    thread = threading.Thread(target=write)
    thread.start()
    asked = 0
    while not done.is_set() or not asked:
        asked += 1
        t = levels.t
        cut = whole(levels, COARSEST, "u1")
        assert t // SECOND <= counted(cut.all)["stop"] <= levels.t // SECOND + 1
    thread.join()
    assert counted(whole(levels, COARSEST).all)["stop"] == 4000


def test_time_never_goes_back() -> None:
    levels = levels_of([stop_event(1, "u1", 5 * SECOND), stop_event(2, "u1", 4 * SECOND)])
    assert counted(levels.cut(FINEST, 5 * SECOND, 6 * SECOND, ["u1"]).pods["u1"])["stop"] == 2


def test_a_session_that_began_late_is_known_from_its_beginning() -> None:
    levels = levels_of([stop_event(1, "u1", 500 * SECOND)])
    assert set(levels.since().values()) == {500 * SECOND}
