"""Records a live session from a thread of its own, and never makes anybody wait.

The session's thread only puts what happened into a bounded queue; it is not copied, as none of it
ever changes. The recorder's thread takes it out once the first of it is a tenth of a second old,
encodes it, and writes a chunk, which then survives the process; that the disk holds it is asked for
on a third thread, as a disk may take seconds. A disk that is full, slow or gone is trouble of these
threads alone: what cannot be written waits and is tried again every second, and once the queue is
full what comes is counted and not kept. The loss is told in the recording and by ``news``, as is
that it goes on again.

What is promised: what is older than a quarter of a second is in the file. It takes a tenth of a
second and one encoding and write, so it holds as long as this process is given a core in time and
the kernel takes the write at once. Where it is not, nothing that runs in this process could do
better; ``slowest_s`` tells how long it really took.
"""

import threading
import time
from collections import deque
from typing import Literal, Protocol

from app.engine.inputs import Input, PodsListed
from app.engine.records import Record
from app.errors import where
from app.hub.wire import Recorded
from app.journal.weight import weight
from app.recording.answers import MOST_BYTES, Answer
from app.recording.bulletin import Bulletin, News
from app.recording.format import Loss, SessionInfo
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.recording.syncer import Syncer
from app.recording.tally import Item, Losing, Rates, in_words, without_end

FLUSH_S = 0.1
"""What happened is in the file after this time and that of one write."""

IDLE_S = 0.5
"""So often it looks after its files where nothing happens."""

SYNC_S = 5.0
"""So often the disk is told to hold it: what a machine that loses power may lose, and what the disk
then takes."""

RETRY_S = 1.0

CAPACITY = 32_768
"""Things that may wait to be written."""
MAX_HEFT = 48 * 1024 * 1024
"""Bytes, roughly, that they may hold."""
MAX_ANSWERS = 2 * MOST_BYTES
"""Bytes of the runtime's answers among them, which is the two lists of a relist at their largest:
they shall not take the place of what the engine was fed, which tells nearly the same."""
HURRY = 2048
"""So many that wait are taken at once."""

BEHIND_S = 3.0
"""A recorder this far behind has a slow disk, and says so."""

CLOSE_S = 3.0
"""At the end a disk that takes nothing for so long is given up,"""
SLOW_S = 20.0
"""and one that is only slow after so long."""

GONE = "its file is no longer there"


class Target(Protocol):
    """Where a session's files go."""

    def open_file(self, part: int, /) -> Segment:
        """Create the file of a part; raises OSError."""
        ...

    def is_over(self, segment: Segment, /) -> bool:
        """Whether the next file is to be begun."""
        ...

    def make_room(self) -> None:
        """Keep to the bounds; raises OSError when there must not be more."""
        ...

    def end(self) -> None:
        """No more files will be asked for."""
        ...


