"""Two or three runs of the same node side by side: what each made of what truly happened.

**What is compared.** Beginnings and ends of processes, which only a simulation knows (``truth``).
For each of them and each run: how long after the true moment it was found, and by whom.

**What is matched with what.** Under different profiles (or after another press) the pod workers act
at other times, so the worlds drift apart: an end that is noticed later is followed by a later
restart. So happenings are matched by what stays the same, never by their time: the pod (namespace,
name and UID), the container's name, its attempt, how often that name was given out before, and
whether it is a beginning or an end. That says "the same step in the life of the same container". It
does not say that both have the same cause or came at the same time: each run's detection is
measured from its own true moment, and where these moments differ, it is said by how much. What has
no counterpart in every run is counted and named as such, and nothing is claimed about it but that.

**What counts as a difference.** Against one run of them, the *reference*: found sooner or later by
10 ms or more (the calls alone differ by less). Without regard to the reference: missed or unseen at
the end though another run noticed it; something told or cached that was not so, unless all runs
have it; not in every run. What is the same everywhere is no difference, however bad it is; the
summaries count it.

**Words**, the same wherever a comparison is shown. *Noticed*: found, and the kubelet was told.
*Missed*: it can never be noticed any more, or was found without anybody being told. *Unseen at the
end*: not noticed when the run ended, though the runtime still has it, so that it can be.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

import msgspec

from app.stage.truth import Fate, Moment, PodLine, RunTruth, Who, Wrong
from app.words import duration

MS = 1_000_000
EQUAL_NS = 10 * MS
"""Latencies that differ by less are called the same."""
MINUTE_NS = 60_000 * MS
OVERDUE_NS = 2_000 * MS
"""Still unseen at the end after so long, it was not only too near to the end: two polls passed."""
FEWEST, MOST = 2, 3
"""How many runs can be compared."""
MOST_ROWS = 20_000
"""Happenings handed out one by one; the summaries count all of them."""

Kind = Literal["sooner", "later", "never", "wrong", "absent"]
KINDS: tuple[Kind, ...] = ("sooner", "later", "never", "wrong", "absent")

K = TypeVar("K")
V = TypeVar("V")


class Side(msgspec.Struct, frozen=True):
    """One run as it is compared. ``name`` tells it from the others; ``query`` is its link's."""

    name: str
    profile: str
    query: str
    truth: RunTruth


class Seen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One happening in one run; the fields are those of :class:`~app.stage.truth.Moment`."""

    t: int
    known_t: int | None = None
    found_t: int | None = None
    fate: Fate
    source: str | None = None
    """A relist source, or ``believed``."""
    seq: int = 0
    relist_t: int | None = None
    stop_t: int | None = None
    delivered: bool = True
    exit_code: int | None = None
    reason: str = ""


class Stretch(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that was not so in one run, from ``t`` to ``until_t`` (None: to the end)."""

    t: int
    until_t: int | None = None
    seq: int = 0


