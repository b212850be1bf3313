"""Keeps the runs that were asked for, and plays what is not there yet.

Playing takes all of one core for a while, so it is done in one worker thread, one run after the
other, and only as long as somebody waits for it. What was played is kept while there is room.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

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
"""Runs that may be asked for at the same time."""

BUSY = (
    f"{MOST_WAITING} runs are being played or wait for it. Load this page again in a few seconds."
)


class _Play:
    """A run that is being played, or waits for it."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
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
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stage")

    async def get(self, spec: RunSpec) -> Run:
        """The run, played now if it is not kept. It is given up when nobody waits for it any more.

        Raises:
            StageError: it cannot be played, or (``StageBusy``) too many others wait.
        """
        key = spec.query()
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept[0]
        play_ = self._plays.get(key) or self._begin(key, spec)
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
        for ahead, (other, play_) in enumerate(self._plays.items()):
            if other == key:
                state = "playing" if play_.begun else "waiting"
                return RunProgress(state, play_.t, spec.duration_ns, ahead)
        return RunProgress("absent", 0, spec.duration_ns)

    def close(self) -> None:
        """Give up what is being played; waits for the worker, which looks up every few ms."""
        for key, play_ in tuple(self._plays.items()):
            self._give_up(key, play_)
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _begin(self, key: str, spec: RunSpec) -> _Play:
        if len(self._plays) >= MOST_WAITING:
            raise StageBusy(BUSY)
        scenario = self._scenario_of(spec)
        play_ = _Play(spec)
        loop = asyncio.get_running_loop()
        play_.future = loop.run_in_executor(self._worker, _work, play_, scenario)
        play_.future.add_done_callback(partial(self._ended, key, play_))
        self._plays[key] = play_
        return play_

    def _give_up(self, key: str, play_: _Play) -> None:
        play_.cancelled.set()
        if self._plays.get(key) is play_:
            del self._plays[key]

    def _ended(self, key: str, play_: _Play, future: asyncio.Future[Run]) -> None:
        if self._plays.get(key) is play_:
            del self._plays[key]
        # Whoever waits gets the exception; if nobody does, it is of no interest to anybody.
        if future.cancelled() or future.exception() is not None:
            return
        self._keep(key, future.result())

    def _keep(self, key: str, run: Run) -> None:
        weighs = run.weight + RECORD * len(run.records)
        self._kept[key] = (run, weighs)
        self._weight += weighs
        while self._weight > self._most_weight and len(self._kept) > 1:
            _, (_, weighed) = self._kept.popitem(last=False)
            self._weight -= weighed


def _work(play_: _Play, scenario: Scenario) -> Run:
    """On the worker thread."""
    if play_.cancelled.is_set():
        raise Cancelled
    play_.begun = True
    return play(play_.spec, scenario, play_.progress, play_.cancelled.is_set)
