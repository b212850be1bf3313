"""Several nodes on one clock as one export: by the desk, and by the command."""

from __future__ import annotations

import base64
import csv
import gzip
import importlib
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.cli import main
from app.engine.records import Record
from app.errors import RecordingError
from app.export import page as page_module
from app.export.desk import Exports
from app.export.formats import FORMATS
from app.export.several import FLOWS, archive, each_apart, one_file
from app.export.source import Kept, Source
from app.journal.journal import Journal
from app.recording.format import SessionInfo
from app.replaying.show import Show
from app.web.exports import Asked, Cut
from tests.build import chain, note, pod_seen
from tests.export.made import numbered
from tests.recording.recorded import SECOND as S
from tests.recording.recorded import info
from tests.replaying.test_joined import file

official: Any = importlib.import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")

ORIGIN = 1_800_000_000 * S


def on_node(host: str, later_s: int = 0) -> SessionInfo:
    return info(
        session=f"{host}-{later_s}",
        host=host,
        title=f"containerd on {host}",
        simulated=False,
        origin=ORIGIN + later_s * S,
    )


def told(name: str, later_s: int = 0) -> list[Record]:
    """A pod of this name that is stopped and found, on a node that began so much later."""
    records = numbered(note(S, "it begins"), pod_seen(t=S, name=name), *chain(1, 2 * S))
    began = ORIGIN + later_s * S
    return [msgspec.structs.replace(one, wall=began + one.t) for one in records]


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Two nodes; what the second tells came five seconds later."""
    return [
        file(tmp_path / "one.mcap", on_node("node-a"), told("web")),
        file(tmp_path / "two.mcap", on_node("node-b.corp", 5), told("web", 5)),
    ]


def desk(paths: Sequence[Path]) -> Exports:
    async def found(_files: Sequence[str]) -> Sequence[Path]:
        return paths

    return Exports(Journal(), "x", simulated=False, paths=found)


def asked(name: str, **more: object) -> Asked:
    return Asked.model_validate({"format": name, **more})


async def made(paths: Sequence[Path], name: str, cut: Cut | None = None, **more: object) -> bytes:
    return b"".join((await desk(paths).recording((), asked(name, **more), cut or Cut(None))).pieces)


def on_page(data: bytes) -> list[dict[str, Any]]:
    """What a page says of each node."""
    text = data.decode().partition('id="data">')[2].partition("<")[0]
    nodes: list[dict[str, Any]] = json.loads(gzip.decompress(base64.b64decode(text)))["nodes"]
    return nodes


def entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert packed.testzip() is None
        return {name: packed.read(name) for name in packed.namelist()}


async def test_a_trace_has_each_nodes_tracks_apart(paths: list[Path]) -> None:
    trace = official.Trace.FromString(await made(paths, "perfetto"))
    names: dict[int, str] = {}
    parents: dict[int, int] = {}
    times: dict[str, list[int]] = {"node-a": [], "node-b.corp": []}
    flows: dict[str, set[int]] = {"node-a": set(), "node-b.corp": set()}
    clocks = 0
    for packet in trace.packet:
        clocks += packet.HasField("clock_snapshot")
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in names
            names[track.uuid], parents[track.uuid] = track.name, track.parent_uuid
        elif packet.HasField("track_event"):
            root = packet.track_event.track_uuid
            while parents[root]:
                root = parents[root]
            times[names[root]].append(packet.timestamp)
            flows[names[root]].update(packet.track_event.flow_ids)
    roots = [names[one] for one in names if not parents[one]]
    assert roots == ["node-a", "node-b.corp"]
    assert list(names.values()).count("shop/web") == 2
    assert clocks == 1
    # On one clock: what the other tells is five seconds later.
    assert min(times["node-b.corp"]) - min(times["node-a"]) == 5 * S
    assert flows["node-a"]
    assert flows["node-b.corp"] == {one + FLOWS for one in flows["node-a"]}


async def test_a_chrome_trace_names_the_node_of_each_process(paths: list[Path]) -> None:
    trace = json.loads(await made(paths, "chrome"))
    assert trace["otherData"]["title"] == "node-a, node-b.corp"
    processes = {
        one["pid"]: one["args"]["name"]
        for one in trace["traceEvents"]
        if one["name"] == "process_name"
    }
    assert sorted(processes.values()) == [
        "node-a: Node", "node-a: shop/web", "node-b.corp: Node", "node-b.corp: shop/web",
    ]  # fmt: skip
    assert {one["pid"] for one in trace["traceEvents"] if one["ph"] == "X"} <= set(processes)


async def test_a_table_names_the_node_and_is_in_order_of_time(paths: list[Path]) -> None:
    for table in ("lifecycle", "relists"):
        data = (await made(paths, "csv", table=table)).decode()
        rows = list(csv.DictReader(io.StringIO(data)))
        assert next(iter(rows[0])) == "node"
        assert {row["node"] for row in rows} == {"node-a", "node-b.corp"}
        times = [int(row["t_ns" if table == "lifecycle" else "start_t_ns"]) for row in rows]
        assert times == sorted(times)


async def test_lines_are_in_an_archive_and_play_on_the_same_clock(
    paths: list[Path], tmp_path: Path
) -> None:
    lines = entries(await made(paths, "jsonl"))
    assert list(lines) == ["node-a.jsonl", "node-b.corp.jsonl"]
    for name, data in lines.items():
        (tmp_path / name).write_bytes(data)
    before, after = Show(paths), Show([tmp_path / name for name in lines])
    for one, other in zip(before.films, after.films, strict=True):
        for film in (one, other):
            while film.advance():
                pass
        assert (one.origin, one.end_t) == (other.origin, other.end_t)


async def test_pages_begin_at_the_same_moment(paths: list[Path]) -> None:
    for cut, zero in ((Cut(None), 0), (Cut(None, S // 2, 9 * S), S // 2)):
        page = await made(paths, "html", cut)
        nodes = on_page(page)
        assert [one["name"] for one in nodes] == ["node-a", "node-b.corp"]
        assert b"<title>node-a, node-b.corp" in page
        for one in nodes:
            found = next(each for each in one["records"] if each["kind"] == "lifecycle")
            wall = one["state"]["wall"]
            # Time 0 of the film is the first record's, a second into its session.
            assert wall == ORIGIN + S + zero
            assert found["wall"] == wall + found["t"]
            assert one["incidents"] == 0


async def test_each_node_has_its_share_of_a_page(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "MOST_RECORDS", 6)
    for one in on_page(await made(paths, "html")):
        (gap,) = [each for each in one["records"] if each["kind"] == "gap"]
        after = one["records"][one["records"].index(gap) + 1 :]
        assert len(after) == 3
        # Nothing is known from the beginning of all to the first one that is there.
        assert (gap["from_t"], gap["t"]) == (0, after[0]["t"])


async def test_names_are_replaced_alike_on_all_nodes(paths: list[Path]) -> None:
    data = (await made(paths, "csv", redact=True)).decode()
    assert "web" not in data
    assert "corp" not in data
    rows = list(csv.DictReader(io.StringIO(data)))
    assert len({row["node"] for row in rows}) == 2
    assert all(row["node"].startswith("node-") for row in rows)
    assert len({row["pod"] for row in rows}) == 1
    for name, lines in entries(await made(paths, "jsonl", redact=True)).items():
        assert "corp" not in name
        assert b"corp" not in lines


async def test_a_node_without_anything_in_the_stretch_is_left_out(paths: list[Path]) -> None:
    early = entries(await made(paths, "jsonl", Cut(None, 0, 4 * S)))
    assert list(early) == ["node-a.jsonl"]
    with pytest.raises(RecordingError, match="Nothing was recorded in this stretch"):
        await made(paths, "perfetto", Cut(None, 900 * S, 901 * S))


async def test_what_is_one_node_is_exported_as_ever(paths: list[Path]) -> None:
    one = await desk(paths[:1]).recording((), asked("jsonl"), Cut(None))
    assert one.name == "plegscope-one.jsonl"
    assert b"".join(one.pieces).count(b"\n") == len(told("web"))
    several = await desk(paths).recording((), asked("jsonl"), Cut(None, 0, 20 * S))
    assert (several.name, several.media_type) == (
        "plegscope-one-part-nodes.jsonl.zip", "application/zip",
    )  # fmt: skip
    assert b"".join(several.pieces)[:2] == b"PK"
    assert several.read() > 0


@pytest.mark.parametrize("name", FORMATS)
def test_the_command_takes_several_files(
    name: str, paths: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = FORMATS[name].ending
    out = tmp_path / f"out.{ending}"
    given = ["export", *map(str, paths), "--format", name, "-o", str(out)]
    assert main(given) == 0
    written = {path.name for path in tmp_path.glob(f"out*.{ending}")}
    assert written == {
        "jsonl": {"out.node-a.jsonl", "out.node-b.corp.jsonl"},
        "csv": {"out.csv", "out.relists.csv"},
    }.get(name, {f"out.{ending}"})
    # Not over what is there.
    assert main(given) == 1
    assert "exists already" in capsys.readouterr().err


def test_files_of_one_node_become_one(paths: list[Path], tmp_path: Path) -> None:
    later = file(tmp_path / "later.mcap", on_node("node-a", 60), told("db", 60))
    out = tmp_path / "out.csv"
    given = ["export", str(paths[0]), str(later), "--format", "csv", "-o", str(out)]
    assert main(given) == 0
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert "node" not in rows[0]
    assert {row["pod"] for row in rows} == {"web", "db"}


def test_without_a_file_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--format", "csv", "-o", "x.csv"]) == 1
    assert "say which recording" in capsys.readouterr().err


def test_hostile_names_of_nodes_are_only_text() -> None:
    bad = "</script>../../=cmd|' /C'!A0\u202e"
    nodes: list[tuple[str, Source]] = [
        (name, Kept(told("web"), "x")) for name in (bad, bad.upper(), "..", "\0")
    ]
    files = [name for name, _pieces in each_apart(nodes)]
    assert len({name.lower() for name in files}) == 4
    assert all("/" not in name and not name.startswith(".") for name in files)
    assert entries(b"".join(archive(iter([(name, iter([b"x"])) for name in files]))))
    table = b"".join(one_file(nodes, "csv", 0)).decode()
    assert "\u202e" not in table
    assert official.Trace.FromString(b"".join(one_file(nodes, "perfetto", 0))).packet
    assert json.loads(b"".join(one_file(nodes, "chrome", 0)))
    page = b"".join(one_file(nodes, "html", 0))
    assert page.lower().count(b"</script") == 3
    assert [one["name"] for one in on_page(page)] == [name for name, _source in nodes]
