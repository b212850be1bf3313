"""(g) A run of ten minutes and 110 pods: played ahead, sent, and stepped back in a browser."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from app.sim.library import load
from app.sim.scenario import Scenario
from app.stage.run import play
from app.stage.spec import parse
from app.stage.stage import Stage
from tests.bench.node import say
from tests.bench.report import Section, median, percentile
from tests.browser.chromium import CHROMIUM, chromium, playwright
from tests.browser.steps import BIG, STEPS, TIME_STEPS
from tests.commands import demo

NAME = "hundred-ten"
RUNS = 3
PATIENT_MS = 60_000
END = "t=599000000000"


def measure() -> Section:
    """Medians of a few runs, and of as many steps as somebody's patience allows."""
    section = Section("(g) a run of ten minutes, 110 pods")
    section.note = (
        "Played ahead: from the scenario to all records, by CPU time. A moment: the state as it "
        "was after some record. A step back: the newest of all records taken away, and the frame "
        f"drawn, {STEPS} times in a row, in a Chromium without a graphics card."
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{NAME}.toml"
        file.write_text(BIG)
        say("(g) played ahead")
        section.add("played ahead", f"{median([played(file) for _ in range(RUNS)]):.2f} s")
        packed, moment = asyncio.run(answers(load(str(file))))
        section.add("whole run over the wire", f"{packed / 1e6:.2f} MB")
        section.at_most("a moment of it, from the server", moment * 1000, 10, "ms", 1)
        if not Path(CHROMIUM).exists():
            section.add("a step back", "no Chromium")
            return section
        say("(g) steps back")
        took = stepped(file)
        section.add("a step back, median", f"{median(took):.1f} ms")
        section.at_most("a step back, 95 of 100", percentile(took, 95), 50, "ms", 1)
    return section


def played(file: Path) -> float:
    """Seconds of CPU that playing it takes."""
    scenario = load(str(file))
    spec = parse([("scenario", NAME)], lambda _name: scenario)
    began = time.thread_time()
    play(spec, scenario)
    return time.thread_time() - began


async def answers(scenario: Scenario) -> tuple[int, float]:
    """Bytes of the whole run as it is sent; seconds that a moment in its middle takes."""
    stage = Stage([scenario])
    link = [("scenario", scenario.name)]
    packed = await stage.records(link)
    middle = (await stage.state(link, None)).last_seq // 2
    began = time.perf_counter()
    await stage.state(link, middle)
    took = time.perf_counter() - began
    stage.close()
    return len(packed), took


def stepped(file: Path) -> list[float]:
    """Milliseconds of each step back, from the end of the run."""
    with demo("--scenario", str(file)) as server, playwright() as driver, chromium(driver) as one:
        page = one.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{server.address()}run?scenario={NAME}&{END}")
        page.get_by_text("Record 1").first.wait_for(timeout=PATIENT_MS)
        took: list[float] = page.evaluate(TIME_STEPS, STEPS)
        return took
