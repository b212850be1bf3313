"""A runtime that says anything: the terminal gets text, and the end is orderly."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import grpc
import pytest

from tests.commands import environment
from tests.cri.fakes import FakeRuntime, Refuse, version
from tests.patience import PATIENCE_S

EVIL = "\x1b]0;mine\x07\x1b[2J\nplegscope: all is well\r\u202e\0"


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[FakeRuntime]:
    fake = FakeRuntime(tmp_path / "cri.sock")
    await fake.start()
    yield fake
    await fake.stop()


async def watch(runtime: FakeRuntime, *words: str, redirect: str = "") -> tuple[int, str, str]:
    """Exit code and output of a ``plegscope watch`` that a shell started and that ended by itself.

    Its standard input, output and error are ``redirect``ed as a shell does it.
    """
    command: Sequence[str] = (sys.executable, "-m", "app", "watch", "--duration", "1s", *words)
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", f'exec "$@" {redirect}', "sh", *command,
        "--runtime-endpoint", runtime.address,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment(),
    )  # fmt: skip
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


PAGE = ("--port", "0", "--no-browser")
LINES = ("--format", "jsonl")


@pytest.mark.parametrize("words", [PAGE, LINES])
async def test_what_it_calls_itself_cannot_command_the_terminal(
    words: tuple[str, ...], runtime: FakeRuntime
) -> None:
    runtime.answers["Version"] = version("containerd" + EVIL, "2.1.9" + EVIL)
    code, out, err = await watch(runtime, *words)
    greeting = out if words is PAGE else err
    assert code == 0
    assert r"2.1.9\x1b]0;mine\x07" in greeting
    assert all(line.isprintable() for line in (out + err).splitlines())
    assert "\nplegscope: all is well" not in out + err


async def test_its_error_text_cannot_either(runtime: FakeRuntime) -> None:
    runtime.answers["Version"] = Refuse(grpc.StatusCode.INTERNAL, EVIL)
    code, out, err = await watch(runtime, *PAGE)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert err.rstrip("\n").isprintable()


@pytest.mark.parametrize("words", [PAGE, LINES])
@pytest.mark.parametrize("redirect", [">&-", "<&- >&-"])
async def test_an_output_that_was_closed_is_told(
    redirect: str, words: tuple[str, ...], runtime: FakeRuntime
) -> None:
    code, _, err = await watch(runtime, *words, redirect=redirect)
    assert code == 1
    assert err.splitlines()[-1].startswith("plegscope: Standard output cannot be written")
    assert "Traceback" not in err


@pytest.mark.parametrize("words", [PAGE, LINES])
@pytest.mark.parametrize("redirect", ["2>&-", "<&-", "<&- 2>&-"])
async def test_other_standard_streams_need_not_be_there(
    redirect: str, words: tuple[str, ...], runtime: FakeRuntime
) -> None:
    code, out, _ = await watch(runtime, *words, redirect=redirect)
    assert code == 0
    assert "containerd" in out
