"""Messages are taken apart as protobuf's own library does, and refused where they are none."""

from __future__ import annotations

import random
from typing import Any

import pytest
from google.protobuf.message import DecodeError

from app.cri.pb import cri_pb2 as pb
from app.recording import protowire
from app.recording.protowire import Malformed, as_row, split_fields, split_rows
from tests.cri.captures import RUNTIMES, answers


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_lists_of_real_runtimes_have_the_rows_that_protobuf_finds(runtime: str) -> None:
    kinds: dict[str, tuple[Any, Any, str]] = {
        "ListPodSandbox": (pb.ListPodSandboxResponse, pb.PodSandbox, "items"),
        "ListContainers": (pb.ListContainersResponse, pb.Container, "containers"),
    }
    for answer in answers(runtime, "lifecycle"):
        if answer.method not in kinds:
            continue
        kind, row_kind, field = kinds[answer.method]
        right = list(getattr(kind.FromString(answer.raw), field))
        found = split_rows(answer.raw)
        assert [row_id.decode() for row_id in found] == [row.id for row in right]
        for row, one in zip(found.values(), right, strict=True):
            assert row_kind.FromString(row) == one
            assert b"".join(split_fields(row)) == row
        assert b"".join(map(as_row, found.values())) == answer.raw


def test_all_kinds_of_fields() -> None:
    fields = [
        b"\x08\x96\x01",
        b"\x11" + bytes(8),
        b"\x1a\x03abc",
        b"\x25" + bytes(4),
        b"\x82\x01\x81\x01" + bytes(129),
        b"\x80\x7d\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ]
    assert split_fields(b"".join(fields)) == fields


@pytest.mark.parametrize(
    "raw", [b"\x08", b"\x08\x80", b"\x11abc", b"\x1a\x05abc", b"\x0b", b"\x1a", b"\xff" * 12]
)
def test_what_ends_too_early_or_is_of_no_kind_is_refused(raw: bytes) -> None:
    with pytest.raises(Malformed):
        split_fields(raw)


def test_whatever_is_taken_apart_protobuf_reads_too() -> None:
    rng = random.Random(4)
    whole = pb.Container(
        id="c1", labels={"a": "b", "c": "d"}, created_at=1 << 60
    ).SerializeToString()
    taken = 0
    for _ in range(3000):
        raw = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        try:
            fields = split_fields(bytes(raw))
        except Malformed:
            continue
        taken += 1
        assert b"".join(fields) == raw
        try:
            pb.Container.FromString(bytes(raw))
        except DecodeError:
            # It looks into what is in a field as well.
            continue
    assert taken > 500


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protowire, "MOST_ROWS", 3)
    raw = pb.ListContainersResponse(
        containers=[pb.Container(id=f"c{number}") for number in range(4)]
    ).SerializeToString()
    with pytest.raises(Malformed, match="too many"):
        split_rows(raw)


def test_an_id_that_does_not_come_first_is_found() -> None:
    row = b"\x30\x01" + b"\x0a\x02c1"
    assert split_rows(as_row(row)) == {b"c1": row}
