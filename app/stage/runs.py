"""Keeps the runs that were asked for, and plays what is not there yet.

Playing takes all of one core for a while, so it is done in one worker thread, one run after the
other, and only as long as somebody waits for it. What was played is kept while there is room.

Links may ask for an hour of a large node. A lesson's runs are short and always the same, so they
have a thread of their own: whoever learns does not wait for those.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal, NamedTuple

from app.errors import StageBusy
from app.hub.runwire import RunProgress
from app.sim.scenario import Scenario
from app.stage.run import Cancelled, Run, play
from app.stage.spec import RunSpec

MOST_WEIGHT = 192 * 1024 * 1024
"""What the kept runs weigh together: characters of text, and ``RECORD`` for each record."""

RECORD = 400
"""What a record weighs beside its texts: its own size, and that of its numbers."""

MOST_WAITING = 8
"""Runs that may be asked for at the same time in a lane."""

Lane = Literal["link", "fork", "lesson"]
"""Who wants a run: a link, a lesson in which something was pressed, or a lesson as it is. Only the
last has always room, as there are only so many."""

BUSY = (
    f"{MOST_WAITING} runs are being played or wait for it. Load this page again in a few seconds."
)


class _Play:
    """A run that is being played, or waits for it."""

    def __init__(self, spec: RunSpec, lane: Lane) -> None:
        self.spec = spec
        self.lane = lane
        self.wanted = 0
        self.t = 0
        self.begun = False
        self.cancelled = threading.Event()
        self.future: asyncio.Future[Run]

    def progress(self, t: int) -> None:
        self.t = t


class Runs:
    """Runs by spec, the newest asked for kept; to be used on one event loop.

    Args:
        scenario_of: the scenario to play for a spec; raises ``StageError`` when there is none.
        most_weight: what is kept may weigh so much; the newest is kept in any case.
    """

    def __init__(
        self, scenario_of: Callable[[RunSpec], Scenario], most_weight: int = MOST_WEIGHT
    ) -> None:
        self._scenario_of = scenario_of
        self._most_weight = most_weight
        self._kept: OrderedDict[str, tuple[Run, int]] = OrderedDict()
        self._weight = 0
        self._plays: dict[str, _Play] = {}
        self._going: set[_Play] = set()
        """All whose turn has come or will, also those that somebody overtook."""
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stage")
        self._lessons = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stage-lesson")

    def lane(self, lane: Lane) -> "RunsInLane":
        """The same runs for others than links."""
        return RunsInLane(self, lane)

    async def get(self, spec: RunSpec, lane: Lane = "link") -> Run:
        """The run, played now if it is not kept. It is given up when nobody waits for it any more.

        Raises:
            StageError: it cannot be played, or (``StageBusy``) too many others wait.
        """
        key = spec.query()
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept[0]
        play_ = self._plays.get(key)
        if play_ is None or (lane != "link" and play_.lane == "link" and not play_.begun):
            # A lesson overtakes the link that waits for the same; whoever waits there goes on.
            play_ = self._begin(key, spec, lane)
        play_.wanted += 1
        try:
            return await asyncio.shield(play_.future)
        finally:
            play_.wanted -= 1
            if not play_.wanted and not play_.future.done():
                self._give_up(key, play_)

    def progress(self, spec: RunSpec) -> RunProgress:
        """How far it is, without asking for it."""
        key = spec.query()
        if key in self._kept:
            return RunProgress("ready", spec.duration_ns, spec.duration_ns)
        play_ = self._plays.get(key)
        if play_ is None:
            return RunProgress("absent", 0, spec.duration_ns)
        queue = [one for one in self._plays.values() if _is_link(one) == _is_link(play_)]
        state: Literal["playing", "waiting"] = "playing" if play_.begun else "waiting"
        return RunProgress(state, play_.t, spec.duration_ns, queue.index(play_))

    def close(self) -> None:
        """Give up what is being played; waits for the worker, which looks up every few ms."""
        for play_ in tuple(self._going):
            self._give_up(play_.spec.query(), play_)
        for worker in (self._worker, self._lessons):
            worker.shutdown(wait=True, cancel_futures=True)

    def _begin(self, key: str, spec: RunSpec, lane: Lane) -> _Play:
        going = sum(one.lane == lane and not one.cancelled.is_set() for one in self._going)
        if going >= MOST_WAITING and lane != "lesson":
            raise StageBusy(BUSY)
        scenario = self._scenario_of(spec)
        play_ = _Play(spec, lane)
        loop = asyncio.get_running_loop()
        worker = self._worker if _is_link(play_) else self._lessons
        play_.future = loop.run_in_executor(worker, _work, play_, scenario)
        self._going.add(play_)
        play_.future.add_done_callback(partial(self._ended, key, play_))
        self._plays[key] = play_
        return play_

    def _give_up(self, key: str, play_: _Play) -> None:
        play_.cancelled.set()
        if self._plays.get(key) is play_:
            del self._plays[key]

    def _ended(self, key: str, play_: _Play, future: asyncio.Future[Run]) -> None:
        self._going.discard(play_)
        if self._plays.get(key) is play_:
            del self._plays[key]
        # Whoever waits gets the exception; if nobody does, it is of no interest to anybody.
        if future.cancelled() or future.exception() is not None:
            return
        self._keep(key, future.result())

    def _keep(self, key: str, run: Run) -> None:
        if key in self._kept:
            # Somebody overtook it.
            return
        weighs = run.weight + RECORD * len(run.records)
        self._kept[key] = (run, weighs)
        self._weight += weighs
        while self._weight > self._most_weight and len(self._kept) > 1:
            _, (_, weighed) = self._kept.popitem(last=False)
            self._weight -= weighed


class RunsInLane(NamedTuple):
    """Runs for those in one lane."""

    runs: Runs
    which: Lane

    async def get(self, spec: RunSpec) -> Run:
        """See :meth:`Runs.get`."""
        return await self.runs.get(spec, self.which)


def _is_link(play_: _Play) -> bool:
    return play_.lane == "link"


def _work(play_: _Play, scenario: Scenario) -> Run:
    """On the worker thread."""
    if play_.cancelled.is_set():
        raise Cancelled
    play_.begun = True
    return play(play_.spec, scenario, play_.progress, play_.cancelled.is_set)
