"""The hub: the journal's newest records to every connected browser.

The cost of fan-out follows viewers times frames, not records, so records are gathered into
batches, and each batch, state and snapshot is encoded once for all viewers that get it. The hub
never waits for a viewer (see ``Viewer``); everything here runs on the one event loop.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, cast

import msgspec

from app.engine.records import AnyRecord, Record
from app.hub.encode import Frame, frame
from app.hub.limits import Limits, Stats
from app.hub.viewer import Viewer
from app.hub.wire import Batch, Bye, Hello, Lagging, PodRow, SessionState, Snapshot, State
from app.journal.journal import Journal
from app.journal.weight import first_of


class HubFull(Exception):
    """There are as many viewers as are allowed; the text says so to the one that is too many."""


class HubClosed(Exception):
    """The hub takes no more viewers because plegscope ends."""


class Pods(Protocol):
    """Where the pods come from (``PodTable``)."""

    def rows(self) -> tuple[PodRow, ...]:
        """All pods that are known now."""
        ...


class Hub:
    """Feeds viewers from the journal.

    Args:
        journal: read, never written.
        pods: the pods as the journal tells them.
        state: the header's state at this moment; called up to a few times a second.
        session: changes with every start, so that nobody resumes in another one's numbers.
        version: plegscope's own.
        limits: what viewers may cost.
    """

    def __init__(
        self,
        journal: Journal,
        pods: Pods,
        state: Callable[[], SessionState],
        *,
        session: str,
        version: str,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.stats = Stats()
        self._journal = journal
        self._pods = pods
        self._state = state
        self._session = session
        self._version = version
        self._viewers: set[Viewer] = set()
        self._cursor = journal.last_seq
        """The newest record that was given to the viewers."""
        self._dirty = asyncio.Event()
        self._inhabited = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._farewell: Frame | None = None
        journal.subscribe(self._appended)

    async def run(self) -> None:
        """Send batches and states until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._send_batches(), name="hub: batches")
            group.create_task(self._send_states(), name="hub: states")

    @contextmanager
    def viewer(self, since: int | None = None, session: str | None = None) -> Iterator[Viewer]:
        """A mailbox for a viewer that has just come, for as long as it stays.

        Args:
            since: the newest record that it has from an earlier connection, if any.
            session: the session that this number belongs to.

        Raises:
            HubFull: there are too many viewers.
            HubClosed: ``close`` was called.
        """
        if self._farewell is not None:
            raise HubClosed
        if len(self._viewers) >= self.limits.max_viewers:
            self.stats.refused += 1
            raise HubFull(
                f"{self.limits.max_viewers} viewers are connected, which is the limit. "
                "Close one of the other pages and load this one again."
            )
        viewer = Viewer(self.limits, self._dirty.set, self._told)
        if not self._viewers:
            self._cursor = self._journal.last_seq  # nobody was there to give the rest to
        self._admit(viewer, since if session == self._session else None)
        self._viewers.add(viewer)
        self._count()
        self.stats.joined += 1
        try:
            yield viewer
        finally:
            self._viewers.discard(viewer)
            self._count()

    def close(self, reason: str) -> None:
        """Say goodbye to everybody; ``reason`` is a sentence for people."""
        if self._farewell is None:
            self._farewell = frame(Bye(reason))
            for viewer in self._viewers:
                viewer.close(self._farewell)

    async def emptied(self) -> None:
        """Wait until nobody is connected."""
        await self._empty.wait()

    def flush(self) -> None:
        """Give the viewers what is new, now; a fresh start to those that wait for one."""
        if not self._viewers:
            self._cursor = self._journal.last_seq
            return
        if self._cursor < self._journal.first_seq - 1:
            # The journal gave up records that nobody was sent: a fresh start tells of the hole.
            self.stats.lagging += sum(viewer.fall_behind() for viewer in self._viewers)
        else:
            for batch in self._batches(self._cursor):
                self.stats.batches += 1
                self.stats.lagging += sum(not viewer.offer(batch) for viewer in self._viewers)
        self._cursor = self._journal.last_seq
        asking = [viewer for viewer in self._viewers if viewer.asked]
        if asking:
            self._start_afresh(asking)

    # ---------------------------------------------------------------------------------- tasks

    async def _send_batches(self) -> None:
        clock = asyncio.get_running_loop().time
        flushed = clock() - self.limits.flush_interval
        while True:
            await self._dirty.wait()
            now = clock()
            due = max(flushed + self.limits.flush_interval, now + self.limits.gather)
            await asyncio.sleep(due - now)
            self._dirty.clear()
            self.flush()
            flushed = clock()

    async def _send_states(self) -> None:
        while True:
            await self._inhabited.wait()
            state = frame(State(self._state()))
            for viewer in self._viewers:
                viewer.offer_state(state)
            await asyncio.sleep(self.limits.state_interval)

    # ---------------------------------------------------------------------------------- inside

    def _appended(self, _record: Record) -> None:
        if self._viewers:
            self._dirty.set()

    def _admit(self, viewer: Viewer, since: int | None) -> None:
        """Greet; go on from ``since`` if the journal still has what follows it and it is little."""
        oldest = max(self._journal.first_seq - 1, self._cursor - self.limits.snapshot_records)
        resumed = (
            since is not None
            and oldest <= since <= self._cursor
            and self._is_light(self._journal.since(since, self._cursor - since))
        )
        viewer.greet(frame(Hello(self._session, self._version, resumed)))
        if since is not None and resumed:
            self.stats.resumed += 1
            missed = self._batches(since, self._cursor - since)
            viewer.start([*missed, frame(State(self._state()))], since)

    def _is_light(self, records: Sequence[Record]) -> bool:
        return first_of(records, self.limits.snapshot_weight) == len(records)

    def _batches(self, since: int, limit: int | None = None) -> list[Frame]:
        """The records after ``since`` (at most ``limit``) as frames; the journal still has them."""
        records = cast("tuple[AnyRecord, ...]", self._journal.since(since, limit))
        frames: list[Frame] = []
        while records:
            part = records[: self.limits.batch_records]
            part = part[: first_of(part, self.limits.batch_weight)]
            frames.append(frame(Batch(part[0].seq, part[-1].seq, part), part[-1].seq))
            records = records[len(part) :]
        return frames

    def _start_afresh(self, viewers: list[Viewer]) -> None:
        """One snapshot for all of them, and to each that was here before what it has missed."""
        limits = self.limits
        records = cast("tuple[AnyRecord, ...]", self._journal.newest(limits.snapshot_records))
        if records:
            records = records[-first_of(reversed(records), limits.snapshot_weight) :]
            horizon = records[-1].t - limits.snapshot_ns
            records = tuple(record for record in records if record.t >= horizon)
        first = records[0].seq if records else self._cursor + 1
        snapshot = frame(
            Snapshot(
                state=self._state(),
                pods=self._pods.rows(),
                records=records,
                truncated=first > self._journal.first_seq,
                seq=self._cursor,
            ),
            self._cursor,
        )
        self.stats.snapshots += 1
        for viewer in viewers:
            frames = [snapshot]
            if viewer.position is not None:
                missed = Lagging(
                    self._cursor - viewer.position, max(0, first - 1 - viewer.position)
                )
                told = msgspec.structs.replace(
                    frame(missed), skipped=missed.skipped, lost=missed.lost
                )
                frames.insert(0, told)
            viewer.start(frames)

    def _told(self, taken: Frame) -> None:
        self.stats.skipped += taken.skipped
        self.stats.lost += taken.lost

    def _count(self) -> None:
        self.stats.viewers = len(self._viewers)
        for event, holds in ((self._inhabited, self._viewers), (self._empty, not self._viewers)):
            if holds:
                event.set()
            else:
                event.clear()
