"""Files as somebody names them: what they are called, and that they are files.

A pipe or a device may never come to its end, or not even to its beginning, and cannot be read
twice. A name is bytes, which need not be UTF-8.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from app.errors import RecordingError

FOREIGN = (
    "Only its owner may read it, which is root if `sudo plegscope` wrote it: use sudo here too, "
    "or make it yours with `sudo chown`."
)


def open_regular(path: Path) -> BinaryIO:
    """The file, to be read. What is there is looked at once it is open, so that it cannot become
    something else in between.

    Raises:
        OSError: it is no regular file, or cannot be opened.
        ValueError: the path can be none.
    """
    # Not to wait for somebody who writes into a pipe.
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "it is no regular file")
    return os.fdopen(number, "rb")


def unreadable(path: Path, error: Exception, give: str) -> RecordingError:
    """What to say of a file that cannot be read; ``give``: a sentence on what to give instead."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    todo = FOREIGN if isinstance(error, PermissionError) else give
    return RecordingError(f"{path} cannot be read ({reason}). {todo}")


def called(path: Path) -> str:
    """The file's name as a text that a page, a link and JSON can hold: bytes that are no UTF-8 are
    told by their numbers."""
    return os.fsencode(path.name).decode("utf-8", "backslashreplace")
