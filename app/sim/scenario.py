"""A scenario: a node's workloads, what goes wrong on it and when, and what it is meant to show."""

import msgspec

from app.engine.settings import EngineSettings
from app.sim.faults import Fault
from app.sim.flavour import RuntimeRules
from app.sim.flavours import CONTAINERD_2
from app.sim.latency import Latencies
from app.sim.script import Workload
from app.sim.workers import WorkerSettings


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """Everything but the profile; times count from the beginning of the session.

    ``seed`` and ``duration_ns`` are what it is played with unless told otherwise. The profile in
    ``engine`` is replaced by the one that is chosen.
    """

    name: str
    title: str
    shows: str
    """What is to be seen, in a few sentences."""
    seed: int = 7
    duration_ns: int = 120_000_000_000
    workloads: tuple[Workload, ...] = ()
    faults: tuple[Fault, ...] = ()
    engine: EngineSettings = EngineSettings()
    workers: WorkerSettings = WorkerSettings()
    rules: RuntimeRules = CONTAINERD_2
    latencies: Latencies = Latencies()
