"""The event stream over gRPC: from the runtime to its subscribers, as the runtime's rules say.

Who gets an event is decided in ``audience.py``. Here is what a subscriber that does not read brings
about: its slots fill up, then events wait in the runtime's channel. containerd 2.x drops nothing
and lets its calls wait instead (``stalled``): CreateContainer and RunPodSandbox hang for the whole
node, and no other subscriber gets anything, until the slow one reads or leaves. containerd 1.7 and
CRI-O drop events once the channel is full, and no call waits.

What was kept while nobody was subscribed goes to the next subscriber at once, as a burst of old
events that a client must not mistake for news.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import grpc
import msgspec

from app.clock import Clock
from app.sim.audience import Audience
from app.sim.chance import generator
from app.sim.flavour import RuntimeRules
from app.sim.flavours import CONTAINERD_2
from app.sim.messages import event_message
from app.sim.objects import RuntimeEvent

BUFFER = 1000
"""Messages kept for one subscriber, however they came; beyond that its stream ends."""

LONGEST_WAIT = 10_000
"""Events that wait while the runtime's calls do, before further ones are dropped: a bound of ours,
for what happens on a node while it is stalled."""

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
        self._audience: Audience[Subscriber] = Audience(rules, generator(seed, "event audience"))
        self._waiting: deque[RuntimeEvent] = deque()
        """The runtime's channel: events that no subscriber has room for."""
        self._subscribers: list[Subscriber] = []
        self._calls: list[Callable[[], object]] = []
        self.dropped = 0
        """Events that were given up because the channel was full."""
        self.way: Way = StraightWay()

    @property
    def subscribers(self) -> int:
        """How many streams are open."""
        return len(self._subscribers)

    @property
    def stalled(self) -> bool:
        """Whether calls that tell events hang, because a subscriber does not read."""
        return self.rules.channel is None and bool(self._waiting)

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
            self.once_moved(moved.set)
            await moved.wait()

    def once_moved(self, call: Callable[[], object]) -> None:
        """Call once, when what waits in the channel could be sent."""
        self._calls.append(call)

    def publish(self, event: RuntimeEvent) -> None:
        """Hand an event to whoever is to get it, or keep it for whoever comes."""
        channel = LONGEST_WAIT if self.rules.channel is None else self.rules.channel
        if len(self._waiting) >= channel:
            self.dropped += 1
            return
        self._waiting.append(event)
        self._pump()

    def forget(self) -> None:
        """The runtime ends: what was kept for whoever comes is lost, and who was there unknown."""
        self._waiting.clear()
        self._audience.restart()
        self._tell_moved()

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
        for event in self._audience.join(subscriber, self._clock.wall()):
            if self.rules.stream == "each":
                self.way.send(event, (subscriber,), old=True)
            else:
                # It never left the channel.
                self._waiting.append(event)
        self._subscribers.append(subscriber)
        self._pump()
        try:
            yield subscriber
        finally:
            self._subscribers.remove(subscriber)
            self.way.left(subscriber)
            self._audience.leave(subscriber, noticed=subscriber.ended)
            self._pump()

    def _changed(self, subscriber: Subscriber) -> None:
        """A subscriber has taken a message, or its stream was ended."""
        if subscriber.ended:
            self._audience.leave(subscriber, noticed=True)
        self._pump()

    def _pump(self) -> None:
        """Send what can be sent."""
        while self._waiting:
            to = self._audience.hand(self._waiting[0], self._has_room)
            if to is None:
                return
            event = self._waiting.popleft()
            if to:
                self.way.send(event, to, old=False)
        self._tell_moved()

    def _tell_moved(self) -> None:
        calls, self._calls = self._calls, []
        for call in calls:
            call()

    def _has_room(self, subscriber: Subscriber) -> bool:
        return subscriber.waiting < self.rules.slots
