"""The event stream's fan-out: every subscriber gets every event (containerd since 2.0).

A subscriber has a bounded buffer. containerd 2.x blocks the whole node when one is full; this hub
does not: a subscriber that falls behind by more than its buffer is told so and its stream ends, so
that nobody else waits and nothing is lost unnoticed. While nobody is subscribed events are kept for
some minutes and handed to the next subscriber at once (containerd 2.x: five minutes), as a burst of
old events that a client must not mistake for news.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from app.clock import Clock
from app.sim.messages import event_message
from app.sim.objects import RuntimeEvent

BUFFER = 1000
BACKLOG = 10_000


class OverrunError(Exception):
    """This subscriber read too slowly; ``lost`` events were not kept for it."""

    def __init__(self, lost: int) -> None:
        super().__init__(f"the subscriber fell behind and {lost} events were not kept for it")
        self.lost = lost


class Subscriber:
    """One open stream: encoded events wait here until the client takes them."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._waiting: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._lost = 0

    def put(self, message: bytes) -> None:
        """Keep a message for the client; when the buffer is full the stream is lost instead."""
        if self._lost or len(self._waiting) >= self._capacity:
            self._waiting.clear()
            self._lost += 1
        else:
            self._waiting.append(message)
        self._news.set()

    def fill(self, messages: list[bytes]) -> None:
        """Begin with a backlog, however long."""
        self._waiting.extend(messages)
        self._news.set()

    async def take(self) -> bytes:
        """The next message, as soon as there is one.

        Raises:
            OverrunError: the client fell behind; the stream should end.
        """
        while not self._waiting:
            if self._lost:
                raise OverrunError(self._lost)
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()


class EventHub:
    """Hands events to all subscribers, encoding each once.

    ``backlog_ns``: how old an event may be that was kept while there was no subscriber.
    """

    def __init__(
        self, clock: Clock, backlog_ns: int, *, buffer: int = BUFFER, backlog: int = BACKLOG
    ) -> None:
        self._clock = clock
        self._backlog_ns = backlog_ns
        self._buffer = buffer
        self._backlog: deque[tuple[int, bytes]] = deque(maxlen=backlog)
        self._subscribers: list[Subscriber] = []

    @property
    def subscribers(self) -> int:
        """How many streams are open."""
        return len(self._subscribers)

    def publish(self, event: RuntimeEvent) -> None:
        """Hand an event to everybody, or keep it for whoever comes."""
        message = event_message(event).SerializeToString()
        if not self._subscribers:
            self._backlog.append((event.created_at, message))
        for subscriber in self._subscribers:
            subscriber.put(message)

    @contextmanager
    def subscribe(self) -> Iterator[Subscriber]:
        """An open stream, for as long as the context lasts."""
        subscriber = Subscriber(self._buffer)
        oldest = self._clock.wall() - self._backlog_ns
        subscriber.fill([message for at, message in self._backlog if at >= oldest])
        self._backlog.clear()
        self._subscribers.append(subscriber)
        try:
            yield subscriber
        finally:
            self._subscribers.remove(subscriber)
