"""Random plays: what may happen on a node, and around it, as acts that a generator picks from.

One director serves the stateful test, the sweep over seeds and the test of determinism. Every act
takes its choices from ``pick``, so a play is the sequence of its choices.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from app.engine.inputs import (
    EndCode,
    EventsTaken,
    Start,
    StreamLost,
    StreamRenewed,
)
from app.engine.model import ContainerEvent, RelistSource, RuntimeState
from app.engine.records import RelistFinished
from app.engine.settings import EngineSettings
from tests.engine.convergence import converged
from tests.engine.facts import LIE, WORDS
from tests.engine.node import Item
from tests.engine.oracle import Oracle
from tests.engine.play import MS, SECOND, Dice, Stage, StreamPlan, container_event, of

T = TypeVar("T")
Pick = Callable[[int], int]
"""``pick(n)``: a number from 0 up to but not including n."""

UIDS = ("a", "b", "c", "d")
FORWARD: dict[RuntimeState, tuple[RuntimeState, ...]] = {
    "created": ("running", "exited"),
    "running": ("exited",),
    "unknown": ("exited",),
    "exited": (),
    "ready": ("notready",),
    "notready": (),
}
ANY_CONTAINER: tuple[RuntimeState, ...] = ("created", "running", "exited", "unknown")
ANY_SANDBOX: tuple[RuntimeState, ...] = ("ready", "notready")
SOURCES: tuple[RelistSource, ...] = ("post_sync", "post_allocation", "evented_pleg")
PLANS: tuple[StreamPlan, ...] = (
    "live", "live", "opened", "silent", "unavailable", "unimplemented", "immediate_eof",
)  # fmt: skip
ENDS: tuple[EndCode, ...] = ("eof", "error", "deadline", "unavailable", "cancelled")
PASSING = (0, 1, MS, 20 * MS, 300 * MS, SECOND, 1100 * MS, 61 * SECOND, 200 * SECOND)
PROFILES = ("kep", "kep", "kep", "kep", "kep", "generic", "polling", "1.37")
CAPACITIES = (0, 1, 2, 5, 200)
CHANNELS = (None, None, None, 2)


class Director:
    """A stage, an oracle that watches it, and the acts. ``forward``: states never go back."""

    def __init__(self, pick: Pick) -> None:
        self.pick = pick
        self.settings = EngineSettings(
            profile=self.choose(PROFILES),
            queue_capacity=self.choose(CAPACITIES),
            event_channel=self.choose(CHANNELS),
            period_ns=self.choose((SECOND, 100 * MS, 10 * SECOND)),
        )
        self.forward = bool(pick(2))
        self.oracle = Oracle(self.settings)
        self.stage = Stage(
            settings=self.settings,
            by_hand=True,
            stream=self.choose(PLANS),
            dice=Dice(*(pick(1000) / 1000 for _ in range(5))),
            watcher=self.oracle.watch,
        )
        self.stage.node.interned = bool(pick(2))
        self._ids = 0
        self._past: list[ContainerEvent] = []
        self.stage.start()

    def choose(self, options: Sequence[T]) -> T:
        """One of these."""
        return options[self.pick(len(options))]

    def act(self) -> None:
        """Something happens, and afterwards all accounts agree."""
        self.choose(ACTS)(self)
        self.oracle.agrees(self.stage.state())

    # On the node

    def appear(self) -> None:
        """A sandbox or a container is new."""
        uid = self.choose(UIDS)
        self._ids += 1
        if self.pick(3) == 0:
            self.stage.node.sandbox(uid, f"s{self._ids}", self.choose(ANY_SANDBOX), "10.0.0.1")
        else:
            self.stage.node.container(uid, f"c{self._ids}", self.choose(ANY_CONTAINER))

    def change(self) -> None:
        """An item changes its state; a stop may be told by the stream, now or later."""
        item = self._item()
        if item is None:
            return
        wide = ANY_CONTAINER if item.kind == "container" else ANY_SANDBOX
        options = FORWARD[item.state] if self.forward else wide
        if not options:
            return
        item.state = self.choose(options)
        item.exit_code = 1
        if WORDS[item.state] == "exited" and self.pick(4):
            event = self._event(item.uid, item.id, "stopped")
            self._past.append(event)
            if self.pick(4):
                self.stage.event(event)

    def disappear(self) -> None:
        """An item, or a pod with all it has, is gone."""
        item = self._item()
        if item is None:
            return
        if self.pick(3) == 0:
            self.stage.node.remove_pod(item.uid)
        else:
            self.stage.node.remove(item.uid, item.id)

    # Events

    def false_event(self) -> None:
        """An event that need not be true, of any type, complete or not, about anything."""
        item = self._item()
        uid = item.uid if item is not None and self.pick(3) else self.choose((*UIDS, "nobody"))
        item_id = item.id if item is not None and self.pick(3) else "nothing"
        kind = self.choose(("stopped", "stopped", "created", "started", "deleted", "unknown(9)"))
        event = self._event(uid, item_id, kind)
        self._past.append(event)
        self.stage.event(event)

    def broken_event(self) -> None:
        """An event without sandbox status, metadata or UID."""
        lacks: dict[str, Any] = self.choose(
            ({"has_sandbox_status": False}, {"has_metadata": False}, {"pod_uid": ""})
        )
        self.stage.event(container_event(self.choose(UIDS), "c1", exit_code=LIE, **lacks))

    def old_event(self) -> None:
        """An event comes again, late, out of order, or out of a ring."""
        if self._past:
            received = self.stage.clock.t - self.choose((0, MS, SECOND))
            self.stage.event(self.choose(self._past[-20:]), received=received)

    def events_lost(self) -> None:
        """The ring was full."""
        now = self.stage.clock
        self.stage.tell(StreamLost(t=now.t, wall=now.wall, count=3, from_t=now.t))

    # The stream

    def stream_breaks(self) -> None:
        """The stream ends, and the next try brings what it brings."""
        self.stage.stream = self.choose(PLANS)
        self.stage.stream_ends(self.choose(ENDS))

    def stream_renewed(self) -> None:
        """A planned renewal."""
        self.stage.tell(StreamRenewed(t=self.stage.clock.t, wall=self.stage.clock.wall))

    def probe(self) -> None:
        """The runtime is asked again who it is."""
        self.stage.probe(self.choose(("join", "join", "relist_only")))

    # Pod workers and others who ask

    def hold(self) -> None:
        """SyncPod begins."""
        self.stage.hold(self.choose(UIDS))

    def release(self) -> None:
        """SyncPod returns, and may ask for its relist."""
        uid = self.choose(UIDS)
        worked, failed = self.pick(2) == 1, self.pick(4) == 0
        self.stage.release(uid, did_work=worked, failed=failed)
        if worked and not failed:
            self.stage.ask(uid)

    def ask(self) -> None:
        """Somebody asks for relists of a pod."""
        uid, source = self.choose(UIDS), self.choose(SOURCES)
        for _ in range(self.choose((1, 1, 1, 2, 7))):
            self.stage.ask(uid, source)

    def mark(self) -> None:
        """Somebody asks for a reinspection."""
        self.stage.mark(self.choose(UIDS))

    def take_events(self) -> None:
        """The reader of the lifecycle channel reads."""
        now = self.stage.clock
        self.stage.tell(EventsTaken(t=now.t, wall=now.wall, count=self.pick(4)))

    # Answers and time

    def look(self) -> None:
        """The runtime looks, and answers later."""
        if self.stage.calls:
            self.stage.look()

    def answer(self) -> None:
        """The runtime answers."""
        if self.stage.calls:
            self.stage.answer()

    def fail(self) -> None:
        """A call fails."""
        if self.stage.calls:
            self.stage.fail(self.choose(("Away.", "Broken.")))

    def time_passes(self) -> None:
        """A little or a lot of time passes."""
        self.stage.run(self.choose(PASSING) / SECOND)

    def next_relist(self) -> None:
        """Time passes until the next global relist begins."""
        if self.stage.state().next_global_t is not None:
            self.stage.to_next_global()

    def stop_and_go(self) -> None:
        """The session ends and, perhaps after a while, begins anew."""
        stage = self.stage
        stage.stop()
        assert stage.stop() == []
        late, stage.calls = stage.calls, []
        if late and self.pick(2):
            stage.calls = late[:1]
            assert stage.answer() == []
        self.time_passes()
        self.ask()
        assert stage.timer("reconnect") is None
        stage.tell(Start(t=stage.clock.t, wall=stage.clock.wall))

    # Liveness

    def heal(self) -> None:
        """All holds end and nothing fails any more: one good global relist, and the records and
        the cache are what the runtime shows; nothing is left to do."""
        stage = self.stage
        for uid in UIDS:
            stage.release(uid)
        stage.tell(Start(t=stage.clock.t, wall=stage.clock.wall))
        running = stage.state().running
        if running is not None and running.scope == "global":
            stage.relist()
        healed_t = stage.clock.t
        (finished,) = (one for one in of(stage.relist(), RelistFinished) if one.scope == "global")
        assert finished.ok
        assert finished.withheld == 0
        assert finished.started >= healed_t
        converged(stage, self.oracle, forward=self.forward)
        while stage.calls:
            stage.answer()
        converged(stage, self.oracle, forward=self.forward)
        state = stage.state()
        assert (state.running, state.queue.length, state.queue.held) == (None, 0, 0)
        self.oracle.agrees(state)

    def _item(self) -> Item | None:
        items = list(self.stage.node.items.values())
        return self.choose(items) if items else None

    def _event(self, uid: str, item_id: str, kind: str) -> ContainerEvent:
        age = self.choose((0, MS, 100 * SECOND, -SECOND))
        created_at = self.choose((self.stage.clock.wall - age, 0))
        return container_event(
            uid, item_id, kind, created_at, exit_code=LIE, reason="LIE", pod_name="LIE"
        )


ACTS: tuple[Callable[[Director], None], ...] = (
    *(Director.appear,) * 3,
    *(Director.change,) * 6,
    *(Director.disappear,) * 2,
    *(Director.false_event,) * 2,
    Director.broken_event,
    *(Director.old_event,) * 2,
    Director.events_lost,
    Director.stream_breaks,
    Director.stream_renewed,
    Director.probe,
    *(Director.hold,) * 3,
    *(Director.release,) * 4,
    *(Director.ask,) * 3,
    *(Director.mark,) * 2,
    Director.take_events,
    *(Director.look,) * 2,
    *(Director.answer,) * 12,
    *(Director.fail,) * 2,
    *(Director.time_passes,) * 3,
    *(Director.next_relist,) * 4,
    Director.stop_and_go,
    Director.heal,
)


def play(seed: int, acts: int) -> Director:
    """A play whose every choice follows from the seed; in the end everything is healed."""
    director = Director(random.Random(seed).randrange)
    for _ in range(acts):
        director.act()
    director.heal()
    return director
