"""The node's own life: sandboxes and containers come, change and go, whoever looks or does not.

What happens here follows from the seed alone. It never asks the engine, so the same seed has the
same world under another profile, with other faults, and after a change of the engine.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from app.engine.model import RuntimeState
from app.sim.chance import generator
from tests.engine.node import Item, Node
from tests.sweep.knobs import SECOND, Nature, pause

FORWARD: dict[RuntimeState, tuple[RuntimeState, ...]] = {
    "created": ("running", "running", "exited"),
    "running": ("exited",),
    "unknown": ("exited",),
    "exited": (),
    "ready": ("notready",),
    "notready": (),
}
CONTAINER: tuple[RuntimeState, ...] = ("created", "running", "exited", "unknown")
SANDBOX: tuple[RuntimeState, ...] = ("ready", "notready")


class Agenda(Protocol):
    """Where things are put that will happen."""

    def at(self, t: int, act: Callable[[], object]) -> None:
        """Something will happen at ``t`` (monotonic ns)."""
        ...


class World:
    """Changes a node at random times; ``told`` hears of each change, as a runtime's stream would.

    ``outages`` begin and end here too; ``out`` says whether one is on.
    """

    def __init__(
        self,
        seed: int,
        nature: Nature,
        node: Node,
        agenda: Agenda,
        now: Callable[[], int],
        told: Callable[[str, Item], None],
    ) -> None:
        self._rng = generator(seed, "world")
        self._outages = generator(seed, "outages")
        self._clock = generator(seed, "clock")
        self._nature = nature
        self._node = node
        self._agenda = agenda
        self._now = now
        self._told = told
        self._ids = 0
        self.uids = tuple(f"p{number}" for number in range(nature.pods))
        self.frozen = False
        self.out = False
        self.on_outage: Callable[[], None] = lambda: None
        self.on_clock: Callable[[int], None] = lambda _skew: None
        self.history: list[tuple[int, str, str, str]] = []
        """(time, what, pod, item): the whole of it."""

    def begin(self) -> None:
        """Some pods are there already; from now on things happen."""
        for _ in range(self._rng.randrange(2 * self._nature.pods)):
            self._appear()
        self._soon()
        self._agenda.at(pause(self._outages, self._nature.outage_gap), self._outage)
        if self._nature.clock_steps:
            self._agenda.at(pause(self._clock, 20 * self._nature.gap), self._clock_step)

    def running(self) -> list[Item]:
        """Containers that run and sandboxes that are ready."""
        return [item for item in self._node.items.values() if item.state in ("running", "ready")]

    def _soon(self) -> None:
        self._agenda.at(self._now() + pause(self._rng, self._nature.gap), self._happen)

    def _happen(self) -> None:
        if self.frozen:
            return
        roll = self._rng.random()
        if roll < 0.3:
            self._appear()
        elif roll < 0.75:
            self._change()
        elif roll < 0.97:
            self._disappear()
        else:
            for item in self.running():
                self._set(item, "exited" if item.kind == "container" else "notready")
        self._soon()

    def _appear(self) -> None:
        rng, node = self._rng, self._node
        uid, is_sandbox, wild = rng.choice(self.uids), rng.random() < 0.3, rng.random() < 0.4
        state = rng.choice(SANDBOX if is_sandbox else CONTAINER)
        if len(node.items) >= self._nature.most_items:
            return
        self._ids += 1
        if is_sandbox:
            item = node.sandbox(uid, f"s{self._ids}", state if wild else "ready", "10.0.0.1")
        else:
            item = node.container(uid, f"c{self._ids}", state if wild else "created")
        self._note("created", item)

    def _change(self) -> None:
        rng, items = self._rng, list(self._node.items.values())
        if not items:
            return
        item = rng.choice(items)
        options: Sequence[RuntimeState] = FORWARD[item.state]
        if not self._nature.forward:
            options = CONTAINER if item.kind == "container" else SANDBOX
        if options:
            self._set(item, rng.choice(options))

    def _set(self, item: Item, state: RuntimeState) -> None:
        item.state = state
        item.exit_code, item.finished_at = 1, self._now()
        kinds = {"running": "started", "ready": "started", "exited": "stopped"}
        self._note(kinds.get(state, "stopped" if state == "notready" else "changed"), item)

    def _disappear(self) -> None:
        rng, node = self._rng, self._node
        if not node.items:
            return
        item, whole = rng.choice(list(node.items.values())), rng.random() < 0.2
        for one in node.of(item.uid) if whole else [item]:
            node.remove(one.uid, one.id)
            self._note("deleted", one)

    def _note(self, what: str, item: Item) -> None:
        self.history.append((self._now(), what, item.uid, item.id))
        if what != "changed":
            self._told(what, item)

    def _outage(self) -> None:
        if self.frozen:
            return
        self.out = not self.out
        nature = self._nature
        gap = nature.outage if self.out else pause(self._outages, nature.outage_gap)
        self._agenda.at(self._now() + gap, self._outage)
        if self.out:
            self.on_outage()

    def _clock_step(self) -> None:
        if self.frozen:
            return
        self.on_clock(self._clock.choice((0, -3600, 3600, 1, -1)) * SECOND)
        self._agenda.at(self._now() + pause(self._clock, 20 * self._nature.gap), self._clock_step)
