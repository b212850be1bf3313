"""JSON lines: what was recorded comes out as it was."""

from __future__ import annotations

from pathlib import Path

from app.export.jsonl import lines
from app.export.source import open_source
from tests.export.made import hostile, kept, played


def test_what_is_written_is_read_as_the_same(tmp_path: Path) -> None:
    for number, records in enumerate((played()[1], hostile())):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"".join(lines(kept(*records))))
        assert tuple(open_source(path).records()) == records
