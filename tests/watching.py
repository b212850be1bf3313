"""``plegscope watch`` processes for tests: what they tell as it comes, and what it adds up to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from tests.commands import STATE
from tests.lab import proc
from tests.lab.pods import wait_for
from tests.patience import PATIENCE_S

Line = dict[str, Any]
TRIES = 5

# Nothing of the machine's own configuration may decide which runtime a test watches.
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("CONTAINER_")}
ENVIRONMENT["XDG_STATE_HOME"] = STATE


Listed = Callable[[], dict[str, str]]
"""What the runtime lists: container id to ``CONTAINER_…``."""


def states(listed: Mapping[str, str]) -> dict[str, str]:
    """A runtime's listing in the engine's words, such as ``running``, by container id."""
    return {key: state.removeprefix("CONTAINER_").lower() for key, state in listed.items()}


class Process:
    """One ``plegscope watch``. ``stdout``: where it writes; by default a pipe.

    ``variables`` are added to its environment. With ``own_group`` it gets a process group of its
    own: in one that has no parent outside of it, as under a test runner, SIGTSTP stops nobody.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        stdout: int | IO[bytes] = subprocess.PIPE,
        variables: Mapping[str, str] | None = None,
        own_group: bool = False,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "watch", *words],
            stdout=stdout,
            stderr=subprocess.PIPE,
            env={**ENVIRONMENT, **(variables or {})},
            process_group=0 if own_group else None,
        )

    @property
    def pid(self) -> int:
        """The process's id."""
        return self.process.pid

    def pause(self, number: signal.Signals = signal.SIGSTOP) -> None:
        """Send the signal and wait until the process has really stopped."""
        self.process.send_signal(number)
        wait_for(self.is_paused, f"plegscope to stop on {number.name}")

    def is_paused(self) -> bool:
        """Whether it is stopped by a signal."""
        return proc.state(self.pid) == "T"

    def resume(self) -> None:
        """SIGCONT."""
        self.process.send_signal(signal.SIGCONT)

    def errors(self) -> str:
        """The end of its standard error, once it has ended."""
        if self.process.poll() is None or self.process.stderr is None:
            return "(still running)"
        with contextlib.suppress(ValueError):
            return self.process.stderr.read().decode(errors="replace")[-2000:]
        return ""

    def end(self, timeout_s: float = PATIENCE_S) -> int:
        """SIGTERM (and SIGCONT); returns the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
            self.resume()
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("plegscope did not end on SIGTERM") from None
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Close the pipes of a process that has ended."""
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


