"""The ``[[workload]]`` tables of a scenario file, and the workloads that they stand for."""

from typing import Annotated, Literal, TypeAlias

import msgspec

from app.sim import pods
from app.sim.catalogue import default_node
from app.sim.filepart import Count, Image, Name, Part, known, ordered, recurring
from app.sim.pods import (
    ContainerSpec,
    Ending,
    Lifetime,
    Probe,
    ProbeKind,
    Resources,
    RestartPolicy,
)
from app.sim.script import Workload
from app.sim.units import Ns, Span, millis, seconds
from app.sim.workloads import CronJob, InPlace, MassEnd, Mishap, Replicas, Resize, TrainingGroup

MOST_PODS = 1000
"""Pods of one scenario at the same time: twice what a kubelet is ever asked to run."""

EndingName = Literal["completed", "error", "oom-killed", "killed"]

ENDINGS: dict[EndingName, Ending] = {
    "completed": pods.COMPLETED,
    "error": pods.ERROR,
    "oom-killed": pods.OOM_KILLED,
    "killed": pods.KILLED,
}


CpuMilli = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
"""Thousandths of a CPU."""
MemoryMib = Annotated[int, msgspec.Meta(ge=4, le=16_777_216)]


class ProbePart(Part, frozen=True, kw_only=True):
    """A probe that fails ``after`` each start of its container, which is then killed: the liveness
    probe of a process that comes to hang, or a startup probe that gives up."""

    probe: ProbeKind = "liveness"
    after: Span

    def __post_init__(self) -> None:
        recurring("after", self.after)


NO_PROGRAM = (
    "runc create failed: unable to start container process: "
    'exec: "/app": stat /app: no such file or directory'
)
"""What the runtime says of a program that is not there."""


class ContainerPart(Part, frozen=True, kw_only=True):
    """A container. Without ``runs`` its process never ends by itself; ``ends`` are the ways in
    which it does, all equally likely. ``term``: how long it takes to heed SIGTERM. ``fails``: a
    probe that does. ``cpu_milli`` and ``memory_mib``: the resources it starts with.
    ``cannot_start``: its program is not in its image, so each start fails."""

    name: Name
    image: Image = "registry.example/app:1"
    runs: Span | None = None
    ends: Annotated[tuple[EndingName, ...], msgspec.Meta(min_length=1, max_length=20)] = ("error",)
    term: Span = (millis(60), millis(900))
    ignores_term: bool = False
    fails: ProbePart | None = None
    cpu_milli: CpuMilli = 100
    memory_mib: MemoryMib = 128
    cannot_start: bool = False

    def __post_init__(self) -> None:
        if self.runs is not None:
            ordered("runs", self.runs)
        ordered("term", self.term)

    def spec(self) -> ContainerSpec:
        """The container as the node knows it."""
        lifetime = None
        if self.runs is not None:
            lifetime = Lifetime(self.runs, tuple(ENDINGS[one] for one in self.ends))
        return ContainerSpec(
            name=self.name,
            image=self.image,
            lifetime=lifetime,
            term=None if self.ignores_term else self.term,
            probe=None if self.fails is None else Probe(self.fails.probe, self.fails.after),
            resources=Resources(self.cpu_milli, self.memory_mib),
            cannot_start=NO_PROGRAM if self.cannot_start else "",
        )


class MishapPart(Part, frozen=True, kw_only=True):
    """Again and again something befalls one of the pods: its process ends, or with
    ``probe = true`` its liveness probes fail."""

    every: Span
    ending: EndingName = "error"
    probe: bool = False
    containers: Annotated[tuple[Name, ...], msgspec.Meta(max_length=50)] = ()
    """Which containers (the first one, or all probes, when it is left out)."""

    def __post_init__(self) -> None:
        recurring("every", self.every)


class ResizePart(Part, frozen=True, kw_only=True):
    """At ``at`` the workload is scaled to ``count``."""

    at: Ns
    count: Count


