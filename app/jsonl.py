"""Records as JSON lines on standard output, without ever waiting for whoever reads them."""

import re
import threading
from collections import deque
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from app.engine.records import Gap, Record
from app.terminal import discard

_COMMANDS = re.compile("[\x80-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""What JSON may carry as it is, but a terminal would obey, or show in another order or not at all.
The characters below U+0020 are escaped in any JSON."""

KEPT = 20_000
"""Lines that may wait for a slow reader; beyond it the oldest are given up and counted."""
KEPT_BYTES = 32 * 1024 * 1024
"""Bytes that they may have; one line may wait in any case."""


class JsonlWriter:
    """Writes records from a thread of its own.

    A pipe that nobody reads blocks its writer. Were that the event loop, the runtime's stream would
    stay unread and the node would feel it; so the loop only puts lines into a bounded queue.
    ``on_closed`` is called, by that thread, when nothing can be written any more: with the reason,
    which is empty when whoever read has left.
    """

    def __init__(self, out: BinaryIO, on_closed: Callable[[str], None]) -> None:
        self._out = out
        self._on_closed = on_closed
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._lost = 0
        self._lost_from = 0
        self._ready = threading.Condition()
        self._closing = False
        self._encoder = msgspec.json.Encoder()
        # A daemon: a reader that never reads must not keep the process alive.
        self._thread = threading.Thread(target=self._work, name="jsonl", daemon=True)
        self._thread.start()

    def on_record(self, record: Record) -> None:
        """Queue one record; returns at once."""
        line = self._line(record)
        with self._ready:
            too_much = False
            while self._lines and (
                len(self._lines) >= KEPT or self._bytes + len(line) > KEPT_BYTES
            ):
                too_much = True
                self._bytes -= len(self._lines.popleft())
                self._lost_from = self._lost_from or record.t
                self._lost += 1
            if self._lost and not too_much:
                self._tell_loss(record)
            self._put(line)
            self._ready.notify()

    def waiting(self) -> int:
        """Lines that have not been given to the reader yet."""
        with self._ready:
            return len(self._lines)

    def close(self, timeout: float = 2.0) -> None:
        """Write what waits, as long as the reader takes it within ``timeout`` seconds."""
        with self._ready:
            self._closing = True
            self._ready.notify()
        self._thread.join(timeout)

    def _tell_loss(self, record: Record) -> None:
        gap = Gap(
            t=record.t,
            wall=record.wall,
            hop="viewer",
            count=self._lost,
            from_t=self._lost_from,
            reason="Whoever reads standard output was too slow.",
        )
        self._put(self._line(gap))
        self._lost = self._lost_from = 0

    def _put(self, line: bytes) -> None:
        self._lines.append(line)
        self._bytes += len(line)

    def _line(self, record: Record) -> bytes:
        line = self._encoder.encode(record) + b"\n"
        if line.isascii():
            return line
        return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", line.decode()).encode()

    def _work(self) -> None:
        while True:
            with self._ready:
                while not self._lines and not self._closing:
                    self._ready.wait()
                lines = b"".join(self._lines)
                self._lines.clear()
                self._bytes = 0
                if not lines:
                    return
            try:
                self._out.write(lines)
                self._out.flush()
            except BrokenPipeError:
                self._closed("")
                return
            except (OSError, ValueError) as error:
                self._closed(getattr(error, "strerror", None) or str(error))
                return

    def _closed(self, reason: str) -> None:
        discard(self._out)
        self._on_closed(reason)
