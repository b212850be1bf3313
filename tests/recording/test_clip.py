"""The last minutes cut out of a session that goes on: whole in themselves, and no more."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from app.engine.records import AnyRecord, Gap, Record
from app.errors import RecordingError
from app.recording import clip
from app.recording.answers import Answer
from app.recording.format import StateThen
from app.recording.protowire import split_rows
from app.recording.reading import Fed, Heard, Recording, Told
from app.recording.rerun import compare
from tests.build import died, note, pod_gone, pod_seen
from tests.recording.recorded import SECOND, fed, read, record_scenario, storm, told


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "whole.mcap"
    path.write_bytes(storm())
    return path


def cut(path: Path, since_t: int, tmp_path: Path) -> Path:
    out = tmp_path / "cut.mcap"
    out.unlink(missing_ok=True)
    out.write_bytes(clip.clip(path, since_t, 3600))
    return out


def test_what_happened_from_a_moment_on_is_there_and_nothing_else(
    whole: Path, tmp_path: Path
) -> None:
    since = 40 * SECOND
    recording, items = read(cut(whole, since, tmp_path))
    assert (recording.damaged, recording.finished, recording.unreadable) == (0, True, 0)
    everything = read(whole)[1]
    first = next(i for i, one in enumerate(told(everything)) if one.t >= since)
    assert told(items) == told(everything)[first:]
    assert len(told(items)) > 20
    after = [one for one in fed(everything) if one.happened and one.happened.t >= since]
    assert fed(items)[-50:] == after[-50:]
    assert abs(len(fed(items)) - len(after)) <= 1


def test_it_begins_with_what_it_takes_to_be_read_alone(whole: Path, tmp_path: Path) -> None:
    items = read(cut(whole, 40 * SECOND, tmp_path))[1]
    opening = [one for one in items if isinstance(one, Told) and one.opening]
    assert {one.record.__struct_config__.tag for one in opening} >= {"pod_seen", "pod_cached"}
    begin = next(i for i, one in enumerate(items) if isinstance(one, StateThen))
    then = items[begin]
    assert isinstance(then, StateThen)
    assert then.t < 40 * SECOND
    assert then.state.profile == "kep"
    assert not any(isinstance(one, Fed) for one in items[:begin])


def test_the_runtimes_messages_are_there_and_can_be_read_alone(whole: Path, tmp_path: Path) -> None:
    def sent(path: Path) -> list[Answer | Heard]:
        with Recording(path, answers=True) as recording:
            return [one for one in recording.items() if isinstance(one, (Answer, Heard))]

    since = 40 * SECOND
    right = [one for one in sent(whole) if one.t >= since]
    found = sent(cut(whole, since, tmp_path))
    assert [one[:2] for one in found] == [one[:2] for one in right]
    lists = [one for one in found if isinstance(one, Answer) and not one.asked_for]
    assert {one.method for one in lists} == {"ListPodSandbox", "ListContainers"}
    assert all(len(split_rows(one.raw)) > 90 for one in lists)


def test_a_session_younger_than_that_is_saved_whole(whole: Path, tmp_path: Path) -> None:
    out = cut(whole, -300 * SECOND, tmp_path)
    assert told(read(out)[1]) == told(read(whole)[1])
    assert compare([out]).differs is None


def test_what_is_cut_can_be_cut_again(whole: Path, tmp_path: Path) -> None:
    out = cut(whole, 20 * SECOND, tmp_path)
    again = tmp_path / "again.mcap"
    again.write_bytes(clip.clip(out, 40 * SECOND, 3600))
    assert told(read(again)[1]) == told(read(cut(whole, 40 * SECOND, tmp_path))[1])


def test_a_file_that_is_still_written_is_cut_as_far_as_it_is(whole: Path, tmp_path: Path) -> None:
    whole.write_bytes(storm()[:-50_000])
    items = told(read(cut(whole, 5 * SECOND, tmp_path))[1])
    assert items == [one for one in told(read(whole)[1]) if one.seq >= items[0].seq]


def test_nothing_so_new_is_told(whole: Path) -> None:
    with pytest.raises(RecordingError, match=r"Nothing was recorded.*Try again in a moment\."):
        clip.clip(whole, 10**15, 3600)


def test_the_flight_recorders_files_of_this_session_belong_together(tmp_path: Path) -> None:
    def part(stamp: str, session: str, number: int, age_s: float = 0) -> Path:
        path = tmp_path / f"{stamp}-demo-{session}-{number:06}.mcap"
        path.write_bytes(storm())
        then = path.stat().st_mtime - age_s
        os.utime(path, (then, then))
        return path

    part("20261129T100000Z", "aaaaaaaa", 1, 900)
    second = part("20261129T101000Z", "aaaaaaaa", 2, 200)
    part("20261129T101500Z", "bbbbbbbb", 1)
    third = part("20261129T102000Z", "aaaaaaaa", 3)
    (tmp_path / "other.mcap").touch()
    assert clip._parts(third, 300) == [second, third]
    assert clip._parts(tmp_path / "other.mcap", 300) == [tmp_path / "other.mcap"]


def test_two_parts_become_one_file(tmp_path: Path) -> None:
    paths = [tmp_path / f"20261129T1{n}0000Z-demo-aaaaaaaa-00000{n}.mcap" for n in (1, 2)]
    paths[0].write_bytes(storm())
    # The second part repeats what it begins from; none of that is news again.
    paths[1].write_bytes(cut(paths[0], 50 * SECOND, tmp_path).read_bytes())
    items = told(read(cut(paths[1], 30 * SECOND, tmp_path))[1])
    assert items[0].t >= 30 * SECOND
    assert sum(one.seq == items[-1].seq for one in items) == 2


def test_a_file_too_large_is_not_read(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clip, "MOST_BYTES", 1000)
    with pytest.raises(RecordingError, match="too large"):
        clip.clip(whole, 0, 3600)


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="make room and try again"):
        clip.clip(tmp_path / "none.mcap", 0, 3600)


def journal(*records: Record) -> list[Record]:
    return [msgspec.structs.replace(one, seq=seq) for seq, one in enumerate(records, 1)]


def decoded(lines: list[bytes]) -> list[Record]:
    assert all(line.endswith(b"\n") for line in lines)
    return [msgspec.json.decode(line, type=AnyRecord) for line in lines]


def test_lines_begin_with_what_is_needed_and_say_what_is_left_out() -> None:
    records = journal(pod_seen(t=1), note(2), note(3), died(t=100), note(101))
    opening, gap, *rest = decoded(list(clip.lines(records, 100)))
    assert opening == records[0]
    assert isinstance(gap, Gap)
    assert (gap.count, gap.from_t, gap.t, gap.seq) == (2, 1, 3, 3)
    assert rest == records[3:]


def test_lines_leave_nothing_out_of_a_young_session() -> None:
    records = journal(pod_seen(t=1), note(2))
    assert decoded(list(clip.lines(records, -5))) == records
    assert list(clip.lines([], 0)) == []


def test_lines_do_not_tell_of_pods_that_are_gone() -> None:
    records = journal(pod_seen(t=1), pod_gone(t=2), note(100))
    assert decoded(list(clip.lines(records, 50))) == records[2:]


def test_lines_are_a_journal_that_replays(tmp_path: Path) -> None:
    records = record_scenario(tmp_path / "x.mcap", "storm", seconds=20)
    kept = decoded(list(clip.lines(records, 10 * SECOND)))
    assert [one.seq for one in kept] == sorted({one.seq for one in kept})
