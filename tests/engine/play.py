"""A stage for plays about the engine: a virtual node, a virtual clock, and someone who acts.

    stage = Stage()
    stage.node.container("web", "c1")
    stage.start()
    stage.relist()
    stage.node.exit("web", "c1", 137)
    stage.stopped("web", "c1")
    assert lifecycle(stage.run(0.1)) == ["web Died c1"]

The stage carries out effects in order. A list or an inspection looks at the node when it is asked
for and answers ``list_ns`` or ``inspect_ns`` later; with ``by_hand`` nothing is answered until the
test calls ``answer`` or ``fail``, and ``look`` chooses the moment of looking. Timers fire at their
time exactly. Nothing here is taken from the engine but the types of inputs, effects and records.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar

import msgspec

from app.engine.effects import (
    CancelWake,
    CloseStream,
    Effect,
    InspectPod,
    ListPods,
    OpenStream,
    WakeAt,
)
from app.engine.engine import Engine
from app.engine.inputs import (
    EndCode,
    Input,
    PodInspected,
    PodInspectFailed,
    PodsListed,
    PodsListFailed,
    ReinspectRequested,
    RelistRequested,
    RuntimeProbed,
    Start,
    Stop,
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamOpened,
    StreamPolicy,
    SyncEnded,
    SyncStarted,
    TimerFired,
)
from app.engine.model import CallCost, ContainerEvent, RelistSource
from app.engine.outbox import Outputs
from app.engine.records import (
    Lifecycle,
    Record,
    RelistFinished,
    RequestMade,
    RequestMoved,
)
from app.engine.settings import EngineSettings
from app.engine.state import EngineState
from app.engine.stream import Uniform
from tests.engine.node import Inspection, Node, Sight

MS = 1_000_000
SECOND = 1_000_000_000
WALL = 1_800_000_000 * SECOND
"""Wall time when the stage's clock shows 0."""

StreamPlan = EndCode | Literal["live", "opened", "silent"]

R = TypeVar("R", bound=Record)


class Dice:
    """Chance as the test wants it: these numbers in turn, then the last one for ever."""

    def __init__(self, *numbers: float) -> None:
        self._numbers = list(numbers) or [0.0]
        self.drawn = 0

    def random(self) -> float:
        """The next number."""
        number = self._numbers[min(self.drawn, len(self._numbers) - 1)]
        self.drawn += 1
        return number


@dataclass
class Call:
    """A list or an inspection that has not been answered; ``sight``: what was seen, once looked."""

    effect: ListPods | InspectPod
    sight: Sight | Inspection | None = None


@dataclass
class Clock:
    """Monotonic ns, and wall ns that follow it unless a test sets ``wall_skew``."""

    t: int = 0
    wall_skew: int = 0

    @property
    def wall(self) -> int:
        """Wall time now."""
        return WALL + self.t + self.wall_skew


