"""A runtime that is restarted, and one that is frozen."""

from __future__ import annotations

from tests.lab.kubelet import SLEEP
from tests.parity.node import Node, carried, listening, run, told
from tests.parity.suite import ended, of, refusal, scenario


@scenario
def a_death_while_the_runtime_is_down_has_no_event(node: Node) -> None:
    """The stream ends with the runtime, nothing is replayed, later deaths are told as usual."""
    family, pods = node.family, node.pods
    pod = pods.run("web", containers=3)
    stays, dies, later = pod.container_ids
    with listening(node) as before:
        told(node, before, pod)
        node.restart(meanwhile=dies)
        if family.stream:
            assert before.ended() == family.ends_with
    info = ended(node, dies)
    assert (info.exit_code, info.reason) == family.overlooked
    died = info.finished_at
    with listening(node) as after:
        node.kill(later)
        late = ended(node, later)
        assert (late.exit_code, late.reason) == (137, "Error")
        assert told(node, after, pod) == of(family, ("STOPPED", "c2"))
        for event in after.wait(bool, "an event"):
            if event.container_id == later:
                assert carried(event) == {stays: "RUNNING", dies: "EXITED", later: "EXITED"}
    assert died <= late.finished_at
    assert pods.status(stays).state == "CONTAINER_RUNNING"


@scenario
def a_frozen_runtime_answers_nothing_and_tells_later(node: Node) -> None:
    """SIGSTOP: calls hang, the stream is open and silent; after SIGCONT the death is told."""
    family, pods = node.family, node.pods
    with listening(node) as ear:
        pod, app = run(node, SLEEP)
        before = told(node, ear, pod)
        kill = node.killer(app)
        node.freeze()
        code = refusal(lambda: pods.cri.call("Version", timeout_s=0.3))
        assert code == "DEADLINE_EXCEEDED"
        kill()
        if family.stream:
            assert ear.end == ""
        node.thaw()
        info = ended(node, app)
        assert (info.exit_code, info.reason) == (137, "Error")
        assert told(node, ear, pod) == before + of(family, ("STOPPED", "c0"))
