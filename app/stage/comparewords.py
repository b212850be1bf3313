"""A comparison in a sentence, and what else is to be said about it.

**Harm comes first.** A run that missed something, left it unseen, or believed what was not so is
never praised for its speed: where the runs differ in that, it is the sentence, and how quick they
were stands below. Speed is told of what all runs had and noticed, and with how many that were: over
all of its own, a run would look the better the more it misses.

Texts are parts: (text, whether it is stressed). They are written here once, for the page with and
without scripts, the API and the command line. What the words mean is told in ``compare``.
"""

from collections.abc import Sequence
from typing import NamedTuple

from app.engine.profiles import PROFILES
from app.stage.compare import EQUAL_NS, Comparison, Latency, Tally
from app.words import count, duration, listed

Parts = tuple[tuple[str, bool], ...]

WRONG_EACH_NS = 2_000_000_000
"""A wrong cache counts as harm when it lasted more than two polls for each end and start: less is
what waiting for the next poll costs."""


def sentence(names: Sequence[str], compared: Comparison) -> Parts:
    """What it comes to: the harm where the runs differ in it, else who was sooner, by how much."""
    tallies, against = compared.tallies, compared.against
    if not any(sum(one.marks.values()) for one in tallies):
        happened = tallies[against].ends.happened + tallies[against].starts.happened
        if not happened:
            return (("Nothing to compare.", True), (" No process ended or began.", False))
        noticed = f"All noticed {count(happened, 'end or start', 'ends and starts')} alike"
        calls = [one.calls for one in tallies]
        if 20 * (max(calls) - min(calls)) <= max(calls):
            return (("No difference.", True), (f" {noticed}.", False))
        # At another price it is one.
        made = listed([f"{called} made {one:,}" for called, one in zip(names, calls, strict=True)])
        return (
            (f"{noticed}, but not with as many runtime calls.", True),
            (f" {made[0].upper()}{made[1:]}.", False),
        )
    if _harm_differs(tallies):
        return _harm_first(names, tallies)
    return _sooner(names, compared)


def meaning(names: Sequence[str], compared: Comparison, profiles: Sequence[str] = ()) -> Parts:
    """What else is to be said: how quick they were and why, and what all of them missed.
    ``profiles``: of the runs, so that it can be said why one is quicker."""
    tallies = compared.tallies
    return _parts(
        _speed(names, tallies) if _harm_differs(tallies) else _harm_of_all(tallies),
        *_why(names, tallies, profiles),
        _happened(names, tallies),
    )


def notes(names: Sequence[str], compared: Comparison) -> Parts:
    """The small print: within what time each noticed all, what the runtime took of it, and what
    could not be compared."""
    return _parts(
        _noticed(names, compared.tallies),
        _floor(compared.tallies),
        _matching(names[compared.against], compared),
    )


def _parts(*told: str) -> Parts:
    return tuple((f"{text} ", False) for text in told if text)


# Harm


class _Harm(NamedTuple):
    """What a run did badly; equal for runs that did equally badly."""

    missed: str
    late: str
    overdue: str
    wrongs: int
    wrong_cache: bool


def _harm(one: Tally) -> _Harm:
    happened = one.ends.happened + one.starts.happened
    return _Harm(
        missed=_both(one.ends.missed, one.starts.missed),
        late=_both(one.ends.over_minute, one.starts.over_minute),
        overdue=_both(one.ends.overdue, one.starts.overdue),
        wrongs=one.wrongs,
        wrong_cache=one.wrong_ns > WRONG_EACH_NS * max(1, happened),
    )


def _harm_words(tallies: Sequence[Tally]) -> str:
    """The harm of runs that did equally badly, worst first; nothing if they were only slow."""
    harm = _harm(tallies[0])
    told = []
    if harm.missed:
        told.append(f"missed {harm.missed}")
    if harm.late:
        told.append(f"left {harm.late} unseen for over a minute")
    if harm.overdue:
        told.append(f"had {harm.overdue} still unseen at the end")
    if harm.wrongs:
        often = {1: "once", 2: "twice"}.get(harm.wrongs, count(harm.wrongs, "time"))
        told.append(f"believed what was not so {often}")
    if harm.wrong_cache:
        each = _each([one.wrong_ns for one in tallies])
        told.append(f"had a wrong cache for {each} (summed over containers)")
    return listed(told)


def _each(lasted_ns: Sequence[int]) -> str:
    return listed(list(dict.fromkeys(map(duration, lasted_ns))))


def _harm_differs(tallies: Sequence[Tally]) -> bool:
    return len({_harm(one) for one in tallies}) > 1


