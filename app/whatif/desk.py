"""Answers what links ask, one question after the other, each in a process of its own.

A question is worked on as long as somebody waits for it: a request that is open, or a page that
asks again every second. Answers are kept for a while, packed.
"""

import asyncio
import contextlib
import gzip
import os
import sys
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

import msgspec

from app.errors import RecordingBusy, RecordingError
from app.whatif.answer import Step, WhatIf
from app.whatif.place import Place, find
from app.whatif.question import STREAMS, Pairs, Question, filled, read
from app.whatif.view import SHOWS, SORTS, View, view
from app.whatif.worker import MOST_CPU_S, Message, Order

MOST_WAITING = 8
"""Questions at a time, the one that is worked on among them."""
MOST_KEPT = 4
"""Answers that are kept."""
FRESH_S = 60.0
"""So long an answer stands, also if the recording has grown since."""
PATIENCE_S = 15.0
"""A question that nobody asked for so long is given up."""
LOOK_S = 0.5
MOST_LINE = 64 * 1024
MOST_PACKED = 64 * 1024 * 1024

BUSY = (
    f"{MOST_WAITING} questions are being worked on or wait for it. Load this page again in a few "
    "seconds."
)
ENDED = (
    "The process that ran this recording again came to an end without an answer (exit code {}). "
    "Try it once more; `plegscope whatif` on the command line says more."
)
TOO_LONG = (
    f"Running this recording again took more than {MOST_CPU_S // 60} minutes of one core, and was "
    "given up. Give fewer of its files, or a shorter one."
)
GIVEN_UP = "Nobody waited for this answer any more. Ask again."
SIGXCPU = -24


class _GivenUp(RecordingError):
    """Nobody is there to be told."""


class Asking(msgspec.Struct, frozen=True):
    """How far an answer is.

    ``step``: what is being done; ``share``: how far that is, from 0 to 1. ``before``: how many
    questions come first. A question that is ``absent`` nobody has asked, or it was given up.
    """

    state: Literal["absent", "waiting", "working", "ready"]
    step: Step | None = None
    share: float = 0.0
    before: int = 0


class Answered(msgspec.Struct, frozen=True):
    """The answer, and where it is about."""

    packed: bytes
    place: Place
    made_t: float


class _Job:
    """A question that is worked on, or waits."""

    def __init__(self, question: Question, place: Place, now: float) -> None:
        self.question = question
        self.place = place
        self.wanted = 0
        self.touched_t = now
        self.step: Step | None = None
        self.share = 0.0
        self.given_up = False
        self.done = asyncio.Event()
        self.error: RecordingError | None = None
        self.answer: Answered | None = None


