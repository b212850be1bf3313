"""Durations and numbers in pages and sentences: two significant digits, no-break spaces."""

import itertools

NBSP = "\N{NO-BREAK SPACE}"
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def duration(ns: float | None) -> str:
    """Nanoseconds, whichever way: ``4.1 ms``, ``640 ms``, ``1.2 s``, ``3 min 12 s``; ``not known``
    for None."""
    if ns is None:
        return "not known"
    seconds = abs(ns) / 1e9
    if seconds < 1e-4 and ns:
        return f"{round(ns / 1e3)}{NBSP}µs"
    if seconds < 0.9995:
        return f"{_two_digits(seconds * 1e3)}{NBSP}ms"
    if seconds < 59.5:
        return f"{_two_digits(seconds)}{NBSP}s"
    whole = round(seconds)
    for (size, name), (small, small_name) in itertools.pairwise(_UNITS):
        if whole >= size:
            rest = whole % size // small
            text = f"{whole // size}{NBSP}{name}"
            return f"{text} {rest}{NBSP}{small_name}" if rest else text
    raise AssertionError("a minute or more has minutes")


def age(ns: int) -> str:
    """How long ago, as the header of the node page has it: ``0.9 s``, ``12 s``, ``3 min 12 s``."""
    seconds = max(0, ns) / 1e9
    if seconds < 9.95:
        return f"{seconds:.1f}{NBSP}s"
    return duration(round(seconds) * 1_000_000_000)


def count(number: int, one: str, many: str = "") -> str:
    """``1 end``, ``9,871 calls``."""
    return f"{number:,}{NBSP}{one if number == 1 else many or one + 's'}"


def listed(words: list[str]) -> str:
    """``kep``, ``kep and generic``, ``kep, generic and legacy``; nothing for none."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def _two_digits(value: float) -> str:
    if value >= 9.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 0.995 or value == 0 else f"{value:.2f}"
