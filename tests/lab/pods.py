"""Pods as a kubelet makes them, and the ways in which they end.

Every sandbox and container carries the label `RUN_LABEL` with the value of the `Pods` that
made it, and nothing without it is ever signalled, stopped or removed.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import signal
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import grpc

from tests.lab import proc
from tests.lab.cri import Cri, EventStream, enum_names
from tests.lab.errors import LabError
from tests.lab.kubelet import RUN_LABEL, SLEEP, Pod, container_config, pod_config, pod_of

WORKERS = 8
WAIT_S = 60.0


@dataclass(frozen=True)
class ContainerInfo:
    """ContainerStatus in Python's terms. Times: nanoseconds since 1970, 0 when not yet."""

    id: str
    name: str
    attempt: int
    state: str
    exit_code: int
    reason: str
    created_at: int
    started_at: int
    finished_at: int


@dataclass(frozen=True)
class Listing:
    """What the runtime's two lists say: ids to names of ContainerState and PodSandboxState."""

    containers: dict[str, str]
    sandboxes: dict[str, str]


class StartFailed(LabError):
    """StartContainer was refused. `pod` exists nonetheless, with that container EXITED."""

    def __init__(self, pod: Pod, details: str) -> None:
        super().__init__(f"a container of {pod.name} did not start: {details}")
        self.pod = pod


