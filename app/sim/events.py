"""The event stream over gRPC: open streams, and what waits for their clients.

Who gets an event, what waits and what hangs when a client does not read is decided in
``audience.py`` and ``channel.py``. What was kept while nobody was subscribed goes to the next
subscriber at once, as a burst of old events that a client must not mistake for news.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import grpc
import msgspec

from app.clock import Clock
from app.sim.agenda import Agenda, Signal
from app.sim.chance import generator
from app.sim.channel import Channel, Listener
from app.sim.flavour import RuntimeRules
from app.sim.flavours import CONTAINERD_2
from app.sim.messages import event_message
from app.sim.objects import RuntimeEvent

BUFFER = 1000
"""Messages kept for one subscriber, however they came; beyond that its stream ends."""

GONE = "Socket closed"
"""What a client is told by a stream that ends with the runtime."""


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


def _unheard(_subscriber: "Subscriber") -> None:
    """Nobody wants to know."""


class Subscriber:
    """One open stream: encoded events wait here until the client takes them.

    ``on_change`` is called when it has taken one, and when its stream ends.
    """

    def __init__(self, capacity: int, on_change: Callable[["Subscriber"], None] = _unheard) -> None:
        self._end: StreamEnd | None = None
        self._on_change = on_change
        self._capacity = capacity
        self._waiting: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._lost = 0

    @property
    def ended(self) -> bool:
        """Whether the runtime has ended the stream."""
        return self._end is not None

    @property
    def waiting(self) -> int:
        """How many messages the client has not taken yet."""
        return len(self._waiting)

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
        self._on_change(self)

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
        message = self._waiting.popleft()
        self._on_change(self)
        return message


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
    """Hands events to subscribers, by ``way``, as the runtime of these ``rules`` does.

    ``buffer``: messages kept for one subscriber at most. ``seed``: of what is left to chance.
    """

    def __init__(
        self,
        clock: Clock,
        rules: RuntimeRules = CONTAINERD_2,
        *,
        seed: int = 0,
        buffer: int = BUFFER,
    ) -> None:
        self.rules = rules
        self._clock = clock
        self._buffer = buffer
        self._channel: Channel[Subscriber | Listener] = Channel(
            rules, generator(seed, "event audience"), self._send, self._has_room
        )
        self._subscribers: list[Subscriber] = []
        self.way: Way = StraightWay()

    @property
    def subscribers(self) -> int:
        """How many streams are open."""
        return len(self._subscribers)

    @property
    def stalled(self) -> bool:
        """Whether calls that tell events hang, because a subscriber does not read."""
        return self._channel.stalled

    @property
    def dropped(self) -> int:
        """How many events were given up because too many waited."""
        return self._channel.dropped

    @property
    def gone(self) -> StreamEnd:
        """How streams end when the runtime does."""
        if self.rules.stops_with == "eof":
            return StreamEnd(grpc.StatusCode.OK, "")
        return StreamEnd(grpc.StatusCode.UNAVAILABLE, GONE)

    async def room(self) -> None:
        """Return when a call that told an event may be answered."""
        while self.stalled:
            moved = asyncio.Event()
            self._channel.once_moved(moved.set)
            await moved.wait()

    def stall(self, agenda: Agenda) -> Signal | None:
        """The same for calls that wait by the agenda: what they have to wait for, if they have."""
        return self._channel.stall(agenda)

    def publish(self, event: RuntimeEvent) -> None:
        """Hand an event to whoever is to get it, or keep it for whoever comes."""
        self._channel.publish(event)

    def forget(self) -> None:
        """The runtime ends: what was kept for whoever comes is lost, and who was there unknown."""
        self._channel.restart()

    def end_all(self, end: StreamEnd) -> None:
        """All streams end now."""
        for one in self._subscribers:
            if not one.ended:
                one.end(end)

    @contextmanager
    def subscribe(self) -> Iterator[Subscriber]:
        """An open stream, for as long as the context lasts."""
        subscriber = Subscriber(self._buffer, self._changed)
        self.way.opened(subscriber)
        for event in self._channel.join(subscriber, self._clock.wall()):
            self.way.send(event, (subscriber,), old=True)
        self._subscribers.append(subscriber)
        self._channel.pump()
        try:
            yield subscriber
        finally:
            self._subscribers.remove(subscriber)
            self.way.left(subscriber)
            self._channel.leave(subscriber, noticed=subscriber.ended)

    def attend(self, listener: Listener) -> None:
        """Somebody else subscribes, in this process."""
        for _ in self._channel.join(listener, self._clock.wall()):
            listener.take()
        self._channel.pump()

    def dismiss(self, listener: Listener) -> None:
        """Somebody else leaves."""
        self._channel.leave(listener, noticed=False)

    def _changed(self, subscriber: Subscriber) -> None:
        """A subscriber has taken a message, or its stream was ended."""
        if subscriber.ended:
            self._channel.leave(subscriber, noticed=True)
        else:
            self._channel.pump()

    def _send(self, event: RuntimeEvent, to: tuple[Subscriber | Listener, ...]) -> None:
        streams = [one for one in to if isinstance(one, Subscriber)]
        if streams:
            self.way.send(event, streams, old=False)
        for one in to:
            if isinstance(one, Listener):
                one.take()

    def _has_room(self, one: Subscriber | Listener) -> bool:
        if isinstance(one, Listener):
            return one.has_room
        return one.waiting < self.rules.slots
