"""Which scripts a page's script brings in, so that a browser can be told of all of them at once.

A browser learns of a module's imports when it has read the module: with imports six deep it asks
six times over before anything runs. A page that lists them (``<link rel="modulepreload">``) has
them all after one round.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

_NEEDED: Final = re.compile(
    r'^(?:(?:import|export) \{[^}]*\} from|import) "\./([\w-]+\.js)";', re.MULTILINE
)


def preloads(folder: Path) -> Callable[[str], tuple[str, ...]]:
    """A function for templates: of a script in ``folder``, what it brings in, nearest first.

    The scripts do not change while a server runs, so each is looked into once. One that is not
    there brings in nothing: the browser says so better than a page that cannot be made.
    """

    @cache
    def needed(entry: str) -> tuple[str, ...]:
        found: dict[str, None] = {}
        wanted = [entry]
        for name in wanted:
            try:
                text = (folder / name).read_text(encoding="utf-8")
            except OSError:
                continue
            for other in _NEEDED.findall(text):
                if other not in found and other != entry:
                    found[other] = None
                    wanted.append(other)
        return tuple(found)

    return needed