class Pods:
    """Makes and breaks pods on the runtime at `endpoint`. Use in ``with``: it removes them.

    `run` names what belongs together; a second `Pods` with the same one sees the same pods.
    `cgroup_parent` is where their cgroups go. Calls block: from asyncio, use a thread.
    Errors of the runtime are `grpc.RpcError`.
    """

    def __init__(self, endpoint: str, *, run: str = "", cgroup_parent: str = "") -> None:
        self.cri = Cri(endpoint)
        self.run_id = run or secrets.token_hex(4)
        self.cgroup_parent = cgroup_parent

    def __enter__(self) -> Pods:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.remove_all()
        finally:
            self.close()

    def close(self) -> None:
        """Close the connection and leave the pods alone."""
        self.cri.close()

    # Making

    def create(
        self,
        name: str,
        command: Sequence[str] = SLEEP,
        *,
        containers: int = 1,
        memory_mib: int = 0,
        uid: str = "",
        attempt: int = 0,
    ) -> Pod:
        """Run a sandbox and create its containers, without starting them.

        `memory_mib` limits each container (0: no limit). With the `uid` of an older pod and
        the next `attempt` it is that pod's next sandbox.
        """
        config = self._config(name, uid or str(uuid.uuid4()), attempt)
        sandbox = self.cri.call("RunPodSandbox", config=config).pod_sandbox_id
        pod = pod_of(config, sandbox, tuple(command), memory_mib)
        names = [f"c{n}" for n in range(containers)]
        attempts = [self._next_attempt(pod.uid, name) if uid else 0 for name in names]
        made = map(self._create_container, repeat(pod), names, attempts)
        return replace(pod, container_ids=tuple(made))

    def run(self, name: str, command: Sequence[str] = SLEEP, **options: Any) -> Pod:
        """`create` and start a pod. StartFailed, which carries the pod, if that is refused."""
        pod = self.create(name, command, **options)
        try:
            for container_id in pod.container_ids:
                self.start(container_id)
        except grpc.RpcError as error:
            raise StartFailed(pod, error.details() or "no reason given") from error
        return pod

    def run_many(
        self,
        count: int,
        name: str = "pod",
        command: Sequence[str] = SLEEP,
        *,
        workers: int = WORKERS,
        **options: Any,
    ) -> list[Pod]:
        """`run` `count` pods ``<name>-<n>``, `workers` at a time; in the order of n."""
        with ThreadPoolExecutor(workers) as pool:
            return list(
                pool.map(lambda n: self.run(f"{name}-{n}", command, **options), range(count))
            )

    def start(self, container_id: str) -> None:
        """StartContainer."""
        self.cri.call("StartContainer", container_id=container_id)

    def restart(self, pod: Pod, container: str = "c0") -> str:
        """Create and start the next attempt of an ended container; the new container's id."""
        made = self._create_container(pod, container, self._next_attempt(pod.uid, container))
        self.start(made)
        return made

    def adopt(self, sandbox_id: str) -> Pod:
        """The pod of a sandbox that another `Pods` of the same run made; it sleeps by default."""
        meta = self._sandboxes(self._own(sandbox_id))[0].metadata
        config = self._config(meta.name, meta.uid, meta.attempt)
        ids = tuple(c.id for c in self.containers(sandbox_id))
        return replace(pod_of(config, sandbox_id), container_ids=ids)

    # Looking

    def listing(self, *, everything: bool = False) -> Listing:
        """This run's containers and sandboxes and their states; or all of the runtime's."""
        states, sandbox_states = enum_names("ContainerState"), enum_names("PodSandboxState")
        return Listing(
            {c.id: states[c.state] for c in self._containers(everything=everything)},
            {s.id: sandbox_states[s.state] for s in self._sandboxes(everything=everything)},
        )

    def status(self, container_id: str) -> ContainerInfo:
        """One container's status."""
        found = self.cri.call("ContainerStatus", container_id=container_id).status
        return ContainerInfo(
            id=found.id,
            name=found.metadata.name,
            attempt=found.metadata.attempt,
            state=enum_names("ContainerState")[found.state],
            exit_code=found.exit_code,
            reason=found.reason,
            created_at=found.created_at,
            started_at=found.started_at,
            finished_at=found.finished_at,
        )

    def pods(self) -> list[Any]:
        """This run's sandboxes as PodSandbox messages, by name and attempt."""
        return sorted(self._sandboxes(), key=lambda s: (s.metadata.name, s.metadata.attempt))

    def containers(self, sandbox_id: str) -> list[Any]:
        """A sandbox's containers as Container messages, by name and attempt."""
        found = self._containers(pod_sandbox_id=sandbox_id)
        return sorted(found, key=lambda c: (c.metadata.name, c.metadata.attempt))

    def find(self, word: str) -> list[str]:
        """Ids of this run's sandboxes that are called `word` or whose id begins with it."""
        ids = [s.id for s in self.pods() if s.metadata.name == word or s.id.startswith(word)]
        if not ids:
            raise LabError(f"no pod {word!r} was made here. See which there are with `ps`.")
        return ids

    def events(self, timeout_s: float | None = None) -> EventStream:
        """Subscribe to the runtime's raw events, of all pods. Read them, or it stalls 2.x."""
        return self.cri.events(timeout_s)

    def main_pid(self, container_id: str) -> int:
        """The pid on this machine of a running container's first process, from its status."""
        answer = self.cri.call("ContainerStatus", container_id=container_id, verbose=True)
        with contextlib.ExitStack() as stack:
            found = self._processes([(container_id, answer)])
            for process in found:
                stack.enter_context(process)
        if not found:
            raise LabError(f"container {container_id} has no process. Is it running?")
        return found[0].pid

    def wait_exited(self, container_ids: Iterable[str], timeout_s: float = WAIT_S) -> None:
        """Wait until all these containers are EXITED or gone; LabError after `timeout_s`."""
        wanted = set(container_ids)

        def left() -> set[str]:
            states = self.listing().containers
            return {i for i in wanted if states.get(i, "CONTAINER_EXITED") != "CONTAINER_EXITED"}

        wait_for(lambda: not left(), f"{len(wanted)} containers to exit", timeout_s)

    def wait_for_handler(self, container_id: str) -> None:
        """Wait until a container's first process handles SIGTERM. Before, it would be ignored: the
        first process of a pid namespace gets only the signals that it has a handler for.
        """
        status = proc.PROC / str(self.main_pid(container_id)) / "status"

        def has_handler() -> bool:
            caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status.read_text(), re.MULTILINE)
            return bool(caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)

        wait_for(has_handler, "the process to handle SIGTERM")

    # Breaking

    def kill(self, what: Pod | str, number: int = signal.SIGKILL) -> int:
        """Signal main processes from outside the runtime; returns how many.

        `what` is a pod, a sandbox id (all running containers) or a container id.
        """
        return proc.signal_all(self._main_processes(self._running(what)), number)

    def kill_pause(self, what: Pod | str, number: int = signal.SIGKILL) -> int:
        """Signal the sandbox's own process: the pod turns NOTREADY, its containers run on."""
        sandbox_id = self._own(what)
        answer = self.cri.call("PodSandboxStatus", pod_sandbox_id=sandbox_id, verbose=True)
        return proc.signal_all(self._processes([(sandbox_id, answer)]), number)

    def storm(self, count: int, name: str = "storm") -> list[Pod]:
        """Make `count` pods, then SIGKILL all their containers within a few milliseconds."""
        made = self.run_many(count, f"{name}-{secrets.token_hex(2)}")
        self.kill_together(made)
        return made

    def kill_together(self, pods: Iterable[Pod]) -> int:
        """SIGKILL the containers of all `pods`, one straight after the other; how many."""
        own = self.listing().containers
        ids = [i for pod in pods for i in pod.container_ids if i in own]
        return proc.signal_all(self._main_processes(ids), signal.SIGKILL)

    def stop(self, what: Pod | str, grace_s: int = 1) -> None:
        """StopContainer on each: SIGTERM, and SIGKILL `grace_s` later."""
        for container_id in self._running(what):
            self.cri.call("StopContainer", container_id=container_id, timeout=grace_s)

    def stop_pod(self, what: Pod | str) -> None:
        """StopPodSandbox, which ends running containers too."""
        self.cri.call("StopPodSandbox", pod_sandbox_id=self._own(what))

    # Removing

    def remove_container(self, container_id: str) -> None:
        """RemoveContainer; LabError if this run has not made it."""
        if not self._containers(id=container_id):
            raise LabError(f"container {container_id} is not of this run. See `ps`.")
        self.cri.call("RemoveContainer", container_id=container_id)

    def remove(self, what: Pod | str) -> None:
        """End a pod as a kubelet does, without grace: containers, then the sandbox."""
        sandbox_id = self._own(what)
        for container in self._containers(pod_sandbox_id=sandbox_id):
            if _is_running(container):
                self.cri.call("StopContainer", container_id=container.id, timeout=0)
            self.cri.call("RemoveContainer", container_id=container.id)
        self.cri.call("StopPodSandbox", pod_sandbox_id=sandbox_id)
        self.cri.call("RemovePodSandbox", pod_sandbox_id=sandbox_id)

    def remove_all(self) -> int:
        """Remove all pods of this run, several at a time; returns how many there were."""
        found = [sandbox.id for sandbox in self._sandboxes()]
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(self.remove, found))
        return len(found)

    # Details

    def _config(self, name: str, uid: str, attempt: int) -> Any:
        return pod_config(name, uid, attempt, self.run_id, self.cgroup_parent)

    def _create_container(self, pod: Pod, name: str, attempt: int) -> str:
        made = self.cri.call(
            "CreateContainer",
            pod_sandbox_id=pod.sandbox_id,
            config=container_config(pod, name, attempt),
            sandbox_config=pod.config,
        )
        return str(made.container_id)

    def _own(self, what: Pod | str) -> str:
        """The sandbox id that `what` stands for; LabError if this run has not made it."""
        sandbox_id = what if isinstance(what, str) else what.sandbox_id
        if not self._sandboxes(sandbox_id):
            raise LabError(f"sandbox {sandbox_id} is not of this run. See which are with `ps`.")
        return sandbox_id

    def _sandboxes(self, sandbox_id: str = "", *, everything: bool = False) -> list[Any]:
        chosen = {} if everything else {"label_selector": {RUN_LABEL: self.run_id}}
        return list(self.cri.call("ListPodSandbox", filter={**chosen, "id": sandbox_id}).items)

    def _containers(self, *, everything: bool = False, uid: str = "", **chosen: str) -> list[Any]:
        """Containers of this run, or all; of the pod `uid`; with fields of ContainerFilter."""
        labels = {} if everything else {RUN_LABEL: self.run_id}
        if uid:
            labels["io.kubernetes.pod.uid"] = uid
        asked = {"label_selector": labels, **chosen}
        return list(self.cri.call("ListContainers", filter=asked).containers)

    def _next_attempt(self, uid: str, name: str) -> int:
        """A kubelet counts a container's restarts over all sandboxes of its pod."""
        metas = [container.metadata for container in self._containers(uid=uid)]
        return max((meta.attempt for meta in metas if meta.name == name), default=-1) + 1

    def _running(self, what: Pod | str) -> list[str]:
        """Ids of this run's running containers that `what` names."""
        word = what if isinstance(what, str) else what.sandbox_id
        found = self._containers(pod_sandbox_id=word) or self._containers(id=word)
        return [c.id for c in found if _is_running(c)]

    def _main_processes(self, ids: Iterable[str]) -> list[proc.Process]:
        return self._processes(
            (i, self.cri.call("ContainerStatus", container_id=i, verbose=True)) for i in ids
        )

    @staticmethod
    def _processes(answers: Iterable[tuple[str, Any]]) -> list[proc.Process]:
        """Handles on the processes named in verbose status answers; the ended are left out."""
        found = []
        for container_id, answer in answers:
            pid = int(json.loads(answer.info["info"]).get("pid", 0))
            with contextlib.suppress(ProcessLookupError):
                # An ended container has pid 0, and kill(0) means our own process group.
                process = proc.Process(pid) if pid > 1 else None
                if process and proc.in_cgroup(pid, container_id):
                    found.append(process)
                elif process:
                    process.close()
        return found


def _is_running(container: Any) -> bool:
    return enum_names("ContainerState")[container.state] == "CONTAINER_RUNNING"


def wait_for(condition: Callable[[], object], what: str, timeout_s: float = WAIT_S) -> None:
    """Poll until `condition()` is true; LabError naming `what` after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise LabError(f"waited {timeout_s:g} s in vain for {what}. Look at containerd.log.")
        time.sleep(0.01)
