"""``plegscope export`` and ``plegscope redact`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main
from app.export.formats import FORMATS
from app.values import EXPORTS
from tests.export.leaks import content, leaked, names_of
from tests.export.made import SECOND, scenario


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_written(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"out.{FORMATS[name].ending}"
    assert main(["export", str(scenario(tmp_path)), "--format", name, "-o", str(out)]) == 0
    assert f"{out}: {out.stat().st_size:,} bytes." in capsys.readouterr().out


def test_csv_comes_with_a_second_table(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert main(["export", str(scenario(tmp_path)), "--format", "csv", "-o", str(out)]) == 0
    assert (tmp_path / "out.relists.csv").read_text().startswith("seq,start_time")


def test_what_is_not_said_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(scenario(tmp_path))
    assert main(["export", path, "-o", str(tmp_path / "x")]) == 1
    assert main(["export", path, "--format", "jsonl"]) == 1
    assert main(["export", path, "--format", "pdf", "-o", str(tmp_path / "x")]) == 1
    told = capsys.readouterr().err
    assert "--format: say which one" in told
    assert "-o: give the name" in told
    assert "no export format" in told


def test_a_table_that_is_there_already_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out.relists.csv").write_text("mine")
    out = tmp_path / "out.csv"
    assert main(["export", str(scenario(tmp_path)), "--format", "csv", "-o", str(out)]) == 1
    assert "out.relists.csv exists already" in capsys.readouterr().err
    assert not out.exists()


def test_json_lines_are_exported_too(tmp_path: Path) -> None:
    lines, out = tmp_path / "a.jsonl", tmp_path / "a.json"
    assert main(["export", str(scenario(tmp_path)), "--format", "jsonl", "-o", str(lines)]) == 0
    assert main(["export", str(lines), "--format", "chrome", "-o", str(out)]) == 0
    assert len(json.loads(out.read_bytes())["traceEvents"]) > 100


@pytest.mark.parametrize("name", FORMATS)
def test_a_part_is_exported(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, whole, part = str(scenario(tmp_path)), tmp_path / "whole", tmp_path / "part"
    export = ("export", path, "--format", name, "-o")
    assert main([*export, str(whole)]) == 0
    assert main([*export, str(part), "--from", "10s", "--to", "12.5s"]) == 0
    assert 100 < part.stat().st_size < whole.stat().st_size
    if name == "jsonl":
        times = [json.loads(line)["t"] for line in part.read_text().splitlines()]
        assert max(times) <= 12.5 * SECOND
        assert min(t for t in times if t >= 10 * SECOND) < 11.5 * SECOND
        # What is told to begin from is as old as it is.
        assert min(times) < 10 * SECOND
    capsys.readouterr()
    assert main([*export, str(tmp_path / "x"), "--from", "12s", "--to", "10s"]) == 1
    assert main([*export, str(tmp_path / "x"), "--from", "12h"]) == 1
    told = capsys.readouterr().err
    assert "--to: give a time after --from." in told
    assert "Nothing was recorded in this stretch." in told
    assert not (tmp_path / "x").exists()


def test_what_is_offered_is_what_there_is() -> None:
    assert set(FORMATS) == set(EXPORTS)


def test_a_redacted_copy_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = scenario(tmp_path), tmp_path / "out.mcap"
    assert main(["redact", str(path), "-o", str(out)]) == 0
    assert "messages" in capsys.readouterr().out
    assert leaked(names_of(path), content(out)) == []


def test_files_redacted_with_one_key_agree(tmp_path: Path) -> None:
    path = str(scenario(tmp_path))
    for name in ("a", "b"):
        out = str(tmp_path / f"{name}.csv")
        given = ["--redact", "--key-file", str(tmp_path / "key"), "--container-names"]
        assert main(["export", path, "--format", "csv", *given, "-o", out]) == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert "container-" in (tmp_path / "a.csv").read_text()


def test_redact_asks_where_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redact", str(scenario(tmp_path))]) == 1
    assert "-o: give the name" in capsys.readouterr().err
