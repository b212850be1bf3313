"""The files an export writes: created new, readable by their owner alone, whole or not at all."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from app.errors import RecordingError

BUFFER = 256 * 1024


def write(out: Path, pieces: Iterable[bytes]) -> int:
    """Write ``pieces`` into a new file (mode 0600); returns its size in bytes.

    Nothing is left of it if it could not be finished: half a file would look like a whole one.

    Raises:
        RecordingError: it exists, or cannot be written; or whatever ``pieces`` raises.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        number = os.open(out, flags, 0o600)
    except FileExistsError as error:
        raise RecordingError(f"{out} exists already. Give another name after -o.") from error
    except (OSError, ValueError) as error:
        raise unwritable(out, error) from error
    try:
        with os.fdopen(number, "wb", buffering=BUFFER) as file:
            for piece in pieces:
                file.write(piece)
            size = file.tell()
    except OSError as error:
        _remove(out)
        raise unwritable(out, error) from error
    except BaseException:
        _remove(out)
        raise
    return size


def unwritable(out: Path, error: Exception) -> RecordingError:
    """What to say of a file that cannot be written."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return RecordingError(f"{out} cannot be written ({reason}). Make room, or write it elsewhere.")


def _remove(out: Path) -> None:
    with suppress(OSError):
        out.unlink()
