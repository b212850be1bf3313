"""The index at a recording's end tells what is in each chunk, or it is not used at all."""

from __future__ import annotations

import fcntl
import os
import random
import struct
import zlib
from pathlib import Path

import pytest

from app.recording import mcapwrite as mcap
from app.recording.format import INPUTS, NUMBERS, OPENING, RECORDS, STATES, TOLD
from app.recording.mcapindex import FOOTER, Index, Unfit
from app.recording.reading import Recording
from tests.recording.recorded import storm


@pytest.fixture
def file(tmp_path: Path) -> tuple[Path, bytearray]:
    return tmp_path / "a.mcap", bytearray(storm())


def index_of(path: Path, data: bytes | bytearray) -> Index | None:
    """The index of a file of these bytes; whoever opens it closes it with the test."""
    path.write_bytes(data)
    with Recording(path) as recording:
        return recording.index()


def sealed(data: bytearray) -> bytearray:
    """With the right checksum over whatever the summary is."""
    end = len(data) - FOOTER
    start = struct.unpack_from("<Q", data, end + 9)[0]
    crc = zlib.crc32(bytes(data[start : len(data) - len(mcap.MAGIC) - 4]))
    struct.pack_into("<I", data, len(data) - len(mcap.MAGIC) - 4, crc)
    return data


def summary(data: bytearray) -> tuple[int, int]:
    end = len(data) - FOOTER
    return struct.unpack_from("<Q", data, end + 9)[0], end


def test_it_tells_what_reading_finds(file: tuple[Path, bytearray]) -> None:
    path, data = file
    path.write_bytes(data)
    with Recording(path) as recording:
        index = recording.index()
        assert index is not None
        at, place = -1, -1
        for block in recording._reader.blocks():
            at += 1
            assert index.offsets[at] == block.offset
            told = [one for one in block.messages if one.channel in TOLD]
            assert index.count(at, TOLD) == len(told)
            assert index.count(at, {INPUTS, RECORDS, OPENING, STATES}) == sum(
                one.channel in (INPUTS, RECORDS, OPENING, STATES) for one in block.messages
            )
            if told:
                times = (index.first(at, TOLD)[1], index.last(at, TOLD)[1])
                assert times == (told[0].log_time, told[-1].log_time)
                place += 1
            read = recording._reader.block_at(block.offset, TOLD, index.places(at, TOLD))
            assert read is not None
            assert read.messages == told
        assert at + 1 == len(index) > place > 1


def test_a_file_without_its_end_is_gone_through_from_chunk_to_chunk(
    file: tuple[Path, bytearray],
) -> None:
    path, data = file
    whole = index_of(path, data)
    assert whole is not None
    for cut in (1, FOOTER, len(data) - summary(data)[0]):
        index = index_of(path, data[:-cut])
        assert index is not None
        assert (index.offsets, index.starts, index.ends, index.sizes) == (
            whole.offsets, whole.starts, whole.ends, whole.sizes,
        )  # fmt: skip
        for chunk in range(len(index)):
            for number in NUMBERS.values():
                assert index.count(chunk, {number}) == whole.count(chunk, {number})


def test_where_a_file_ends_within_a_chunk_the_chunks_before_it_are_told(
    file: tuple[Path, bytearray],
) -> None:
    path, data = file
    whole = index_of(path, data)
    assert whole is not None
    chance = random.Random(7)
    for _ in range(20):
        cut = chance.randrange(whole.offsets[1], len(data))
        index = index_of(path, data[:cut])
        assert index is not None
        assert index.offsets == whole.offsets[: len(index)]
        assert index.offsets[-1] < cut
    assert index_of(path, data[: whole.offsets[0] + 50]) is None


def test_a_file_that_is_being_written_is_not_gone_through(file: tuple[Path, bytearray]) -> None:
    path, data = file
    path.write_bytes(data[:-FOOTER])
    with path.open("rb") as writer, Recording(path) as recording:
        fcntl.flock(writer, fcntl.LOCK_EX)
        assert recording.index() is None
        fcntl.flock(writer, fcntl.LOCK_UN)
        assert recording.index() is not None


def test_a_byte_of_it_that_was_changed_is_seen(file: tuple[Path, bytearray]) -> None:
    path, data = file
    start, end = summary(data)
    chance = random.Random(5)
    for _ in range(30):
        changed = bytearray(data)
        changed[chance.randrange(start, end)] ^= 1 << chance.randrange(8)
        assert index_of(path, changed) is None


def test_whatever_it_says_is_bounded_or_not_believed(file: tuple[Path, bytearray]) -> None:
    path, data = file
    start, end = summary(data)
    chance = random.Random(6)
    refused = 0
    for _ in range(200):
        changed = bytearray(data)
        # Where chunks are told of, and whatever is around it.
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(max(start, end - 700), end)
            changed[at : at + 4] = chance.randbytes(4)
        path.write_bytes(sealed(changed))
        number = os.open(path, os.O_RDONLY)
        try:
            index = Index(number, len(changed))
            for chunk in range(len(index)):
                assert 0 < index.offsets[chunk] < start
                if index.count(chunk, TOLD):
                    index.first(chunk, TOLD)
        except Unfit:
            refused += 1
        finally:
            os.close(number)
    assert refused > 50


def test_another_ones_channels_are_not_taken_for_ours(file: tuple[Path, bytearray]) -> None:
    path, data = file
    start, end = summary(data)
    topic = next(topic for topic, number in NUMBERS.items() if number == RECORDS).encode()
    at = data.index(topic, start, end)
    data[at : at + 4] = b"/xxx"
    assert index_of(path, sealed(data)) is None
