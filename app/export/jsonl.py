"""The journal as it is: a record a line, as ``watch --format jsonl`` writes it."""

from collections.abc import Iterator

from app.export.source import Source
from app.hub.encode import encode


def lines(source: Source) -> Iterator[bytes]:
    """A line for each record."""
    for record in source.records():
        yield encode(record) + b"\n"
