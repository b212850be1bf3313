"""The static files, kept in memory as they go over the wire.

A page brings in some seventy scripts. Read from the disk in a thread and packed anew for each
browser, they cost the server more than all else that a first picture needs.
"""

from __future__ import annotations

import gzip
import mimetypes
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

MAX_KEPT: Final = 1024 * 1024
"""Bytes of a file that is kept; a larger one is sent from the disk."""
MIN_PACKED: Final = 1000
"""Bytes from which packing a file is worth it."""


@dataclass(frozen=True)
class _Kept:
    """A file as it was at ``stamp``: time of its last change (ns) and size."""

    stamp: tuple[int, int]
    plain: Response
    packed: Response


class Files(StaticFiles):
    """Serves a directory; what is not too large is read once, and again when it has changed."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory=directory)
        self._kept: dict[str, _Kept] = {}

    async def get_response(self, path: str, scope: Scope) -> Response:
        """As StaticFiles does, from memory where that is possible."""
        try:
            full, found = self.lookup_path(path)
        except (OSError, ValueError):
            # StaticFiles knows what to say of each such name.
            return await super().get_response(path, scope)
        if (
            found is None
            or not stat.S_ISREG(found.st_mode)
            or found.st_size > MAX_KEPT
            or scope["method"] not in ("GET", "HEAD")
        ):
            return await super().get_response(path, scope)
        asked = Headers(scope=scope)
        try:
            kept = self._read(full, found)
        except OSError as error:
            raise HTTPException(status_code=404) from error
        answer = kept.packed if "gzip" in asked.get("accept-encoding", "") else kept.plain
        if self.is_not_modified(answer.headers, asked):
            return NotModifiedResponse(answer.headers)
        return answer

    def _read(self, full: str, found: os.stat_result) -> _Kept:
        stamp = (found.st_mtime_ns, found.st_size)
        kept = self._kept.get(full)
        if kept is None or kept.stamp != stamp:
            with Path(full).open("rb") as file:
                content = file.read(MAX_KEPT + 1)
            kept = self._kept[full] = _Kept(stamp, *_answers(full, content, stamp))
        return kept


def _answers(full: str, content: bytes, stamp: tuple[int, int]) -> tuple[Response, Response]:
    """Plain and packed; a file that is too small to be packed is plain in both."""
    media = mimetypes.guess_type(full)[0] or "application/octet-stream"
    headers = {"etag": f'"{stamp[0]:x}-{stamp[1]:x}"', "vary": "Accept-Encoding"}
    plain = Response(content, media_type=media, headers=headers)
    if len(content) < MIN_PACKED:
        return plain, plain
    packed = gzip.compress(content, 6, mtime=0)
    return plain, Response(packed, media_type=media, headers=headers | {"content-encoding": "gzip"})
