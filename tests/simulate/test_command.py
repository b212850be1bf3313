"""The commands as people and scripts use them: what is printed, where, and the exit code."""

import io
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.cli import main
from app.sim.library import names
from app.simulate import command

SMALL = """
title = "One pod that dies"
shows = "A death."
duration = "20s"

[[workload]]
kind = "replicas"
name = "web"
end_all = [{ at = "10s", ending = "oom-killed" }]
"""


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return str(path)


class Ran:
    """What a process of its own wrote."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            check=False,
        )
        self.code = done.returncode
        self.out = done.stdout
        self.error = done.stderr.decode()


def test_scenarios_are_listed_one_a_line_the_name_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(names())
    assert all(len(line.split()) > 3 for line in lines)


def test_what_a_scenario_shows_is_said_of_its_profile(
    small: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["simulate", small, "--profile", "legacy"]) == 0
    assert b"\n\nUnder kep (this is legacy): A death.\n\n" in capsysbinary.readouterr().out
    assert main(["simulate", small]) == 0
    assert b"\n\nUnder kep: A death.\n\n" in capsysbinary.readouterr().out


@pytest.mark.parametrize("output", ["table", "json", "jsonl"])
def test_the_same_seed_is_the_same_bytes_in_every_process(output: str) -> None:
    arguments = ("simulate", "lossy-stream", "--duration", "30s", "--format", output)
    first = Ran(*arguments, PYTHONHASHSEED="0")
    again = Ran(*arguments, PYTHONHASHSEED="4711")
    assert (first.code, first.error) == (0, "")
    assert len(first.out) > 500
    assert again.out == first.out
    assert Ran(*arguments, "--seed", "8").out != first.out


def test_jsonl_is_every_record_and_the_summary_last(
    small: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["simulate", small, "--format", "jsonl"]) == 0
    lines = [msgspec.json.decode(line) for line in capsysbinary.readouterr().out.splitlines()]
    *records, summary = lines
    assert summary["kind"] == "summary"
    assert summary["played"]["scenario"] == "small"
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    assert summary["records"] == len(records)
    assert summary["by_kind"] == Counter(record["kind"] for record in records)
    died = [one for one in records if one["kind"] == "lifecycle" and one["type"] == "ContainerDied"]
    assert [(one["reason"], one["source"]) for one in died] == [("OOMKilled", "evented_pleg")]


def test_json_is_one_object_with_settings_and_summary(
    small: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["simulate", small, "--format", "json", "--profile", "polling", "--seed", "3"]) == 0
    answer: dict[str, Any] = msgspec.json.decode(capsysbinary.readouterr().out)
    assert set(answer) == {"settings", "summary"}
    assert answer["settings"] == {
        "scenario": "small",
        "title": "One pod that dies",
        "profile": "polling",
        "runtime": "containerd-2",
        "seed": 3,
        "duration_ns": 20_000_000_000,
    }
    summary = answer["summary"]
    assert summary["differences"] == 0
    assert summary["difference"] == []
    assert list(summary["ends"]["by_source"]) == ["global"]


def test_on_another_runtime(small: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    arguments = ["simulate", small, "--format", "json", "--runtime-like", "containerd-1.6"]
    assert main(arguments) == 0
    answer = msgspec.json.decode(capsysbinary.readouterr().out)
    assert answer["settings"]["runtime"] == "containerd-1.6"
    assert list(answer["summary"]["ends"]["by_source"]) == ["global"]


def test_on_a_runtime_that_is_not_known(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", small, "--runtime-like", "docker"]) == 1
    told = capsys.readouterr().err
    assert "--runtime-like: 'docker' is no runtime that can be simulated: choose one of" in told


def test_a_table_for_people_is_the_default(
    small: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["simulate", small, "--duration", "15s"]) == 0
    text = capsysbinary.readouterr().out.decode()
    assert "One pod that dies" in text
    assert "15 s simulated" in text
    assert "what the runtime holds" in text


def test_what_is_not_there_is_told_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "no-such"]) == 1
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err.startswith("plegscope: 'no-such' is neither")
    assert "Traceback" not in caught.err


def test_without_a_scenario_it_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["simulate"])
    assert ended.value.code == 2
    assert "SCENARIO" in capsys.readouterr().err


def test_a_shadow_that_is_wrong_in_the_end_is_exit_code_1(
    small: str, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.sim.virtual import VirtualSession

    monkeypatch.setattr(VirtualSession, "settle", lambda _self: False)
    assert main(["simulate", small]) == 1
    caught = capsysbinary.readouterr()
    assert b"did not get to look" in caught.out
    assert caught.err.startswith(b"plegscope: In the end the shadow did not get to look")


def test_the_old_design_may_be_wrong_and_is_named(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert main(["simulate", "storm", "--duration", "40s", "--profile", "legacy"]) == 0
    caught = capsysbinary.readouterr()
    assert b"legacy is known for that" in b" ".join(caught.out.split())
    assert caught.err == b""


class Terminal(io.StringIO):
    """Standard error that is one, or not."""

    def __init__(self, *, tty: bool) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


@pytest.mark.parametrize(
    ("error_tty", "out_tty", "lines", "told"),
    [
        (True, False, False, True),
        (True, True, False, True),
        (False, True, False, False),
        (True, True, True, False),
        (True, False, True, True),
    ],
)
def test_progress_is_for_people_at_a_terminal_and_not_between_records(
    error_tty: bool, out_tty: bool, lines: bool, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal(tty=error_tty))
    monkeypatch.setattr(sys, "stdout", Terminal(tty=out_tty))
    assert command.may_tell_progress(lines=lines) is told


def test_whoever_has_read_enough_may_leave() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "app", "simulate", "demo", "--format", "jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"kind":"runtime"')
        process.stdout.close()
        found = process.stderr.read()
        assert found == b"", found.decode()
        assert process.wait(60) == 0


@pytest.mark.parametrize("output", ["table", "json", "jsonl"])
def test_a_full_disk_is_told_in_a_sentence(output: str) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123  (a device)
        done = subprocess.run(
            [sys.executable, "-m", "app", "simulate", "storm", "--format", output],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    told = done.stderr.decode()
    assert told.startswith("plegscope: Standard output cannot be written (No space left on device)")
    assert told.count("\n") == 1


def test_an_interrupt_ends_it_quietly(small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "play_to_end", interrupted)
    assert main(["simulate", small]) == 130
