"""Several files: those of one node as one, those of several nodes on one clock."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.engine.records import Gap, Lifecycle, Note, PodGone, PodSeen, Record, RelistFinished
from app.errors import RecordingError
from app.recording.format import SessionInfo
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.replaying import joined, sources
from app.replaying.joined import BETWEEN, MISSING
from app.replaying.show import Show
from app.whatif.place import find
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


def found(t: int, seq: int, uid: str) -> Lifecycle:
    return Lifecycle(
        seq=seq, t=t, wall=t, relist=1, type="ContainerDied", uid=uid, container_id=f"{uid}-c",
        container_name="main", is_sandbox=False, old_state="running", new_state="exited",
        source="global", delivery="sent", attempt=0, request=None, event=None, stop_t=None,
        after_ns=None, since_finished_ns=None, poll_due_t=None,
    )  # fmt: skip


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


def test_a_session_within_another_is_left_out_and_said(tmp_path: Path) -> None:
    one = info(session="a" * 16, origin=1000 * S, host="n", simulated=False)
    other = msgspec.structs.replace(one, session="b" * 16, origin=1001 * S)
    paths = [
        file(tmp_path / "a.mcap", one, [relist(S, 1), relist(60 * S, 2, 2)]),
        file(tmp_path / "b.mcap", other, [relist(S, 1)]),
    ]
    show = Show(paths)
    assert len(played(show)) == 2
    (warning,) = show.films[0].warnings
    assert warning.startswith("b.mcap was recorded at the same time as a.mcap, which began before")
    assert warning.endswith("nothing of it is played here. Open it alone.")


def test_of_sessions_at_the_same_time_the_later_goes_on_where_the_first_ends(
    tmp_path: Path,
) -> None:
    """Files of both come in turns; pods that only the first had are gone when the other goes on."""
    one = info(session="a" * 16, origin=1000 * S, host="n", simulated=False)
    other = msgspec.structs.replace(one, session="b" * 16, origin=1005 * S)
    ended = found(3 * S, 3, "x")
    paths = [
        file(tmp_path / "a1.mcap", one, [seen(S, 1, "x"), seen(S, 2, "y"), relist(2 * S, 3, 6)]),
        file(
            tmp_path / "b1.mcap",
            other,
            [seen(S, 1, "x"), relist(2 * S, 2, 1), ended, seen(4 * S, 4, "z")],
        ),
        file(tmp_path / "a2.mcap", msgspec.structs.replace(one, part=2), [relist(40 * S, 4, 7)]),
        file(
            tmp_path / "b2.mcap",
            msgspec.structs.replace(other, part=2),
            [relist(30 * S, 5, 2), relist(50 * S, 6, 3), relist(60 * S, 7, 4)],
        ),
    ]
    show = Show(paths)
    records = played(show)
    times = [one.t for one in records]
    assert times == sorted(times)
    # The first session as it is, whatever came beside it.
    assert [(type(one).__name__, one.t) for one in records[:4]] == [
        ("PodSeen", 0), ("PodSeen", 0), ("RelistFinished", S), ("RelistFinished", 39 * S),
    ]  # fmt: skip
    change, *rest = records[4:]
    assert isinstance(change, Note)
    assert change.text.startswith("From here on b2.mcap is played")
    assert change.t == 54 * S
    # What the other knew by then is told again, as no news; what it did not list is gone.
    assert [one.uid for one in rest if isinstance(one, PodSeen)] == ["x", "z"]
    (told,) = [one for one in rest if isinstance(one, Lifecycle)]
    assert (told.uid, told.baseline, told.t) == ("x", True, 54 * S)
    assert [one.uid for one in rest if isinstance(one, PodGone)] == ["y"]
    # Numbers of its relists are not those of the first session.
    assert [one.relist for one in rest if isinstance(one, RelistFinished)] == [9, 10, 11]
    assert not any(isinstance(one, Gap) for one in records)
    (warning,) = show.films[0].warnings
    assert warning == (
        "b1.mcap and 1 more of its session was recorded at the same time as a2.mcap for 34 s: of "
        "that time a2.mcap is played, and b1.mcap from then on. Open it alone to see all of it."
    )


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


def test_files_that_look_alike_are_compared_to_the_last_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "SAMPLE", 16)
    monkeypatch.setattr(sources, "SAMPLES", 2)
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, uid in zip(paths, ("x", "y"), strict=True):
        told = [seen(S, 1, uid), relist(2 * S, 2)]
        path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in told))
    one, other = (sources.Source(path) for path in paths)
    assert one.digest == other.digest
    assert one.size == other.size
    assert not sources.same(one, other)
    assert sources.same(one, sources.Source(paths[0]))
    show = Show(paths)
    assert [film.warnings for film in show.films] == [[], []]
    pods = [one.uid for node in (0, 1) for one in played(show, node) if isinstance(one, PodSeen)]
    assert pods == ["x", "y"]


def test_pods_that_never_go_are_followed_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joined, "MOST_LIVE", 2)
    first = info(session="a" * 16, origin=1000 * S, host="n", simulated=False)
    second = info(session="b" * 16, origin=1100 * S, host="n", simulated=False)
    uids = ["old", "again", "u" * 257, "new", "again"]
    pods: list[Record] = [seen((1 + at) * S, 1 + at, uid) for at, uid in enumerate(uids)]
    paths = [
        file(tmp_path / "1.mcap", first, pods),
        file(tmp_path / "2.mcap", second, [relist(S, 1)]),
    ]
    gone = [one.uid for one in played(Show(paths)) if isinstance(one, PodGone)]
    assert gone == ["again", "new"]


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
    show = Show([file(tmp_path / "a.mcap", told, list(records))])
    assert [one.t for one in played(show)] == [0, S]
    assert show.films[0].warnings == ["a.mcap: without 1\xa0record, whose time can be none."]


@pytest.mark.parametrize("origin", [5 * S, 2**62])
def test_a_node_whose_clock_is_years_off_does_not_take_the_others_place(
    tmp_path: Path, origin: int
) -> None:
    one = info(session="a" * 16, origin=1_800_000_000 * S, host="n", simulated=False)
    paths = [
        file(tmp_path / "a.mcap", one, [relist(S, 1)]),
        file(tmp_path / "b.mcap", msgspec.structs.replace(one, host="m"), [relist(3 * S, 1)]),
        file(
            tmp_path / "off.mcap",
            msgspec.structs.replace(one, session="b" * 16, host="off", origin=origin),
            [relist(S, 1)],
        ),
    ]
    show = Show(paths)
    assert [node.name for node in show.nodes] == ["n", "m"]
    assert [played(show, node)[0].t for node in (0, 1)] == [0, 2 * S]
    (warning,) = show.films[0].warnings
    assert warning.startswith("off.mcap is left out: by its clock it was recorded years before")
    assert len(played(Show(paths[2:]))) == 1
    # Only two: the newer one.
    assert [node.name for node in Show(paths[1:]).nodes] == ["m" if origin == 5 * S else "off"]
    # Elsewhere nodes are numbered likewise.
    assert [name for _, name in find(paths, 1).nodes] == ["n", "m"]
