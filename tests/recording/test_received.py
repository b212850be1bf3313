"""What the runtime had said of a pod is found in a recording, word for word."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cri.pb import cri_pb2 as pb
from app.engine.records import Lifecycle, Record
from app.errors import RecordingError
from app.hub.received import Asked, Received, Said
from app.recording import received as module
from app.recording.answers import Answer
from app.recording.reading import Recording
from app.recording.received import received
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from tests.recording.recorded import SECOND, info, record_scenario

ORIGIN = 1_000 * SECOND
UID = "11111111-2222-3333-4444-555555555555"


def box(number: int, uid: str = UID) -> pb.PodSandbox:
    metadata = pb.PodSandboxMetadata(name="web", uid=uid, namespace="shop")
    return pb.PodSandbox(id=f"box-{number}", metadata=metadata, labels={"b": "2", "a": "1"})


def container(number: int, of: int, state: int = 1) -> pb.Container:
    metadata = pb.ContainerMetadata(name=f"app-{number}")
    return pb.Container(
        id=f"con-{number}",
        pod_sandbox_id=f"box-{of}",
        metadata=metadata,
        state=state,  # type: ignore[arg-type]
    )


def boxes(*rows: pb.PodSandbox) -> bytes:
    return pb.ListPodSandboxResponse(items=rows).SerializeToString()


def containers(*rows: pb.Container) -> bytes:
    return pb.ListContainersResponse(containers=rows).SerializeToString()


def answered(t: float, method: str, raw: bytes, asked_for: str = "") -> Answer:
    return Answer(int(t * SECOND), ORIGIN + int(t * SECOND), method, asked_for, raw)


@pytest.fixture
def scribe(tmp_path: Path) -> Iterator[Scribe]:
    """Writes ``a.mcap``, which stays open as a recorder's does."""
    scribe = Scribe(info(origin=ORIGIN), lambda part: Segment(tmp_path / f"{part}.mcap"))
    yield scribe
    scribe.turn()


def written(scribe: Scribe, *answers: Answer) -> Path:
    for one in answers:
        scribe.put_answer(one)
        scribe.flush()
    assert scribe.segment is not None
    return scribe.segment.path


def by_method(told: Received) -> dict[str, Said]:
    return {one.method: one for one in told.said}


