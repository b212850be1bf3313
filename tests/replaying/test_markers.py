"""Markers: saved beside the recording for its owner alone, never over somebody else's file."""

from __future__ import annotations

import json
import stat
import tempfile
from pathlib import Path

import pytest

from app.errors import RecordingError
from app.replaying import markers
from app.replaying.markers import MarkerFile

S = 1_000_000_000
ORIGIN = 1_800_000_000 * S


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return tmp_path / "a.mcap"


def saved(recording: Path) -> Path:
    return recording.with_name("a.mcap.markers.json")


def test_a_marker_is_there_again_and_nobody_else_can_read_it(recording: Path) -> None:
    MarkerFile(recording, ORIGIN).add(65 * S, " the runtime was restarted ")
    told = MarkerFile(recording, ORIGIN).told()
    assert [(one.t, one.note) for one in told.markers] == [(65 * S, "the runtime was restarted")]
    assert told.trouble == ""
    assert stat.S_IMODE(saved(recording).stat().st_mode) == 0o600
    assert list(recording.parent.iterdir()) == [saved(recording)]


def test_they_stay_right_whatever_is_played_beside(recording: Path) -> None:
    MarkerFile(recording, ORIGIN).add(65 * S, "here")
    (marker,) = MarkerFile(recording, ORIGIN - 10 * S).told().markers
    assert marker.t == 75 * S


def test_they_are_told_in_order_of_time_and_taken_away_by_number(recording: Path) -> None:
    file = MarkerFile(recording, ORIGIN)
    for t, note in ((9, "c"), (1, "a"), (5, "b")):
        told = file.add(t, note)
    assert [one.note for one in told.markers] == ["a", "b", "c"]
    told = file.remove(told.markers[1].number)
    assert [one.note for one in told.markers] == ["a", "c"]
    assert [one.note for one in MarkerFile(recording, ORIGIN).told().markers] == ["a", "c"]
    with pytest.raises(RecordingError, match="gone already"):
        file.remove(99)


def test_a_note_steers_no_terminal_and_no_direction(recording: Path) -> None:
    evil = "a\u202eb\x1b[31m\r\n c\td\u2066 \U0001f468\u200d\U0001f469"
    clean = "a\ufffdb\ufffd[31m c d\ufffd \U0001f468\u200d\U0001f469"
    (marker,) = MarkerFile(recording, ORIGIN).add(S, evil).markers
    assert marker.note == clean
    assert json.loads(saved(recording).read_text())["markers"][0]["note"] == clean
    # Somebody else may have written the file.
    written = {"plegscope_markers": 1, "markers": [{"wall": ORIGIN, "note": evil}]}
    saved(recording).write_text(json.dumps(written))
    assert [one.note for one in MarkerFile(recording, ORIGIN).told().markers] == [clean]


@pytest.mark.parametrize(
    ("t", "note", "why"),
    [(1, "", "needs a note"), (1, "  ", "needs a note"), (1, "x" * 501, "needs a note"),
     (-1, "x", "not in a recording"), (2**62, "x", "not in a recording")],
)  # fmt: skip
def test_what_cannot_be_is_refused(recording: Path, t: int, note: str, why: str) -> None:
    with pytest.raises(RecordingError, match=why):
        MarkerFile(recording, ORIGIN).add(t, note)
    assert not saved(recording).exists()


def test_there_are_not_more_and_more(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markers, "MOST", 2)
    file = MarkerFile(recording, ORIGIN)
    file.add(1, "a")
    file.add(2, "b")
    with pytest.raises(RecordingError, match="Remove some first"):
        file.add(3, "c")


def test_where_nothing_can_be_written_it_is_said_so(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object) -> tuple[int, str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    file = MarkerFile(recording, ORIGIN)
    told = file.add(1, "a")
    assert [one.note for one in told.markers] == ["a"]
    assert "cannot be saved beside the recording (Permission denied)" in told.trouble
    monkeypatch.undo()
    assert file.add(2, "b").trouble == ""


@pytest.mark.parametrize(
    "foreign", [b"", b"{", b"[]", b'{"markers": 1}', b"\xff\xfe", b'{"a":' * 5000]
)
def test_a_file_that_is_none_of_ours_is_left_alone(recording: Path, foreign: bytes) -> None:
    saved(recording).write_bytes(foreign)
    file = MarkerFile(recording, ORIGIN)
    told = file.add(1, "a")
    assert "is left as it is" in told.trouble
    assert [one.note for one in told.markers] == ["a"]
    assert saved(recording).read_bytes() == foreign


def test_a_link_in_its_place_is_not_followed(recording: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(json.dumps({"markers": [{"wall": ORIGIN, "note": "secret"}]}))
    saved(recording).symlink_to(secret)
    told = MarkerFile(recording, ORIGIN).told()
    assert told.markers == ()
    assert "cannot be read" in told.trouble


def test_of_a_strange_file_only_what_fits_is_taken(recording: Path) -> None:
    given = [
        {"wall": ORIGIN + 1, "note": "good"}, {"wall": 2**62, "note": "never"},
        {"wall": ORIGIN, "note": ""}, {"wall": ORIGIN, "note": "x" * 501},
    ]  # fmt: skip
    saved(recording).write_text(json.dumps({"markers": given}))
    assert [one.note for one in MarkerFile(recording, ORIGIN).told().markers] == ["good"]
