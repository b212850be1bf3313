"""What records hold, taken apart: the zstd frame's length, headers, messages and their index."""

from __future__ import annotations

import random

import pytest
import zstandard

from app.recording import mcapparse
from app.recording import mcapwrite as mcap
from app.recording.mcapparse import (
    Message,
    entries,
    frame_size,
    has_checksum,
    header,
    parse,
    picked,
)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("checksum", [True, False])
def test_a_frames_length_is_told_by_its_blocks(seed: int, checksum: bool) -> None:
    rng = random.Random(seed)
    kinds = (rng.randbytes(100), bytes(5000), b"plegscope" * 300)
    content = b"".join(rng.choice(kinds) for _ in range(rng.randrange(0, 200)))
    frame = zstandard.ZstdCompressor(level=3, write_checksum=checksum).compress(content)
    assert frame_size(frame + rng.randbytes(50)) == len(frame)
    assert has_checksum(frame) == checksum


def test_a_frame_cut_off_is_longer_than_what_is_there() -> None:
    frame = zstandard.ZstdCompressor(level=3).compress(random.Random(1).randbytes(400_000))
    for size in (20, 1000, 200_000, len(frame) - 1):
        assert frame_size(frame[:size]) != size


def test_what_is_too_short_for_a_frame_is_none() -> None:
    with pytest.raises(zstandard.ZstdError):
        frame_size(b"\x28")


def test_a_header_says_who_wrote_it_and_how_long_it_is() -> None:
    content = mcap.header("plegscope", "plegscope 1.2")[9:]
    assert header(content) == ("plegscope", "plegscope 1.2", len(content))
    assert header(b"")[:2] == ("", "")
    assert header(b"\xff\xff\xff\xffabc")[0] == "abc"
    assert header(mcap.text(b"\xff\xfe") + mcap.text("x"))[0] == "\ufffd\ufffd"


def test_messages_channels_and_the_index_that_follows_from_them() -> None:
    first = mcap.message(2, 7, 100, 101, b"one")
    second = mcap.message(2, 8, 102, 103, b"")
    named = mcap.channel(2, 1, "/topic", "json", {"a": "b"})
    channels: dict[int, str] = {}
    messages: list[Message] = []
    assert parse(named + first + second, channels, messages) == ""
    assert channels == {2: "/topic"}
    assert messages == [Message(2, 7, 100, 101, b"one"), Message(2, 8, 102, 103, b"")]
    assert entries(named + first + second) == {
        2: mcap.INDEX_ENTRY.pack(100, len(named))
        + mcap.INDEX_ENTRY.pack(102, len(named) + len(first))
    }


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (b"\x05\x00", "ends within a record"),
        (b"\x05" + b"\xff" * 8, "longer than the chunk"),
        (mcap.record(mcap.MESSAGE, b"short"), "no length that a message can have"),
        (mcap.message(1, 1, 1, 1, b"") * 20_000, "more than 16,384 messages"),
        (mcap.record(0x80) * 20_000, "more than 16,384 messages"),
    ],
)
def test_what_cannot_be_is_said_and_what_came_before_it_is_kept(records: bytes, said: str) -> None:
    messages: list[Message] = []
    assert said in parse(mcap.message(3, 1, 1, 1, b"kept") + records, {}, messages)
    assert messages[0].data == b"kept"
    assert len(messages) <= mcapparse.MOST_MESSAGES


def test_a_sequence_number_keeps_its_lower_bits() -> None:
    messages: list[Message] = []
    parse(mcap.message(1, (1 << 32) + 5, 1, 1, b""), {}, messages)
    assert messages[0].sequence == 5


def test_messages_are_picked_where_they_are_and_nowhere_else() -> None:
    one = mcap.message(3, 1, 10, 10, b"one")
    two = mcap.message(2, 1, 11, 11, b"two")
    three = mcap.message(3, 2, 12, 12, b"three")
    records = one + two + three
    last = len(one) + len(two)
    messages: list[Message] = []
    assert picked(records, [0, last], messages, {3})
    assert [message.data for message in messages] == [b"one", b"three"]
    for places in ([len(one)], [last, 0], [0, 0], [1], [len(records) - 5], [len(records)]):
        assert not picked(records, places, [], {3}), places
    assert not picked(records[:-1], [last], [], {3})
