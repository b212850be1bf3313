"""Files that somebody dropped on the page: kept in a private directory until plegscope ends."""

import asyncio
import tempfile
import unicodedata
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from app.errors import RecordingError
from app.replaying.listing import SUFFIXES
from app.replaying.sources import Source, same

MIB = 1024 * 1024
MOST_FILE = 256 * MIB
"""Bytes of a file."""
MOST_TOGETHER = 512 * MIB
"""Bytes of all of them."""
MOST_FILES = 200
"""Files; each is looked at whenever a list is shown."""
MOST_NAME = 200
"""Bytes of a name as the file system has it."""

GIVE_PATH = "Start `plegscope replay` with its path instead."
REAL = (
    "{} may tell of a real node, and everybody on this machine can look at this player: it was "
    "opened without a token, for a simulated node. Start `plegscope replay` with that file's path."
)


class Dropped:
    """The files by name; at most one is received at a time."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._size = 0
        self._receiving = asyncio.Lock()
        self.files: dict[str, Path] = {}

    async def receive(
        self,
        name: str,
        there: Path | None,
        body: AsyncIterator[bytes],
        *,
        simulated_only: bool = False,
    ) -> str:
        """Keep a file; returns the name that a link opens it by.

        Args:
            name: what it is called.
            there: a recording of this name that is in reach already: it must be the same.
            body: its bytes.
            simulated_only: everybody on this machine may look at what is played, so that nothing of
                a real node may be.

        Raises:
            RecordingError: it is none, too large, may not be shown, or there is no room.
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
                try:
                    known = self.files.get(name, there)
                    return await asyncio.to_thread(self._kept, path, name, known, simulated_only)
                except RecordingError as error:
                    # Where it was put for a moment is nobody's business.
                    raise RecordingError(str(error).replace(str(path), name)) from None
                finally:
                    path.unlink(missing_ok=True)
            except OSError as error:
                raise RecordingError(
                    f"There is no room for this file here ({error.strerror}). {GIVE_PATH}"
                ) from error

    def _kept(self, path: Path, name: str, known: Path | None, simulated_only: bool) -> str:
        source = Source(path)
        if source.peek() is None:
            raise RecordingError(f"{name} holds no record. Drop another file.")
        if simulated_only and not (source.info is not None and source.info.simulated):
            raise RecordingError(REAL.format(name))
        if known is not None:
            if not same(Source(known), source):
                raise RecordingError(
                    f"Another recording called {name} is in reach. Rename this one."
                )
            return name
        if len(self.files) >= MOST_FILES:
            raise RecordingError(
                f"{MOST_FILES} files were dropped already. Start `plegscope replay` again."
            )
        kept = path.with_name(name)
        path.replace(kept)
        self._size += source.size
        self.files[name] = kept
        return name

    async def _written(self, suffix: str, body: AsyncIterator[bytes]) -> Path:
        path = (await asyncio.to_thread(self._room)) / f".receiving{suffix}"
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
            await asyncio.to_thread(file.close)
        except BaseException:
            with suppress(OSError):
                # On a full disk that fails once more, for what was not written yet.
                file.close()
            path.unlink(missing_ok=True)
            raise
        return path

    def _room(self) -> Path:
        """The directory that they are in, which nobody else can look into (mode 0700)."""
        if self._folder is None or not Path(self._folder.name).is_dir():
            # Systems tidy up where temporary files are.
            self.close()
            self.files.clear()
            self._size = 0
            self._folder = tempfile.TemporaryDirectory(prefix="plegscope-")
        return Path(self._folder.name)

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
