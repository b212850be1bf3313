"""Short work that makes many objects, and no circles of them, without the collector looking through
everything else in memory again and again meanwhile."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Rest:
    """How many rely on the collector's rest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    def begin(self) -> bool:
        """Whether it is one of ours; if not, somebody else has turned it off, and on again."""
        with self._lock:
            if not self._count and not gc.isenabled():
                return False
            self._count += 1
            gc.disable()
            return True

    def end(self) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                gc.enable()


_rest = _Rest()


@contextmanager
def uncollected() -> Iterator[None]:
    """For some dozens of milliseconds, in any thread; what is no longer used is freed as ever."""
    ours = _rest.begin()
    try:
        yield
    finally:
        if ours:
            _rest.end()
