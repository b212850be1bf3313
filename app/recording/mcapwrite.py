"""The part of MCAP that plegscope writes (https://mcap.dev/spec, version 0), record by record.

Why not the ``mcap`` package's writer, which is well kept, small and MIT: it counts its chunks in
objects and keeps them all (150 MB a day at four chunks a second), it cannot take back half a chunk
that a full disk let through, and it writes its schemas where one flipped byte loses them without
notice. Reading has to be ours in any case, as its reader trusts every length in the file. What is
left to share are these few dozen lines; the tests hold them against that package and against the
one that MCAP's authors keep for JavaScript.

Everything is little-endian; a record is an opcode (one byte), a length (eight) and its content.
"""

import struct
from collections.abc import Mapping
from typing import Final

MAGIC: Final = b"\x89MCAP0\r\n"

HEADER: Final = 0x01
FOOTER: Final = 0x02
SCHEMA: Final = 0x03
CHANNEL: Final = 0x04
MESSAGE: Final = 0x05
CHUNK: Final = 0x06
MESSAGE_INDEX: Final = 0x07
CHUNK_INDEX: Final = 0x08
ATTACHMENT: Final = 0x09
STATISTICS: Final = 0x0B
SUMMARY_OFFSET: Final = 0x0E
DATA_END: Final = 0x0F

COMPRESSION: Final = "zstd"

MESSAGE_HEAD: Final = struct.Struct("<BQHIQQ")
"""Opcode, length, channel, sequence, log time, publish time; then the data."""

CHUNK_HEAD: Final = struct.Struct("<QQQII4sQ")
"""Start, end, unpacked size, CRC, length of ``zstd``, ``zstd``, length of the data."""

FOOTER_HEAD: Final = struct.Struct("<BQQQ")
"""What of the footer its own CRC covers: opcode, length, starts of summary and of its offsets."""

INDEX_ENTRY: Final = struct.Struct("<QQ")
"""Log time of a message, and where in the unpacked chunk it begins."""

INDEX_HEAD: Final = 15
"""Bytes of a message index without its entries."""


def record(opcode: int, *parts: bytes) -> bytes:
    """One record of these parts."""
    content = b"".join(parts)
    return struct.pack("<BQ", opcode, len(content)) + content


def text(value: str | bytes) -> bytes:
    """A text, or bytes, with its length (four bytes) before it."""
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<I", len(raw)) + raw


def _pairs(values: Mapping[str, str]) -> bytes:
    return text(b"".join(text(key) + text(value) for key, value in values.items()))


def header(profile: str, library: str) -> bytes:
    """The file's first record."""
    return record(HEADER, text(profile), text(library))


def schema(number: int, name: str, encoding: str, data: bytes) -> bytes:
    """A schema, ``number`` from 1."""
    return record(SCHEMA, struct.pack("<H", number), text(name), text(encoding), text(data))


def channel(
    number: int, schema_number: int, topic: str, encoding: str, metadata: Mapping[str, str]
) -> bytes:
    """A channel."""
    head = struct.pack("<HH", number, schema_number)
    return record(CHANNEL, head, text(topic), text(encoding), _pairs(metadata))


def message(number: int, sequence: int, log_time: int, publish_time: int, data: bytes) -> bytes:
    """A message of channel ``number``; times in ns, ``sequence`` without its upper bits."""
    sequence &= 0xFFFFFFFF
    return (
        MESSAGE_HEAD.pack(MESSAGE, 22 + len(data), number, sequence, log_time, publish_time) + data
    )


def chunk(start: int, end: int, size: int, crc: int, packed: bytes) -> bytes:
    """A chunk of records: unpacked they have ``size`` bytes and this CRC."""
    name = COMPRESSION.encode()
    head = CHUNK_HEAD.pack(start, end, size, crc, len(name), name, len(packed))
    return record(CHUNK, head, packed)


def message_indexes(entries: Mapping[int, bytes | bytearray]) -> bytes:
    """The indexes that stand behind a chunk; ``entries``: by channel, in order of its messages."""
    return b"".join(
        record(MESSAGE_INDEX, struct.pack("<H", number), text(bytes(entries[number])))
        for number in sorted(entries)
    )


def chunk_index(
    start: int,
    end: int,
    offset: int,
    length: int,
    *,
    packed: int,
    size: int,
    counts: Mapping[int, int],
) -> bytes:
    """Where a chunk is (``offset``, ``length``); ``packed`` and ``size`` are of its records.

    ``counts``: messages by channel, from which follows where their indexes are.
    """
    places = bytearray()
    first = at = offset + length
    for number in sorted(counts):
        places += struct.pack("<HQ", number, at)
        at += INDEX_HEAD + INDEX_ENTRY.size * counts[number]
    return record(
        CHUNK_INDEX,
        struct.pack("<QQQQ", start, end, offset, length),
        text(bytes(places)),
        struct.pack("<Q", at - first),
        text(COMPRESSION),
        struct.pack("<QQ", packed, size),
    )


def statistics(
    messages: Mapping[int, int], schemas: int, chunks: int, start: int, end: int
) -> bytes:
    """Counts: ``messages`` by channel; times of the first and the last one."""
    counts = b"".join(struct.pack("<HQ", *item) for item in sorted(messages.items()))
    total = sum(messages.values())
    head = struct.pack("<QHIIIIQQ", total, schemas, len(messages), 0, 0, chunks, start, end)
    return record(STATISTICS, head, text(counts))


def summary_offset(opcode: int, start: int, length: int) -> bytes:
    """Where in the summary the records of one kind are."""
    return record(SUMMARY_OFFSET, struct.pack("<BQQ", opcode, start, length))


def data_end(crc: int) -> bytes:
    """The end of the data section, with the CRC of all bytes before it."""
    return record(DATA_END, struct.pack("<I", crc))


def footer_head(summary_start: int, offsets_start: int) -> bytes:
    """The footer without its CRC, which covers the summary and this."""
    return FOOTER_HEAD.pack(FOOTER, 20, summary_start, offsets_start)
