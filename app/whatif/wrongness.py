"""How long the pod cache was wrong: cache and runtime disagreed on whether a container runs.

The same measure as in ``app/stage/truth.py``: container time, from when the pods were first known
to the recording's end. When the runtime changed is known between two times only, so the recorded
cache's figure has bounds; that of another run has wider ones, as its findings have bounds too.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from app.whatif.answer import Row, Wrong
from app.whatif.timeline import Life, Phase

Toggles = dict[str, list[int]]
"""What a cache said, as ``CacheLog.toggles``."""


def recorded(lives: Iterable[Life], cached: Toggles, begin: int, until: int) -> Wrong:
    """The recorded cache: its writes are known exactly."""
    return _sum(_measured(life, cached, begin, until) for life in lives)


def rerun_bounds(
    lives: Iterable[Life],
    cached: Toggles,
    rows: dict[str, list[Row]],
    begin: int,
    until: int,
) -> Wrong:
    """Another run's cache; ``rows``: each container's, in order of time, with their bounds."""
    return _sum(
        _widened(
            _measured(life, cached, begin, until), rows.get(life.item.first.id, ()), begin, until
        )
        for life in lives
    )


def _sum(some: Iterable[Wrong]) -> Wrong:
    guess = least = most = 0
    for one in some:
        guess, least, most = guess + one.ns, least + one.least_ns, most + (one.most_ns or 0)
    return Wrong(guess, least, most)


def _widened(one: Wrong, rows: Sequence[Row], begin: int, until: int) -> Wrong:
    least, most = 0, 0
    for number, row in enumerate(rows):
        # After the end a cache that never knew of the start is right again.
        over = rows[number + 1] if row.what == "start" and number + 1 < len(rows) else None
        latest = until if row.latest is None else row.latest
        to_most = latest if over is None else min(latest, over.to_t)
        to_least = row.earliest if over is None else min(row.earliest, over.from_t)
        most += max(0, min(to_most, until) - max(row.from_t, begin))
        before = rows[number - 1] if number else None
        knew = before is None or (before.latest is not None and before.latest <= row.from_t)
        if knew:
            least += max(0, min(to_least, until) - max(row.to_t, begin))
    return Wrong(one.ns, min(one.least_ns, least), max(one.most_ns or 0, most))


class _Window(NamedTuple):
    """The runtime changed somewhere in it; ``once``: one time."""

    lo: int
    hi: int
    runs: bool
    once: bool


def _measured(life: Life, cached: Toggles, begin: int, until: int) -> Wrong:
    toggles = cached.get(life.item.first.id, [])
    guess = 0
    at, runs = begin, False
    for t, becomes in _changes(life.phases):
        guess += _differs(toggles, runs, at, min(t, until))
        at, runs = max(at, min(t, until)), becomes
    guess += _differs(toggles, runs, at, until)
    least = most = 0
    at, runs = begin, False
    for window in _windows(life.phases):
        lo, hi = (min(max(one, begin), until) for one in (window.lo, window.hi))
        sure = _differs(toggles, runs, at, lo)
        low, high = 0, max(0, hi - lo)
        if window.once and hi > lo:
            inside = [lo, hi, *(one for one in toggles if lo < one < hi)]
            sums = [
                _differs(toggles, runs, lo, one) + _differs(toggles, window.runs, one, hi)
                for one in inside
            ]
            low, high = min(sums), max(sums)
        least, most = least + sure + low, most + sure + high
        at, runs = max(at, hi), window.runs
    rest = _differs(toggles, runs, at, until)
    return Wrong(guess, min(guess, least + rest), max(guess, most + rest))


def _changes(phases: Sequence[Phase]) -> Iterable[tuple[int, bool]]:
    runs = False
    for one in phases:
        now = _runs(one)
        if now != runs:
            runs = now
            yield one.t, runs


def _windows(phases: Sequence[Phase]) -> list[_Window]:
    """When it can have changed; what cannot be told apart is one window."""
    found: list[_Window] = []
    runs = False
    for one in phases:
        if _runs(one) == runs:
            continue
        runs = not runs
        if found and one.lo < found[-1].hi:
            last = found[-1]
            found[-1] = _Window(last.lo, max(last.hi, one.hi), runs, once=False)
        else:
            found.append(_Window(one.lo, one.hi, runs, once=True))
    return found


def _runs(phase: Phase) -> bool:
    return phase.row is not None and phase.row.runtime_state == "running"


def _differs(toggles: Sequence[int], runs: bool, begin: int, until: int) -> int:
    """For how long the cache says something else than ``runs`` in this time."""
    if until <= begin:
        return 0
    # Every other stretch between two toggles is one in which it says that it runs.
    said = sum(
        max(0, min(ended, until) - max(began, begin))
        for began, ended in list(pairwise([*toggles, until]))[::2]
    )
    return (until - begin) - said if runs else said
