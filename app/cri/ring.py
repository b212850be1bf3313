"""The bounded ring between the stream's reader and the feeder: the oldest is dropped, and counted.

What is bounded is events, by number and by bytes; the few notices of the stream itself (opened,
live, renewed, ended) keep their place among them and are never dropped.
"""

import asyncio
from collections import deque
from typing import NamedTuple

from app.engine.inputs import StreamEnded, StreamLive, StreamOpened, StreamRenewed

CAPACITY = 4096
"""Events; four times what runtimes themselves keep for a subscriber."""

MAX_BYTES = 32 * 1024 * 1024

Notice = StreamOpened | StreamLive | StreamRenewed | StreamEnded


class Received(NamedTuple):
    """One message of a stream: its bytes, when it came (``t``, ``wall``), and on which stream."""

    t: int
    wall: int
    raw: bytes
    stream: int


class Lost(NamedTuple):
    """``number`` events were dropped; the first of them had come at ``from_t`` (monotonic ns)."""

    number: int
    from_t: int


class Ring:
    """A queue for one task that puts and one that takes, both on the same loop."""

    def __init__(self, capacity: int = CAPACITY, max_bytes: int = MAX_BYTES) -> None:
        self._capacity = capacity
        self._max_bytes = max_bytes
        self._events: deque[Received] = deque()
        self._notices: deque[tuple[int, Notice]] = deque()
        self._bytes = 0
        self._put = 0
        """Events put so far: a notice comes after as many."""
        self._gone = 0
        """Events taken or dropped so far."""
        self._lost: Lost | None = None
        self._lost_at = 0
        """Events gone before the first of the lost ones."""
        self._ready = asyncio.Event()
        self.full_since: int | None = None
        """When it first dropped something since it was last half empty (monotonic ns)."""

    def __len__(self) -> int:
        return len(self._events)

    def put(self, received: Received) -> None:
        """Append an event; drops the oldest ones while there is too much."""
        self._events.append(received)
        self._put += 1
        self._bytes += len(received.raw)
        while len(self._events) > self._capacity or (
            self._bytes > self._max_bytes and len(self._events) > 1
        ):
            oldest = self._pop()
            if self._lost is None:
                self._lost = Lost(1, oldest.t)
                self._lost_at = self._gone - 1
            else:
                self._lost = Lost(self._lost.number + 1, self._lost.from_t)
            if self.full_since is None:
                self.full_since = received.t
        self._ready.set()

    def tell(self, notice: Notice) -> None:
        """Append a notice about the stream itself, behind the events put so far."""
        self._notices.append((self._put, notice))
        self._ready.set()

    def take(self) -> Received | Notice | Lost | None:
        """The next thing in order, or None when there is nothing."""
        told = self._gone if self._lost is None else self._lost_at
        if self._notices and self._notices[0][0] <= told:
            return self._notices.popleft()[1]
        if self._lost is not None:
            lost, self._lost = self._lost, None
            return lost
        if not self._events:
            self._ready.clear()
            return None
        received = self._pop()
        if len(self._events) <= self._capacity // 2 and self._bytes <= self._max_bytes // 2:
            self.full_since = None
        return received

    async def wait(self) -> None:
        """Return when there may be something to take."""
        await self._ready.wait()

    def _pop(self) -> Received:
        received = self._events.popleft()
        self._gone += 1
        self._bytes -= len(received.raw)
        return received
