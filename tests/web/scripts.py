"""Which scripts a page brings in, and what they look for in it."""

from __future__ import annotations

import re
from pathlib import Path

from app.resources import static_dir

SCRIPTS = static_dir() / "js"
_IMPORT = re.compile(
    r'^(?:(?:import|export) \{[^}]*\} from|import) "\./([\w-]+\.js)";', re.MULTILINE
)


def brought_in(entry: str) -> set[Path]:
    """The module of this name, and all that it imports, at whatever distance."""
    found: set[Path] = set()
    waiting = [entry]
    while waiting:
        script = SCRIPTS / waiting.pop()
        if script not in found:
            found.add(script)
            waiting += _IMPORT.findall(script.read_text())
    return found


def missing(script: Path, ids: set[str]) -> set[str]:
    """What a script looks for, or draws with, that is not among a page's ids."""
    text = script.read_text()
    wanted = set(re.findall(r'byId\("([\w-]+)"\)', text))
    wanted |= {f"g-{name}" for name in re.findall(r'glyph(?:\(|: )"([a-z-]+)"', text)}
    return wanted - ids


def ids_of(html: str) -> set[str]:
    """All ids in a document."""
    return set(re.findall(r'\sid="([^"]+)"', html))
