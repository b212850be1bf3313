"""What the web can export: the journal as it is, a run, a recording; redacted if asked for."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.errors import RecordingError, RecordingUnknown, StageError
from app.export.desk import Exports
from app.journal.journal import Journal
from app.stage.stage import Stage
from app.web.exports import Asked, Cut, FormatName
from tests.export.leaks import leaked, names_of
from tests.export.made import played, scenario, story

S = 1_000_000_000


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
    with pytest.raises(RecordingUnknown, match="no recordings here"):
        await Exports(Journal(), "x", simulated=False).recording((), asked())
    vanished = await desk([tmp_path / "vanished"]).recording((), asked())
    with pytest.raises(RecordingError, match="cannot be read"):
        next(vanished.pieces)


async def test_a_part_of_it_can_be_read_alone(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    cut = Cut(from_t=20 * S, to_t=25 * S)
    made = await desk([path]).recording((), asked(), cut)
    lines = [json.loads(line) for line in b"".join(made.pieces).splitlines()]
    assert made.name == "plegscope-lossy-stream-part.jsonl"
    first = next(i for i, one in enumerate(lines) if one["t"] >= 20 * S)
    assert lines[first - 1]["kind"] == "gap"
    assert {one["kind"] for one in lines[:first]} >= {"pod_seen", "relist_finished", "watching"}
    assert lines[-1]["t"] <= 25 * S
    assert made.read() == len(lines)
    # The same records as in the whole of it, on the player's clock.
    whole = [one for one in played()[1] if 20 * S <= one.t - played()[1][0].t <= 25 * S]
    assert len(lines) - first == len(whole)
    table = await desk([path]).recording((), asked("csv"), cut)
    rows = b"".join(table.pieces).decode().splitlines()[1:]
    assert rows
    assert all(20 * S <= int(row.split(",")[2]) <= 25 * S for row in rows)
    assert all(row.split(",")[5] for row in rows)
    page = b"".join((await desk([path]).recording((), asked("html"), cut)).pieces).decode()
    data = page.partition('id="data">')[2].partition("<")[0]
    told = json.loads(gzip.decompress(base64.b64decode(data)))
    assert told["run"]["duration_ns"] <= 5 * S
    assert told["records"][-1]["t"] <= 5 * S
    (gap,) = [one for one in told["records"] if one["kind"] == "gap" and one["hop"] == "viewer"]
    assert (gap["reason"], gap["t"]) == ("Only a part of the recording was exported.", 0)
    empty = await desk([path]).recording((), asked(), Cut(from_t=9000 * S))
    with pytest.raises(RecordingError, match="Nothing was recorded in this stretch"):
        list(empty.pieces)


async def test_several_files_of_a_node_are_one(tmp_path: Path) -> None:
    paths = [scenario(tmp_path), tmp_path / "second.mcap"]
    paths[1].write_bytes(paths[0].read_bytes() + b"x")
    made = await desk(paths).recording((), asked())
    assert made.name == "plegscope-lossy-stream.jsonl"
    lines = [json.loads(line) for line in b"".join(made.pieces).splitlines()]
    assert [one["seq"] for one in lines] == list(range(1, len(lines) + 1))
    with pytest.raises(RecordingError, match="has no node 3"):
        list((await desk(paths).recording((), asked(), Cut(node=3))).pieces)
