"""The demo's node: lively enough to watch, quiet enough to read, the same for the same seed."""

import subprocess
import sys
from collections import Counter
from itertools import pairwise, takewhile

import pytest

from app.engine.records import Lifecycle, RequestMade, SyncFinished
from app.sim.catalogue import default_node
from app.sim.flavour import SECOND
from app.sim.script import AddPod, DeletePod, Script, Step
from tests.sim.virtual import VirtualNode

SCRIPT = """
from itertools import islice
from app.sim.catalogue import default_node
from app.sim.script import Script
script = Script(7, default_node())
print(script.residents)
print(list(islice(script.steps(), 300)))
"""
LIFE = """
from tests.sim.test_catalogue import play
node = play(7, 2)
print(*node.events, *node.inputs, *node.records, sep="\\n")
"""


def printed(code: str, hash_seed: str) -> str:
    """What a process of its own prints, with that seed for the order of sets."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def steps(seed: int, minutes: int) -> list[Step]:
    script = Script(seed, default_node())
    return list(takewhile(lambda step: step.t <= minutes * 60 * SECOND, script.steps()))


def play(seed: int, minutes: int) -> VirtualNode:
    """The demo's node with the real engine beside it."""
    node = VirtualNode(seed, workloads=default_node())
    node.run(minutes * 60)
    return node


@pytest.fixture(scope="module")
def ten_minutes() -> VirtualNode:
    return play(7, 10)


def test_the_script_is_the_same_in_every_process_and_differs_by_seed() -> None:
    assert printed(SCRIPT, "0") == printed(SCRIPT, "4711")
    assert steps(7, 2) == steps(7, 2)
    assert steps(7, 2) != steps(8, 2)


def test_two_minutes_of_the_node_are_the_same_in_every_process() -> None:
    first = printed(LIFE, "0")
    assert first.count("\n") > 500
    assert printed(LIFE, "4711") == first


@pytest.mark.parametrize("seed", range(5))
def test_two_dozen_pods_in_five_namespaces_at_any_time(seed: int) -> None:
    script = Script(seed, default_node())
    pods = {resident.pod.uid: resident.pod for resident in script.residents}
    assert {pod.namespace for pod in pods.values()} == {
        "checkout",
        "batch",
        "training",
        "kube-system",
        "monitoring",
    }
    counts = [len(pods)]
    for step in takewhile(lambda one: one.t <= 900 * SECOND, script.steps()):
        if isinstance(step.action, AddPod):
            assert step.action.pod.uid not in pods
            pods[step.action.pod.uid] = step.action.pod
        elif isinstance(step.action, DeletePod):
            del pods[step.action.uid]
        counts.append(len(pods))
    assert min(counts) >= 20
    assert max(counts) <= 30


def test_something_is_found_every_few_seconds_but_most_lanes_stay_quiet(
    ten_minutes: VirtualNode,
) -> None:
    found = [one for one in ten_minutes.of(Lifecycle) if one.t > 5 * SECOND]
    moments = [found[0].t]
    for one in found:
        if one.t - moments[-1] > SECOND // 2:
            moments.append(one.t)
    assert 1.5 <= 595 / len(moments) <= 4
    gaps = [later - t for t, later in pairwise(moments)]
    assert max(gaps) < 20 * SECOND
    # In an average minute two thirds of the pods that are there all the time do nothing.
    residents = {resident.pod.uid for resident in Script(7, default_node()).residents}
    busy = sum(
        len({one.uid for one in found if one.t // (60 * SECOND) == minute} & residents)
        for minute in range(10)
    )
    assert busy / 10 < len(residents) / 2


def test_everything_that_the_demo_promises_happens(ten_minutes: VirtualNode) -> None:
    died = [one for one in ten_minutes.of(Lifecycle) if one.type == "ContainerDied"]
    ends = Counter((one.exit_code, one.reason) for one in died if not one.is_sandbox)
    for ending in ((0, "Completed"), (1, "Error"), (137, "OOMKilled"), (137, "Error")):
        assert ends[ending] > 2
    outcomes = Counter(one.outcome for one in ten_minutes.of(RequestMade))
    assert outcomes["queued"] > 100
    assert outcomes["held"] > 2
    assert outcomes["coalesced"] > 2
    syncs = ten_minutes.of(SyncFinished)
    assert any(one.failed for one in syncs)
    assert any(one.did_work and not one.failed for one in syncs)


def test_what_the_shadow_knows_in_the_end_is_what_the_runtime_lists(
    ten_minutes: VirtualNode,
) -> None:
    ten_minutes.run(1.5)
    known = {
        one.id: one.state
        for pod in ten_minutes.engine.pod_records().values()
        for one in (*pod.sandboxes.values(), *pod.containers.values())
    }
    listed = {one.id: one.state for one in ten_minutes.world.containers()}
    assert len(listed) > 25
    assert set(listed) <= set(known)
    pairs = {(listed[key], known[key]) for key in listed}
    assert pairs <= {("running", "running"), ("exited", "exited"), ("created", "unknown")}


def test_the_node_does_not_grow_in_an_hour() -> None:
    node = play(3, 60)
    assert len(node.workers.pods) <= 30
    assert len(node.world.containers()) <= 60
    assert len(node.agenda._heap) < 400
