"""The real engine and the simulated node under a virtual clock: no gRPC, no task, no waiting.

Stands in for CRI client, driver and journal. A call takes ``CALL_NS``, an event's way to the
engine ``STREAM_NS``; both are made up, constant, and small against everything that is tested.
"""

import random
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from app.engine.effects import CancelWake, Effect, InspectPod, ListPods, OpenStream, WakeAt
from app.engine.engine import Engine
from app.engine.inputs import (
    Input,
    PodInspected,
    PodInspectFailed,
    PodsListed,
    RuntimeProbed,
    Start,
    StreamEvent,
    StreamLive,
    StreamOpened,
    TimerFired,
)
from app.engine.model import (
    ContainerEvent,
    ContainerStatus,
    Observation,
    SandboxStatus,
)
from app.engine.records import Record
from app.engine.settings import EngineSettings
from app.sim.agenda import Agenda, Appointment, VirtualClock, play
from app.sim.flavour import MS
from app.sim.objects import Container, RuntimeEvent, Sandbox
from app.sim.workers import PodWorkers, WorkerSettings
from app.sim.world import NotFoundError, World

R = TypeVar("R", bound=Record)

CALL_NS = MS
STREAM_NS = MS // 2


def sandbox_row(one: Sandbox) -> Observation:
    pod = one.config
    return Observation(
        id=one.id,
        kind="sandbox",
        pod_uid=pod.uid,
        pod_name=pod.name,
        pod_namespace=pod.namespace,
        name="",
        attempt=pod.attempt,
        runtime_state=one.state,
        created_at=one.created_at,
    )


def container_row(one: Container) -> Observation:
    labels = one.config.labels
    return Observation(
        id=one.id,
        kind="container",
        pod_uid=labels["io.kubernetes.pod.uid"],
        pod_name=labels["io.kubernetes.pod.name"],
        pod_namespace=labels["io.kubernetes.pod.namespace"],
        name=one.config.name,
        attempt=one.config.attempt,
        runtime_state=one.state,
        created_at=one.created_at,
        sandbox_id=one.sandbox_id,
    )


def sandbox_status(one: Sandbox) -> SandboxStatus:
    ips = (one.ip,) if one.ip else ()
    return SandboxStatus(one.id, one.config.attempt, one.state, one.created_at, ips)


def container_status(one: Container) -> ContainerStatus:
    exited = one.state == "exited"
    return ContainerStatus(
        id=one.id,
        name=one.config.name,
        attempt=one.config.attempt,
        runtime_state=one.state,
        created_at=one.created_at,
        started_at=one.started_at,
        finished_at=one.finished_at if exited else 0,
        exit_code=one.exit_code if exited else None,
        reason=one.reason if exited else "",
        image=one.config.image,
    )


def event(told: RuntimeEvent) -> ContainerEvent:
    pod = told.sandbox.config
    return ContainerEvent(
        type=told.kind,
        container_id=told.container_id,
        created_at=told.created_at,
        has_sandbox_status=True,
        has_metadata=True,
        pod_uid=pod.uid,
        pod_name=pod.name,
        pod_namespace=pod.namespace,
        sandbox_id=told.sandbox.id,
    )


