"""What a real containerd sends is in the recording as it was sent, and without names if asked."""

from __future__ import annotations

from pathlib import Path

from app.cri.pb import cri_pb2 as pb
from app.export.names import Names
from app.export.redact import Redactor
from app.export.redactfile import redact_file
from app.recording.answers import Answer
from app.recording.format import ANSWERS
from app.recording.reading import Heard, Recording
from app.recording.rerun import compare
from tests.export.leaks import content, leaked, messages, names_of
from tests.lab.containerd import Containerd
from tests.lab.pods import Pods
from tests.watching import watching


def test_lists_statuses_and_events_are_recorded_as_sent(
    containerd2: Containerd, pods2: Pods, tmp_path: Path
) -> None:
    path = tmp_path / "a.mcap"
    with watching(containerd2.endpoint, "--record-to", str(path)) as watch:
        stays, dies = pods2.run("stays"), pods2.run("dies")
        watch.wait_kind("lifecycle", type="ContainerStarted", container_id=dies.container_ids[0])
        pods2.kill(dies)
        watch.wait_died(dies.container_ids[0])
        watch.wait_agrees(lambda: pods2.listing(everything=True).containers)
        after = watch.mark()
        watch.wait_kind("relist_finished", after=after, scope="global")
    with Recording(path, answers=True) as recording:
        items = list(recording.items())
        assert (recording.damaged, recording.unreadable, recording.finished) == (0, 0, True)
    answers = [one for one in items if isinstance(one, Answer)]
    listed = [one for one in answers if one.method == "ListContainers" and not one.asked_for]
    rows = {row.id: row for row in pb.ListContainersResponse.FromString(listed[-1].raw).containers}
    assert rows[stays.container_ids[0]].state == pb.CONTAINER_RUNNING
    assert rows[dies.container_ids[0]].state == pb.CONTAINER_EXITED
    assert rows[dies.container_ids[0]].labels["io.kubernetes.pod.uid"] == dies.uid
    (*_before, status) = [one for one in answers if one.asked_for == dies.container_ids[0]]
    ended = pb.ContainerStatusResponse.FromString(status.raw).status
    assert (ended.state, ended.exit_code) == (pb.CONTAINER_EXITED, 137)
    # What plegscope does not know of (mounts, resources) is there too.
    ended.DiscardUnknownFields()
    assert ended.ByteSize() + 10 < len(status.raw)
    heard = [pb.ContainerEventResponse.FromString(o.raw) for o in items if isinstance(o, Heard)]
    assert dies.container_ids[0] in {one.container_id for one in heard}
    # Most lists are told in a line.
    lines = [data for number, data in messages(path) if number == ANSWERS]
    assert len(lines) == len(answers)
    assert compare([path]).differs is None

    out = tmp_path / "b.mcap"
    done = redact_file(path, out, Redactor(Names(b"k" * 32, lasting=False), containers=True))
    assert (done.left_out, done.missing) == (0, [])
    names = names_of(path)
    assert {dies.uid, dies.container_ids[0]} <= names
    assert leaked(names, content(out)) == []
