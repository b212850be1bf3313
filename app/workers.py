"""Threads that ask disks, and an end of the process that does not wait for them.

Python joins such threads before it ends, so one that a dead network disk holds up would keep a
process for ever that has nothing more to do. The kernel lets a thread go that waits for a network
disk once its process ends, so the process only has to.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

END_S = 1.0
"""So long threads at work are waited for at the end."""

_HELD_UP: list[str] = []


class Workers(ThreadPoolExecutor):
    """The event loop's default executor. What has not begun when it ends is not begun any more."""

    def __init__(self, end_s: float = END_S) -> None:
        super().__init__(thread_name_prefix="disk")
        self._end_s = end_s

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End, and wait for ``end_s`` seconds at most; else as ``ThreadPoolExecutor``."""
        del cancel_futures
        super().shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + (self._end_s if wait else 0.0)
        for thread in tuple(self._threads):
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                _HELD_UP.append(thread.name)


def leave_if_held_up(code: int) -> None:
    """End the process with this exit code, without waiting, if a thread was still at work when its
    executor ended. To be called last: nothing else is tidied up."""
    if not _HELD_UP:
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
