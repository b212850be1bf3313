"""A session in virtual time, recorded: all of it is there, and the same again each time."""

from __future__ import annotations

import operator
import os
import stat
from pathlib import Path

import msgspec
import pytest

from app.cri import convert
from app.cri.convert import Interner
from app.cri.pb import cri_pb2 as pb
from app.engine.inputs import PodInspected, PodsListed, StreamEvent
from app.engine.model import ContainerStatus
from app.engine.records import Watching
from app.errors import RecordingError
from app.recording.answers import Answer
from app.recording.reading import Fed, Heard, Recording
from app.recording.virtual import VirtualRecorder
from app.sim.account import play_to_end
from app.sim.library import load
from app.sim.virtual import VirtualSession
from tests.recording.recorded import SECOND, fed, read, record_scenario, told


def test_the_journal_is_read_as_it_was_told(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    journal = record_scenario(path, "churn")
    recording, items = read(path)
    assert told(items) == journal
    assert (recording.damaged, recording.unreadable, recording.finished) == (0, 0, True)
    assert [one.number for one in fed(items)] == list(range(1, len(fed(items)) + 1))
    assert sum(isinstance(item, Heard) for item in items) == sum(
        isinstance(one.happened, StreamEvent) for one in fed(items)
    )


def test_it_says_what_was_played_and_with_which_settings(tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", "churn", profile="legacy", seed=5)
    recording, items = read(tmp_path / "a.mcap")
    info = recording.info
    assert info is not None
    assert (info.scenario, info.seed, info.settings.profile, info.simulated) == (
        "churn", 5, "legacy", True,
    )  # fmt: skip
    assert (info.part, info.command) == (1, "simulate")
    began = next(one for one in told(items) if isinstance(one, Watching))
    assert began.wall - began.t == info.origin


def test_the_same_session_gives_the_same_file(tmp_path: Path) -> None:
    record_scenario(tmp_path / "a.mcap", "storm")
    record_scenario(tmp_path / "b.mcap", "storm")
    record_scenario(tmp_path / "c.mcap", "storm", seed=8)
    first, second, other = ((tmp_path / f"{name}.mcap").read_bytes() for name in "abc")
    assert first == second
    assert first != other


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        record_scenario(tmp_path / "a.mcap", "churn", seconds=1)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.mcap").stat().st_mode) == 0o600


def test_a_file_that_exists_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    path.write_text("dear")
    with pytest.raises(RecordingError, match=r"exists already\. Remove it"):
        VirtualRecorder(VirtualSession(load("churn")), path)
    assert path.read_text() == "dear"
    with pytest.raises(RecordingError, match=r"cannot be written \(No such file"):
        VirtualRecorder(VirtualSession(load("churn")), tmp_path / "none" / "a.mcap")


def test_a_full_disk_ends_it_with_a_sentence() -> None:
    session = VirtualSession(load("churn"))
    path = Path("/proc/self/fd/none.mcap")
    with pytest.raises(RecordingError, match="cannot be written"):
        VirtualRecorder(session, path)


def test_records_are_json_that_says_everything(tmp_path: Path) -> None:
    journal = record_scenario(tmp_path / "a.mcap", "flapping-stream", seconds=60)
    _recording, items = read(tmp_path / "a.mcap")
    encode = msgspec.json.encode
    assert [encode(one) for one in told(items)] == [encode(one) for one in journal]


@pytest.mark.parametrize("scenario", ["big-node", "event-without-uid", "runtime-restart"])
def test_the_messages_say_what_the_engine_was_fed(scenario: str, tmp_path: Path) -> None:
    """As a client converts them, they are the inputs that came of them."""
    record_scenario(tmp_path / "a.mcap", scenario, seconds=25)
    rows = Interner()
    events: list[bytes] = []
    statuses: dict[str, ContainerStatus] = {}
    last: dict[str, Answer] = {}
    lists = inspections = 0
    with Recording(tmp_path / "a.mcap", answers=True) as recording:
        for item in recording.items():
            if isinstance(item, Heard):
                events.append(item.raw)
            elif isinstance(item, Answer) and item.method == "ContainerStatus":
                message = pb.ContainerStatusResponse.FromString(item.raw)
                statuses[item.asked_for] = convert.container_status(message)
            elif isinstance(item, Answer):
                last[item.method] = item
            elif isinstance(item, Fed) and isinstance(item.happened, StreamEvent):
                event = convert.event(pb.ContainerEventResponse.FromString(events.pop(0)))
                assert event == item.happened.event
            elif isinstance(item, Fed) and isinstance(item.happened, PodsListed):
                lists += 1
                full = not last["ListContainers"].asked_for
                boxes = pb.ListPodSandboxResponse.FromString(last["ListPodSandbox"].raw)
                inside = pb.ListContainersResponse.FromString(last["ListContainers"].raw)
                by_id = operator.attrgetter("id")
                for made, fed_rows in (
                    (rows.sandboxes(boxes, full=full), item.happened.sandboxes),
                    (rows.containers(inside, full=full), item.happened.containers),
                ):
                    assert sorted(made, key=by_id) == sorted(fed_rows, key=by_id)
            elif isinstance(item, Fed) and isinstance(item.happened, PodInspected):
                inspections += 1
                assert all(statuses[one.id] == one for one in item.happened.containers)
    assert not events
    assert lists > 20
    assert inspections > 5


def test_it_can_be_left_out(tmp_path: Path) -> None:
    session = VirtualSession(load("churn"))
    recorder = VirtualRecorder(session, tmp_path / "a.mcap", raw=False)
    play_to_end(session, 5 * SECOND)
    recorder.close()
    with Recording(tmp_path / "a.mcap", answers=True) as recording:
        assert not any(isinstance(item, (Answer, Heard)) for item in recording.items())
