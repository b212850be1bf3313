"""Recording as processes: the flight recorder, kill -9 at any moment, replay and running again."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from app.errors import RecordingError
from app.recording.answers import Answer
from app.recording.mcapread import Damage
from app.recording.protowire import split_rows
from app.recording.reading import Heard, Recording, Told
from app.recording.rerun import compare
from tests.commands import Command, command, environment, get, until


def records(path: Path) -> tuple[list[Told], list[Damage], bool]:
    try:
        with Recording(path) as recording:
            items = [item for item in recording.items() if isinstance(item, Told)]
            return items, recording.damage, recording.finished
    except RecordingError:
        # So early that it is no MCAP yet.
        return [], [], False


def flights(state: Path) -> list[Path]:
    return sorted((state / "plegscope" / "flight").glob("*.mcap"))


def demo(state: Path, *words: str) -> Command:
    return Command(
        "demo", "--port", "0", "--no-browser", *words, env=environment(XDG_STATE_HOME=str(state))
    )


def test_a_demo_that_was_killed_is_read_and_gives_the_same_records_again(tmp_path: Path) -> None:
    running = demo(tmp_path, "--scenario", "storm")
    try:
        running.address()
        (path,) = until(lambda: flights(tmp_path), "a file")
        until(lambda: len(records(path)[0]) > 150, "its records")
        running.process.send_signal(signal.SIGKILL)
        running.ended()
    finally:
        running.close()
    told, damage, finished = records(path)
    assert not finished
    assert all(one.offset + one.length == path.stat().st_size for one in damage)
    numbers = [one.record.seq for one in told]
    assert numbers == list(range(1, len(numbers) + 1))
    same = compare([path])
    assert (same.hole, same.differs) == (None, None)
    assert same.records > 100
    with Recording(path, answers=True) as recording:
        items = list(recording.items())
        assert recording.info is not None
        assert recording.info.scenario == "storm"
    assert all(one.raw for one in items if isinstance(one, Heard))
    answers = [one for one in items if isinstance(one, Answer)]
    # Of all pods: a targeted relist lists one.
    lists = [one for one in answers if one.method == "ListContainers" and not one.asked_for]
    assert len(split_rows(lists[-1].raw)) >= 100


def test_what_a_killed_demo_recorded_is_shown(tmp_path: Path) -> None:
    running = demo(tmp_path)
    try:
        running.address()
        until(lambda: any(len(records(path)[0]) > 50 for path in flights(tmp_path)), "records")
        running.process.send_signal(signal.SIGKILL)
        running.ended()
    finally:
        running.close()
    (path,) = flights(tmp_path)
    with command("replay", str(path), "--port", "0", "--no-browser") as shown:
        address = shown.address()
        base, _, token = address.partition("/?token=")

        def pods_there() -> Any:
            found = get(
                f"{base.rstrip('/')}/api/v1/state",
                headers={"Authorization": f"Bearer {token}"} if token else {},
            ).json()
            return found if found["engine"]["pods"] else None

        # The state is as at the end of what has been read, and it is read on meanwhile.
        state = until(pods_there, "the pods to be read")
    assert state["ended"] is True
    assert state["simulated"] is True
    assert state["recording"] is None


def test_the_state_and_the_metrics_tell_of_the_recorder(tmp_path: Path) -> None:
    running = demo(tmp_path)
    try:
        base = running.address().rstrip("/")

        def much() -> Any:
            recorded = get(f"{base}/api/v1/state").json()["recording"]
            return recorded if recorded["bytes_total"] > 9999 else None

        state = until(much, "some bytes to be written")
        assert state["well"]
        assert state["file"] == str(flights(tmp_path)[0])
        metrics = get(f"{base}/metrics").text
        assert "plegscope_recorder_well 1" in metrics
        assert "plegscope_recorder_lost_total 0" in metrics
    finally:
        running.close()
    told, damage, finished = records(flights(tmp_path)[0])
    assert (damage, finished) == ([], True)
    assert told[-1].record.seq == len(told)


def test_where_no_more_can_be_written_the_dashboard_goes_on_and_later_the_recording(
    tmp_path: Path,
) -> None:
    path = tmp_path / "asked.mcap"
    running = demo(tmp_path, "--record-to", str(path), "--scenario", "storm")

    def recorder() -> dict[str, Any]:
        return dict(get(f"{base}/api/v1/state").json()["recording"])

    def in_trouble() -> str:
        now = recorder()
        return "" if now["well"] else str(now["trouble"])

    def told(sentence: str) -> bool:
        asked = {"kind": "note", "limit": "10000"}
        records = get(f"{base}/api/v1/records", params=asked).json()["records"]
        return any(record["text"].startswith(sentence) for record in records)

    def last_seq() -> int:
        return int(get(f"{base}/api/v1/state").json()["last_seq"])

    try:
        base = running.address().rstrip("/")
        until(lambda: recorder()["bytes_total"] > 9999, "some bytes to be written")
        pid = running.process.pid
        # As a disk that is full: the kernel refuses what goes beyond.
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (path.stat().st_size + 3000, -1))
        assert until(in_trouble, "trouble") == "File too large"
        until(lambda: told("Recording has stopped (File too large)"), "that to be told")
        before = last_seq()
        until(lambda: last_seq() > before + 20, "the dashboard to go on")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (-1, -1))
        until(lambda: bool(recorder()["well"]), "the recorder to be well")
        until(lambda: told("Recording goes on."), "that to be told")
        assert recorder()["lost"] == 0
        running.process.send_signal(signal.SIGTERM)
        assert running.ended() == 0
    finally:
        running.close()
    there, damage, finished = records(path)
    assert (damage, finished) == ([], True)
    assert [one.record.seq for one in there] == list(range(1, len(there) + 1))
    same = compare([path])
    assert (same.hole, same.differs) == (None, None)


def test_without_recording_nothing_is_left_behind(tmp_path: Path) -> None:
    running = demo(tmp_path, "--no-record", "--duration", "1s")
    assert running.ended() == 0
    running.close()
    assert list(tmp_path.iterdir()) == []


def test_one_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "asked.mcap"
    running = demo(tmp_path, "--record-to", str(path), "--duration", "2s")
    assert running.ended() == 0
    running.close()
    assert [one.name for one in tmp_path.iterdir()] == ["asked.mcap"]
    assert records(path)[2]
    again = demo(tmp_path, "--record-to", str(path), "--duration", "2s")
    assert again.ended() == 1
    again.close()
    assert "exists already. Remove it, or give another name" in again.err


def test_record_watches_without_a_server(tmp_path: Path) -> None:
    path = tmp_path / "node.mcap"
    running = demo(tmp_path, "--no-record")
    try:
        endpoint = running.endpoint()
        with command(
            "record", "-o", str(path), "--runtime-endpoint", endpoint, "--duration", "3s",
            env=environment(XDG_STATE_HOME=str(tmp_path / "none")),
        ) as recording:  # fmt: skip
            assert recording.ended() == 0
            assert recording.out == ""
            assert f"  recording     {path}\n" in recording.err
            last = recording.err.splitlines()[-1]
            assert last.startswith(f"{path}: {path.stat().st_size:,} bytes. `plegscope replay ")
        with command(
            "record", "-o", str(tmp_path / "full"), "--runtime-endpoint", endpoint
        ) as full:
            file = tmp_path / "full"
            until(lambda: file.exists() and file.stat().st_size > 9999, "some bytes to be written")
            pid = full.process.pid
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (file.stat().st_size + 3000, -1))
            # It says so at once, as there is no page that would.
            until(
                lambda: "plegscope: Recording has stopped (File too" in full.err, "that to be told"
            )
            full.process.send_signal(signal.SIGINT)
            assert full.ended() == 1
            assert "The end of the recording could not be written (File too large)" in full.err
            assert "The recording is not complete. Make room" in full.err
    finally:
        running.close()
    told, damage, finished = records(path)
    assert (damage, finished) == ([], True)
    assert len(told) > 20
    same = compare([path])
    assert (same.hole, same.differs) == (None, None)
    with command("record") as without:
        assert without.ended() == 1
        assert "-o: give the file to record into" in without.err


def test_simulate_records_and_prints_the_same(tmp_path: Path) -> None:
    words = ("simulate", "churn", "--duration", "20s", "--format", "jsonl")
    with command(*words) as plain, command(
        *words, "--record-to", str(tmp_path / "a.mcap")
    ) as recorded:  # fmt: skip
        assert (plain.ended(), recorded.ended()) == (0, 0)
        assert plain.out == recorded.out
        assert f"{tmp_path}/a.mcap` plays it.\n" in recorded.err
        assert plain.err == ""
    lines = [json.loads(line) for line in plain.out.splitlines()[:-1]]
    assert [one.record.seq for one in records(tmp_path / "a.mcap")[0]] == [
        line["seq"] for line in lines
    ]


def test_killed_three_hundred_times_all_that_had_been_flushed_is_there() -> None:
    """Each time elsewhere: between two records, and in the midst of a write."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.recording.kills", "--runs", "300", "--seed", "7"],
        capture_output=True, text=True, env=environment(), timeout=200,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    came = json.loads(done.stdout)
    assert (came["runs"], came["bad"]) == (300, 0)
    assert came["torn"] >= 100
    assert came["records"] >= came["flushed"] > 50_000
