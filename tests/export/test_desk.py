"""What the web can export: the journal as it is, a run, a recording; redacted if asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.errors import RecordingError, RecordingUnknown, StageError
from app.export.desk import Exports
from app.journal.journal import Journal
from app.stage.stage import Stage
from app.web.exports import Asked, FormatName
from tests.export.leaks import leaked, names_of
from tests.export.made import played, scenario, story


def desk(paths: Sequence[Path] = (), stage: Stage | None = None) -> Exports:
    journal = Journal()
    for record in story():
        journal.append(record)

    async def found(files: Sequence[str]) -> Sequence[Path]:
        if files == ("gone",):
            raise RecordingUnknown("It is not in reach. Choose another.")
        return paths

    return Exports(journal, "web-1's node", simulated=True, stage=stage, paths=found)


def asked(format_: FormatName = "jsonl", **more: object) -> Asked:
    return Asked.model_validate({"format": format_, **more})


def test_the_journal_as_it_is_now() -> None:
    exports = desk()
    made = exports.live(asked())
    exports._journal.append(story()[0])
    assert made.name == "plegscope-web-1's node.jsonl"
    assert len(b"".join(made.pieces).splitlines()) == len(story())


def test_redacted_even_in_its_name() -> None:
    made = desk().live(asked(redact=True))
    assert made.name == "plegscope-export.jsonl"
    text = b"".join(made.pieces)
    assert b"web-1" not in text
    assert b"pod-1" in text


@pytest.mark.parametrize("name", ["perfetto", "chrome", "csv", "html"])
def test_each_format(name: FormatName) -> None:
    made = desk().live(asked(name))
    assert made.media_type
    assert len(b"".join(made.pieces)) > 200


def test_the_second_table() -> None:
    made = desk().live(asked("csv", table="relists"))
    assert made.name.endswith(".relists.csv")
    assert b"".join(made.pieces).startswith(b"seq,start_time")


async def test_a_run() -> None:
    stage = Stage()
    pairs = [("scenario", "storm"), ("duration", "20s")]
    made = await desk(stage=stage).run(pairs, asked())
    assert made.name == "plegscope-storm-7.jsonl"
    lines = [json.loads(line) for line in b"".join(made.pieces).splitlines()]
    assert lines == json.loads(await _run_records(stage, pairs))["records"]
    with pytest.raises(StageError):
        await desk(stage=stage).run([("scenario", "nothing")], asked())
    stage.close()


async def _run_records(stage: Stage, pairs: list[tuple[str, str]]) -> bytes:
    import gzip

    return gzip.decompress(await stage.records(pairs))


async def test_a_recording(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    made = await desk([path]).recording(["lossy-stream.mcap"], asked(container_names=True))
    assert len(b"".join(made.pieces).splitlines()) == len(played()[1])
    made = await desk([path]).recording([], asked("chrome", redact=True))
    assert leaked(names_of(path), b"".join(made.pieces)) == []


async def test_a_recording_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingUnknown):
        await desk().recording(("gone",), asked())
    with pytest.raises(RecordingError, match="Name one of them"):
        await desk([tmp_path, tmp_path]).recording((), asked())
    with pytest.raises(RecordingUnknown, match="no recordings here"):
        await Exports(Journal(), "x", simulated=False).recording((), asked())
    vanished = await desk([tmp_path / "vanished"]).recording((), asked())
    with pytest.raises(RecordingError, match="cannot be read"):
        next(vanished.pieces)
