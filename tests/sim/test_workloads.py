"""Kinds of workloads: names, numbers, and what befalls their pods."""

import re
from collections import Counter
from itertools import pairwise, takewhile
from typing import Any

import pytest

from app.sim.flavour import SECOND
from app.sim.pods import ERROR, OOM_KILLED, PodSpec, Resources
from app.sim.script import (
    AddPod,
    DeletePod,
    EndContainer,
    FailProbe,
    ResizeInPlace,
    Script,
    Step,
    Workload,
)
from app.sim.workloads import (
    CronJob,
    InPlace,
    MassEnd,
    Mishap,
    Replicas,
    Resize,
    TrainingGroup,
)
from tests.sim.orders import runs_on

SUFFIX = r"[bcdfghjklmnpqrstvwxz2456789]{5}"
HASH = r"[bcdfghjklmnpqrstvwxz2456789]{10}"


def play(workload: Workload, seconds: int = 600, seed: int = 1) -> tuple[list[PodSpec], list[Step]]:
    """The pods that are there from the start, and what happens."""
    script = Script(seed, [workload])
    steps = list(takewhile(lambda step: step.t <= seconds * SECOND, script.steps()))
    return [resident.pod for resident in script.residents], steps


def added(steps: list[Step]) -> list[PodSpec]:
    return [step.action.pod for step in steps if isinstance(step.action, AddPod)]


def replicas(**more: Any) -> Replicas:
    given: dict[str, Any] = {"namespace": "shop", "name": "web", "containers": (runs_on(),), **more}
    return Replicas(**given)


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        ("Deployment", rf"web-{HASH}-{SUFFIX}"),
        ("DaemonSet", rf"web-{SUFFIX}"),
        ("StatefulSet", r"web-\d"),
    ],
)
def test_pods_are_called_as_their_controller_calls_them(kind: str, pattern: str) -> None:
    pods, steps = play(replicas(kind=kind, count=3))
    assert len(pods) == 3
    assert all(re.fullmatch(pattern, pod.name) for pod in pods)
    assert len({pod.name for pod in pods}) == len({pod.uid for pod in pods}) == 3
    assert steps == []


def test_pods_of_one_deployment_share_the_template_hash_and_carry_it_as_a_label() -> None:
    pods, _ = play(replicas(count=3))
    (template,) = {pod.labels["pod-template-hash"] for pod in pods}
    assert all(f"-{template}-" in pod.name for pod in pods)


def test_uids_are_version_4_uuids() -> None:
    pods, _ = play(replicas(count=5))
    uuid4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert all(re.fullmatch(uuid4, pod.uid) for pod in pods)


def test_scaling_stays_within_its_range_and_always_changes_something() -> None:
    limits = (1, 4)
    pods, steps = play(
        replicas(count=2, range=limits, scale=(10 * SECOND, 20 * SECOND)), seconds=1200
    )
    present = {pod.uid for pod in pods}
    sizes = [len(present)]
    for t in dict.fromkeys(step.t for step in steps):
        for step in steps:
            if step.t != t:
                continue
            if isinstance(step.action, AddPod):
                present.add(step.action.pod.uid)
            elif isinstance(step.action, DeletePod):
                present.remove(step.action.uid)  # KeyError: deleted what is not there
        sizes.append(len(present))
    assert len(sizes) > 50
    assert all(limits[0] <= size <= limits[1] for size in sizes)
    assert all(now != before for before, now in pairwise(sizes))
    assert set(sizes) == {1, 2, 3, 4}


def test_a_rollout_replaces_every_pod_new_one_first() -> None:
    pods, steps = play(replicas(count=2, rollout=(100 * SECOND, 100 * SECOND)), seconds=110)
    assert [type(step.action) for step in steps] == [AddPod, DeletePod, AddPod, DeletePod]
    new = added(steps)
    assert {pod.labels["pod-template-hash"] for pod in new}.isdisjoint(
        {pod.labels["pod-template-hash"] for pod in pods}
    )
    assert [step.action.uid for step in steps if isinstance(step.action, DeletePod)] == [
        pod.uid for pod in pods
    ]


def test_mishaps_hit_all_pods_in_turn_and_keep_their_distance() -> None:
    every = (20 * SECOND, 40 * SECOND)
    pods, steps = play(
        replicas(count=3, mishaps=(Mishap(every=every, containers=("app",), ending=OOM_KILLED),)),
        seconds=3000,
    )
    hits = Counter(step.action.uid for step in steps if isinstance(step.action, EndContainer))
    assert set(hits) == {pod.uid for pod in pods}
    gaps = [later.t - step.t for step, later in pairwise(steps)]
    assert all(every[0] <= gap <= every[1] for gap in gaps)
    assert {step.action.ending for step in steps if isinstance(step.action, EndContainer)} == {
        OOM_KILLED
    }


