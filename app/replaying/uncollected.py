"""The collector of circles, kept from holding up whoever waits: it stops everything while it looks
through what is in memory."""

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


def settle() -> None:
    """All that is there now stays and is not looked through again, once for the process: modules,
    classes and routes are two thirds of what the collector would go over each time, and a seek
    would wait for it as long as for two pieces."""
    if not gc.get_freeze_count():
        gc.freeze()


@contextmanager
def uncollected() -> Iterator[None]:
    """Short work that makes many objects and no circles of them, in any thread: it is not looked
    through meanwhile. What is no longer used is freed as ever."""
    ours = _rest.begin()
    try:
        yield
    finally:
        if ours:
            _rest.end()
