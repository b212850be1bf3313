"""Journals as JSON lines: what is no record is left out and counted."""

import io

import msgspec

from app.engine.records import Gap, Note
from app.recording import lines as module
from app.recording.format import Loss
from app.recording.lines import Lines, gap_of

NOTE = Note(seq=1, t=1, wall=1, level="info", text="here")
LINE = msgspec.json.encode(NOTE) + b"\n"


def test_what_is_no_record_is_left_out_and_counted() -> None:
    endless = LINE.replace(b'"seq":1', b'"seq":%d' % 2**64)
    raw = LINE + b"\n" + b"nonsense\n" + b"[" * 5000 + b"\n" + endless
    raw += LINE + module.SUMMARY + b"}\n"
    lines = Lines(io.BytesIO(raw))
    assert list(lines.records()) == [NOTE, NOTE]
    assert (lines.unreadable, lines.line) == (3, 3)


def test_it_ends_when_nobody_wants_it_any_more() -> None:
    wanted = iter([True, True, True, False])
    lines = Lines(io.BytesIO(LINE * 10), lambda: not next(wanted))
    assert list(lines.records()) == [NOTE] * 3


def test_a_loss_is_a_gap_of_the_journal() -> None:
    loss = Loss(t=9, wall=19, from_t=4, records=7, inputs=3, reason="the disk was full")
    assert gap_of(loss) == Gap(
        t=9,
        wall=19,
        hop="journal",
        count=7,
        from_t=4,
        reason="The recorder could not keep them: the disk was full.",
    )