def test_a_container_as_the_list_and_its_status_had_it(scribe: Scribe) -> None:
    """The file is still written, and it is the newest row before the moment that counts."""
    others = [container(number, 7) for number in range(10, 20)]
    status = pb.ContainerStatus(id="con-1", exit_code=137, reason="OOMKilled")
    path = written(
        scribe,
        answered(1, "ListPodSandbox", boxes(box(1), box(2, "another"))),
        answered(1.01, "ListContainers", containers(container(1, 1), *others)),
        answered(2, "ListContainers", containers(container(1, 1, state=2), *others)),
        answered(
            2.1,
            "ContainerStatus",
            pb.ContainerStatusResponse(status=status).SerializeToString(),
            "con-1",
        ),
        answered(3, "ListContainers", containers(*others)),
    )
    told = received([path], Asked(t=int(2.5 * SECOND), uid=UID, id="con-1"))
    assert told.trouble == ""
    assert set(by_method(told)) == {"ListContainers", "ContainerStatus"}
    row, state = by_method(told)["ListContainers"], by_method(told)["ContainerStatus"]
    assert (row.t, row.ago_ns, row.rows, row.whole) == (2 * SECOND, SECOND // 2, 11, True)
    assert json.loads(row.text)["state"] == "CONTAINER_EXITED"
    assert row.size == len(container(1, 1, state=2).SerializeToString())
    assert json.loads(state.text)["status"]["exitCode"] == 137
    assert state.rows is None
    # Then it was in the list no more.
    gone = by_method(received([path], Asked(t=4 * SECOND, uid=UID, id="con-1")))["ListContainers"]
    assert (gone.text, gone.rows, gone.trouble) == ("", 10, "")
    # Of the pod there are its sandbox and, while there were any, its containers.
    pod = received([path], Asked(t=2 * SECOND, uid=UID))
    assert [(one.method, one.id) for one in pod.said] == [
        ("ListPodSandbox", "box-1"), ("ListContainers", "con-1"),
    ]  # fmt: skip
    assert list(json.loads(pod.said[0].text)["labels"]) == ["a", "b"]
    sandbox = received([path], Asked(t=2 * SECOND, uid=UID, id="box-1", what="sandbox"))
    assert [one.method for one in sandbox.said] == ["ListPodSandbox"]


def test_every_end_of_a_storm_has_the_words_it_was_found_by(tmp_path: Path) -> None:
    path = tmp_path / "storm.mcap"
    told = record_scenario(path, "storm", seconds=45)
    ends = [one for one in told if _ended(one)]
    assert len(ends) > 50
    for end in (ends[0], ends[len(ends) // 2], ends[-1]):
        assert isinstance(end, Lifecycle)
        found = received([path], Asked(t=end.t, uid=end.uid, id=end.container_id), origin(path))
        row = by_method(found)["ListContainers"]
        assert json.loads(row.text)["state"] == "CONTAINER_EXITED"
        assert json.loads(row.text)["id"] == end.container_id
        # Of the relist that found it, which lasted for milliseconds.
        assert row.ago_ns < SECOND
        status = json.loads(by_method(found)["ContainerStatus"].text)["status"]
        assert status.get("exitCode", 0) == end.exit_code
        if end.event is not None:
            event = json.loads(by_method(found)["GetContainerEvents"].text)
            assert event["containerId"] == end.container_id


def _ended(record: Record) -> bool:
    return (
        isinstance(record, Lifecycle)
        and record.type == "ContainerDied"
        and not record.is_sandbox
        and not record.baseline
    )


def origin(path: Path) -> int:
    with Recording(path) as recording:
        for _message in recording.messages():
            if recording.info is not None:
                return recording.info.origin
    raise AssertionError


def test_only_a_minute_is_looked_through(scribe: Scribe, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = containers(*(container(number, 1) for number in range(20)))
    path = written(
        scribe,
        answered(1, "ListPodSandbox", boxes(box(1))),
        *(answered(t, "ListContainers", quiet) for t in range(1, 200, 2)),
    )
    looked: list[int] = []
    decoded = Recording.decoded

    def counted(self: Recording, message: object) -> object:
        looked.append(1)
        return decoded(self, message)  # type: ignore[arg-type]

    monkeypatch.setattr(Recording, "decoded", counted)
    row = received([path], Asked(t=150 * SECOND, uid=UID, id="con-3")).said[0]
    assert json.loads(row.text)["id"] == "con-3"
    assert 0 < len(looked) < 80


def test_what_is_not_there_is_said(tmp_path: Path, scribe: Scribe) -> None:
    raw = pb.ContainerStatusResponse(status=pb.ContainerStatus(id="con-1")).SerializeToString()
    large = pb.ContainerStatus(id="con-2", message="x" * module.MOST_TEXT)
    path = written(
        scribe,
        answered(1, "ContainerStatus", raw + b"\xff", "con-1"),
        answered(
            1, "ContainerStatus", pb.ContainerStatusResponse(status=large).SerializeToString(),
            "con-2",
        ),
        answered(1, "ContainerStatus", raw + b"\xca\x3e\x01x", "con-3"),
    )  # fmt: skip
    ask = {name: received([path], Asked(t=SECOND, uid=UID, id=name)) for name in ("con-1", "con-2")}
    assert ask["con-1"].said[0].trouble == "It is no message of its kind."
    assert "too large to be shown" in ask["con-2"].said[0].trouble
    assert "/cri/container_status" in ask["con-2"].said[0].trouble
    assert received([path], Asked(t=SECOND, uid=UID, id="con-3")).said[0].unknown == 1
    # A recording without, JSON lines, no recording at all.
    bare = tmp_path / "bare.mcap"
    with_none = Scribe(info(origin=ORIGIN), lambda _part: Segment(bare))
    with_none.put_record(_note(), by_engine=False)
    with_none.turn()
    assert received([bare], Asked(t=SECOND, uid=UID)).trouble == module.NOTHING
    lines = tmp_path / "a.jsonl"
    lines.write_text("{}\n")
    assert received([lines], Asked(t=SECOND, uid=UID)).trouble == module.ONLY_LINES
    broken = tmp_path / "broken.mcap"
    broken.write_bytes(b"nothing")
    assert "plegscope recover" in received([broken], Asked(t=SECOND, uid=UID), 0).trouble
    with pytest.raises(RecordingError, match="cannot be read"):
        received([tmp_path / "none.mcap"], Asked(t=SECOND, uid=UID), 0)


def _note() -> Record:
    from app.engine.records import Note

    return Note(seq=1, t=SECOND, wall=ORIGIN + SECOND, level="info", text="a note")


def test_a_pipe_in_a_recordings_place_is_waited_for_by_nobody(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.mcap"
    os.mkfifo(pipe)
    with pytest.raises(RecordingError, match="no regular file"):
        received([pipe], Asked(t=0, uid=UID), ORIGIN)


def test_a_loss_is_told_with_what_there_is(scribe: Scribe) -> None:
    from app.recording.format import Loss

    scribe.put_loss(Loss(t=SECOND, wall=SECOND, from_t=0, answers=3, reason="the disk was full"))
    path = written(scribe, answered(2, "ListPodSandbox", boxes(box(1))))
    told = received([path], Asked(t=3 * SECOND, uid=UID))
    assert [one.id for one in told.said] == ["box-1"]
    assert told.trouble == "Some of the runtime's words are missing here: the disk was full."
