"""Files that were made to hurt whoever reads them, by name."""

from __future__ import annotations

import io
import json
import random
import struct
import zlib
from collections.abc import Iterator

import zstandard
from mcap.writer import Writer

from app.recording import format as words
from app.recording import mcapwrite as mcap
from app.recording.format import INPUTS, NOTES, RECORDS, SESSION
from app.recording.mcapread import MARK

MIB = 1024 * 1024


def packed(records: bytes, *, level: int = 3, size: bool = True) -> bytes:
    return zstandard.ZstdCompressor(level=level, write_content_size=size).compress(records)


def chunk(records: bytes, *, frame: bytes | None = None, size: int | None = None) -> bytes:
    return mcap.chunk(
        1,
        1,
        len(records) if size is None else size,
        zlib.crc32(records),
        packed(records) if frame is None else frame,
    )


def message(number: int, data: bytes, sequence: int = 1) -> bytes:
    return mcap.message(number, sequence, 1, 1, data)


def file(*parts: bytes, profile: str = words.PROFILE) -> bytes:
    return mcap.MAGIC + mcap.header(profile, words.LIBRARY) + b"".join(parts)


def theirs() -> bytes:
    """A recording of a robot."""
    out = io.BytesIO()
    writer = Writer(out)
    writer.start(profile="ros2", library="someone else's")
    schema = writer.register_schema("Odometry", "ros2msg", b"float64 x")
    channel = writer.register_channel("/odom", "cdr", schema)
    for number in range(1000):
        writer.add_message(channel, number, b"\0" * 64, number)
    writer.finish()  # type: ignore[no-untyped-call]
    return out.getvalue()


def _bomb(size: int) -> bytes:
    """A frame that does not say how much it unpacks to."""
    compressor = zstandard.ZstdCompressor(level=1).compressobj()
    step = bytes(MIB)
    parts = [compressor.compress(step) for _ in range(size // MIB)]
    return b"".join((*parts, compressor.flush()))


def deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def corpus() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each."""
    note = message(NOTES, b'{"kind":"note","t":1,"wall":1,"level":"info","text":"here"}')
    huge = struct.pack("<BQ", mcap.CHUNK, (1 << 63) + 5)
    yield "empty", b""
    yield "magic-only", mcap.MAGIC
    yield "nothing-in-it", file()
    yield "huge-length", file(chunk(note), huge, b"x" * 1000)
    yield "huge-header", mcap.MAGIC + struct.pack("<BQ", mcap.HEADER, 1 << 40) + b"x" * 1000
    yield "header-with-huge-text", mcap.MAGIC + mcap.record(mcap.HEADER, b"\xff" * 12)
    yield "huge-attachment", file(struct.pack("<BQ", mcap.ATTACHMENT, 1 << 50))
    yield "says-it-unpacks-to-much", file(chunk(note, size=1 << 60))
    yield "bomb-with-size", file(chunk(note, frame=packed(bytes(300 * MIB))))
    yield "bomb-without-size", file(chunk(note, frame=_bomb(300 * MIB)))
    small = chunk(bytes(15 * MIB))
    yield "many-bombs", file(*(small for _ in range(3000)))
    # Nothing but marks of chunks that would each be megabytes long, and are none.
    mark = struct.pack("<I4sQ", 4, b"zstd", 3_000_000)
    yield "nothing-but-marks", file(mark * 600_000)
    frame = bytearray(packed(note))
    # Frame header: 256 GiB to look back into.
    window = b"\x28\xb5\x2f\xfd\x00" + bytes([28 << 3]) + bytes(frame[6:])
    yield "huge-window", file(chunk(note, frame=window))
    yield "chunk-in-chunk", file(chunk(chunk(chunk(note) * 3) * 3))
    yield "message-without-data", file(chunk(mcap.record(mcap.MESSAGE, b"x")))
    yield "message-longer-than-chunk", file(chunk(struct.pack("<BQ", mcap.MESSAGE, 1 << 40)))
    yield "many-messages", file(chunk(message(NOTES, b"") * 300_000))
    yield (
        "many-channels",
        file(chunk(b"".join(mcap.channel(n, 1, "/t" * 100, "json", {}) for n in range(60_000)))),
    )
    yield "channel-that-lies", file(chunk(mcap.record(mcap.CHANNEL, b"\xff" * 8) + note))
    yield "many-records", file(mcap.record(mcap.STATISTICS, b"") * 2_000_000)
    yield "fake-marks", file(MARK * 500_000)
    fake = b"\x06" + bytes(8 + 28) + MARK + struct.pack("<Q", 4 * MIB) + b"\x28\xb5\x2f\xfd"
    yield "fake-chunks", file(fake * 100_000)
    yield "noise", file(random.Random(1).randbytes(4 * MIB))
    yield "no-mcap", random.Random(2).randbytes(4 * MIB)
    yield "text", b"I am not a recording.\n" * 10_000
    for number in (SESSION, INPUTS, RECORDS):
        yield f"deep-{number}", file(chunk(message(number, deep(200_000)) + note))
        yield f"wrong-{number}", file(chunk(message(number, b'{"kind":7,"input":[]}') + note))
        yield f"not-text-{number}", file(chunk(message(number, b'{"kind":"\xff\xfe"}') + note))
    loop = json.dumps({"$ref": "#"}).encode()
    yield (
        "recursive-schema",
        file(chunk(mcap.schema(3, "plegscope.Record", "jsonschema", loop) + note)),
    )
    place = {"input": "listed", "t": 1, "wall": 1, "call": 1, "table": 1, "known": 0, "kept": True}
    runs = {**place, "sandboxes": [0, 1 << 40] * 1000, "containers": []}
    yield "list-of-everything", file(chunk(message(INPUTS, json.dumps(runs).encode()) + note))
    newer = json.dumps({"format": 99, "plegscope": "9.0", "something": [1]}).encode()
    yield "newer", file(chunk(message(SESSION, newer) + note))
    yield "theirs", theirs()
    yield "theirs-under-our-name", file(chunk(mcap.channel(1, 1, "/odom", "cdr", {}) + note))
