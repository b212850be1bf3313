"""Comparisons whose answers are known beforehand, and laws for those whose answers are not."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.stage.compare import (
    EQUAL_NS,
    KINDS,
    MOST_ROWS,
    Comparison,
    Latency,
    Row,
    Side,
    compare,
    reference,
)
from app.stage.truth import Moment, Who
from tests.stage.hand import MS, PLAYED_MS, moment, overwritten, side, who
from tests.stage.watched import LOST, OLDER_WINS, ONE_POD, played

NBSP = "\N{NO-BREAK SPACE}"
OPPOSITE = {"sooner": "later", "later": "sooner"}


def marks(compared: Comparison) -> list[tuple[int, str, str]]:
    return [
        (mark.run, mark.kind, mark.words.replace(NBSP, " "))
        for row in compared.rows
        for mark in row.marks
    ]


def one(*sides: Side, against: int = 0) -> list[tuple[int, str, str]]:
    return marks(compare(sides, against))


# Known answers


def test_sooner_and_later_by_how_much() -> None:
    poll = side("generic", moment("end", 1000, 520))
    hint = side("kep", moment("end", 1000, 80))
    assert one(poll, hint) == [(1, "sooner", "440 ms sooner")]
    assert one(hint, poll) == [(1, "later", "440 ms later")]


@pytest.mark.parametrize(
    ("apart", "kind"), [(9.999, None), (10, "later"), (-9.999, None), (-10, "sooner")]
)
def test_less_than_10_ms_is_the_same(apart: float, kind: str | None) -> None:
    told = one(side("a", moment("end", 0, 100)), side("b", moment("end", 0, 100 + apart)))
    assert [each[1] for each in told] == ([] if kind is None else [kind])


def test_more_than_a_minute_is_said_as_such() -> None:
    slow = side("legacy", moment("end", 0, 252_000))
    assert one(side("kep", moment("end", 0, 80)), slow) == [(1, "later", "unseen for 4 min 12 s")]


def test_each_is_measured_from_its_own_moment_and_the_drift_is_said() -> None:
    ours = side("generic", moment("start", 5000, 300))
    theirs = side("kep", moment("start", 4400, 5))
    assert one(ours, theirs) == [(1, "sooner", "295 ms sooner; happened 600 ms earlier here")]
    compared = compare((ours, theirs), 0)
    assert (compared.matched, compared.drifted, compared.unmatched) == (1, 1, 0)


def test_one_that_came_much_later_and_was_found_as_quickly_is_no_difference() -> None:
    compared = compare((side("a", moment("end", 0, 100)), side("b", moment("end", 60_000, 100))), 0)
    assert marks(compared) == []
    assert compared.drifted == 1


def test_missed_or_unseen_is_so_whichever_run_it_is() -> None:
    gone = side("legacy", moment("end", 0, None, fate="never"))
    waits = side("polling", moment("end", 0, None))
    found = side("kep", moment("end", 0, 80))
    expected = [(0, "never", "missed"), (1, "never", "unseen at the end")]
    for against in range(3):
        assert one(gone, waits, found, against=against) == expected


def test_what_nobody_saw_is_no_difference_but_is_counted() -> None:
    blind = [side(name, moment("start", 0, None, fate="never")) for name in ("a", "b")]
    compared = compare(blind, 0)
    assert marks(compared) == []
    assert [tally.starts.missed for tally in compared.tallies] == [1, 1]


def test_found_without_telling_anybody_is_not_seen() -> None:
    full = side("generic", moment("end", 0, 500, delivered=False))
    fine = side("kep", moment("end", 0, 80))
    words = "missed: found, but nobody was told, as the event channel was full"
    assert one(full, fine) == [(0, "never", words)]
    assert compare((full, fine), 0).tallies[0].ends.missed == 1


def test_what_is_not_in_every_run_is_said_and_nothing_more_is_claimed() -> None:
    more = side("kep", moment("end", 0, 80), moment("end", 9000, 80, whose=who(attempt=1)))
    less = side("legacy", moment("end", 0, 80))
    assert one(more, less) == [(1, "absent", "did not happen here")]
    compared = compare((more, less), 1)
    assert (compared.matched, compared.unmatched) == (1, 1)
    assert marks(compared) == [(1, "absent", "did not happen here")]


@pytest.mark.parametrize(
    "other",
    [
        who(attempt=1),
        who("web-1"),
        who(container="side"),
        Who("x", "web-0", "uid-web-0", "main", 0),
    ],
)
def test_another_container_is_never_matched(other: Who) -> None:
    told = one(side("a", moment("end", 0, 80)), side("b", moment("end", 0, 500, whose=other)))
    assert sorted(told) == [
        (0, "absent", "did not happen here"),
        (1, "absent", "did not happen here"),
    ]


def test_a_start_is_never_matched_with_an_end() -> None:
    told = one(side("a", moment("end", 0, 80)), side("b", moment("start", 0, 80)))
    assert [kind for _, kind, _ in told] == ["absent", "absent"]


def test_wrong_is_a_difference_unless_all_runs_have_it() -> None:
    wrong = side("legacy", wrongs=(overwritten(1000, 5500),))
    right = side("kep")
    assert one(right, wrong) == [(1, "wrong", "wrong for 4.5 s: an older state won")]
    assert one(wrong, right) == [(0, "wrong", "wrong for 4.5 s: an older state won")]
    assert one(wrong, wrong) == []
    assert [tally.wrongs for tally in compare((wrong, wrong), 0).tallies] == [1, 1]


def test_a_wrong_that_comes_twice_is_matched_one_by_one() -> None:
    twice = side("legacy", wrongs=(overwritten(1000, 2000), overwritten(3000, None)))
    once = side("1.37", wrongs=(overwritten(1000, 2000),))
    assert one(once, twice) == [(1, "wrong", "wrong to the end: an older state won")]


def test_the_table_of_a_run() -> None:
    run = side(
        "legacy",
        *(moment("end", n, n, whose=who(attempt=n), source="evented_pleg") for n in range(1, 101)),
        moment("end", 0, 61_000, whose=who(attempt=200)),
        moment("start", 0, 5, believed=True),
        wrong_ns=7 * MS,
        calls={"ListContainers": 3, "ContainerStatus": 4},
    )
    tally = compare((run, run), 0).tallies[1]
    assert tally.ends.all == Latency(101, 51 * MS, 96 * MS, 61_000 * MS)
    assert tally.ends.by_source["evented_pleg"] == Latency(100, 50 * MS, 95 * MS, 100 * MS)
    assert tally.ends.by_source["global"].count == 1
    assert tally.ends.over_minute == 1
    assert tally.starts.by_source.keys() == {"believed"}
    assert (tally.wrong_ns, tally.calls) == (7 * MS, 7)


def test_what_is_still_unseen_counts_with_the_time_it_has_been_so() -> None:
    run = side("legacy", moment("end", 0, 80), moment("end", 1000, None, whose=who(attempt=1)))
    ends = compare((run, run), 0).tallies[0].ends
    assert ends.all == Latency(2, 80 * MS, (PLAYED_MS - 1000) * MS, (PLAYED_MS - 1000) * MS, True)
    assert (ends.waiting, ends.overdue, ends.missed, ends.over_minute) == (1, 1, 0, 1)


def test_what_ended_just_before_the_run_did_is_not_overdue() -> None:
    run = side("kep", moment("end", PLAYED_MS - 300, None))
    ends = compare((run, run), 0).tallies[0].ends
    assert (ends.waiting, ends.overdue) == (1, 0)


def test_speed_is_measured_over_what_all_had_and_noticed() -> None:
    """The run that saw only the easy one is not the quicker for that."""
    whole = side(
        "kep",
        moment("end", 0, 80),
        moment("end", 1000, 900, whose=who(attempt=1)),
        moment("end", 2000, 990, whose=who(attempt=2)),
        moment("end", 3000, 70, whose=who(attempt=3)),
    )
    blind = side(
        "legacy",
        moment("end", 0, 60),
        moment("end", 1000, None, whose=who(attempt=1)),
        moment("end", 2000, 5, whose=who(attempt=2), delivered=False),
    )
    ours, other = compare((whole, blind), 0).tallies
    assert ours.shared == Latency(1, 80 * MS, 80 * MS, 80 * MS)
    assert other.shared == Latency(1, 60 * MS, 60 * MS, 60 * MS)
    assert ours.shared_starts.count == 0


def test_a_poll_that_came_sooner_and_a_stream_that_ended_are_counted() -> None:
    early = side(
        "legacy",
        moment("end", 0, 168),
        stream=((0, "connecting"), (1, "connected"), (2, "waiting"), (3, "closed")),
    )
    late = side("kep", moment("end", 0, 667))
    hint = side("1.37", moment("end", 0, 80, source="evented_pleg"))
    ours, other = compare((early, late), 0).tallies
    assert (ours.luckier, ours.stream_ends) == (1, 2)
    assert (other.luckier, other.stream_ends) == (0, 0)
    assert compare((late, hint), 0).tallies[1].luckier == 0


def test_a_run_in_which_nothing_happened() -> None:
    compared = compare((side("kep"), side("generic")), 0)
    assert compared.rows == ()
    assert compared.tallies[0].ends.all == Latency()


def test_rows_are_in_order_of_time_and_bounded() -> None:
    moments = tuple(moment("end", n % 97, 80, whose=who(attempt=n)) for n in range(MOST_ROWS + 5))
    compared = compare((side("a", *moments), side("b", *moments)), 0)
    assert len(compared.rows) == MOST_ROWS
    assert compared.left_out == 5
    assert compared.tallies[0].ends.happened == MOST_ROWS + 5
    times = [row.first_t for row in compared.rows]
    assert times == sorted(times)


# Which is the reference


@pytest.mark.parametrize(
    ("profiles", "expected"),
    [
        (("kep", "generic", "legacy"), 1),
        (("kep", "legacy"), 0),
        (("legacy", "polling"), 1),
        (("polling", "generic"), 1),
        (("generic", "generic"), 0),
    ],
)
def test_the_reference(profiles: tuple[str, ...], expected: int) -> None:
    assert reference(profiles) == expected


# Laws


@st.composite
def runs(draw: st.DrawFn) -> Side:
    found: dict[tuple[str, Who], Moment] = {}
    for what, attempt, pod, t, latency, fate in draw(
        st.lists(
            st.tuples(
                st.sampled_from(("start", "end")),
                st.integers(0, 3),
                st.sampled_from(("a", "b")),
                st.integers(0, 500_000),
                st.integers(0, 90_000),
                st.sampled_from(("found", "found", "waiting", "never")),
            ),
            max_size=8,
        )
    ):
        whose = who(pod, attempt)
        made = moment(
            what,
            t,
            latency if fate == "found" else None,
            whose=whose,
            fate=fate,
            delivered=fate != "found" or latency % 7 != 0,
        )
        found[what, whose] = made
    wrongs = draw(
        st.lists(st.builds(overwritten, st.integers(0, 9), st.none() | st.integers(10, 20)))
    )
    return side("x", *found.values(), wrongs=tuple(wrongs))


@given(runs(), st.integers(0, 1))
def test_a_run_compared_with_itself_shows_no_difference(run: Side, against: int) -> None:
    compared = compare((run, run), against)
    assert marks(compared) == []
    assert compared.unmatched == compared.drifted == 0
    assert compared.tallies[0] == compared.tallies[1]


@settings(max_examples=40)
@given(runs(), runs())
def test_changing_sides_changes_the_words_and_nothing_else(a: Side, b: Side) -> None:
    there, back = compare((a, b), 0), compare((b, a), 0)
    assert (there.matched, there.drifted, there.unmatched) == (
        back.matched,
        back.drifted,
        back.unmatched,
    )
    for mine, theirs in zip(there.rows, _in_order(back, there), strict=True):
        for mark in mine.marks:
            mirrored = OPPOSITE.get(mark.kind, mark.kind)
            # Sooner and later are said of the run that is not the reference, so of the other one.
            run = mark.run if mark.kind in OPPOSITE else 1 - mark.run
            assert any((m.run, m.kind) == (run, mirrored) for m in theirs.marks)
        assert len(mine.marks) == len(theirs.marks)


def _in_order(back: Comparison, there: Comparison) -> list[Row]:
    """The rows of one comparison in the order of the other's."""

    def keyed(compared: Comparison) -> list[tuple[object, Row]]:
        seen: Counter[object] = Counter()
        told: list[tuple[object, Row]] = []
        for row in compared.rows:
            key = (row.what, row.who, row.says)
            told.append(((key, seen[key]), row))
            seen[key] += 1
        return told

    known = dict(keyed(back))
    return [known[key] for key, _ in keyed(there)]


