"""Pods that come and go on a real runtime, with every call timed: what another client feels."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.lab.cri import Cri, enum_names
from tests.lab.kubelet import Pod
from tests.lab.pods import WORKERS, Pods, StartFailed

EXIT_SEEN = "kill to EXITED"
STALLED_S = 120.0
"""How long a round waits for killed containers to be listed as exited."""

Happened = tuple[str, str]
"""Id of a container or sandbox, and what its event tells: ``CREATED``, ``STARTED``, …"""


class Wait(NamedTuple):
    """One call of the client, or the time from a kill until the runtime listed it."""

    method: str
    started: float
    seconds: float


class TimedCri(Cri):
    """Keeps what each call took, in ``waits``; calls that fail too."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        self.waits: list[Wait] = []

    def call(self, method: str, **options: Any) -> Any:
        """One unary call, timed."""
        started = time.monotonic()
        try:
            return super().call(method, **options)
        finally:
            self.waits.append(Wait(method, started, time.monotonic() - started))


class Churn:
    """A client that makes, kills and removes pods in rounds. Use in ``with``: it cleans up.

    ``happened`` holds what the operations of all rounds must have caused as events.
    """

    def __init__(self, endpoint: str, *, cgroup_parent: str = "", workers: int = WORKERS) -> None:
        self.pods = Pods(endpoint, cgroup_parent=cgroup_parent)
        self.pods.cri.close()
        self.pods.cri = self._cri = TimedCri(endpoint)
        self.happened: set[Happened] = set()
        self._pool = ThreadPoolExecutor(workers)
        self._rounds = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown()
        self.pods.__exit__(kind, error, trace)

    @property
    def waits(self) -> list[Wait]:
        """All waits so far."""
        return self._cri.waits

    def longest(self) -> Wait:
        """The longest wait so far."""
        return max(self.waits, key=lambda wait: wait.seconds)

    def round(self, count: int) -> float:
        """Make, start, kill and remove ``count`` pods; the seconds it took."""
        began = time.monotonic()
        self._rounds += 1
        names = (f"churn-{self._rounds}-{number}" for number in range(count))
        made = list(self._pool.map(self._run, names))
        killed = time.monotonic()
        self.pods.kill_together(made)
        self.pods.wait_exited([i for pod in made for i in pod.container_ids], STALLED_S)
        self.waits.append(Wait(EXIT_SEEN, killed, time.monotonic() - killed))
        list(self._pool.map(self.pods.remove, made))
        for pod in made:
            self.happened |= whole_life(pod)
        return time.monotonic() - began

    def _run(self, name: str) -> Pod:
        """A pod; as a kubelet does, once more where the runtime failed: containerd 1.7 was seen to
        forget a sandbox's process (``lstat /proc/0/ns/ipc``), one in thousands on a busy machine.
        """
        try:
            return self.pods.run(name)
        except StartFailed as failed:
            self.pods.remove(failed.pod)
            return self.pods.run(f"{name}-again")

    def rounds(self, count: int, size: int = 25) -> None:
        """``count`` pods in rounds of at most ``size``."""
        while count > 0:
            self.round(min(size, count))
            count -= size


def whole_life(pod: Pod) -> set[Happened]:
    """The events of a pod that was made, killed and removed."""
    kinds = ("CREATED", "STARTED", "STOPPED", "DELETED")
    return {(item, kind) for item in (pod.sandbox_id, *pod.container_ids) for kind in kinds}


class Subscriber:
    """Another subscriber to the runtime's events, such as a kubelet with EventedPLEG on."""

    def __init__(self, endpoint: str) -> None:
        self._cri = Cri(endpoint)
        self._stream = self._cri.events()
        self._changed = threading.Condition()
        self._received: Counter[Happened] = Counter()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.cancel()
        self._thread.join(60)
        self._cri.close()

    def _read(self) -> None:
        kinds = enum_names("ContainerEventType")
        for event in self._stream:
            kind = kinds[event.container_event_type].removeprefix("CONTAINER_")
            with self._changed:
                self._received[event.container_id, kind.removesuffix("_EVENT")] += 1
                self._changed.notify_all()

    def missing(self, happened: set[Happened], timeout_s: float = 60.0) -> set[Happened]:
        """What of this has not been received ``timeout_s`` from now."""
        with self._changed:
            self._changed.wait_for(lambda: happened <= self._received.keys(), timeout_s)
            return happened - self._received.keys()

    def received_twice(self) -> dict[Happened, int]:
        """What came more than once."""
        with self._changed:
            return {key: count for key, count in self._received.items() if count > 1}
