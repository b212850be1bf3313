"""A recording at a glance: nothing is lost as bins are joined, and memory stays as it is."""

from __future__ import annotations

import random

from app.engine.records import Note
from app.replaying.overview import BINS, IDLE_NS, MOST_IDLE, NARROWEST, Bins, IdleStretches
from tests.replaying.test_incidents import died

S = 1_000_000_000


def note(t: int) -> Note:
    return Note(t=t, wall=t, level="info", text="x")


def test_records_are_counted_where_they_are() -> None:
    bins = Bins()
    for t in (0, NARROWEST - 1, NARROWEST, 5 * NARROWEST):
        bins.apply(note(t), unhealthy=False, down=False)
    told = bins.told()
    assert (told.width, told.records) == (NARROWEST, (2, 1, 0, 0, 0, 1))


def test_stops_are_told_apart_by_who_found_them() -> None:
    bins = Bins()
    for one in (died(t=0), died(t=0, source="evented_pleg"), died(t=0, is_sandbox=True)):
        bins.apply(one, unhealthy=False, down=False)
    assert (bins.told().early, bins.told().late) == ((1,), (1,))


def test_trouble_lasts_until_it_ends() -> None:
    bins = Bins()
    bins.apply(note(0), unhealthy=False, down=False)
    bins.apply(note(2 * NARROWEST), unhealthy=False, down=True)
    bins.apply(note(4 * NARROWEST), unhealthy=True, down=True)
    bins.apply(note(5 * NARROWEST), unhealthy=False, down=False)
    bins.apply(note(7 * NARROWEST), unhealthy=False, down=False)
    assert bins.told().trouble == (0, 0, 2, 2, 3, 3, 0, 0)


def test_joining_bins_loses_nothing() -> None:
    chance = random.Random(1)
    bins = Bins()
    times = sorted(chance.randrange(400 * BINS * NARROWEST) for _ in range(5000))
    for t in times:
        bins.apply(died(t=t), unhealthy=False, down=chance.random() < 0.1)
    told = bins.told()
    assert len(told.records) <= BINS
    assert len(told.records) > BINS // 4
    assert sum(told.records) == sum(told.late) == len(times)
    for place, count in enumerate(told.records):
        wanted = sum(place * told.width <= t < (place + 1) * told.width for t in times)
        assert count == wanted


def test_a_time_far_ahead_is_no_reason_to_take_long() -> None:
    bins = Bins()
    bins.apply(note(0), unhealthy=False, down=False)
    bins.apply(note(2**60), unhealthy=False, down=False)
    told = bins.told()
    assert sum(told.records) == 2
    assert len(told.records) <= BINS


def test_of_idle_stretches_the_longest_are_kept_in_order() -> None:
    idle = IdleStretches()
    t = 0
    for n in range(5 * MOST_IDLE):
        after = t + IDLE_NS + (n % 97) * S
        idle.apply(t, after)
        idle.apply(after, after + IDLE_NS - 1)
        t = after
    told = idle.told()
    assert len(told) == MOST_IDLE
    assert [one.from_t for one in told] == sorted(one.from_t for one in told)
    assert min(one.to_t - one.from_t for one in told) > IDLE_NS + 50 * S


def test_what_is_to_come_is_told_until_it_is_counted() -> None:
    # Ten records up to time 20, and thirty after it, in bins as wide as the first ones.
    width = NARROWEST
    bins = Bins([10, 0, 2 * width - 1, 30, 2 * width, 5 * width - 1])
    assert (bins.told(whole=False).records, bins.told(whole=False).read) == ((5, 5, 10, 10, 10), 0)
    for t in (0, 1, 2 * width, 3 * width):
        bins.apply(note(t), unhealthy=False, down=False)
    told = bins.told(whole=False)
    assert (told.records, told.read) == ((2, 0, 1, 10, 10), 3)
    assert len(told.trouble) == len(told.records)
    assert (bins.told().records, bins.told().read) == ((2, 0, 1, 1), 4)


def test_what_is_to_come_makes_the_bins_as_wide_as_it_takes() -> None:
    bins = Bins([7, 0, 0, 5, 100 * BINS * NARROWEST, 100 * BINS * NARROWEST])
    told = bins.told(whole=False)
    assert (sum(told.records), len(told.records) <= BINS) == (12, True)
    bins.apply(note(0), unhealthy=False, down=False)
    assert bins.told(whole=False).width == told.width
    bins.apply(note(2**60), unhealthy=False, down=False)
    assert sum(bins.told(whole=False).records) == 2
