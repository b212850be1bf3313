"""Makes ``.venv`` and installs plegscope into it, quickly when nothing has changed.

``python3 .ci/setup_env.py run`` installs what plegscope needs to run and to be built,
``... test`` what its checks and tests need as well. Packages come from the lock files,
every file checked against its hash; then plegscope itself is installed editable, which
runs the build hook. A stamp in ``.venv`` holds digests of what was installed from, so a
second run does nothing.

Runs under whatever ``python3`` a machine has and uses the standard library only. If that
one is too old it looks for a newer one beside it. Every failure is a sentence on standard
error that ends with what to do, and exit code 1.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "plegscope.json"

#: The oldest Python that is supported, and the newest to look for by name.
OLDEST = (3, 11)
NEWEST = (3, 14)

#: Lock files by purpose; "test" has all that "run" has.
LOCKS = {"run": ("run", "build"), "test": ("test",)}

#: What the build hook makes; a missing one means that it has to run again.
MADE = (
    "app/cri/pb/cri_pb2.py",
    "app/sim/pb/cri_changes_pb2.py",
    "app/export/pb/perfetto_pb2.py",
    "static/vendor/htmx/htmx.min.js",
)


class SetupError(Exception):
    """The environment cannot be made; the text says why and what to do."""


def say(text: str) -> None:
    """Tell the user what is going on, at once."""
    print(text, file=sys.stderr, flush=True)


def digest(paths: list[Path]) -> str:
    """One digest over the files' names and contents, and over the Python version."""
    total = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for path in paths:
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def find_newer_python() -> str | None:
    """The path of the newest supported Python on this machine, or None."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        # A version manager's shim may stand there for a Python that is not installed.
        if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return found
    return None


def is_debian() -> bool:
    """Whether packages come by apt-get here."""
    return shutil.which("apt-get") is not None and Path("/etc/debian_version").exists()


def apt_install(packages: list[str]) -> bool:
    """Install Debian packages without questions; the package lists are refreshed if need be.

    Args:
        packages: names.

    Returns:
        Whether they are installed now.
    """
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    options = ["-y", "-q", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=120"]
    install = ["apt-get", "install", "--no-install-recommends", *options, *packages]
    for command in (install, ["apt-get", "update", *options], install):
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if command is install and done.returncode == 0:
            return True
    say(done.stdout[-2000:])
    return False


def make_venv() -> None:
    """Make ``.venv`` with the running Python, unless a usable one is there.

    Raises:
        SetupError: the Python at hand has no venv or no pip for it.
    """
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if PYTHON.exists():
        asked = subprocess.run(
            [str(PYTHON), "-c", "import sys, pip; print('%d.%d' % sys.version_info[:2])"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        if asked.stdout.strip() == version:
            return
    say(f"Making .venv with Python {version}")
    # Debian ships venv without ensurepip unless python3-venv is installed.
    if subprocess.run(
        [sys.executable, "-c", "import ensurepip, venv"], stderr=subprocess.DEVNULL
    ).returncode:
        package = f"python{version}-venv"
        if not (is_debian() and os.geteuid() == 0 and apt_install([package])):
            how = f"sudo apt-get install -y {package}" if is_debian() else "your package manager"
            raise SetupError(
                f"Python {version} cannot make virtual environments here (venv or ensurepip is "
                f"missing). Install it with `{how}` and run the same command again."
            )
    shutil.rmtree(VENV, ignore_errors=True)
    if subprocess.run([sys.executable, "-m", "venv", str(VENV)]).returncode:
        raise SetupError(f"{VENV} could not be made; the reason is above. Remove it and try again.")


def pip(*arguments: str) -> bool:
    """Run the environment's pip; whether it went well. It says itself what did not."""
    command = [str(PYTHON), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    return subprocess.run([*command, *arguments], cwd=ROOT).returncode == 0


def installed() -> dict[str, str]:
    """Digests of what ``.venv`` was made from; empty if nothing is known."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def install(purpose: str) -> None:
    """Bring ``.venv`` up to date.

    Args:
        purpose: ``run`` or ``test``.

    Raises:
        SetupError: pip could not do it.
    """
    lock = ROOT / ".ci" / "lock"
    wanted = {name: digest([lock / f"{part}.txt" for part in LOCKS[name]]) for name in LOCKS}
    sources = [ROOT / "pyproject.toml", *sorted((ROOT / "proto").glob("*.*"))]
    build = digest(sources)
    have = installed()
    if wanted[purpose] != have.get(purpose) and wanted["test"] != have.get("test"):
        say("Installing packages into .venv (once; a minute or two)")
        files = [f"-r{lock / part}.txt" for part in LOCKS[purpose]]
        if not pip("--require-hashes", *files):
            raise SetupError(
                "The packages could not be installed; pip's reason is above. Check the network or "
                "pip's index settings and run the same command again."
            )
        have = {purpose: wanted[purpose]}
    if build != have.get("build") or not all((ROOT / made).is_file() for made in MADE):
        say("Building plegscope")
        if not pip("--no-deps", "--no-index", "--no-build-isolation", "-e", str(ROOT)):
            raise SetupError(
                "plegscope could not be built; the reason is above. "
                "Put that right and run the same command again."
            )
        have["build"] = build
    STAMP.write_text(json.dumps(have), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Entry point; returns the exit code."""
    purpose = arguments[0] if arguments else "run"
    if purpose not in LOCKS:
        say(f"There is nothing called {purpose!r} to set up; say one of: {', '.join(LOCKS)}.")
        return 1
    if sys.version_info[:2] < OLDEST:
        newer = find_newer_python()
        if newer is None:
            say(
                "plegscope needs Python {}.{} or newer, and python3 is {}.{} here. Install a newer "
                "one and run `make PYTHON=<its path>`.".format(*OLDEST, *sys.version_info[:2])
            )
            return 1
        os.execv(newer, [newer, str(Path(__file__).resolve()), *arguments])
    try:
        make_venv()
        install(purpose)
    except SetupError as exc:
        say(str(exc))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