class WhatIfs:
    """Takes questions and answers them in ``run``; to be used on one event loop.

    Args:
        paths: the files of these names; raises RecordingError.
    """

    answers: ClassVar[Mapping[str, type[msgspec.Struct]]] = {"": WhatIf, "/progress": Asking}
    """What the API answers, for OpenAPI."""
    words: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "streams": STREAMS,
        "shows": SHOWS,
        "sorts": SORTS,
    }
    """What can be chosen, with its words."""

    def __init__(self, paths: Callable[[Sequence[str]], Awaitable[Sequence[Path]]]) -> None:
        self._paths = paths
        self._jobs: OrderedDict[Question, _Job] = OrderedDict()
        self._kept: OrderedDict[Question, Answered] = OrderedDict()
        self._work = asyncio.Event()

    def asked(self, pairs: Pairs) -> tuple[Question, bool]:
        """What a link asks, and whether it does.

        Raises:
            RecordingError: a parameter cannot be used.
        """
        return read(pairs)

    async def place(self, question: Question) -> Place:
        """The recording.

        Raises:
            RecordingError: it is not in reach, or cannot be read.
        """
        paths = await self._paths(question.files)
        return await asyncio.to_thread(find, paths, question.node)

    async def glance(self, question: Question) -> Answered | None:
        """The answer if it is there; else it is worked on as long as this is called now and then.

        Raises:
            RecordingError: it cannot be answered, or (``RecordingBusy``) too many others wait.
        """
        job = self._jobs.get(question)
        if job is None:
            place = await self.place(question)
            kept = self._fresh(question, place)
            if kept is not None:
                return kept
            job = self._begin(question, place)
        job.touched_t, job.given_up = _now(), False
        if not job.done.is_set():
            return None
        return self._outcome(job)

    async def answer(self, question: Question) -> Answered:
        """The answer; the question is given up when nobody waits any more. Raises as ``glance``."""
        found = await self.glance(question)
        if found is not None:
            return found
        job = self._jobs[question]
        job.wanted += 1
        try:
            await job.done.wait()
        finally:
            job.wanted -= 1
            if not job.wanted and not job.done.is_set():
                # A page that shows the same would ask again every second.
                job.touched_t = min(job.touched_t, _now() - PATIENCE_S + 2.0)
        return self._outcome(job)

    async def packed(self, question: Question) -> bytes:
        """The answer as gzipped JSON of ``WhatIf``. Raises as ``glance``."""
        return (await self.answer(question)).packed

    def progress(self, question: Question) -> Asking:
        """How far it is."""
        job = self._jobs.get(question)
        if job is None or job.done.is_set():
            ready = question in self._kept or (job is not None and job.error is None)
            return Asking("ready" if ready else "absent", share=float(ready))
        before = [one for one in self._jobs.values() if not one.done.is_set()].index(job)
        if before:
            return Asking("waiting", before=before)
        return Asking("working", job.step, job.share)

    def give_up(self, question: Question) -> None:
        """Nobody wants this answer any more, unless a request waits for it."""
        job = self._jobs.get(question)
        if job is not None and not job.wanted:
            job.given_up = True

    def filled(self, pairs: Pairs) -> Mapping[str, str]:
        """What the form shows."""
        return filled(pairs)

    def shown(self, answered: Answered, pairs: Pairs) -> tuple[WhatIf, View]:
        """The answer, and what a link wants to see of it; takes a moment, so in a thread."""
        told = msgspec.json.decode(gzip.decompress(answered.packed), type=WhatIf)
        return told, view(told, pairs)

    async def run(self) -> None:
        """Answer, until cancelled."""
        while True:
            job = next((one for one in self._jobs.values() if not one.done.is_set()), None)
            if job is None:
                self._work.clear()
                await self._work.wait()
                continue
            try:
                job.answer = await self._answered(job)
            except RecordingError as error:
                job.error = error
            job.done.set()
            del self._jobs[job.question]
            if job.answer is not None:
                self._keep(job.question, job.answer)
            elif not job.wanted and not isinstance(job.error, _GivenUp):
                # Whoever looks next is told why.
                self._jobs[job.question] = job

    def _fresh(self, question: Question, place: Place) -> Answered | None:
        kept = self._kept.get(question)
        if kept is None:
            return None
        if kept.place.signature != place.signature and _now() - kept.made_t > FRESH_S:
            return None
        self._kept.move_to_end(question)
        return kept

    def _begin(self, question: Question, place: Place) -> _Job:
        job = self._jobs.get(question)
        if job is not None:
            return job
        working = next((one for one in self._jobs.values() if not one.done.is_set()), None)
        for one in tuple(self._jobs.values()):
            if one is not working and (one.done.is_set() or self._unwanted(one)):
                del self._jobs[one.question]
        if len(self._jobs) >= MOST_WAITING:
            raise RecordingBusy(BUSY)
        job = self._jobs[question] = _Job(question, place, _now())
        self._work.set()
        return job

    def _outcome(self, job: _Job) -> Answered:
        if self._jobs.get(job.question) is job:
            del self._jobs[job.question]
        if job.answer is not None:
            return job.answer
        assert job.error is not None
        raise job.error

    def _keep(self, question: Question, answer: Answered) -> None:
        self._kept[question] = answer
        self._kept.move_to_end(question)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    # The process

    async def _answered(self, job: _Job) -> Answered:
        if self._unwanted(job):
            raise _GivenUp(GIVEN_UP)
        process = await _started()
        try:
            packed = await self._heard(job, process)
        except (msgspec.DecodeError, asyncio.IncompleteReadError, ValueError):
            # It was ended in the middle of a word.
            raise RecordingError(ENDED.format(await process.wait())) from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                if process.returncode is None:
                    process.kill()
            await asyncio.shield(process.wait())
        return Answered(packed, job.place, _now())

    async def _heard(self, job: _Job, process: asyncio.subprocess.Process) -> bytes:
        assert process.stdin is not None
        assert process.stdout is not None
        order = Order(tuple(map(str, job.place.paths)), job.question.options)
        process.stdin.write(msgspec.json.encode(order))
        process.stdin.close()
        decode = msgspec.json.Decoder(Message).decode
        out = process.stdout
        while line := await self._heard_of(job, out.readline):
            message = decode(line)
            if message.refused:
                raise RecordingError(message.refused)
            if message.packed:
                if message.packed > MOST_PACKED:
                    break
                return await self._heard_of(job, partial(out.readexactly, message.packed))
            job.step, job.share = message.step, message.share
        code = await process.wait()
        raise RecordingError(TOO_LONG if code == SIGXCPU else ENDED.format(code))

    async def _heard_of(self, job: _Job, read: Callable[[], Awaitable[bytes]]) -> bytes:
        """What the process says next; while it says nothing it is looked whether somebody wants it.
        ``read`` is begun anew each time and loses nothing."""
        while True:
            try:
                async with asyncio.timeout(LOOK_S):
                    return await read()
            except TimeoutError:
                if self._unwanted(job):
                    raise _GivenUp(GIVEN_UP) from None

    def _unwanted(self, job: _Job) -> bool:
        late = _now() - job.touched_t > PATIENCE_S
        return not job.wanted and (job.given_up or late)


async def _started() -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "app.whatif.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=MOST_LINE,
            # The same packages as here, wherever they are.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    except OSError as error:
        raise RecordingError(
            f"No process could be started to run this recording again ({error.strerror}). Try it "
            "once more."
        ) from error


def _now() -> float:
    return asyncio.get_running_loop().time()
