"""What real runtimes sent (tests/captures), played to the engine in virtual time and recorded.

    python -m tests.recording.captured --write

The runtime is rebuilt from the capture: at each moment it has the rows and statuses that were last
seen in a list, a status or an event, and answers calls from them; events come when they came. Where
the capture's runtime was stopped, calls fail and the stream ends as it did; where it was hung,
answers come once it goes on. A container that has no status that goes with its row is answered as
one that is gone.

What the engine tells of each is compared with ``golden/``; with ``--write`` that is written anew,
which is to be done, and looked at, when the engine is meant to tell something else.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import msgspec

from app.cri import convert
from app.cri.convert import Interner
from app.cri.pb import cri_pb2 as pb
from app.cri.words import stream_end
from app.engine.effects import CancelWake, CloseStream, Effect, InspectPod, ListPods, WakeAt
from app.engine.engine import Engine
from app.engine.inputs import (
    Input,
    PodInspected,
    PodInspectFailed,
    PodsListed,
    PodsListFailed,
    RuntimeProbed,
    Start,
    Stop,
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamOpened,
    TimerFired,
)
from app.engine.records import Record
from app.engine.settings import EngineSettings
from app.recording.answers import Answer
from app.recording.format import SessionInfo
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.sim.agenda import Agenda, Appointment, VirtualClock, play
from tests.cri import captures

GOLDEN = Path(__file__).parent / "golden"
MS = 1_000_000
CALL_NS = 4 * MS
GRACE_NS = 1000 * MS
AFTER_NS = 3000 * MS
"""So long the shadow goes on once the capture has ended."""

SUBSCRIBERS = {"restart": ("before", "after"), "hang": ("plain",)}
"""Whose events are ours; of anything else, those of ``a``."""

DOWN = "Unavailable: the runtime was stopped"


class Runtime:
    """What a capture tells of its runtime, up to now."""

    def __init__(self) -> None:
        self.boxes: dict[str, pb.PodSandbox] = {}
        self.containers: dict[str, pb.Container] = {}
        self.box_status: dict[str, pb.PodSandboxStatus] = {}
        self.container_status: dict[str, pb.ContainerStatus] = {}

    def listed(self, boxes: pb.ListPodSandboxResponse, inside: pb.ListContainersResponse) -> None:
        """Both lists."""
        self.boxes = {one.id: one for one in boxes.items}
        self.containers = {one.id: one for one in inside.containers}

    def told(self, event: pb.ContainerEventResponse) -> None:
        """An event, with its statuses; of one that was deleted nothing is left."""
        box = event.pod_sandbox_status
        if box.id:
            self.box_status[box.id] = box
            self.boxes[box.id] = pb.PodSandbox(
                id=box.id,
                metadata=box.metadata,
                state=box.state,
                created_at=box.created_at,
                labels=box.labels,
                annotations=box.annotations,
            )
        for one in event.containers_statuses:
            self.inspected(one, box.id)
        if event.container_event_type == pb.CONTAINER_DELETED_EVENT:
            self.removed(event.container_id)

    def inspected(self, one: pb.ContainerStatus, box_id: str = "") -> None:
        """The status of a container; without a sandbox it only adds to a row that is known."""
        row = self.containers.get(one.id)
        if row is None and not box_id:
            return
        self.container_status[one.id] = one
        self.containers[one.id] = pb.Container(
            id=one.id,
            pod_sandbox_id=row.pod_sandbox_id if row is not None else box_id,
            metadata=one.metadata,
            image=one.image,
            image_ref=one.image_ref,
            state=one.state,
            created_at=one.created_at,
            labels=one.labels,
            annotations=one.annotations,
        )

    def removed(self, item_id: str) -> None:
        """A container, or a sandbox with what is in it, is no more."""
        self.boxes.pop(item_id, None)
        self.containers.pop(item_id, None)
        for one in [c.id for c in self.containers.values() if c.pod_sandbox_id == item_id]:
            del self.containers[one]

    def lists(self, uid: str | None) -> tuple[bytes, bytes]:
        """Both lists as messages."""
        boxes = [one for one in self.boxes.values() if uid in (None, one.metadata.uid)]
        inside = [one for one in self.containers.values() if uid in (None, one.labels[convert.UID])]
        return (
            pb.ListPodSandboxResponse(items=boxes).SerializeToString(deterministic=True),
            pb.ListContainersResponse(containers=inside).SerializeToString(deterministic=True),
        )

    def status(self, item_id: str) -> tuple[str, bytes] | None:
        """A status as a message, with its method; None: there is none that goes with the row."""
        if item_id in self.boxes:
            box = self.box_status.get(item_id)
            if box is None or box.state != self.boxes[item_id].state:
                return None
            made = pb.PodSandboxStatusResponse(status=box)
            return "PodSandboxStatus", made.SerializeToString(deterministic=True)
        row, one = self.containers.get(item_id), self.container_status.get(item_id)
        if row is None or one is None or one.state != row.state:
            return None
        status = pb.ContainerStatusResponse(status=one)
        return "ContainerStatus", status.SerializeToString(deterministic=True)


class Played:
    """A capture played from its beginning to its end; ``records`` are what the engine told.

    ``path``: what a recorder would have written of it is written there.
    """

    def __init__(
        self, runtime: str, scenario: str, path: Path | None = None, profile: str = "kep"
    ) -> None:
        self._lines = captures.records(runtime, scenario)
        self._ours = SUBSCRIBERS.get(scenario, ("a",))
        origin = self._lines[0]["t"]
        self._clock = VirtualClock(origin)
        self._agenda = Agenda(self._clock)
        self._runtime = Runtime()
        self._rows = Interner()
        settings = EngineSettings(profile=profile)
        chance = f"{runtime}/{scenario}"
        self._engine = Engine(settings, random.Random(chance))
        self.records: list[Record] = []
        self._timers: dict[str, Appointment] = {}
        self._stream = 0
        """Number of the stream that is open; 0: none."""
        self._streams = 0
        self._live = False
        self._state = "up"
        self._waiting: list[Callable[[], None]] = []
        self._version = self._lines[0]["version"]
        self._scribe = None
        if path is not None:
            info = SessionInfo(
                session=chance,
                command="watch",
                title=f"{scenario} on {runtime}",
                simulated=False,
                chance=chance,
                settings=settings,
                origin=origin,
            )
            self._scribe = Scribe(info, lambda _part: Segment(path))
        self._down_until = max(
            (one["t"] for one in self._lines if one.get("code") == "UNAVAILABLE"), default=0
        )

    def play(self) -> Played:
        """Play it."""
        clock = self._clock
        origin = clock.wall()
        for line in self._lines:
            self._agenda.at(line["t"] - origin, partial(self._happens, line))
        self._agenda.at(0, self._begin)
        play(self._agenda, clock, self._lines[-1]["t"] - origin + AFTER_NS)
        self._feed(Stop(t=clock.mono(), wall=clock.wall()))
        if self._scribe is not None:
            self._scribe.turn()
        return self

    def _begin(self) -> None:
        version = self._version
        self._feed(
            RuntimeProbed(
                **self._now(),
                name=version["runtime_name"],
                version=version["runtime_version"],
                api_version=version["runtime_api_version"],
                endpoint="unix:///run/cri.sock",
                policy="join",
                reason="A capture.",
            )
        )
        self._feed(Start(**self._now()))

    def _now(self) -> dict[str, Any]:
        return {"t": self._clock.mono(), "wall": self._clock.wall()}

    # What is in the capture

    def _happens(self, line: dict[str, Any]) -> None:
        match line["kind"]:
            case "list":
                self._runtime.listed(
                    pb.ListPodSandboxResponse.FromString(base64.b64decode(line["pods_b64"])),
                    pb.ListContainersResponse.FromString(base64.b64decode(line["containers_b64"])),
                )
            case "status":
                raw = base64.b64decode(line["b64"])
                self._runtime.inspected(pb.ContainerStatusResponse.FromString(raw).status)
            case "event":
                raw = base64.b64decode(line["b64"])
                self._runtime.told(pb.ContainerEventResponse.FromString(raw))
                if line["subscriber"] in self._ours:
                    self._hear(raw)
            case "error" if line.get("subscriber") in self._ours:
                self._end(line["code"], line.get("details", ""))
            case "action":
                self._acts(line)

    def _acts(self, line: dict[str, Any]) -> None:
        action = line["action"]
        if action.startswith("Remove"):
            gone = line.get("container_id") or line["pod_sandbox_id"]
            # When it answered is not told; an event of it comes first.
            self._agenda.after(50 * MS, partial(self._runtime.removed, gone))
        elif action.startswith("SIGSTOP"):
            self._state = "hung"
        elif action.startswith("stop "):
            self._state = "down"
        elif action.startswith("SIGCONT"):
            self._goes_on()
        elif action.startswith("start "):
            self._agenda.at(self._down_until - self._lines[0]["t"] + MS, self._goes_on)

    def _goes_on(self) -> None:
        self._state = "up"
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()

    def _hear(self, raw: bytes) -> None:
        if not self._stream:
            return
        self._works(self._stream)
        now = self._now()
        if self._scribe is not None:
            self._scribe.put_event(now["t"], now["wall"], raw)
        event = convert.event(pb.ContainerEventResponse.FromString(raw), len(raw))
        self._feed(StreamEvent(**now, event=event))

    # What the engine wants

    def _feed(self, happened: Input) -> None:
        if self._scribe is not None:
            self._scribe.put_input(happened)
        outputs = self._engine.step(happened)
        for record in outputs.records:
            numbered = msgspec.structs.replace(record, seq=len(self.records) + 1)
            self.records.append(numbered)
            if self._scribe is not None:
                self._scribe.put_record(numbered, by_engine=True)
        if self._scribe is not None and self._scribe.waiting:
            self._scribe.flush()
        for effect in outputs.effects:
            self._perform(effect)

    def _perform(self, effect: Effect) -> None:
        match effect:
            case WakeAt():
                self._forget(effect.timer)
                self._timers[effect.timer] = self._agenda.at(effect.at, partial(self._wake, effect))
            case CancelWake():
                self._forget(effect.timer)
            case ListPods():
                self._agenda.after(CALL_NS, partial(self._list, effect))
            case InspectPod():
                self._agenda.after(CALL_NS, partial(self._inspect, effect))
            case CloseStream():
                self._stream = 0
            case _:
                self._agenda.after(CALL_NS, self._open)

    def _forget(self, timer: str) -> None:
        appointment = self._timers.pop(timer, None)
        if appointment is not None:
            appointment.cancel()

    def _wake(self, wake: WakeAt) -> None:
        self._feed(TimerFired(**self._now(), timer=wake.timer, token=wake.token))

    def _list(self, wanted: ListPods) -> None:
        if self._state == "hung":
            self._waiting.append(partial(self._list, wanted))
            return
        if self._state == "down":
            failed = PodsListFailed(**self._now(), call=wanted.call, error=DOWN, code="unreachable")
            self._feed(failed)
            return
        boxes, inside = self._runtime.lists(wanted.uid)
        full = wanted.uid is None
        self._answered("ListPodSandbox", wanted.uid or "", boxes)
        self._answered("ListContainers", wanted.uid or "", inside)
        self._feed(
            PodsListed(
                **self._now(),
                call=wanted.call,
                sandboxes=self._rows.sandboxes(
                    pb.ListPodSandboxResponse.FromString(boxes), full=full
                ),
                containers=self._rows.containers(
                    pb.ListContainersResponse.FromString(inside), full=full
                ),
            )
        )

    def _inspect(self, wanted: InspectPod) -> None:
        if self._state == "hung":
            self._waiting.append(partial(self._inspect, wanted))
            return
        if self._state == "down":
            self._feed(PodInspectFailed(**self._now(), call=wanted.call, error=DOWN))
            return
        boxes, inside = [], []
        try:
            for item_id in (*wanted.sandbox_ids, *wanted.container_ids):
                found = self._runtime.status(item_id)
                if found is None:
                    continue
                method, raw = found
                self._answered(method, item_id, raw)
                if method == "PodSandboxStatus":
                    box = pb.PodSandboxStatusResponse.FromString(raw)
                    boxes.append(convert.sandbox_status(box))
                else:
                    one = pb.ContainerStatusResponse.FromString(raw)
                    inside.append(convert.container_status(one))
        except convert.InvalidStatus as error:
            self._feed(PodInspectFailed(**self._now(), call=wanted.call, error=str(error)))
            return
        self._feed(
            PodInspected(
                **self._now(),
                call=wanted.call,
                sandboxes=tuple(boxes),
                containers=tuple(inside),
            )
        )

    def _answered(self, method: str, asked_for: str, raw: bytes) -> None:
        if self._scribe is not None:
            now = self._now()
            self._scribe.put_answer(Answer(now["t"], now["wall"], method, asked_for, raw))

    # The stream

    def _open(self) -> None:
        if self._state == "hung":
            self._waiting.append(self._open)
            return
        if self._state == "down":
            self._feed(StreamEnded(**self._now(), code="unavailable", detail=DOWN))
            return
        self._streams += 1
        self._stream, self._live = self._streams, False
        self._feed(StreamOpened(**self._now()))
        if self._version["runtime_version"].startswith("1.6"):
            self._end("UNIMPLEMENTED", "unknown method GetContainerEvents")
        elif self._stream:
            self._agenda.after(GRACE_NS, partial(self._works, self._stream))

    def _works(self, stream: int) -> None:
        if self._stream == stream and not self._live:
            self._live = True
            self._feed(StreamLive(**self._now()))

    def _end(self, code: str, details: str) -> None:
        if not self._stream:
            return
        status = grpc.StatusCode.OK if code == "EOF" else grpc.StatusCode[code]
        end = stream_end(status, details, at_once=not self._live)
        self._stream = 0
        self._feed(StreamEnded(**self._now(), code=end.code, detail=end.detail))


def all_captures() -> list[tuple[str, str]]:
    """Runtime and scenario of each."""
    return [(path.parent.name, path.name.partition(".")[0]) for path in captures.paths()]


def golden(runtime: str, scenario: str) -> Path:
    """Where what the engine tells of a capture is kept."""
    return GOLDEN / runtime / f"{scenario}.jsonl.gz"


def lines(records: list[Record]) -> Iterator[bytes]:
    """A record a line."""
    for record in records:
        yield msgspec.json.encode(record) + b"\n"


def main() -> None:
    """Write all golden files."""
    parser = argparse.ArgumentParser(prog="python -m tests.recording.captured")
    parser.add_argument("--write", action="store_true", required=True)
    parser.parse_args()
    for runtime, scenario in all_captures():
        path = golden(runtime, scenario)
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = b"".join(lines(Played(runtime, scenario).play().records))
        if not path.exists() or gzip.decompress(path.read_bytes()) != raw:
            path.write_bytes(gzip.compress(raw, 9, mtime=0))
            told = raw.count(b"\n")
            print(f"{path.relative_to(GOLDEN)}: {told:,} records")


if __name__ == "__main__":
    main()
