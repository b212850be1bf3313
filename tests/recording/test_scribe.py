"""What is put into chunks can be read again, all of it, whatever a runtime sends."""

from pathlib import Path

from app.engine.records import Note
from app.recording import scribe as module
from app.recording.reading import Heard, Told
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from tests.recording.recorded import SECOND, info, read

REPEATED = b"x" * 250_000
"""An event whose pod has a long annotation: 256 KiB are allowed."""
EVENTS = 1_500


def test_events_that_pack_a_thousandfold_do_not_blind_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    scribe = Scribe(info(), lambda _part: Segment(path))
    for number in range(1, EVENTS + 1):
        scribe.put_event(number * SECOND, number * SECOND, REPEATED)
        scribe.put_record(
            Note(seq=number, t=number * SECOND, wall=number, level="info", text="here"),
            by_engine=False,
        )
        if number % 5 == 0:
            scribe.flush()
    scribe.turn()
    recording, items = read(path)
    assert recording.damage == []
    assert sum(isinstance(one, Told) and not one.opening for one in items) == EVENTS
    heard = sum(isinstance(one, Heard) for one in items)
    assert 50 < heard < EVENTS
    left_out = [one for one in recording.losses if one.reason == module.SWOLLEN]
    assert heard + sum(one.events for one in left_out) == EVENTS
    assert scribe.too_large == EVENTS - heard
    assert not any(one.inputs or one.records for one in left_out)


def test_a_new_file_begins_with_room_for_raw_events(tmp_path: Path) -> None:
    scribe = Scribe(info(), lambda part: Segment(tmp_path / f"{part}.mcap"))
    for number in range(1, 301):
        scribe.put_event(number * SECOND, number * SECOND, REPEATED)
        scribe.flush()
    left_out = scribe.too_large
    assert left_out > 0
    scribe.turn()
    scribe.put_event(400 * SECOND, 400 * SECOND, REPEATED)
    scribe.turn()
    assert scribe.too_large == left_out
    _, items = read(tmp_path / "2.mcap")
    assert sum(isinstance(one, Heard) for one in items) == 1


def test_ordinary_events_are_all_kept(tmp_path: Path) -> None:
    scribe = Scribe(info(), lambda _part: Segment(tmp_path / "a.mcap"))
    for number in range(1, 3001):
        scribe.put_event(number, number, b"pod %d of a node " % number * 40)
    scribe.turn()
    assert scribe.too_large == 0
    _, items = read(tmp_path / "a.mcap")
    assert sum(isinstance(one, Heard) for one in items) == 3000
