"""containerd and promtool from Debian's packages: fetched, unpacked, never installed.

`fetch("1.6" | "1.7" | "2")` returns the binaries of that version, `promtool()` Prometheus' checker
of metrics and rules, out of a cache directory
(``$PLEGSCOPE_LAB_DIR``, else ``$XDG_CACHE_HOME/plegscope-lab``) that several processes may
use at once. apt is run with sources, lists, status and cache of our own, so the machine's
package state is only read: it tells which mirror to use. runc and busybox come from the
machine's own suite, since runc is linked against its libc.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.errors import LabError, LabUnavailable

SUITES = {"1.6": "bookworm", "1.7": "trixie", "2": "sid"}
"""Which Debian suite carries which containerd. sid moves, so "2" is whatever 2.x is there."""

ATTEMPTS = 3
PAUSE_S = 2.0
COMMAND_TIMEOUT_S = 600.0
LOCK_TIMEOUT_S = 1800.0
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
CONTAINERD_PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr")
HOST_PROGRAMS = ("runc", "busybox")
MARKER = "complete.json"


@dataclass(frozen=True)
class Binaries:
    """The unpacked programs of one version; `text` is what containerd says it is."""

    version: str
    text: str
    directory: Path

    @property
    def config_version(self) -> int:
        """2 for containerd 1.x, 3 for 2.x."""
        return 2 if self.version.startswith("1.") else 3

    def path(self, program: str) -> Path:
        """Where `program` is (containerd, containerd-shim-runc-v2, ctr, runc, busybox)."""
        return self.directory / program


def cache_directory() -> Path:
    """The lab's cache, outside of the source tree; made by whoever writes to it first."""
    chosen = os.environ.get("PLEGSCOPE_LAB_DIR")
    if chosen:
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base).absolute() / "plegscope-lab"


def host_suite() -> str:
    """The machine's Debian suite, such as ``bookworm``; LabUnavailable on anything else."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    if release.get("ID") != "debian" or not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise LabUnavailable(
            "containerd is taken from Debian packages and this is not Debian. "
            "Run `make test` as root on Debian, for instance in a virtual machine."
        )
    # Testing and unstable have no VERSION_CODENAME in some releases.
    return release.get("VERSION_CODENAME") or "sid"


def fetch(version: str, *, refresh: bool = False) -> Binaries:
    """The binaries of `version`, downloaded if the cache has none (or with `refresh`).

    Raises LabUnavailable if this is no Debian or the mirror cannot be reached, LabError if
    the packages turn out unusable here.
    """
    if version not in SUITES:
        raise LabError(f"no containerd {version!r} in the lab. Choose one of {', '.join(SUITES)}.")
    target = cache_directory() / "programs" / f"containerd-{version}"
    found = None if refresh else _complete(version, target)
    if found:
        return found
    own_suite = host_suite()
    with locked(cache_directory() / "fetch.lock"):
        # Another process may have fetched it while this one waited for the lock.
        found = None if refresh else _complete(version, target)
        return found or _install(version, target, own_suite)


def _complete(version: str, target: Path) -> Binaries | None:
    try:
        text = json.loads((target / MARKER).read_text())["containerd"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Binaries(version, str(text), target)


def _install(version: str, target: Path, own_suite: str) -> Binaries:
    with _filling(target) as (work, made):
        apt = _Apt(work, _mirror(work))
        wanted = {
            SUITES[version]: (["containerd"], CONTAINERD_PROGRAMS),
            "": (["runc", "busybox-static"], HOST_PROGRAMS),
        }
        for suite, (packages, programs) in wanted.items():
            unpacked = apt.unpacked(suite or own_suite, packages)
            for program in programs:
                _take(program, unpacked, made)
        said = _says(made / "containerd", SUITES[version])
        _says(made / "runc", own_suite)
        (made / MARKER).write_text(json.dumps({"containerd": said}) + "\n")
    return Binaries(version, said, target)


def promtool() -> Path:
    """Prometheus' checker, downloaded if the cache has none, from the machine's own suite.

    Raises LabUnavailable and LabError as `fetch` does.
    """
    target = cache_directory() / "programs" / "promtool"
    program = target / "promtool"
    if not program.exists():
        suite = host_suite()
        with locked(cache_directory() / "fetch.lock"):
            if not program.exists():
                with _filling(target) as (work, made):
                    unpacked = _Apt(work, _mirror(work)).unpacked(suite, ["prometheus"])
                    _take("promtool", unpacked, made)
                    _says(made / "promtool", suite)
    return program


@contextlib.contextmanager
def _filling(target: Path) -> Iterator[tuple[Path, Path]]:
    """Fill a directory beside `target` and rename it, so that a half-done one is never used.

    Yields a directory to work in and the one to fill.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as name:
        work = Path(name)
        made = work / "programs"
        made.mkdir()
        yield work, made
        if target.exists():
            target.rename(work / "old")
        made.rename(target)


