"""JSON lines: complete for a good reader, bounded and counted for a slow one."""

import io
import json
import os
import threading
from pathlib import Path

import pytest

from app import jsonl
from app.engine.records import Note, Record
from app.jsonl import JsonlWriter


def note(number: int, text: str = "") -> Record:
    text = text or f"line {number}"
    return Note(seq=number, t=number, wall=number, level="info", text=text)


class Gate(io.BytesIO):
    """A stream whose writes wait until somebody reads."""

    def __init__(self) -> None:
        super().__init__()
        self.open = threading.Event()
        self.waiting = threading.Event()

    def write(self, data: object, /) -> int:
        self.waiting.set()
        self.open.wait(60)
        return super().write(data)  # type: ignore[arg-type]  # bytes, as BytesIO takes


def test_every_record_is_one_line_of_json() -> None:
    out = io.BytesIO()
    writer = JsonlWriter(out, lambda _reason: None)
    for number in range(1, 101):
        writer.on_record(note(number))
    writer.close()
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, 101))
    assert {line["kind"] for line in lines} == {"note"}


def test_a_slow_reader_loses_the_oldest_lines_and_is_told_how_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jsonl, "KEPT", 10)
    out = Gate()
    writer = JsonlWriter(out, lambda _reason: None)
    writer.on_record(note(1))
    assert out.waiting.wait(60)
    for number in range(2, 32):
        writer.on_record(note(number))
    out.open.set()
    # The queue has been taken by now or will be; the next record tells of the loss.
    while writer.waiting():
        pass
    writer.on_record(note(32))
    writer.close()
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    gaps = [line for line in lines if line["kind"] == "gap"]
    seen = [line["seq"] for line in lines if line["kind"] == "note"]
    assert [gap["count"] for gap in gaps] == [20]
    assert seen == [1, *range(22, 33)]


def test_heavy_lines_wait_in_smaller_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "KEPT_BYTES", 5000)
    out = Gate()
    writer = JsonlWriter(out, lambda _reason: None)
    writer.on_record(note(1))
    assert out.waiting.wait(60)
    for number in range(2, 12):
        writer.on_record(note(number, "x" * 1000))
    assert writer.waiting() == 4
    writer.on_record(note(12, "x" * 9000))
    assert writer.waiting() == 1
    out.open.set()
    while writer.waiting():
        pass
    writer.on_record(note(13))
    writer.close()
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["seq"] for line in lines if line["kind"] == "note"] == [1, 12, 13]
    assert [line["count"] for line in lines if line["kind"] == "gap"] == [10]


def test_a_reader_that_has_gone_is_reported_and_nothing_raises() -> None:
    read, write = os.pipe()
    os.close(read)
    gone = threading.Event()
    reasons: list[str] = []

    def closed(reason: str) -> None:
        reasons.append(reason)
        gone.set()

    with os.fdopen(write, "wb", buffering=0) as out:
        writer = JsonlWriter(out, closed)
        writer.on_record(note(1))
        assert gone.wait(60)
        writer.on_record(note(2))
        writer.close()
    assert reasons == [""]


def test_a_full_disk_is_reported_with_its_reason() -> None:
    full = threading.Event()
    reasons: list[str] = []

    def closed(reason: str) -> None:
        reasons.append(reason)
        full.set()

    with Path("/dev/full").open("wb", buffering=0) as out:
        writer = JsonlWriter(out, closed)
        writer.on_record(note(1))
        assert full.wait(60)
        writer.close()
    assert reasons == ["No space left on device"]


def test_a_text_cannot_command_the_terminal_and_reads_back_as_it_was() -> None:
    text = "h\u00f6st \u009b31m \u202eevil \x1b]0;mine\x07 \u2028"
    out = io.BytesIO()
    writer = JsonlWriter(out, lambda _reason: None)
    writer.on_record(note(1, text=text))
    writer.close()
    (line,) = out.getvalue().decode().splitlines()
    assert json.loads(line)["text"] == text
    assert line.isprintable()
    assert "h\u00f6st" in line
