"""What all tables of a scenario file have in common: names, bounds, and checks with clear words.

A check raises ``ValueError``; msgspec adds where it was, and ``explain.py`` makes a sentence of it.
"""

from typing import Annotated

import msgspec

from app.sim.units import Ns, Span, millis

SHORTEST_EVERY = millis(10)
"""What happens again and again keeps at least this distance."""

Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$")]
"""A Kubernetes name: at most 63 lower case letters, digits, ``-`` and ``.``."""

Line = Annotated[str, msgspec.Meta(min_length=1, max_length=120)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
Image = Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
Count = Annotated[int, msgspec.Meta(ge=0, le=500)]


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a scenario file; an unknown key in it is an error."""


def ordered(key: str, span: Span) -> None:
    """Refuse a span that is not the shortest and the longest.

    Raises:
        ValueError: it is not.
    """
    if span[0] > span[1]:
        raise ValueError(f"`{key}` is the shortest and the longest, in this order")


def recurring(key: str, span: Span) -> None:
    """Refuse a span of pauses that are hardly any.

    Raises:
        ValueError: they are too short, or in the wrong order.
    """
    ordered(key, span)
    at_least(key, span[0], SHORTEST_EVERY)


def at_least(key: str, value: Ns, least: Ns) -> None:
    """Refuse a duration that is too short.

    Raises:
        ValueError: it is.
    """
    if value < least:
        raise ValueError(f"`{key}` is {least // 10**6} ms at least")


def known(there: tuple[str, ...], named: tuple[str, ...]) -> None:
    """Refuse names of containers that a pod does not have.

    Raises:
        ValueError: one of the names; says which there are.
    """
    for name in named:
        if name not in there:
            raise ValueError(f"there is no container {name}; there is {', '.join(there)}")