class Recorder:
    """Takes what happens on one thread, and writes it on another.

    Args:
        info: the session.
        target: where its files go.
        capacity, max_heft, flush_s: as the constants; others only in tests.
    """

    def __init__(
        self,
        info: SessionInfo,
        target: Target,
        *,
        capacity: int = CAPACITY,
        max_heft: int = MAX_HEFT,
        flush_s: float = FLUSH_S,
    ) -> None:
        self._target = target
        self._scribe = Scribe(info, target.open_file)
        self._capacity = capacity
        self._max_heft = max_heft
        self._flush_s = flush_s
        self._queue: deque[Item] = deque()
        # Each of these two is written by one thread only.
        self._heft_in = 0
        self._heft_out = 0
        self._answers_in = 0
        self._answers_out = 0
        self._stepping = False
        self._lost = Losing()
        self._lost_answers = Losing()
        self._lost_total = [0, 0, 0, 0]
        self._trouble = ""
        self._retry_at = 0.0
        self._checked = 0.0
        self._synced = 0.0
        self._busy_since: float | None = None
        self._cpu_ns = 0
        self._bulletin = Bulletin()
        self._failed = ""
        self._rates = Rates()
        self._syncer = Syncer()
        # Real time of the first thing that waits; the wake is for the first, the hurry for more.
        self._oldest: float | None = None
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._closing = False
        self._path = ""
        # Wall time of the newest thing that is in the file, and whether there is more to write.
        self._saved = 0
        self._unsaved = False
        self.slowest_s = 0.0
        """The longest that anything waited until it was in the file, while all was well."""
        # A daemon: a disk that never answers must not keep the process alive.
        self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
        self._thread.start()

    # The session's side: quick, and never raises

    def took(self, happened: Input) -> None:
        """The engine is about to take this in; records until ``made`` are of its making."""
        self._stepping = True
        heft = 256
        if isinstance(happened, PodsListed):
            # Rows are shared with the listings before.
            heft += 8 * (len(happened.sandboxes) + len(happened.containers))
        self._put(Item("input", happened.t, happened.wall, happened, heft))

    def made(self) -> None:
        """All that the engine made of it has been told."""
        self._stepping = False

    def on_record(self, record: Record) -> None:
        """To be subscribed to the journal."""
        heft = 256 + 2 * weight(record)
        kind: Literal["made", "record"] = "made" if self._stepping else "record"
        self._put(Item(kind, record.t, record.wall, record, heft))

    def on_event(self, t: int, wall: int, raw: bytes) -> None:
        """The runtime's stream brought this message."""
        self._put(Item("event", t, wall, raw, 256 + len(raw)))

    def on_answer(self, t: int, wall: int, method: str, asked_for: str, raw: bytes) -> None:
        """The runtime answered a call of this method with this message."""
        answer = Answer(t, wall, method, asked_for, raw)
        item = Item("answer", t, wall, answer, 256 + len(raw))
        waiting, lost = self._answers_in - self._answers_out, self._lost_answers
        most = MAX_ANSWERS // 2 if lost.count else MAX_ANSWERS
        if waiting and waiting + item.heft > most:
            lost.add(item, self._trouble)
            self._lost_total[3] += 1
            return
        if lost.count:
            self._lost_answers = Losing()
            self._tell_loss(lost, item)
        if self._put(item):
            self._answers_in += item.heft

    def _put(self, item: Item) -> bool:
        queue = self._queue
        waiting, heft = len(queue), self._heft_in - self._heft_out
        lost = self._lost
        if lost.count:
            if waiting <= self._capacity // 2 and heft <= self._max_heft // 2:
                self._lost = Losing()
                self._tell_loss(lost, item)
            else:
                self._lose(item)
                return False
        elif waiting >= self._capacity or heft + item.heft > self._max_heft:
            self._lose(item)
            return False
        self._heft_in += item.heft
        queue.append(item)
        if self._oldest is None:
            self._oldest = time.monotonic()
            self._wake.set()
        elif waiting == HURRY:
            self._hurry.set()
        return True

    def _tell_loss(self, lost: Losing, item: Item) -> None:
        """All of it was before this."""
        loss = lost.told(item.t, item.wall)
        self._bulletin.warn(in_words(loss))
        self._queue.append(Item("loss", item.t, item.wall, loss, 0))

    def _lose(self, item: Item) -> None:
        self._lost.add(item, self._trouble)
        total = self._lost_total
        total[0] += item.kind == "input"
        total[1] += item.kind in ("record", "made")
        total[2] += item.kind == "event"
        total[3] += item.kind == "answer"

    # What is told of it

    def news(self) -> list[News]:
        """Sentences for the timeline, since the last call; to be called about twice a second."""
        trouble, since = self._trouble, self._busy_since
        slow = not trouble and since is not None and time.monotonic() - since > BEHIND_S
        return self._bulletin.news(trouble, slow=slow)

    def state(self) -> Recorded:
        """Where it writes, at which cost, and whether all is well."""
        segment, slow = self._scribe.segment, self._bulletin.slow
        bytes_per_s, cpu = self._rates.at(time.monotonic(), self._scribe.written, self._cpu_ns)
        return Recorded(
            well=not (self._trouble or slow or self._failed),
            file="" if segment is None else str(segment.path),
            trouble=self._trouble or self._failed or ("the disk is slow" if slow else ""),
            bytes_total=self._scribe.written,
            bytes_per_s=bytes_per_s,
            cpu=cpu,
            cpu_ns=self._cpu_ns,
            waiting=len(self._queue),
            lost=sum(self._lost_total) + self._scribe.too_large,
        )

    def close(self, timeout: float = CLOSE_S) -> bool:
        """Write what waits and end the file; returns whether that was done before the disk took
        nothing for ``timeout`` seconds."""
        self._closing = True
        self._hurry.set()
        self._wake.set()
        last = time.monotonic() + SLOW_S
        taken, until = -1, 0.0
        while self._thread.is_alive() and time.monotonic() < last:
            now = self._scribe.written + self._heft_out
            if now != taken:
                taken, until = now, time.monotonic() + timeout
            elif time.monotonic() >= until:
                break
            self._thread.join(min(timeout, 0.1))
        return not (self._thread.is_alive() or self._trouble or self._failed or self._queue)

    @property
    def lacking(self) -> bool:
        """Once closed: whether the file lacks what could not be kept, at its end or before."""
        return self._is_cut() or bool(self._failed) or sum(self._lost_total) > 0

    def _is_cut(self) -> bool:
        return self._unsaved or self._thread.is_alive() or bool(self._queue)

    def missing(self) -> str:
        """What is not in the file, and why, once ``close`` was told that not everything is."""
        stuck = self._thread.is_alive()
        reason = self._trouble or self._failed or ("the disk does not answer" if stuck else "")
        cut = self._is_cut()
        return without_end(self._path, reason, self._saved, unsaved=cut, stuck=stuck)

    # The recorder's thread

    def _work(self) -> None:
        try:
            while not self._closing:
                self._wake.wait(min(IDLE_S, RETRY_S))
                self._wake.clear()
                oldest = self._oldest
                if oldest is not None:
                    self._hurry.wait(max(0.0, oldest + self._flush_s - time.monotonic()))
                    self._hurry.clear()
                self._round()
            self._round(last=True)
        except Exception as error:
            # A fault of ours: the session goes on, and is told.
            self._failed = where(error)
            sentence = (
                f"plegscope's recorder stopped working ({self._failed}). This is a fault of "
                "plegscope: please report it with this line."
            )
            self._bulletin.warn(sentence)

    def _round(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if self._trouble and now < self._retry_at and not last:
            return
        self._busy_since = now
        try:
            self._watch_file(now)
            self._scribe.flush()
            # What comes from here on is the first of the next time.
            oldest, self._oldest = self._oldest, None
            self._unsaved = self._unsaved or bool(self._queue)
            self._drain()
            self._scribe.flush()
            self._saved, self._unsaved = self._scribe.last_wall, False
            if self._scribe.segment is not None:
                self._path = str(self._scribe.segment.path)
            if oldest is not None and not self._trouble:
                self.slowest_s = max(self.slowest_s, time.monotonic() - oldest)
            if last:
                self._turn()
                self._target.end()
            else:
                self._tend(now)
            self._trouble = ""
        except OSError as error:
            self._retry_at = time.monotonic() + RETRY_S
            self._trouble = error.strerror or str(error)
        finally:
            self._busy_since = None
            self._cpu_ns = time.thread_time_ns()

    def _drain(self) -> None:
        """Encode what waits; at most what was there at the beginning."""
        queue, scribe = self._queue, self._scribe
        for _ in range(len(queue)):
            item = queue.popleft()
            self._heft_out += item.heft
            what = item.what
            if isinstance(what, bytes):
                scribe.put_event(item.t, item.wall, what)
            elif isinstance(what, Answer):
                self._answers_out += item.heft
                scribe.put_answer(what)
            elif isinstance(what, Loss):
                scribe.put_loss(what)
            elif isinstance(what, Record):
                scribe.put_record(what, by_engine=item.kind == "made")
            else:
                scribe.put_input(what)
            if scribe.waiting:
                # A chunk is full: it is written before more is taken.
                scribe.flush()

    def _watch_file(self, now: float) -> None:
        """Is there room, and still the file? A removed one takes what nobody will ever read."""
        if now - self._checked < RETRY_S:
            return
        self._checked = now
        self._target.make_room()
        segment = self._scribe.segment
        if segment is not None and not segment.is_there():
            self._scribe.leave()
            self._bulletin.warn(f"Recording begins a new file: {GONE}.")

    def _tend(self, now: float) -> None:
        segment = self._scribe.segment
        if segment is None:
            return
        if self._target.is_over(segment):
            self._turn()
        elif now - self._synced >= SYNC_S and segment.sync(self._syncer):
            self._synced = now

    def _turn(self) -> None:
        """End the file; that the disk holds what is in it is asked for, and not waited for."""
        try:
            if self._scribe.segment is not None:
                self._scribe.segment.sync(self._syncer)
        finally:
            self._scribe.turn()
