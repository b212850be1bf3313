"""Makes something once for all who ask for it at the same time.

What is made of a run takes a core for a while. Ten browsers that ask for the same at once must not
have it made ten times, nor make ten threads wait for each other.
"""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class _Making:
    """Something that is being made, and how many wait for it."""

    def __init__(self, future: asyncio.Future[Any]) -> None:
        self.future = future
        self.wanted = 0


class Once:
    """One thread that makes one thing after the other; to be used on one event loop."""

    def __init__(self) -> None:
        self._making: dict[Hashable, _Making] = {}
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stage-make")

    async def get(self, what: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` makes. It is given up when nobody waits for it any more.

        Args:
            what: equal for equal things; an ``id`` in it must be of something that ``make`` holds.
            make: called on the thread.
        """
        making = self._making.get(what)
        if making is None:
            future = asyncio.get_running_loop().run_in_executor(self._worker, make)
            making = self._making[what] = _Making(future)
            future.add_done_callback(partial(self._made, what, making))
        making.wanted += 1
        try:
            made: T = await asyncio.shield(making.future)
        finally:
            making.wanted -= 1
            if not making.wanted and not making.future.done():
                self._forget(what, making)
                making.future.cancel()
        return made

    def close(self) -> None:
        """Waits for what is being made, and makes nothing more."""
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _made(self, what: Hashable, making: _Making, future: asyncio.Future[Any]) -> None:
        self._forget(what, making)
        # Whoever waits gets the exception; if nobody does, it is of no interest to anybody.
        if not future.cancelled():
            future.exception()

    def _forget(self, what: Hashable, making: _Making) -> None:
        if self._making.get(what) is making:
            del self._making[what]
