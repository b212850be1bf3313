"""The event stream's fan-out: every subscriber gets every event (containerd since 2.0).

A subscriber has a bounded buffer. containerd 2.x blocks the whole node when one is full; this hub
does not: a subscriber that falls behind by more than its buffer is told so and its stream ends, so
that nobody else waits and nothing is lost unnoticed. While nobody is subscribed events are kept for
some minutes and handed to the next subscriber at once (containerd 2.x: five minutes), as a burst of
old events that a client must not mistake for news.
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import grpc
import msgspec

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


class StreamEnd(msgspec.Struct, frozen=True):
    """How the runtime ends a stream: with OK cleanly, otherwise with an error."""

    code: grpc.StatusCode
    details: str


class StreamEndedError(Exception):
    """The runtime ends this stream, ``end`` says how."""

    def __init__(self, end: StreamEnd) -> None:
        super().__init__(f"the stream was ended: {end.code.name} {end.details}")
        self.end = end


class Subscriber:
    """One open stream: encoded events wait here until the client takes them."""

    def __init__(self, capacity: int) -> None:
        self._end: StreamEnd | None = None
        self._capacity = capacity
        self._waiting: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._lost = 0

    @property
    def ended(self) -> bool:
        """Whether the runtime has ended the stream."""
        return self._end is not None

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

    def end(self, end: StreamEnd) -> None:
        """The stream ends now; what the client has not taken is lost."""
        self._end = end
        self._waiting.clear()
        self._news.set()

    async def take(self) -> bytes:
        """The next message, as soon as there is one.

        Raises:
            OverrunError: the client fell behind; the stream should end.
            StreamEndedError: the stream ends.
        """
        while not self._waiting or self._end is not None:
            if self._end is not None:
                raise StreamEndedError(self._end)
            if self._lost:
                raise OverrunError(self._lost)
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()


class Way(Protocol):
    """How events get from the hub to its subscribers."""

    def opened(self, subscriber: Subscriber) -> None:
        """A stream was opened."""
        ...

    def left(self, subscriber: Subscriber) -> None:
        """A stream is no more."""
        ...

    def send(self, told: RuntimeEvent, to: Sequence[Subscriber], *, old: bool) -> None:
        """Bring an event to these, encoding it once; an ``old`` one comes from the backlog."""
        ...


class StraightWay:
    """At once, and whole."""

    def opened(self, subscriber: Subscriber) -> None:
        """Nothing to prepare."""

    def left(self, subscriber: Subscriber) -> None:
        """Nothing to clear away."""

    def send(self, told: RuntimeEvent, to: Sequence[Subscriber], *, old: bool) -> None:
        """See :class:`Way`."""
        message = event_message(told).SerializeToString()
        for subscriber in to:
            if old:
                subscriber.fill([message])
            else:
                subscriber.put(message)


class EventHub:
    """Hands events to all subscribers, by ``way``.

    ``backlog_ns``: how old an event may be that was kept while there was no subscriber.
    """

    def __init__(
        self, clock: Clock, backlog_ns: int, *, buffer: int = BUFFER, backlog: int = BACKLOG
    ) -> None:
        self._clock = clock
        self._backlog_ns = backlog_ns
        self._buffer = buffer
        self._backlog: deque[RuntimeEvent] = deque(maxlen=backlog)
        self._subscribers: list[Subscriber] = []
        self.way: Way = StraightWay()

    @property
    def subscribers(self) -> int:
        """How many streams are open."""
        return len(self._subscribers)

    def publish(self, event: RuntimeEvent) -> None:
        """Hand an event to everybody, or keep it for whoever comes."""
        listening = [one for one in self._subscribers if not one.ended]
        if listening:
            self.way.send(event, listening, old=False)
        else:
            self._backlog.append(event)

    def forget(self) -> None:
        """What was kept for whoever comes is lost."""
        self._backlog.clear()

    def end_all(self, end: StreamEnd) -> None:
        """All streams end now."""
        for one in self._subscribers:
            if not one.ended:
                one.end(end)

    @contextmanager
    def subscribe(self) -> Iterator[Subscriber]:
        """An open stream, for as long as the context lasts."""
        subscriber = Subscriber(self._buffer)
        self.way.opened(subscriber)
        oldest = self._clock.wall() - self._backlog_ns
        waiting = tuple(self._backlog)
        self._backlog.clear()
        for event in waiting:
            if event.created_at >= oldest:
                self.way.send(event, (subscriber,), old=True)
        self._subscribers.append(subscriber)
        try:
            yield subscriber
        finally:
            self._subscribers.remove(subscriber)
            self.way.left(subscriber)