@dataclass
class Stage:
    """One engine in its theatre. Durations given to methods are seconds, to fields ns."""

    settings: EngineSettings = field(default_factory=EngineSettings)
    policy: StreamPolicy | None = "join"
    """What the probe says before the start; None: the runtime was not probed."""
    dice: Uniform = field(default_factory=Dice)
    list_ns: int = MS
    inspect_ns: int = MS
    by_hand: bool = False
    stream: StreamPlan = "live"
    """What opening the stream brings: ``live``, ``opened`` only, ``silent``, or an end code."""
    costs: tuple[CallCost, ...] = ()
    """What each list claims to have cost."""
    watcher: Callable[[Input, Outputs], None] | None = None
    """Told of each step after it."""

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.node = Node(WALL)
        self.engine = Engine(self.settings, self.dice)
        self.records: list[Record] = []
        self.effects: list[Effect] = []
        self.calls: list[Call] = []
        self.opened: list[int] = []
        """When the stream was opened (or an attempt made)."""
        self._agenda: list[tuple[int, int, Callable[[], object]]] = []
        self._entries = 0
        self._timers: dict[str, WakeAt] = {}

    # What the test lets happen

    def start(self) -> list[Record]:
        """Probe (unless the policy is None) and start."""
        before = len(self.records)
        if self.policy is not None:
            self.probe(self.policy)
        self.tell(Start(t=self.clock.t, wall=self.clock.wall))
        return self.records[before:]

    def stop(self) -> list[Record]:
        """The session ends."""
        return self.tell(Stop(t=self.clock.t, wall=self.clock.wall))

    def probe(self, policy: StreamPolicy, reason: str = "Asked.") -> list[Record]:
        """The runtime was asked who it is."""
        return self.tell(
            RuntimeProbed(
                t=self.clock.t,
                wall=self.clock.wall,
                name="containerd",
                version="2.1.9",
                api_version="v1",
                endpoint="unix:///run/x.sock",
                policy=policy,
                reason=reason,
            )
        )

    def ask(self, uid: str, source: RelistSource = "post_sync") -> list[Record]:
        """Somebody asks for a pod's relist."""
        now = self.clock
        return self.tell(RelistRequested(t=now.t, wall=now.wall, uid=uid, source=source))

    def mark(self, uid: str) -> list[Record]:
        """Somebody asks for a pod's reinspection."""
        return self.tell(ReinspectRequested(t=self.clock.t, wall=self.clock.wall, uid=uid))

    def hold(self, uid: str) -> list[Record]:
        """SyncPod begins."""
        return self.tell(SyncStarted(t=self.clock.t, wall=self.clock.wall, uid=uid))

    def release(self, uid: str, *, did_work: bool = False, failed: bool = False) -> list[Record]:
        """SyncPod returns."""
        now = self.clock
        return self.tell(
            SyncEnded(t=now.t, wall=now.wall, uid=uid, did_work=did_work, failed=failed)
        )

    def event(self, event: ContainerEvent, *, received: int | None = None) -> list[Record]:
        """The stream delivers an event, received now or (monotonic ns) before."""
        t = self.clock.t if received is None else received
        return self.tell(StreamEvent(t=t, wall=self.clock.wall - self.clock.t + t, event=event))

    def stopped(self, uid: str, item_id: str, **more: Any) -> list[Record]:
        """The stream delivers a stop event."""
        return self.event(container_event(uid, item_id, created_at=self.clock.wall, **more))

    def stream_ends(self, code: EndCode = "error", detail: str = "") -> list[Record]:
        """The stream breaks."""
        now = self.clock
        return self.tell(StreamEnded(t=now.t, wall=now.wall, code=code, detail=detail))

    def tell(self, happened: Input) -> list[Record]:
        """One step of the engine, and its effects begun; returns the step's records."""
        outputs = self.engine.step(happened)
        self._perform(outputs)
        if self.watcher is not None:
            self.watcher(happened, outputs)
        return list(outputs.records)

    def fire(self, wake: WakeAt) -> list[Record]:
        """A timer fires now, be it due or not."""
        now = self.clock
        return self.tell(TimerFired(t=now.t, wall=now.wall, timer=wake.timer, token=wake.token))

    # Answering by hand

    @property
    def call(self) -> Call:
        """The one call that waits for its answer."""
        (call,) = self.calls
        return call

    def look(self) -> Sight | Inspection:
        """Look at the node now for the waiting call."""
        call = self.call
        call.sight = self._look(call.effect)
        return call.sight

    def answer(self, *costs: CallCost) -> list[Record]:
        """Answer the waiting call with what was seen (now, unless looked before)."""
        return self._answer(self.call, *costs)

    def _answer(self, call: Call, *costs: CallCost) -> list[Record]:
        sight = call.sight or self._look(call.effect)
        self.calls.remove(call)
        now, number = self.clock, call.effect.call
        if isinstance(sight, Sight):
            return self.tell(
                PodsListed(
                    t=now.t,
                    wall=now.wall,
                    call=number,
                    sandboxes=sight.sandboxes,
                    containers=sight.containers,
                    calls=costs,
                )
            )
        return self.tell(
            PodInspected(
                t=now.t,
                wall=now.wall,
                call=number,
                sandboxes=sight.sandboxes,
                containers=sight.containers,
                calls=costs,
            )
        )

    def fail(self, error: str = "It broke.", *costs: CallCost) -> list[Record]:
        """The waiting call fails."""
        return self._fail(self.call, error, *costs)

    def _fail(self, call: Call, error: str, *costs: CallCost) -> list[Record]:
        self.calls.remove(call)
        now, number = self.clock, call.effect.call
        if isinstance(call.effect, ListPods):
            return self.tell(
                PodsListFailed(
                    t=now.t,
                    wall=now.wall,
                    call=number,
                    error=error,
                    calls=costs,
                    code="unreachable",
                )
            )
        return self.tell(
            PodInspectFailed(t=now.t, wall=now.wall, call=number, error=error, calls=costs)
        )

    def inspection(self) -> InspectPod:
        """The waiting call, which must be an inspection."""
        effect = self.call.effect
        assert isinstance(effect, InspectPod)
        return effect

    def listing(self) -> ListPods:
        """The waiting call, which must be a list."""
        effect = self.call.effect
        assert isinstance(effect, ListPods)
        return effect

    # Letting time pass

    def run(self, seconds: float) -> list[Record]:
        """Let so much time pass; returns the records made meanwhile."""
        before = len(self.records)
        until = self.clock.t + round(seconds * SECOND)
        while self._agenda and self._agenda[0][0] <= until:
            self.next()
        self.clock.t = until
        return self.records[before:]

    def run_until(self, reached: Callable[[], bool]) -> list[Record]:
        """Let time pass until something is so, an hour at most."""
        before = len(self.records)
        deadline = self.clock.t + 3600 * SECOND
        while not reached():
            assert self._agenda, "nothing more will happen"
            assert self._agenda[0][0] <= deadline, "an hour has passed"
            self.next()
        return self.records[before:]

    def relist(self) -> list[Record]:
        """Let time pass until a global relist has ended; answers by hand are given as asked."""
        return self._until_finished("global")

    def targeted(self) -> list[Record]:
        """Let time pass until a targeted relist has ended."""
        return self._until_finished("pod")

    def to_next_global(self) -> None:
        """Let time pass until the next global relist has begun."""
        due = self.state().next_global_t
        assert due is not None
        self.run((due - self.clock.t) / SECOND)

    def _until_finished(self, scope: str) -> list[Record]:
        before = len(self.records)

        def finished() -> bool:
            return any(one.scope == scope for one in of(self.records[before:], RelistFinished))

        while not finished():
            if self.calls and self.by_hand:
                self.answer()
            else:
                assert self._agenda, "nothing more will happen"
                self.next()
        return self.records[before:]

    # Looking in

    def state(self) -> EngineState:
        """The engine's state now."""
        return self.engine.state(self.clock.t)

    def timer(self, name: str) -> WakeAt | None:
        """The timer of this name, if it is set."""
        return self._timers.get(name)

    def timers(self) -> tuple[str, ...]:
        """The timers that are set."""
        return tuple(self._timers)

    def statuses(self, uid: str) -> dict[str, str]:
        """What the pod cache has of a pod: state by id."""
        status = self.engine.cache.get(uid)
        sandboxes = {item.id: item.runtime_state for item in status.sandboxes}
        return {**sandboxes, **{item.id: item.runtime_state for item in status.containers}}

    def recorded(self) -> dict[str, dict[str, str]]:
        """The pod records: by UID, state by id."""
        return {
            uid: {
                item.id: item.state for item in (*pod.sandboxes.values(), *pod.containers.values())
            }
            for uid, pod in self.engine.pod_records().items()
        }

    # Carrying out effects

    def _perform(self, outputs: Outputs) -> None:
        self.records.extend(outputs.records)
        self.effects.extend(outputs.effects)
        for effect in outputs.effects:
            match effect:
                case ListPods() | InspectPod():
                    self._call(effect)
                case WakeAt():
                    self._timers[effect.timer] = effect
                    self.at(effect.at, partial(self._ring, effect))
                case CancelWake():
                    self._timers.pop(effect.timer, None)
                case OpenStream():
                    self.opened.append(self.clock.t)
                    self.at(self.clock.t, self._stream_opens)
                case CloseStream():
                    self._stream_closes()
                case _:
                    raise AssertionError(f"not an effect: {effect}")

    def _call(self, effect: ListPods | InspectPod) -> None:
        call = Call(effect)
        self.calls.append(call)
        if not self.by_hand:
            call.sight = self._look(effect)
            wait = self.list_ns if isinstance(effect, ListPods) else self.inspect_ns
            self.at(self.clock.t + wait, partial(self._answer_by_itself, call))

    def _look(self, effect: ListPods | InspectPod) -> Sight | Inspection:
        if isinstance(effect, ListPods):
            return self.node.list(effect.uid)
        return self.node.inspect(effect.uid, effect.sandbox_ids, effect.container_ids)

    def _answer_by_itself(self, call: Call) -> None:
        if call not in self.calls:
            return
        effect, error = call.effect, ""
        if isinstance(effect, ListPods):
            error = self.node.broken_list
        else:
            error = self.node.broken_pods.get(effect.uid, "")
        if error:
            self._fail(call, error, *self.costs)
        else:
            self._answer(call, *(self.costs if isinstance(effect, ListPods) else ()))

    def _stream_opens(self) -> None:
        now, what = self.clock, self.stream
        if what in ("live", "opened"):
            self.tell(StreamOpened(t=now.t, wall=now.wall))
        if what == "live":
            self.tell(StreamLive(t=now.t, wall=now.wall))
        elif what != "opened" and what != "silent":
            self.tell(StreamEnded(t=now.t, wall=now.wall, code=what, detail=""))

    def _stream_closes(self) -> None:
        """Nothing to do here: a test that closes it delivers nothing more."""

    def _ring(self, wake: WakeAt) -> None:
        if self._timers.get(wake.timer) is wake:
            del self._timers[wake.timer]
            self.fire(wake)

    def at(self, t: int, act: Callable[[], object]) -> None:
        """Something will happen at ``t`` (monotonic ns)."""
        self._entries += 1
        heapq.heappush(self._agenda, (t, self._entries, act))

    def next(self) -> None:
        """Let the next thing happen, at its time."""
        t, _, act = heapq.heappop(self._agenda)
        self.clock.t = max(self.clock.t, t)
        act()


