"""The terminal: texts that cannot command it, and standard streams that are there.

Names come from a runtime, and a path may have any byte in it: an escape sequence among them would
move the cursor, rename the window or hide a line. And a program may be started with standard
streams that are closed; then the next file or socket takes their number, and libuv, which takes
what has such a number for a standard stream, ends the process.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from app.errors import OutputError


def plain(text: str) -> str:
    """``text`` on one line, with everything escaped that is not printable."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def has_screen() -> bool:
    """Whether a browser that is opened here can be seen, as far as the environment tells."""
    return sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Rows of equally many cells as columns; the first ``left`` are texts, the others numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            f"{cell:{width}}" if at < left else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def hold_streams() -> None:
    """Open what is closed of standard input, output and error, before anything else is opened.

    What is then written to an output that was closed fails with EBADF, as it would have.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest free number, and those below are open by now.
            os.open(os.devnull, os.O_RDONLY)
    # Python makes no object for a stream that was closed, and has none to close at the end.
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def say(text: str) -> None:
    """Write to standard output at once; a letter that its encoding lacks is escaped.

    Raises:
        OSError: it cannot be written.
    """
    encoding = sys.stdout.encoding
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def announce(text: str) -> None:
    """Write what must be known to go on, such as an address, to standard output.

    Raises:
        OutputError: it cannot be written.
    """
    try:
        say(text)
    except OSError as error:
        discard(sys.stdout.buffer)
        raise unwritable(error.strerror or str(error)) from error


def remark(text: str) -> None:
    """Write to standard error, which need not be there: what it says is said nowhere else."""
    try:
        encoding = sys.stderr.encoding
        sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr.buffer)


def complain(error: Exception | str) -> None:
    """Write an error, in one line, to standard error."""
    remark(f"plegscope: {plain(str(error))}\n")


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """For what prints to standard output and then is done. Whoever reads may leave early.

    Raises:
        OutputError: it cannot be written.
        SystemExit: nobody reads it any more, which is no error.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout.buffer)
        raise SystemExit(0) from None
    except OSError as error:
        discard(sys.stdout.buffer)
        raise unwritable(error.strerror or str(error)) from error


def discard(out: BinaryIO) -> None:
    """Send to nowhere what is still written: Python flushes again at exit, which is not to fail."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out.fileno())
        os.close(nowhere)


def unwritable(reason: str) -> OutputError:
    """What to say when standard output cannot be written."""
    return OutputError(
        f"Standard output cannot be written: {reason}. "
        "Make room there or send it elsewhere, and start plegscope again."
    )
