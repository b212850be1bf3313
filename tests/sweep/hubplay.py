"""Random plays over the hub: records without end, viewers that come, read slowly, stop and return.

Each viewer keeps the picture a browser would keep (``tests.hub.reader.Picture``, which objects to a
hole), and its mailbox is bounded. Coroutines are driven by hand, one step at a time, so a play is
the sequence of its seeded choices and needs no timer.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractContextManager

import msgspec

from app.hub.encode import Frame
from app.hub.hub import Hub
from app.hub.limits import Limits
from app.hub.viewer import Viewer
from app.hub.wire import SessionState
from app.journal.journal import Journal
from app.journal.projection import PodTable
from app.sim.chance import generator
from tests.build import SESSION, engine_state, note, session_state
from tests.hub.reader import Picture
from tests.sweep.knobs import spread

ACTS = 80


class Watcher:
    """One viewer and whoever sits before it; ``since``: the newest record it has, if any."""

    def __init__(self, hub: Hub, since: int | None) -> None:
        self._held: AbstractContextManager[Viewer] = hub.viewer(since, SESSION)
        self.viewer = self._held.__enter__()
        self.picture = Picture()
        self.picture.position = since
        self._taking: Coroutine[object, None, Frame | None] | None = None
        self.resumed: bool | None = None

    def read(self) -> bool:
        """Take one frame if there is one; False when there is none."""
        if self._taking is None:
            self._taking = self.viewer.take()
        elif not self.viewer._wake.is_set():
            return False
        try:
            self._taking.send(None)
        except StopIteration as done:
            self._taking = None
            self._show(done.value)
            return True
        return False

    def _show(self, frame: Frame) -> None:
        message = msgspec.json.decode(frame.text)
        if message["type"] == "hello":
            self.resumed = message["resumed"]
            if not self.resumed:
                self.picture.position = None
        self.picture.show(message)

    def leave(self) -> None:
        """Close the page."""
        if self._taking is not None:
            self._taking.close()
        self._held.__exit__(None, None, None)


class HubPlay:
    """One hub, a journal that forgets, and up to four viewers."""

    def __init__(self, seed: int) -> None:
        self._rng = rng = generator(seed, "hub")
        self.limits = Limits(
            batch_records=spread(rng, 1, 50),
            queue_frames=spread(rng, 1, 40),
            queue_bytes=spread(rng, 300, 50_000),
            snapshot_records=spread(rng, 1, 400),
        )
        self.journal = Journal(spread(rng, 2, 600))
        pods = PodTable()
        self.journal.subscribe(pods.apply)
        self.hub = Hub(
            self.journal, pods, self._state, session=SESSION, version="1", limits=self.limits
        )
        self.burst = spread(rng, 1, 60)
        self.reads = rng.uniform(0.05, 0.9)
        self.viewers: list[Watcher] = []
        self.situations: set[str] = set()
        self._offered = 0

    def play(self) -> None:
        """Act at random, then let everybody read up."""
        asyncio.run(self._play())

    async def _play(self) -> None:
        for _ in range(ACTS):
            self._act()
            for one in self.viewers:
                self._bounded(one.viewer)
        for one in self.viewers:
            self._read_up(one)
        for one in self.viewers:
            one.leave()
        stats = self.hub.stats
        for what in ("snapshots", "resumed", "skipped", "lost"):
            if getattr(stats, what):
                self.situations.add(f"hub {what}")

    def _act(self) -> None:
        rng = self._rng
        roll = rng.random()
        if roll < 0.35:
            for _ in range(rng.randint(1, self.burst)):
                self.journal.append(note(self.journal.last_seq))
        elif roll < 0.55:
            before = self.hub.stats.lagging
            self.hub.flush()
            self.situations.update(["viewer's mailbox full"][: self.hub.stats.lagging - before])
        elif roll < 0.6 and len(self.viewers) < 4:
            self._come()
        elif roll < 0.63 and self.viewers:
            self.viewers.pop(rng.randrange(len(self.viewers))).leave()
        elif self.viewers and rng.random() < self.reads:
            one = rng.choice(self.viewers)
            for _ in range(rng.randrange(6)):
                one.read()

    def _come(self) -> None:
        last = self.journal.last_seq
        since = self._rng.choice((None, None, last, self._rng.randint(0, last)))
        self.viewers.append(Watcher(self.hub, since))

    def _bounded(self, viewer: Viewer) -> None:
        waiting = [frame for frame in viewer._queue if frame is not None]
        assert len(viewer._queue) <= self.limits.queue_frames, "a mailbox is bounded by number"
        size = sum(frame.size for frame in waiting)
        assert size <= self.limits.queue_bytes or len(waiting) == 1, "a mailbox is bounded by size"
        if viewer.behind:
            assert not waiting, "what a viewer cannot follow is thrown away"

    def _read_up(self, one: Watcher) -> None:
        """However slow it was, whoever reads now sees the newest record."""
        for _ in range(4):
            while one.read():
                pass
            self.hub.flush()
        while one.read():
            pass
        assert one.picture.position == self.journal.last_seq, "up to date in the end"

    def _state(self) -> SessionState:
        return session_state(engine_state(), last_seq=self.journal.last_seq)
