"""Pod workers and whoever else uses the engine: SyncPods, requests, marks, restarts, probes.

Like the world it follows from the seed alone and asks the engine nothing.
"""

from collections import Counter
from collections.abc import Callable

from app.engine.inputs import EventsTaken, Start, StreamPolicy
from app.engine.model import RelistSource
from app.sim.chance import generator
from tests.engine.play import Stage
from tests.sweep.knobs import Workers, pause

SOURCES: tuple[RelistSource, ...] = ("post_sync", "post_allocation", "evented_pleg")


class Crew:
    """Everything that is done to the engine besides answering it."""

    def __init__(
        self, seed: int, knobs: Workers, uids: tuple[str, ...], stage: Stage, faults: Counter[str]
    ) -> None:
        self._syncs = generator(seed, "syncs")
        self._asks = generator(seed, "requests")
        self._marks = generator(seed, "marks")
        self._reads = generator(seed, "reader")
        self._restarts = generator(seed, "restarts")
        self._probes = generator(seed, "probes")
        self._knobs = knobs
        self._uids = (*uids, "nobody")
        self._stage = stage
        self._faults = faults
        self.at_rest = False
        self.reads = True

    def begin(self) -> None:
        """They go to work."""
        for gap, act in (
            (pause(self._syncs, self._knobs.sync_gap), self._sync),
            (pause(self._asks, self._knobs.ask_gap), self._ask),
            (pause(self._marks, self._knobs.mark_gap), self._mark),
            (pause(self._reads, self._knobs.read_gap), self._read),
            (pause(self._restarts, self._knobs.restart_gap), self._restart),
            (pause(self._probes, self._knobs.probe_gap), self._probe),
        ):
            self._in(gap, act)

    def rest(self, held: str | None) -> None:
        """They do nothing more; every SyncPod returns, except that of ``held``, which never does.
        Whatever was stopped is running again."""
        stage = self._stage
        self.at_rest = True
        for uid in self._uids:
            if uid != held:
                stage.release(uid)
        if held is not None:
            stage.hold(held)
        stage.probe("join")
        stage.tell(Start(t=stage.clock.t, wall=stage.clock.wall))

    def _in(self, gap: int, act: Callable[[], None]) -> None:
        self._stage.at(self._stage.clock.t + gap, lambda: None if self.at_rest else act())

    def _sync(self) -> None:
        rng = self._syncs
        uid, length = rng.choice(self._uids), pause(rng, self._knobs.hold)
        asks_first, did_work, failed = (rng.random() < chance for chance in (0.2, 0.5, 0.2))
        if asks_first:
            self._stage.ask(uid, "post_allocation")
        self._stage.hold(uid)
        self._faults["SyncPod"] += 1

        def returns() -> None:
            self._stage.release(uid, did_work=did_work, failed=failed)
            if did_work and not failed:
                self._stage.ask(uid)

        self._in(length, returns)
        self._in(pause(rng, self._knobs.sync_gap), self._sync)

    def _ask(self) -> None:
        rng = self._asks
        uid, source = rng.choice(self._uids), rng.choice(SOURCES)
        count, same = rng.randint(1, self._knobs.burst), rng.random() < 0.5
        for number in range(count):
            self._stage.ask(uid if same else self._uids[number % len(self._uids)], source)
        self._in(pause(rng, self._knobs.ask_gap), self._ask)

    def _mark(self) -> None:
        self._stage.mark(self._marks.choice(self._uids))
        self._in(pause(self._marks, self._knobs.mark_gap), self._mark)

    def _read(self) -> None:
        now, count = self._stage.clock, self._reads.randrange(20)
        if self.reads:
            self._stage.tell(EventsTaken(t=now.t, wall=now.wall, count=count))
        self._in(pause(self._reads, self._knobs.read_gap), self._read)

    def _probe(self) -> None:
        """The runtime is asked again who it is; what it is says whether its stream is joined."""
        policy: StreamPolicy = "join" if self._probes.random() < 0.6 else "relist_only"
        self._faults[f"probe: {policy}"] += 1
        self._stage.probe(policy)
        self._in(pause(self._probes, self._knobs.probe_gap), self._probe)

    def _restart(self) -> None:
        rng, stage = self._restarts, self._stage
        away = pause(rng, self._knobs.restart_gap // 10)
        self._faults["stop and start"] += 1
        stage.stop()

        def starts() -> None:
            stage.tell(Start(t=stage.clock.t, wall=stage.clock.wall))

        self._in(away, starts)
        self._in(away + pause(rng, self._knobs.restart_gap), self._restart)
