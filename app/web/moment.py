"""A time on a player's clock as people and links write it: ``12.5``, ``12.5s``, ``1m30s``.

The same as ``parseTime`` of static/js/run-link.js takes.
"""

import re
from decimal import Decimal

from app.errors import RecordingError

NO_TIME = "`t`: {!r} is no time; write it like 12.5s or 1m30s, from the recording's beginning."
_CLOCK = re.compile(r"(\d{1,3}):(\d{1,2}(?:\.\d{1,9})?)", re.ASCII)
_PARTS = re.compile(
    r"(?:(\d{1,4})d)?(?:(\d{1,2})h)?(?:(\d{1,3})m(?:in)?)?(?:(\d{1,9}(?:\.\d{1,9})?)s?)?",
    re.ASCII,
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
        return _ns(parts[2] or "0", parts[3] or "0", parts[4] or "0", parts[1] or "0")
    return None


def parse_t(text: str) -> int | None:
    """The time that was asked for (ns); None: none was. As in the player's links, a whole number is
    ns.

    Raises:
        RecordingError: it is no time.
    """
    if not text:
        return None
    if text.isdecimal() and text.isascii():
        return int(text[:19])
    t = parse_moment(text)
    if t is None:
        raise RecordingError(NO_TIME.format(text))
    return t


def in_words(t: int) -> str:
    """A time (ns) of the player as it shows it: ``33.108 s``, ``1 min 5.250 s``."""
    minutes, rest = divmod(t, 60 * 1_000_000_000)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    nbsp = "\N{NO-BREAK SPACE}"
    front = f"{days}{nbsp}d " if days else ""
    front += f"{hours}{nbsp}h " if days or hours else ""
    front += f"{minutes}{nbsp}min " if days or hours or minutes else ""
    return f"{front}{rest // 1_000_000 / 1e3:.3f}{nbsp}s"


def _ns(hours: str, minutes: str, seconds: str, days: str = "0") -> int:
    whole = ((int(days) * 24 + int(hours)) * 60 + int(minutes)) * 60
    return int((whole + Decimal(seconds)) * 1_000_000_000)
