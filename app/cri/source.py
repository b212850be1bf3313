"""A real runtime as a source: carries out the engine's effects and feeds what comes back."""

import asyncio
import contextlib
import signal
from collections import deque

from app.clock import Clock
from app.cri.calls import inspect_pod, list_pods, told
from app.cri.client import CriClient
from app.cri.convert import Interner
from app.cri.feeder import OnEvent
from app.cri.probe import Probe, probe
from app.cri.stream import SHARED, StreamKeeper, StreamTiming
from app.cri.words import CallFailed, End, stream_end
from app.engine.effects import CloseStream, Effect, InspectPod, ListPods, OpenStream
from app.engine.inputs import StreamEnded
from app.errors import RuntimeUnusable
from app.source import Feed

FLUSH_S = 0.2
"""How long a stopping process waits for the runtime to have heard that it leaves the stream."""

STOPPED = "plegscope was stopped by its terminal and had left the stream for that time"


class CriSource:
    """The source of a session on a real runtime; ``first`` is the probe the session began with
    (None: nobody answered it).

    The probe is repeated before each subscription: a runtime that was replaced meanwhile by one
    that shares its channel is not joined. All tasks live inside ``run``; a call that fails, in
    whichever way, becomes a failed input and never ends the session.
    """

    def __init__(
        self,
        client: CriClient,
        clock: Clock,
        first: Probe | None,
        *,
        join_shared_stream: bool = False,
        timing: StreamTiming | None = None,
        payload: bool = False,
        on_event: OnEvent | None = None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._known = first
        self._join_shared_stream = join_shared_stream
        self._timing = timing or StreamTiming()
        self._payload = payload
        self._on_event = on_event
        self._tasks: asyncio.TaskGroup | None = None
        self._feed: Feed | None = None
        self._early: deque[Effect] = deque()
        self._keeper: StreamKeeper | None = None
        self._streaming: asyncio.Task[None] | None = None
        self._stopping = False
        self.rows = Interner()

    async def run(self, feed: Feed) -> None:
        """Work until cancelled; every task lives inside this call."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks, self._feed = tasks, feed
            try:
                self._catch_up()
                await asyncio.get_running_loop().create_future()
            finally:
                self._tasks = self._feed = None

    def perform(self, effect: Effect) -> None:
        """Begin an effect; the answer comes later, from a task of ``run``."""
        feed, tasks = self._feed, self._tasks
        if feed is None or tasks is None or self._stopping:
            self._early.append(effect)
            return
        match effect:
            case ListPods():
                tasks.create_task(self._list(effect, feed), name="lists pods")
            case InspectPod():
                tasks.create_task(self._inspect(effect, feed), name="inspects a pod")
            case OpenStream():
                self._close_stream()
                self._streaming = tasks.create_task(self._stream(feed), name="subscribes")
            case CloseStream():
                self._close_stream()
            case _:
                raise TypeError(f"{type(effect).__name__} is nothing that a runtime can do")

    def _catch_up(self) -> None:
        waiting, self._early = self._early, deque()
        for effect in waiting:
            self.perform(effect)

    async def _list(self, effect: ListPods, feed: Feed) -> None:
        feed(await list_pods(self._client, self.rows, self._clock, effect))

    async def _inspect(self, effect: InspectPod, feed: Feed) -> None:
        feed(await inspect_pod(self._client, self._clock, effect))

    # The stream

    async def _stream(self, feed: Feed) -> None:
        end = await self._ask_again(feed)
        if end is None:
            shared = self._known is None or self._known.shared
            timing = SHARED if shared else self._timing
            keeper = StreamKeeper(
                self._client,
                self._clock,
                timing,
                payload=self._payload,
                on_event=self._on_event,
            )
            self._keeper = keeper
            try:
                await keeper.run(feed)
            except* Exception as group:
                end = End("error", told(group.exceptions[0]))
            finally:
                if self._keeper is keeper:
                    self._keeper = None
        if end is not None:
            clock = self._clock
            feed(StreamEnded(t=clock.mono(), wall=clock.wall(), code=end.code, detail=end.detail))

    async def _ask_again(self, feed: Feed) -> End | None:
        """Who is the runtime now? Tells when that has changed; an end if it must not be joined."""
        before = self._known
        try:
            now = await probe(
                self._client,
                self._client.address,
                self._clock,
                join_shared_stream=self._join_shared_stream,
            )
        except RuntimeUnusable as error:
            cause = error.__cause__
            if isinstance(cause, CallFailed):
                return End(stream_end(cause.code, "", at_once=False).code, str(cause))
            return End("error", str(error))
        self._known = now
        if before is None or _who(now) != _who(before):
            feed(now.seen)
        if now.seen.policy == "relist_only":
            return End("cancelled", now.seen.reason)
        return None

    def _close_stream(self) -> None:
        if self._keeper is not None:
            self._keeper.close()
            self._keeper = None
        if self._streaming is not None:
            self._streaming.cancel()
            self._streaming = None

    # Ctrl-Z

    def install_stop_signal(self, loop: asyncio.AbstractEventLoop) -> None:
        """On SIGTSTP leave the stream first, then really stop; once continued, tell and go on.

        A stopped subscriber makes containerd 2.x hang for the whole node until the stream's
        deadline.
        """
        loop.add_signal_handler(signal.SIGTSTP, self._on_stop, loop)

    def _on_stop(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._tasks is None or self._keeper is None:
            self._stop_process(loop)
        elif not self._stopping:
            self._stopping = True
            self._tasks.create_task(self._leave_and_stop(loop, self._keeper), name="stops")

    async def _leave_and_stop(self, loop: asyncio.AbstractEventLoop, keeper: StreamKeeper) -> None:
        await keeper.leave()
        # The answer comes on the same connection behind the cancellation, so the runtime has heard
        # that we left. A hung one has not, and will let go at the stream's deadline.
        with contextlib.suppress(CallFailed):
            await self._client.version(FLUSH_S)
        self._stop_process(loop)
        self._stopping = False
        keeper.end(End("cancelled", STOPPED))
        self._catch_up()

    def _stop_process(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop as the terminal asked, with the signal's default action; returns once continued."""
        loop.remove_signal_handler(signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTSTP)
        self.install_stop_signal(loop)


def _who(one: Probe) -> tuple[str, str]:
    return one.seen.name, one.seen.version
