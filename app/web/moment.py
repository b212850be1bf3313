"""A time on a player's clock as people and links write it: ``12.5``, ``12.5s``, ``1m30s``.

The same as ``parseTime`` of static/js/run-link.js takes.
"""

import re
from decimal import Decimal

_CLOCK = re.compile(r"(\d{1,3}):(\d{1,2}(?:\.\d{1,9})?)", re.ASCII)
_PARTS = re.compile(
    r"(?:(\d{1,2})h)?(?:(\d{1,3})m(?:in)?)?(?:(\d{1,9}(?:\.\d{1,9})?)s?)?", re.ASCII
)
MOST_LETTERS = 40


def parse_moment(text: str) -> int | None:
    """Nanoseconds; None for what is no time."""
    given = "".join(text[: MOST_LETTERS + 1].split())
    if not given or len(given) > MOST_LETTERS:
        return None
    if clock := _CLOCK.fullmatch(given):
        return _ns("0", clock[1], clock[2])
    if parts := _PARTS.fullmatch(given):
        return _ns(parts[1] or "0", parts[2] or "0", parts[3] or "0")
    return None


def _ns(hours: str, minutes: str, seconds: str) -> int:
    whole = (int(hours) * 60 + int(minutes)) * 60
    return int((whole + Decimal(seconds)) * 1_000_000_000)
