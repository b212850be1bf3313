"""All of a session's lasting tasks, in one group under one rule.

None of them ends by itself while the session lasts. One that does is told on the timeline and ends
the session with a sentence, instead of leaving a dashboard that has quietly gone blind.
"""

import asyncio
import traceback
from collections.abc import Awaitable, Callable

from app.errors import PlegscopeError

Tell = Callable[[str], None]
"""Puts a warning on the timeline."""


class Supervisor:
    """Runs lasting tasks until ``stop`` is set or one of them ends."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._lasting: list[tuple[str, Callable[[], Awaitable[None]]]] = []
        self.stop = asyncio.Event()
        self._error: PlegscopeError | None = None

    def add(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """``work()`` is to run for as long as the session does."""
        self._lasting.append((name, work))

    async def run(self, *, until: Callable[[], Awaitable[None]] | None = None) -> None:
        """Run everything; returns when ``stop`` is set or ``until()`` returns.

        Raises:
            PlegscopeError: a lasting task failed; all others are cancelled by then.
        """
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._last(name, work)) for name, work in self._lasting]
            if until is not None:
                tasks.append(group.create_task(self._until(until)))
            await self.stop.wait()
            for task in tasks:
                task.cancel()
        if self._error is not None:
            raise self._error

    async def _until(self, until: Callable[[], Awaitable[None]]) -> None:
        await until()
        self.stop.set()

    async def _last(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except PlegscopeError as error:
            self._end(name, str(error), error)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            detail = f"{type(error).__name__} in {where.name}, line {where.lineno}: {error}"
            self._end(name, detail, None)
        else:
            if not self.stop.is_set():
                self._end(name, "it ended by itself", None)

    def _end(self, name: str, detail: str, error: PlegscopeError | None) -> None:
        self._tell(f"plegscope's {name} stopped working ({detail}).")
        if self._error is None:
            self._error = error or PlegscopeError(
                f"plegscope's {name} stopped working: {detail}. This is a fault of plegscope: "
                "please report it with this line, and start plegscope again."
            )
        self.stop.set()
