"""Files that somebody dropped on the page: kept in a private directory until plegscope ends."""

import asyncio
import tempfile
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path

from app.errors import RecordingError
from app.replaying.listing import SUFFIXES
from app.replaying.sources import Source

MIB = 1024 * 1024
MOST_FILE = 256 * MIB
"""Bytes of a file."""
MOST_TOGETHER = 512 * MIB
"""Bytes of all of them."""
MOST_NAME = 200
"""Bytes of a name as the file system has it."""

GIVE_PATH = "Start `plegscope replay` with its path instead."


class Dropped:
    """The files by name; at most one is received at a time."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._size = 0
        self._receiving = asyncio.Lock()
        self.files: dict[str, Path] = {}

    async def receive(self, name: str, there: Path | None, body: AsyncIterator[bytes]) -> str:
        """Keep a file; returns the name that a link opens it by.

        Args:
            name: what it is called.
            there: a recording of this name that is in reach already: it must be the same.
            body: its bytes.

        Raises:
            RecordingError: it is none, too large, or there is no room.
        """
        if not _is_name(name):
            raise RecordingError(
                f"{name[:MOST_NAME]!r} is not called like a recording. Drop a file whose name ends "
                f"in {' or '.join(SUFFIXES)}, and give a journal of JSON lines such a name."
            )
        if self._receiving.locked():
            raise RecordingError("Another file is on its way. Drop this one once that is there.")
        async with self._receiving:
            try:
                path = await self._written(Path(name).suffix, body)
            except OSError as error:
                raise RecordingError(
                    f"There is no room for this file here ({error.strerror}). {GIVE_PATH}"
                ) from error
            try:
                return await asyncio.to_thread(self._kept, path, name, self.files.get(name, there))
            except RecordingError as error:
                # Where it was put for a moment is nobody's business.
                raise RecordingError(str(error).replace(str(path), name)) from None
            finally:
                path.unlink(missing_ok=True)

    def _kept(self, path: Path, name: str, known: Path | None) -> str:
        source = Source(path)
        if source.peek() is None:
            raise RecordingError(f"{name} holds no record. Drop another file.")
        if known is not None:
            if Source(known).digest != source.digest:
                raise RecordingError(
                    f"Another recording called {name} is in reach. Rename this one."
                )
            return name
        kept = path.with_name(name)
        path.replace(kept)
        self._size += source.size
        self.files[name] = kept
        return name

    async def _written(self, suffix: str, body: AsyncIterator[bytes]) -> Path:
        if self._folder is None:
            # Nobody else can look into it (mode 0700).
            self._folder = tempfile.TemporaryDirectory(prefix="plegscope-")
        path = Path(self._folder.name) / f".receiving{suffix}"
        size = 0
        file = await asyncio.to_thread(path.open, "wb")
        try:
            async for part in body:
                size += len(part)
                if size > MOST_FILE or self._size + size > MOST_TOGETHER:
                    raise RecordingError(
                        f"This is too much to be dropped: {MOST_FILE // MIB} MiB a file, and "
                        f"{MOST_TOGETHER // MIB} MiB together. {GIVE_PATH}"
                    )
                await asyncio.to_thread(file.write, part)
        except BaseException:
            file.close()
            path.unlink(missing_ok=True)
            raise
        file.close()
        return path

    def close(self) -> None:
        """Remove them all."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _is_name(name: str) -> bool:
    """Whether a file can be kept by this name: a hidden one may be that of the file being received,
    and what looks short may be long on the disk."""
    whole = not any(unicodedata.category(one) in ("Cc", "Cs") for one in name)
    return (
        whole
        and 0 < len(name.encode()) <= MOST_NAME
        and "/" not in name
        and not name.startswith(".")
        and name.endswith(SUFFIXES)
    )
