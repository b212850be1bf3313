"""The workloads that a scenario file may describe."""

import re
from importlib import resources
from typing import get_args

import msgspec
import pytest

from app.errors import ScenarioError
from app.sim.catalogue import default_node
from app.sim.library import parse
from app.sim.pods import ERROR, OOM_KILLED, Lifetime, Probe, Resources
from app.sim.scenario import Scenario
from app.sim.scenariofile import ScenarioFile
from app.sim.units import millis, seconds
from app.sim.workloadparts import (
    AnyWorkload,
    ContainerPart,
    CronJobPart,
    InPlacePart,
    MassEndPart,
    MishapPart,
    ProbePart,
    ReplicasPart,
    ResizePart,
    TrainingPart,
)
from app.sim.workloads import CronJob, InPlace, Replicas, TrainingGroup
from tests.sim.reading import convert

HEAD = 'title = "A title"\nshows = "Something."\n'


def read(text: str) -> Scenario:
    return parse(HEAD + text, "mine")


def replicas(text: str) -> Replicas:
    (made,) = read(f'[[workload]]\nkind = "replicas"\nname = "web"\n{text}').workloads
    assert isinstance(made, Replicas)
    return made


def test_replicas_by_default_are_one_pod_with_one_container_that_runs_on() -> None:
    made = replicas("")
    assert (made.namespace, made.name, made.kind, made.count) == ("default", "web", "Deployment", 1)
    (container,) = made.containers
    assert (container.name, container.lifetime) == ("web", None)


def test_all_that_replicas_may_say() -> None:
    made = replicas(
        """
        namespace = "shop"
        controller = "StatefulSet"
        count = 3
        restart_policy = "OnFailure"
        host_network = true
        range = [0, 5]
        scale_every = ["10s", "20s"]
        rollout_every = ["1m", "2m"]
        container = [
            { name = "app", image = "i:1", runs = ["1s", "2s"], ends = ["error", "oom-killed"] },
            { name = "side", ignores_term = true },
        ]
        mishap = [
            { every = ["5s", "6s"], ending = "oom-killed" },
            { every = ["7s", "8s"], containers = ["side"] },
            { every = ["9s", "9s"], probe = true },
        ]
        resize = [{ at = "30s", count = 0 }]
        end_all = [{ at = "40s", ending = "error", within = "2ms", container = "side" }]
        """
    )
    assert (made.namespace, made.kind, made.count) == ("shop", "StatefulSet", 3)
    assert (made.restart_policy, made.host_network) == ("OnFailure", True)
    assert (made.range, made.scale) == ((0, 5), (seconds(10), seconds(20)))
    assert made.rollout == (seconds(60), seconds(120))
    app, side = made.containers
    assert (app.name, app.image) == ("app", "i:1")
    assert app.lifetime == Lifetime((seconds(1), seconds(2)), (ERROR, OOM_KILLED))
    assert (side.lifetime, side.term) == (None, None)
    assert [(one.ending, one.containers) for one in made.mishaps] == [
        (OOM_KILLED, ("app", "side")),
        (ERROR, ("side",)),
        (None, ("app", "side")),
    ]
    (resize,) = made.resizes
    assert (resize.at, resize.count) == (seconds(30), 0)
    (end,) = made.mass_ends
    assert (end.at, end.ending, end.within, end.container) == (
        seconds(40),
        ERROR,
        millis(2),
        "side",
    )


def test_the_other_kinds_of_workloads() -> None:
    made = read(
        """
        [[workload]]
        kind = "cron-job"
        name = "invoice"
        every = ["20s", "30s"]
        runs = ["2s", "3s"]
        failures = 2
        ttl = "5s"

        [[workload]]
        kind = "training-group"
        name = "resnet"
        every = ["1m", "2m"]
        size = 8
        """
    )
    job, group = made.workloads
    assert isinstance(job, CronJob)
    assert (job.every, job.runs, job.failures) == (
        (seconds(20), seconds(30)),
        (seconds(2), seconds(3)),
        2,
    )
    assert job.ttl_ns == seconds(5)
    assert isinstance(group, TrainingGroup)
    assert (group.size, group.follow) == (8, (millis(30), millis(400)))


def test_the_demos_node_as_a_workload() -> None:
    assert read('[[workload]]\nkind = "demo"\n').workloads == default_node()


