"""One question, answered in a process of its own: ``python -m app.whatif.worker``.

Reading and playing a large recording takes a core for a minute and some hundred megabytes. In a
process of its own that holds nobody up, can be ended at any moment, gives all of its memory back,
and is bounded by the system itself. The question comes on standard input as one JSON object. What
is answered on standard output are lines of JSON, and behind the line that says ``packed`` so many
bytes: the answer as gzipped JSON.
"""

import contextlib
import gzip
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import BinaryIO

import msgspec

from app.errors import RecordingError
from app.whatif.answer import Step
from app.whatif.options import Options
from app.whatif.result import ask

MOST_MEMORY = 1536 * 1024 * 1024
"""Bytes of memory; a million records need a quarter of it."""
MOST_CPU_S = 900
"""Seconds of a core; a million records need about sixty at most."""
NICE = 5
"""Whoever shows the page, and the node that is watched, come first."""
LEVEL = 4
TELL_EACH_S = 0.2

TOO_LARGE = (
    f"This recording needs more than {MOST_MEMORY // 1024**2:,} MiB of memory to be run again. "
    "Give fewer of its files, or a shorter one."
)


class Order(msgspec.Struct, frozen=True):
    """The files of one session in order, and what is to be otherwise."""

    paths: tuple[str, ...]
    options: Options


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line: how far it is, why it cannot be answered, or how long the answer is (bytes)."""

    step: Step | None = None
    share: float = 0.0
    refused: str = ""
    packed: int = 0


class _Teller:
    """Writes lines; those about progress not too often."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._told_t = 0.0
        self._step: Step | None = None

    def progress(self, step: Step, share: float) -> None:
        now = time.monotonic()
        if step != self._step or now - self._told_t >= TELL_EACH_S:
            self._step, self._told_t = step, now
            self.tell(Message(step=step, share=round(share, 3)))

    def tell(self, message: Message, packed: bytes = b"") -> None:
        self._out.write(msgspec.json.encode(message) + b"\n" + packed)
        # Whoever asked may be gone: then this ends the process.
        self._out.flush()


def serve(given: BinaryIO, out: BinaryIO) -> None:
    """Answer one question."""
    order = msgspec.json.decode(given.read(), type=Order)
    teller = _Teller(out)
    try:
        told = ask([Path(name) for name in order.paths], order.options, teller.progress)
        packed = gzip.compress(msgspec.json.encode(told), LEVEL, mtime=0)
    except RecordingError as error:
        teller.tell(Message(refused=str(error)))
    except MemoryError:
        teller.tell(Message(refused=TOO_LARGE))
    else:
        teller.tell(Message(packed=len(packed)), packed)


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    # Where the system has no such limit the other one, and whoever waits, are left.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(what, (most, most))


def main() -> None:
    """Be the process."""
    # Ctrl-C is for the one that started this; it ends this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    _limit(resource.RLIMIT_DATA, MOST_MEMORY)
    _limit(resource.RLIMIT_CPU, MOST_CPU_S)
    _limit(resource.RLIMIT_CORE, 0)
    os.nice(NICE)
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
