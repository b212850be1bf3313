"""What is given to a setting as text, read: each reader says in a sentence what it expected."""

import re

from app.engine.profiles import PROFILES
from app.errors import SettingsError

SECOND = 1_000_000_000
SLOWEST, FASTEST = 0.1, 20.0
"""Limits of a simulated node's speed: beyond, gRPC's own milliseconds look like a slow runtime."""
EXPORTS = ("perfetto", "chrome", "csv", "jsonl", "html")
_UNITS = {"ms": SECOND // 1000, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h)", re.ASCII)


def parse_duration(text: str) -> int:
    """``30s``, ``1.5m``, ``1h30m`` or ``500ms`` as nanoseconds; zero is refused.

    Raises:
        SettingsError: for anything else.
    """
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise SettingsError(f"{text!r} is no duration: write it like 30s, 5m or 1h30m.")
    total = sum(int(float(number) * _UNITS[unit]) for number, unit in parts)
    if total <= 0:
        raise SettingsError("A duration must be longer than nothing: write it like 30s.")
    return total


def parse_port(text: str) -> int:
    """A TCP port, 0 for any free one.

    Raises:
        SettingsError: not a number from 0 to 65535.
    """
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise SettingsError(f"{text!r} is no port: give a number from 0 (any free one) to 65535.")
    return int(text)


def parse_seed(text: str) -> int:
    """A seed: any whole number from 0.

    Raises:
        SettingsError: not such a number.
    """
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise SettingsError(f"{text!r} is no seed: give a whole number, such as 7.")
    return int(text)


def parse_speed(text: str) -> float:
    """How many times as fast as real time: a number from 0.1 to 20, with or without an ``x``.

    Raises:
        SettingsError: not such a number.
    """
    number = text.removesuffix("x")
    plain = number.isascii() and number.replace(".", "", 1).isdigit() and len(number) <= 8
    if not plain or not SLOWEST <= float(number) <= FASTEST:
        raise SettingsError(
            f"{text!r} is no speed: give a number from {SLOWEST:g} (slower than life) to "
            f"{FASTEST:g}."
        )
    return float(number)


def parse_format(text: str) -> str:
    """``page`` or ``jsonl``.

    Raises:
        SettingsError: something else.
    """
    if text not in ("page", "jsonl"):
        raise SettingsError(f"{text!r} is no output format: choose page or jsonl.")
    return text


def parse_output(text: str) -> str:
    """``table``, ``json`` or ``jsonl``.

    Raises:
        SettingsError: something else.
    """
    if text not in ("table", "json", "jsonl"):
        raise SettingsError(f"{text!r} is no output format: choose table, json or jsonl.")
    return text


def parse_profile(text: str) -> str:
    """The name of a profile.

    Raises:
        SettingsError: there is no such profile.
    """
    if text not in PROFILES:
        raise SettingsError(f"{text!r} is no profile: choose one of {', '.join(PROFILES)}.")
    return text


def parse_export(text: str) -> str:
    """The name of an export's format.

    Raises:
        SettingsError: there is no such format.
    """
    if text not in EXPORTS:
        raise SettingsError(f"{text!r} is no export format: choose one of {', '.join(EXPORTS)}.")
    return text


def parse_report(text: str) -> str:
    """``table`` or ``json``.

    Raises:
        SettingsError: something else.
    """
    if text not in ("table", "json"):
        raise SettingsError(f"{text!r} is no output format: choose table or json.")
    return text


def parse_queue(text: str) -> int:
    """How many requests fit: a whole number from 1 to a million.

    Raises:
        SettingsError: not such a number.
    """
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:8]) <= 10**6:
        raise SettingsError(f"{text!r} is no queue size: give a whole number, such as 200.")
    return int(text[:8])


def parse_hold(text: str) -> int | None:
    """``off`` as 0, ``recorded`` as None, or a duration in nanoseconds.

    Raises:
        SettingsError: something else.
    """
    if text == "recorded":
        return None
    if text == "off":
        return 0
    try:
        return parse_duration(text)
    except SettingsError:
        raise SettingsError(
            f"{text!r} is no hold: choose off, recorded, or a duration such as 2s."
        ) from None


def parse_share(text: str) -> float:
    """A share above 0 and up to 1.

    Raises:
        SettingsError: not such a number.
    """
    plain = text.isascii() and text.replace(".", "", 1).isdigit() and len(text) <= 8
    if not plain or not 0 < float(text) <= 1:
        raise SettingsError(f"{text!r} is no share: give a number up to 1, such as 0.5 for half.")
    return float(text)


def parse_profiles(text: str) -> tuple[str, ...]:
    """Two or three names of profiles, with commas between them.

    Raises:
        SettingsError: another number, the same one twice, or no such profile.
    """
    found = tuple(parse_profile(name.strip()) for name in text.split(","))
    if not 2 <= len(found) <= 3 or len(set(found)) < len(found):
        raise SettingsError(f"{text!r} is not two or three profiles: write it like kep,generic.")
    return found
