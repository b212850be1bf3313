"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

TESTS = """
import pytest
from app.engine.engine import Engine
from app.engine.settings import EngineSettings

def test_a1_tells_its_profile():
    assert Engine(EngineSettings(), None).profile.name == "polling"

@pytest.mark.parametrize("n", [1, 2])
def test_a2_worst_counts(n):
    assert n == 1

def test_a3_left_out():
    pytest.skip("no reason at all")

@pytest.fixture
def broken():
    raise RuntimeError

def test_a4_b1_broken(broken): ...

def test_k1_does_not_hold_there(): ...

def test_without_a_row(): ...
"""


def outcomes(tmp_path: Path, profile: str) -> dict[str, str]:
    """What the plugin wrote, by function."""
    script, report = tmp_path / "test_it.py", tmp_path / "report.json"
    script.write_text(TESTS)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", tmp_path),
            *("-p", "tests.conformance.plugin", f"--rows-report={report}"),
            *(f"--rows-profile={profile}", "-p", "no:cacheprovider", script),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert report.exists(), done.stdout + done.stderr
    told: dict[str, tuple[str, str]] = json.loads(report.read_text())
    return {node.partition("::")[2]: word for node, (word, _) in told.items()}


def test_under_another_profile_only_its_rows_are_run_with_it(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "polling") == {
        "test_a1_tells_its_profile": "passed",
        "test_a2_worst_counts": "failed",
        "test_a3_left_out": "left out",
        "test_a4_b1_broken": "failed",
    }


def test_under_the_default_one_everything_with_a_row_is_run(tmp_path: Path) -> None:
    told = outcomes(tmp_path, "kep")
    assert told["test_a1_tells_its_profile"] == "failed"
    assert told["test_k1_does_not_hold_there"] == "passed"
    assert "test_without_a_row" not in told
