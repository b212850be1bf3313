"""A private containerd: started, stopped, killed, frozen, and removed without a trace."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import grpc

from tests.lab import proc
from tests.lab.config import containerd_config
from tests.lab.cri import IMAGES, Cri
from tests.lab.errors import LabError, LabUnavailable
from tests.lab.image import IMAGE, build
from tests.lab.packages import Binaries, fetch, locked

BASE = Path("/run/plegscope-lab")
"""Instances live here: a socket's path has at most 107 bytes, so it must be short."""

SHIM_SOCKETS = Path("/run/containerd/s")
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 60.0
OWNED = "t-"


class Containerd:
    """One instance of containerd `version` ("1.6", "1.7" or "2").

    In ``with`` it is started, and purged at the end whatever happens. An instance with a
    `name` outlives its process and is found again by that name (the hand tool does so); one
    without belongs to this process, and `sweep` removes it should this process die first.
    Pods keep running while containerd is stopped, killed or restarted.
    """

    def __init__(self, version: str, *, name: str = "", log_level: str = "info") -> None:
        self.version = version
        self.name = name or f"{OWNED}{secrets.token_hex(3)}"
        self.log_level = log_level
        self.directory = BASE / self.name
        self.socket = self.directory / "c.sock"
        self.config = self.directory / "config.toml"
        self.log_file = self.directory / "containerd.log"
        self.cgroup = f"/plegscope-lab-{self.name}"
        self._popen: subprocess.Popen[bytes] | None = None
        self._owner: IO[str] | None = None

    def __enter__(self) -> Containerd:
        try:
            self.start()
        except BaseException:
            self.purge()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.purge()

    @property
    def endpoint(self) -> str:
        """The CRI endpoint, ``unix:///…``."""
        return f"unix://{self.socket}"

    @property
    def binaries(self) -> Binaries:
        """The programs in use; fetched on first need."""
        return fetch(self.version)

    @property
    def pid(self) -> int:
        """containerd's pid, or 0 when it does not run."""
        if self._popen:
            return self._popen.pid if self._popen.poll() is None else 0
        return next(iter(proc.daemons(self.config)), 0)

    def log_tail(self, lines: int = 15) -> str:
        """The last lines containerd logged."""
        with contextlib.suppress(OSError):
            return "\n".join(self.log_file.read_text(errors="replace").splitlines()[-lines:])
        return ""

    # Life and death

    def start(self) -> None:
        """Start it unless it runs; returns when the CRI answers and has the lab's image."""
        if self.pid:
            return
        binaries = self.binaries
        self._make_directory()
        self.config.write_text(
            containerd_config(
                binaries.config_version,
                self.directory,
                self.socket,
                binaries.path("runc"),
                log_level=self.log_level,
            )
        )
        with self.log_file.open("ab") as log:
            self._popen = subprocess.Popen(
                [str(binaries.path("containerd")), "--config", str(self.config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                env=self._environment(),
                # A signal to the test run's process group must not reach it.
                start_new_session=True,
            )
        with Cri(self.endpoint) as cri:
            self._wait(lambda: cri.call("Version", timeout_s=1.0, wait_for_ready=True))
            if not self._has_image(cri):
                self._import_image()
                self._wait(lambda: self._has_image(cri))

    def stop(self) -> None:
        """SIGTERM, as a service manager does; SIGKILL if that is not heeded in a minute."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self._end(signal.SIGKILL)

    def restart(self, number: int = signal.SIGTERM) -> None:
        """End it with the signal `number` and start it again; pods are kept."""
        self._end(number)
        self.start()

    def freeze(self) -> None:
        """SIGSTOP: from now on it accepts connections and answers nothing."""
        self._signal(signal.SIGSTOP)
        pid = self.pid
        self._poll(lambda: proc.state(pid) == "T", "does not stop")

    def thaw(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def recover(self) -> None:
        """Bring it back into service from whatever a test left it in: frozen, stopped, purged."""
        if self.pid:
            self.thaw()
        self.start()

    def purge(self) -> None:
        """End containerd, its shims and its containers, and remove all that it has made.

        Works in every state and may be repeated. The downloaded programs are kept.
        """
        self._end_processes()
        if self.directory.exists():
            # Under the lock `sweep` does not see a directory that is half gone.
            with locked(BASE / "lock"):
                self._remove_directory()

    def leftovers(self) -> list[str]:
        """What still exists of this instance, in words; empty after `purge`."""
        found = [f"containerd {pid}" for pid in proc.daemons(self.config)]
        found += [f"shim {pid}" for pid in proc.shims(self.socket)]
        found += [f"container process {pid}" for pid in proc.members(self.cgroup)]
        found += [f"mount {point}" for point in proc.mounts(self.directory)]
        found += [f"cgroup {path}" for path in proc.cgroup_directories(self.cgroup)]
        return found + ([f"directory {self.directory}"] if self.directory.exists() else [])

    # Details

    def _end_processes(self) -> None:
        self.kill()
        bundles = self.directory / "state/io.containerd.runtime.v2.task/k8s.io"
        served = {bundle.name for bundle in bundles.glob("*")}
        # A shim can outlive its bundle: 2.x forgets those of pods whose pause process died.
        served |= set(proc.shims(self.socket).values())
        proc.end_all(lambda: [*proc.members(self.cgroup), *proc.shims(self.socket)])
        proc.unmount_all(self.directory)
        proc.remove_cgroups(self.cgroup)
        for task in served:
            self._shim_socket(task).unlink(missing_ok=True)

    def _remove_directory(self) -> None:
        shutil.rmtree(self.directory)
        if self._owner:
            self._owner.close()
            self._owner = None

    def _make_directory(self) -> None:
        BASE.mkdir(mode=0o700, exist_ok=True)
        # Under the lock `sweep` does not see a directory that is not yet marked as owned.
        with locked(BASE / "lock"):
            for part in ("cni", "opt"):
                (self.directory / part).mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.name.startswith(OWNED) and not self._owner:
                self._owner = (self.directory / "owner").open("w")
                fcntl.flock(self._owner, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _shim_socket(self, task: str) -> Path:
        """Where the shim that was started for a task (a sandbox's id) listens."""
        key = f"{self.socket}/k8s.io/{task}"
        return SHIM_SOCKETS / hashlib.sha256(key.encode()).hexdigest()

    def _environment(self) -> dict[str, str]:
        system = os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        return {"PATH": f"{self.binaries.directory}:{system}"}

    def _has_image(self, cri: Cri) -> bool:
        answer = cri.call("ImageStatus", service=IMAGES, timeout_s=5.0, image={"image": IMAGE})
        return bool(answer.image.id)

    def _import_image(self) -> None:
        archive = self.directory / "image.tar"
        archive.write_bytes(build(self.binaries.path("busybox")))
        words = [str(self.binaries.path("ctr")), "--address", str(self.socket)]
        words += ["--namespace", "k8s.io", "images", "import", str(archive)]
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=self._environment(),
        )
        archive.unlink()
        if done.returncode != 0:
            raise LabError(
                f"containerd {self.version} did not take the image: {done.stderr.strip()}. "
                "Is there an overlay file system, and room on /run?"
            )

    def _signal(self, number: int) -> None:
        pid = self.pid
        if not pid:
            raise LabError(f"containerd {self.version} does not run. Start it first.")
        with proc.Process(pid) as process:
            process.signal(number)

    def _end(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            if pid := self.pid:
                with proc.Process(pid) as process:
                    process.signal(number)
                    # A frozen process takes SIGTERM only once it runs again.
                    process.signal(signal.SIGCONT)
                    if not process.ended(STOP_TIMEOUT_S):
                        process.signal(signal.SIGKILL)
                        process.ended(STOP_TIMEOUT_S)
        if self._popen:
            self._popen.wait(STOP_TIMEOUT_S)
            self._popen = None

    def _wait(self, succeeded: Callable[[], object]) -> None:
        """Repeat a call until it returns something true without an error from the runtime."""

        def tried() -> bool:
            if not self.pid:
                raise LabError(
                    f"containerd {self.version} ended at once. It logged:\n{self.log_tail()}"
                )
            with contextlib.suppress(grpc.RpcError):
                return bool(succeeded())
            return False

        self._poll(tried, "does not become ready")

    def _poll(self, condition: Callable[[], bool], problem: str) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not condition():
            if time.monotonic() > deadline:
                raise LabError(
                    f"containerd {self.version} {problem} within {START_TIMEOUT_S:.0f} s. "
                    f"It logged:\n{self.log_tail()}"
                )
            time.sleep(0.01)


def sweep() -> list[str]:
    """Purge instances whose process died before it could; returns their names."""
    swept: list[str] = []
    if not BASE.is_dir():
        return swept
    with locked(BASE / "lock"):
        for directory in BASE.glob(f"{OWNED}*"):
            owner = directory / "owner"
            with owner.open("a") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                orphan = Containerd("", name=directory.name)
                orphan._end_processes()
                orphan._remove_directory()
                swept.append(directory.name)
    return swept


def check_machine() -> None:
    """Raise LabUnavailable, with the way out, if private containerds cannot run here."""
    if not hasattr(os, "pidfd_open") or not proc.PROC.is_dir():
        raise LabUnavailable(
            "real containerd needs Linux. Run `make test` as root on Debian, for instance in a "
            "virtual machine."
        )
    if os.geteuid() != 0:
        raise LabUnavailable("real containerd needs root. Run `sudo make test`.")
    kinds = (proc.PROC / "filesystems").read_text().split()
    if "overlay" not in kinds and shutil.which("modprobe"):
        subprocess.run(["modprobe", "overlay"], capture_output=True, timeout=30, check=False)
        kinds = (proc.PROC / "filesystems").read_text().split()
    if "overlay" not in kinds:
        raise LabUnavailable(
            "real containerd needs the kernel's overlay file system. Run `modprobe overlay`."
        )
    below = [line.split() for line in (proc.PROC / "mounts").read_text().splitlines()]
    carrying = [m for m in below if f"{BASE}/".startswith(m[1].rstrip("/") + "/")]
    if carrying and max(carrying, key=lambda m: len(m[1]))[2] == "overlay":
        raise LabUnavailable(
            f"{BASE} lies on an overlay file system, which cannot carry another. "
            f"Run `mkdir -p {BASE} && mount -t tmpfs tmpfs {BASE}`."
        )