@pytest.mark.parametrize(
    ("workload", "pods"),
    [
        ('kind = "replicas"\nname = "w"\ncount = 5', 5),
        ('kind = "replicas"\nname = "w"\ncount = 5\nrange = [1, 9]\nscale_every = ["1s", "1s"]', 9),
        ('kind = "replicas"\nname = "w"\nresize = [{ at = "1s", count = 50 }]', 50),
        ('kind = "replicas"\nname = "w"\nrollout_every = ["1s", "1s"]', 2),
        ('kind = "training-group"\nname = "w"\nevery = ["1s", "1s"]\nsize = 3', 3),
        ('kind = "cron-job"\nname = "w"\nevery = ["10s", "10s"]\nruns = ["1s", "9s"]', 10),
        ('kind = "demo"', 40),
    ],
)
def test_the_most_pods_at_the_same_time_are_known_beforehand(workload: str, pods: int) -> None:
    assert (
        convert(HEAD + f"[[workload]]\n{workload}\n", ScenarioFile).workload[0].most_pods() == pods
    )


def test_a_container_may_have_a_probe_that_fails_and_a_size() -> None:
    made = replicas(
        'container = [{ name = "app", cpu_milli = 250, memory_mib = 64, '
        'fails = { probe = "startup", after = ["5s", "9s"] } }]'
    )
    (container,) = made.containers
    assert container.resources == Resources(250, 64)
    assert container.probe == Probe("startup", (seconds(5), seconds(9)))
    hangs = replicas('container = [{ name = "app", fails = { after = ["5s", "9s"] } }]')
    assert hangs.containers[0].probe == Probe("liveness", (seconds(5), seconds(9)))


def test_pods_may_be_resized_in_place() -> None:
    made = replicas(
        """
        container = [{ name = "app" }, { name = "side" }]
        resize_in_place = [
            { at = "30s", cpu_milli = 500, memory_mib = 256 },
            { at = "40s", cpu_milli = 100, memory_mib = 64, within = "2s", container = "side" },
        ]
        """
    )
    assert made.in_place == (
        InPlace(at=seconds(30), resources=Resources(500, 256)),
        InPlace(at=seconds(40), resources=Resources(100, 64), within=seconds(2), container="side"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('resize_in_place = [{ at = "1s", cpu_milli = 0, memory_mib = 64 }]', "cpu_milli"),
        ('resize_in_place = [{ at = "1s", cpu_milli = 100, memory_mib = 1 }]', "memory_mib"),
        (
            'resize_in_place = [{ at = "1s", cpu_milli = 1, memory_mib = 9, container = "x" }]',
            "there is no container x",
        ),
        ('container = [{ name = "a", fails = { after = ["9s", "5s"] } }]', "in this order"),
        ('container = [{ name = "a", fails = { probe = "readiness" } }]', "probe"),
    ],
)
def test_what_a_resize_or_a_probe_cannot_be(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        replicas(text)


def test_a_training_group_may_have_a_launcher_and_be_replaced() -> None:
    head = '[[workload]]\nkind = "training-group"\nname = "resnet"\nevery = ["30s", "40s"]\n'
    (plain,) = read(head).workloads
    assert isinstance(plain, TrainingGroup)
    assert (plain.launcher, plain.failure) == (False, "restart")
    (group,) = read(
        head + 'size = 8\nlauncher = true\nfailure = "replace"\nagain = ["1s", "2s"]'
    ).workloads
    assert isinstance(group, TrainingGroup)
    assert (group.launcher, group.failure) == (True, "replace")
    assert group.again == (seconds(1), seconds(2))


def test_a_group_that_is_replaced_counts_twice_as_old_and_new_meet() -> None:
    head = '[[workload]]\nkind = "training-group"\nname = "resnet"\nevery = ["30s", "40s"]\n'
    assert read(head + "size = 500").workloads
    with pytest.raises(ScenarioError, match="1000 pods"):
        read(head + 'size = 500\nlauncher = true\nfailure = "replace"')


def keys(kind: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(kind)}


@pytest.mark.parametrize(
    "kind",
    [
        ReplicasPart,
        ContainerPart,
        ProbePart,
        MishapPart,
        ResizePart,
        MassEndPart,
        InPlacePart,
        CronJobPart,
        TrainingPart,
    ],
)
def test_every_key_is_explained(kind: type[msgspec.Struct]) -> None:
    page = (resources.files("app.sim") / "scenarios" / "WORKLOADS.md").read_text("utf-8")
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`[^`]*`", page))))
    assert keys(kind) <= named


@pytest.mark.parametrize("kind", get_args(AnyWorkload))
def test_every_kind_is_explained(kind: type[msgspec.Struct]) -> None:
    page = (resources.files("app.sim") / "scenarios" / "WORKLOADS.md").read_text("utf-8")
    assert f'`kind = "{kind.__struct_config__.tag}"`' in page


def test_a_container_whose_program_is_not_there() -> None:
    made = replicas('container = [{ name = "app", cannot_start = true }, { name = "side" }]')
    app, side = made.containers
    assert app.cannot_start.endswith("stat /app: no such file or directory")
    assert side.cannot_start == ""
