"""The stream keeper: subscribed without ever harming the node, and renewed before anyone notices.

The rules, each from what real runtimes were seen to do:

* Always drain. A subscriber that does not read makes containerd 2.x hang in CreateContainer and
  RunPodSandbox for the whole node. The reader only receives and puts into a ring that drops.
* A deadline on every stream, enforced by the runtime itself, so that even a stopped process lets
  the node go. It is renewed before its end: open the next, then drop the last.
* A process that cannot keep up leaves the stream instead of leaving it unread.
* No initial metadata is ever waited for: on a quiet node none comes. A stream is live once it
  brought an event or stayed open for the grace time.

Where all subscribers share one channel (joined on request only) there is neither a deadline nor a
renewal: nothing stalls there, and every subscription that has ended stays in line for one more
event and takes it away. containerd 1.7 was seen to keep 1300 such ghosts on a quiet node, which
would have swallowed the next 1300 events.
"""

import asyncio
from functools import partial

import grpc
import msgspec

from app.clock import Clock
from app.cri.client import CriClient, EventCall
from app.cri.feeder import Feeder, OnEvent
from app.cri.ring import Received, Ring
from app.cri.words import End, stream_end
from app.engine.inputs import StreamEnded, StreamLive, StreamOpened, StreamRenewed
from app.source import Feed

FOREVER = 1 << 62
TAIL_NS = 5_000_000_000
"""How long after a renewal the two streams' events are still compared."""

EARLY_NS = 250_000_000
"""The runtime keeps the deadline too, and its CANCEL may come a little before our own timer."""

OVERRUN = (
    "Events came faster than plegscope could take them, for {:g} s: it left the stream rather than "
    "hold up the runtime."
)


class StreamTiming(msgspec.Struct, frozen=True):
    """Seconds of the session's clock. ``deadline``: of each stream, 30 to 60 (None: without, never
    renewed).

    Shorter is not better: containerd 2.x keeps some 16 KB for a subscription that has ended, until
    its next event. ``renew_before``: how long before its deadline the next one is opened.
    ``grace``: how long a stream must stay open to count as live. ``overrun``: how long the ring
    may keep dropping.
    """

    deadline: float | None = 45.0
    renew_before: float = 4.0
    grace: float = 1.0
    overrun: float = 5.0


SHARED = StreamTiming(deadline=None)
"""For runtimes that give each event to one subscriber only; see the module's docstring."""


class Subscription:
    """One GetContainerEvents call. ``live``: survived its grace time; ``due``: is to be renewed."""

    def __init__(self, call: EventCall, number: int, opened: int) -> None:
        self.call = call
        self.number = number
        self.opened = opened
        self.live = False
        self.due = False
        self.end: End | None = None
        self.gone = asyncio.Event()
        """Set when nothing more is read from it."""
        self.timers: list[asyncio.TimerHandle] = []

    def close(self) -> None:
        """Cancel the call and its timers; how it ends does not matter any more."""
        for timer in self.timers:
            timer.cancel()
        self.call.cancel()


