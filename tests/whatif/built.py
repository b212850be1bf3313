"""Small recordings, written input by input."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.engine.inputs import (
    Input,
    PodInspected,
    PodsListed,
    RuntimeProbed,
    Start,
    StreamEvent,
    StreamLive,
    StreamOpened,
)
from app.engine.model import (
    CallCost,
    ContainerEvent,
    ContainerStatus,
    Observation,
    RuntimeState,
    SandboxStatus,
)
from app.engine.records import Lifecycle, Record, RelistFinished, RelistStarted
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from tests.recording.recorded import info

SECOND = 1_000_000_000
MS = 1_000_000
ORIGIN = 1_000 * SECOND
UID = "pod-1"


def row(state: RuntimeState, name: str = "app", *, uid: str = UID, attempt: int = 0) -> Observation:
    """A container's row."""
    return Observation(
        id=f"{uid}/{name}/{attempt}",
        kind="container",
        pod_uid=uid,
        pod_name="web",
        pod_namespace="shop",
        name=name,
        attempt=attempt,
        runtime_state=state,
        created_at=ORIGIN + 1500 * MS,
        sandbox_id=f"{uid}/sandbox",
    )


def sandbox(state: RuntimeState = "ready", *, uid: str = UID) -> Observation:
    """A sandbox's row."""
    return Observation(
        id=f"{uid}/sandbox",
        kind="sandbox",
        pod_uid=uid,
        pod_name="web",
        pod_namespace="shop",
        name="",
        attempt=0,
        runtime_state=state,
        created_at=ORIGIN + 1400 * MS,
    )


def status(
    state: RuntimeState, *, started: int = 0, finished: int = 0, name: str = "app"
) -> ContainerStatus:
    """A container's status; times in ms of the session."""
    return ContainerStatus(
        id=f"{UID}/{name}/0",
        name=name,
        attempt=0,
        runtime_state=state,
        created_at=ORIGIN + 1500 * MS,
        started_at=ORIGIN + started * MS if started else 0,
        finished_at=ORIGIN + finished * MS if finished else 0,
        exit_code=1 if state == "exited" else None,
    )


def event(kind: str, made: int, *, name: str = "app") -> ContainerEvent:
    """An event about a container, made at this time (ms)."""
    return ContainerEvent(
        type=kind,
        container_id=f"{UID}/{name}/0",
        created_at=ORIGIN + made * MS,
        has_sandbox_status=True,
        has_metadata=True,
        pod_uid=UID,
        pod_name="web",
        pod_namespace="shop",
        sandbox_id=f"{UID}/sandbox",
        container_name=name,
    )


class Built:
    """Writes a recording; times in ms of the session. Numbers of inputs can be left out."""

    def __init__(self, path: Path, **session: object) -> None:
        self.path = path
        self._scribe = Scribe(
            msgspec.structs.replace(info(**session), origin=ORIGIN), lambda _part: Segment(path)
        )
        self._relist = 0
        self._seq = 0
        self.t = 0

    def feed(self, kind: type[Input], t: int, **fields: object) -> None:
        """One input."""
        self.t = max(self.t, t)
        self._scribe.put_input(kind(t=t * MS, wall=ORIGIN + t * MS, **fields))

    def tell(self, kind: type[Record], t: int, **fields: object) -> None:
        """One record."""
        self._seq += 1
        record = kind(seq=self._seq, t=t * MS, wall=ORIGIN + t * MS, **fields)
        self._scribe.put_record(record, by_engine=True)

    def begin(self, *, stream: bool = True) -> None:
        """The runtime is known, the engine starts, the stream opens."""
        self.probe(0)
        self.feed(Start, 0)
        if stream:
            self.feed(StreamOpened, 1)
            self.feed(StreamLive, 2)

    def probe(self, t: int) -> None:
        """The runtime says who it is."""
        self.feed(
            RuntimeProbed,
            t,
            name="containerd",
            version="2",
            api_version="v1",
            endpoint="here",
            policy="join",
            reason="nobody else listens",
        )

    def relist(
        self,
        t: int,
        *rows: Observation,
        uid: str | None = None,
        statuses: tuple[ContainerStatus, ...] = (),
    ) -> None:
        """A relist from ``t`` on: 4 ms of listing, and 2 ms of inspection if there are statuses."""
        self._relist += 1
        scope, source = ("global", "global") if uid is None else ("pod", "evented_pleg")
        told = {"relist": self._relist, "scope": scope, "source": source, "uid": uid}
        self.tell(RelistStarted, t, **told)
        self.feed(
            PodsListed,
            t + 4,
            call=self._relist,
            sandboxes=tuple(one for one in rows if one.kind == "sandbox"),
            containers=tuple(one for one in rows if one.kind == "container"),
            calls=(CallCost("ListPodSandbox", 2 * MS), CallCost("ListContainers", 2 * MS)),
        )
        if statuses:
            self.feed(
                PodInspected,
                t + 6,
                call=self._relist,
                sandboxes=(SandboxStatus(f"{UID}/sandbox", 0, "ready", ORIGIN + 1400 * MS),),
                containers=statuses,
                calls=(CallCost("PodSandboxStatus", MS), CallCost("ContainerStatus", MS)),
            )
        end = t + 6
        self.tell(RelistFinished, end, started=t * MS, duration_ns=6 * MS, ok=True, **told)

    def hear(self, t: int, told: ContainerEvent) -> None:
        """The stream brings an event."""
        self.feed(StreamEvent, t, event=told)

    def found(self, t: int, kind: str, name: str = "app") -> None:
        """The recorded engine found a start or an end."""
        self.tell(
            Lifecycle,
            t,
            type=kind,
            uid=UID,
            container_id=f"{UID}/{name}/0",
            container_name=name,
            is_sandbox=False,
            old_state="running",
            new_state="exited",
            relist=self._relist,
            source="global",
            delivery="sent",
        )

    def lose(self, inputs: int) -> None:
        """So many inputs are missing here."""
        self._scribe._inputs += inputs
        self._scribe._lists.restart()

    def close(self) -> Path:
        """End the file."""
        self._scribe.turn()
        return self.path


def one_life(path: Path, *, stream: bool = True, until: int = 12) -> Path:
    """A container that starts at 1.6 s and ends at 4.5 s; polled each second to ``until``."""
    built = Built(path)
    built.begin(stream=stream)
    for second in range(until):
        t = second * 1000 + 100
        if second < 2:
            built.relist(t)
        elif second < 5:
            statuses = (status("running", started=1600),) if second == 2 else ()
            built.relist(t, sandbox(), row("running"), statuses=statuses)
            if second == 2:
                built.found(t + 6, "ContainerStarted")
        else:
            statuses = (status("exited", started=1600, finished=4500),) if second == 5 else ()
            built.relist(t, sandbox(), row("exited"), statuses=statuses)
            if second == 5:
                built.found(t + 6, "ContainerDied")
        if stream and second == 4:
            built.hear(4551, event("stopped", 4550))
    return built.close()
