"""What a file that begins later starts from: the same pods and the same header."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.engine.records import PodSeen, Record
from app.journal.projection import PodTable
from app.journal.rebuild import StateBuilder
from app.recording import opening as module
from app.recording import scribe as writing
from app.recording.format import StateThen
from app.recording.opening import Opening
from app.recording.reading import Told
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from tests.recording.recorded import SECOND, info, record_scenario, told
from tests.recording.recorded import read as read_file


@pytest.mark.parametrize("name", ["churn", "crash-loop", "storm", "runtime-restart"])
def test_pods_and_header_are_rebuilt_from_it(name: str, tmp_path: Path) -> None:
    journal = record_scenario(tmp_path / "a.mcap", name, seconds=45)
    half = len(journal) // 2
    opening = Opening()
    for record in journal[:half]:
        opening.apply(record)
    whole_table, whole = PodTable(), StateBuilder()
    for record in journal[:half]:
        whole_table.apply(record)
        whole.apply(record)
    table, state = PodTable(), StateBuilder()
    for record in opening.records():
        table.apply(record)
        state.apply(record)
    t = journal[half - 1].t
    now = {row.uid: row for row in whole_table.rows() if row.gone_t is None and row.name}
    again = {row.uid: row for row in table.rows() if row.gone_t is None and row.name}
    assert again.keys() == now.keys()
    for uid, row in now.items():
        assert (again[uid].containers, again[uid].ips) == (row.containers, row.ips)
        assert (again[uid].running, again[uid].syncing) == (row.running, row.syncing)
    then, told_again = whole.state(t), state.state(t)
    assert told_again.stream.state == then.stream.state
    assert told_again.profile == then.profile
    assert (told_again.pods, told_again.containers) == (then.pods, then.containers)
    assert told_again.period_ns == then.period_ns


def test_a_reader_can_begin_once_a_minute(tmp_path: Path) -> None:
    journal = record_scenario(tmp_path / "a.mcap", "churn", seconds=200)
    _recording, items = read_file(tmp_path / "a.mcap")
    states = [item for item in items if isinstance(item, StateThen)]
    assert [one.t // (60 * SECOND) for one in states] == [1, 2, 3]
    for then in states:
        whole = StateBuilder()
        for record in journal[: then.seq]:
            whole.apply(record)
        assert then.state == whole.state(then.t)
        place = items.index(then)
        opening: list[int] = []
        while isinstance(one := items[place - 1 - len(opening)], Told) and one.opening:
            opening.append(one.record.seq)
        assert opening == sorted(opening, reverse=True)
        assert opening[0] <= then.seq
        assert len(opening) > 10


@pytest.mark.parametrize(
    ("name", "profile"), [("runtime-restart", "kep"), ("queue-full", "kep"), ("storm", "legacy")]
)
def test_who_begins_there_tells_the_same_from_there_on(
    name: str, profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "OPENING_RECORDS", 50)
    monkeypatch.setattr(writing, "OPENING_SHARE", 1)
    journal = record_scenario(tmp_path / "a.mcap", name, profile=profile, seconds=100)
    _recording, items = read_file(tmp_path / "a.mcap")
    begin: list[Record] = []
    states = 0
    for item in items:
        if isinstance(item, Told) and item.opening:
            begin.append(item.record)
        elif isinstance(item, StateThen):
            states += 1
            check_from(item, begin, journal)
            begin = []
    assert states > len(journal) / 600


def check_from(then: StateThen, begin: list[Record], journal: list[Record]) -> None:
    whole, all_pods = StateBuilder(), PodTable()
    builder, pods = StateBuilder(), PodTable()
    for record in journal[: then.seq]:
        whole.apply(record)
        all_pods.apply(record)
    for record in begin:
        builder.apply(record)
    assert then.inner is not None
    assert builder.resume(then.state, then.inner, [one.uid for one in then.pods if one.syncing])
    pods.resume(then.t, then.pods)
    for record in journal[then.seq : then.seq + 500]:
        for one in (whole, all_pods, builder, pods):
            one.apply(record)
        assert builder.state(record.t) == whole.state(record.t)
    bare = [
        [msgspec.structs.replace(row, containers=(), ips=()) for row in table.rows()]
        for table in (pods, all_pods)
    ]
    assert bare[0] == bare[1]


def test_a_state_that_does_not_fit_the_records_is_refused() -> None:
    builder = StateBuilder()
    then = builder.state(5)
    assert builder.resume(then, builder.inner(), [])
    assert not builder.resume(msgspec.structs.replace(then, pods=3), builder.inner(), [])


def test_however_many_pods_there_are_a_file_begins_with_all_of_them(tmp_path: Path) -> None:
    scribe = Scribe(info(), lambda part: Segment(tmp_path / f"part-{part}.mcap"))
    pods = [
        PodSeen(seq=n, t=n, wall=n, uid=f"uid-{n}", name=f"pod-{n}", namespace="ns")
        for n in range(1, 12_001)
    ]
    for pod in pods:
        scribe.put_record(pod, by_engine=True)
    scribe.turn()
    last = PodSeen(seq=12_001, t=12_001, wall=1, uid="last", name="last", namespace="ns")
    scribe.put_record(last, by_engine=True)
    scribe.turn()
    _recording, items = read_file(tmp_path / "part-2.mcap")
    assert [item.record for item in items if isinstance(item, Told)] == [*pods, last]


def test_it_is_in_order_and_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    journal = record_scenario(tmp_path / "a.mcap", "churn", seconds=30)
    monkeypatch.setattr(module, "MOST", 10)
    opening = Opening()
    for record in journal:
        opening.apply(record)
        assert len(opening.records()) <= 10
    numbers = [record.seq for record in opening.records()]
    assert numbers == sorted(numbers)


def test_a_later_file_can_be_shown_alone(tmp_path: Path) -> None:
    journal = record_scenario(tmp_path / "a.mcap", "churn", seconds=30)
    scribe = Scribe(info(), lambda part: Segment(tmp_path / f"part-{part}.mcap"))
    half = len(journal) // 2
    for record in journal[:half]:
        scribe.put_record(record, by_engine=True)
    scribe.turn()
    for record in journal[half:]:
        scribe.put_record(record, by_engine=True)
    scribe.turn()
    _recording, items = read_file(tmp_path / "part-2.mcap")
    assert told(items) == journal[half:]
    shown = [item.record for item in items if isinstance(item, Told)]
    assert shown[-len(journal[half:]) :] == journal[half:]
    first = shown[: -len(journal[half:])]
    assert first
    assert all(record.seq <= half for record in first)
    pods = PodTable()
    for record in shown:
        pods.apply(record)
    whole = PodTable()
    for record in journal:
        whole.apply(record)
    alive = {row.uid: row.containers for row in whole.rows() if row.gone_t is None and row.name}
    assert {r.uid: r.containers for r in pods.rows() if r.gone_t is None and r.name} == alive
