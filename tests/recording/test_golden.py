"""What real runtimes sent gives the records it gave before; what was recorded once still opens."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest

from app.cri.pb import cri_pb2 as pb
from app.engine.records import Lifecycle
from app.export.names import Names
from app.export.redact import Redactor
from app.export.redactfile import redact_file
from app.recording.answers import Answer
from app.recording.reading import Heard, Recording, Told
from app.recording.recover import recover
from app.recording.rerun import compare
from tests.cri import captures
from tests.recording.captured import GOLDEN, Played, all_captures, golden, lines
from tests.recording.recorded import fed, read, told

OLDER = sorted((GOLDEN / "older").glob("*.mcap"))


@pytest.mark.parametrize(("runtime", "scenario"), all_captures())
def test_a_capture_gives_the_records_it_gave_before(
    runtime: str, scenario: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.mcap"
    played = Played(runtime, scenario, path).play()
    right = gzip.decompress(golden(runtime, scenario).read_bytes()).splitlines()
    found = [line.rstrip(b"\n") for line in lines(played.records)]
    for number, (one, other) in enumerate(zip(found, right, strict=False), 1):
        assert one == other, f"record {number}; if it is meant, see golden/README.md"
    assert len(found) == len(right)
    # And as a recording: it is read as it was told, and run again it tells the same.
    with Recording(path, answers=True) as recording:
        items = list(recording.items())
        assert (recording.damaged, recording.unreadable, recording.finished) == (0, 0, True)
    assert told(items) == played.records
    same = compare([path])
    assert (same.hole, same.differs, same.records) == (None, None, len(right))
    sent = {
        base64.b64decode(line["b64"])
        for line in captures.records(runtime, scenario)
        if line["kind"] == "event"
    }
    heard = [one.raw for one in items if isinstance(one, Heard)]
    assert sent.issuperset(heard)
    assert bool(heard) is (runtime != "containerd-1.6.20")
    assert any(isinstance(one, Answer) for one in items)


def test_there_is_nothing_golden_of_which_there_is_no_capture() -> None:
    kept = set(GOLDEN.rglob("*.jsonl.gz"))
    assert kept == {golden(*one) for one in all_captures()}
    assert len(kept) == 30


@pytest.mark.parametrize("runtime", captures.STREAMING)
@pytest.mark.parametrize("scenario", ["lifecycle", "crashloop", "storm"])
def test_what_is_golden_is_true(runtime: str, scenario: str) -> None:
    """Each container is told to have died once, as its runtime's last word of it says."""
    ended: dict[str, tuple[int, str]] = {}
    for event in captures.events(runtime, scenario):
        for one in event.containers_statuses:
            if one.state == pb.CONTAINER_EXITED:
                ended[one.id] = (one.exit_code, one.reason)
    died: dict[str, list[tuple[int | None, str]]] = {}
    for record in Played(runtime, scenario).play().records:
        if not isinstance(record, Lifecycle) or record.is_sandbox:
            continue
        if record.type == "ContainerDied":
            died.setdefault(record.container_id, []).append((record.exit_code, record.reason))
    assert died == {one: [end] for one, end in ended.items()}
    assert len(died) >= (100 if scenario == "storm" else 4)


@pytest.mark.parametrize("path", OLDER, ids=lambda path: path.stem)
def test_what_earlier_states_recorded_still_opens(path: Path, tmp_path: Path) -> None:
    expected = json.loads((GOLDEN / "older" / "contents.json").read_text())[path.stem]
    recording, items = read(path)
    heard = [one.raw for one in items if isinstance(one, Heard)]
    assert {
        "records": len(told(items)),
        "inputs": len(fed(items)),
        "events": len(heard),
        "finished": recording.finished,
        "first": told(items)[0].wall,
        "last": told(items)[-1].wall,
    } == expected
    assert (recording.damaged, recording.unreadable) == (0, 0)
    assert [one.seq for one in told(items)] == list(range(1, len(told(items)) + 1))
    assert recording.info is not None
    assert recording.info.format == 1
    # Run again by today's engine, which may tell something else, but none of it is missing.
    assert compare([path]).hole is None
    clean = tmp_path / "clean.mcap"
    assert recover(path, clean).messages > len(told(items))
    again, same = read(clean)
    assert again.finished
    assert [one for one in same if isinstance(one, Told)] == [
        one for one in items if isinstance(one, Told)
    ]
    done = redact_file(path, tmp_path / "redacted.mcap", Redactor(Names(b"k" * 32, lasting=False)))
    assert (done.left_out, done.missing) == (0, [])
    assert heard == [] or pb.ContainerEventResponse.FromString(heard[0]).container_id


def test_there_are_older_recordings_that_ended_and_that_did_not() -> None:
    assert [path.stem for path in OLDER] == [
        "first-ended", "first-killed", "second-ended", "second-killed",
    ]  # fmt: skip
