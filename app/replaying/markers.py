"""Markers: places in a recording with a note, saved beside it for this user alone (mode 0600).

They are in ``FILE.markers.json``. The file is replaced whole, so that it is never half written;
where it cannot be (a directory that may only be read) the markers live as long as plegscope does,
and it is said so. A file that is none of ours is left alone.

A note is somebody's text and goes to whoever opens the recording, as JSON and by other pages than
ours as well. So what steers a terminal or the direction of a text is taken out of it at the door,
and out of a file that somebody else may have written.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from app.errors import RecordingError
from app.hub.filmwire import Marker, Markers
from app.recording.regular import called

MOST = 500
"""Markers of a recording."""
MOST_NOTE = 500
"""Characters of a note."""
_STEERS: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
"""Controls, breaks of lines, and what changes a text's direction (UAX #9, section 2)."""
MOST_BYTES = 4 * 1024 * 1024
"""Bytes of a file that is read."""
LATEST = 3650 * 24 * 3600 * 1_000_000_000


def harmless(note: str) -> str:
    """The note on one line, with a sign (U+FFFD) for each character that steers."""
    return _STEERS.sub("\ufffd", " ".join(note.split()))


class SavedMarker(msgspec.Struct, frozen=True, kw_only=True):
    """A marker at a wall time (ns since 1970): it stays right whatever is played beside."""

    wall: int
    note: str


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """What is in the file."""

    plegscope_markers: int = 1
    markers: tuple[SavedMarker, ...]


class MarkerFile:
    """The markers of one recording; ``path`` is the recording's, ``origin`` wall time 0 (ns)."""

    def __init__(self, path: Path, origin: int) -> None:
        self._origin = origin
        self._path = path.with_name(path.name + ".markers.json")
        self._markers: list[Marker] = []
        self._trouble = ""
        self._foreign = False
        self._load()

    def told(self) -> Markers:
        """All, in order of time."""
        ordered = sorted(self._markers, key=lambda one: (one.t, one.number))
        return Markers(markers=tuple(ordered), trouble=self._trouble)

    def add(self, t: int, note: str) -> Markers:
        """Put a marker at ``t`` (ns).

        Raises:
            RecordingError: there are too many, or it says what cannot be.
        """
        note = harmless(note)
        if not note or len(note) > MOST_NOTE:
            raise RecordingError(
                f"A marker needs a note of 1 to {MOST_NOTE} characters. Write one."
            )
        if not 0 <= t <= LATEST:
            raise RecordingError(
                "This time is not in a recording. Move the cursor, and mark again."
            )
        if len(self._markers) >= MOST:
            raise RecordingError(f"There are {MOST} markers already. Remove some first.")
        number = max((one.number for one in self._markers), default=0) + 1
        self._markers.append(Marker(number=number, t=t, note=note))
        return self._save()

    def remove(self, number: int) -> Markers:
        """Take one away.

        Raises:
            RecordingError: there is none of this number.
        """
        left = [one for one in self._markers if one.number != number]
        if len(left) == len(self._markers):
            raise RecordingError("This marker is gone already. Load the page again.")
        self._markers = left
        return self._save()

    def _load(self) -> None:
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return
        except OSError as error:
            self._trouble = f"{called(self._path)} cannot be read ({error.strerror})."
            self._foreign = True
            return
        with os.fdopen(file, "rb") as opened:
            try:
                saved = msgspec.json.decode(opened.read(MOST_BYTES), type=Saved)
            except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self._foreign = True
                self._trouble = (
                    f"{called(self._path)} is not what plegscope wrote, and is left as it is: "
                    "markers are not saved. Move it away to save new ones."
                )
                return
        times = [(one.wall - self._origin, harmless(one.note)) for one in saved.markers]
        fit = [(t, note) for t, note in times if abs(t) <= LATEST and 0 < len(note) <= MOST_NOTE]
        self._markers = [
            Marker(number=number, t=t, note=note) for number, (t, note) in enumerate(fit[:MOST], 1)
        ]

    def _save(self) -> Markers:
        if self._foreign:
            return self.told()
        saved = Saved(
            markers=tuple(
                SavedMarker(wall=one.t + self._origin, note=one.note) for one in self.told().markers
            )
        )
        data = msgspec.json.format(msgspec.json.encode(saved))
        temporary = ""
        try:
            # Made with mode 0600.
            number, temporary = tempfile.mkstemp(".tmp", self._path.name, self._path.parent)
            with os.fdopen(number, "wb") as file:
                file.write(data + b"\n")
            Path(temporary).replace(self._path)
            self._trouble = ""
        except OSError as error:
            if temporary:
                Path(temporary).unlink(missing_ok=True)
            self._trouble = (
                f"The markers cannot be saved beside the recording ({error.strerror}). They are "
                "kept until plegscope ends: copy the recording where you may write, and open that."
            )
        return self.told()
