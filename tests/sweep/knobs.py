"""The numbers of one seed: the engine's settings, how lively its world is, which faults it has.

Defaults hide bugs, so every number is drawn, most of them on a logarithmic scale. A fault is wholly
absent in some seeds: where everything fails at once, nothing interesting survives long enough.
"""

import math
from dataclasses import dataclass, field
from random import Random

from app.engine.settings import EngineSettings
from app.sim.chance import generator

MS = 1_000_000
SECOND = 1_000_000_000

PROFILES = ("kep",) * 7 + ("generic", "polling", "1.37")


def spread(rng: Random, low: int, high: int) -> int:
    """A whole number between two, each order of magnitude as likely as the next."""
    return round(math.exp(rng.uniform(math.log(low), math.log(high))))


def pause(rng: Random, mean_ns: int) -> int:
    """The time to the next happening of something that happens at random."""
    return round(rng.expovariate(1 / mean_ns))


def _sometimes(rng: Random, most: float) -> float:
    """A probability of at most this; 0 in every other seed. Always two draws."""
    is_on, how_much = rng.random() < 0.5, rng.random()
    return most * how_much if is_on else 0.0


@dataclass(frozen=True)
class Runtime:
    """How calls are answered: latency (ns), and the probabilities of failing and of hanging."""

    latency: int
    fails: float
    hangs: float
    inspection_fails: float
    inspection_hangs: float
    doubled_rows: float
    turned_rows: float
    """Probability that a list begins somewhere else, as a runtime's map does."""
    interned: bool


@dataclass(frozen=True)
class Wire:
    """How the stream behaves: connections' mean life (ns), and probabilities per event."""

    life: int
    refused: float
    lost: float
    late: float
    lateness: int
    doubled: float
    malformed: float
    future: float
    false_gap: int
    """Mean time (ns) between two events that nothing caused."""
    overflows: float


@dataclass(frozen=True)
class Workers:
    """What pod workers do: mean gaps (ns) between SyncPods, requests, marks, restarts,
    and between probes of the runtime; lengths of holds."""

    sync_gap: int
    hold: int
    ask_gap: int
    burst: int
    mark_gap: int
    read_gap: int
    restart_gap: int
    probe_gap: int


@dataclass(frozen=True)
class Nature:
    """What happens on the node: how many pods, how often, and whether states only go forward."""

    pods: int
    most_items: int
    gap: int
    forward: bool
    outage_gap: int
    outage: int
    clock_steps: bool


@dataclass(frozen=True)
class Knobs:
    """All numbers of one seed."""

    seed: int
    settings: EngineSettings = field(init=False)
    nature: Nature = field(init=False)
    runtime: Runtime = field(init=False)
    wire: Wire = field(init=False)
    workers: Workers = field(init=False)

    def __post_init__(self) -> None:
        period = spread(self._rng("period"), 100 * MS, 10 * SECOND)
        put = object.__setattr__
        put(self, "settings", self._settings(self._rng("settings"), period))
        put(self, "nature", self._nature(self._rng("nature"), period))
        put(self, "runtime", self._runtime(self._rng("runtime"), period))
        put(self, "wire", self._wire(self._rng("wire"), period))
        put(self, "workers", self._workers(self._rng("workers"), period))

    def _rng(self, name: str) -> Random:
        return generator(self.seed, "knobs", name)

    def _settings(self, rng: Random, period: int) -> EngineSettings:
        base = spread(rng, 50 * MS, 5 * SECOND)
        return EngineSettings(
            profile=rng.choice(PROFILES),
            period_ns=period,
            threshold_ns=spread(rng, period, 180 * SECOND),
            queue_capacity=spread(rng, 1, 200),
            event_channel=rng.choice((None, None, spread(rng, 1, 1000), spread(rng, 1, 10))),
            health_poll_ns=spread(rng, 500 * MS, 10 * SECOND),
            backoff_base_ns=base,
            backoff_cap_ns=rng.choice((base, spread(rng, base, 60 * SECOND), 60 * SECOND)),
            healthy_after_ns=spread(rng, SECOND, 60 * SECOND),
            listing_share=rng.randint(2, 20),
            pace_cap_ns=spread(rng, 100 * MS, 60 * SECOND),
            stops_kept=rng.choice((1, 3, spread(rng, 1, 100), 4096)),
        )

    def _nature(self, rng: Random, period: int) -> Nature:
        return Nature(
            pods=rng.randint(1, 8),
            most_items=spread(rng, 2, 40),
            gap=round(period * rng.uniform(0.1, 3)),
            forward=rng.random() < 0.5,
            outage_gap=rng.choice((10**18, round(period * rng.uniform(5, 40)))),
            outage=spread(rng, 100 * MS, 20 * SECOND),
            clock_steps=rng.random() < 0.3,
        )

    def _runtime(self, rng: Random, period: int) -> Runtime:
        return Runtime(
            latency=spread(rng, MS // 10, max(MS, period // 2)),
            fails=_sometimes(rng, 0.3),
            hangs=_sometimes(rng, 0.02),
            inspection_fails=_sometimes(rng, 0.4),
            inspection_hangs=_sometimes(rng, 0.15),
            doubled_rows=_sometimes(rng, 0.2),
            turned_rows=_sometimes(rng, 0.5),
            interned=rng.random() < 0.7,
        )

    def _wire(self, rng: Random, period: int) -> Wire:
        return Wire(
            life=spread(rng, period, 300 * SECOND),
            refused=_sometimes(rng, 0.9),
            lost=_sometimes(rng, 0.7),
            late=_sometimes(rng, 0.7),
            lateness=spread(rng, MS, 30 * SECOND),
            doubled=_sometimes(rng, 0.7),
            malformed=_sometimes(rng, 0.4),
            future=_sometimes(rng, 0.4),
            false_gap=rng.choice((10**18, round(period * rng.uniform(0.2, 5)))),
            overflows=_sometimes(rng, 0.1),
        )

    def _workers(self, rng: Random, period: int) -> Workers:
        return Workers(
            sync_gap=rng.choice((10**18, *(round(period * rng.uniform(0.2, 5)),) * 3)),
            hold=spread(rng, MS, 10 * SECOND),
            ask_gap=round(period * rng.uniform(0.2, 8)),
            burst=rng.choice((1, 2, spread(rng, 1, 60))),
            mark_gap=spread(rng, period // 3, 15 * period),
            read_gap=round(period * rng.uniform(0.2, 10)),
            restart_gap=rng.choice((10**18, 10**18, round(period * rng.uniform(4, 60)))),
            probe_gap=rng.choice((10**18, 10**18, round(period * rng.uniform(2, 40)))),
        )
