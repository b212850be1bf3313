"""Has the disk hold what was written, on a thread of its own: it may take seconds.

What was written survives the process at once, and the machine once the disk holds it. Whoever
writes is not to wait for that, as what comes meanwhile would not even survive the process.
"""

import os
import threading
from contextlib import suppress


class Syncer:
    """Syncs one file at a time. For one thread; the files stay its own, to close as it likes."""

    def __init__(self) -> None:
        self._file: int | None = None
        self._error: OSError | None = None
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether the disk has not answered yet."""
        return self._thread is not None and self._thread.is_alive()

    def sync(self, file: int) -> bool:
        """Begin to sync what this file has now; returns whether it was begun: one at a time is.

        Raises:
            OSError: the last one failed, or the file cannot be had.
        """
        error, self._error = self._error, None
        if error is not None:
            raise error
        if self.busy:
            return False
        # A thread for each: they are seconds apart, and one that a disk holds up stays behind.
        self._thread = threading.Thread(
            target=self._work, args=(os.dup(file),), name="recorder's disk", daemon=True
        )
        self._thread.start()
        return True

    def _work(self, file: int) -> None:
        try:
            # Not every system tells data from the rest.
            getattr(os, "fdatasync", os.fsync)(file)
        except OSError as error:
            self._error = error
        finally:
            with suppress(OSError):
                os.close(file)
