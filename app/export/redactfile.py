"""``plegscope redact``: a copy of a recording, or of JSON lines, without names.

A recording's copy has everything that the recording has, so it can be shown and run again: each
message is decoded, redacted and written anew. What cannot be decoded is left out and counted, as
nobody can say what is in it. In memory: one chunk, and the names.

Run again, it gives the records that are in it, but for the order of containers that were created at
the same moment: the engine sorts those by their IDs, which are others now.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from app.engine.records import AnyRecord
from app.errors import RecordingError
from app.export import events
from app.export.jsonl import lines
from app.export.output import unwritable, write
from app.export.redact import Redacted, Redactor
from app.export.source import open_source
from app.recording import format as words
from app.recording.answers import Answered
from app.recording.checked import UNFIT, Checked
from app.recording.format import (
    ANSWERS,
    INPUTS,
    LOSSES,
    MESSAGES,
    OPENING,
    SESSION,
    STATES,
    TOLD,
    AnyInput,
    Loss,
    SessionInfo,
    StateThen,
)
from app.recording.mcapparse import Message
from app.recording.packer import Packer
from app.recording.reading import Recording, is_mcap
from app.recording.segment import Segment

MOST_TOLD = 20
"""Damages told one by one."""


class Copied(msgspec.Struct):
    """What was copied. ``left_out``: messages that could not be understood, or are nobody's.

    ``missing``: what is damaged in the original, in sentences.
    """

    messages: int = 0
    left_out: int = 0
    size: int = 0
    missing: list[str] = msgspec.field(default_factory=list)


def redact_file(source: Path, out: Path, redactor: Redactor) -> Copied:
    """Write a redacted copy of ``source`` into ``out``, which must not exist.

    Raises:
        RecordingError: the source cannot be read, or the copy cannot be written.
    """
    if is_mcap(source):
        return _Copy(source, redactor).write(out)
    redacted = Redacted(open_source(source), redactor)
    done = Copied()

    def counted() -> Iterator[bytes]:
        for line in lines(redacted):
            done.messages += 1
            yield line

    done.size = write(out, counted())
    done.missing = redacted.missing
    return done


KINDS: Final[dict[int, Any]] = {
    SESSION: SessionInfo,
    INPUTS: AnyInput,
    OPENING: AnyRecord,
    LOSSES: Loss,
    STATES: StateThen,
    ANSWERS: Answered,
    **dict.fromkeys(TOLD, AnyRecord),
}
"""What the messages of each channel are, but for the runtime's own (``MESSAGES``)."""


class _Copy:
    def __init__(self, source: Path, redactor: Redactor) -> None:
        self._source = source
        self._redactor = redactor
        self._decoders: dict[int, Checked[msgspec.Struct]] = {
            number: Checked(kind) for number, kind in KINDS.items()
        }
        self._encode = msgspec.json.Encoder().encode
        self._done = Copied()

    def write(self, out: Path) -> Copied:
        self._learn()
        try:
            segment = Segment(out)
        except FileExistsError as error:
            raise RecordingError(f"{out} exists already. Give another name after -o.") from error
        except (OSError, ValueError) as error:
            raise unwritable(out, error) from error
        try:
            self._copy(segment)
            segment.finish()
        except OSError as error:
            segment.drop()
            raise unwritable(out, error) from error
        except BaseException:
            # Half a copy would look like a whole one.
            segment.drop()
            raise
        self._done.size = segment.size
        return self._done

    def _learn(self) -> None:
        found = False
        with Recording(self._source) as recording:
            for number, message in recording.messages():
                found = True
                if number in MESSAGES:
                    events.learn(self._redactor, message.data, MESSAGES[number])
                else:
                    thing = self._decoded(number, message)
                    if thing is not None:
                        self._redactor.learn(thing)
            if not found:
                told = recording.damage[0].sentence() if recording.damage else "It is empty."
                raise RecordingError(
                    f"{self._source} holds nothing that can be read. {told} Give another recording."
                )

    def _copy(self, segment: Segment) -> None:
        packer = Packer()
        packer.prepend(words.schema_records() + words.channel_records())
        done = self._done
        with Recording(self._source) as recording:
            for number, message in recording.messages():
                data = self._redacted(number, message)
                if data is None:
                    done.left_out += 1
                    continue
                done.messages += 1
                if packer.put(number, *message[1:4], data):
                    segment.append(packer.take())
            done.missing = [one.sentence() for one in recording.damage[:MOST_TOLD]]
        if packer:
            segment.append(packer.take())

    def _redacted(self, number: int, message: Message) -> bytes | None:
        if number in MESSAGES:
            return events.redact(self._redactor, message.data, MESSAGES[number])
        thing = self._decoded(number, message)
        return None if thing is None else self._encode(self._redactor.redact(thing))

    def _decoded(self, number: int, message: Message) -> msgspec.Struct | None:
        decoder = self._decoders.get(number)
        if decoder is None:
            return None
        try:
            return decoder.decode(message.data)
        except UNFIT:
            return None