@settings(max_examples=40)
@given(runs(), runs(), runs(), st.integers(0, 2))
def test_every_mark_is_borne_out_by_the_numbers(a: Side, b: Side, c: Side, against: int) -> None:
    compared = compare((a, b, c), against)
    for row in compared.rows:
        if row.what not in ("start", "end"):
            continue
        told = [
            None if s is None or s.found_t is None or not s.delivered else s.found_t - s.t
            for s in row.seen
        ]
        ours = told[against]
        expected: list[tuple[int, str]] = []
        for run, latency in enumerate(told):
            if row.seen[run] is None:
                expected.append((run, "absent"))
            elif latency is None:
                expected += [(run, "never")] if any(each is not None for each in told) else []
            elif ours is not None and abs(latency - ours) >= EQUAL_NS:
                expected.append((run, "later" if latency > ours else "sooner"))
        assert [(mark.run, mark.kind) for mark in row.marks] == expected


@settings(max_examples=40)
@given(runs(), runs(), st.integers(0, 1))
def test_the_tallies_count_every_mark(a: Side, b: Side, against: int) -> None:
    compared = compare((a, b), against)
    counted = Counter((mark.run, mark.kind) for row in compared.rows for mark in row.marks)
    for run, tally in enumerate(compared.tallies):
        assert tally.marks == {kind: counted[run, kind] for kind in KINDS}