class MassEndPart(Part, frozen=True, kw_only=True):
    """At ``at`` one process of every pod ends, all within ``within``."""

    at: Ns
    ending: EndingName = "error"
    within: Ns = millis(1)
    container: Name | None = None


class InPlacePart(Part, frozen=True, kw_only=True):
    """At ``at`` every pod that is there is given these resources in place (without a restart), all
    within ``within``: what a vertical autoscaler, or ``kubectl patch --subresource resize``, does.
    ``container``: which one (the first, when it is left out)."""

    at: Ns
    cpu_milli: CpuMilli
    memory_mib: MemoryMib
    within: Ns = millis(1)
    container: Name | None = None


class WorkloadPart(Part, frozen=True, kw_only=True, tag_field="kind"):
    """Something that puts pods on the node."""


class DemoPart(WorkloadPart, frozen=True, kw_only=True, tag="demo"):
    """The whole node of ``plegscope demo``."""

    def workloads(self) -> tuple[Workload, ...]:
        """The workloads this stands for."""
        return default_node()

    def most_pods(self) -> int:
        """Pods at the same time, at most."""
        return 40


class ReplicasPart(WorkloadPart, frozen=True, kw_only=True, tag="replicas"):
    """Pods that run on and on, there from the beginning; scaled, rolled out, ended.

    ``range`` and ``scale_every``: each so often to another number of pods within the range.
    """

    name: Name
    namespace: Name = "default"
    controller: Literal["Deployment", "DaemonSet", "StatefulSet"] = "Deployment"
    count: Count = 1
    image: Image = "registry.example/app:1"
    container: Annotated[tuple[ContainerPart, ...], msgspec.Meta(max_length=50)] = ()
    restart_policy: RestartPolicy = "Always"
    host_network: bool = False
    range: tuple[Count, Count] | None = None
    scale_every: Span | None = None
    rollout_every: Span | None = None
    mishap: Annotated[tuple[MishapPart, ...], msgspec.Meta(max_length=50)] = ()
    resize: Annotated[tuple[ResizePart, ...], msgspec.Meta(max_length=500)] = ()
    end_all: Annotated[tuple[MassEndPart, ...], msgspec.Meta(max_length=500)] = ()
    resize_in_place: Annotated[tuple[InPlacePart, ...], msgspec.Meta(max_length=500)] = ()

    def __post_init__(self) -> None:
        if (self.range is None) != (self.scale_every is None):
            raise ValueError("`range` and `scale_every` go together")
        if self.range is not None and self.range[0] >= self.range[1]:
            raise ValueError("`range` is the smallest and the largest number, such as [2, 4]")
        if self.scale_every is not None:
            recurring("scale_every", self.scale_every)
        if self.rollout_every is not None:
            recurring("rollout_every", self.rollout_every)
        names = [one.name for one in self.container]
        if len(set(names)) != len(names):
            raise ValueError("two containers of a pod cannot have one name")
        there = tuple(names) or (self.name,)
        for mishap in self.mishap:
            known(there, mishap.containers)
        named = [one.container for one in self.end_all]
        named += [one.container for one in self.resize_in_place]
        known(there, tuple(name for name in named if name is not None))

    def workloads(self) -> tuple[Workload, ...]:
        """The workloads this stands for."""
        parts = self.container or (ContainerPart(name=self.name, image=self.image),)
        containers = tuple(one.spec() for one in parts)
        return (
            Replicas(
                namespace=self.namespace,
                name=self.name,
                containers=containers,
                kind=self.controller,
                count=self.count,
                range=self.range,
                scale=self.scale_every,
                rollout=self.rollout_every,
                mishaps=tuple(self._mishap(one) for one in self.mishap),
                resizes=tuple(Resize(at=one.at, count=one.count) for one in self.resize),
                mass_ends=tuple(
                    MassEnd(
                        at=one.at,
                        ending=ENDINGS[one.ending],
                        within=one.within,
                        container=one.container or "",
                    )
                    for one in self.end_all
                ),
                in_place=tuple(
                    InPlace(
                        at=one.at,
                        resources=Resources(one.cpu_milli, one.memory_mib),
                        within=one.within,
                        container=one.container or "",
                    )
                    for one in self.resize_in_place
                ),
                host_network=self.host_network,
                restart_policy=self.restart_policy,
            ),
        )

    def most_pods(self) -> int:
        """Pods at the same time, at most."""
        sizes = [self.count, *(one.count for one in self.resize)]
        # A rollout has a new pod beside each old one for a moment.
        return max(*sizes, self.range[1] if self.range else 0) + (self.rollout_every is not None)

    def _mishap(self, part: MishapPart) -> Mishap:
        names = tuple(one.name for one in self.container) or (self.name,)
        ending = None if part.probe else ENDINGS[part.ending]
        return Mishap(every=part.every, containers=part.containers or names, ending=ending)


