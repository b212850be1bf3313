"""Several files: those of one node as one, those of several nodes on one clock."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.engine.records import Gap, Lifecycle, PodGone, PodSeen, Record, RelistFinished
from app.errors import RecordingError
from app.recording.format import SessionInfo
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.replaying.joined import BETWEEN, MISSING
from app.replaying.show import Show
from tests.recording.recorded import info, record_scenario

S = 1_000_000_000


def file(path: Path, told: SessionInfo, records: list[Record]) -> Path:
    scribe = Scribe(told, lambda _part: Segment(path))
    for record in records:
        scribe.put_record(record, by_engine=True)
    scribe.turn()
    return path


def relist(t: int, seq: int, number: int = 1) -> RelistFinished:
    return RelistFinished(
        seq=seq, t=t, wall=t, relist=number, scope="global", source="global", started=t - 5,
        duration_ns=5, ok=True,
    )  # fmt: skip


def seen(t: int, seq: int, uid: str) -> PodSeen:
    return PodSeen(seq=seq, t=t, wall=t, uid=uid, name=uid, namespace="shop")


def played(show: Show, node: int = 0) -> list[Record]:
    records: list[Record] = []
    while more := show.films[node].advance():
        records += more
    return records


def parts(tmp_path: Path, *, gap: bool = False) -> list[Path]:
    one = info(session="a" * 16, origin=1000 * S, part=1, host="n", simulated=False)
    other = msgspec.structs.replace(one, part=3 if gap else 2)
    first: list[Record] = [seen(S, 1, "x"), relist(2 * S, 2)]
    second: list[Record] = [relist(9 * S, 7 if gap else 3, 4), relist(10 * S, 8 if gap else 4, 5)]
    return [
        file(tmp_path / "2.mcap", other, second),
        file(tmp_path / "1.mcap", one, first),
    ]


def test_parts_of_a_session_follow_one_another_whatever_their_names(tmp_path: Path) -> None:
    records = played(Show(parts(tmp_path)))
    assert [(one.seq, one.t) for one in records] == [(1, 0), (2, S), (3, 8 * S), (4, 9 * S)]
    assert [one.relist for one in records if isinstance(one, RelistFinished)] == [1, 4, 5]
    assert next(one.started for one in records if isinstance(one, RelistFinished)) == S - 5


def test_a_part_that_is_missing_is_a_gap(tmp_path: Path) -> None:
    records = played(Show(parts(tmp_path, gap=True)))
    gap = records[2]
    assert isinstance(gap, Gap)
    assert (gap.from_t, gap.t, gap.count, gap.reason) == (S, 8 * S, 4, MISSING)


def test_another_session_goes_on_behind_the_first_on_the_wall_clock(tmp_path: Path) -> None:
    one = info(session="a" * 16, origin=1000 * S, host="n", simulated=False)
    other = msgspec.structs.replace(one, session="b" * 16, origin=1060 * S)
    paths = [
        file(tmp_path / "a.mcap", one, [seen(S, 1, "x"), seen(S, 2, "y"), relist(2 * S, 3, 6)]),
        file(tmp_path / "b.mcap", other, [seen(S, 1, "y"), relist(3 * S, 2, 1)]),
    ]
    show = Show(paths)
    records = played(show)
    gap = records[3]
    assert isinstance(gap, Gap)
    assert (gap.from_t, gap.t, gap.reason) == (S, 60 * S, BETWEEN)
    assert [one.relist for one in records if isinstance(one, RelistFinished)] == [6, 7]
    gone = records[-1]
    # What the later session does not list is gone by the end of its first relist.
    assert isinstance(gone, PodGone)
    assert (gone.uid, gone.t) == ("x", 62 * S)
    assert [one.seq for one in records] == list(range(1, len(records) + 1))
    told = show.films[0].told(0, 0, show.nodes)
    assert [(one.from_t, one.to_t, one.gap) for one in told.idle] == [(S, 60 * S, True)]


def test_sessions_at_the_same_time_cannot_be_one(tmp_path: Path) -> None:
    one = info(session="a" * 16, origin=1000 * S, host="n", simulated=False)
    other = msgspec.structs.replace(one, session="b" * 16, origin=1001 * S)
    paths = [
        file(tmp_path / "a.mcap", one, [relist(S, 1), relist(60 * S, 2, 2)]),
        file(tmp_path / "b.mcap", other, [relist(S, 1)]),
    ]
    show = Show(paths)
    assert len(played(show)) == 2
    (warning,) = show.films[0].warnings
    assert warning.startswith("b.mcap is left out: it was recorded at the same time as another")


def test_nodes_share_a_clock(tmp_path: Path) -> None:
    one = info(session="a" * 16, origin=1000 * S, host="n", simulated=False)
    other = msgspec.structs.replace(one, session="b" * 16, origin=1030 * S, host="m")
    paths = [
        file(tmp_path / "m.mcap", other, [relist(S, 1)]),
        file(tmp_path / "n.mcap", one, [relist(S, 1)]),
    ]
    show = Show(paths)
    assert [node.name for node in show.nodes] == ["n", "m"]
    assert [node.files for node in show.nodes] == [("n.mcap",), ("m.mcap",)]
    assert played(show, 0)[0].t == 0
    assert played(show, 1)[0].t == 30 * S
    assert show.films[0].origin == show.films[1].origin == 1001 * S


def test_a_file_that_is_given_twice_is_played_once(tmp_path: Path) -> None:
    records = record_scenario(tmp_path / "a.mcap", "churn", seconds=10)
    (tmp_path / "b.mcap").write_bytes((tmp_path / "a.mcap").read_bytes())
    show = Show([tmp_path / "a.mcap", tmp_path / "b.mcap"])
    assert len(played(show)) == len(records)
    assert show.films[0].warnings == ["b.mcap is the same file as another, and left out."]


def test_what_cannot_be_read_does_not_hide_the_rest(tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", "churn", seconds=10)
    (tmp_path / "bad.mcap").write_bytes(b"nothing at all")
    show = Show([tmp_path / "bad.mcap", tmp_path / "a.mcap"])
    assert any(isinstance(one, Lifecycle) for one in played(show))
    (warning,) = show.films[0].warnings
    assert "is no MCAP file" in warning
    with pytest.raises(RecordingError, match="is no MCAP file"):
        Show([tmp_path / "bad.mcap"])
    with pytest.raises(RecordingError, match="No file was given"):
        Show([])


def test_times_that_are_none_are_left_out(tmp_path: Path) -> None:
    told = info(session="a" * 16, origin=1000 * S, host="n")
    records = [relist(S, 1), relist(2**60, 2), relist(2 * S, 3)]
    assert [one.t for one in played(Show([file(tmp_path / "a.mcap", told, list(records))]))] == [
        0, S,
    ]  # fmt: skip
