"""The way in: Ctrl-C ends it without a word, whenever it comes."""

from __future__ import annotations

import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


@pytest.mark.parametrize("module", ["app.cli", "msgspec", "app.assembly", "grpc"])
def test_ctrl_c_in_the_middle_of_an_import_prints_nothing(module: str) -> None:
    code = (
        "import signal, sys\n"
        "class Stopping:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}: signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Stopping())\n"
        "sys.argv[1:] = ['demo', '--port', '0', '--no-browser', '--duration', '1s']\n"
        "from app.__main__ import run\n"
        "sys.exit(run())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_a_program_that_was_told_to_ignore_ctrl_c_goes_on_ignoring_it() -> None:
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "sys.argv[1:] = ['version']\n"
        "from app.__main__ import run\n"
        "run()\n"
        "signal.raise_signal(signal.SIGINT)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_is_this_way_in() -> None:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"plegscope": "app.__main__:run"}
