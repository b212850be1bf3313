"""One viewer's mailbox: what waits to be sent to it, bounded.

The hub puts frames in and never waits; the viewer's own sender takes them out. When the mailbox
is full everything in it is dropped and the viewer is *behind*: nothing more is put in until its
sender has come back for something, asked for a fresh start and got one. So a slow viewer costs one
flag, and gets fresh state instead of backlog.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

from app.hub.encode import Frame
from app.hub.limits import Limits

_STATE = None
"""Stands in the queue for the state, of which only the newest waits."""


class Viewer:
    """A mailbox. ``ask`` is called when the viewer wants a fresh start from the hub, ``told`` with
    each frame that its sender takes.

    ``position`` is the number of the newest record handed to the sender; None before the first.
    Everything but ``take`` is the hub's to call.
    """

    def __init__(
        self,
        limits: Limits,
        ask: Callable[[], None],
        told: Callable[[Frame], None] | None = None,
    ) -> None:
        self._limits = limits
        self._ask = ask
        self._told = told
        self._opening: deque[Frame] = deque()
        """A fresh start: goes before the queue and does not count as backlog."""
        self._queue: deque[Frame | None] = deque()
        self._bytes = 0
        self._state: Frame | None = None
        self._farewell: Frame | None = None
        self._wake = asyncio.Event()
        self.closing = asyncio.Event()
        """Set when the farewell is all that is still to come."""
        self.position: int | None = None
        self.behind = True
        self.asked = False

    def greet(self, frame: Frame) -> None:
        """Put in a frame that comes before the fresh start."""
        self._opening.append(frame)
        self._wake.set()

    def start(self, frames: Iterable[Frame], position: int | None = None) -> None:
        """A fresh start: these frames first, then whatever is offered.

        Args:
            frames: taken whatever their size.
            position: the newest record that the viewer has already, if it has any.
        """
        if self.closing.is_set():
            return
        self._opening.extend(frames)
        self.position = self.position if position is None else position
        self.behind = False
        self.asked = False
        self._wake.set()

    def offer(self, frame: Frame) -> bool:
        """Put in a batch; False when the mailbox overflowed by it (told once)."""
        if self.behind or self.closing.is_set():
            return True
        if self._queue and (
            len(self._queue) >= self._limits.queue_frames
            or self._bytes + frame.size > self._limits.queue_bytes
        ):
            return not self.fall_behind()
        self._queue.append(frame)
        self._bytes += frame.size
        self._wake.set()
        return True

    def offer_state(self, frame: Frame) -> None:
        """Put in the state; one that still waits is replaced and keeps its place."""
        if self.behind or self.closing.is_set():
            return
        if self._state is None:
            self._queue.append(_STATE)
        self._state = frame
        self._wake.set()

    def fall_behind(self) -> bool:
        """Drop what waits and go on with a fresh start; False when that was so already."""
        if self.behind or self.closing.is_set():
            return False
        self._clear()
        self.behind = True
        self._wake.set()
        return True

    def close(self, farewell: Frame) -> None:
        """Drop what waits; the sender gets the farewell and then the end."""
        if not self.closing.is_set():
            self._clear()
            self._farewell = farewell
            self.closing.set()
            self._wake.set()

    async def take(self) -> Frame | None:
        """The next frame to send, waiting for it; None at the end."""
        while True:
            if self.closing.is_set():
                farewell, self._farewell = self._farewell, None
                return farewell
            if self._opening or self._queue:
                return self._pop()
            if self.behind and not self.asked:
                self.asked = True
                self._ask()
            self._wake.clear()
            await self._wake.wait()

    def _pop(self) -> Frame:
        if self._opening:
            head: Frame | None = self._opening.popleft()
        else:
            head = self._queue.popleft()
            self._bytes -= 0 if head is _STATE else head.size
        if head is _STATE:
            head, self._state = self._state, None
        assert head is not None
        if head.last is not None:
            self.position = head.last
        if self._told is not None:
            self._told(head)
        return head

    def _clear(self) -> None:
        self._opening.clear()
        self._queue.clear()
        self._bytes = 0
        self._state = None
