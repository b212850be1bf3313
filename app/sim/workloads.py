"""Kinds of workloads: what a cluster's controllers put on a node, and what befalls it there.

A workload is declared (names, images, how often what happens) and writes its part of the script.
Names follow Kubernetes' customs: ``name-<template hash>-<suffix>`` for a Deployment's pods,
``name-<suffix>`` for a DaemonSet's, ``name-<ordinal>`` for a StatefulSet's,
``name-<minute>-<suffix>`` for a CronJob's. All durations in ns.
"""

from collections.abc import Callable
from random import Random
from typing import Literal
from uuid import UUID

import msgspec

from app.sim.agenda import Steps
from app.sim.chance import between
from app.sim.flavour import SECOND
from app.sim.pods import (
    COMPLETED,
    ERROR,
    ContainerSpec,
    Ending,
    Lifetime,
    PodSpec,
    Resources,
    RestartPolicy,
)
from app.sim.script import (
    Action,
    AddPod,
    DeletePod,
    EndContainer,
    FailProbe,
    ResizeInPlace,
    Stage,
)

Span = tuple[int, int]

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Letters of generated names (apimachinery util/rand): no vowels, nothing that looks alike."""

HOUR = 3600 * SECOND

LAUNCHER_NOTICES = 200_000_000
"""From the end of the last worker to the launcher's, which was waiting for it."""


def suffix(rng: Random, length: int = 5) -> str:
    """A generated part of a name."""
    return "".join(rng.choices(ALPHABET, k=length))


def new_uid(rng: Random) -> str:
    """A pod's UID (a version 4 UUID)."""
    return str(UUID(int=rng.getrandbits(128), version=4))


class Mishap(msgspec.Struct, frozen=True, kw_only=True):
    """Something that befalls one pod of a workload each ``every`` (shortest, longest).

    ``ending``: the process of ``containers[0]`` ends so. Without it the liveness probes of all
    ``containers`` fail.
    """

    every: Span
    containers: tuple[str, ...]
    ending: Ending | None = None


class Resize(msgspec.Struct, frozen=True, kw_only=True):
    """At ``at`` (script time) somebody scales the workload to ``count`` pods."""

    at: int
    count: int


class InPlace(msgspec.Struct, frozen=True, kw_only=True):
    """At ``at`` (script time) all pods are given other resources in place, within ``within``.

    ``container``: which of the containers; the first when it is empty.
    """

    at: int
    resources: Resources
    within: int = 1_000_000
    container: str = ""


class MassEnd(msgspec.Struct, frozen=True, kw_only=True):
    """At ``at`` (script time) the processes of all pods end so, within ``within`` of each other.

    ``container``: which of the containers; the first when it is empty.
    """

    at: int
    ending: Ending
    within: int = 1_000_000
    container: str = ""


class Replicas(msgspec.Struct, frozen=True, kw_only=True):
    """A Deployment, DaemonSet or StatefulSet of ``count`` pods that run on and on.

    ``scale``: each so often the number of pods changes to another one within ``range``.
    ``rollout``: each so often all pods are replaced by ones of a new template. ``resizes``,
    ``mass_ends`` and ``in_place`` happen once, at their times.
    """

    namespace: str
    name: str
    containers: tuple[ContainerSpec, ...]
    kind: Literal["Deployment", "DaemonSet", "StatefulSet"] = "Deployment"
    count: int = 1
    range: tuple[int, int] | None = None
    scale: Span | None = None
    rollout: Span | None = None
    mishaps: tuple[Mishap, ...] = ()
    resizes: tuple[Resize, ...] = ()
    mass_ends: tuple[MassEnd, ...] = ()
    in_place: tuple[InPlace, ...] = ()
    host_network: bool = False
    restart_policy: RestartPolicy = "Always"

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"

    def begin(self, stage: Stage, rng: Random) -> None:
        """Place the pods and start what happens to them."""
        run = _Running(self, stage, rng)
        age = rng.randint(2 * HOUR, 90 * HOUR)
        for _ in range(self.count):
            stage.place(run.add(), age)
        for mishap in self.mishaps:
            stage.start(run.befall(mishap))
        if self.scale is not None and self.range is not None:
            stage.start(run.scale(self.scale, self.range))
        if self.rollout is not None:
            stage.start(run.roll_out(self.rollout))
        if self.resizes:
            stage.start(run.resize(sorted(self.resizes, key=lambda one: one.at)))
        for end in self.mass_ends:
            stage.start(run.end_all(end))
        for change in self.in_place:
            stage.start(run.change_all(change))


