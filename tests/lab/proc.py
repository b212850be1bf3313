"""What an instance of containerd has on this machine: processes, mounts, cgroups.

Everything is found by marks that only that instance carries: the path of its configuration
in containerd's command line, the path of its socket in its shims', its cgroup in its
containers', its directory in its mounts. Processes are signalled through a pidfd that was
opened before the marks were checked, so a reused pid is never hit.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.lab.errors import LabError

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")


class Process:
    """A handle on one process that stays right when the pid is used again."""

    def __init__(self, pid: int) -> None:
        """Raises ProcessLookupError when there is no such process."""
        self.pid = pid
        self._fd = os.pidfd_open(pid)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the handle; the process goes on."""
        os.close(self._fd)

    def signal(self, number: int) -> None:
        """Send a signal; ProcessLookupError when the process has ended."""
        signal.pidfd_send_signal(self._fd, number)

    def ended(self, timeout_s: float) -> bool:
        """Wait up to `timeout_s` for the process to end; whether it has."""
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000))


def signal_all(processes: Iterable[Process], number: int) -> int:
    """Signal processes straight after one another, close them; how many were still there."""
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(process) for process in processes]
        sent = 0
        for process in opened:
            with contextlib.suppress(ProcessLookupError):
                process.signal(number)
                sent += 1
        return sent


def in_cgroup(pid: int, container_id: str) -> bool:
    """Whether a process lives in the cgroup of a container: a status may name a reused pid."""
    with contextlib.suppress(OSError):
        return container_id in re.split(r"\W", (PROC / str(pid) / "cgroup").read_text())
    return False


def state(pid: int) -> str:
    """The state letter of /proc/…/stat: ``T`` stopped, ``Z`` zombie, "" when it is gone."""
    with contextlib.suppress(OSError):
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    return ""


def _command_lines() -> Iterator[tuple[int, list[str]]]:
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                yield int(entry.name), words


def _follows(words: list[str], option: str, value: str) -> bool:
    return any(pair == (option, value) for pair in itertools.pairwise(words))


def daemons(config: Path) -> list[int]:
    """The containerd (one at most) that was started with the configuration file `config`."""
    return [
        pid
        for pid, words in _command_lines()
        if words[0].endswith("/containerd") and _follows(words, "--config", str(config))
    ]


def shims(socket: Path) -> dict[int, str]:
    """The shims of the containerd that listens on `socket`: pids to the ids they started with."""
    return {
        pid: words[words.index("-id") + 1]
        for pid, words in _command_lines()
        if "containerd-shim" in words[0]
        and _follows(words, "-address", str(socket))
        and "-id" in words
    }


def members(cgroup: str) -> list[int]:
    """The processes in `cgroup` (absolute, such as ``/lab/x``) or below it, without zombies."""
    found = []
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            lines = (entry / "cgroup").read_text().splitlines()
            paths = [line.split(":", 2)[2] for line in lines]
            if any(path == cgroup or path.startswith(f"{cgroup}/") for path in paths):
                pid = int(entry.name)
                if state(pid) not in ("", "Z"):
                    found.append(pid)
    return found


def mounts(directory: Path) -> list[str]:
    """Mount points at or below `directory`, the innermost first."""
    points = [line.split()[1] for line in (PROC / "mounts").read_text().splitlines()]
    below = [p for p in points if p == str(directory) or p.startswith(f"{directory}/")]
    return sorted(below, reverse=True)


def cgroup_directories(cgroup: str) -> list[Path]:
    """Where `cgroup` exists, in every hierarchy (version 1, 2 or both), the innermost first."""
    relative = cgroup.lstrip("/")
    tops = [CGROUPS / relative, *CGROUPS.glob(f"*/{relative}")]
    # os.walk, unlike Path.rglob, does not mind directories that vanish meanwhile.
    found = {walked for top in tops for walked, _, _ in os.walk(top)}
    return sorted(map(Path, found), reverse=True)


def end_all(find: Callable[[], list[int]], timeout_s: float = 60.0) -> None:
    """SIGKILL all that `find` returns, until it returns nothing; LabError if it goes on."""
    deadline = time.monotonic() + timeout_s
    while pids := find():
        for pid in pids:
            with contextlib.suppress(ProcessLookupError), Process(pid) as process:
                if pid in find():
                    process.signal(signal.SIGKILL)
                    process.ended(1.0)
        if time.monotonic() > deadline:
            raise LabError(
                f"processes {pids} do not end. Look at them with `ps`; the kernel may hang."
            )


def unmount_all(directory: Path) -> None:
    """Detach all mounts below `directory`; those in use vanish with their last user."""
    for _ in range(3):
        for point in mounts(directory):
            subprocess.run(["umount", "-l", point], capture_output=True, timeout=30, check=False)
        if not mounts(directory):
            return


def remove_cgroups(cgroup: str, timeout_s: float = 60.0) -> None:
    """Remove `cgroup` with all below it, waiting for the kernel to let go of the dead."""
    deadline = time.monotonic() + timeout_s
    while directories := cgroup_directories(cgroup):
        for directory in directories:
            with contextlib.suppress(OSError):
                directory.rmdir()
        if time.monotonic() > deadline:
            raise LabError(f"{directories[0]} cannot be removed. See its cgroup.procs.")
        if cgroup_directories(cgroup):
            time.sleep(0.02)
