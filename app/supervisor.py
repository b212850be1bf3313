"""All of a session's lasting tasks, in one group under one rule.

None of them ends by itself while the session lasts. One that does is told on the timeline and ends
the session with a sentence, instead of leaving a dashboard that has quietly gone blind.
"""

import asyncio
from collections.abc import Awaitable, Callable

from app.errors import PlegscopeError, where

Work = Callable[[], Awaitable[None]]


def _silent(_text: str) -> None:
    """Before there is a timeline, the error that ``run`` raises says it all."""


class Supervisor:
    """Runs lasting tasks until ``stop`` is set or one of them ends.

    ``duration_s``: sets ``stop`` by itself so many seconds after the session has begun (0: never).
    """

    def __init__(self, duration_s: float = 0.0) -> None:
        self._duration_s = duration_s
        self.stop = asyncio.Event()
        self.tell: Callable[[str], None] = _silent
        """Puts a warning on the timeline; set once there is one."""
        self._early: list[tuple[str, Work]] = []
        self._group: asyncio.TaskGroup | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._endings: list[Callable[[], None]] = []
        self._error: PlegscopeError | None = None

    def add(self, name: str, work: Work) -> None:
        """``work()`` is to run as long as the session does; begun at once while ``run`` runs."""
        if self._group is None:
            self._early.append((name, work))
        else:
            self._tasks.append(self._group.create_task(self._last(name, work), name=name))

    def at_end(self, call: Callable[[], None]) -> None:
        """Call this when the session ends, before any task is cancelled."""
        self._endings.append(call)

    def fail(self, error: PlegscopeError) -> None:
        """End the session with this error, unless another came first."""
        self._error = self._error or error
        self.stop.set()

    async def run(self, begin: Work) -> None:
        """Start what was added, then ``begin()``, which may add more; returns after ``stop``.

        Raises:
            PlegscopeError: ``begin`` or a lasting task failed; all others have ended by then.
        """
        async with asyncio.TaskGroup() as group:
            self._group = group
            for name, work in self._early:
                self.add(name, work)
            self._tasks.append(group.create_task(self._begin(begin), name="begin"))
            await self.stop.wait()
            for call in self._endings:
                call()
            self._group = None
            for task in self._tasks:
                task.cancel()
        if self._error is not None:
            raise self._error

    async def _begin(self, begin: Work) -> None:
        try:
            await begin()
        except Exception as error:
            self._failed("start", error)
            return
        if self._duration_s:
            # From here on: a machine that is slow to start watches for as long as a fast one.
            asyncio.get_running_loop().call_later(self._duration_s, self.stop.set)

    async def _last(self, name: str, work: Work) -> None:
        try:
            await work()
        except Exception as error:
            self._failed(name, error)
        else:
            if not self.stop.is_set():
                self._end(name, "it ended by itself", None)

    def _failed(self, name: str, error: Exception) -> None:
        if isinstance(error, PlegscopeError):
            self._end(name, str(error), error)
            return
        self._end(name, where(error), None)

    def _end(self, name: str, detail: str, error: PlegscopeError | None) -> None:
        self.tell(f"plegscope's {name} stopped working ({detail}).")
        if self._error is None:
            self._error = error or PlegscopeError(
                f"plegscope's {name} stopped working: {detail}. This is a fault of plegscope: "
                "please report it with this line, and start plegscope again."
            )
        self.stop.set()
