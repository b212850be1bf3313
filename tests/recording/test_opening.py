"""What a file that begins later starts from: the same pods and the same header."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.journal.projection import PodTable
from app.journal.rebuild import StateBuilder
from app.recording import opening as module
from app.recording.opening import Opening
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.replay import read_recording
from tests.recording.recorded import info, record_scenario, told
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
    shown = read_recording(tmp_path / "part-2.mcap").records
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
