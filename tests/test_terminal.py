"""Standard streams that are closed, full or gone, and texts that would command a terminal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from app import terminal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("containerd 2.1.9 on höst", "containerd 2.1.9 on höst"),
        ("\x1b[31mred\x1b]0;title\x07", r"\x1b[31mred\x1b]0;title\x07"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\u202eevil", r"\u202eevil"),
        ("nul\0nul", r"nul\x00nul"),
        ("/tmp/\udcff.yaml", r"/tmp/\udcff.yaml"),
    ],
)
def test_what_is_not_printable_is_escaped(text: str, shown: str) -> None:
    assert terminal.plain(text) == shown


def test_a_letter_that_the_terminal_has_not_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    with os.fdopen(write, "w", encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        terminal.say("höst …\n")
    with os.fdopen(read, encoding="ascii") as told:
        assert told.read() == "h\\xf6st \\u2026\n"


# Python is to buffer its output, as it does for a user.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}


def run(redirect: str, *words: str) -> subprocess.CompletedProcess[str]:
    """``plegscope`` by a shell, with its standard streams redirected as a shell does it."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirect}', "sh", sys.executable, "-m", "app", *words],
        capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT,
    )  # fmt: skip


PRINTING = [("version",), ("--help",), ("--version",), ("watch", "--help"), ("scenarios",)]


@pytest.mark.parametrize("words", PRINTING)
def test_a_full_disk_is_told_in_a_sentence(words: tuple[str, ...]) -> None:
    done = run(">/dev/full", *words)
    assert done.returncode == 1
    assert done.stderr.startswith("plegscope: Standard output cannot be written: No space")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [("version",), ("--help",), ("scenarios",)])
def test_a_closed_output_is_told_in_a_sentence(words: tuple[str, ...]) -> None:
    done = run(">&-", *words)
    assert done.returncode == 1
    assert done.stderr.startswith("plegscope: Standard output cannot be written")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", PRINTING)
def test_a_reader_that_has_left_is_no_error(words: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as out:
        done = subprocess.run(
            [sys.executable, "-m", "app", *words],
            stdout=out, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
            env=ENVIRONMENT,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("redirect", ["2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-"])
def test_an_error_that_cannot_be_told_still_has_its_exit_code(redirect: str) -> None:
    assert run(redirect, "watch", "--port", "x").returncode == 1


def test_a_closed_input_is_no_matter() -> None:
    done = run("<&-", "version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("plegscope ")
