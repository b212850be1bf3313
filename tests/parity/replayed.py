"""Plays what a recording's driver did on another node, and compares what the runtimes told.

Ids and times differ; everything else must not: which events came in which order, what they carried,
how each container was told to have ended, which calls were refused, how the stream ended.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import grpc

from app.cri.pb import cri_pb2
from tests.lab.kubelet import HEEDS_TERM, OUT_OF_MEMORY, SLEEP, Pod, container_config
from tests.parity.node import Ear, Node, until
from tests.parity.recording import Recording, end_of, message_of

LASTING = ("sh", "-c", "sleep 0.7; exit 0")
COMMANDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("lifecycle", "exit0"): LASTING,
    ("lifecycle", "exit1"): ("sh", "-c", "sleep 0.7; exit 1"),
    ("lifecycle", "oom"): OUT_OF_MEMORY,
    # The driver let it be killed at once, which the runtime may call an error.
    ("lifecycle", "oom1"): OUT_OF_MEMORY,
    ("lifecycle", "stopped"): HEEDS_TERM,
    ("crashloop", "main"): ("sh", "-c", "sleep 0.4; exit 3"),
    ("startfail", "main"): ("/no/such/program",),
    **{("subscribers", f"c{number}"): ("true",) for number in range(10)},
}
"""What the driver let containers run; all others sleep."""


class Play:
    """What a node makes of a recording's actions."""

    def __init__(self, node: Node, recording: Recording) -> None:
        self.ends: dict[str, str] = {}
        """How streams that had been open ended by themselves."""
        self.statuses: dict[str, tuple[object, ...]] = {}
        self._node = node
        self._recording = recording
        self._pod: Pod | None = None
        self._ids: dict[str, str] = {}
        """The recording's ids -> this node's."""
        self.names: dict[str, str] = {}
        """What this node's ids are called."""
        self._ears: dict[str, Ear] = {}
        self._to_die = ""

    def perform(self) -> Play:
        """Do all that the driver did."""
        with contextlib.ExitStack() as leaving:
            for index, record in enumerate(self._recording.records):
                if record["kind"] == "status":
                    self._note_status(record)
                if record["kind"] == "action":
                    self._wait_for_ends(index)
                    self._act(index, record, leaving)
            self._let_arrive(len(self._recording.records))
        return self

    def heard(self, subscriber: str) -> list[tuple[object, ...]]:
        """What a subscriber heard."""
        return [self._recording.told(one, self.names) for one in self.messages(subscriber)]

    def messages(self, subscriber: str) -> list[Any]:
        """The same as it came, but in plegscope's own type of message."""
        ear = self._ears[subscriber]
        return [
            cri_pb2.ContainerEventResponse.FromString(one.SerializeToString())
            for one in ear.wait(lambda _: True, "nothing")
        ]

    def _act(self, index: int, record: dict[str, Any], leaving: contextlib.ExitStack) -> None:
        action, cri = record["action"], self._node.pods.cri
        container = self._ids.get(record.get("container_id", ""), "")
        match action:
            case "subscribe" if not self._recording.refused(index):
                ear = Ear(self._node.pods.events(120.0))
                leaving.callback(ear.leave)
                self._ears[record["subscriber"]] = ear
                self._node.pods.listing()
            case "RunPodSandbox":
                self._pod = self._node.pods.create("life", containers=0)
                self.names[self._pod.sandbox_id] = "box"
            case "CreateContainer":
                self._create(index)
            case "StartContainer":
                self._call(index, lambda: cri.call("StartContainer", container_id=container))
                if self._command(record["container_id"]) == HEEDS_TERM:
                    self._node.wait_for_handler(container)
            case "StopContainer":
                timeout = record.get("timeout", 0)
                cri.call("StopContainer", container_id=container, timeout=timeout)
            case "RemoveContainer":
                cri.call("RemoveContainer", container_id=container)
            case "StopPodSandbox" | "RemovePodSandbox":
                cri.call(action, pod_sandbox_id=self._box())
            case "kill -9" | "kill -9 after":
                self._node.kill(container)
            case "kill -9 pause":
                self._node.kill_pause(self._box())
                boxes = self._node.pods.listing
                until(lambda: "SANDBOX_NOTREADY" in boxes().sandboxes.values(), "the pause to end")
            case "kill -9 while down":
                self._to_die = container
            case "start containerd":
                self._node.restart(meanwhile=self._to_die)
                for name, ear in self._ears.items():
                    self.ends[name] = ear.ended()
            case "unsubscribe":
                self._let_arrive(index)
                self._ears[record["subscriber"]].leave()
            case "stop containerd":
                # What has not been sent by then is lost.
                self._let_arrive(index)
            case "subscribe":
                pass
            case _:
                raise AssertionError(f"an action that nobody knows: {action}")

    def _box(self) -> str:
        assert self._pod is not None
        return self._pod.sandbox_id

    def _command(self, theirs: str) -> tuple[str, ...]:
        name, _ = self._recording.called(theirs)
        return COMMANDS.get((self._recording.scenario, name.split("/")[0]), SLEEP)

    def _create(self, index: int) -> None:
        assert self._pod is not None
        made = len(self._ids)
        if made >= len(self._recording.containers):
            # The one that failed in the recording.
            pod = replace(self._pod, command=COMMANDS[self._recording.scenario, "main"])
            self._call(index, lambda: self._make(pod, "main", 0))
            return
        theirs = self._recording.containers[made]
        name, attempt = self._recording.called(theirs)
        name = name.split("/")[0]
        fat = self._command(theirs) if name.startswith("oom") else ()
        pod = replace(self._pod, command=self._command(theirs), memory_mib=32 if fat else 0)
        self._ids[theirs] = made_id = self._make(pod, name, attempt)
        self.names[made_id] = self._recording.ids[theirs]

    def _make(self, pod: Pod, name: str, attempt: int) -> str:
        made = self._node.pods.cri.call(
            "CreateContainer",
            pod_sandbox_id=pod.sandbox_id,
            config=container_config(pod, name, attempt),
            sandbox_config=pod.config,
        )
        return str(made.container_id)

    def _call(self, index: int, call: Callable[[], object]) -> None:
        """A call that must be refused if it was in the recording, and with the same code."""
        refused = ""
        try:
            call()
        except grpc.RpcError as error:
            refused = error.code().name
        assert refused == self._recording.failed(index)

    def _note_status(self, record: dict[str, Any]) -> None:
        theirs = cri_pb2.ContainerStatusResponse.FromString(message_of(record)).status.id
        found = self._node.pods.cri.call("ContainerStatus", container_id=self._ids[theirs])
        self.statuses[self._recording.ids[theirs]] = end_of(found.status)

    def _wait_for_ends(self, index: int) -> None:
        """What had ended in the recording by now has ended here."""
        there = self._node.pods
        action = self._recording.records[index]["action"]
        if action in ("kill -9 while down", "start containerd"):
            return
        ended = [self._ids[one] for one in self._recording.ended_before(index) if one in self._ids]
        there.wait_exited(ended)

    def _let_arrive(self, index: int) -> None:
        """Wait until as many events were heard as in the recording before this record."""
        wanted = sum(one["kind"] == "event" for one in self._recording.records[:index])
        until(
            lambda: sum(len(self.messages(name)) for name in self._ears) >= wanted,
            "all events of the recording",
        )


