"""With CI=true a skipped test is a failure that keeps its reason."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parent / "conftest.py"

BODY = """
import pytest

@pytest.mark.skip(reason="no kernel")
def test_marked(): pass

def test_called(): pytest.skip("no root")

@pytest.mark.xfail(reason="known", strict=True)
def test_expected(): assert 0

def test_good(): pass
"""


def run(directory: Path, body: str, ci: str) -> str:
    """Run pytest on `body` with this project's conftest; its output."""
    (directory / "conftest.py").write_text(CONFTEST.read_text())
    (directory / "pytest.ini").write_text(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\n"
    )
    (directory / "test_it.py").write_text(body)
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "."]
    env = {**os.environ, "CI": ci}
    done = subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True)
    return done.stdout


def test_in_ci_skips_and_expected_failures_fail(tmp_path: Path) -> None:
    out = run(tmp_path, BODY, ci="true")
    assert "2 failed, 1 passed, 1 error" in out.splitlines()[-1]  # a skip by mark ends the setup
    assert "Left out, which CI does not allow: an expected failure (known)" in out
    assert "Left out, which CI does not allow: Skipped: no kernel" in out
    assert "Left out, which CI does not allow: Skipped: no root" in out


def test_elsewhere_they_stay_what_they_are(tmp_path: Path) -> None:
    assert "1 passed, 2 skipped, 1 xfailed" in run(tmp_path, BODY, ci="")


@pytest.mark.parametrize(("ci", "expected"), [("true", "1 error"), ("", "1 skipped")])
def test_a_module_cannot_skip_itself_in_ci(tmp_path: Path, ci: str, expected: str) -> None:
    body = "import pytest\npytest.skip('no browser', allow_module_level=True)\n"
    assert expected in run(tmp_path, body, ci).splitlines()[-1]