def _harm_first(names: Sequence[str], tallies: Sequence[Tally]) -> Parts:
    alike: dict[_Harm, list[int]] = {}
    for number, one in enumerate(tallies):
        alike.setdefault(_harm(one), []).append(number)
    clean: list[int] = []
    parts: list[tuple[str, bool]] = []
    for numbers in alike.values():
        who = [names[number] for number in numbers]
        words = _harm_words([tallies[number] for number in numbers])
        if words:
            parts += [(f"{listed(who)} {words}", True), (". ", False)]
        else:
            clean = numbers
    last = ""
    if clean:
        # What waiting for polls costs is no harm, and the table has it: it is not nothing.
        each = [tallies[number].wrong_ns for number in clean if tallies[number].wrong_ns]
        wrong = any(harm.wrong_cache for harm in alike) and each
        besides = f", whose cache was wrong for {_each(each)}" if wrong else ""
        last = f"Nothing of that with {listed([names[number] for number in clean])}{besides}."
    return (*parts[:-1], (f". {last}".rstrip(), False))


def _harm_of_all(tallies: Sequence[Tally]) -> str:
    words = _harm_words(tallies)
    return f"All of them {words}." if words else ""


# Speed


def _shared(tallies: Sequence[Tally]) -> tuple[str, list[Latency]]:
    """What all of them had and noticed: ends, or starts where there is no such end."""
    ends = [one.shared for one in tallies]
    if ends[0].count:
        return "end", ends
    return "start", [one.shared_starts for one in tallies]


def _who_had(what: str, number: int, runs: int) -> str:
    return f"{count(number, what)} that {'both' if runs == 2 else 'all'} had and noticed"


def _sooner(names: Sequence[str], compared: Comparison) -> Parts:
    """How much sooner than the reference the first of the other runs was."""
    tallies, against = compared.tallies, compared.against
    what, shared = _shared(tallies)
    number = 1 if against == 0 else 0
    ours, theirs = shared[against], shared[number]
    if not ours.count:
        return (("Nothing was noticed by all of them", True), (", so none was the quicker.", False))
    apart = theirs.median - ours.median
    head = ((f"With {names[number]}", True), (f", the median {what} was noticed ", False))
    tail = (
        (_calls(tallies[number].calls, tallies[against].calls), True),
        (f" runtime calls ({_who_had(what, ours.count, len(tallies))}).", False),
    )
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


def _speed(names: Sequence[str], tallies: Sequence[Tally]) -> str:
    """The same without praise, for below the harm."""
    what, shared = _shared(tallies)
    if not shared[0].count:
        return "No end or start was noticed by all of them."
    each = [f"{duration(one.median)} with {name}" for name, one in zip(names, shared, strict=True)]
    had = _who_had(what, shared[0].count, len(tallies))
    return f"Of the {had}, the median was noticed after {listed(each)}."


def _calls(theirs: int, ours: int) -> str:
    if not ours:
        return f"{theirs:,}"
    percent = round(100 * (theirs - ours) / ours)
    if percent == 0:
        return "as many"
    return f"{abs(percent)} % {'more' if percent > 0 else 'fewer'}"


def _why(names: Sequence[str], tallies: Sequence[Tally], profiles: Sequence[str]) -> list[str]:
    """Why a design that believes events is quicker or asks less, where it does."""
    told: list[str] = []
    for name, one, profile in zip(names, tallies, profiles, strict=bool(profiles)):
        design = PROFILES[profile]
        if design.hints != "write":
            continue
        others = [
            (each, PROFILES[other])
            for each, other in zip(tallies, profiles, strict=True)
            if each is not one
        ]
        slower = [other for each, other in others if one.shared.median < each.shared.median]
        if slower and "believed" in one.ends.by_source:
            how = (
                "by the look it spares"
                if any(other.hints == "request" for other in slower)
                else "as an event tells it of an end before the next poll"
            )
            told.append(
                f"{name} is quicker {how}: it believes an event without asking the runtime, which "
                "is how it comes to believe what is not so."
            )
        if one.luckier and one.stream_ends:
            told.append(
                f"{count(one.luckier, 'end')} {name} found by a poll that came sooner: each of the "
                f"{one.stream_ends} times its stream ended it listed the whole node at once, so "
                "its polls fall at other moments. That is luck."
            )
        period = design.trusting_period_ns
        if period and 2 * one.calls < max(each.calls for each, _ in others):
            told.append(
                f"{name} makes only {one.calls:,} runtime calls, as it lists the node every "
                f"{duration(period)} while its stream is open; what the stream leaves out stays "
                "unseen as long."
            )
    return told


# What else


def _happened(names: Sequence[str], tallies: Sequence[Tally]) -> str:
    numbers = [one.ends.happened for one in tallies]
    if not any(numbers):
        return ""
    if len(set(numbers)) == 1:
        return f"{count(numbers[0], 'end')} in each."
    each = [
        f"{count(number, 'end')} with {name}" for name, number in zip(names, numbers, strict=True)
    ]
    return f"In all there were {listed(each)}."


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
    if len(whole) == len(tallies):
        return f"Every one was noticed: by {listed(each)}."
    return f"Every one was noticed by {listed(each)}."


def _both(ends: int, starts: int) -> str:
    parts = ((ends, "end"), (starts, "start"))
    return listed([count(number, what) for number, what in parts if number])


def _floor(tallies: Sequence[Tally]) -> str:
    lag = max(one.lag_ns for one in tallies)
    if not lag:
        return ""
    return (
        f"The runtime itself took {duration(lag)} to know of an end (median of all ends); before "
        "it knows of one, no PLEG can."
    )


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