class _Running:
    """A set of replicas while the script is written: which pods it has at this time."""

    def __init__(self, order: Replicas, stage: Stage, rng: Random) -> None:
        self._order = order
        self._stage = stage
        self._rng = rng
        self._template = suffix(rng, 10)
        self._pods: list[PodSpec] = []

    def add(self) -> PodSpec:
        """One pod more."""
        order = self._order
        labels = {"app.kubernetes.io/name": order.name}
        if order.kind == "StatefulSet":
            name = f"{order.name}-{len(self._pods)}"
        elif order.kind == "DaemonSet":
            name = f"{order.name}-{suffix(self._rng)}"
        else:
            name = f"{order.name}-{self._template}-{suffix(self._rng)}"
            labels["pod-template-hash"] = self._template
        pod = PodSpec(
            uid=new_uid(self._rng),
            name=name,
            namespace=order.namespace,
            containers=order.containers,
            restart_policy=order.restart_policy,
            labels=labels,
            host_network=order.host_network,
        )
        self._pods.append(pod)
        return pod

    def scale(self, every: Span, limits: tuple[int, int]) -> Steps[None]:
        """Up and down, newest pods going first."""
        while True:
            yield between(self._rng, every)
            sizes = [size for size in range(limits[0], limits[1] + 1) if size != len(self._pods)]
            self._become(self._rng.choice(sizes))

    def resize(self, resizes: list[Resize]) -> Steps[None]:
        """To other numbers of pods, at their times."""
        now = 0
        for resize in resizes:
            yield resize.at - now
            now = resize.at
            self._become(resize.count)

    def end_all(self, end: MassEnd) -> Steps[None]:
        """Every pod's process ends at nearly the same time."""
        yield end.at
        container = end.container or self._order.containers[0].name
        yield from self._to_all(
            end.within, lambda pod: EndContainer(pod.uid, container, end.ending)
        )

    def change_all(self, change: InPlace) -> Steps[None]:
        """Every pod gets other resources at nearly the same time."""
        yield change.at
        container = change.container or self._order.containers[0].name
        yield from self._to_all(
            change.within, lambda pod: ResizeInPlace(pod.uid, container, change.resources)
        )

    def _to_all(self, within: int, action: Callable[[PodSpec], Action]) -> Steps[None]:
        """Do this to each pod that there is now, some time within ``within`` (ns)."""
        delays = {pod.uid: between(self._rng, (0, within)) for pod in self._pods}
        since = 0
        for pod in sorted(self._pods, key=lambda one: (delays[one.uid], one.uid)):
            yield delays[pod.uid] - since
            since = delays[pod.uid]
            self._stage.do(action(pod))

    def _become(self, size: int) -> None:
        while len(self._pods) < size:
            self._stage.do(AddPod(self.add()))
        while len(self._pods) > size:
            self._stage.do(DeletePod(self._pods.pop().uid))

    def roll_out(self, every: Span) -> Steps[None]:
        """A new template: a new pod comes first, then an old one goes, one after another."""
        while True:
            yield between(self._rng, every)
            self._template = suffix(self._rng, 10)
            old, self._pods = self._pods, []
            for pod in old:
                self._stage.do(AddPod(self.add()))
                yield 2 * SECOND
                self._stage.do(DeletePod(pod.uid))

    def befall(self, mishap: Mishap) -> Steps[None]:
        """Again and again it hits one of the pods."""
        while True:
            yield between(self._rng, mishap.every)
            if not self._pods:
                continue
            uid = self._rng.choice(self._pods).uid
            if mishap.ending is None:
                self._stage.do(FailProbe(uid, mishap.containers))
            else:
                self._stage.do(EndContainer(uid, mishap.containers[0], mishap.ending))


class CronJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job each ``every`` that runs for ``runs`` and is deleted ``ttl_ns`` after its end is due.

    Of ten runs ``failures`` end with exit 1; such a job gets a second pod (restartPolicy Never).
    """

    namespace: str
    name: str
    image: str
    every: Span
    runs: Span
    failures: int = 0
    ttl_ns: int = 20 * SECOND
    first_minute: int = 29_654_000
    """Number of the first job: minutes since 1970, as the CronJob controller names them."""

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"

    def begin(self, stage: Stage, rng: Random) -> None:
        """Start the schedule; the first job comes soon."""
        stage.start(self._schedule(stage, rng))

    def _schedule(self, stage: Stage, rng: Random) -> Steps[None]:
        minute = self.first_minute
        yield between(rng, (2 * SECOND, self.every[0]))
        while True:
            stage.start(self._job(stage, rng, f"{self.name}-{minute}"))
            minute += 1
            yield between(rng, self.every)

    def _job(self, stage: Stage, rng: Random, job: str) -> Steps[None]:
        runs = between(rng, self.runs)
        failing = rng.randrange(10) < self.failures
        pods = [self._pod(rng, job, runs, ERROR if failing else COMPLETED)]
        stage.do(AddPod(pods[0]))
        yield runs
        if failing:
            # The Job controller waits a while before it makes another pod.
            yield 3 * SECOND
            pods.append(self._pod(rng, job, runs, COMPLETED))
            stage.do(AddPod(pods[1]))
            yield runs
        yield self.ttl_ns
        for pod in pods:
            stage.do(DeletePod(pod.uid))

    def _pod(self, rng: Random, job: str, runs: int, ending: Ending) -> PodSpec:
        worker = ContainerSpec(
            name=self.name, image=self.image, lifetime=Lifetime((runs, runs), (ending,))
        )
        return PodSpec(
            uid=new_uid(rng),
            name=f"{job}-{suffix(rng)}",
            namespace=self.namespace,
            containers=(worker,),
            restart_policy="Never",
            labels={"batch.kubernetes.io/job-name": job},
        )


class TrainingGroup(msgspec.Struct, frozen=True, kw_only=True):
    """``size`` workers of one training job that fail together, and perhaps the launcher of them.

    Each ``every`` one worker fails (exit 1, or out of memory); the collective operation of the
    others breaks within ``follow`` and they exit too, and then the launcher, if there is one
    (``launcher``), with an error. ``failure`` says what becomes of them: ``restart``: each pod's
    kubelet restarts it in place (restartPolicy OnFailure); ``replace``: they have ended for good
    (Never), and ``again`` later the job's controller deletes all of them and makes a new group.

    This is the KEP's user story: how soon it is noticed is how soon the whole group computes again.
    """

    namespace: str
    name: str
    image: str
    every: Span
    size: int = 4
    follow: Span = (30_000_000, 400_000_000)
    launcher: bool = False
    failure: Literal["restart", "replace"] = "restart"
    again: Span = (2 * SECOND, 5 * SECOND)

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"

    def begin(self, stage: Stage, rng: Random) -> None:
        """Place the group and start its failures."""
        group = self._group(rng)
        for pod in group:
            stage.place(pod, 3 * HOUR)
        stage.start(self._failures(stage, rng, group))

    def _failures(self, stage: Stage, rng: Random, group: list[PodSpec]) -> Steps[None]:
        while True:
            yield between(rng, self.every)
            workers = group[: self.size]
            first = rng.choice(workers)
            ending = Ending(137, "OOMKilled") if rng.randrange(4) == 0 else ERROR
            stage.do(EndContainer(first.uid, "worker", ending))
            others = [(between(rng, self.follow), pod.uid) for pod in workers if pod is not first]
            since = 0
            for delay, uid in sorted(others):
                yield delay - since
                since = delay
                stage.do(EndContainer(uid, "worker", ERROR))
            for pod in group[self.size :]:
                yield LAUNCHER_NOTICES
                stage.do(EndContainer(pod.uid, "launcher", ERROR))
            if self.failure == "replace":
                yield between(rng, self.again)
                for pod in group:
                    stage.do(DeletePod(pod.uid))
                group = self._group(rng)
                for pod in group:
                    stage.do(AddPod(pod))

    def _group(self, rng: Random) -> list[PodSpec]:
        """The workers by rank, then the launcher."""
        pods = [self._pod(rng, "worker", f"worker-{rank}", rank) for rank in range(self.size)]
        if self.launcher:
            pods.append(self._pod(rng, "launcher", "launcher"))
        return pods

    def _pod(self, rng: Random, role: str, suffixed: str, rank: int | None = None) -> PodSpec:
        labels = {"training.kubeflow.org/job-name": self.name}
        if rank is not None:
            labels["training.kubeflow.org/replica-index"] = str(rank)
        if self.launcher:
            labels["training.kubeflow.org/job-role"] = role
        return PodSpec(
            uid=new_uid(rng),
            name=f"{self.name}-{suffixed}",
            namespace=self.namespace,
            containers=(ContainerSpec(name=role, image=self.image),),
            restart_policy="OnFailure" if self.failure == "restart" else "Never",
            labels=labels,
        )
