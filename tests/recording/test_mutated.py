"""Whole recordings in which messages are not what they were, under checksums that are right: who
made them is not to be trusted. Thousands, each by its seed.

What is under a wrong checksum is ``test_damage.py``'s.
"""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from app.errors import RecordingError
from app.export.names import Names
from app.export.redact import Redactor
from app.export.redactfile import redact_file
from app.recording import format as words
from app.recording.answers import MOST_BYTES, Answer, Answered, AnswerReader, Unknowable
from app.recording.format import ANSWERS, TOPICS
from app.recording.mcapparse import Message
from app.recording.packer import Packer
from app.recording.reading import Fed, Recording, Told
from app.recording.segment import Segment
from tests.recording.captured import Played

EACH = 100
BATCHES = 16
"""1,600 recordings in all."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, Message]]:
    path = tmp_path_factory.mktemp("mutated") / "a.mcap"
    Played("containerd-2.1.9", "crashloop", path).play()
    with Recording(path) as recording:
        messages = [message for message in recording.messages() if message[0] in TOPICS]
    assert {number for number, _message in messages} >= {words.EVENTS, ANSWERS, words.CONTAINERS}
    return messages


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Other bytes, fewer, more, or a number where there was another."""
    raw = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(raw) + 1)
        match rng.randrange(6):
            case 0 if at < len(raw):
                raw[at] = rng.randrange(256)
            case 1:
                del raw[at : at + rng.randint(1, 40)]
            case 2:
                raw[at:at] = rng.randbytes(rng.randint(1, 40))
            case 3:
                raw[at:at] = raw[: rng.randint(0, len(raw))]
            case 4:
                digits = [place for place, byte in enumerate(raw) if 48 <= byte < 58]
                if digits:
                    raw[rng.choice(digits)] = rng.randrange(48, 58)
            case _:
                digits = [place for place, byte in enumerate(raw) if 48 <= byte < 58]
                if digits:
                    place = rng.choice(digits)
                    number = rng.choice((-1, 1 << 40, 1 << 63, 1 << 70))
                    raw[place : place + 1] = str(number).encode()
    return bytes(raw)


def written(path: Path, messages: list[tuple[int, Message]], rng: random.Random) -> int:
    """A recording of these, some of which are others now, or gone, or twice; returns how many."""
    packer = Packer()
    packer.prepend(words.channel_records())
    segment = Segment(path)
    count = 0
    for number, message in messages:
        # Each file has some dozens.
        chance = rng.random()
        data, times = message.data, 1
        if chance < 0.04:
            data = mutated(data, rng)
        elif chance < 0.06:
            times = rng.choice((0, 2))
        for _ in range(times):
            count += 1
            packer.put(number, *message[1:4], data)
    segment.append(packer.take())
    segment.close()
    return count


@pytest.mark.parametrize("batch", range(BATCHES))
def test_what_cannot_be_understood_is_counted_and_all_else_is_read(
    batch: int, whole: list[tuple[int, Message]], tmp_path: Path
) -> None:
    understood = 0
    refused: list[str] = []
    for seed in range(batch * EACH, (batch + 1) * EACH):
        rng = random.Random(seed)
        path = tmp_path / f"{seed}.mcap"
        count = written(path, whole, rng)
        try:
            with Recording(path, answers=True) as recording:
                items = list(recording.items())
                bad = recording.unreadable
        except RecordingError as error:
            refused.append(str(error))
            continue
        assert bad <= count
        answers = [one for one in items if isinstance(one, Answer)]
        assert all(len(one.raw) <= MOST_BYTES for one in answers)
        understood += len(items)
        fed = [one for one in items if isinstance(one, Fed)]
        told = [one for one in items if isinstance(one, Told)]
        assert len(fed) > 20
        assert len(told) > 20
        if seed % 25 == 0:
            out = tmp_path / "redacted.mcap"
            done = redact_file(path, out, Redactor(Names(b"k" * 32, lasting=False)))
            assert done.messages + done.left_out == count
            out.unlink()
        path.unlink()
    assert understood > EACH * 50
    # Some say that they are of a newer format.
    assert all(text.endswith("Update plegscope.") for text in refused)
    assert len(refused) < EACH // 10


@pytest.mark.parametrize("seed", range(20))
def test_a_line_that_lies_of_its_answer_is_bounded(
    seed: int, whole: list[tuple[int, Message]]
) -> None:
    """Lines and messages that belong to others: a reader holds one list of each kind, and says
    that the rest cannot be known."""
    rng = random.Random(seed)
    lines = [
        msgspec.json.decode(message.data, type=Answered)
        for number, message in whole
        if number == ANSWERS
    ]
    raws = [message.data for number, message in whole if number in words.MESSAGES]
    reader = AnswerReader()
    unknown = 0
    for _ in range(400):
        line = msgspec.structs.replace(
            rng.choice(lines), form=rng.choice(("whole", "changes", "same")), base=rng.randrange(9)
        )
        try:
            answer = reader.read(line, rng.choice((None, *raws)))
        except Unknowable:
            unknown += 1
        else:
            assert len(answer.raw) <= MOST_BYTES
    assert 0 < unknown < 400
