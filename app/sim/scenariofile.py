"""Scenario files: what may stand in one, and how it becomes a scenario.

A scenario file is TOML. ``title``, ``shows``, ``seed`` and ``duration`` stand at its head; what
``shows`` claims is meant of the profile ``kep``, unless it says "Under `kep`" itself beside others.
``[[workload]]`` tables put pods on the node, ``[[fault]]`` tables say what goes wrong and when;
``[engine]`` and ``[node]`` change numbers of the kubelet, and ``[node]`` names the
runtime. Durations are texts, such as "30s"; a pair of them is the shortest and the longest of
something drawn by chance. All times count from the beginning. A file comes from outside: its size
and all in it is bounded.
"""

from typing import Annotated

import msgspec

from app.engine.settings import EngineSettings
from app.sim.faults import AnyFault
from app.sim.filepart import Line, Part, Text, at_least, ordered
from app.sim.flavours import FLAVOURS, FlavourName
from app.sim.scenario import Scenario
from app.sim.timings import Timings
from app.sim.units import Ns, Span, millis, seconds
from app.sim.workers import WorkerSettings
from app.sim.workloadparts import MOST_PODS, AnyWorkload


class EnginePart(Part, frozen=True, kw_only=True):
    """Numbers of the PLEG; those of the kubelet and the KEP when left out."""

    period: Ns = seconds(1)
    threshold: Ns = seconds(180)
    queue: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 200
    event_channel: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 1000
    backoff_cap: Ns = seconds(60)
    healthy_after: Ns = seconds(60)
    cache_tick: Ns = seconds(2)
    """Under `legacy`: how often the pod cache's time moves without a relist ("5s" before 1.35)."""

    def __post_init__(self) -> None:
        at_least("period", self.period, millis(10))
        at_least("backoff_cap", self.backoff_cap, millis(10))
        at_least("cache_tick", self.cache_tick, millis(10))

    def settings(self) -> EngineSettings:
        """The engine's settings; the profile comes from elsewhere."""
        return EngineSettings(
            period_ns=int(self.period),
            threshold_ns=int(self.threshold),
            queue_capacity=self.queue,
            event_channel=self.event_channel,
            backoff_cap_ns=int(self.backoff_cap),
            healthy_after_ns=int(self.healthy_after),
            cache_tick_ns=int(self.cache_tick),
        )


class NodePart(Part, frozen=True, kw_only=True):
    """The node's runtime, and numbers of the kubelet's pod workers.

    ``runtime``: which one it behaves like. ``backoff_scale``: what the crash loop back-off (10 s to
    5 min) is multiplied by. ``collect``: from a pod's end to its removal from the runtime.
    """

    runtime: FlavourName = "containerd-2"
    backoff_scale: Annotated[float, msgspec.Meta(ge=0.001, le=100)] = 0.1
    prepare: Span = (Ns(Timings().prepare[0]), Ns(Timings().prepare[1]))
    """Volumes, secrets and images, before a new pod's sandbox."""
    collect: Span = (Ns(Timings().collect[0]), Ns(Timings().collect[1]))

    def __post_init__(self) -> None:
        ordered("prepare", self.prepare)
        ordered("collect", self.collect)

    def settings(self) -> WorkerSettings:
        """The pod workers' settings."""
        return WorkerSettings(
            backoff_scale=self.backoff_scale,
            timings=Timings(prepare=self.prepare, collect=self.collect),
        )


class ScenarioFile(Part, frozen=True, kw_only=True):
    """A whole file."""

    title: Line
    shows: Text
    seed: Annotated[int, msgspec.Meta(ge=0, le=10**18 - 1)] = 7
    duration: Ns = seconds(120)
    workload: Annotated[tuple[AnyWorkload, ...], msgspec.Meta(max_length=200)] = ()
    fault: Annotated[tuple[AnyFault, ...], msgspec.Meta(max_length=500)] = ()
    engine: EnginePart = EnginePart()
    node: NodePart = NodePart()

    def __post_init__(self) -> None:
        at_least("duration", self.duration, millis(1))
        if sum(one.most_pods() for one in self.workload) > MOST_PODS:
            raise ValueError(f"a scenario may have {MOST_PODS} pods at the same time at most")
        keys = [one.key for part in self.workload for one in part.workloads()]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        if twice:
            raise ValueError(f"two workloads are called {twice[0]}; give each a name of its own")

    def scenario(self, name: str) -> Scenario:
        """The scenario that the file describes."""
        return Scenario(
            name=name,
            title=self.title,
            shows=" ".join(self.shows.split()),
            seed=self.seed,
            duration_ns=int(self.duration),
            workloads=tuple(one for part in self.workload for one in part.workloads()),
            faults=self.fault,
            engine=self.engine.settings(),
            workers=self.node.settings(),
            rules=FLAVOURS[self.node.runtime],
        )
