"""What a runtime in virtual time would have sent, for those who record it.

Nothing is sent in virtual time: the engine's words are made straight from the world (``rows.py``).
With this beside it, each answer and each event is also made as the message that a real client
would have received at that moment (``messages.py``), byte for byte the same in every run.
"""

from collections.abc import Callable, Sequence

from app.cri.pb import cri_pb2 as pb
from app.engine.model import Observation
from app.sim import messages
from app.sim.agenda import VirtualClock
from app.sim.objects import RuntimeEvent, Sandbox
from app.sim.passage import Passage
from app.sim.world import World

OnAnswer = Callable[[int, int, str, str, bytes], None]
"""Monotonic and wall time (ns), the method, the id that was asked for (empty: all), the answer."""

OnEvent = Callable[[int, int, bytes], None]
"""Monotonic and wall time (ns), and the event."""


class Wire:
    """Makes messages, and hands them on as they arrive.

    A row of a list is made once and again when it changes.
    """

    def __init__(
        self, world: World, clock: VirtualClock, on_answer: OnAnswer, on_event: OnEvent
    ) -> None:
        self._world = world
        self._clock = clock
        self._on_answer = on_answer
        self._on_event = on_event
        self._rows: dict[str, bytes] = {}
        world.on_change.append(self._changed)

    def list(self, rows: Sequence[Observation]) -> bytes:
        """A list of these rows, now."""
        return b"".join([self._rows.get(row.id) or self._row(row.id) for row in rows])

    def listed(self, method: str, uid: str | None, raw: bytes) -> None:
        """A list is here."""
        self._on_answer(self._clock.mono(), self._clock.wall(), method, uid or "", raw)

    def inspected(self, item_id: str) -> None:
        """The status of a sandbox or a container was made, and is here."""
        one = self._world.look_up(item_id)
        if one is None:
            return
        t, wall = self._clock.mono(), self._clock.wall()
        if isinstance(one, Sandbox):
            box = pb.PodSandboxStatusResponse(status=messages.sandbox_status(one))
            raw = box.SerializeToString(deterministic=True)
            self._on_answer(t, wall, "PodSandboxStatus", item_id, raw)
        else:
            status = pb.ContainerStatusResponse(status=messages.container_status(one))
            raw = status.SerializeToString(deterministic=True)
            self._on_answer(t, wall, "ContainerStatus", item_id, raw)

    def event(self, told: RuntimeEvent, way: Passage | None = None) -> bytes:
        """An event as it is sent; ``way``: what faults make of it."""
        message = messages.event_message(told)
        if way is not None:
            messages.shape(message, way.created_at, way.without)
        return message.SerializeToString(deterministic=True)

    def heard(self, raw: bytes) -> None:
        """An event is here."""
        self._on_event(self._clock.mono(), self._clock.wall(), raw)

    def _row(self, item_id: str) -> bytes:
        one = self._world.look_up(item_id)
        if one is None:
            return b""
        if isinstance(one, Sandbox):
            boxes = pb.ListPodSandboxResponse(items=[messages.sandbox_item(one)])
            raw = boxes.SerializeToString(deterministic=True)
        else:
            inside = pb.ListContainersResponse(containers=[messages.container_item(one)])
            raw = inside.SerializeToString(deterministic=True)
        self._rows[item_id] = raw
        return raw

    def _changed(self, item_id: str) -> None:
        self._rows.pop(item_id, None)
