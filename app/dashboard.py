"""The dashboard of a session: everything that is served, and the address that is printed."""

import asyncio
import os
import time
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from app import __version__
from app.engine.records import AnyRecord
from app.export.desk import Exports
from app.hub.hub import Hub
from app.hub.limits import Limits
from app.hub.received import Asked, Received
from app.hub.wire import SessionState
from app.journal.journal import Journal
from app.journal.levels import Levels
from app.journal.projection import PodTable
from app.journal.query import newest_about
from app.metrics.metrics import Metrics
from app.metrics.own import Figures, RecorderFigures
from app.metrics.runtime import RuntimeCalls
from app.recording import clip
from app.recording.received import received_live
from app.replaying.library import Library
from app.resources import static_dir, templates_dir
from app.session import Calls, Subject
from app.settings import Settings
from app.stage.classroom import Classroom
from app.stage.stage import Stage
from app.terminal import has_screen
from app.web import (
    bins,
    compare,
    exports,
    faultpage,
    lessons,
    now,
    received,
    recordingpages,
    recordings,
    runs,
    whatif,
)
from app.web.app import create_app
from app.web.classroom import new_secret
from app.web.desk import Desk
from app.web.door import Door, open_door
from app.web.faults import Allowance
from app.web.guard import Guard
from app.web.lessons import TeachingStage
from app.web.library import LibraryLike
from app.web.pages import PageData, Pages, StageLink
from app.web.part import Part
from app.web.repeat import command_line
from app.web.server import serve
from app.web.story import end_places, live_places
from app.whatif.desk import WhatIfs

POD_STORY = 2000
"""Records shown in a pod's story."""

NOT_RECORDED = (
    "Nothing is recorded, so what the runtime said word for word is not kept. Start plegscope "
    "without --no-record; a recorder in trouble is told of in the header."
)


class Shown(Protocol):
    """What a dashboard shows: a session that lives, or one that was recorded."""

    id: str
    subject: Subject
    viewers: Callable[[], int]

    @property
    def calls(self) -> Calls:
        """Who makes, and counts, the calls to the runtime."""
        ...

    def state(self) -> SessionState:
        """Everything the header shows, as of now."""
        ...


def door_of(settings: Settings, *, simulated: bool) -> Door:
    """What a browser comes in by, as the settings ask for it.

    Raises:
        ListenError, SettingsError: the address or port cannot be used.
    """
    return open_door(
        settings.host, settings.port, allow_hosts=settings.allow_hosts, simulated=simulated
    )


