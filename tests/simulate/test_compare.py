"""``plegscope compare`` as people and scripts use it: what is printed, and the exit code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from app.cli import main
from app.engine.profiles import PROFILES
from app.stage.comparereport import CompareReport

LOSSY = """
title = "One pod that dies, unheard"
shows = "A death without a hint."
duration = "90s"

[[workload]]
kind = "replicas"
name = "web"
controller = "StatefulSet"
end_all = [{ at = "10.3s", ending = "oom-killed" }]

[[fault]]
kind = "events-lost"
at = "0s"
events = ["stopped"]
share = 1.0
"""


@pytest.fixture
def lossy(tmp_path: Path) -> str:
    path = tmp_path / "lossy.toml"
    path.write_text(LOSSY, encoding="utf-8")
    return str(path)


def printed(capsysbinary: pytest.CaptureFixture[bytes], *argv: str) -> bytes:
    assert main(["compare", *argv]) == 0
    told = capsysbinary.readouterr()
    assert told.err == b""
    return told.out


def test_three_profiles_on_one_page(lossy: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    page = printed(capsysbinary, lossy).decode()
    assert page.startswith(
        "One pod that dies, unheard\n"
        "Same node, same faults: scenario lossy, seed 7, 1 min 30 s each\n\n"
        # Harm comes first.
        "legacy left 1 end unseen for over a minute, had 1 end still unseen at the end"
    )
    flat = " ".join(page.split())
    assert "Nothing of that with kep and generic, whose cache was wrong for " in flat
    assert "No end or start was noticed by all of them." in flat
    assert "sooner than" not in flat
    assert "legacy 0 1 1 over 1 min 20 s 0 1 min 20 s - - 5" in flat
    assert "summed over all containers, so that it can be longer than the run" in flat
    rows = {line.split()[0]: line for line in page.splitlines() if line.startswith("  ")}
    assert set(PROFILES) & set(rows) == {"kep", "generic", "legacy"}
    assert "Differences, held against generic" in page
    assert re.search(r"0:10\.300  default/web-0 +end of web +legacy: unseen at the end", page)
    # What was not restarted cannot be compared.
    assert re.search(r"start of web #1 +legacy: did not happen here", page)
    assert all(one.isprintable() or one == "\n" for one in page)


def test_everything_as_one_object(lossy: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    out = printed(capsysbinary, lossy, "--profiles", "legacy,kep", "--format", "json")
    told = msgspec.json.decode(out, type=CompareReport)
    assert [run.name for run in told.runs] == ["legacy", "kep"]
    assert told.against == 0
    assert out == printed(capsysbinary, lossy, "--profiles", "legacy,kep", "--format", "json")


def test_the_same_bytes_in_every_process(lossy: str) -> None:
    def bytes_of(hash_seed: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-m", "app", "compare", lossy, "--format", "json"],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        ).stdout

    assert bytes_of("1") == bytes_of("2") != b""


def test_another_seed_another_length_another_runtime(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    words = ("crash-loop", "--profiles", "kep,generic", "--duration", "15s", "--format", "json")
    told = msgspec.json.decode(
        printed(capsysbinary, *words, "--seed", "5", "--runtime-like", "containerd-1.6"),
        type=CompareReport,
    )
    assert (told.seed, told.duration_ns) == (5, 15 * 10**9)
    # This runtime has no event stream, so nothing is found by a hint.
    for run in told.runs:
        assert "evented_pleg" not in run.figures.ends.by_source
    assert told.runs[0].figures.ends.all.count > 0


def test_more_differences_than_are_shown_are_counted(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    page = printed(capsysbinary, "storm", "--profiles", "kep,generic").decode()
    assert re.search(r"^  and \d+ more differences$", page, re.MULTILINE)


def test_no_difference_leaves_the_list_out(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    page = printed(capsysbinary, "polling-cost", "--duration", "5s").decode()
    assert "Nothing to compare." in page
    assert "difference\n" not in page


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["nothing-of-this-name"], "neither a scenario nor a file"),
        (["storm", "--profiles", "kep"], "--profiles: 'kep' is not two or three profiles"),
        (["storm", "--format", "jsonl"], "--format: 'jsonl' is no output format"),
        (["storm", "--runtime-like", "docker"], "docker"),
    ],
)
def test_refusals_are_sentences(
    argv: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *argv]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert words in told.err
    assert told.err.startswith("plegscope: ")
    assert "Traceback" not in told.err
