"""Durations as people write them in scenario files, and as the simulation counts them (ns).

``Ns`` and ``Offset`` are whole numbers with a name of their own, so that a field says what a file
may hold for it: a text such as ``"30s"``. They do not leave the simulation: what goes into the
engine, and so into records, is a plain ``int``, as any sum of them is.
"""

import re
from typing import TypeAlias

_UNITS = {"us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(us|ms|s|m|h)", re.ASCII)

LONGEST = 366 * 24 * 3600 * 10**9
"""Nothing in a scenario lasts longer than a year (ns)."""


class Ns(int):
    """A duration or a time since the scenario's beginning, in ns; never negative."""


class Offset(int):
    """How far something is off, in ns; before when negative."""


Span: TypeAlias = tuple[Ns, Ns]
"""The shortest and the longest of something that is drawn by chance."""


def seconds(number: float) -> Ns:
    """So many seconds."""
    return Ns(round(number * 1e9))


def millis(number: float) -> Ns:
    """So many milliseconds."""
    return Ns(round(number * 1e6))


def parse_ns(text: str) -> Ns:
    """``30s``, ``1.5m``, ``1h30m``, ``250ms``, ``400us`` or ``0s``.

    Raises:
        ValueError: anything else, or more than a year; says how to write it.
    """
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError('write a duration as a text such as "30s", "1.5m" or "250ms"')
    total = sum(round(float(number) * _UNITS[unit]) for number, unit in parts)
    if total > LONGEST:
        raise ValueError("a duration may be a year (8784h) at most")
    return Ns(total)


def parse_offset(text: str) -> Offset:
    """A duration with ``+`` or ``-`` before it.

    Raises:
        ValueError: anything else; says how to write it.
    """
    if text[:1] not in ("+", "-"):
        raise ValueError('write an offset with its sign, such as "-1h" or "+250ms"')
    size = parse_ns(text[1:])
    return Offset(-size if text[0] == "-" else size)


def shown(ns: int) -> str:
    """A duration for people, three digits: ``850 ms``, ``1.25 s``, ``3 min 20 s``."""
    size = abs(ns)
    if size >= 60 * 10**9:
        minutes, rest = divmod(round(ns / 1e9), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    for unit, factor in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if size >= factor:
            return f"{float(f'{ns / factor:.3g}'):g} {unit}"
    return f"{ns} ns"