class StreamKeeper:
    """Keeps one subscription alive, from the first call until it ends and is not renewed.

    ``run`` feeds ``StreamOpened``, ``StreamLive``, events, renewals, and at last ``StreamEnded``.
    ``payload``: events come with their statuses. ``on_event``: told of each as received.
    """

    def __init__(
        self,
        client: CriClient,
        clock: Clock,
        timing: StreamTiming | None = None,
        ring: Ring | None = None,
        *,
        payload: bool = False,
        on_event: OnEvent | None = None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._timing = timing or StreamTiming()
        # An empty ring is false.
        self._ring = Ring() if ring is None else ring
        self._feeder = Feeder(self._ring, clock, payload=payload, on_event=on_event)
        self._count = client.count("GetContainerEvents")
        self._open: dict[int, Subscription] = {}
        self._opened = 0
        self._changed = asyncio.Event()
        self._give_up: End | None = None

    async def run(self, feed: Feed) -> None:
        """Subscribe and feed; returns after ``StreamEnded`` was fed. Cancelling it unsubscribes."""
        async with asyncio.TaskGroup() as tasks:
            keeping = tasks.create_task(self._keep(tasks), name="keeps the event stream")
            await self._feeder.run(feed)
            keeping.cancel()

    def close(self) -> None:
        """Feed nothing more. Whoever calls this cancels ``run`` as well."""
        self._feeder.close()

    async def leave(self) -> None:
        """Unsubscribe and wait until it is done, without telling yet: ``end`` does."""
        for subscription in list(self._open.values()):
            subscription.close()
        for subscription in list(self._open.values()):
            await subscription.gone.wait()

    def end(self, end: End) -> None:
        """End the stream, with this as the reason that is told."""
        self._give_up = end
        self._changed.set()

    # Keeping

    async def _keep(self, tasks: asyncio.TaskGroup) -> None:
        try:
            end = await self._until_end(tasks)
        finally:
            for subscription in self._open.values():
                subscription.close()
        self._ring.tell(
            StreamEnded(
                t=self._clock.mono(), wall=self._clock.wall(), code=end.code, detail=end.detail
            )
        )

    async def _until_end(self, tasks: asyncio.TaskGroup) -> End:
        current = self._subscribe(tasks)
        self._ring.tell(StreamOpened(t=current.opened, wall=self._clock.wall()))
        successor: Subscription | None = None
        refused: End | None = None
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._give_up is not None:
                return self._give_up
            if successor is not None and successor.end is not None:
                # The last one stays until its own deadline: better some more events than none.
                refused, successor = successor.end, None
                self._feeder.compare_until(0)
            if successor is not None and successor.live:
                current.close()
                current, successor = successor, None
                self._renewed()
                # What happened to it before it took over is looked at now.
                self._changed.set()
            elif current.end is not None:
                if successor is not None and current.end.code == "deadline":
                    # The successor was open in time; its grace time will tell.
                    continue
                if refused is not None:
                    return End(
                        current.end.code,
                        f"{current.end.detail}; its renewal failed: {refused.code} "
                        f"{refused.detail}",
                    )
                return current.end
            elif current.due and successor is None and refused is None:
                self._feeder.compare_until(FOREVER)
                successor = self._subscribe(tasks)

    def _renewed(self) -> None:
        now = self._clock.mono()
        self._feeder.compare_until(now + TAIL_NS)
        self._ring.tell(StreamRenewed(t=now, wall=self._clock.wall()))

    def _subscribe(self, tasks: asyncio.TaskGroup) -> Subscription:
        timing, wait = self._timing, self._wait
        self._opened += 1
        deadline = None if timing.deadline is None else wait(timing.deadline)
        subscription = Subscription(
            self._client.container_events(deadline), self._opened, self._clock.mono()
        )
        self._open[subscription.number] = subscription
        # Even a successor that brings an event at once waits for its grace time: what the runtime
        # had sent to the last one only is then read before that one is dropped.
        later = asyncio.get_running_loop().call_later
        subscription.timers.append(later(wait(timing.grace), partial(self._survived, subscription)))
        if timing.deadline is not None:
            subscription.timers.append(
                later(wait(timing.deadline - timing.renew_before), partial(self._due, subscription))
            )
        tasks.create_task(self._read(subscription), name="reads the event stream")
        return subscription

    def _wait(self, time_s: float) -> float:
        """How long so many seconds of the session really take."""
        return self._clock.real_s(round(time_s * 1e9))

    def _survived(self, subscription: Subscription) -> None:
        self._first_live(subscription)
        subscription.live = True
        self._changed.set()

    def _due(self, subscription: Subscription) -> None:
        subscription.due = True
        self._changed.set()

    def _first_live(self, subscription: Subscription) -> None:
        if subscription.number == 1 and not subscription.live:
            subscription.live = True
            self._ring.tell(StreamLive(t=self._clock.mono(), wall=self._clock.wall()))

    # Reading

    async def _read(self, subscription: Subscription) -> None:
        """Receive and put into the ring; nothing else happens on this path."""
        read, ring, clock = subscription.call.read, self._ring, self._clock
        number, count = subscription.number, self._count
        overrun_ns = int(self._timing.overrun * 1e9)
        quiet = True
        try:
            while isinstance(raw := await read(), bytes):
                t = clock.mono()
                if quiet:
                    quiet = False
                    self._first_live(subscription)
                ring.put(Received(t, clock.wall(), raw, number))
                count.size += len(raw)
                if ring.full_since is not None and t - ring.full_since > overrun_ns:
                    self.end(End("error", OVERRUN.format(self._timing.overrun)))
            end = self._ended(subscription, grpc.StatusCode.OK, "", quiet=quiet)
        except grpc.aio.AioRpcError as error:
            end = self._ended(subscription, error.code(), error.details() or "", quiet=quiet)
        except Exception as error:
            end = End("error", f"plegscope could not read it: {type(error).__name__} {error}")
        finally:
            subscription.gone.set()
            self._open.pop(number, None)
        for timer in subscription.timers:
            timer.cancel()
        count.failed += 1
        subscription.end = end
        self._changed.set()

    def _ended(
        self, subscription: Subscription, code: grpc.StatusCode, details: str, *, quiet: bool
    ) -> End:
        lasted = self._clock.mono() - subscription.opened
        limit = self._timing.deadline
        if (
            code is grpc.StatusCode.CANCELLED
            and limit is not None
            and (lasted >= limit * 1e9 - EARLY_NS)
        ):
            code = grpc.StatusCode.DEADLINE_EXCEEDED
        return stream_end(code, details, at_once=quiet and lasted < self._timing.grace * 1e9)
