"""The recordings that a server has in reach: those that were given, or those of a directory.

A link names them by their file names alone, which are looked up among what is in reach: nothing in
a link is a path. Laid out are two at a time at most; opening a third gives up the one that was used
longest ago.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from app.engine.records import Record
from app.errors import RecordingError, RecordingUnknown
from app.hub.filmwire import Counted, FilmTold, Found, Markers, Moment, RecordingList, Sought
from app.hub.podthen import PodThen
from app.hub.received import Asked, Received
from app.recording.received import received
from app.replaying.dropped import Dropped
from app.replaying.film import Film
from app.replaying.listing import Listing
from app.replaying.moments import moment
from app.replaying.podstory import pod_then
from app.replaying.show import Show
from app.replaying.sources import never
from app.replaying.uncollected import settle

T = TypeVar("T")

MOST_OPEN = 2
"""Recordings laid out at the same time."""
AT_ONCE = 64
"""Records that are taken in one go."""
MOST_FINDING = 2
"""Searches through a recording at the same time."""
PATIENCE_S = 3.0
"""How long a moment that has not been read yet is waited for."""


class Library:
    """Opens recordings when they are asked for, and lays them out in ``run``.

    Args:
        folder: whose recordings are listed and can be opened; None: only those that were given.
        given: files that were given, to be played together.
        command: of the flight recorder's, only those of this command are in reach; empty: all.
        stopped: whether plegscope ends.
        counts: count the incidents of what is listed, where there is nothing else to do. Not beside
            a real node, whose CPU it would take.
    """

    def __init__(
        self,
        folder: Path | None,
        given: Sequence[Path] = (),
        command: str = "",
        stopped: Callable[[], bool] = never,
        counts: bool = False,
    ) -> None:
        self._given = tuple(given)
        self._stopped = stopped
        self._listing = Listing(folder, self._given, command)
        self._dropped = Dropped()
        self._listing.more = self._dropped.files
        self._shows: OrderedDict[tuple[str, ...], Show] = OrderedDict()
        self._opening = asyncio.Lock()
        self._searches = asyncio.Semaphore(MOST_FINDING)
        self._work = asyncio.Event()
        self._more = asyncio.Event()
        """Set, and replaced, whenever something has been read."""
        self._counting = counts
        self._idle = False
        if counts:
            self._work.set()
        self._main: Show | None = None
        self.take: Callable[[Record], None] = _nobody
        self.finish: Callable[[], None] = _nothing

    @property
    def was_given(self) -> bool:
        """Whether plegscope was started with something to play."""
        return bool(self._given)

    @property
    def given(self) -> Sequence[Path]:
        """Those."""
        return self._given

    @property
    def open(self) -> tuple[Show, ...]:
        """What is open now."""
        return tuple(self._shows.values())

    async def open_given(self) -> Show:
        """Open what was given; from then on ``take`` gets the first node's records as they are
        read, and ``finish`` is called at their end.

        Raises:
            RecordingError: none of it can be played.
        """
        self._main = await self._open(())
        return self._main

    async def first_piece(self) -> None:
        """Lay out the beginning of what was given, so that there is something to be seen."""
        if self._main is not None:
            await self._read_on(self._main.films[0])

    async def run(self) -> None:
        """Lay out what is open, until cancelled."""
        settle()
        while True:
            self._idle = True
            await self._work.wait()
            self._work.clear()
            self._idle = False
            while (film := self._unread()) is not None:
                await self._read_on(film)
            while self._counting and await asyncio.to_thread(self._listing.count_next, self._busy):
                pass

    def _busy(self) -> bool:
        """Whether somebody waits for something to be laid out; asked from any thread."""
        return self._work.is_set() or self._stopped()

    async def _read_on(self, film: Film) -> None:
        records = await asyncio.to_thread(film.advance)
        self._more.set()
        self._more = asyncio.Event()
        if self._main is None or film is not self._main.films[0]:
            return
        for number, record in enumerate(records, 1):
            self.take(record)
            if not number % AT_ONCE:
                # Somebody may wait for an answer.
                await asyncio.sleep(0)
                if film.waited_for:
                    await asyncio.to_thread(film.let_pass)
        if film.whole:
            self.finish()

    def _unread(self) -> Film | None:
        """The film to be read on: of what was used last."""
        shows = reversed(self._shows.values())
        return next((film for show in shows for film in show.films if not film.whole), None)

    async def paths(self, files: Sequence[str]) -> Sequence[Path]:
        """The files of a recording.

        Raises:
            RecordingUnknown: it is not in reach.
        """
        return await asyncio.to_thread(self._listing.paths, tuple(files))

    async def listing(self) -> RecordingList:
        """What can be opened."""
        if self._counting and self._idle:
            # There may be new ones.
            self._work.set()
        return await asyncio.to_thread(self._listing.told, self._incidents())

    def _incidents(self) -> dict[str, int]:
        """How many incidents each single file has that is open and was read."""
        return {
            files[0]: show.films[0].incidents
            for show in self._shows.values()
            if len(files := show.nodes[0].files) == 1 and show.films[0].whole
        }

    async def told(self, files: Sequence[str], node: int, since: int) -> FilmTold:
        """What is played. Raises as :meth:`piece`."""
        show = await self._open(files)
        return _film(show, node).told(since, node, show.nodes)

    async def piece(self, files: Sequence[str], node: int, number: int) -> bytes:
        """A piece as gzipped JSON of ``Piece``.

        Raises:
            RecordingUnknown: it is not in reach, or has no such node or piece.
            RecordingError: it cannot be played.
        """
        show = await self._open(files)
        film = _film(show, node)
        try:
            return await self._by_index(film, partial(film.piece, number))
        except IndexError:
            raise RecordingUnknown(
                "The recording has no such piece. Load the page again."
            ) from None

    async def counted(
        self, files: Sequence[str], node: int, width: int, span: tuple[int, int], uids: list[str]
    ) -> Counted:
        """What happened from when to when (``span``, ns), in bins. Raises as :meth:`piece`."""
        show = await self._open(files)
        film = _film(show, node)
        async with self._searches:
            return await asyncio.to_thread(film.counted, width, *span, uids)

    async def find(self, files: Sequence[str], node: int, sought: Sought) -> Found:
        """The nearest record of a kind. Raises as :meth:`piece`."""
        show = await self._open(files)
        film = _film(show, node)
        async with self._searches:
            return await self._by_index(film, partial(film.find, sought))

    async def moment(
        self, files: Sequence[str], node: int, t: int | None, recent_ns: int
    ) -> Moment:
        """How a node was at ``t`` (ns; None: at the end), which is waited for a little while it is
        being read. Raises as :meth:`piece`."""
        show = await self._open(files)
        film = _film(show, node)
        # Told as far as it has been read then, and that it is so.
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while not film.known and (not film.pieces or film.end_t < (t or 0)):
                    await self._more.wait()
        wanted = film.end_t if t is None else t
        async with self._searches:
            return await self._by_index(film, partial(moment, film, wanted, recent_ns))

    async def received(self, files: Sequence[str], node: int, asked: Asked) -> Received:
        """What the runtime had said of a pod. Raises as :meth:`piece`."""
        show = await self._open(files)
        film = _film(show, node)
        async with self._searches:
            paths = show.around(node, asked.t)
            return await asyncio.to_thread(received, paths, asked, film.origin)

    async def pod(self, files: Sequence[str], node: int, uid: str, t: int | None) -> PodThen:
        """How a pod was at ``t`` (ns; None: at the end), and what had happened to it. Raises as
        :meth:`piece`."""
        show = await self._open(files)
        film = _film(show, node)
        wanted = film.end_t if t is None else t
        async with self._searches:
            return await self._by_index(film, partial(pod_then, film, uid, wanted))

    async def _by_index(self, film: Film, ask: Callable[[], T]) -> T:
        """What a film answers; one whose index proves untrue thereby is read anew."""
        try:
            return await asyncio.to_thread(ask)
        except RecordingError:
            if not film.whole:
                self._work.set()
            raise

    async def markers(self, files: Sequence[str]) -> Markers:
        """The markers of a recording. Raises as :meth:`piece`."""
        return (await self._open(files)).markers.told()

    async def mark(self, files: Sequence[str], t: int, note: str) -> Markers:
        """Put a marker. Raises as :meth:`piece`, and RecordingError for one that cannot be."""
        show = await self._open(files)
        return await asyncio.to_thread(show.markers.add, t, note)

    async def unmark(self, files: Sequence[str], number: int) -> Markers:
        """Take a marker away. Raises as :meth:`mark`."""
        show = await self._open(files)
        return await asyncio.to_thread(show.markers.remove, number)

    async def receive(
        self, name: str, body: AsyncIterator[bytes], *, simulated_only: bool = False
    ) -> str:
        """Take a file that was dropped on the page; the name that a link opens it by.

        Raises:
            RecordingError: it is none, too large, may not be shown, or there is no room.
        """
        there = await asyncio.to_thread(self._listing.find, name)
        return await self._dropped.receive(name, there, body, simulated_only=simulated_only)

    def close(self) -> None:
        """Remove what was dropped."""
        self._dropped.close()

    async def _open(self, files: Sequence[str]) -> Show:
        async with self._opening:
            key = tuple(files)
            show = self._shows.get(key)
            if show is None:
                paths = await asyncio.to_thread(self._listing.paths, key)
                show = await asyncio.to_thread(Show, paths, self._stopped)
                self._shows[key] = show
                while len(self._shows) > MOST_OPEN:
                    self._give_up()
                self._work.set()
            self._shows.move_to_end(key)
            return show

    def _give_up(self) -> None:
        """Forget what was used longest ago, but not what was given."""
        key = next(key for key, show in self._shows.items() if show is not self._main)
        del self._shows[key]


def _film(show: Show, node: int) -> Film:
    if not 0 <= node < len(show.films):
        raise RecordingUnknown(f"This recording has no node {node}. Open it without `node`.")
    return show.films[node]


def _nobody(_record: Record) -> None:
    """Nobody wants the records."""


def _nothing() -> None:
    """Nobody wants to know that all was read."""