class CronJobPart(WorkloadPart, frozen=True, kw_only=True, tag="cron-job"):
    """A job ``every`` so often that runs for ``runs``; of ten, ``failures`` fail once.

    Its pods are deleted ``ttl`` after their end.
    """

    name: Name
    namespace: Name = "default"
    image: Image = "registry.example/job:1"
    every: Span
    runs: Span
    failures: Annotated[int, msgspec.Meta(ge=0, le=10)] = 0
    ttl: Ns = seconds(20)

    def __post_init__(self) -> None:
        recurring("every", self.every)
        ordered("runs", self.runs)
        overlap = (2 * self.runs[1] + seconds(3) + self.ttl) // self.every[0]
        if overlap > MOST_PODS:
            raise ValueError("so many jobs would run at once; give a longer `every`")

    def workloads(self) -> tuple[Workload, ...]:
        """The workloads this stands for."""
        return (
            CronJob(
                namespace=self.namespace,
                name=self.name,
                image=self.image,
                every=self.every,
                runs=self.runs,
                failures=self.failures,
                ttl_ns=self.ttl,
            ),
        )

    def most_pods(self) -> int:
        """Pods at the same time, at most."""
        return 2 * ((2 * self.runs[1] + seconds(3) + self.ttl) // self.every[0] + 1)


class TrainingPart(WorkloadPart, frozen=True, kw_only=True, tag="training-group"):
    """``size`` workers of a training job, one of which fails ``every`` so often; the others follow
    within ``follow``, and then the ``launcher``, if there is one. With ``failure = "restart"`` all
    are restarted where they are; with ``"replace"`` they have ended for good, and ``again`` later
    the job's controller makes a new group in their place."""

    name: Name
    namespace: Name = "default"
    image: Image = "registry.example/trainer:1"
    every: Span
    size: Annotated[int, msgspec.Meta(ge=1, le=500)] = 4
    follow: Span = (millis(30), millis(400))
    launcher: bool = False
    failure: Literal["restart", "replace"] = "restart"
    again: Span = (seconds(2), seconds(5))

    def __post_init__(self) -> None:
        recurring("every", self.every)
        ordered("follow", self.follow)
        ordered("again", self.again)

    def workloads(self) -> tuple[Workload, ...]:
        """The workloads this stands for."""
        return (
            TrainingGroup(
                namespace=self.namespace,
                name=self.name,
                image=self.image,
                every=self.every,
                size=self.size,
                follow=self.follow,
                launcher=self.launcher,
                failure=self.failure,
                again=self.again,
            ),
        )

    def most_pods(self) -> int:
        """Pods at the same time, at most."""
        # The old group is still being terminated when the new one comes.
        return (self.size + self.launcher) * (2 if self.failure == "replace" else 1)


AnyWorkload: TypeAlias = DemoPart | ReplicasPart | CronJobPart | TrainingPart
