"""How pages word what they show: the filters of the templates. What a runtime says may hold
anything; what is not markup of ours is escaped by the templates.
"""

import datetime as dt
import re
import signal
import unicodedata
import urllib.parse
from collections.abc import Callable, Mapping

import markupsafe

from app.words import age, duration

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)

_QUOTED = re.compile("`([^`]*)`")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_]|\s|$)")

_EXIT_WORDS = {
    0: "finished",
    1: "error",
    2: "misuse or error",
    125: "the runtime could not start it",
    126: "the command could not be executed",
    127: "the command was not found",
    128: "the runtime could not start it, or exit without a valid code",
    255: "error, or a code out of range",
}


def first_seen(*texts: str) -> str:
    """The first text of which something can be seen: a link without letters cannot be followed."""
    for text in texts:
        if any(unicodedata.category(one)[0] not in "CMZ" for one in text):
            return text
    return "(a name that cannot be seen)"


def sentence(text: str) -> str:
    """A clause as a sentence; what is one already stays one."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def seen(value: object) -> object:
    """A value that a page shows. Characters that cannot be seen, or that turn the order of others
    round, are shown as a replacement character, as ``dom.js`` does."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", value) if type(value) is str else value


def code(text: str) -> markupsafe.Markup:
    """A text whose `quoted` parts become ``<code>``, escaped all of it; an odd backtick stays."""
    parts = _QUOTED.split(_UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text))
    made = [
        markupsafe.Markup("<code>{}</code>").format(part) if i % 2 else markupsafe.escape(part)
        for i, part in enumerate(parts)
    ]
    return markupsafe.Markup("").join(made)


def curly(text: str) -> str:
    """A text of ours with the apostrophes that pages have; what is `quoted` is left as it is."""
    parts = _QUOTED.split(text)
    for i in range(0, len(parts), 2):
        parts[i] = _APOSTROPHE.sub("\N{RIGHT SINGLE QUOTATION MARK}", parts[i])
    return "".join(part if i % 2 == 0 else f"`{part}`" for i, part in enumerate(parts))


def plain(text: str) -> str:
    """The same where there is no markup, as in an attribute."""
    return _QUOTED.sub(r"\1", text)


def pod_path(uid: str) -> str:
    """The address of a pod's page; a UID is whatever the runtime says it is."""
    return f"/pods/{urllib.parse.quote(uid, safe='')}"


def wall_time(ns: int) -> str:
    """Nanoseconds since 1970 as ``2026-11-29 14:32:40.123 UTC``; not known for 0 and nonsense."""
    if ns <= 0:
        return "not known"
    try:
        moment = dt.datetime.fromtimestamp(ns / 1e9, tz=dt.UTC)
    except (OverflowError, ValueError, OSError):
        return "not known"
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{ns // 1_000_000 % 1000:03d} UTC"


def says_more(reason: str, code: int | None) -> bool:
    """Whether a runtime's reason tells more than what is said of the exit code."""
    return bool(reason) and reason.lower() != exit_meaning(code, reason).lower()


def exit_meaning(code: int | None, reason: str = "") -> str:
    """What an exit code means: 128 + N is death by signal N; OOM only if the runtime says so."""
    if code is None:
        return "exit code not known"
    if reason == "OOMKilled":
        return "killed by SIGKILL: out of memory"
    if code == 255 and reason == "Unknown":
        # containerd's word for a container whose shim it found gone.
        return "the runtime lost track of it and does not know how it ended"
    if code in _EXIT_WORDS:
        return _EXIT_WORDS[code]
    if 128 < code < 128 + 65:
        try:
            name = signal.Signals(code - 128).name
        except ValueError:
            name = f"signal {code - 128}"
        if name == "SIGKILL":
            return "killed by SIGKILL; the runtime does not say out of memory"
        return f"ended by {name}"
    return "error"


FILTERS: Mapping[str, Callable[..., object]] = {
    "age": age,
    "code": code,
    "curly": curly,
    "duration": duration,
    "exit_meaning": exit_meaning,
    "first_seen": first_seen,
    "plain": plain,
    "pod_path": pod_path,
    "says_more": says_more,
    "sentence": sentence,
    "wall_time": wall_time,
}
"""The filters by the names that templates use."""
