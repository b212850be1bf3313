"""The command line that shows the same again."""

import shlex
from urllib.parse import urlsplit

from app.settings import SETTINGS, Setting, Settings
from app.values import SECOND

LEFT_OUT = frozenset({"record_to", "browser", "duration_ns"})
"""What concerns one start only: a file that exists by now, a browser that is open, when to end."""

MOST_VIEW = 500
"""Characters of an address that are shown."""


def command_line(command: str, settings: Settings) -> str:
    """``plegscope`` with the arguments that are not what they are by default, for a shell."""
    plain = Settings()
    words = ["plegscope", command]
    for setting in SETTINGS:
        value = getattr(settings, setting.field)
        if command not in setting.commands or setting.field in LEFT_OUT:
            continue
        if value != getattr(plain, setting.field):
            words += _told(setting, value)
    return shlex.join(words)


def _told(setting: Setting, value: object) -> list[str]:
    dashed = [setting.flag] if setting.flag.startswith("-") else []
    if setting.parse is None:
        return dashed
    values = value if setting.many and isinstance(value, tuple) else (value,)
    return [word for one in values for word in (*dashed, _text(setting, one))]


def _text(setting: Setting, value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if setting.field.endswith("_ns") and isinstance(value, int):
        return f"{value // SECOND}s" if value % SECOND == 0 else f"{value // (SECOND // 1000)}ms"
    return f"{value:g}" if isinstance(value, float) else str(value)


def view_of(address: str) -> str:
    """What of a page's address says what it shows: path and query, without host and token. Empty
    if it is the plain node page, or nothing of ours."""
    try:
        parts = urlsplit(address[: 4 * MOST_VIEW])
    except ValueError:
        return ""
    if not parts.query or parts.path != "/" or "token=" in parts.query:
        return ""
    return f"{parts.path}?{parts.query}"[:MOST_VIEW]