class VirtualNode:
    """A node, its workers and a shadow PLEG; ``run`` lets virtual time pass."""

    def __init__(
        self,
        seed: int = 1,
        *,
        stream: bool = True,
        workers: WorkerSettings | None = None,
        engine: EngineSettings | None = None,
    ) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.events: list[RuntimeEvent] = []
        self.records: list[Record] = []
        self.inputs: list[Input] = []
        self.world = World(seed, self._publish)
        self.engine = Engine(engine or EngineSettings(), random.Random(seed))
        self.workers = PodWorkers(self.agenda, self.world, self._from_workers, seed, workers)
        self.failing: set[str] = set()
        """UIDs of pods whose inspection fails."""
        self._open = False
        self._timers: dict[str, Appointment] = {}
        self._stepping = False
        self._feed(
            RuntimeProbed(
                **self._now(),
                name="containerd",
                version="2.1.0",
                api_version="v1",
                endpoint="virtual",
                policy="join" if stream else "relist_only",
                reason="a test",
            )
        )
        self.agenda.after(0, lambda: self._feed(Start(**self._now())))

    def run(self, seconds: float) -> None:
        """Let that much time pass."""
        play(self.agenda, self.clock, self.clock.mono() + round(seconds * 1e9))

    def of(self, kind: type[R], uid: str | None = None) -> list[R]:
        """The records of a kind so far, of one pod if given."""
        return [
            one
            for one in self.records
            if isinstance(one, kind) and uid in (None, getattr(one, "uid", None))
        ]

    def _now(self) -> dict[str, Any]:
        return {"t": self.clock.mono(), "wall": self.clock.wall()}

    def _from_workers(self, happened: Input) -> None:
        self.inputs.append(happened)
        self._feed(happened)

    def _feed(self, happened: Input) -> None:
        assert not self._stepping, "fed from within a step"
        self._stepping = True
        outputs = self.engine.step(happened)
        for record in outputs.records:
            self.records.append(record)
            self.workers.on_record(record)
        self._stepping = False
        self._perform(outputs.effects)

    def _perform(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            match effect:
                case WakeAt():
                    self._cancel(effect.timer)
                    self._timers[effect.timer] = self.agenda.at(effect.at, self._fire(effect))
                case CancelWake():
                    self._cancel(effect.timer)
                case ListPods():
                    self.agenda.after(2 * CALL_NS, self._list(effect))
                case InspectPod():
                    calls = len(effect.sandbox_ids) + len(effect.container_ids)
                    self.agenda.after(calls * CALL_NS, self._inspect(effect))
                case OpenStream():
                    self._open = True
                    self.agenda.after(0, lambda: self._feed(StreamOpened(**self._now())))
                    self.agenda.after(CALL_NS, lambda: self._feed(StreamLive(**self._now())))
                case _:
                    raise AssertionError(f"not expected here: {effect}")

    def _cancel(self, timer: str) -> None:
        appointment = self._timers.pop(timer, None)
        if appointment is not None:
            appointment.cancel()

    def _fire(self, wake: WakeAt) -> Callable[[], None]:
        return lambda: self._feed(TimerFired(**self._now(), timer=wake.timer, token=wake.token))

    def _list(self, wanted: ListPods) -> Callable[[], None]:
        def answer() -> None:
            rows = [sandbox_row(one) for one in self.world.sandboxes()]
            others = [container_row(one) for one in self.world.containers()]
            uid = wanted.uid
            self._feed(
                PodsListed(
                    **self._now(),
                    call=wanted.call,
                    sandboxes=tuple(one for one in rows if uid in (None, one.pod_uid)),
                    containers=tuple(one for one in others if uid in (None, one.pod_uid)),
                )
            )

        return answer

    def _inspect(self, wanted: InspectPod) -> Callable[[], None]:
        def answer() -> None:
            if wanted.uid in self.failing:
                self._feed(PodInspectFailed(**self._now(), call=wanted.call, error="no answer"))
                return
            sandboxes, containers = [], []
            for sandbox_id in wanted.sandbox_ids:
                try:
                    sandboxes.append(sandbox_status(self.world.sandbox(sandbox_id)))
                except NotFoundError:
                    continue
            for container_id in wanted.container_ids:
                try:
                    containers.append(container_status(self.world.container(container_id)))
                except NotFoundError:
                    continue
            self._feed(
                PodInspected(
                    **self._now(),
                    call=wanted.call,
                    sandboxes=tuple(sandboxes),
                    containers=tuple(containers),
                )
            )

        return answer

    def _publish(self, told: RuntimeEvent) -> None:
        self.events.append(told)
        if self._open:
            self.agenda.after(
                STREAM_NS, lambda: self._feed(StreamEvent(**self._now(), event=event(told)))
            )