class Dashboard:
    """Listens from the moment it is made, at the latest; serves in ``run_server``.

    ``desk``: where faults are pressed, on a simulated node. ``stage``: plays runs ahead; ``plays``:
    the query of the run of what the node plays, if a link can open it. ``library``: the recordings
    in reach; ``home``: plegscope was started to play them. ``door``: one that is open already.

    Raises:
        ListenError, SettingsError: the address or port cannot be used.
    """

    def __init__(
        self,
        settings: Settings,
        session: Shown,
        journal: Journal,
        limits: Limits | None = None,
        *,
        desk: Desk | None = None,
        stage: TeachingStage | None = None,
        plays: str = "",
        library: LibraryLike | None = None,
        home: bool = False,
        door: Door | None = None,
    ) -> None:
        self._settings = settings
        # One at a time: each reads some minutes of a recording.
        self._clipping = asyncio.Lock()
        self._reading = asyncio.Lock()
        self._library = library
        # Of a library that this serves, recordings are run again here.
        self._whatifs = WhatIfs(library.paths) if isinstance(library, Library) else None
        self._home = home
        self._stage = stage
        self._plays = plays
        self._desk = desk
        self._session = session
        self._journal = journal
        self._pods = PodTable()
        journal.subscribe(self._pods.apply)
        self._levels = Levels()
        # What is played is counted where it is read.
        self._plays_given = home and library is not None and library.was_given
        if not self._plays_given:
            journal.subscribe(self._levels.apply)
        self._metrics = Metrics(lambda: session.state().engine, self._figures)
        journal.subscribe(self._metrics.apply)
        self._hub = Hub(
            journal,
            self._pods,
            session.state,
            session=session.id,
            version=__version__,
            limits=limits,
        )
        session.viewers = lambda: self._hub.stats.viewers
        self._door = door or door_of(settings, simulated=session.subject.simulated)
        self._app = self._create()
        self.addresses = self._door.addresses
        """What a browser is to open; the one that most can reach first."""

    async def run_hub(self) -> None:
        """Feed the viewers until cancelled."""
        await self._hub.run()

    async def run_whatif(self) -> None:
        """Run recordings again as links ask for it, until cancelled; needs a library."""
        assert self._whatifs is not None
        await self._whatifs.run()

    async def run_server(self, stop: asyncio.Event) -> None:
        """Serve until ``stop`` is set, then say goodbye to the viewers."""
        await serve(self._app, self._door.listener, stop, hub=self._hub)

    def open_browser(self) -> None:
        """Open the address where there is a screen, and never as root in somebody's session."""
        if self._settings.browser and has_screen() and os.geteuid() != 0:
            webbrowser.open(self._door.here)

    def _create(self) -> Guard:
        data = PageData(
            state=self._session.state, pods=self._pods.rows, pod_records=self._pod_records
        )
        link = None if self._stage is None else StageLink(self._plays)
        pages = Pages(
            templates_dir(),
            data,
            version=__version__,
            stage=link,
            desk=self._desk,
            recordings=self._library is not None,
            now=not self._home,
            places=end_places if self._home else live_places,
            scripts=static_dir() / "js",
        )
        return create_app(
            hub=self._hub,
            journal=self._journal,
            pods=self._pods,
            state=self._session.state,
            metrics=self._metrics.render,
            access=self._door.access,
            version=__version__,
            pages=pages,
            static=static_dir(),
            desk=self._desk,
            parts=self._parts(pages),
        )

    def _exports(self, pages: Pages) -> Part:
        subject = self._session.subject
        # Of a recording or a run what is exported is read or played here, whoever serves it.
        stage = self._stage if isinstance(self._stage, Stage) else None
        library = self._library if isinstance(self._library, Library) else None
        exporter = Exports(
            self._journal,
            subject.title,
            simulated=subject.simulated,
            stage=stage,
            paths=None if library is None else library.paths,
            files=() if library is None else library.given,
        )
        return exports.part(
            exporter, runs=stage is not None, recordings=library is not None, pages=pages
        )

    def _parts(self, pages: Pages) -> tuple[Part, ...]:
        ask = bins.of_session(self._levels, self._session.state)
        if self._plays_given and self._library is not None:
            ask = bins.of_given(self._library, self._session.state)
        parts = [bins.part(ask), self._exports(pages)]
        if not self._home:
            parts.append(self._now(pages))
            parts.append(received.of_a_node(self._received, pages))
        if self._library is not None:
            parts.append(recordings.api(self._library))
            parts.append(recordingpages.pages(self._library, pages, home=self._home))
            parts.append(recordingpages.pods(self._library, pages))
            if self._whatifs is not None:
                parts += [whatif.api(self._whatifs), whatif.pages(self._whatifs, pages)]
            if self._home:
                guarded = self._door.access.token is not None
                parts.append(recordings.drop(self._library, guarded=guarded))
        if self._desk is not None:
            parts.append(faultpage.part(pages, self._desk, self._session.state, Allowance()))
        if self._stage is None:
            return (*parts, runs.nowhere(pages))
        return (
            *parts,
            runs.api(self._stage),
            runs.pages(self._stage, pages),
            compare.api(self._stage.comparisons),
            compare.pages(self._stage, pages),
            lessons.part(self._stage.lessons, Classroom(new_secret, time.monotonic), pages),
        )

    def _now(self, pages: Pages) -> Part:
        command = "demo" if self._session.subject.simulated else "watch"
        return now.part(
            pages,
            state=self._session.state,
            pods=self._pods.rows,
            journal=self._journal,
            saving=now.Saving(self._last_lines, self._last_recording),
            command=command_line(command, self._settings),
        )

    def _last_lines(self, since_t: int) -> Iterator[bytes]:
        return clip.lines(self._journal.since(0), since_t)

    async def _last_recording(self, since_t: int) -> bytes:
        state = self._session.state()
        recorded = state.recording
        assert recorded is not None
        # Real time: a slow node's minutes are long.
        span_s = max(0, state.engine.t - since_t) / 1e9 / state.speed
        async with self._clipping:
            return await asyncio.to_thread(clip.clip, Path(recorded.file), since_t, span_s)

    async def _received(self, asked: Asked) -> Received:
        recorded = self._session.state().recording
        if recorded is None or not recorded.file:
            return Received(asked=asked, trouble=NOT_RECORDED)
        # One at a time: each reads a minute of a recording.
        async with self._reading:
            return await asyncio.to_thread(received_live, Path(recorded.file), asked)

    def _pod_records(self, uid: str) -> tuple[AnyRecord, ...]:
        return newest_about(self._journal, uid, POD_STORY)

    def _figures(self) -> Figures:
        stats = self._hub.stats
        state = self._session.state()
        calls = self._session.calls
        oldest = state.oldest_call
        recorded = state.recording
        return Figures(
            version=__version__,
            records=self._journal.last_seq,
            records_forgotten=self._journal.first_seq - 1,
            viewers=stats.viewers,
            viewers_joined=stats.joined,
            viewers_refused=stats.refused,
            viewers_dropped=stats.dropped,
            viewers_lagging=stats.lagging,
            viewer_records_skipped=stats.skipped,
            viewer_records_lost=stats.lost,
            viewer_bytes=stats.bytes,
            batches=stats.batches,
            runtime_calls={
                method: RuntimeCalls(count.calls, count.failed, count.durations)
                for method, count in calls.counts.items()
            },
            runtime_bytes=calls.bytes_total,
            cpu_seconds=time.process_time(),
            oldest_call_ns=0 if oldest is None else max(0, state.engine.t - oldest.since_t),
            rss_bytes=state.cost.rss_bytes,
            recording=None
            if recorded is None
            else RecorderFigures(
                well=recorded.well,
                size=recorded.bytes_total,
                cpu_seconds=recorded.cpu_ns / 1e9,
                waiting=recorded.waiting,
                lost=recorded.lost,
            ),
        )
