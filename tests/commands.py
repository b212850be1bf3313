"""plegscope's commands as processes, for tests: what they print, and how they end."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import httpx

from tests.patience import PATIENCE_S

Found = TypeVar("Found")
STATE = tempfile.mkdtemp(prefix="plegscope-state-")
"""Where commands record that are given no other place; never the user's own."""
atexit.register(shutil.rmtree, STATE, ignore_errors=True)
ADDRESS = re.compile(r"^ +(http://\S+)$", re.MULTILINE)
ENDPOINT = re.compile(r"^ +endpoint +(unix://\S+)", re.MULTILINE)


def environment(**extra: str) -> dict[str, str]:
    """This process's environment without what would choose a runtime or open a browser."""
    chosen = ("CONTAINER_RUNTIME_ENDPOINT", "CRI_CONFIG_FILE", "DISPLAY", "WAYLAND_DISPLAY")
    kept = {key: value for key, value in os.environ.items() if key not in chosen}
    return {**kept, "XDG_STATE_HOME": STATE, **extra}


def until(found: Callable[[], Found], what: str, timeout_s: float = PATIENCE_S) -> Found:
    """What ``found`` gives, as soon as that is something: looked at once, to be asserted on."""
    deadline = time.monotonic() + timeout_s
    tick = threading.Event()
    while not (value := found()):
        assert time.monotonic() < deadline, f"waited {timeout_s:g} s in vain for {what}"
        tick.wait(0.02)
    return value


def get(url: str, **options: Any) -> httpx.Response:
    """GET, with patience and without the environment's proxies."""
    return httpx.get(url, timeout=PATIENCE_S, trust_env=False, **options)


class Command:
    """A running ``plegscope …`` with its output gathered by threads."""

    def __init__(self, *words: str, env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(env) if env is not None else environment(),
        )
        self._lines: dict[str, list[str]] = {"out": [], "err": []}
        self._reading = 2
        self._changed = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, args=("out", self.process.stdout), daemon=True),
            threading.Thread(target=self._read, args=("err", self.process.stderr), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def out(self) -> str:
        """Standard output so far."""
        with self._changed:
            return "".join(self._lines["out"])

    @property
    def err(self) -> str:
        """Standard error so far."""
        with self._changed:
            return "".join(self._lines["err"])

    def wait_out(self, pattern: re.Pattern[str], timeout_s: float = PATIENCE_S) -> str:
        """The first group of ``pattern`` in standard output, as soon as it is there."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            # What a process that has ended said last may still be in its pipe.
            while (match := pattern.search("".join(self._lines["out"]))) is None:
                left = deadline - time.monotonic()
                if left <= 0 or not self._reading:
                    raise AssertionError(f"no {pattern.pattern!r} in {self._lines}")
                self._changed.wait(left)
        return match.group(1)

    def address(self) -> str:
        """The dashboard's address, with its token if it has one."""
        return self.wait_out(ADDRESS)

    def endpoint(self) -> str:
        """The runtime's endpoint that it says it watches."""
        return self.wait_out(ENDPOINT)

    def ended(self, timeout_s: float = PATIENCE_S) -> int:
        """Wait for its end; returns the exit code."""
        code = self.process.wait(timeout_s)
        self._hear_out()
        return code

    def close(self) -> None:
        """Make sure it is gone."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE_S)
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        self._hear_out()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _hear_out(self) -> None:
        """All that it has said is there."""
        for reader in self._readers:
            reader.join(PATIENCE_S)
            assert not reader.is_alive(), "somebody else has its pipes, and goes on"

    def _read(self, name: str, pipe: object) -> None:
        assert hasattr(pipe, "readline")
        while line := pipe.readline():
            with self._changed:
                self._lines[name].append(line)
                self._changed.notify_all()
        with self._changed:
            self._reading -= 1
            self._changed.notify_all()


@contextlib.contextmanager
def command(*words: str, env: Mapping[str, str] | None = None) -> Iterator[Command]:
    """A command that is gone at the end, whatever happens."""
    running = Command(*words, env=env)
    try:
        yield running
    finally:
        running.close()


@contextlib.contextmanager
def demo(*words: str) -> Iterator[Command]:
    """``plegscope demo`` on a free port, without a browser."""
    with command("demo", "--port", "0", "--no-browser", *words) as running:
        yield running
