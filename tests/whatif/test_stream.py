"""Recorded events as they came, made worse, or taken to have come."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from app.engine.inputs import StreamEnded, StreamLive, StreamOpened
from app.engine.records import ContainerEventSeen, Record, StreamChanged
from app.whatif.options import Options
from app.whatif.play import Play, Played
from app.whatif.reading import gather
from app.whatif.timeline import Timeline
from tests.whatif.built import MS, SECOND, Built, event, one_life, row, sandbox
from tests.whatif.played import play


def replay(path: Path, **options: object) -> tuple[Played, list[Record]]:
    """Play a recording again; returns what it came to and all records."""
    told: list[Record] = []
    evidence = gather([path])
    asked = Options(**options)  # type: ignore[arg-type]
    return Play(evidence, Timeline(evidence), asked, told.append).run(), told


def events(told: list[Record]) -> list[tuple[int, str]]:
    """(time in ms, type) of the events received."""
    return [(one.t // MS, one.type) for one in told if isinstance(one, ContainerEventSeen)]


def states(told: list[Record]) -> list[tuple[int, str]]:
    """(time in ms, state) of the stream."""
    return [(one.t // MS, one.state) for one in told if isinstance(one, StreamChanged)]


def test_events_come_when_the_recording_had_them(tmp_path: Path) -> None:
    run, told = replay(one_life(tmp_path / "a.mcap"), period_ns=2 * SECOND)
    assert events(told) == [(4551, "stopped")]
    assert (run.delivered, run.assumed, run.lost) == (1, 0, 0)
    died = [one for one in run.found if one.type == "ContainerDied"]
    assert [one.source for one in died] == ["evented_pleg"]
    assert 0 < died[0].t - 4551 * MS < 20 * MS


def test_nobody_listens(tmp_path: Path) -> None:
    run, told = replay(one_life(tmp_path / "a.mcap"), stream=False)
    assert events(told) == []
    assert {state for _, state in states(told)} <= {"off"}
    assert "GetContainerEvents" not in run.calls
    assert [one.source for one in run.found if one.type == "ContainerDied"] == ["global"]


def test_later(tmp_path: Path) -> None:
    _, told = replay(one_life(tmp_path / "a.mcap"), delay_ns=300 * MS)
    assert events(told) == [(4851, "stopped")]


def test_lost_by_the_dice_of_a_seed(tmp_path: Path) -> None:
    (tmp_path / "a.mcap").write_bytes(play("storm", "kep", 7, 60).recording)
    half, told = replay(tmp_path / "a.mcap", loss=0.5)
    assert 110 < half.lost < 190
    assert half.lost + half.delivered == 300
    again, _ = replay(tmp_path / "a.mcap", loss=0.5)
    other, _ = replay(tmp_path / "a.mcap", loss=0.5, seed=8)
    assert again == half
    assert other.found != half.found
    none, _ = replay(tmp_path / "a.mcap", loss=1.0)
    assert none.delivered == 0
    assert Counter(kind for _, kind in events(told))["stopped"] > 20


def test_where_nobody_had_listened_each_change_is_told_of(tmp_path: Path) -> None:
    run, told = replay(one_life(tmp_path / "a.mcap", stream=False), profile="1.37")
    assert run.assumed == len(events(told))
    kinds = [kind for _, kind in events(told)]
    assert sorted(kinds) == ["created", "started", "started", "stopped"]
    # The end: finished at 4.5 s, known 50 ms later as runtimes do, received a millisecond on.
    assert (4551, "stopped") in events(told)


def test_a_stream_that_ended_ends_again_and_is_refused_as_it_was(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    for second in range(12):
        built.relist(second * 1000 + 100, sandbox(), row("running"))
        if second == 3:
            built.feed(StreamEnded, 3500, code="eof")
            built.feed(StreamEnded, 3502, code="unavailable", detail="connection refused")
            built.feed(StreamEnded, 5000, code="unavailable", detail="connection refused")
        if second == 8:
            built.feed(StreamOpened, 8500)
            built.feed(StreamLive, 9500)
            built.hear(9600, event("stopped", 9599))
    _, told = replay(built.close(), period_ns=2 * SECOND)
    waits = [
        one.detail for one in told if isinstance(one, StreamChanged) and one.state == "waiting"
    ]
    assert waits[:2] == ["", "connection refused"]
    assert (3500, "waiting") in states(told)
    assert states(told)[-1][1] == "connected"
    assert not [t for t, state in states(told) if state == "connected" and 3500 < t < 5000]
    assert events(told) == [(9600, "stopped")]


def test_what_events_carried_is_rebuilt_for_who_believes_them(tmp_path: Path) -> None:
    run, _ = replay(one_life(tmp_path / "a.mcap"), profile="legacy")
    died = [one for one in run.found if one.type == "ContainerDied"]
    assert [(one.t // MS, one.relist) for one in died] == [(4551, 0)]
    assert died[0].exit_code == 1
