"""Whatever becomes of a file, everything that is not damaged is read, and the damage is named."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from app.engine.records import Note
from app.recording import format as words
from app.recording import mcapwrite as mcap
from app.recording.mcapread import Block, McapReader, NotMcap
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from tests.recording.recorded import SECOND, info, told
from tests.recording.recorded import read as open_and_read

CHUNKS = 6


class Whole(NamedTuple):
    """A recording: its bytes with and without an end, and what stands where."""

    finished: bytes
    cut: bytes
    """Without an end, as after kill -9."""
    blocks: list[Block]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    path = tmp_path_factory.mktemp("damage") / "a.mcap"
    scribe = Scribe(info(), lambda _part: Segment(path))
    with pytest.MonkeyPatch.context() as patch:
        # The schemas are most of a small file, and of no account to its reader.
        patch.setattr(words, "schema_records", lambda: mcap.schema(1, "a", "jsonschema", b"{}"))
        for number in range(1, CHUNKS + 1):
            text = f"no {number}"
            note = Note(seq=number, t=number * SECOND, wall=number, level="info", text=text)
            scribe.put_record(note, by_engine=False)
            scribe.flush()
        cut = path.read_bytes()
        scribe.turn()
    finished = path.read_bytes()
    assert len(finished) < 6000
    reader, blocks = read(finished)
    assert (reader.damaged, reader.finished) == (0, True)
    return Whole(finished, cut, blocks)


def read(raw: bytes) -> tuple[McapReader, list[Block]]:
    reader = McapReader(io.BytesIO(raw), len(raw))
    return reader, list(reader.blocks())


def contents(blocks: list[Block]) -> list[object]:
    return [(block.channels, block.messages) for block in blocks]


def ends(whole: Whole) -> list[int]:
    """Where each chunk ends."""
    return [*(block.offset for block in whole.blocks[1:]), len(whole.cut)]


def packed_ends(whole: Whole) -> list[int]:
    """Where each chunk's content ends; its index follows."""
    lengths = [
        9 + int.from_bytes(whole.cut[block.offset + 1 : block.offset + 9], "little")
        for block in whole.blocks
    ]
    return [block.offset + n for block, n in zip(whole.blocks, lengths, strict=True)]


def test_cut_off_anywhere_all_whole_chunks_are_read(whole: Whole) -> None:
    for size in range(len(whole.finished)):
        raw = whole.finished[:size]
        intact = sum(end <= size for end in packed_ends(whole))
        try:
            reader, blocks = read(raw)
        except NotMcap:
            assert size < 8
            continue
        assert contents(blocks) == contents(whole.blocks)[:intact], size
        if size in (*ends(whole), *packed_ends(whole)) or size == whole.blocks[0].offset:
            # Cut between two chunks, nothing tells that more was to come, but that there is no end.
            assert (reader.damaged, reader.finished) == (0, False), size
        elif size < len(whole.cut):
            (damage,) = reader.damage
            in_index = intact > 0 and size < ends(whole)[intact - 1]
            assert damage.lost != in_index
            assert damage.chunk == intact + 1
            assert damage.offset + damage.length == size
        else:
            assert not reader.lost, size
            assert reader.damaged == 1


def flips(raw: bytes, seed: int) -> Iterator[tuple[int, bytes]]:
    rng = random.Random(seed)
    for at in range(len(raw)):
        changed = bytearray(raw)
        changed[at] ^= rng.randrange(1, 256)
        yield at, bytes(changed)


def check(at: int, raw: bytes, whole: Whole, *, tells_all: bool) -> None:
    """One byte is another: at most the chunk that it is in is lost, and that is told."""
    reader, blocks = read(raw)
    right = contents(whole.blocks)
    got = contents(blocks)
    if got != right:
        hit = next(n for n, end in enumerate(ends(whole)) if at < end)
        assert got == right[:hit] + right[hit + 1 :], at
        (damage,) = reader.damage
        assert damage.lost
        assert damage.offset <= at < damage.offset + damage.length
        assert damage.chunk == hit + 1
    else:
        assert not reader.lost, (at, reader.damage)
        assert reader.damaged or not tells_all, at