def _take(program: str, unpacked: Path, made: Path) -> None:
    found = [p for p in unpacked.rglob(program) if p.parent.name.endswith("bin") and p.is_file()]
    if not found:
        raise LabError(
            f"Debian's package no longer contains {program}. "
            "Look at its file list and adapt tests/lab/packages.py."
        )
    shutil.copy2(found[0], made / program)


def _says(program: Path, suite: str) -> str:
    """The first line of ``program --version``, a proof that it runs on this machine."""
    done = subprocess.run(
        [str(program), "--version"], capture_output=True, text=True, timeout=30, check=False
    )
    if done.returncode != 0 or not done.stdout.strip():
        raise LabError(
            f"{program.name} of {suite} does not run here: {_last_line(done.stderr)}. "
            "If it names a libc version, use a newer Debian."
        )
    return " ".join(done.stdout.splitlines()[0].split())


class _Apt:
    """apt-get and dpkg with everything they write below `work`."""

    def __init__(self, work: Path, mirror: str) -> None:
        self._work = work
        self._mirror = mirror

    def unpacked(self, suite: str, packages: Sequence[str]) -> Path:
        """Download `packages` of `suite`; returns the directory they are unpacked in."""
        base = self._work / f"apt-{suite}"
        options = private_apt(base)
        sources = base / "sources.list"
        signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
        sources.write_text(f"deb {signed}{self._mirror} {suite} main\n")
        options += ["-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-"]
        debs = base / "debs"
        debs.mkdir(exist_ok=True)
        run_patiently(["apt-get", "-q", *options, "update"], base)
        run_patiently(["apt-get", "-q", *options, "download", *packages], debs)
        root = base / f"root-{packages[0]}"
        for deb in sorted(debs.glob("*.deb")):
            run_patiently(["dpkg", "-x", str(deb), str(root)], base, attempts=1)
            deb.unlink()
        return root


def private_apt(base: Path) -> list[str]:
    """apt options that keep lists, status, pins and cache below `base` (which is made)."""
    for part in ("lists/partial", "cache/archives/partial"):
        (base / part).mkdir(parents=True, exist_ok=True)
    (base / "status").touch()
    settings = {
        "Dir::State::Lists": base / "lists",
        "Dir::State::status": base / "status",
        "Dir::Cache": base / "cache",
        "Dir::Etc::preferences": "-",
        "Dir::Etc::preferencesparts": "-",
        "APT::Sandbox::User": "root",
        # Without it a failed update is a warning and exit status 0.
        "APT::Update::Error-Mode": "any",
        "Acquire::Languages": "none",
        "Acquire::Retries": "2",
        "Acquire::http::Timeout": "30",
        "Acquire::https::Timeout": "30",
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def _mirror(work: Path) -> str:
    """The Debian mirror this machine uses, from its own apt configuration."""
    form = ["--format", "$(REPO_URI) $(LABEL) $(COMPONENT)", "Created-By: Packages"]
    own = private_apt(work / "apt-mirror")
    # apt names a source only once its list is there: read the machine's lists, and if it has
    # none (fresh containers), fetch them into a place of our own.
    for options, update in (([], False), (own, True)):
        if update:
            run_patiently(["apt-get", "-q", *options, "update"], work)
        listed = run_patiently(["apt-get", *options, "indextargets", *form], work, attempts=1)
        for line in listed.splitlines():
            uri, _, rest = line.partition(" ")
            if rest == "Debian main":
                return uri
    raise LabUnavailable(
        "no Debian mirror among this machine's apt sources. "
        "Add one to /etc/apt/sources.list.d and try again."
    )


def run_patiently(words: Sequence[str], cwd: Path, attempts: int = ATTEMPTS) -> str:
    """Run a command, again after a pause if it fails; its output, or LabUnavailable."""
    for attempt in range(1, attempts + 1):
        try:
            done = subprocess.run(
                words,
                cwd=cwd,
                capture_output=True,
                text=True,
                timeout=COMMAND_TIMEOUT_S,
                check=False,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
            )
            if done.returncode == 0:
                return done.stdout
            problem = _last_line(done.stderr)
        except subprocess.TimeoutExpired:
            problem = f"no end after {COMMAND_TIMEOUT_S:.0f} s"
        if attempt < attempts:
            time.sleep(PAUSE_S * attempt)
    shown = " ".join(word for word in words if "=" not in word and word != "-o")
    raise LabUnavailable(
        f"`{shown}` failed {attempts} times: {problem}. "
        "Check that the Debian mirror can be reached, then run `python -m tests.lab fetch`."
    )


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].removesuffix(".") if lines else "it gave no reason"


@contextlib.contextmanager
def locked(path: Path, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold an exclusive lock on `path` against other processes; LabError after `timeout_s`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        deadline = time.monotonic() + timeout_s
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise LabError(
                        f"another process has held {path} for {timeout_s:.0f} s. "
                        f"Find it with `fuser {path}` and end it."
                    ) from None
            if not told:
                print(f"waiting for another process to release {path}", file=sys.stderr)
                told = True
            time.sleep(0.2)
        yield
