"""Writes the lock files in ``.ci/lock``: every package pinned, with the hashes of its files.

Three files, resolved together so that one environment can hold them all:

* ``test.txt``: everything (what runs, what builds, what tests);
* ``run.txt``: what plegscope needs to run;
* ``build.txt``: what the build hook needs.

One file serves all platforms and all supported Pythons (environment markers tell them
apart). No index address is written down, so a mirror may serve the packages.

Run by ``make lock``, with uv beside it (``python -m uv``).
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / ".ci" / "lock"
HEADER = "# Made by `make lock` from pyproject.toml; do not edit.\n"


def requirements(pyproject: Path) -> dict[str, list[str]]:
    """Read what each lock file starts from.

    Args:
        pyproject: path of the project file.

    Returns:
        Requirement lines by lock name: ``run``, ``build`` and ``test`` (which has all).
    """
    data = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    run: list[str] = data["project"]["dependencies"]
    # hatchling adds `editables` to the build requirements of an editable install by itself.
    build: list[str] = [*data["build-system"]["requires"], "editables"]
    test: list[str] = data["dependency-groups"]["test"]
    return {"test": [*run, *build, *test], "run": run, "build": build}


def compile_lock(wanted: list[str], constraints: Path | None, upgrade: bool) -> str:
    """Resolve requirements with uv and return the lock file's text.

    Raises:
        subprocess.CalledProcessError: uv could not resolve them; it has said why.
    """
    command = [
        *(sys.executable, "-m", "uv", "pip", "compile", "-"),
        *("--universal", "--python-version", "3.11", "--generate-hashes"),
        *("--no-header", "--no-annotate", "--quiet", "--no-config"),
    ]
    if constraints is not None:
        command += ["--constraint", str(constraints)]
    if upgrade:
        command.append("--upgrade")
    done = subprocess.run(
        command, input="\n".join(wanted), stdout=subprocess.PIPE, text=True, check=True, cwd=LOCK
    )
    return HEADER + done.stdout


def main() -> int:
    """Write all lock files; the exit code is uv's."""
    LOCK.mkdir(parents=True, exist_ok=True)
    everything = LOCK / "test.txt"
    for name, wanted in requirements(ROOT / "pyproject.toml").items():
        constraints = None if name == "test" else everything
        try:
            text = compile_lock(wanted, constraints, upgrade=name == "test")
        except subprocess.CalledProcessError as exc:
            print(f"uv could not resolve {name}.txt; see above.", file=sys.stderr)
            return exc.returncode
        (LOCK / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"wrote .ci/lock/{name}.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
