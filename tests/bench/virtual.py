"""(f) Virtual time against life; what one stop event's step costs; memory per pod."""

from __future__ import annotations

import gc
import random
import time
import tracemalloc

from app.engine.engine import Engine
from app.engine.inputs import RuntimeProbed, Start, StreamEvent, StreamOpened
from app.engine.model import ContainerEvent
from app.engine.settings import EngineSettings
from tests.bench.node import say
from tests.bench.report import Section, median
from tests.bench.stepping import WALL, Listing, Shadow
from tests.sim.speed import elapsed

PODS = 110
LIFE_S = 120.0
RUNS = 5
EVENTS = 150
"""Below the queue's 200: every event makes a request."""

SIZES = (250, 1000)


def measure() -> Section:
    """Medians of a few runs each."""
    section = Section("(f) virtual time, a stop event, memory")
    section.note = (
        f"Virtual time: {PODS} pods, one end and restart a second, {LIFE_S:.0f} s of life, the "
        f"median of {RUNS} runs by CPU time. A stop event: one step that validates, shows and "
        "queues. Memory: a shadow's own, one sandbox and one container a pod, rows included."
    )
    say("(f) virtual time")
    speeds = [LIFE_S / elapsed(PODS, LIFE_S, seed=seed) for seed in range(RUNS)]
    section.at_least(f"virtual time against life, {PODS} pods", median(speeds), 2000, "x")
    say("(f) stop events")
    section.add("step of one stop event", f"{1e6 * median([stop() for _ in range(RUNS)]):.1f} us")
    say("(f) memory")
    small, large = (memory(size) for size in SIZES)
    section.add(f"memory per pod, {SIZES[0]} pods", f"{small / SIZES[0] / 1024:.1f} KiB")
    section.add(f"memory per pod, {SIZES[1]} pods", f"{large / SIZES[1] / 1024:.1f} KiB")
    limit = 1.2 * SIZES[1] / SIZES[0]
    section.at_most(f"growth from {SIZES[0]} to {SIZES[1]} pods", large / small, limit, "x")
    return section


def stop() -> float:
    """Seconds of CPU a step with one stop event takes."""
    engine = Engine(EngineSettings(), random.Random(1))
    engine.step(
        RuntimeProbed(
            t=0, wall=WALL, name="containerd", version="2.1.9", api_version="v1",
            endpoint="unix:///x", policy="join", reason="Each subscriber gets every event.",
        )
    )  # fmt: skip
    engine.step(Start(t=0, wall=WALL))
    engine.step(StreamOpened(t=0, wall=WALL))
    events = [
        StreamEvent(
            t=number, wall=WALL + number,
            event=ContainerEvent("stopped", f"c{number}", WALL, True, True, f"u{number}"),
        )
        for number in range(EVENTS)
    ]  # fmt: skip
    began = time.thread_time()
    for event in events:
        engine.step(event)
    return (time.thread_time() - began) / EVENTS


def memory(pods: int) -> int:
    """Bytes that a shadow of so many pods holds, with the rows it was given."""
    listing = Listing(pods)
    gc.collect()
    tracemalloc.start()
    try:
        shadow = Shadow(listing)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        del shadow
    finally:
        tracemalloc.stop()
    return held
