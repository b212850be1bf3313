"""A comparison in a sentence, and what else is to be said about it.

Texts are parts: (text, whether it is stressed). They are written here once, for the page with and
without scripts, the API and the command line.
"""

from collections.abc import Sequence

from app.stage.compare import EQUAL_NS, Comparison, Found, Tally
from app.stage.words import count, duration, listed

Parts = tuple[tuple[str, bool], ...]


def sentence(names: Sequence[str], compared: Comparison) -> Parts:
    """What it comes to: how much sooner than the reference the first of the other runs was."""
    tallies, against = compared.tallies, compared.against
    what = "end" if any(one.ends.all.count for one in tallies) else "start"
    ours = _of(tallies[against], what).all
    others = [
        (number, _of(one, what).all)
        for number, one in enumerate(tallies)
        if number != against and _of(one, what).all.count
    ]
    if not any(sum(one.marks.values()) for one in tallies):
        happened = sum(_of(tallies[against], each).happened for each in ("end", "start"))
        if not happened:
            return (("Nothing to compare.", True), (" No process ended or began.", False))
        return (
            ("No difference.", True),
            (f" All noticed {count(happened, 'end or start', 'ends and starts')} alike.", False),
        )
    if not ours.count or not others:
        return (("Only some of them noticed anything at all.", True),)
    number, theirs = others[0]
    apart = theirs.median - ours.median
    calls = _calls(tallies[number].calls, tallies[against].calls)
    head = ((f"With {names[number]}", True), (f", the median {what} was noticed ", False))
    tail = ((calls, True), (" runtime calls.", False))
    if abs(apart) < EQUAL_NS:
        same = f" as with {names[against]}, {duration(theirs.median)} after it happened, with "
        return (*head, ("as soon", True), (same, False), *tail)
    return (
        *head,
        (f"{duration(abs(apart))} {'sooner' if apart < 0 else 'later'}", True),
        (f" than with {names[against]}: ", False),
        (duration(theirs.median), True),
        (f" after it happened instead of {duration(ours.median)}, with ", False),
        *tail,
    )


def meaning(names: Sequence[str], compared: Comparison) -> Parts:
    """What else is to be said: who missed what, and what could not be compared."""
    tallies = compared.tallies
    told = [
        _happened(tallies),
        _noticed(names, tallies),
        *_unseen(names, tallies),
        _floor(tallies),
        _matching(names[compared.against], compared),
    ]
    return tuple((f"{text} ", False) for text in told if text)


def _of(tally: Tally, what: str) -> Found:
    return tally.ends if what == "end" else tally.starts


def _calls(theirs: int, ours: int) -> str:
    if not ours:
        return f"{theirs:,}"
    percent = round(100 * (theirs - ours) / ours)
    if percent == 0:
        return "as many"
    return f"{abs(percent)} % {'more' if percent > 0 else 'fewer'}"


def _happened(tallies: Sequence[Tally]) -> str:
    numbers = [one.ends.happened for one in tallies]
    if not any(numbers):
        return ""
    if len(set(numbers)) == 1:
        return f"{count(numbers[0], 'end')} in each."
    return f"{listed([f'{number:,}' for number in numbers])} ends."


def _noticed(names: Sequence[str], tallies: Sequence[Tally]) -> str:
    whole = [
        (name, one.ends.all.worst)
        for name, one in zip(names, tallies, strict=True)
        if one.ends.happened and not (one.ends.missed or one.ends.waiting)
    ]
    if not whole:
        return ""
    if len(whole) == 1:
        return f"{whole[0][0]} noticed every one within {duration(whole[0][1])}."
    each = [f"{name} within {duration(worst)}" for name, worst in whole]
    return f"Every one was noticed: by {listed(each)}."


def _unseen(names: Sequence[str], tallies: Sequence[Tally]) -> list[str]:
    told: dict[str, list[str]] = {}
    for name, one in zip(names, tallies, strict=True):
        late = _both(one.ends.over_minute, one.starts.over_minute)
        missed = _both(one.ends.missed, one.starts.missed)
        parts = [f"left {late} unseen for over a minute"] if late else []
        parts += [f"missed {missed} for good"] if missed else []
        if one.wrongs:
            often = {1: "once", 2: "twice"}.get(one.wrongs, count(one.wrongs, "time"))
            parts.append(f"believed what was not so, {often}")
        if parts:
            told.setdefault(listed(parts), []).append(name)
    return [f"{listed(who)} {what}." for what, who in told.items()]


def _both(ends: int, starts: int) -> str:
    parts = ((ends, "end"), (starts, "start"))
    return listed([count(number, what) for number, what in parts if number])


def _floor(tallies: Sequence[Tally]) -> str:
    lag = max(one.lag_ns for one in tallies)
    if not lag:
        return ""
    return f"The runtime itself needs {duration(lag)} of that (median); no PLEG is quicker."


def _matching(reference: str, compared: Comparison) -> str:
    parts = []
    if compared.drifted:
        parts.append(
            f"{compared.drifted:,} of {count(compared.matched, 'happening')} came at another time "
            f"than in {reference}, as who notices later restarts later; each counts from its own."
        )
    if compared.unmatched:
        unmatched = count(compared.unmatched, "happening")
        parts.append(f"{unmatched} did not come in every run and cannot be compared.")
    return " ".join(parts)
