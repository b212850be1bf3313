"""Takes apart what MCAP's records hold: bytes in, values out, every length checked."""

import struct
from collections.abc import Collection, Sequence
from typing import NamedTuple

import zstandard

from app.recording import mcapwrite as mcap
from app.recording.format import MOST_MESSAGE

MOST_HEADER = 64 * 1024
"""Bytes of the file's header, and of a schema's or a channel's names."""

MOST_CHANNELS = 1024
"""Channels that one chunk may tell of."""

MOST_MESSAGES = 16_384
"""Messages of a chunk, and other records in it; plegscope ends its own far earlier."""

TOO_MANY = f"a chunk has more than {MOST_MESSAGES:,} messages"
HEAD = struct.Struct("<BQ")
FIXED = mcap.MESSAGE_HEAD.size - HEAD.size
"""Bytes of a message before its data."""
MOST_LENGTH = FIXED + MOST_MESSAGE


class Message(NamedTuple):
    """One message as it stands in the file; times in ns."""

    channel: int
    sequence: int
    log_time: int
    publish_time: int
    data: bytes


def header(content: bytes) -> tuple[str, str, int]:
    """Profile and library, as far as they can be read, and how long they say that they are."""
    found: list[str] = []
    at = 0
    for _ in range(2):
        size = int.from_bytes(content[at : at + 4], "little")
        found.append(content[at + 4 : at + 4 + size].decode(errors="replace"))
        at += 4 + size
    return found[0], found[1], at


def frame_size(packed: bytes) -> int:
    """Bytes of the zstd frame at the beginning of ``packed`` (RFC 8878, 3.1.1), told by its blocks.

    Raises:
        zstandard.ZstdError: it is too short to begin as one.
    """
    at = zstandard.frame_header_size(packed)
    last = False
    while not last and at + 3 <= len(packed):
        block = int.from_bytes(packed[at : at + 3], "little")
        last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        # A block of one byte repeated has that byte only.
        at += 3 + (1 if kind == 1 else size)
    return at + (4 if has_checksum(packed) else 0)


def has_checksum(frame: bytes) -> bool:
    """Whether a zstd frame carries a checksum of its content (RFC 8878, 3.1.1.1.1)."""
    return len(frame) > 4 and bool(frame[4] & 0b100)


def entries(records: bytes) -> dict[int, bytearray]:
    """The entries of a chunk's message indexes, by channel."""
    entries: dict[int, bytearray] = {}
    at = 0
    for _ in range(2 * MOST_MESSAGES):
        if at + mcap.MESSAGE_HEAD.size > len(records):
            break
        opcode, length = HEAD.unpack_from(records, at)
        if opcode == mcap.MESSAGE:
            head = mcap.MESSAGE_HEAD.unpack_from(records, at)
            entries.setdefault(head[2], bytearray()).extend(mcap.INDEX_ENTRY.pack(head[4], at))
        at += HEAD.size + length
    return entries


def picked(
    records: bytes, places: Sequence[int], messages: list[Message], wanted: Collection[int]
) -> bool:
    """Take the messages that begin at ``places`` out of a chunk's records; whether each is one, of
    a channel that is ``wanted``, behind the one before."""
    unpack, head, before = mcap.MESSAGE_HEAD.unpack_from, mcap.MESSAGE_HEAD.size, HEAD.size
    size = len(records)
    # Somebody waits for this: names that are looked up, and a call in Python, for each message
    # would cost as much as the rest.
    make, append = tuple.__new__, messages.append
    after = 0
    for at in places:
        if not after <= at <= size - head:
            return False
        opcode, length, channel, sequence, log_time, publish_time = unpack(records, at)
        after = at + before + length
        if opcode != mcap.MESSAGE or channel not in wanted or after > size:
            return False
        if not FIXED <= length <= MOST_LENGTH:
            return False
        data = records[at + head : after]
        append(make(Message, (channel, sequence, log_time, publish_time, data)))
    return True


def parse(
    records: bytes,
    channels: dict[int, str],
    messages: list[Message],
) -> str:
    """Take a chunk's records apart; returns what is wrong with them, if anything is."""
    at, size, others, count = 0, len(records), 0, 0
    unpack, head, before = mcap.MESSAGE_HEAD.unpack_from, mcap.MESSAGE_HEAD.size, HEAD.size
    make, append = tuple.__new__, messages.append
    whole = size - head
    while at < size:
        if at <= whole:
            # What nearly all records are, in one go; anything else is looked at below.
            opcode, length, channel, sequence, log_time, publish_time = unpack(records, at)
            after = at + before + length
            if opcode == mcap.MESSAGE and FIXED <= length <= MOST_LENGTH and after <= size:
                if count == MOST_MESSAGES:
                    return TOO_MANY
                count += 1
                data = records[at + head : after]
                append(make(Message, (channel, sequence, log_time, publish_time, data)))
                at = after
                continue
        if at + HEAD.size > size:
            return "a chunk's content ends within a record"
        opcode, length = HEAD.unpack_from(records, at)
        after = at + HEAD.size + length
        if after > size:
            return "a record in a chunk is longer than the chunk"
        if opcode == mcap.MESSAGE:
            return "a message in a chunk has no length that a message can have"
        if others == MOST_MESSAGES:
            return TOO_MANY
        others += 1
        if opcode == mcap.CHANNEL and 4 <= length <= MOST_HEADER and len(channels) < MOST_CHANNELS:
            content = records[at + HEAD.size : after]
            topic = int.from_bytes(content[4:8], "little")
            number = int.from_bytes(content[:2], "little")
            channels[number] = content[8 : 8 + topic].decode(errors="replace")
        at = after
    return ""
