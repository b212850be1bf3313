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
    """What is to be seen, in a few sentences: under ``kep``, unless they name the profile
    themselves. For people it goes through :func:`claim`."""
    seed: int = 7
    duration_ns: int = 120_000_000_000
    workloads: tuple[Workload, ...] = ()
    faults: tuple[Fault, ...] = ()
    engine: EngineSettings = EngineSettings()
    workers: WorkerSettings = WorkerSettings()
    rules: RuntimeRules = CONTAINERD_2
    latencies: Latencies = Latencies()


def claim(shows: str, profile: str = "") -> str:
    """What a scenario is meant to show, with the profile that it is a claim about.

    ``profile``: the one it is played with, where it is; under another one than that which the text
    is about the claim may be false, and that is said.
    """
    shows = shows.strip()
    if not shows:
        return ""
    default = EngineSettings().profile
    if f"Under `{default}`" in shows:
        return shows
    here = f" (this is {profile})" if profile and profile != default else ""
    return f"Under {default}{here}: {shows}"