def test_any_flipped_byte_of_a_file_without_an_end(whole: Whole) -> None:
    for at, raw in flips(whole.cut, 1):
        check(at, raw, whole, tells_all=False)


def test_any_flipped_byte_of_a_finished_file_is_told(whole: Whole) -> None:
    for at, raw in flips(whole.finished, 2):
        check(at, raw, whole, tells_all=True)


@pytest.mark.parametrize("value", range(16))
def test_no_opcode_is_taken_for_another(whole: Whole, value: int) -> None:
    kinds = [block.offset for block in whole.blocks] + packed_ends(whole) + [len(whole.cut)]
    for at in kinds:
        changed = bytearray(whole.finished)
        if changed[at] != value:
            changed[at] = value
            check(at, bytes(changed), whole, tells_all=True)


@pytest.mark.parametrize("bit", range(8))
def test_each_bit_of_what_is_not_content(whole: Whole, bit: int) -> None:
    heads = [at for block in whole.blocks for at in range(block.offset, block.offset + 60)]
    tail = range(len(whole.finished) - 60, len(whole.finished))
    for at in [*range(60), *heads, *tail]:
        changed = bytearray(whole.finished)
        changed[at] ^= 1 << bit
        check(at, bytes(changed), whole, tells_all=True)


def test_heads_are_read_though_damaged(whole: Whole) -> None:
    """Opcode, length, times, sizes, checksum and name of a chunk stand twice or can be proved."""
    place = whole.blocks[3].offset
    for at in range(place, place + 53):
        changed = bytearray(whole.cut)
        changed[at] ^= 0x55
        reader, blocks = read(bytes(changed))
        assert contents(blocks) == contents(whole.blocks), at - place
        assert not reader.lost


def test_many_damages_are_counted_and_the_first_are_told(whole: Whole) -> None:
    body = whole.cut[whole.blocks[-1].offset :]
    broken = bytearray(body)
    broken[60] ^= 1
    raw = whole.cut + (bytes(broken) + body) * 300
    reader, blocks = read(raw)
    known = len(whole.blocks)
    assert len(blocks) == known + 300
    assert reader.damaged == 300
    assert len(reader.damage) == 100
    assert reader.damage[0].sentence().startswith(f"At byte {len(whole.cut):,}, chunk {known + 1} ")


@pytest.mark.parametrize("seed", range(300))
def test_mutated_files_are_read_as_far_as_they_go(whole: Whole, seed: int) -> None:
    rng = random.Random(seed)
    raw = bytearray(whole.finished if seed % 2 else whole.cut)
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(len(raw))
        match rng.randrange(4):
            case 0:
                raw[at] = rng.randrange(256)
            case 1:
                del raw[at : at + rng.randrange(1, 400)]
            case 2:
                raw[at:at] = rng.randbytes(rng.randrange(1, 400))
            case _:
                other = rng.randrange(len(raw))
                raw[at:at] = raw[other : other + rng.randrange(1, 400)]
    known = [message for block in whole.blocks for message in block.messages]
    try:
        reader, blocks = read(bytes(raw))
    except NotMcap:
        return
    found = [message for block in blocks for message in block.messages]
    assert all(message in known for message in found)
    assert reader.lost or reader.damaged or len(found) >= len(known) or not reader.finished


@pytest.mark.parametrize("at", [*range(0, 60, 3), 70, 200])
def test_a_damaged_beginning_is_no_reason_to_refuse(at: int, whole: Whole, tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    raw = bytearray(whole.cut)
    raw[at] ^= 0x11
    path.write_bytes(raw)
    recording, items = open_and_read(path)
    assert len(told(items)) == CHUNKS
    assert recording.info is not None or recording.damage[0].lost


def test_without_its_first_chunk_all_else_is_read(whole: Whole, tmp_path: Path) -> None:
    """Channels have fixed numbers, and the session is told again with the first input."""
    first, second = whole.blocks[:2]
    path = tmp_path / "a.mcap"
    path.write_bytes(whole.cut[: first.offset] + whole.cut[second.offset :])
    recording, items = open_and_read(path)
    assert len(told(items)) == CHUNKS
    assert recording.info is None
