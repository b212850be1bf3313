"""The list of recordings: what is in reach, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from app.errors import RecordingUnknown
from app.hub.encode import encode
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.replaying import listing
from app.replaying.listing import Listing
from app.replaying.show import Show
from tests.build import note
from tests.recording.recorded import info, record_scenario

S = 1_000_000_000
NAME = "20260101T0000{:02}Z-{}-{}-{:06}.mcap"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("one") / "a.mcap"
    record_scenario(path, "churn", seconds=10)
    return path.read_bytes()


def flight(folder: Path, recorded: bytes, *names: tuple[str, str, int]) -> list[str]:
    written = []
    for place, (command, session, part) in enumerate(names):
        path = folder / NAME.format(part, command, session, part)
        path.write_bytes(recorded)
        os.utime(path, ns=(0, place * S))
        written.append(path.name)
    return written


def test_a_row_says_what_of_whom_and_from_when_to_when(tmp_path: Path, recorded: bytes) -> None:
    (tmp_path / "a.mcap").write_bytes(recorded)
    (row,) = Listing(tmp_path, ()).told({}).recordings
    assert (row.name, row.size, row.trouble, row.incidents) == ("a.mcap", len(recorded), "", None)
    assert row.began == 1_800_000_000 * S
    assert row.ended is not None
    assert 9 * S <= row.ended - row.began <= 11 * S
    assert (row.node, row.group) == (row.title, "")
    (row,) = Listing(tmp_path, ()).told({"a.mcap": 3}).recordings
    assert row.incidents == 3


def test_a_file_without_an_end_lasts_until_it_was_written_last(
    tmp_path: Path, recorded: bytes
) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(recorded[:-100])
    os.utime(path, ns=(0, 77 * S))
    (row,) = Listing(tmp_path, ()).told({}).recordings
    assert row.ended == 77 * S


def test_the_newest_come_first_and_what_is_none_says_so(tmp_path: Path, recorded: bytes) -> None:
    names = flight(tmp_path, recorded, ("demo", "a" * 8, 1), ("watch", "b" * 8, 1))
    (tmp_path / "bad.mcap").write_bytes(b"no")
    os.utime(tmp_path / "bad.mcap", ns=(0, 99 * S))
    (tmp_path / "note.txt").write_text("no recording")
    (tmp_path / "folder.mcap").mkdir()
    (tmp_path / "link.mcap").symlink_to(tmp_path / names[0])
    rows = Listing(tmp_path, ()).told({}).recordings
    assert [row.name for row in rows] == [*reversed(names), "bad.mcap"]
    assert "is no MCAP file" in rows[-1].trouble


def test_the_newest_is_the_one_that_began_last(tmp_path: Path, recorded: bytes) -> None:
    (new,) = flight(tmp_path, recorded, ("demo", "a" * 8, 1))
    (tmp_path / "old.jsonl").write_bytes(encode(msgspec.structs.replace(note(), seq=1)) + b"\n")
    rows = Listing(tmp_path, ()).told({}).recordings
    assert [row.name for row in rows] == [new, "old.jsonl"]


def test_a_demo_does_not_show_what_was_watched(tmp_path: Path, recorded: bytes) -> None:
    demo, watch = flight(tmp_path, recorded, ("demo", "a" * 8, 1), ("watch", "b" * 8, 1))
    seen = Listing(tmp_path, (), "demo")
    assert [row.name for row in seen.told({}).recordings] == [demo]
    with pytest.raises(RecordingUnknown):
        seen.paths([watch])


def test_only_names_of_what_is_there_lead_anywhere(tmp_path: Path, recorded: bytes) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "out.mcap").write_bytes(recorded)
    (inside / "a.mcap").write_bytes(recorded)
    seen = Listing(inside, ())
    assert seen.paths(["a.mcap"]) == [inside / "a.mcap"]
    for name in ("out.mcap", "../out.mcap", str(tmp_path / "out.mcap"), "", ".", "*"):
        with pytest.raises(RecordingUnknown, match="not in reach"):
            seen.paths([name])
    with pytest.raises(RecordingUnknown, match="No recording was named"):
        seen.paths([])


def test_a_name_that_is_no_text_can_be_shown_and_followed(tmp_path: Path, recorded: bytes) -> None:
    path = tmp_path / os.fsdecode(b"\xff\xfe.mcap")
    path.write_bytes(recorded)
    listing = Listing(tmp_path, ())
    (row,) = listing.told({}).recordings
    assert row.name.encode() == rb"\xff\xfe.mcap"
    assert listing.paths([row.name]) == [path]
    assert listing.find(row.name) == path
    show = Show([path])
    assert (show.name, show.nodes[0].files) == (row.name, (row.name,))


def test_a_title_that_never_ends_is_cut(tmp_path: Path) -> None:
    scribe = Scribe(info(title="t" * 70_000), lambda part: Segment(tmp_path / f"{part}.mcap"))
    scribe.put_record(note(), by_engine=False)
    scribe.turn()
    (row,) = Listing(tmp_path, ()).told({}).recordings
    assert (row.title, row.node) == ("t" * 1000, "t" * 1000)


def test_the_parts_of_a_session_have_a_name_together(tmp_path: Path, recorded: bytes) -> None:
    names = flight(
        tmp_path, recorded, ("watch", "a" * 8, 1), ("watch", "a" * 8, 2), ("watch", "b" * 8, 1)
    )
    found = Listing(tmp_path, ()).paths([f"watch-{'a' * 8}"])
    assert [path.name for path in found] == names[:2]
    assert {row.group for row in Listing(tmp_path, ()).told({}).recordings} == {
        f"watch-{'a' * 8}", f"watch-{'b' * 8}",
    }  # fmt: skip


def test_what_was_given_is_in_reach_wherever_it_is(tmp_path: Path, recorded: bytes) -> None:
    (tmp_path / "a.mcap").write_bytes(recorded)
    seen = Listing(None, [tmp_path / "a.mcap"])
    assert seen.paths([]) == seen.paths(["a.mcap"]) == [tmp_path / "a.mcap"]
    assert [row.name for row in seen.told({}).recordings] == ["a.mcap"]


def test_no_directory_is_an_empty_list(tmp_path: Path) -> None:
    assert Listing(tmp_path / "none", ()).told({}).recordings == ()


def test_incidents_are_counted_one_file_at_a_time(tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", "storm", seconds=40)
    (tmp_path / "bad.mcap").write_bytes(b"no")
    seen = Listing(tmp_path, ())
    assert not seen.count_next(lambda: True)
    assert {row.incidents for row in seen.told({}).recordings} == {None}
    assert seen.count_next(lambda: False)
    assert seen.count_next(lambda: False)
    assert not seen.count_next(lambda: False)
    rows = {row.name: row.incidents for row in seen.told({}).recordings}
    show = Show([tmp_path / "a.mcap"])
    while show.films[0].advance():
        pass
    assert rows == {"a.mcap": show.films[0].incidents, "bad.mcap": 0}
    assert show.films[0].incidents > 0


def test_the_list_is_bounded(
    tmp_path: Path, recorded: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_LISTED", 2)
    names = flight(tmp_path, recorded, *(("demo", "a" * 8, part) for part in range(1, 5)))
    told = Listing(tmp_path, ()).told({})
    assert ([row.name for row in told.recordings], told.more) == ([names[3], names[2]], 2)