class Watching(Process):
    """``plegscope watch --format jsonl`` on one endpoint, read by a thread of its own.

    With ``read=False`` nobody reads its output until ``begin_reading`` is called.
    """

    def __init__(self, endpoint: str, *flags: str, read: bool = True, **options: Any) -> None:
        super().__init__(["--format", "jsonl", "--runtime-endpoint", endpoint, *flags], **options)
        self.lines: list[Line] = []
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        if read:
            self.begin_reading()

    def begin_reading(self) -> None:
        """Start the thread that reads."""
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            line = json.loads(raw)
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def wait(
        self,
        what: str,
        found: Callable[[Line], object],
        *,
        after: int = 0,
        timeout_s: float = PATIENCE_S,
    ) -> Line:
        """The first record behind position ``after`` that ``found`` accepts; waits for it."""
        deadline = time.monotonic() + timeout_s
        at = after
        with self._changed:
            while True:
                while at < len(self.lines):
                    if found(self.lines[at]):
                        return self.lines[at]
                    at += 1
                left = deadline - time.monotonic()
                if left <= 0 or self._ended:
                    raise AssertionError(
                        f"{what}: not seen in {timeout_s} s; the last records: {self.lines[-12:]}"
                        f"; standard error: {self.errors()}"
                    )
                self._changed.wait(left)

    def wait_kind(self, kind: str, *, after: int = 0, **fields: object) -> Line:
        """The first record of this kind with these fields."""
        return self.wait(
            f"{kind} {fields}",
            lambda line: line["kind"] == kind and all(line.get(k) == v for k, v in fields.items()),
            after=after,
        )

    def wait_ready(self) -> None:
        """Until the first global relist is complete."""
        self.wait_kind("relist_finished", scope="global", ok=True)

    def wait_died(self, container_id: str, *, after: int = 0) -> Line:
        """Until a relist found this container (or sandbox) dead."""
        return self.wait_kind(
            "lifecycle", after=after, type="ContainerDied", container_id=container_id
        )

    def wait_polled(self) -> None:
        """Until a global relist has just ended: the next one is a period away."""
        self.wait_kind("relist_finished", after=self.mark(), scope="global")

    def died_by(self, source: str, end_one: Callable[[int], str]) -> Line:
        """The death of what ``end_one`` ends and names, found by this source.

        Another may be there first, as a poll that is due goes before: then the next one is tried,
        by its number.
        """
        found: list[Line] = []
        while len(found) < TRIES:
            found.append(self.wait_died(end_one(len(found))))
            if found[-1]["source"] == source:
                return found[-1]
        raise AssertionError(f"{TRIES} deaths, and none was found by {source}: {found}")

    def mark(self) -> int:
        """The present end of the records, for ``after``."""
        with self._changed:
            return len(self.lines)

    def snapshot(self) -> list[Line]:
        """All records so far."""
        with self._changed:
            return list(self.lines)

    def chain(self, died: Line) -> dict[str, Line]:
        """Event, request and relist behind a lifecycle event, by kind; those that there are."""
        numbers = {
            "stream_event": ("event", died.get("event")),
            "request": ("request", died.get("request")),
            "relist_started": ("relist", died["relist"]),
            "relist_finished": ("relist", died["relist"]),
        }
        found: dict[str, Line] = {"lifecycle": died}
        for line in self.snapshot():
            field, number = numbers.get(line["kind"], ("", None))
            if number is not None and line[field] == number:
                found[line["kind"]] = line
        return found

    def containers(self) -> dict[str, str]:
        """Container id to state, as the records add up: what the shadow believes."""
        believed: dict[str, dict[str, str]] = {}
        for line in self.snapshot():
            if line["kind"] == "pod_cached" and not line["error"]:
                believed[line["uid"]] = {
                    one["id"]: one["runtime_state"] for one in line["containers"]
                }
            elif line["kind"] == "pod_uncached":
                believed.pop(line["uid"], None)
        return {key: state for pod in believed.values() for key, state in pod.items()}

    def wait_agrees(self, listed: Listed) -> None:
        """Until the shadow believes exactly what the runtime lists."""
        after = self.mark()
        for _ in range(60):
            expected = states(listed())
            if self.containers() == expected:
                return
            finished = self.wait_kind("relist_finished", after=after, scope="global")
            after = self.snapshot().index(finished) + 1
        raise AssertionError(f"the shadow believes {self.containers()}, the runtime {expected}")

    def let_go(self) -> None:
        """Close the pipes, after the last line was read."""
        if self._thread.ident is not None:
            self._thread.join(PATIENCE_S)
        super().let_go()


@contextlib.contextmanager
def watching(endpoint: str, *flags: str) -> Iterator[Watching]:
    """A ready ``plegscope watch``; it must end well."""
    watch = Watching(endpoint, *flags)
    try:
        watch.wait_ready()
        yield watch
    except BaseException:
        with contextlib.suppress(AssertionError):
            watch.end()
        raise
    code = watch.end()
    assert code == 0, f"exit code {code}"


def run_plegscope(words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """One plegscope command to its end, with its output as text."""
    return subprocess.run(
        [sys.executable, "-m", "app", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**ENVIRONMENT, **options.pop("env", {})},
        **options,
    )