def container_event(
    uid: str, item_id: str, event_type: str = "stopped", created_at: int = WALL, **more: Any
) -> ContainerEvent:
    """An event as a runtime would send it; ``more`` overrides fields."""
    plain = ContainerEvent(
        type=event_type,
        container_id=item_id,
        created_at=created_at,
        has_sandbox_status=True,
        has_metadata=True,
        pod_uid=uid,
        pod_name=f"pod-{uid}",
        pod_namespace="demo",
        sandbox_id=f"sandbox-of-{uid}",
    )
    return msgspec.structs.replace(plain, **more)


def of(records: Iterable[Record], kind: type[R]) -> list[R]:
    """The records of one kind."""
    return [record for record in records if isinstance(record, kind)]


def lifecycle(records: Iterable[Record]) -> list[str]:
    """Lifecycle events that were sent, as ``pod Died container``, in order."""
    return [
        f"{one.uid} {one.type.removeprefix('Container')} {one.container_id}".rstrip()
        for one in of(records, Lifecycle)
        if one.delivery == "sent"
    ]


def outcomes(records: Iterable[Record]) -> list[str]:
    """What became of requests, as ``7 queued``, in order."""
    return [
        f"{one.request} {one.outcome}"
        for one in records
        if isinstance(one, RequestMade | RequestMoved)
    ]
