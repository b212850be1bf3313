"""``plegscope whatif``: the answer as a page, and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from app.cli import main
from app.engine.records import Note
from tests.recording.recorded import record_scenario
from tests.whatif.built import Built, one_life, row, sandbox
from tests.whatif.played import play

FLAT = str.maketrans({"\N{NO-BREAK SPACE}": " ", "\n": " "})


@pytest.fixture
def crash_loop(tmp_path: Path) -> Path:
    """A recording."""
    (tmp_path / "a.mcap").write_bytes(play("crash-loop", "kep", 7, 60).recording)
    return tmp_path / "a.mcap"


@pytest.mark.parametrize("profile", ["kep", "generic", "polling", "1.37", "legacy"])
def test_the_same_settings_give_the_same_records_byte_for_byte(
    profile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record_scenario(tmp_path / "a.mcap", "runtime-restart", profile=profile, seconds=90)
    assert main(["whatif", str(tmp_path / "a.mcap")]) == 0
    assert "The same, byte for byte: " in capsys.readouterr().out
    assert main(["whatif", str(tmp_path / "a.mcap"), "--profile", profile]) == 0
    assert "The same, byte for byte: " in capsys.readouterr().out


def test_other_records_are_told_with_their_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Written by hand: no engine would have told these findings.
    path = one_life(tmp_path / "a.mcap")
    assert main(["whatif", str(path)]) == 1
    out = capsys.readouterr().out.translate(FLAT)
    assert "Not the same: record 1 differs." in out
    assert "report it" in out


def test_the_page(crash_loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", str(crash_loop), "--profile", "generic", "--period", "2s"]) == 0
    out = capsys.readouterr().out
    flat = " ".join(out.translate(FLAT).split())
    for words in (
        "run again as generic, every 2 s",
        "later than with the recording",
        "fewer runtime calls",
        "evented_pleg",
        "The largest differences",
        "ListPodSandbox",
        "What this rests on",
        "What it cannot tell",
        "Polls come at another moment of their period in each run",
    ):
        assert words in flat, words
    assert max(map(len, out.splitlines())) < 160
    assert out.isprintable() or all(line.isprintable() for line in out.splitlines())


def test_json_holds_everything(crash_loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", str(crash_loop), "--profile", "polling", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["now"]["profile"] == "polling"
    assert told["then"]["profile"] == "kep"
    assert sum(told["counts"].values()) == len(told["rows"]) == sum(told["missed"].values())
    for one in told["rows"]:
        assert one["from_t"] <= one["to_t"]
        assert one["earliest"] <= one["now"]["t"] <= (one["latest"] or 10**18)
        assert one["shift"] == one["now"]["t"] - one["recorded"]["t"]
    later = [one for one in told["rows"] if one["verdict"] == "later"]
    assert all(one["shift"] >= 10_000_000 for one in later)
    recorded, now = told["calls"]
    assert recorded["GetContainerEvents"] == 1
    assert "GetContainerEvents" not in now


def test_names_cannot_command_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "web\x1b[2J\nnext"
    built = Built(tmp_path / "a.mcap", title=evil)
    built.begin()
    for state in ("running", "running", "exited", "exited"):
        rows = [
            msgspec.structs.replace(one, pod_name=evil, pod_namespace=evil)
            for one in (sandbox(), row(state, evil))
        ]
        built.relist(built.t + 1000, *rows)
    assert main(["whatif", str(built.close()), "--no-stream"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "next" in out
    assert "\nnext" not in out


def test_it_is_the_same_each_time(crash_loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["whatif", str(crash_loop), "--stream-loss", "0.3", "--format", "json"]
    assert main(argv) == 0
    first = capsys.readouterr().out
    assert main(argv) == 0
    assert capsys.readouterr().out == first
    assert main([*argv, "--seed", "8"]) == 0
    assert capsys.readouterr().out != first


def test_without_a_file_it_says_what_to_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif"]) == 1
    assert "give a recording" in capsys.readouterr().err


def test_a_journal_is_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note = Note(t=0, wall=0, level="info", text="hello")
    (tmp_path / "a.jsonl").write_text(str(note))
    assert main(["whatif", str(tmp_path / "a.jsonl"), "--profile", "generic"]) == 1
    assert "no MCAP file" in capsys.readouterr().err
