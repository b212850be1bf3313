"""The formats that there are, by name: what each writes, and what it is."""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from app.export import chrome, jsonl, page, perfetto, tables
from app.export.source import Source
from app.replaying.excerpt import Before

Make = Callable[[Source], Iterator[bytes]]


class Format(msgspec.Struct, frozen=True):
    """One format. ``files``: by what is put into the file's name before its ending."""

    media_type: str
    ending: str
    files: dict[str, Make]


FORMATS: Final[dict[str, Format]] = {
    "chrome": Format("application/json", "json", {"": chrome.trace}),
    "csv": Format(
        "text/csv; charset=utf-8", "csv", {"": tables.lifecycle, "relists": tables.relists}
    ),
    "html": Format("text/html; charset=utf-8", "html", {"": page.page}),
    "jsonl": Format("application/jsonl", "jsonl", {"": jsonl.lines}),
    "perfetto": Format("application/octet-stream", "pftrace", {"": perfetto.trace}),
}

BEFORE: Final[dict[str, Before]] = {"html": "all", "csv": "names"}
"""What a format is told of the time before a part: a page finds out itself what it needs, and a
table has only the rows of the part."""
