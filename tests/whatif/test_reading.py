"""Degenerate recordings answer with a sentence, and what is missing is told."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from app.engine.inputs import PodsListFailed, SyncEnded, SyncStarted
from app.engine.model import CallCost
from app.engine.records import RelistStarted
from app.engine.settings import EngineSettings
from app.errors import RecordingError
from app.recording.reading import Fed, Told
from app.recording.rerun import compare
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.whatif.evidence import Failed
from app.whatif.options import Options
from app.whatif.reading import gather
from app.whatif.result import ask
from tests.recording.recorded import info, read, record_scenario
from tests.whatif.built import MS, SECOND, UID, Built, event, one_life, row, sandbox

POLLING = Options(profile="polling")


def refusal(*paths: Path) -> str:
    """What is said of these files."""
    with pytest.raises(RecordingError) as refused:
        gather(paths)
    text = str(refused.value)
    assert text.endswith(".")
    assert "Give" in text
    return text


def test_what_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    assert "no MCAP file" in refusal(tmp_path / "a.txt")
    assert "cannot be read" in refusal(tmp_path / "missing.mcap")


def test_nothing_fed(tmp_path: Path) -> None:
    scribe = Scribe(info(), lambda _part: Segment(tmp_path / "a.mcap"))
    scribe.turn()
    scribe.flush()
    built = Built(tmp_path / "b.mcap")
    built.tell(RelistStarted, 0, relist=1, scope="global", source="global")
    assert "does not hold what the engine was fed" in refusal(built.close())


def test_no_listing_that_came_back(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    built.tell(RelistStarted, 100, relist=1, scope="global", source="global")
    built.feed(PodsListFailed, 200, call=1, error="deadline")
    assert "no listing of all pods" in refusal(built.close())


def test_files_of_two_sessions_are_not_one(tmp_path: Path) -> None:
    one_life(tmp_path / "a.mcap")
    other = Built(tmp_path / "b.mcap", session="another")
    other.begin()
    other.relist(100)
    assert "another session" in refusal(tmp_path / "a.mcap", other.close())


def test_a_recording_that_was_cut_off_is_played_as_far_as_it_goes(tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", "demo", seconds=1500)
    whole = (tmp_path / "a.mcap").read_bytes()
    (tmp_path / "b.mcap").write_bytes(whole[: len(whole) * 2 // 3])
    answer = ask([tmp_path / "b.mcap"], POLLING)
    assert any("not ended" in one or "cut off" in one or "ends" in one for one in answer.warnings)
    assert 0 < answer.duration_ns < 1500 * SECOND
    assert len(answer.rows) > 20


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_flipped_it_answers_or_says_why_not(seed: int, tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", "crash-loop", seconds=20)
    data = bytearray((tmp_path / "a.mcap").read_bytes())
    dice = random.Random(seed)
    for _ in range(4):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    (tmp_path / "b.mcap").write_bytes(data[: dice.randrange(len(data) // 2, len(data))])
    said = ""
    try:
        answer = ask([tmp_path / "b.mcap"], POLLING)
        said = answer.warnings[0]
        assert all(row.earliest <= (row.latest or 10**18) for row in answer.rows)
    except RecordingError as refused:
        said = str(refused)
    assert said.endswith(".")


def test_a_gap_is_named_and_what_changed_in_it_is_somewhere_in_it(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    built.relist(100, sandbox(), row("running"))
    built.lose(inputs=40)
    built.relist(60_000, sandbox(), row("running"))
    built.relist(61_000, sandbox(), row("exited"))
    for second in range(62, 70):
        built.relist(second * 1000, sandbox(), row("exited"))
    path = built.close()
    evidence = gather([path])
    assert evidence.holes == [(104 * MS, 60_004 * MS)]
    answer = ask([path], POLLING)
    assert any("1 gap" in one.replace("\N{NO-BREAK SPACE}", " ") for one in answer.cannot)
    # The listing after the gap has lost its relist's start only if that was in the gap.
    (end,) = answer.rows
    assert end.what == "end"
    assert end.from_t >= 100 * MS
    assert end.to_t == 61_004 * MS


def test_what_only_events_told_of_is_counted(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    built.relist(100, sandbox(), row("running"))
    built.hear(300, event("stopped", 299, name="brief"))
    built.relist(1100, sandbox(), row("running"))
    path = built.close()
    assert set(gather([path]).unlisted) == {f"{UID}/brief/0"}
    assert any("No listing shows" in one for one in ask([path], POLLING).cannot)


def test_an_event_before_the_first_listing_of_its_container_is_not_forgotten(
    tmp_path: Path,
) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    built.relist(100)
    built.hear(701, event("started", 700))
    built.relist(1100, sandbox(), row("running"))
    evidence = gather([built.close()])
    assert evidence.unlisted == {}
    assert evidence.items[f"{UID}/app/0"].hints["started"].made_t == 700 * MS


def test_syncpods_and_streams_are_spans(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    built.relist(100, sandbox(), row("running"))
    built.feed(SyncStarted, 500, uid=UID)
    built.feed(SyncEnded, 900, uid=UID)
    built.feed(SyncStarted, 1500, uid=UID)
    built.relist(2000, sandbox(), row("running"))
    evidence = gather([built.close()])
    assert evidence.syncs[UID] == [(500 * MS, 900 * MS), (1500 * MS, 2004 * MS)]
    assert evidence.listening(2 * MS)
    assert not evidence.listening(0)


def test_a_later_file_begins_with_what_was_so(tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", "demo", seconds=30)
    recording, items = read(tmp_path / "a.mcap")
    assert recording.info is not None
    names = iter(["b.mcap", "c.mcap"])
    scribe = Scribe(recording.info, lambda _part: Segment(tmp_path / next(names)))
    turned = False
    for item in items:
        if isinstance(item, Fed) and item.happened is not None:
            if not turned and item.happened.t > 15 * SECOND:
                turned = True
                scribe.turn()
            scribe.put_input(item.happened)
        elif isinstance(item, Told) and not item.opening:
            scribe.put_record(item.record, by_engine=item.by_engine)
    scribe.turn()
    later = gather([tmp_path / "c.mcap"])
    assert later.begin_t > 15 * SECOND
    assert later.listening(later.begin_t)
    answer = ask([tmp_path / "c.mcap"], Options(stream=False))
    assert answer.rows
    assert {row.now.source for row in answer.rows if row.now} <= {"global", "post_sync"}
    whole = ask([tmp_path / "a.mcap"], POLLING)
    both = ask([tmp_path / "b.mcap", tmp_path / "c.mcap"], POLLING)
    assert both.rows == whole.rows
    assert both.calls == whole.calls


def test_a_later_part_does_not_count_the_first_look_at_what_was_known(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built._scribe._part = 1
    built.begin(stream=False)
    rows = [sandbox(), row("running")]
    for second in range(10):
        built.relist(second * 1000 + 100, *rows)
    then, now = ask([built.close()], Options(profile="polling")).calls
    assert then["ListPodSandbox"] == 9
    assert now == {"ListContainers": now["ListContainers"], "ListPodSandbox": now["ListPodSandbox"]}
    assert now["ListPodSandbox"] in (8, 9)


@pytest.mark.parametrize(
    "changed",
    [
        {"profile": "x"},
        {"period_ns": 0},
        {"period_ns": 1},
        {"period_ns": 2**62},
        {"health_poll_ns": -1},
        {"cache_tick_ns": 0},
        {"backoff_cap_ns": -1},
        {"queue_capacity": -1},
        {"stops_kept": 2**40},
        {"listing_share": 0},
    ],
    ids=str,
)
def test_settings_that_nothing_runs_with_are_refused(
    changed: dict[str, int | str], tmp_path: Path
) -> None:
    settings = msgspec.structs.replace(EngineSettings(), **changed)
    built = Built(tmp_path / "a.mcap", settings=settings)
    built.begin()
    built.relist(100, sandbox(), row("running"))
    built.close()
    for options in (POLLING, Options()):
        with pytest.raises(RecordingError, match="settings that nothing runs with"):
            ask([built.path], options)
    with pytest.raises(RecordingError, match="settings that nothing runs with"):
        compare([built.path])


def test_what_can_be_no_time_is_a_hole_and_what_can_be_no_duration_is_none(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    built.relist(100, sandbox(), row("running"))
    built.feed(SyncStarted, 2**62 // MS, uid=UID)
    built.tell(RelistStarted, 2**62 // MS, relist=8, scope="global", source="global")
    built.tell(RelistStarted, 1100, relist=9, scope="global", source="global")
    lasting = (CallCost("ListPodSandbox", 2**62), CallCost("ListContainers", -(2**62)))
    built.feed(PodsListFailed, 1200, call=9, error="deadline", calls=lasting)
    built.relist(2100, sandbox(), row("running"))
    evidence = gather([built.close()])
    assert evidence.until_t == 2104 * MS
    assert evidence.holes
    assert not evidence.syncs
    assert 0 <= min(evidence.sandbox_lists.took) <= max(evidence.container_lists.took) < 2**59
    assert ask([built.path], POLLING).duration_ns < 3 * SECOND


def test_what_a_list_failed_with_is_what_it_fails_with_again(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    built.relist(100, sandbox(), row("running"))
    built.tell(RelistStarted, 1100, relist=9, scope="global", source="global")
    costs = (CallCost("ListPodSandbox", MS), CallCost("ListContainers", 2 * MS))
    built.feed(PodsListFailed, 1200, call=9, error="too late", calls=costs, code="silent")
    evidence = gather([built.close()])
    assert evidence.sandbox_lists.near(1100 * MS) == (MS, None)
    assert evidence.container_lists.near(1101 * MS) == (2 * MS, Failed("too late", "silent"))


def test_what_would_go_on_for_ever_is_refused(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    built.relist(100, sandbox(), row("running"))
    built.relist(12 * 24 * 3600 * 1000, sandbox(), row("running"))
    with pytest.raises(RecordingError, match="more than 1,000,000 relists"):
        ask([built.close()], POLLING)
