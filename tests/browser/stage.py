"""A server that says what a test wants: the page is real, its WebSocket is played.

Messages are made of the wire's own structs, so that what the page is shown here is what the
server can send.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
from playwright.sync_api import Page, WebSocketRoute

from app.engine.records import (
    AnyRecord,
    ContainerEventSeen,
    Lifecycle,
    PodCached,
    PodSeen,
    RelistFinished,
    RelistStarted,
    RequestMade,
    RuntimeSeen,
)
from app.engine.state import EngineState, HealthState, QueueState, RelistState, StreamView
from app.hub.wire import (
    Batch,
    Bye,
    Cost,
    Hello,
    Lagging,
    OldestCall,
    PodRow,
    SessionState,
    Snapshot,
    State,
)

MS = 1_000_000
S = 1_000_000_000
UNTIL = 100 * S
"""Session time at which a stage begins."""

#: A server speaks twice a second. This one speaks when the test does, however long that takes: in
#: between its page is told, by a message without anything in it, that it is there.
PULSE = """setInterval(() => {
  const source = window.plegscope?.source;
  if (source?.link === "open") source.socket?.onmessage?.({ data: '{"type": "pulse"}' });
}, 500);"""

Message = Hello | Snapshot | Batch | State | Lagging | Bye


class Stage:
    """Plays the server for one page.

    Args:
        page: one that has not gone anywhere yet.
        session: name of the session; another one is another start of the server.
    """

    def __init__(self, page: Page, session: str = "stage") -> None:
        self.session = session
        self.seq = 0
        self.asked: list[str] = []
        """Addresses of all connections so far, newest last."""
        self.records: list[AnyRecord] = []
        self.answers = True
        """Whether a new connection is greeted; if not, it is closed at once."""
        self.facts: dict[str, Any] = {}
        """What differs from a healthy node: fields of EngineState or of SessionState."""
        self.pods: tuple[PodRow, ...] = ()
        self._began = time.monotonic_ns()
        self._routes: list[WebSocketRoute] = []
        page.add_init_script(PULSE)
        page.route_web_socket("**/ws*", self._connected)

    @property
    def t(self) -> int:
        """Session time now (ns)."""
        return UNTIL + time.monotonic_ns() - self._began

    def send(self, message: Message) -> None:
        """Say something to the newest connection."""
        self._routes[-1].send(msgspec.json.encode(message).decode())

    def hang_up(self) -> None:
        """End the newest connection."""
        self._routes[-1].close(code=1001)

    def say_state(self) -> None:
        """Send the state as it is now."""
        self.send(State(self.state()))

    def happen(self, *records: AnyRecord) -> None:
        """Number records and send them."""
        first = self.seq + 1
        numbered = tuple(self.number(record) for record in records)
        self.send(Batch(first, self.seq, numbered))

    def number(self, record: AnyRecord) -> AnyRecord:
        """A record with the next number, kept for the next snapshot."""
        self.seq += 1
        numbered = msgspec.structs.replace(record, seq=self.seq)
        self.records.append(numbered)
        return numbered

    def state(self) -> SessionState:
        """A healthy node, but for ``facts``."""
        t = self.t
        engine: dict[str, Any] = {
            "t": t,
            "profile": "kep",
            "period_ns": S,
            "pace_ns": S,
            "health": HealthState(True, "", t - 400 * MS, 180 * S, None),
            "stream": StreamView("connected", 0, "Hints come.", "join"),
            "queue": QueueState(0, 200, 0, 0),
            "running": None,
            "last_global": RelistState(
                1, "global", "global", t - 400 * MS, None, 6_900_000, True, 2, 2
            ),
            "next_global_t": None,
            "pods": 2,
            "containers": 2,
            "events": {"evented_pleg": 3},
            "requests": {},
            "stream_events": {},
        }
        session: dict[str, Any] = {
            "session": self.session,
            "title": "A node on a stage",
            "simulated": True,
            "endpoint": "unix:///stage",
            "endpoint_reason": "the test says so",
            "wall": self.wall(t),
            "cost": Cost(0.006, 2.1, 38_000, 61_000_000),
            "runtime": runtime(),
            "oldest_call": None,
            "viewers": 1,
            "first_seq": 1,
            "last_seq": self.seq,
        }
        for name, value in self.facts.items():
            target = engine if name in EngineState.__struct_fields__ else session
            target[name] = value(t) if callable(value) else value
        return SessionState(engine=EngineState(**engine), **session)

    def wall(self, t: int) -> int:
        """Wall time (ns since 1970) of a session time."""
        return 1_795_962_760 * S + t

    def snapshot(self) -> Snapshot:
        """Everything anew."""
        return Snapshot(self.state(), self.pods, tuple(self.records), False, self.seq)

    def _connected(self, route: WebSocketRoute) -> None:
        self.asked.append(route.url)
        self._routes.append(route)
        if not self.answers:
            route.close(code=1011)
            return
        resumed = f"session={self.session}" in route.url
        self.send(Hello(self.session, "test", resumed))
        if not resumed:
            self.send(self.snapshot())

    def chain(self, uid: str, at: int, name: str = "cart", wait: int = 3 * MS) -> list[AnyRecord]:
        """A stop, its request, its relist and what that found, ``at`` session time (ns)."""
        number = len(self.records) + 1
        begun = at + wait
        done = begun + 2 * MS
        cid = f"{number:064x}"

        def w(t: int) -> int:
            return self.wall(t)

        return [
            ContainerEventSeen(
                t=at, wall=w(at), event=number, type="stopped", uid=uid, container_id=cid,
                container_name=name, is_sandbox=False, created_at=w(at) - MS, latency_ns=MS,
                backlog=False, request=number, exit_code=137, reason="OOMKilled",
            ),
            RequestMade(
                t=at, wall=w(at), request=number, uid=uid, source="evented_pleg", event=number,
                outcome="queued", depth=1,
            ),
            RelistStarted(
                t=begun, wall=w(begun), relist=number, scope="pod", source="evented_pleg", uid=uid,
                request=number, waited_ns=wait,
            ),
            PodCached(
                t=done, wall=w(done), uid=uid, name=f"{name}-0", namespace="shop", relist=number,
            ),
            Lifecycle(
                t=done, wall=w(done), type="ContainerDied", uid=uid, container_id=cid,
                container_name=name, is_sandbox=False, old_state="running", new_state="exited",
                relist=number, source="evented_pleg", delivery="sent", request=number, event=number,
                stop_t=at, after_ns=done - at, exit_code=137, reason="OOMKilled",
                poll_due_t=done + 996 * MS,
            ),
            RelistFinished(
                t=done, wall=w(done), relist=number, scope="pod", source="evented_pleg",
                started=begun, duration_ns=2 * MS, ok=True, uid=uid, request=number, pods=1,
                containers=1, changed=1, calls=4, slowest_method="ListContainers", slowest_ns=MS,
            ),
        ]  # fmt: skip

    def pod(self, uid: str, name: str, namespace: str = "shop", at: int = S) -> PodSeen:
        """A pod comes into being."""
        return PodSeen(t=at, wall=self.wall(at), uid=uid, name=name, namespace=namespace)


def runtime(**more: Any) -> RuntimeSeen:
    """What answered Version."""
    facts: dict[str, Any] = {
        "t": 0, "wall": 0, "name": "containerd", "version": "2.1.4", "api_version": "v1",
        "endpoint": "unix:///stage", "policy": "join", "reason": "Every subscriber gets them all.",
    }  # fmt: skip
    return RuntimeSeen(**(facts | more))


def hung(age_ns: int) -> Callable[[int], OldestCall]:
    """A call that does not come back, at any time."""
    return lambda t: OldestCall("ListPodSandbox", t - age_ns, True)
