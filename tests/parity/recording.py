"""A recording of a real runtime: what was done and what was told, without ids and times."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from app.cri.pb import cri_pb2
from tests.cri import captures

ZERO_TIME = -6795364578871345152


RUNNING: tuple[object, ...] = ("CONTAINER_RUNNING", 0, "")


def told(message: Any, ids: dict[str, str], *, ordered: bool, early: bool) -> tuple[object, ...]:
    """An event without ids and times. ``ids``: what each id is called.

    ``ordered``: the order of statuses counts. ``early``: that a STARTED of a container that has
    ended already says so is a matter of chance, and left out.
    """
    kind = cri_pb2.ContainerEventType.Name(message.container_event_type)
    box = message.pod_sandbox_status
    inside = []
    for one in message.containers_statuses:
        state = cri_pb2.ContainerState.Name(one.state)
        end: tuple[object, ...] = (state, one.exit_code, one.reason)
        if early and kind == "CONTAINER_STARTED_EVENT" and one.id == message.container_id:
            end = RUNNING
        inside.append((one.metadata.name, one.metadata.attempt, *end, fields_of(one, end)))
    return (
        kind,
        ids.get(message.container_id, "?"),
        message.HasField("pod_sandbox_status"),
        cri_pb2.PodSandboxState.Name(box.state),
        box.created_at == ZERO_TIME,
        fields_of(box),
        sorted(key for key in box.labels if key.startswith("io.kubernetes.")),
        inside if ordered else sorted(inside),
    )


def fields_of(message: Any, end: tuple[object, ...] = ()) -> tuple[str, ...]:
    """The fields that are filled, of those that plegscope knows. ``end``: that of a container of
    which it is a matter of chance whether it is told already."""
    names = {field.name for field, _ in message.ListFields()}
    if end == RUNNING:
        names = (names | {"state"}) - {"finished_at", "reason", "exit_code"}
    return tuple(sorted(names))


class Recording:
    """One recording: what was done, and what came of it. ``ids``: what each id is called."""

    def __init__(self, runtime: str, scenario: str) -> None:
        self.runtime = runtime
        self.scenario = scenario
        self.records = captures.records(runtime, scenario)
        self.cri_o = runtime.startswith("crio")
        self.messages = [
            (record["subscriber"], parsed(record))
            for record in self.records
            if record["kind"] == "event"
        ]
        self.containers = list(self._containers())
        self.ids = {one: name for one, (name, _) in zip(*self._named(), strict=True)}
        self.ids |= {record["pod_sandbox_id"]: "box" for record in self.actions("StopPodSandbox")}
        for _, message in self.messages:
            self.ids.setdefault(message.pod_sandbox_status.id, "box")

    def actions(self, *names: str) -> list[dict[str, Any]]:
        """The actions of these names."""
        return [one for one in self.records if one.get("action") in names]

    def heard(self, subscriber: str) -> list[tuple[object, ...]]:
        """What a subscriber heard."""
        return [self.told(message) for name, message in self.messages if name == subscriber]

    def told(self, message: Any, ids: dict[str, str] | None = None) -> tuple[object, ...]:
        """An event without ids and times."""
        return told(message, ids or self.ids, ordered=self.cri_o, early=self.cri_o)

    @property
    def subscribers(self) -> list[str]:
        """Who heard anything."""
        return sorted({name for name, _ in self.messages})

    def called(self, container_id: str) -> tuple[str, int]:
        """A container's name and attempt."""
        return dict(zip(*self._named(), strict=True))[container_id]

    def ended_before(self, index: int) -> set[str]:
        """Ids of the containers that were seen to have ended before a record."""
        gone: set[str] = set()
        for record in self.records[:index]:
            if record["kind"] == "event" and record["type"] == "CONTAINER_STOPPED_EVENT":
                gone.add(parsed(record).container_id)
            elif record["kind"] == "list":
                gone |= {
                    row["id"]
                    for row in record["containers"].get("containers", [])
                    if row.get("state") == "CONTAINER_EXITED"
                }
        return gone & set(self.containers)

    def failed(self, index: int) -> str:
        """The code that the call begun by this record failed with; "" when it did not."""
        for record in self.records[index + 1 :]:
            if record["kind"] == "action" and record["action"] != "unsubscribe":
                return ""
            if record["kind"] == "error" and "subscriber" not in record:
                return str(record["code"])
            if "StatusCode.UNKNOWN" in record.get("failed", ""):
                # The driver gave up.
                return "UNKNOWN"
        return ""

    def refused(self, index: int) -> bool:
        """Whether the subscription begun by this record came to nothing."""
        subscriber = self.records[index]["subscriber"]
        following = [one for one in self.records[index + 1 :] if one["kind"] != "list"]
        first = following[0]
        return bool(first["kind"] == "error" and first.get("subscriber") == subscriber)

    def stream_end(self, subscriber: str) -> str:
        """How a stream that had been open ended by itself; "" when it did not."""
        opened = False
        for index, record in enumerate(self.records):
            if record.get("subscriber") != subscriber:
                continue
            if record["kind"] == "action":
                opened = record["action"] == "subscribe" and not self.refused(index)
            elif record["kind"] == "error" and opened:
                return str(record["code"])
        return ""

    def statuses(self) -> dict[str, tuple[object, ...]]:
        """How containers had ended, by what they are called."""
        found = {}
        for record in self.records:
            if record["kind"] == "status":
                answer = cri_pb2.ContainerStatusResponse.FromString(message_of(record))
                found[self.ids[answer.status.id]] = end_of(answer.status)
        return found

    def _containers(self) -> Iterator[str]:
        """Ids of the containers, in the order in which they were made."""
        seen = [record["container_id"] for record in self.actions("StartContainer")]
        yield from dict.fromkeys(seen)

    def _named(self) -> tuple[list[str], list[tuple[str, int]]]:
        rows: dict[str, tuple[str, int]] = {}
        for _, message in self.messages:
            for one in message.containers_statuses:
                rows[one.id] = (one.metadata.name, one.metadata.attempt)
        for _, listing in captures.listings(self.runtime, self.scenario):
            for row in listing.containers:
                rows[row.id] = (row.metadata.name, row.metadata.attempt)
        for record in self.records:
            if record["kind"] == "status":
                one = cri_pb2.ContainerStatusResponse.FromString(message_of(record)).status
                rows[one.id] = (one.metadata.name, one.metadata.attempt)
        names = [rows[one] for one in self.containers]
        several = len({name for name, _ in names}) < len(names)
        return self.containers, [
            (f"{name}/{attempt}" if several else name, attempt) for name, attempt in names
        ]


def message_of(record: dict[str, Any]) -> bytes:
    """The message that a record holds."""
    return base64.b64decode(record["b64"])


def parsed(record: dict[str, Any]) -> Any:
    """The event that a record holds."""
    return cri_pb2.ContainerEventResponse.FromString(message_of(record))


def end_of(status: Any) -> tuple[object, ...]:
    """State, exit code, reason, and whether it ever began and ended."""
    state = cri_pb2.ContainerState.Name(status.state)
    return state, status.exit_code, status.reason, status.started_at > 0, status.finished_at > 0
