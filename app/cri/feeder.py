"""Takes from the ring what the reader put there, and feeds the engine with it, in order.

Parsing happens here and not in the reader, which only receives. During a renewal two streams bring
the same events: what one has brought is dropped when the other brings it too, by container id, type
and ``created_at``. What one stream brings twice is the runtime's doing and passes.
"""

import asyncio
from collections.abc import Callable

import msgspec
from google.protobuf.message import DecodeError

from app.clock import Clock
from app.cri import convert
from app.cri.pb import cri_pb2
from app.cri.ring import Lost, Received, Ring
from app.engine.inputs import StreamEnded, StreamEvent, StreamLost, StreamRenewed
from app.source import Feed

OnEvent = Callable[[int, int, bytes], None]
"""Is told of each event as received: monotonic and wall time (ns), and the message's bytes."""

CHUNK = 64
"""Events fed before everything else on the loop gets its turn."""

MAX_KEYS = 8192
"""Events remembered during a renewal; more than fit into the ring."""

UNREADABLE = (
    "The runtime sent an event that is not a CRI v1 message. Look whether it was upgraded to a "
    "version that speaks another API."
)


class Feeder:
    """Feeds one subscription's events with the times of their receipt.

    ``payload``: with their statuses, for the one profile that believes them. ``on_event``: called
    with each message before anything is made of it.
    """

    def __init__(
        self,
        ring: Ring,
        clock: Clock,
        *,
        payload: bool = False,
        on_event: OnEvent | None = None,
    ) -> None:
        self._ring = ring
        self._on_event = on_event
        self._clock = clock
        self._payload = payload
        self._closed = False
        self._seen: dict[tuple[str, int, int], int] = {}
        self._duplicates = 0
        self._compare_until = 0

    def close(self) -> None:
        """Feed nothing more, not even what is in hand."""
        self._closed = True

    def compare_until(self, t: int) -> None:
        """Compare what comes on different streams until ``t`` (monotonic ns)."""
        if self._clock.mono() >= self._compare_until:
            # The last time is over; one that still runs goes on with what it knows.
            self._seen.clear()
        self._compare_until = t

    async def run(self, feed: Feed) -> None:
        """Feed until a ``StreamEnded`` has been fed, or until closed."""
        while True:
            await self._ring.wait()
            fed = 0
            while (item := self._ring.take()) is not None:
                if self._closed:
                    return
                if isinstance(item, Received):
                    if not self._event(item, feed):
                        return
                elif isinstance(item, Lost):
                    feed(
                        StreamLost(
                            t=self._clock.mono(),
                            wall=self._clock.wall(),
                            count=item.number,
                            from_t=item.from_t,
                        )
                    )
                elif isinstance(item, StreamRenewed):
                    feed(msgspec.structs.replace(item, duplicates=self._duplicates))
                    self._duplicates = 0
                else:
                    feed(item)
                    if isinstance(item, StreamEnded):
                        return
                fed += 1
                if fed == CHUNK:
                    fed = 0
                    await asyncio.sleep(0)

    def _event(self, received: Received, feed: Feed) -> bool:
        if self._on_event is not None:
            self._on_event(received.t, received.wall, received.raw)
        try:
            message = cri_pb2.ContainerEventResponse.FromString(received.raw)
        except DecodeError:
            # As for a Go client: a message that cannot be read ends the stream.
            feed(
                StreamEnded(
                    t=self._clock.mono(),
                    wall=self._clock.wall(),
                    code="error",
                    detail=UNREADABLE,
                )
            )
            return False
        if received.t < self._compare_until and self._came_on_another(message, received.stream):
            self._duplicates += 1
            return True
        event = convert.event(message, len(received.raw), payload=self._payload)
        feed(StreamEvent(t=received.t, wall=received.wall, event=event))
        return True

    def _came_on_another(self, message: cri_pb2.ContainerEventResponse, stream: int) -> bool:
        key = convert.event_key(message)
        first = self._seen.setdefault(key, stream)
        if first != stream:
            return True
        if len(self._seen) > MAX_KEYS:
            del self._seen[next(iter(self._seen))]
        return False
