"""What the page shows of an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.whatif.answer import WhatIf
from app.whatif.spread import EDGES, binned
from app.whatif.view import PAGE, SHOWS, view
from tests.whatif.played import MS, play, whatif


@pytest.fixture
def told(tmp_path: Path) -> WhatIf:
    return whatif(
        play("storm", "kep", 7, 60), tmp_path / "a.mcap", profile="1.37", period_ns=3000 * MS
    )


def test_rows_are_chosen_sorted_and_paged(told: WhatIf) -> None:
    first = view(told, [("show", "all"), ("sort", "time")])
    assert first.total == len(told.rows) > PAGE
    assert [one.row for one in first.lines] == list(told.rows[:PAGE])
    assert (first.before, first.after) == (None, PAGE)
    second = view(told, [("show", "all"), ("sort", "time"), ("from", str(PAGE + 3))])
    assert second.first == PAGE
    assert second.before == 0
    largest = view(told, [])
    shifts = [abs(one.row.shift or 0) for one in largest.lines if one.row.missed == "no"]
    assert shifts == sorted(shifts, reverse=True)
    assert set(first.counts) == set(SHOWS)
    assert first.counts["all"] == len(told.rows)


@pytest.mark.parametrize("text", ["-1", "x", "99999", "9" * 40, "²", ""])
def test_what_a_link_says_wrongly_is_not_said(told: WhatIf, text: str) -> None:
    shown = view(told, [("show", text), ("sort", text), ("from", text)])
    assert (shown.show, shown.sort) == ("differing", "largest")
    assert 0 <= shown.first <= shown.total


def test_figures_add_up(told: WhatIf) -> None:
    shown = view(told, [])
    for what in ("ends", "starts"):
        bins = shown.bins[what]
        then, now = (getattr(one, what).by_source for one in told.tallies)
        assert sum(one.then for one in bins) == sum(one.count for one in then.values())
        assert sum(one.now for one in bins) == sum(one.count for one in now.values())
        assert max(max(one.then_bar, one.now_bar) for one in bins) == 100
    *methods, last = shown.calls
    assert last == ("all", sum(one[1] for one in methods), sum(one[2] for one in methods))
    assert last[1] == told.tallies[0].calls


def test_bins_begin_at_their_edges() -> None:
    assert (EDGES[0], EDGES[1], EDGES[2], len(EDGES)) == (MS, 3 * MS, 10 * MS, 12)
    bins = binned([0, MS - 1, MS, 3 * MS, 10**15])
    assert (bins[0], bins[1], bins[2], bins[-1]) == (2, 1, 1, 1)
    assert sum(bins) == 5