def test_a_mishap_without_an_ending_is_a_failing_probe_of_all_its_containers() -> None:
    mishap = Mishap(every=(20 * SECOND, 20 * SECOND), containers=("app", "side"))
    pods, steps = play(replicas(mishaps=(mishap,)), seconds=20)
    assert [step.action for step in steps] == [FailProbe(pods[0].uid, ("app", "side"))]


def test_mishaps_spare_pods_that_were_scaled_away() -> None:
    mishap = Mishap(every=(3 * SECOND, 9 * SECOND), containers=("app",), ending=ERROR)
    pods, steps = play(
        replicas(count=1, range=(0, 2), scale=(5 * SECOND, 9 * SECOND), mishaps=(mishap,)),
        seconds=2000,
    )
    present = {pod.uid for pod in pods}
    hits = 0
    for step in steps:
        match step.action:
            case AddPod():
                present.add(step.action.pod.uid)
            case DeletePod():
                present.remove(step.action.uid)
            case EndContainer():
                hits += 1
                assert step.action.uid in present
    assert hits > 100


def test_somebody_scales_to_nothing_and_back_at_certain_times() -> None:
    resizes = (Resize(at=50 * SECOND, count=3), Resize(at=30 * SECOND, count=0))
    pods, steps = play(replicas(count=2, resizes=resizes))
    assert [(step.t // SECOND, type(step.action)) for step in steps] == [
        *[(30, DeletePod)] * 2,
        *[(50, AddPod)] * 3,
    ]
    gone = {step.action.uid for step in steps if isinstance(step.action, DeletePod)}
    assert gone == {pod.uid for pod in pods}
    assert gone.isdisjoint({pod.uid for pod in added(steps)})


def test_all_end_within_a_moment() -> None:
    end = MassEnd(at=30 * SECOND, ending=OOM_KILLED, within=2 * SECOND)
    resize = Resize(at=10 * SECOND, count=7)
    pods, steps = play(replicas(count=4, resizes=(resize,), mass_ends=(end,)))
    ends = [step for step in steps if isinstance(step.action, EndContainer)]
    present = {pod.uid for pod in pods} | {pod.uid for pod in added(steps)}
    assert {step.action.uid for step in ends if isinstance(step.action, EndContainer)} == present
    assert len(ends) == len(present) == 7
    assert all(30 * SECOND <= step.t <= 32 * SECOND for step in ends)
    assert len({step.t for step in ends}) > 5


def test_a_certain_container_of_each_pod_ends() -> None:
    end = MassEnd(at=SECOND, ending=ERROR, container="side")
    _, steps = play(replicas(containers=(runs_on("app"), runs_on("side")), mass_ends=(end,)))
    assert [step.action.container for step in steps if isinstance(step.action, EndContainer)] == [
        "side"
    ]


def test_all_that_are_there_are_resized_in_place_within_a_moment() -> None:
    change = InPlace(at=30 * SECOND, resources=Resources(500, 256), within=2 * SECOND)
    resize = Resize(at=10 * SECOND, count=5)
    pods, steps = play(replicas(count=2, resizes=(resize,), in_place=(change,)))
    done = [step for step in steps if isinstance(step.action, ResizeInPlace)]
    present = {pod.uid for pod in pods} | {pod.uid for pod in added(steps)}
    assert {one.action.uid for one in done if isinstance(one.action, ResizeInPlace)} == present
    assert len(done) == 5
    assert all(30 * SECOND <= step.t <= 32 * SECOND for step in done)
    assert {one.action for one in done} == {
        ResizeInPlace(uid, "app", Resources(500, 256)) for uid in present
    }


def test_a_certain_container_of_each_pod_is_resized() -> None:
    change = InPlace(at=SECOND, resources=Resources(1, 4), container="side")
    _, steps = play(replicas(containers=(runs_on("app"), runs_on("side")), in_place=(change,)))
    (step,) = steps
    assert isinstance(step.action, ResizeInPlace)
    assert step.action.container == "side"


def cron(**more: Any) -> CronJob:
    given: dict[str, Any] = {
        "namespace": "batch",
        "name": "invoice",
        "image": "i",
        "every": (20 * SECOND, 20 * SECOND),
        "runs": (4 * SECOND, 6 * SECOND),
        **more,
    }
    return CronJob(**given)


def test_a_cron_job_makes_a_pod_of_its_own_each_time() -> None:
    pods, steps = play(cron())
    assert pods == []
    made = added(steps)
    assert 25 <= len(made) <= 31
    assert all(re.fullmatch(rf"invoice-\d{{8}}-{SUFFIX}", pod.name) for pod in made)
    numbers = [int(pod.name.split("-")[1]) for pod in made]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    for pod in made:
        assert pod.restart_policy == "Never"
        assert pod.labels["batch.kubernetes.io/job-name"] == pod.name.rsplit("-", 1)[0]


def test_a_jobs_pod_is_deleted_some_time_after_it_is_done() -> None:
    _, steps = play(cron(ttl_ns=15 * SECOND))
    began = {step.action.pod.uid: step.t for step in steps if isinstance(step.action, AddPod)}
    deleted = {step.action.uid: step.t for step in steps if isinstance(step.action, DeletePod)}
    assert len(deleted) > 20
    assert all(19 * SECOND <= t - began[uid] <= 21 * SECOND for uid, t in deleted.items())


def test_a_job_that_fails_gets_a_second_pod_that_completes() -> None:
    _, steps = play(cron(failures=10))
    jobs: dict[str, list[int]] = {}
    for pod in added(steps):
        life = pod.containers[0].lifetime
        assert life is not None
        job = pod.labels["batch.kubernetes.io/job-name"]
        jobs.setdefault(job, []).append(life.endings[0].exit_code)
    assert list(jobs.values())[:20] == [[1, 0]] * 20


def test_a_training_group_fails_together_within_half_a_second() -> None:
    every = (60 * SECOND, 90 * SECOND)
    pods, steps = play(
        TrainingGroup(namespace="training", name="resnet", image="i", every=every), seconds=3000
    )
    assert [pod.name for pod in pods] == [f"resnet-worker-{rank}" for rank in range(4)]
    assert {pod.restart_policy for pod in pods} == {"OnFailure"}
    groups = [steps[at : at + 4] for at in range(0, len(steps) - 3, 4)]
    assert len(groups) > 30
    for group in groups:
        uids = [step.action.uid for step in group if isinstance(step.action, EndContainer)]
        assert sorted(uids) == sorted(pod.uid for pod in pods)
        assert group[-1].t - group[0].t <= 400_000_000
    first = [group[0].action for group in groups]
    reasons = {one.ending.reason for one in first if isinstance(one, EndContainer)}
    assert reasons == {"Error", "OOMKilled"}


def group(**more: Any) -> TrainingGroup:
    every = (60 * SECOND, 90 * SECOND)
    return TrainingGroup(namespace="training", name="resnet", image="i", every=every, **more)


def test_a_launcher_ends_after_its_workers_and_is_restarted_like_them() -> None:
    pods, steps = play(group(launcher=True))
    assert [pod.name for pod in pods][-1] == "resnet-launcher"
    launcher = pods[-1]
    assert launcher.restart_policy == "OnFailure"
    assert launcher.labels["training.kubeflow.org/job-role"] == "launcher"
    ends = [step for step in steps if isinstance(step.action, EndContainer)]
    for at in range(4, len(ends), 5):
        last, end = ends[at - 1], ends[at].action
        assert isinstance(end, EndContainer)
        assert (end.uid, end.container, end.ending) == (launcher.uid, "launcher", ERROR)
        assert ends[at].t > last.t


def test_a_group_that_has_ended_for_good_is_replaced_as_a_whole() -> None:
    pods, steps = play(group(launcher=True, failure="replace"))
    assert {pod.restart_policy for pod in pods} == {"Never"}
    kinds = [type(step.action) for step in steps]
    assert kinds[:15] == [EndContainer] * 5 + [DeletePod] * 5 + [AddPod] * 5
    gone = [step.action.uid for step in steps[5:10] if isinstance(step.action, DeletePod)]
    assert gone == [pod.uid for pod in pods]
    made = added(steps)[:5]
    assert [pod.name for pod in made] == [pod.name for pod in pods]
    assert {pod.uid for pod in made}.isdisjoint(gone)
    assert 2 * SECOND <= steps[5].t - steps[4].t <= 5 * SECOND
    # The next failure is the new group's.
    later = steps[15].action
    assert isinstance(later, EndContainer)
    assert later.uid in {pod.uid for pod in made}