def compare(node: Node, runtime: str, scenario: str) -> Play:
    """Play a recording on a node; what it tells must be what was recorded."""
    recording = Recording(runtime, scenario)
    play = Play(node, recording).perform()
    assert play.statuses == recording.statuses()
    for name in recording.subscribers:
        ended = recording.stream_end(name)
        assert play.ends.get(name, "") == ended
    if node.family.shares and len(recording.subscribers) == 2:
        assert_shared(play, recording)
        return play
    for name in recording.subscribers:
        assert play.heard(name) == recording.heard(name)
    return play


def assert_shared(play: Play, recording: Recording) -> None:
    """Two subscribers who compete: together they heard everything, each as much as recorded.

    The next container was made when the last one was believed to have ended, not when it was told;
    so what was told of two containers may be mixed otherwise than it was.
    """
    recorded = [message for _, message in recording.messages]
    played = [message for name in recording.subscribers for message in play.messages(name)]
    assert stories(played, play.names) == stories(recorded, recording.ids)
    for name in recording.subscribers:
        assert len(play.heard(name)) == len(recording.heard(name))


def stories(messages: Sequence[Any], ids: dict[str, str]) -> dict[str, list[tuple[object, ...]]]:
    """What was told of each, in the order of the making: kind, and its own state then."""
    found: dict[str, list[tuple[object, ...]]] = {}
    for message in sorted(messages, key=lambda one: one.created_at):
        own = [one for one in message.containers_statuses if one.id == message.container_id]
        ends = [(one.state, one.exit_code, one.reason) for one in own]
        kind = cri_pb2.ContainerEventType.Name(message.container_event_type)
        found.setdefault(ids[message.container_id], []).append((kind, *ends))
    return found
