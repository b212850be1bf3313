"""Writes a clean file from what can be read of a recording: a new index, and nothing damaged.

Messages are copied as they are, byte for byte, whether or not this version understands them.
"""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import msgspec

from app.errors import RecordingError
from app.recording import format as words
from app.recording.mcapread import Damage
from app.recording.packer import Packer
from app.recording.reading import Recording
from app.recording.segment import Segment


class Recovered(msgspec.Struct, frozen=True):
    """What was copied, and what was not.

    ``foreign``: messages of topics that are not a recording's, which were left out.
    """

    messages: int
    foreign: int
    size: int
    damage: tuple[Damage, ...]
    damaged: int
    finished: bool


def recover(source: Path, out: Path, stopped: Callable[[], bool] = lambda: False) -> Recovered:
    """Copy what can be read of ``source`` into ``out``, which must not exist.

    Raises:
        RecordingError: nothing can be read, or the copy cannot be written.
    """
    with Recording(source, stopped) as recording:
        # Before there is a file, it must be sure that there is something to put into it.
        messages = recording.messages()
        first = next(messages, None)
        if first is None:
            raise RecordingError(
                f"Nothing can be read in {source}: {_first(recording.damage)} "
                "Look for another copy of it."
            )
        try:
            segment = Segment(out)
        except FileExistsError as error:
            raise RecordingError(f"{out} exists already. Give another name after -o.") from error
        except (OSError, ValueError) as error:
            raise _unwritable(out, error) from error
        try:
            packer = Packer()
            packer.prepend(words.schema_records() + words.channel_records())
            copied = foreign = 0
            for number, message in chain([first], messages):
                if not number:
                    foreign += 1
                    continue
                copied += 1
                if packer.put(number, *message[1:]):
                    segment.append(packer.take())
            if packer:
                segment.append(packer.take())
            segment.finish()
        except OSError as error:
            segment.drop()
            raise _unwritable(out, error) from error
        except BaseException:
            # Half a copy would look like a whole one.
            segment.drop()
            raise
        return Recovered(
            copied,
            foreign,
            segment.size,
            tuple(recording.damage),
            recording.damaged,
            recording.finished,
        )


def _first(damage: list[Damage]) -> str:
    return damage[0].sentence() if damage else "it is empty."


def _unwritable(out: Path, error: Exception) -> RecordingError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return RecordingError(f"{out} cannot be written ({reason}). Make room, or write it elsewhere.")