class Mark(msgspec.Struct, frozen=True):
    """A difference: of run number ``run`` (from 0), in a word and in words."""

    run: int
    kind: Kind
    words: str


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One happening, or one thing that was not so, in all runs (None: it was not in that one).

    ``what``: ``start`` and ``end`` have a :class:`Seen` in each run, ``told`` and ``overwritten`` a
    :class:`Stretch`, and ``says`` what was told or cached instead.
    """

    what: Literal["start", "end", "told", "overwritten"]
    who: Who
    seen: tuple[Seen | None, ...] = ()
    stretches: tuple[Stretch | None, ...] = ()
    says: str = ""
    marks: tuple[Mark, ...] = ()

    @property
    def first_t(self) -> int:
        """When it came first in any run."""
        return min(one.t for one in (*self.seen, *self.stretches) if one is not None)


class Latency(msgspec.Struct, frozen=True):
    """How long findings took (ns), by nearest rank; all 0 when ``count`` is.

    ``at_least``: the worst one was still unseen when the run ended, after that time.
    """

    count: int = 0
    median: int = 0
    p95: int = 0
    worst: int = 0
    at_least: bool = False


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """How the beginnings or ends of one run were found.

    ``all`` takes in what was still unseen at the end, with the time it had been so by then: leaving
    it out would praise the run that looks least. ``by_source``: what was found, by whom.
    ``over_minute``: unseen for more than a minute. ``missed``: never found and past finding, or
    found without the kubelet being told. ``waiting``: still unseen at the end, and ``overdue``:
    those of them for which two polls would have had the time.
    """

    happened: int
    all: Latency
    by_source: dict[str, Latency]
    over_minute: int
    missed: int
    waiting: int
    overdue: int


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """One run in figures.

    ``shared`` and ``shared_starts``: this run's latencies of the ends and starts that all runs had
    and noticed. Only these can be held against each other: over all of its own a run looks the
    better the more it misses. ``luckier``: shared ends that a global relist found, here sooner by
    10 ms or more than a global relist did in another run. ``wrong_ns``: container nanoseconds of a
    wrong cache (see ``truth``); ``wrongs``: how often something was told or written that was not
    so. ``stream_ends``: how often the event stream or an attempt at it ended. ``marks``: its
    differences by kind.
    """

    ends: Found
    starts: Found
    shared: Latency
    shared_starts: Latency
    luckier: int
    stream_ends: int
    wrong_ns: int
    wrongs: int
    calls: int
    calls_by_method: dict[str, int]
    lag_ns: int
    marks: dict[str, int]


class Drawn(msgspec.Struct, frozen=True):
    """What a run's lanes and rows are drawn from, beside the happenings."""

    pods: tuple[PodLine, ...]
    relists: tuple[tuple[int, int], ...]
    stream: tuple[tuple[int, str], ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two or three runs side by side.

    ``against``: the reference's number. ``until_t``: how long they were played. ``matched``: in
    every run; ``drifted``: of these, at another time than in the reference. ``unmatched``: not in
    every run. ``left_out``: rows beyond ``MOST_ROWS``, the latest ones.
    """

    against: int
    until_t: int
    rows: tuple[Row, ...]
    tallies: tuple[Tally, ...]
    matched: int
    drifted: int
    unmatched: int
    left_out: int


def compare(sides: Sequence[Side], against: int) -> Comparison:
    """Align the runs and mark the differences against run number ``against`` (from 0)."""
    rows = [_happening(key, found, against) for key, found in _aligned_moments(sides).items()]
    wrongs = [_wrong(key, found) for key, found in _aligned_wrongs(sides).items()]
    matched = [row.seen for row in rows if None not in row.seen]
    shared = {what: _shared(rows, what) for what in ("end", "start")}
    everything = sorted((*rows, *wrongs), key=lambda row: (row.first_t, row.who, row.what))
    marks = Counter((mark.run, mark.kind) for row in everything for mark in row.marks)
    return Comparison(
        against=against,
        until_t=max(side.truth.until_t for side in sides),
        rows=tuple(everything[:MOST_ROWS]),
        tallies=tuple(
            _tally(number, side.truth, shared, {kind: marks[number, kind] for kind in KINDS})
            for number, side in enumerate(sides)
        ),
        matched=len(matched),
        drifted=sum(_drifts(seen, against) for seen in matched),
        unmatched=len(rows) - len(matched),
        left_out=max(0, len(everything) - MOST_ROWS),
    )


def reference(profiles: Sequence[str]) -> int:
    """Which run the others are held against unless somebody says: the one that only polls, as all
    the others are meant to be better than that; of forks, the first."""
    for name in ("generic", "polling"):
        if name in profiles and len(set(profiles)) > 1:
            return profiles.index(name)
    return 0


# Alignment


def _aligned_moments(sides: Sequence[Side]) -> dict[tuple[Who, str], list[Moment | None]]:
    return _aligned([[((one.who, one.what), one) for one in side.truth.moments] for side in sides])


def _aligned_wrongs(
    sides: Sequence[Side],
) -> dict[tuple[Who, str, str, int], list[Wrong | None]]:
    """The same container, kind and words; the first one with the first one, and so on."""
    numbered: list[list[tuple[tuple[Who, str, str, int], Wrong]]] = []
    for side in sides:
        seen: Counter[tuple[Who, str, str]] = Counter()
        numbered.append([])
        for one in side.truth.wrongs:
            key = (one.who, one.kind, one.says)
            numbered[-1].append(((*key, seen[key]), one))
            seen[key] += 1
    return _aligned(numbered)


def _aligned(sides: Sequence[Iterable[tuple[K, V]]]) -> dict[K, list[V | None]]:
    """By key: what each side has there, None where it has nothing."""
    table: dict[K, list[V | None]] = {}
    for number, pairs in enumerate(sides):
        for key, value in pairs:
            table.setdefault(key, [None] * len(sides))[number] = value
    return table


# Differences


def _happening(key: tuple[Who, str], found: list[Moment | None], against: int) -> Row:
    who, what = key
    return Row(
        what="start" if what == "start" else "end",
        who=who,
        seen=tuple(None if one is None else _seen(one) for one in found),
        marks=tuple(_marks(found, against)),
    )


def _seen(one: Moment) -> Seen:
    return Seen(
        t=one.t,
        known_t=one.known_t,
        found_t=one.found_t,
        fate=one.fate,
        source="believed" if one.believed else one.source,
        seq=one.seq,
        relist_t=one.relist_t,
        stop_t=one.stop_t,
        delivered=one.delivered,
        exit_code=one.exit_code,
        reason=one.reason,
    )


def _marks(found: list[Moment | None], against: int) -> Iterable[Mark]:
    somebody_knew = any(one is not None and _told(one) for one in found)
    ours = found[against]
    for run, one in enumerate(found):
        if one is None:
            yield Mark(run, "absent", "did not happen here")
        elif not _told(one):
            if somebody_knew:
                yield Mark(run, "never", _unseen(one))
        elif run != against and ours is not None and _told(ours):
            later = (one.latency or 0) - (ours.latency or 0)
            if abs(later) >= EQUAL_NS:
                yield Mark(run, "later" if later > 0 else "sooner", _by(later, one, ours))


def _told(one: Moment) -> bool:
    """It was noticed: found, and the kubelet was told."""
    return one.fate == "found" and one.delivered


def _unseen(one: Moment) -> str:
    if one.fate == "found":
        return "missed: found, but nobody was told, as the event channel was full"
    return "missed" if one.fate == "never" else "unseen at the end"


def _by(later: int, one: Moment, ours: Moment) -> str:
    latency = one.latency or 0
    if latency > MINUTE_NS:
        words = f"unseen for {duration(latency)}"
    else:
        words = f"{duration(abs(later))} {'later' if later > 0 else 'sooner'}"
    drift = one.t - ours.t
    if abs(drift) < EQUAL_NS:
        return words
    return f"{words}; happened {duration(abs(drift))} {'later' if drift > 0 else 'earlier'} here"


def _drifts(seen: tuple[Seen | None, ...], against: int) -> bool:
    ours = seen[against]
    return ours is not None and any(
        one is not None and abs(one.t - ours.t) >= EQUAL_NS for one in seen
    )


def _wrong(key: tuple[Who, str, str, int], found: list[Wrong | None]) -> Row:
    who, kind, says, _ = key
    marks = [
        Mark(run, "wrong", _wrong_words(one))
        for run, one in enumerate(found)
        if one is not None and None in found
    ]
    return Row(
        what="told" if kind == "told" else "overwritten",
        who=who,
        stretches=tuple(
            None if one is None else Stretch(one.t, one.until_t, one.seq) for one in found
        ),
        says=says,
        marks=tuple(marks),
    )


def _wrong_words(one: Wrong) -> str:
    if one.kind == "told":
        what = "a start" if one.says == "runs" else "an end"
        return f"told of {what} that had not happened"
    lasted = "to the end" if one.until_t is None else f"for {duration(one.until_t - one.t)}"
    what = "an older state won" if one.says == "runs" else "the cache lost what it knew"
    return f"wrong {lasted}: {what}"


# Figures


def _shared(rows: Sequence[Row], what: str) -> list[tuple[Seen, ...]]:
    """Happenings that all runs had and noticed, as each of them had it."""
    found = (
        (row, tuple(one for one in row.seen if one and one.found_t is not None and one.delivered))
        for row in rows
        if row.what == what
    )
    return [seen for row, seen in found if len(seen) == len(row.seen)]


def _after(one: Seen) -> int:
    """Latency of what was found (ns)."""
    return (one.found_t or one.t) - one.t


def _luckier(number: int, shared: Sequence[tuple[Seen, ...]]) -> int:
    return sum(
        any(
            one.source == "global" and _after(one) - _after(seen[number]) >= EQUAL_NS
            for one in seen
        )
        for seen in shared
        if seen[number].source == "global"
    )


def _tally(
    number: int,
    truth: RunTruth,
    shared: dict[str, list[tuple[Seen, ...]]],
    marks: dict[str, int],
) -> Tally:
    return Tally(
        shared=_latency([_after(seen[number]) for seen in shared["end"]]),
        shared_starts=_latency([_after(seen[number]) for seen in shared["start"]]),
        luckier=_luckier(number, shared["end"]),
        stream_ends=sum(state in ("waiting", "closed") for _, state in truth.stream),
        ends=_found([one for one in truth.moments if one.what == "end"], truth.until_t),
        starts=_found([one for one in truth.moments if one.what == "start"], truth.until_t),
        wrong_ns=truth.wrong_ns,
        wrongs=len(truth.wrongs),
        calls=sum(truth.calls.values()),
        calls_by_method=truth.calls,
        lag_ns=truth.lag_ns,
        marks=marks,
    )


def _found(moments: Sequence[Moment], until_t: int) -> Found:
    latencies: dict[str, list[int]] = {}
    for one in moments:
        if one.latency is not None:
            source = "believed" if one.believed else one.source or ""
            latencies.setdefault(source, []).append(one.latency)
    waiting = [until_t - one.t for one in moments if one.fate == "waiting"]
    found = [ns for some in latencies.values() for ns in some]
    return Found(
        happened=len(moments),
        all=_latency(found, waiting),
        by_source={source: _latency(latencies[source]) for source in sorted(latencies)},
        over_minute=sum(ns > MINUTE_NS for ns in (*found, *waiting)),
        missed=sum(not one.delivered or one.fate == "never" for one in moments),
        waiting=len(waiting),
        overdue=sum(ns > OVERDUE_NS for ns in waiting),
    )


def _latency(found: Sequence[int], waiting: Sequence[int] = ()) -> Latency:
    values = sorted((*found, *waiting))
    if not values:
        return Latency()
    # Nearest rank, in whole numbers: no rounding error moves a rank.
    return Latency(
        count=len(values),
        median=values[(len(values) - 1) // 2],
        p95=values[(95 * len(values) + 99) // 100 - 1],
        worst=values[-1],
        at_least=bool(waiting) and max(waiting) == values[-1],
    )
