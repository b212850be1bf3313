"""What a page's script brings in is told to browsers in one piece."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.resources import static_dir
from app.web.scripts import preloads
from tests.web.scripts import brought_in

SCRIPTS = static_dir() / "js"


@pytest.mark.parametrize(
    "entry", ["node.js", "run.js", "replay.js", "lesson.js", "compare.js", "document.js"]
)
def test_all_that_a_script_needs_is_told_once_and_no_more(entry: str) -> None:
    told = preloads(SCRIPTS)(entry)
    assert len(set(told)) == len(told)
    assert {*told, entry} == {path.name for path in brought_in(entry)}


def test_the_nearest_come_first(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { x } from "./b.js";\nimport "./c.js";\n')
    (tmp_path / "b.js").write_text('export { y } from "./d.js";\n')
    (tmp_path / "c.js").write_text('import { a } from "./a.js";\nconst no = "./e.js";\n')
    (tmp_path / "d.js").write_text("")
    assert preloads(tmp_path)("a.js") == ("b.js", "c.js", "d.js")


def test_a_script_that_is_not_there_brings_in_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { x } from "./gone.js";\n')
    told = preloads(tmp_path)
    assert told("a.js") == ("gone.js",)
    assert told("gone.js") == ()
