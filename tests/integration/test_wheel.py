"""A wheel, installed into an empty environment, works without source tree and without Node."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatch_build import ASSETS

from tests.commands import STATE

# pip makes a wheel and an environment for whichever test is the first.
pytestmark = pytest.mark.timeout(600)

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path, path: str = os.environ["PATH"]) -> str:
    """Run a command that has to succeed; what it printed."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "PATH": path, "XDG_STATE_HOME": STATE},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, made with the build requirements that are installed here."""
    out = tmp_path_factory.mktemp("dist")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check")
    run(*pip, "--no-deps", "--no-index", "--no-build-isolation", "-w", out, ROOT, cwd=out)
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with nothing but the wheel and what it depends on."""
    venv = tmp_path_factory.mktemp("empty") / "venv"
    run(sys.executable, "-m", "venv", venv, cwd=venv.parent)
    pip = (venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--require-hashes", "-r", ROOT / ".ci" / "lock" / "run.txt", cwd=venv.parent)
    run(*pip, "--no-deps", "--no-index", wheel, cwd=venv.parent)
    return venv


def test_it_holds_what_was_made_and_nothing_of_the_workshop(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assets = {
        f"app/static/vendor/{asset.directory}/{name}"
        for asset in ASSETS
        for name, _ in asset.files.values()
    }
    made = {
        f"app/{room}/pb/{made}"
        for room, name in (("cri", "cri"), ("sim", "cri_changes"))
        for made in ("__init__.py", f"{name}_pb2.py", f"{name}_pb2.pyi")
    }
    assert assets | made | {"app/py.typed", "app/templates/page.html"} <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"app", next(top for top in tops if top.endswith(".dist-info"))}
    scenarios = {name for name in names if name.startswith("app/sim/scenarios/")}
    assert {f"app/sim/scenarios/{name}.toml" for name in ("demo", "churn", "storm")} <= scenarios
    lessons = {name for name in names if name.startswith("app/stage/lessons/")}
    assert any(name.endswith(".toml") for name in lessons)
    others = names - scenarios - lessons
    assert [name for name in others if name.endswith((".toml", ".proto"))] == []


def test_licences_are_shipped(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        texts = {name: archive.read(name) for name in archive.namelist() if "LICENSE" in name}
    assert {name.rsplit("/", 2)[-2] for name in texts} == {
        "licenses",
        *(asset.directory for asset in ASSETS),
    }
    assert all(len(text) > 500 for text in texts.values())


def test_the_demo_runs_from_it(environment: Path, tmp_path: Path) -> None:
    flags = ("--duration", "3s", "--no-browser", "--port", "0")
    # A PATH without anything: no Node, no git, no checkout's tools.
    out = run(environment / "bin" / "plegscope", "demo", *flags, cwd=tmp_path, path="/nonexistent")
    assert "http://127.0.0.1:" in out
    assert "Traceback" not in out
