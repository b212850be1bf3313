"""Records and states made by hand, for tests of what reads them."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.engine.model import ContainerStatus, RuntimeState, SandboxStatus
from app.engine.records import (
    ContainerEventSeen,
    Lifecycle,
    Note,
    PodCached,
    PodGone,
    PodSeen,
    Record,
    RelistFinished,
    RelistStarted,
    RequestMade,
)
from app.engine.state import EngineState, HealthState, QueueState, StreamView
from app.hub.wire import Cost, SessionState

SECOND = 1_000_000_000
WALL = 1_790_000_000 * SECOND
SESSION = "test-session"
HOSTILE = "<script>alert(1)</script>\u202e\x00\"'&\\\n"


def note(t: int = 0, text: str = "something") -> Note:
    return Note(t=t, wall=WALL + t, level="info", text=text)


def pod_seen(uid: str = "u1", t: int = 0, name: str = "web-1", namespace: str = "shop") -> PodSeen:
    return PodSeen(t=t, wall=WALL + t, uid=uid, name=name, namespace=namespace)


def pod_gone(uid: str = "u1", t: int = 0) -> PodGone:
    return PodGone(t=t, wall=WALL + t, uid=uid)


def container(name: str = "app", state: str = "running", identity: str = "c1") -> ContainerStatus:
    fields = {"id": identity, "name": name, "attempt": 0, "runtime_state": state, "created_at": 1}
    return msgspec.convert(fields, ContainerStatus)


def pod_cached(
    uid: str = "u1",
    t: int = 0,
    *containers: ContainerStatus,
    name: str = "web-1",
    error: str = "",
    ips: tuple[str, ...] = (),
    box: RuntimeState | None = "ready",
) -> PodCached:
    return PodCached(
        t=t,
        wall=WALL + t,
        uid=uid,
        name=name,
        namespace="shop",
        relist=1,
        containers=containers,
        error=error,
        ips=ips,
        sandboxes=() if box is None or error else (SandboxStatus("box", 0, box, 0),),
    )


def relist_started(relist: int = 1, t: int = 0, uid: str | None = None) -> RelistStarted:
    return RelistStarted(
        t=t,
        wall=WALL + t,
        relist=relist,
        scope="global" if uid is None else "pod",
        source="global" if uid is None else "evented_pleg",
        uid=uid,
    )


def relist_finished(
    relist: int = 1,
    started: int = 0,
    duration: int = 5_000_000,
    uid: str | None = None,
    *,
    ok: bool = True,
    running_pods: int | None = None,
    by_state: dict[str, int] | None = None,
) -> RelistFinished:
    return RelistFinished(
        t=started + duration,
        wall=WALL + started + duration,
        relist=relist,
        scope="global" if uid is None else "pod",
        source="global" if uid is None else "evented_pleg",
        started=started,
        duration_ns=duration,
        ok=ok,
        uid=uid,
        running_pods=running_pods,
        containers_by_state=by_state,
    )


def stop_event(
    event: int = 1, uid: str = "u1", t: int = 0, latency: int | None = 1_000_000
) -> ContainerEventSeen:
    return ContainerEventSeen(
        t=t,
        wall=WALL + t,
        event=event,
        type="stopped",
        uid=uid,
        container_id="c1",
        container_name="app",
        is_sandbox=False,
        created_at=WALL + t - (latency or 0),
        latency_ns=latency,
        backlog=latency is None,
        request=event,
    )


def request(
    number: int = 1,
    uid: str = "u1",
    t: int = 0,
    outcome: Literal["queued", "held", "dropped"] = "queued",
) -> RequestMade:
    return RequestMade(
        t=t,
        wall=WALL + t,
        request=number,
        uid=uid,
        source="evented_pleg",
        event=number,
        outcome=outcome,
        depth=1,
    )


def died(
    uid: str = "u1", t: int = 0, delivery: Literal["sent", "discarded", "filtered"] = "sent"
) -> Lifecycle:
    return Lifecycle(
        t=t,
        wall=WALL + t,
        type="ContainerDied",
        uid=uid,
        container_id="c1",
        container_name="app",
        is_sandbox=False,
        old_state="running",
        new_state="exited",
        relist=2,
        source="evented_pleg",
        delivery=delivery,
    )


def chain(number: int, t: int, uid: str = "u1") -> list[Record]:
    """A stop and what follows from it, about 4 ms in all."""
    milli = 1_000_000
    return [
        stop_event(number, uid, t),
        request(number, uid, t),
        relist_started(number, t + milli, uid),
        relist_finished(number, t + milli, 3 * milli, uid),
        died(uid, t + 4 * milli),
    ]


def engine_state(t: int = 0, **changes: object) -> EngineState:
    state = EngineState(
        t=t,
        profile="kep",
        period_ns=SECOND,
        pace_ns=SECOND,
        health=HealthState(True, "", t, 180 * SECOND, WALL // SECOND),
        stream=StreamView("connected", 0, "It works.", "join"),
        queue=QueueState(0, 200, 0, 0),
        running=None,
        last_global=None,
        next_global_t=None,
        pods=1,
        containers=1,
        events={},
        requests={},
        stream_events={},
    )
    return msgspec.structs.replace(state, **changes)


def session_state(
    engine: EngineState | None = None, *, viewers: int = 0, last_seq: int = 0, title: str = "A node"
) -> SessionState:
    return SessionState(
        session=SESSION,
        title=title,
        simulated=False,
        endpoint="unix:///run/x.sock",
        endpoint_reason="it was given",
        wall=WALL,
        engine=engine or engine_state(),
        cost=Cost(0.01, 2.0, 1000.0, 50_000_000),
        runtime=None,
        oldest_call=None,
        viewers=viewers,
        first_seq=1,
        last_seq=last_seq,
    )
