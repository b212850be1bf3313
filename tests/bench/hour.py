"""(k) An hour of a churning node with three browsers: does memory stay flat.

    python -m tests.bench.hour [MINUTES]

``make bench`` runs it only when it is chosen: it takes as long as it says.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import CDPSession, Page

from tests.bench.node import say
from tests.bench.report import Section, median
from tests.browser.chromium import chromium, playwright, until
from tests.commands import command

MINUTES = 60.0
VIEWERS = 3
STEP_S = 10.0
FLAT = 1.10
"""Of the last quarter's median to the second's: during the first what is bounded fills."""

SCENARIO = """
title = "A node that churns"
shows = "Some sixty pods that come, go and fail."
seed = 7
duration = "10m"

[[workload]]
kind = "replicas"
name = "churn"
count = 40
range = [10, 70]
scale_every = ["10s", "20s"]
rollout_every = ["60s", "90s"]
mishap = [{ every = ["2s", "5s"], ending = "error" }, { every = ["5s", "15s"], probe = true }]

[[workload]]
kind = "replicas"
name = "loop"
count = 4
container = [{ name = "loop", runs = ["2s", "20s"], ends = ["error", "oom-killed"] }]

[[workload]]
kind = "cron-job"
name = "job"
every = ["3s", "6s"]
runs = ["1s", "8s"]
failures = 3
ttl = "30s"

[node]
backoff_scale = 0.1
"""
WORDS = ("demo", "--no-browser", "--no-record", "--port", "0")
SHOWN = "typeof plegscope === 'object' && plegscope.store.lanes.size > 0"
VIEWS = ("", "?view=table", "?span=900&group=namespace")
"""What each of the viewers looks at."""


class Series:
    """One figure as time went by, MB."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.values: list[float] = []

    def quarter(self, number: int) -> float:
        """The median of the first (0) to the last (3) quarter."""
        size = len(self.values) / 4
        return median(self.values[int(number * size) : max(1, int((number + 1) * size))])


def measure(minutes: float = MINUTES) -> Section:
    """Let the node churn and look at the sizes every ten seconds."""
    section = Section(f"(k) {minutes:g} minutes of churn with {VIEWERS} viewers")
    server_rss = Series("server, resident")
    heaps = [Series(f"viewer {number + 1}, script heap") for number in range(VIEWERS)]
    nodes = [Series(f"viewer {number + 1}, document nodes") for number in range(VIEWERS)]
    with (
        TemporaryDirectory() as folder,
        command(*WORDS, "--scenario", str(written(Path(folder)))) as server,
        playwright() as driver,
        chromium(driver) as browser,
    ):
        address = server.address().split("?")[0]
        pages = [browser.new_context().new_page() for _ in range(VIEWERS)]
        watched = [watch(page, address + VIEWS[n]) for n, page in enumerate(pages)]
        end = time.monotonic() + 60 * minutes
        while (left := end - time.monotonic()) > 0:
            pages[0].wait_for_timeout(1000 * min(STEP_S, left))
            server_rss.values.append(resident_mb(server.process.pid))
            for number, session in enumerate(watched):
                heap, count = sizes(session)
                heaps[number].values.append(heap)
                nodes[number].values.append(count)
            if len(server_rss.values) % 30 == 0:
                say(f"(k) {left / 60:.0f} minutes left; server {server_rss.values[-1]:.0f} MB")
        records = pages[0].evaluate("plegscope.store.records.at(-1).seq")
    section.add("records made", f"{records:,}")
    for series, unit in [
        (server_rss, "MB"),
        *((h, "MB") for h in heaps),
        *((n, "") for n in nodes),
    ]:
        section.add(f"{series.what}, second quarter", f"{series.quarter(1):.1f} {unit}")
        section.at_most(
            f"{series.what}, last quarter to second",
            series.quarter(3) / series.quarter(1), FLAT, "x",
        )  # fmt: skip
    section.note = (
        "plegscope demo with some 60 pods that come, go and fail. Sizes every "
        f"{STEP_S:g} s, medians of quarters; scripts' heaps after a collection. One looks at "
        "the timeline, one at a table, one at 15 minutes."
    )
    return section


def written(folder: Path) -> Path:
    """The scenario as a file."""
    path = folder / "hour.toml"
    path.write_text(SCENARIO)
    return path


def watch(page: Page, address: str) -> CDPSession:
    """Open the page and a line to its insides."""
    page.goto(address)
    until(page, SHOWN)
    session: CDPSession = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    session.send("HeapProfiler.enable")
    return session


def sizes(session: CDPSession) -> tuple[float, float]:
    """The scripts' heap after a collection (MB), and how many nodes the document has."""
    session.send("HeapProfiler.collectGarbage")
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return found["JSHeapUsedSize"] / 1e6, found["Nodes"]


def resident_mb(pid: int) -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


if __name__ == "__main__":
    print(measure(float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES).text())