# Runs that were played


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10_000), st.sampled_from(("kep", "generic", "legacy")))
def test_a_played_run_compared_with_its_twin(seed: int, profile: str) -> None:
    first, _ = played(ONE_POD, profile, seed=seed)
    second, _ = played(ONE_POD, profile, seed=seed)
    assert one(Side("a", profile, "", first), Side("b", profile, "", second)) == []


def test_the_legacy_design_is_blind_where_the_poll_is_not() -> None:
    sides = [
        Side(profile, profile, "", played(ONE_POD + LOST, profile)[0])
        for profile in ("kep", "generic", "legacy")
    ]
    compared = compare(sides, 1)
    blind = [mark for row in compared.rows for mark in row.marks if mark.kind == "never"]
    assert [(mark.run, mark.words) for mark in blind] == [(2, "unseen at the end")]
    kep, generic, legacy = compared.tallies
    assert kep.ends.waiting == generic.ends.waiting == 0
    assert legacy.wrong_ns > 10 * max(kep.wrong_ns, generic.wrong_ns)
    # What came after the restart that never was cannot be compared.
    assert compared.unmatched > 0


def test_an_older_event_that_wins_is_wrong_under_legacy_alone() -> None:
    sides = [
        Side(profile, profile, "", played(OLDER_WINS, profile)[0]) for profile in ("kep", "legacy")
    ]
    assert (1, "wrong", "wrong to the end: an older state won") in one(*sides)
