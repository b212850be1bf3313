"""An answer as the page shows it: which rows, in which order, and its figures side by side."""

from collections.abc import Mapping, Sequence

import msgspec

from app.stage.compare import Latency
from app.whatif.answer import Found, Row, WhatIf
from app.whatif.question import Pairs

PAGE = 100
"""Rows at a time."""

SHOWS: Mapping[str, str] = {
    "differing": "what differs",
    "sooner": "sooner",
    "later": "later",
    "missed": "missed, or perhaps",
    "open": "cannot be said",
    "all": "all",
}
"""Which rows can be shown, with its words."""
SORTS = {"largest": "largest difference first", "time": "in order of time"}

FOUND_BY = {
    "evented_pleg": "hint",
    "post_sync": "after sync",
    "post_allocation": "after resize",
    "global": "global poll",
    "believed": "believed event",
}
"""As on the page of comparisons."""

BAR = 100.0
"""Height of the tallest bar."""


class Line(msgspec.Struct, frozen=True):
    """One row; times are the session's. ``then`` and ``now``: latencies (ns), by whom."""

    row: Row
    then: int | None
    then_by: str
    now: int | None
    now_by: str
    early: int | None
    late: int | None
    """How much later than recorded it would have come, at least and at most (None: no limit)."""


class Bin(msgspec.Struct, frozen=True):
    """A bin of the two distributions: from where on (ns), counts, and heights of the bars."""

    from_ns: int
    then: int
    now: int
    then_bar: float
    now_bar: float


class Source(msgspec.Struct, frozen=True):
    """Who found ends or starts: latencies then and now."""

    what: str
    name: str
    then: Latency | None
    now: Latency | None


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of an answer. ``first``: number of the first line, from 0; ``after`` and
    ``before``: where the neighbouring pages begin (None: there is none). ``calls``: method, then,
    now; the last one is all of them."""

    lines: tuple[Line, ...]
    first: int
    total: int
    show: str
    sort: str
    counts: dict[str, int]
    before: int | None
    after: int | None
    bins: dict[str, tuple[Bin, ...]]
    sources: tuple[Source, ...]
    calls: tuple[tuple[str, int, int], ...]


def view(told: WhatIf, pairs: Pairs) -> View:
    """What a link wants to see of an answer; what it says wrongly is taken as not said."""
    given = dict(reversed(pairs))
    show: str = next((one for one in SHOWS if one == given.get("show")), "differing")
    sort = given.get("sort", "")
    sort = sort if sort in SORTS else "largest"
    chosen = {one: [row for row in told.rows if _is(row, one)] for one in SHOWS}
    rows = chosen[show]
    if sort == "largest":
        rows = sorted(rows, key=lambda row: (row.missed == "no", -abs(row.shift or 0), row.t))
    text = given.get("from", "0")
    first = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    first = min(first, max(0, len(rows) - 1)) // PAGE * PAGE
    calls = told.calls or ({}, {})
    methods = sorted(calls[0].keys() | calls[1].keys())
    return View(
        lines=tuple(map(_line, rows[first : first + PAGE])),
        first=first,
        total=len(rows),
        show=show,
        sort=sort,
        counts={one: len(some) for one, some in chosen.items()},
        before=first - PAGE if first else None,
        after=first + PAGE if first + PAGE < len(rows) else None,
        bins={what: _bins(told, what) for what in ("ends", "starts")},
        sources=tuple(_sources(told)),
        calls=(
            *((one, calls[0].get(one, 0), calls[1].get(one, 0)) for one in methods),
            ("all", sum(calls[0].values()), sum(calls[1].values())),
        ),
    )


def _is(row: Row, show: str) -> bool:
    match show:
        case "sooner":
            return row.verdict in ("sooner", "not later") and row.missed == "no"
        case "later":
            return row.verdict in ("later", "not sooner") and row.missed == "no"
        case "missed":
            return row.missed != "no"
        case "open":
            return row.verdict == "open"
        case "differing":
            return row.verdict != "alike" or row.missed != "no"
        case _:
            return True


def _line(row: Row) -> Line:
    then = row.recorded.t if row.recorded else None
    return Line(
        row=row,
        then=_after(row, row.recorded),
        then_by=_by(row.recorded),
        now=_after(row, row.now),
        now_by=_by(row.now),
        early=None if then is None else row.earliest - then,
        late=None if then is None or row.latest is None else row.latest - then,
    )


def _after(row: Row, found: Found | None) -> int | None:
    return None if found is None else max(0, found.t - row.t)


def _by(found: Found | None) -> str:
    if found is None:
        return ""
    return FOUND_BY["believed" if found.believed else found.source]


def _bins(told: WhatIf, what: str) -> tuple[Bin, ...]:
    """The bins from the first to the last that holds anything."""
    if len(told.spreads) < 2:
        return ()
    then, now = (getattr(one, what) for one in told.spreads)
    filled = [number for number, pair in enumerate(zip(then, now, strict=True)) if any(pair)]
    if not filled:
        return ()
    most = max(*then, *now)
    starts = (0, *told.edges)
    return tuple(
        Bin(starts[n], then[n], now[n], BAR * then[n] / most, BAR * now[n] / most)
        for n in range(filled[0], filled[-1] + 1)
    )


def _sources(told: WhatIf) -> Sequence[Source]:
    if len(told.tallies) < 2:
        return []
    found: list[Source] = []
    for what in ("ends", "starts"):
        then, now = (getattr(one, what).by_source for one in told.tallies)
        found += [
            Source(what, FOUND_BY.get(name, name), then.get(name), now.get(name))
            for name in sorted(then.keys() | now.keys())
        ]
    return found
